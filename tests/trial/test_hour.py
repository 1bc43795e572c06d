"""``learnkit chat`` in a real repository, for an hour's work in compressed time.

A chat in a pseudo-terminal, a local server of the Messages API, git, processes, files: nothing is
simulated but the model and the user. What came of the work is read from the repository, from the
files of the harness, from the process table, and from what the server has seen.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest
from screen import CTRL_C, ENTER, Screen

from learnkit.core.catalog import DEFAULT_MODEL, PRICES

from .model import BURST, Day, Gate, Plans, Step, View, at_work

pytestmark = pytest.mark.slow

ADA = "Ada Lovelace|ada@example.com"
#: What every agent in the repository is told.
RULE = "Every function has a test."
#: Python that writes no caches, so that a worktree has nothing in it but the work.
TESTS = "python3 -B -m unittest -q"

MEAN = "def mean(numbers):\n    return sum(numbers) // len(numbers)\n"
MEAN_TEST = """\
import unittest

from stats.mean import mean


class MeanTest(unittest.TestCase):
    def test_mean(self):
        self.assertEqual(mean([1, 2]), 1.5)
"""

#: The team's tasks: name of the function -> its code, and a line of its test.
WORK = {
    "median": (
        "def median(numbers):\n    return sorted(numbers)[len(numbers) // 2]\n",
        "self.assertEqual(median([3, 1, 2]), 2)",
    ),
    "spread": (
        "def spread(numbers):\n    return max(numbers) - min(numbers)\n",
        "self.assertEqual(spread([3, 1, 2]), 2)",
    ),
    "total": (
        "def total(numbers):\n    return sum(numbers)\n",
        "self.assertEqual(total([3, 1, 2]), 6)",
    ),
    "share": (
        "def share(numbers):\n    return [one / sum(numbers) for one in numbers]\n",
        "self.assertEqual(share([1, 1]), [0.5, 0.5])",
    ),
}


def bash(command: str) -> tuple[str, dict[str, Any]]:
    return "bash", {"command": command}


def commit(subject: str) -> tuple[str, dict[str, Any]]:
    """A commit, unless there is nothing to commit: the work may have been interrupted after it."""
    return bash(f"git add -A && (git diff --cached --quiet || git commit -q -m '{subject}')")


def task(id: int, name: str, busy: Path) -> list[Step]:
    """How a teammate does one of the tasks, in the worktree of that task."""
    code, check = WORK[name]
    test = MEAN_TEST.replace("mean", name).replace("Mean", name.title())
    test = test.replace(f"self.assertEqual({name}([1, 2]), 1.5)", check)
    return [
        Step("Code first.", [("write_file", {"path": f"stats/{name}.py", "content": code})]),
        Step("A test.", [("write_file", {"path": f"tests/test_{name}.py", "content": test})]),
        Step("Run it.", [bash(f"while [ -e '{busy}' ]; do sleep 0.05; done; {TESTS}")], until="OK"),
        Step("Commit.", [commit(f"Add {name}")]),
        Step(
            "Done.",
            [
                (
                    "task_update",
                    {"task_id": id, "status": "completed", "result_summary": f"{name} is there"},
                )
            ],
        ),
        Step(f"The {name} is there, with a test."),
    ]


#: The edit that makes the mean right.
HALF = (
    "edit_file",
    {
        "path": "stats/mean.py",
        "old_text": "sum(numbers) // len",
        "new_text": "sum(numbers) / len",
    },
)


class Desk:
    """A user at a terminal, with a repository and a server."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self.stack = folder, stack
        self.repo, self.busy = folder / "statistics", folder / "busy"
        self.repo.mkdir()
        (self.repo / "stats").mkdir()
        (self.repo / "tests").mkdir()
        for name, text in {
            "README.md": "# Statistics\n",
            "AGENTS.md": f"{RULE}\n",
            "stats/__init__.py": "",
            "stats/mean.py": MEAN,
            "tests/__init__.py": "",
            "tests/test_mean.py": MEAN_TEST,
        }.items():
            (self.repo / name).write_text(text)
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "Ada Lovelace")
        self.git("config", "user.email", "ada@example.com")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Begin")
        self.began = datetime.date.today()

    def git(self, *arguments: str) -> str:
        env = {name: one for name, one in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(
            ["git", *arguments], cwd=self.repo, env=env, capture_output=True, text=True, check=True
        )
        return done.stdout

    def chat(self, day: Day, *options: str, forked: bool = True) -> Screen:
        """Start a chat in the repository; as a new process where it will be killed."""
        env = {
            **day.env,
            "LEARNKIT_MODEL": DEFAULT_MODEL,
            "XDG_STATE_HOME": str(self.folder / "state"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "LEARNKIT_REPRODUCIBLE": "0",  # as on a user's machine
        }
        self.env = env
        screen = Screen(*options, folder=self.repo, columns=120, forked=forked, **env)
        self.stack.callback(screen.close)
        quiet(screen)
        return screen

    def processes(self) -> list[str]:
        """What runs in the repository, besides a chat that still runs."""
        found = []
        for one in psutil.process_iter(["cwd", "cmdline", "status"]):
            inside = (one.info["cwd"] or "").startswith(str(self.folder))
            if inside and one.info["status"] != psutil.STATUS_ZOMBIE:
                found.append(" ".join(one.info["cmdline"] or [])[:200])
        return found

    def state(self, name: str) -> Path:
        return self.repo / ".learnkit" / name

    def board(self) -> dict[str, tuple[str, str]]:
        """The tasks on the disk: subject -> status and owner."""
        tasks = [json.loads(p.read_text()) for p in self.state("tasks").glob("task_*.json")]
        return {one["subject"]: (one["status"], one["owner"]) for one in tasks}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with ExitStack() as stack:
        yield Desk(tmp_path, stack)


# What a user does


ANSWERED = re.compile(r"Run it\?[^:]*: (?:once|always|kept|no)\b")
#: The line of a question that says what can be allowed for good.
PATTERN = " always: "


def question(screen: Screen) -> str:
    """The open question, and what is shown above it since the last answer; empty if none is."""
    filled = [line for line in screen.lines if line.strip()]
    if not filled or not filled[-1].startswith("Run it?"):
        return ""
    return ANSWERED.split(screen.words)[-1]


def answer(screen: Screen, how: str) -> None:
    """Answer the open question."""
    before = len(ANSWERED.findall(screen.words))
    screen.type(how + ENTER)
    screen.until(lambda: len(ANSWERED.findall(screen.words)) > before, "an answer")


def say(screen: Screen, text: str) -> None:
    """Send a prompt, or a command."""
    screen.type(text + ENTER)


def allow(screen: Screen, about: str, how: str) -> None:
    """Answer the question about a call, once it is there."""
    screen.until(lambda: about in question(screen), f"a question about {about!r}")
    answer(screen, how)


def until_said(screen: Screen, text: str, within: float = 90.0) -> None:
    """Wait for words, and allow every call of a new kind meanwhile."""
    screen.until(lambda: text in screen.words or bool(question(screen)), repr(text), within)
    while text not in screen.words:
        answer(screen, "a" if PATTERN in question(screen) else "o")
        screen.until(lambda: text in screen.words or bool(question(screen)), repr(text), within)


def quiet(screen: Screen) -> None:
    """Wait until nothing runs any more: the line above the input shows the length again."""

    def still() -> bool:
        filled = [line for line in screen.lines if line.strip()]
        return any(line.startswith("/help · ") for line in filled[-3:])

    screen.until(still, "a quiet line")


def cancel(screen: Screen, times: int) -> None:
    """Press Ctrl-C, and wait until the turn is cancelled."""
    screen.type(CTRL_C)
    screen.expect("(cancelled; the conversation is kept)", times=times)


# What came of it


def price(delivered: list[tuple[str, dict[str, int]]]) -> float:
    """What the server's replies cost, by the published prices for a million tokens."""
    one = PRICES[DEFAULT_MODEL]
    sums: Counter[str] = Counter()
    for _, usage in delivered:
        sums.update(usage)
    return (
        sums["input_tokens"] * one.input
        + sums["cache_read_input_tokens"] * one.cache_read
        + sums["cache_creation_input_tokens"] * one.cache_write
        + sums["output_tokens"] * one.output
    ) / 1_000_000


def cost_line(screen: Screen) -> str:
    """What /cost says about all agents together."""
    before = screen.words.count(" all: ")
    say(screen, "/cost")
    screen.expect(" all: ", times=before + 1)
    quiet(screen)
    return screen.words.rpartition(" all: ")[2]


def check_cost(screen: Screen, delivered: list[tuple[str, dict[str, int]]]) -> None:
    """Compare /cost with what the server has counted."""
    line = cost_line(screen)
    sent = sum(sum(u.values()) - u["output_tokens"] for _, u in delivered)
    cached = sum(u["cache_read_input_tokens"] for _, u in delivered)
    written = sum(u["output_tokens"] for _, u in delivered)
    what = [(who, usage["output_tokens"]) for who, usage in delivered]
    assert f"{len(delivered)} turns" in line, f"the server has sent {what}; {screen.words[-6000:]}"
    assert f"{sent:,} tokens in, of which {cached:,} from the cache · {written:,} out" in line
    found = re.search(r"\$([\d,.]*\d)", line)
    assert found is not None, line
    assert float(found[1]) == pytest.approx(price(delivered), abs=0.00006)


def check_files(desk: Desk) -> None:
    """No file of the harness is half written, and git's own are sound."""
    assert desk.state("tasks").is_dir()
    for path in desk.repo.joinpath(".learnkit").rglob("*"):
        if path.suffix == ".json":
            json.loads(path.read_text())
        elif path.suffix == ".jsonl":
            for line in path.read_text().splitlines():
                json.loads(line)
    desk.git("fsck", "--strict", "--no-dangling")


def check_repository(desk: Desk, subjects: list[str]) -> None:
    """Everything is committed, by Ada, today; the tests pass; nothing lies about."""
    assert desk.git("status", "--porcelain", "--untracked-files=all") == ""
    assert ".learnkit" not in desk.git("ls-files")
    assert desk.repo.joinpath(".git/info/exclude").read_text().count(".learnkit/\n") == 1
    assert set(desk.git("log", "--all", "--format=%an|%ae").split("\n")) == {ADA, ""}
    assert set(desk.git("log", "--all", "--format=%cn|%ce").split("\n")) == {ADA, ""}
    days = {desk.began, datetime.date.today()}
    for kind in ("%ad", "%cd"):
        dates = desk.git("log", "--all", f"--format={kind}", "--date=short-local").split()
        assert {datetime.date.fromisoformat(one) for one in dates} <= days
    assert sorted(desk.git("log", "main", "--format=%s").splitlines()) == sorted(subjects)
    done = subprocess.run(
        [sys.executable, "-B", "-m", "unittest", "-q"],
        cwd=desk.repo,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def nothing_runs(desk: Desk, within: float = 20.0) -> None:
    """No process is left in the repository; a command notices a killed agent within a second."""
    end = time.monotonic() + within
    while left := desk.processes():
        assert time.monotonic() < end, left
        time.sleep(0.05)


# The hour

DECISION = "means are rounded to three digits"
FIX = f"The tests fail. Find out why, and fix it. Decision: {DECISION}."
PLAN = "Write down what is planned."
DOCS = "Write the documentation."
SLOW = "Run the long test."
RENAME = "Rename mean to average."
READ = "Read the measurements."
MEANWHILE = "Those of Cairo, too."
NEWS = "Write down what is new, while the tests run."
TEAM = "Let a team write median, spread, total and share."
AGAIN = "Go on with the team."
RECALL = "What have we decided?"
FINISH = "Finish what the team has begun."


def spawn(name: str) -> tuple[str, dict[str, Any]]:
    prompt = "Take tasks from the board, one after the other."
    return "spawn_teammate", {"name": name, "role": "coder", "prompt": prompt}


def plans(desk: Desk, mark: str) -> Plans:
    """What the model does about each of the user's prompts, and about each task."""
    todo = [
        {"id": "1", "text": "fix the mean", "status": "in_progress"},
        {"id": "2", "text": "let the team work", "status": "pending"},
    ]
    made: dict[str, tuple[str, list[Step]]] = {
        FIX: (
            "fix",
            [
                Step("A list first.", [("todo", {"items": todo})]),
                Step("Do they fail?", [bash(TESTS)], until="FAILED"),
                Step("Away with them!", [bash("rm -r tests")], may_fail=True),
                Step("Then the code.", [("read_file", {"path": "stats/mean.py"})]),
                Step("It divides whole numbers.", [HALF]),
                Step("And now?", [bash(TESTS)], until="OK"),
                Step("A commit.", [commit("Divide exactly")]),
                Step("The mean is right now."),
            ],
        ),
        PLAN: ("plan", [Step("This is never said.")]),
        DOCS: ("docs", [Step(" ".join(f"word{n}" for n in range(200)))]),
        SLOW: ("slow", [Step("It takes long.", [bash(f"sleep 300; : {mark}")]), Step("Never.")]),
        RENAME: (
            "rename",
            [
                Step(
                    "An edit.",
                    [
                        (
                            "edit_file",
                            {"path": "stats/mean.py", "old_text": "mean", "new_text": "average"},
                        )
                    ],
                ),
                Step("Never."),
            ],
        ),
        READ: (
            "read",
            [
                Step("Numbers.", [bash("seq 100000 108000")]),
                Step("More numbers.", [bash("seq 200000 208000")]),
                Step("All are read."),
            ],
        ),
        NEWS: (
            "news",
            [
                Step("In the background.", [("background_run", {"command": TESTS})]),
                Step("Meanwhile.", [("write_file", {"path": "NEWS.md", "content": "# News\n"})]),
                Step("Room, please.", [("compact", {"focus": "what was decided"})]),
                Step("A commit.", [commit("Say what is new")]),
                Step("It is written."),
            ],
        ),
        RECALL: ("recall", [Step("We have decided that DECISION.")]),
        TEAM: (
            "team",
            [
                Step("The tasks.", [("task_create", {"subject": name}) for name in WORK]),
                Step(
                    "A folder for each.",
                    [
                        ("worktree_create", {"name": name, "task_id": id})
                        for id, name in enumerate(WORK, 1)
                    ],
                ),
                Step("Two teammates.", [spawn("alice"), spawn("bob")]),
                Step("How far are they?", [("task_list", {})], until="(4/4 completed)"),
                Step("Never."),
            ],
        ),
        AGAIN: (
            "again",
            [
                Step("A watch.", [("background_run", {"command": f"sleep 600; : {mark}"})]),
                Step("The same two.", [spawn("alice"), spawn("bob")]),
                Step("How far are they?", [("task_list", {})], until="(4/4 completed)"),
                Step("Never."),
            ],
        ),
        FINISH: (
            "finish",
            [
                Step("What is there?", [("task_list", {})]),
                Step("The same two.", [spawn("alice"), spawn("bob")]),
                Step("How far are they?", [("task_list", {})], until="(4/4 completed)"),
                *(Step("Merge.", [("worktree_merge", {"name": name})]) for name in WORK),
                *(Step("Tidy up.", [("worktree_remove", {"name": name})]) for name in WORK),
                Step("All tests.", [bash(TESTS)], until="OK"),
                Step("All four are merged."),
            ],
        ),
    }
    for id, name in enumerate(WORK, 1):
        made[name] = (name, task(id, name, desk.busy))
    return made


def at(who: str, claims: int, step: int) -> Gate:
    """A gate at a step of a teammate's first or second task."""
    return Gate(lambda view, number: (view.who, view.claims, number) == (who, claims, step))


def test_an_hour_of_work(desk: Desk) -> None:
    mark = f"9{os.getpid()}77"
    with at_work(plans(desk, mark)) as day:
        screen = desk.chat(day, forked=False)
        alone(desk, day, screen)
        check_cost(screen, day.delivered)
        assert day.twice == set()
        with_a_team(desk, day, screen)
        killed(desk, day, screen, mark)
        options = ("--allow", "bash", "--allow", "write(**)", "--continue")
        screen = desk.chat(day, *options)
        to_the_end(desk, day, screen)
        found = re.search(r"(\d+) turns", cost_line(screen))  # of both processes
        assert found is not None
        lost = len(day.delivered) - int(found[1])
        assert 0 <= lost <= 3  # for each agent, at most the reply that was on its way to it
        screen.leave()
        in_a_script(desk, day)
        assert day.completions() == {id: 1 for id in range(1, 5)}
        assert day.twice == set()
        assert day.failures == {}
        assert day.summaries == 3
    nothing_runs(desk)
    check_files(desk)
    done = ["Begin", "Divide exactly", "Say what is new"]
    done += [f"{what}{name}" for name in WORK for what in ("Add ", "Merge wt/")]
    check_repository(desk, done)


def alone(desk: Desk, day: Day, screen: Screen) -> None:
    """The agent works by itself: questions, edits, a job, four times Ctrl-C, two compactions."""
    say(screen, FIX)
    allow(screen, "unittest", "o")
    allow(screen, "rm -r tests", "n because the tests stay")
    allow(screen, "+ return sum(numbers) / len(numbers)", "o")
    allow(screen, "unittest", "o")
    allow(screen, "git commit", "o")  # in (…): no pattern can allow it
    screen.expect("The mean is right now.")
    assert "declined this call: because the tests stay" in json.dumps(day.bodies[-1]["messages"])
    assert RULE in json.dumps(day.bodies[-1]["system"])
    assert (desk.repo / "tests" / "test_mean.py").is_file()
    quiet(screen)

    first = Gate(lambda view, number: view.name == "plan")
    day.gates.append(first)
    say(screen, PLAN)
    screen.until(first.reached, "the request")
    cancel(screen, 1)  # while the first token is awaited
    first.close()
    quiet(screen)

    middle = Gate(lambda view, number: view.name == "docs", part=30)
    day.gates.append(middle)
    say(screen, DOCS)
    screen.until(middle.reached, "half of the reply")
    screen.expect("word9")
    cancel(screen, 2)  # in the middle of the stream
    middle.close()
    assert "word199" not in screen.words
    quiet(screen)

    say(screen, SLOW)
    allow(screen, "sleep 300", "o")
    screen.until(lambda: any("sleep 300" in one for one in desk.processes()), "the command")
    cancel(screen, 3)  # during a tool
    screen.until(lambda: not any("sleep 300" in one for one in desk.processes()), "its end")
    quiet(screen)

    say(screen, RENAME)
    screen.until(lambda: "def average" in question(screen), "the question")
    cancel(screen, 4)  # at a question
    assert "def mean" in (desk.repo / "stats" / "mean.py").read_text()
    quiet(screen)

    first = Gate(lambda view, number: view.name == "read")
    day.gates.append(first)
    say(screen, READ)
    screen.until(first.reached, "the request")
    say(screen, MEANWHILE)
    screen.expect(f"queued (↑ takes it back): {MEANWHILE}")
    first.open()
    allow(screen, "always: bash(seq:*)", "k")
    screen.expect("The conversation is a summary now")  # it became too long
    screen.expect("All are read.")
    quiet(screen)
    heard = json.dumps(f"The user says meanwhile:\n{MEANWHILE}")[1:-1]
    assert any(heard in json.dumps(body["messages"]) for body in day.bodies)

    say(screen, NEWS)
    allow(screen, "background_run", "a")
    allow(screen, "NEWS.md", "a")
    screen.expect("The conversation is a summary now", times=2)  # the model asked for it
    allow(screen, "git commit", "o")
    screen.expect("It is written.")
    quiet(screen)

    say(screen, "/compact")
    screen.expect("The conversation will be summarised with the next turn.")
    say(screen, RECALL)
    screen.expect("The conversation is a summary now", times=3)
    screen.expect(f"We have decided that {DECISION}.")
    quiet(screen)


def with_a_team(desk: Desk, day: Day, screen: Screen) -> None:
    """Two teammates in worktrees, and the fifth Ctrl-C: their tasks are free again."""
    alice, bob = at("alice", 1, 1), at("bob", 2, 1)
    day.gates += [alice, bob]
    say(screen, "/permissions allow bash")
    screen.expect("allow: ")
    say(screen, "/permissions accept-edits")
    screen.expect("mode: accept-edits")
    say(screen, TEAM)
    until_said(screen, "Two teammates.")
    screen.until(lambda: alice.reached() and bob.reached(), "both at work")
    assert Counter(status for status, _ in desk.board().values()) == {
        "completed": 1,
        "in_progress": 2,
        "pending": 1,
    }
    cancel(screen, 5)
    alice.open()
    bob.open()
    screen.expect("alice is shut down")
    screen.expect("bob is shut down")
    quiet(screen)
    assert Counter(desk.board().values()) == {("completed", "bob"): 1, ("pending", ""): 3}


def killed(desk: Desk, day: Day, screen: Screen, mark: str) -> None:
    """Both go on; then the chat is killed: with a job, a command, and mail that nobody has read."""
    alice, bob = at("alice", 1, 4), at("bob", 2, 2)
    lead = Gate(lambda view, number: view.name == "again" and "with a test." in view.heard)
    day.gates += [alice, bob, lead]
    say(screen, AGAIN)
    screen.until(lambda: all(one.reached() for one in (alice, bob, lead)), "all three at work")
    desk.busy.touch()
    bob.open()
    waits = f"-e '{desk.busy}'"
    screen.until(lambda: any(waits in one for one in desk.processes()), "bob's command")
    assert any(mark in one for one in desk.processes())
    alice.open()
    screen.until(lambda: ("completed", "alice") in desk.board().values(), "alice's task")
    screen.expect("alice writes to lead: “[", times=1)
    os.killpg(screen.process.pid, signal.SIGKILL)
    assert screen.ended() == -signal.SIGKILL
    lead.close()
    nothing_runs(desk)
    desk.busy.unlink()
    check_files(desk)
    assert Counter(desk.board().values()) == {
        ("completed", "bob"): 2,
        ("completed", "alice"): 1,
        ("in_progress", "bob"): 1,
    }


def to_the_end(desk: Desk, day: Day, screen: Screen) -> None:
    """A new process goes on with the conversation, the board and the mail."""
    say(screen, "/tasks")
    screen.expect("(3/4 completed)")
    say(screen, "/permissions")
    screen.expect("bash(seq:*)")  # kept for this project, before the kill
    say(screen, "/inbox")
    screen.expect("with a test.")
    asked_before = len(day.bodies)
    say(screen, FINISH)
    until_said(screen, "All four are merged.")
    quiet(screen)
    last = [body for body in day.bodies[asked_before:] if View(body, day.plans).who == "lead"][-1]
    read = re.findall(r"\[(\w+) \d\] The \1 is there, with a test", json.dumps(last["messages"]))
    assert len(read) == len(set(read)) == 4  # each report once, whichever process has read it
    assert Counter(status for status, _ in desk.board().values()) == {"completed": 4}
    members = json.loads(desk.state("team/config.json").read_text())["members"]
    assert sorted(one["name"] for one in members) == ["alice", "bob"]
    journal = desk.state("worktrees/events.jsonl").read_text().splitlines()
    steps = Counter((one["event"], one["name"]) for one in map(json.loads, journal))
    for name in WORK:
        assert steps["worktree.create.after", name] == 1
        assert steps["worktree.merge.after", name] == 1
        assert steps["worktree.remove.after", name] == 1
    assert len(desk.git("worktree", "list").splitlines()) == 1


def in_a_script(desk: Desk, day: Day) -> None:
    """One more question in the same conversation, which knows what was decided before."""
    asked = [sys.executable, "-m", "learnkit", "chat", "-p", RECALL, "--continue", "--json"]
    done = subprocess.run(
        asked,
        cwd=desk.repo,
        env={**os.environ, **desk.env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    said = json.loads(done.stdout)
    assert DECISION in said["text"]
    assert said["cost"] == pytest.approx(price(day.delivered[-said["turns"] :]))
    (saved,) = desk.state("sessions").glob("*.jsonl")
    assert saved.stem == said["session"]


# The same work, shorter, with a server that misbehaves

SHORT = "Fix the mean, and let alice write median."


def short(desk: Desk) -> Plans:
    steps = [
        Step("Do they fail?", [bash(TESTS)], until="FAILED"),
        Step("It divides whole numbers.", [HALF]),
        Step("And now?", [bash(TESTS)], until="OK"),
        Step("A commit.", [commit("Divide exactly")]),
        Step("A job.", [("background_run", {"command": "echo the job is done"})]),
        Step("A task.", [("task_create", {"subject": "median"})]),
        Step("A folder.", [("worktree_create", {"name": "median", "task_id": 1})]),
        Step("A teammate.", [spawn("alice")]),
        Step("How far is she?", [("task_list", {})], until="(1/1 completed)"),
        Step("Merge.", [("worktree_merge", {"name": "median"})]),
        Step("Tidy up.", [("worktree_remove", {"name": "median"})]),
        Step("Both are done."),
    ]
    return {SHORT: ("short", steps), "median": ("median", task(1, "median", desk.busy))}


def test_the_work_gets_done_with_a_server_that_misbehaves_in_every_way(desk: Desk) -> None:
    """What each way does by itself: tests/core/test_requests.py."""
    with at_work(short(desk), refused=["cache_control"], misbehaves=True) as day:
        screen = desk.chat(day, "--yes")
        say(screen, SHORT)
        screen.expect("Both are done.")
        quiet(screen)
        ways = {"400", *map(str, BURST), "bare", "cut"}
        assert {one.split()[0] for one in day.failures} == ways
        check_cost(screen, day.delivered)
        screen.leave()
        assert day.completions() == {1: 1}
        assert day.twice == set()
    told = json.dumps(day.bodies)
    assert "the job is done" in told.partition("<background-results>")[2]
    nothing_runs(desk)
    check_files(desk)
    check_repository(desk, ["Begin", "Divide exactly", "Add median", "Merge wt/median"])

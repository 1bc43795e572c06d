"""The first eight hours: one agent, and what the first eight lessons are about."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from learnkit.backends.files.board import TaskBoard
from learnkit.clients.scripted import Block, Reply, reply, say, use
from learnkit.core.toolbox import Toolbox
from learnkit.core.tools import tool
from learnkit.core.transcript import texts
from learnkit.course.games.night.fault import (
    Harness,
    Kill,
    Outcome,
    fault,
    judged,
    last,
    offered,
    run,
)
from learnkit.events.log import EventLog

#: Characters at the end of a request that the programs of three hours read.
SIGHT = 4_000
#: The steps of lesson 3's feature, and the days of lesson 6's logs.
STEPS, DAYS = ("parse", "alerts", "command", "manual", "tests"), 10
#: Seconds until the heat alert is too late, and how long the archive takes to fill in.
DEADLINE, BACKFILL = 3600, 5400

_SKILL = """---
name: house-tests
description: How tests are written in this house. Load it before you write a test.
---
Begin each test file with this line:

    # given, when, then
"""


@fault("22:00", "s01", "Ctrl-C")
def interrupted(harness: Harness, folder: Path) -> Outcome:
    """You press Ctrl-C while a command runs, and ask something else."""

    @tool(name="bash")
    def bash(command: str) -> str:
        """Run a bash command."""
        raise KeyboardInterrupt

    def model(request: Any) -> Reply:
        first = len(request["messages"]) == 1
        return use("bash", command="python -m heatwatch latest cairo") if first else say("29 °C.")

    prompts = "How hot is it in Cairo?", "Never mind the command. How hot was it?"
    log = run(model, [Toolbox(bash)], *prompts)
    return judged(
        log,
        log[-1].data["reason"] == "end_turn",
        "The call got a result that says it was cancelled, so the next request was valid.",
        "The call was left without a result, and the API refuses every request after it.",
    )


@fault("23:00", "s02", "Three 30s", "tools")
def limit(harness: Harness, folder: Path) -> Outcome:
    """The alert limit has to change from 30 to 35. The file has three 30s."""
    file = folder / "settings.py"
    file.write_text("LIMIT = 30\nDAYS = 30\nPORT = 3000\n")

    def model(request: Any) -> Reply:
        if len(request["messages"]) > 1:
            return say("The limit is 35 now.")
        if "edit_file" in offered(request):
            texts = {"old_text": "LIMIT = 30", "new_text": "LIMIT = 35"}
            return use("edit_file", path="settings.py", **texts)
        return use("bash", command="sed -i s/30/35/ settings.py")

    log = run(model, harness.hands(folder), "Raise the alert limit in settings.py to 35.")
    lines = file.read_text().splitlines()
    return judged(
        log,
        lines == ["LIMIT = 35", "DAYS = 30", "PORT = 3000"],
        "edit_file replaced one text that it had found exactly once.",
        f"sed replaced a 30 in each line. The file says {', '.join(lines)}.",
    )


def sight(request: Any) -> str:
    """What the programs of three hours read: the end of a request, and nothing before it."""
    read = "\n".join(text for one in request["messages"] for text in texts(one["content"]))
    return read[-SIGHT:]


@fault("00:00", "s03", "A long detour", "todo")
def detour(harness: Harness, folder: Path) -> Outcome:
    """A feature has five steps, and each prints so much that the request moves out of sight."""
    built: list[str] = []

    @tool
    def build(step: str) -> str:
        """Build a step of the feature."""
        built.append(step)
        return "one line of a long output\n" * (SIGHT // 20)

    def listed(steps: dict[str, str]) -> Block:
        items = [{"id": name, "text": name, "status": state} for name, state in steps.items()]
        return use("todo", items=items).content[0]

    def model(request: Any) -> Reply:
        in_sight = sight(request)
        marks = re.findall(r"^\[([ >x])\] \S+ (\w+)$", in_sight, re.MULTILINE)
        steps = {name: "pending" if mark == " " else "completed" for mark, name in marks}
        if not steps:
            steps = dict.fromkeys(re.findall(r"^- (\w+)$", in_sight, re.MULTILINE), "pending")
        left = [name for name, state in steps.items() if state == "pending"]
        if not left:
            return say("The feature is built.")
        steps[left[0]] = "in_progress"
        call = use("build", step=left[0])
        return reply(*call.content, listed(steps)) if "todo" in offered(request) else call

    prompt = "Build the feature:\n" + "\n".join(f"- {name}" for name in STEPS)
    log = run(model, [Toolbox(build), *harness.chosen("todo")], prompt)
    return judged(
        log,
        built == [*STEPS],
        "Each update showed the list again, so what was left was never out of sight.",
        f"{len(built)} of {len(STEPS)} steps were built: the request was out of sight by then.",
    )


@fault("01:00", "s04", "Eight stations", "subagents")
def stations(harness: Harness, folder: Path) -> Outcome:
    """Eight parsers each hide one fact, in more text than one look takes in."""
    names = [f"station_{letter}" for letter in "abcdefgh"]
    facts = {name: f"{name} marks a missing reading with -{n}99" for n, name in enumerate(names, 1)}
    noted: list[str] = []

    @tool
    def read_parser(station: str) -> str:
        """Read a parser."""
        return "one line of a long parser\n" * (SIGHT // 30) + facts[station]

    @tool
    def note(lines: list[str]) -> str:
        """Note what was found out."""
        noted.extend(lines)
        return "noted"

    def model(request: Any) -> Reply:
        in_sight = sight(request)
        known = re.findall(r"^station_\w marks .*$", in_sight, re.MULTILINE)
        if known and "note" not in offered(request):  # a subagent reports
            return say(known[-1])
        if known:
            return say("All stations are noted.") if noted else use("note", lines=known)
        asked = re.findall(r"^- (station_\w)$", in_sight, re.MULTILINE)
        if "task" in offered(request):
            prompt = "What marks a missing reading?\n- "
            return reply(*(use("task", prompt=prompt + one, description=one) for one in asked))
        return reply(*(use("read_parser", station=one) for one in asked))

    chosen = harness.chosen("subagents", lambda: [Toolbox(read_parser)])
    prompt = "Note what marks a missing reading:\n" + "\n".join(f"- {name}" for name in names)
    log = run(model, [Toolbox(read_parser, note), *chosen], prompt)
    return judged(
        log,
        noted == [*facts.values()],
        "Each parser was read in a context of its own, and eight reports of a line came back.",
        f"{len(noted)} of {len(names)} facts were noted: the other parsers were out of sight.",
    )


def house_skill(folder: Path) -> Path:
    """Write the skill with the rule of the house, and return the folder."""
    (folder / "house-tests").mkdir(parents=True)
    (folder / "house-tests" / "SKILL.md").write_text(_SKILL)
    return folder


@fault("02:00", "s05", "The rule of the house", "tools", "skills")
def style(harness: Harness, folder: Path) -> Outcome:
    """A new test has to follow a rule that only the team's documents mention."""
    skills = house_skill(folder / "skills")

    def model(request: Any) -> Reply:
        read = re.search(r"^ {4}(#.*)$", last(request), re.MULTILINE)
        if "load_skill" in offered(request) and len(request["messages"]) == 1:
            return use("load_skill", name="house-tests")
        if len(request["messages"]) < (4 if read else 2):
            head = f"{read[1]}\n" if read else ""
            text = f"{head}def test_alert():\n    assert 35 > 30\n"
            return use("bash", command=f"cat > test_alert.py <<'END'\n{text}END")
        return say("The test is written.")

    hands = [*harness.hands(folder), *harness.chosen("skills", skills)]
    log = run(model, hands, "Write a test for the alert.")
    written = (folder / "test_alert.py").read_text()
    return judged(
        log,
        written.startswith("# given, when, then\n"),
        "The skill was in the catalogue, so its rule could be loaded and followed.",
        "The test ignores the rule of the house: nothing in the requests mentioned it.",
    )


@fault("03:00", "s06", "A full context", "compaction")
def full(harness: Harness, folder: Path) -> Outcome:
    """Ten days of logs come in after you have agreed on a unit."""
    highs = [f"day {number}: {20 + number}" for number in range(1, DAYS + 1)]
    noted: list[str] = []

    @tool
    def read_log(day: int) -> str:
        """Read the log of a day."""
        return "one line of a long log\n" * (SIGHT // 60) + highs[day - 1]

    @tool
    def note(lines: list[str]) -> str:
        """Note the highest values, and their unit."""
        noted.extend(lines)
        return "noted"

    def model(request: Any) -> Reply:
        known = list(dict.fromkeys(re.findall(r"the unit is celsius|day \d+: \d+", sight(request))))
        if not offered(request):  # a summary is asked for
            return say("\n".join(known))
        if len(request["messages"]) == 1 and len(known) == 1:
            return say("Agreed.")
        if noted:
            return say("The report is written.")
        if highs[-1] in known:
            return use("note", lines=known)
        return use(
            "read_log", day=1 + max((int(one.split()[1][:-1]) for one in known[1:]), default=0)
        )

    chosen = harness.chosen("compaction", SIGHT // 8, DAYS, folder / "transcripts")
    agreed = "We agree that the unit is celsius."
    log = run(model, [Toolbox(read_log, note), *chosen], agreed, "How hot was each day?")
    return judged(
        log,
        noted == ["the unit is celsius", *highs],
        "Summaries kept the unit and the values, and were short enough to stay in sight.",
        f"{len(noted)} of {DAYS + 1} facts were noted: what came first was out of sight.",
    )


@fault("04:00", "s07", "kill -9", "tools", "tasks")
def killed(harness: Harness, folder: Path) -> Outcome:
    """The process is killed after two of four files. The new one starts with an empty context."""
    names = ("parse", "alerts", "report", "manual")

    def write(number: int) -> Reply:
        name = names[number - 1]
        steps = [use("bash", command=f"echo {name} >> {name}.txt")]
        if harness.has("tasks"):
            done = {"task_id": number, "status": "completed"}
            steps = [use("task_update", task_id=number, status="in_progress"), *steps]
            steps.append(use("task_update", **done))
        return reply(*steps)

    def first(request: Any) -> Reply:
        turn = len(request["messages"]) // 2
        plans = "task_create" in offered(request)
        if plans and turn == 0:
            return reply(*(use("task_create", subject=f"write {name}") for name in names))
        return write(turn - plans + 1)

    def second(request: Any) -> Reply:
        if "task_list" not in offered(request):
            return say("Which work shall I go on with?")
        if len(request["messages"]) == 1:
            return use("task_list")
        if left := re.findall(r"\[ \] #(\d+)", last(request)):
            return reply(*(block for one in left for block in write(int(one)).content))
        return say("All four files are written.")

    log = EventLog()
    kill = [Kill(4 if harness.has("tasks") else 3)]  # with tasks, the first one makes the plan
    for model, prompt, fate in (
        (first, "Write these four files: parse, alerts, report, manual.", kill),
        (second, "Go on with the work.", []),
    ):
        tasks = harness.chosen("tasks", TaskBoard(folder / ".tasks"))
        run(model, [*harness.hands(folder), *tasks, *fate], prompt, log=log)
    found = {name: folder / f"{name}.txt" for name in names}
    times = {n: len(p.read_text().split()) if p.exists() else 0 for n, p in found.items()}
    missing = [name for name, number in times.items() if number != 1]
    return judged(
        log,
        not missing,
        "The tasks were on disk, so the new process knew which two were left.",
        f"The plan died with the process: {', '.join(missing)} was never written.",
    )


@fault("05:00", "s08", "Ninety minutes", "tools", "background")
def backfill(harness: Harness, folder: Path) -> Outcome:
    """The archive takes 90 minutes to fill in, and an alert is due within the hour."""
    sent: list[float] = []

    @tool
    def fill_archive(agent: Any) -> str:
        """Fill in the archive, which takes 90 minutes."""
        agent.clock.sleep(BACKFILL, agent.stop)
        (folder / "archive.txt").write_text("365 days\n")
        return "365 days filled in"

    @tool
    def send_alert(agent: Any) -> str:
        """Send the heat alert."""
        sent.append(agent.clock.time())
        return "sent"

    def model(request: Any) -> Reply:
        turn = len(request["messages"]) // 2
        if turn == 0:
            if "background_run" in offered(request):
                command = f"sleep {BACKFILL}; echo 365 days > archive.txt"
                return use("background_run", command=command)
            return use("fill_archive")
        return use("send_alert") if not sent else say("Both are done.")

    chosen = harness.chosen("background", workspace=folder, limit=2.0 * BACKFILL)
    tools = [Toolbox(fill_archive, send_alert), *harness.hands(folder)]
    log = run(model, [*tools, *chosen], "Fill in the archive, and send the heat alert.")
    minutes = round(sent[0] / 60) if sent else 0
    return judged(
        log,
        bool(sent) and sent[0] < DEADLINE and (folder / "archive.txt").exists(),
        f"The alert went out after {minutes} minutes, while the archive was still being filled.",
        f"The alert went out after {minutes} minutes: the loop waited for the archive first.",
    )


FAULTS = (interrupted, limit, detour, stations, style, full, killed, backfill)

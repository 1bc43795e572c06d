"""``agent.py`` after each lesson, run as a process against a server that checks its requests."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from processes import until
from project import ROOT
from repos import begun, commit, git

import learnkit as lk
from learnkit.course.agent_file.process import Terminal
from learnkit.course.agent_file.source import Source

pytestmark = pytest.mark.slow

Script = Callable[[dict[str, Any]], Any]


class Project:
    """A folder with ``agent.py`` beside it, and a model whose requests are kept."""

    def __init__(self, top: Path, lesson: int, script: Script) -> None:
        self.folder = top / "project"
        self.folder.mkdir(exist_ok=True)
        self.terminal = Terminal(str(Source.reference(f"s{lesson:02}")), script, self.folder)
        self.requests = self.terminal.requests

    def run(self, prompt: str, **more: str) -> str:
        fast = {"AGENT_POLL": "0.05", "AGENT_IDLE": "1"}
        with self.terminal as terminal:
            process = terminal.start(prompt, env=fast | more)
            process.wait(120)
        self.err = process.err
        assert process.code == 0, process.err
        return process.out

    def results(self) -> list[str]:
        """The results in the last request, and the texts that follow them."""
        content = [b for m in self.requests[-1]["messages"][1:] for b in blocks(m)]
        return [b.get("content", b.get("text")) for b in content if b["type"] != "tool_use"]


def blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def turns(*replies: Any) -> Script:
    """Replies by how often the agent has answered already."""

    def script(request: dict[str, Any]) -> Any:
        return replies[sum(one["role"] == "assistant" for one in request["messages"])]

    return script


@pytest.mark.parametrize(("name", "last"), [("agent", "s12"), ("agent_beyond", "b4")])
def test_the_example_is_what_the_lessons_add(name: str, last: str) -> None:
    text = (ROOT / "examples" / f"{name}.py").read_text("utf-8")
    assert text == str(Source.reference(last))
    assert "learnkit." not in text
    compile(text, "agent.py", "exec")


def test_s01_it_runs_commands_and_reports(tmp_path: Path) -> None:
    two = lk.reply(lk.use("bash", command="echo 'print(1)' > hello.py"), lk.use("bash"))
    project = Project(tmp_path, 1, turns(two, lk.say("hello.py is there.")))
    assert project.run("Create hello.py").endswith("hello.py is there.\n")
    assert (project.folder / "hello.py").read_text() == "print(1)\n"
    assert "command" in project.results()[1]  # the argument that was missing


@pytest.mark.parametrize("lesson", [1, 2, 3, 12])
def test_ctrl_c_and_a_reply_that_was_cut_off_leave_a_result_for_each_call(
    tmp_path: Path, lesson: int
) -> None:
    """The conversation goes on, as `main` lets it."""
    calls = [lk.use("bash", command=f"touch begun; sleep {n}") for n in (60, 61)]
    cut = lk.reply(lk.use("bash", command="touch cut"), stop_reason="max_tokens")
    project = Project(tmp_path, lesson, turns(lk.reply(*calls), cut, lk.say("Both are valid.")))
    program = """
agent.input, agent.prompts = lambda _: "Go on", lambda: ["Go", "Go on"]  # lesson 12's has these
agent.main()
"""
    with project.terminal as terminal:
        process = terminal.start("Go", program=program)
        until((project.folder / "begun").exists)
        process.kill(signal.SIGINT)
        process.wait()
    assert process.out.endswith("Both are valid.\n")
    assert sum("Not finished" in one for one in project.results()) == 3
    assert not (project.folder / "cut").exists()


def test_s02_tools_have_schemas_and_paths_stay_inside(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    script = turns(
        lk.reply(
            lk.use("write_file", path="a/b.txt", content="one\ntwo\none\n"),
            lk.use("edit_file", path="a/b.txt", old_text="one", new_text="1"),
            lk.use("read_file", path="a/b.txt", limit=1, offset=1),
            lk.use("read_file", path="../secret"),
            lk.use("edit_file", path="a/b.txt", old_text="three", new_text="3"),
            lk.use("read"),
            lk.use("bash", command="echo $ANTHROPIC_API_KEY$HOME; exit 3"),
        ),
        lk.say("Done."),
    )
    project = Project(tmp_path, 2, script)
    project.run("Go", HOME="home")
    schemas = {one["name"]: one["input_schema"] for one in project.requests[0]["tools"]}
    assert schemas["read_file"]["required"] == ["path"]
    assert schemas["read_file"]["properties"]["limit"] == {"type": "integer"}
    said = project.results()
    assert (project.folder / "a/b.txt").read_text() == "1\ntwo\none\n"
    assert "2 time(s)" in said[1]
    assert said[2] == "two"
    assert "outside" in said[3]
    assert "read the file again" in said[4]
    assert "no tool 'read'; there are: bash, read_file" in said[5]
    assert said[6] == "home\n(exit code 3)"


def item(id: str, status: str = "pending") -> dict[str, str]:
    return {"id": id, "text": f"part {id}", "status": status}


def test_s03_the_reminder_follows_three_rounds_and_no_open_item_is_lost(tmp_path: Path) -> None:
    look = lk.use("bash", command="true")
    script = turns(
        lk.use("todo", items=[item("1", "in_progress"), item("2")]),
        *[look] * 4,
        lk.use("todo", items=[item("1", "completed")]),
        lk.use("todo", items=[item("1", "completed"), item("2", "completed")]),
        *[look] * 3,
        lk.say("Done."),
    )
    project = Project(tmp_path, 3, script)
    project.run("Go")
    said = project.results()
    assert said[0].startswith("[>] #1: part 1")
    reminders = [index for index, text in enumerate(said) if text.startswith("<reminder>")]
    assert reminders == [4]  # behind the results of rounds 0 to 3, and never again
    assert "missing in your list: part 2" in said[6]
    assert said[7].endswith("(2/2 completed)")


def test_s04_the_parent_gets_reports_and_children_work_side_by_side(tmp_path: Path) -> None:
    def script(request: dict[str, Any]) -> Any:
        first, count = blocks(request["messages"][0])[0]["text"], len(request["messages"])
        if first == "Go":
            tasks = [lk.use("task", prompt=n, description=n, kind="explore") for n in "ab"]
            return lk.say("Done.") if count > 1 else lk.reply(*tasks)
        assert [one["name"] for one in request["tools"]] == ["read_file"]
        if count == 1:
            return lk.use("read_file", path=f"{first}.txt")
        (project.folder / f"{first}.came").touch()
        until((project.folder / f"{'ba'['ab'.index(first)]}.came").exists)  # else they are serial
        return lk.say(f"{first} is long.") if first == "a" else lk.say("")

    project = Project(tmp_path, 4, script)
    for name in "ab":
        (project.folder / f"{name}.txt").write_text("secret " * 99)
    project.run("Go")
    parent = [one for one in project.requests if blocks(one["messages"][0])[0]["text"] == "Go"]
    assert "secret" not in json.dumps(parent)
    results = [one["content"] for one in parent[-1]["messages"][2]["content"]]
    assert results == ["a is long.", "(no summary)"]


SKILL = "---\nname: tests\ndescription: >\n  How we\n  write tests\n---\nNo\n---\nmocks"


def test_s05_a_skill_is_listed_and_loaded(tmp_path: Path) -> None:
    script = turns(lk.use("load_skill", name="tests"), lk.use("load_skill", name="x"), lk.say("."))
    project = Project(tmp_path, 5, script)
    for name, text in {"tests": SKILL, "bad": "no fields"}.items():
        (project.folder / "skills" / name).mkdir(parents=True)
        (project.folder / "skills" / name / "SKILL.md").write_bytes(
            text.replace("\n", "\r\n").encode()
        )
    project.run("Go")
    assert "skills/bad/SKILL.md is left out: ValueError(\"'---' is not in list\")" in project.err
    assert project.requests[0]["system"].endswith("\n- tests: How we write tests")
    said = project.results()
    assert said[0] == '<skill name="tests" folder="skills/tests">\nNo\n---\nmocks\n</skill>'
    assert "no skill 'x'; there are: tests" in said[1]


def test_s06_old_results_go_first_and_a_summary_keeps_request_and_plan(tmp_path: Path) -> None:
    def script(request: dict[str, Any]) -> Any:
        text = json.dumps(request["messages"])
        if text.count("Summarise this") and "tools" not in request:
            return lk.say("Files 1 to 6 are read.")
        if "Files 1 to 6" in text:
            return lk.say("Done.")
        step = sum(one["role"] == "assistant" for one in request["messages"])
        if step == 0:
            return lk.use("todo", items=[item("1")])
        if step == 8:
            return lk.use("compact", focus="the names")
        return lk.reply(lk.use("read_file", path="long.txt"), thinking="Next.")

    project = Project(tmp_path, 6, script)
    (project.folder / "long.txt").write_text("x" * 1900)
    project.run("Read it six times", AGENT_THRESHOLD="3300")
    texts = [json.dumps(one["messages"]) for one in project.requests]
    assert any("[Previous: used read_file]" in one for one in texts)
    wish = next(one for one in project.requests if "tools" not in one)
    assert "Above all: the names" in wish["messages"][0]["content"]
    left = project.requests[-1]["messages"]
    for part in ("Files 1 to 6", "Read it six times", "[ ] #1: part 1", ".transcripts/lead-1.json"):
        assert part in left[0]["content"]
    assert [one["role"] for one in left[:3]] == ["user", "assistant", "user"]
    assert left[-1]["content"].startswith("Still open: part 1.")  # the plan is asked about
    kept = json.loads((project.folder / ".transcripts/lead-1.json").read_text())
    assert kept[0]["content"][0]["text"] == "Read it six times"


def test_s07_tasks_survive_a_kill_and_blockers_hold(tmp_path: Path) -> None:
    evening = turns(
        lk.reply(*(lk.use("task_create", subject=one) for one in ("parse", "test"))),
        lk.reply(
            lk.use("task_update", task_id=2, addBlockedBy=[1]),
            lk.use("task_update", task_id=2, status="in_progress"),
            lk.use("task_update", task_id=2, status="completed"),
            lk.use("task_update", task_id=9, status="completed"),
            lk.use("task_list"),
        ),
        lk.use("bash", command="echo $$ > part; mv part asleep; exec sleep 60"),
    )
    project = Project(tmp_path, 7, evening)
    asleep = project.folder / "asleep"
    with project.terminal as terminal:
        process = terminal.start("Go")
        until(asleep.exists)
    assert process.code == -signal.SIGKILL
    until(lambda: not psutil.pid_exists(int(asleep.read_text())))  # nor what it had started
    said = project.results()
    assert said[3] == said[4] == "ValueError: task #2 is not ready: [ ] #2: test (blocked by [1])"
    assert "no task 9; there are: 1, 2" in said[5]
    assert said[6].endswith("(blocked by [1])\nready: 1")
    owned = project.folder / ".tasks/task_1.json"
    owned.write_text(json.dumps({**json.loads(owned.read_text()), "owner": "alice"}))
    begin = lk.use("task_update", task_id=1, status="in_progress")
    project = Project(tmp_path, 7, turns(begin, lk.say("It's hers.")))
    project.run("Go on")
    assert project.results() == ["ValueError: task #1 is not ready: [ ] #1: parse @alice"]
    owned.write_text(json.dumps({**json.loads(owned.read_text()), "owner": "lead"}))
    morning = turns(
        begin,
        lk.use("task_update", task_id=1, status="completed"),
        lk.use("task_update", task_id=2, status="in_progress"),
        lk.say("Going on."),
    )
    project = Project(tmp_path, 7, morning)
    project.run("Go on")
    assert project.results() == [
        "[>] #1: parse @lead",
        "[x] #1: parse @lead",
        "[>] #2: test @lead",
    ]


@pytest.mark.parametrize("how", [{"dies_at": 30}, {"killed_at_request": 2}])
def test_s07_a_process_dies_where_it_is_to_die(tmp_path: Path, how: dict[str, int]) -> None:
    project = Project(tmp_path, 7, turns(lk.use("task_create", subject="parse"), lk.say("Done.")))
    with project.terminal as terminal:
        assert terminal.run("Go", **how) == ""
    board = project.folder / ".tasks"
    sizes = {one.name: one.stat().st_size for one in board.iterdir() if "task" in one.name}
    assert (
        sizes == {".task_1.json.part": 30} if "dies_at" in how else list(sizes) == ["task_1.json"]
    )
    assert len(project.requests) == how.get("killed_at_request", 1)


def test_s08_a_job_runs_beside_the_work_and_its_result_comes_once(tmp_path: Path) -> None:
    wait = "until [ -e go ]; do sleep 0.02; done; echo ready; exit 3"
    script = turns(
        lk.use("background_run", command=wait),
        lk.use("check_background"),
        lk.use("write_file", path="go", content=""),
        lk.say("I wait."),
        lk.say("It has ended."),
    )
    project = Project(tmp_path, 8, script)
    assert project.run("Go").endswith("It has ended.\n")
    said = project.results()
    assert said[1] == f"{said[0]}: running"
    found = [one for one in said if one.startswith("<background-results>")]
    assert len(found) == 1
    assert f"[{said[0]}] failed: ready" in found[0]


def team(**lanes: Script) -> Script:
    """Replies by who asks: the system prompt names a teammate."""

    def script(request: dict[str, Any]) -> Any:
        for name, answer in lanes.items():
            if f"You are '{name}'" in request["system"]:
                return answer(request)
        return lanes["lead"](request)

    return script


def test_s09_mail_is_there_again_if_its_reader_is_killed_before_the_commit(tmp_path: Path) -> None:
    project = Project(tmp_path, 9, turns(lk.say("Read.")))
    project.run("Go")  # makes the folders
    killed = """
import os
agent.send("bob", "lead", "the build is red")
agent.commit = lambda *_: os._exit(9)
agent.main()
"""
    with project.terminal as terminal:
        assert terminal.start("Go", program=killed).wait() == 9
    for times in (1, 0):
        project = Project(tmp_path, 9, turns(lk.say("Read.")))
        project.run("Go")
        assert str(project.requests[-1]["messages"]).count("the build is red") == times


def test_s10_a_plan_opens_the_gate_once_and_only_the_addressee_answers(tmp_path: Path) -> None:
    def last(request: dict[str, Any]) -> str:
        messages = request["messages"]
        roles = [one["role"] for one in messages]
        own = [index for index, role in enumerate(roles) if role == "assistant"]
        return str(messages[own[-1] + 1 if own else 0 :])

    def request_id(request: dict[str, Any]) -> str:
        return str(request["messages"]).rpartition('"request_id": "')[2][:8]

    def lead(request: dict[str, Any]) -> Any:
        if len(request["messages"]) == 1:
            plan = {"name": "bob", "role": "coder", "prompt": "Delete old.txt"}
            return lk.use("spawn_teammate", **plan, plan_required=True)
        if "plan_approval_request" in last(request):
            return lk.use("plan_approval", request_id=request_id(request), approve=True)
        if "is approved." in last(request):
            return lk.use("plan_approval", request_id=request_id(request), approve=False)
        if '"Deleted."' in last(request):
            return lk.use("send_message", to="bob", content="Delete all.txt")
        if '"Refused."' in last(request):
            return lk.use("shutdown_request", teammate="bob")
        return lk.say("I wait.")

    def bob(request: dict[str, Any]) -> Any:
        said = last(request)
        if "Delete old.txt" in said:
            return lk.use("bash", command="rm old.txt")
        if "needs an approved plan" in said:
            again = "Delete all.txt" in str(request["messages"])
            return lk.say("Refused.") if again else lk.use("submit_plan", plan="rm old.txt")
        if "Submitted as" in said:
            forged = {"request_id": said.partition("Submitted as ")[2][:8], "approve": True}
            return lk.use("shutdown_response", **forged)
        if "plan_approval_response" in said:
            return lk.use("bash", command="rm old.txt")
        if "Delete all.txt" in said:
            return lk.use("bash", command="rm all.txt")
        if "shutdown_request" in said:
            return lk.use("shutdown_response", request_id=request_id(request), approve=True)
        return lk.say("Deleted." if "no output" in said else "I wait.")

    project = Project(tmp_path, 10, team(lead=lead, bob=bob))
    for name in ("old.txt", "all.txt"):
        (project.folder / name).touch()
    project.run("Go")
    assert not (project.folder / "old.txt").exists()
    assert (project.folder / "all.txt").exists()
    text = str([one["messages"] for one in project.requests])
    assert "for bob to answer" in text  # his own plan
    assert "is approved already" in text
    assert "I have stopped" in text


def test_s11_teammates_claim_a_task_each_and_a_taken_one_is_refused(tmp_path: Path) -> None:
    def teammate(request: dict[str, Any]) -> Any:
        said = str(request["messages"])
        if "<auto-claimed>" not in said or "task_update" in said:
            return lk.say("Idle.")
        number = int(said.partition("Task #")[2][0])
        if "claim_task" not in said:
            return lk.use("claim_task", task_id=number)
        return lk.use("task_update", task_id=number, status="completed")

    tasks = [lk.use("task_create", subject=subject) for subject in ("code", "test")]
    crew = {"alice": "coder", "bob": "tester"}
    begun = [
        lk.use("spawn_teammate", name=name, role=role, prompt="Find work")
        for name, role in crew.items()
    ]
    lead = turns(lk.reply(*tasks), lk.reply(*begun), *[lk.say("I wait.")] * 9)
    project = Project(tmp_path, 11, team(lead=lead, alice=teammate, bob=teammate))
    project.run("Go")
    board = [json.loads(path.read_text()) for path in project.folder.glob(".tasks/*.json")]
    assert [one["status"] for one in board] == ["completed"] * 2
    for task in board:
        line = f"#{task['id']}: {task['subject']} @{task['owner']}"
        assert f"task #{task['id']} is not ready: [>] {line}" in str(project.requests)


def test_s12_a_task_is_done_in_its_worktree_and_merged_if_the_tests_pass(tmp_path: Path) -> None:
    def alice(request: dict[str, Any]) -> Any:
        said = str(request["messages"][-1])
        if "<auto-claimed>" in said:
            return lk.use("bash", command="echo done > new.txt; echo changed > notes.txt; pwd")
        if ".worktrees/one" in said:
            return lk.use("task_update", task_id=1, status="completed")
        return lk.say("Ready.")

    def lead(request: dict[str, Any]) -> Any:
        count, said = len(request["messages"]), str(request["messages"])
        if count == 1:
            return lk.use("task_create", subject="write new.txt")
        if count == 3:
            return lk.reply(
                lk.use("worktree_create", name="one", task_id=1),
                lk.use("worktree_create", name="../two", task_id=1),
                lk.use("spawn_teammate", name="alice", role="coder", prompt="Find work"),
            )
        if "[x] #1" in said and "worktree_merge" not in said:
            return lk.use("worktree_merge", name="one")
        if "[x] #1" in said and "worktree_remove" not in said:
            return lk.use("worktree_remove", name="one")
        return lk.use("task_list") if "Ready." in str(request["messages"][-1]) else lk.say("Wait.")

    for tests, merged in (("test -e nothing", False), ("test -e new.txt", True)):
        top = tmp_path / str(merged)
        top.mkdir()
        project = Project(top, 12, team(lead=lead, alice=alice))
        begun(project.folder)
        commit(project.folder, "first\n", "notes.txt")
        git(project.folder, "config user.name a && git config user.email a@b")
        project.run("Go", AGENT_TESTS=tests)
        assert (project.folder / "new.txt").exists() == merged
        assert git(project.folder, "status --porcelain") == ""
        assert (project.folder / "notes.txt").read_text() == ("changed\n" if merged else "first\n")
        assert git(project.folder, "show wt/one:new.txt") == "done\n"
        assert not (project.folder / ".worktrees/one").exists()
        text = str(project.requests[-1]["messages"])
        assert "'../two' is no name for a worktree" in text
        assert ("the tests fail" in text) != merged

"""The whole harness: all mechanisms on one loop, and any of them left out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from teams import spawn, when

import learnkit as lk
from learnkit.harness import NEEDS, PARTS

pytestmark = pytest.mark.usefixtures("no_thread_is_left")
SKILLS = Path(__file__).resolve().parent.parent / "skills"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    made = lk.LocalShell().run("git init -q && git add -A && git commit -q -m one", folder)
    assert made.code == 0, made.output
    return folder


def test_every_mechanism_works_in_one_run(repo: Path) -> None:
    def teammate(request: Any) -> Any:
        last = str(request["messages"][-1]["content"])
        if found := re.findall(r"<auto-claimed>Task #(\d+)", last):
            write = lk.use("write_file", path="b.txt", content="two\n")
            commit = lk.use("bash", command="git add -A && git commit -q -m two")
            done = lk.use("task_update", task_id=int(found[-1]), status="completed")
            return lk.reply(write, commit, done)
        if "shutdown_request" in last:
            return lk.use("shutdown_response", request_id="r0000001", approve=True)
        return lk.say("ready")

    items = [{"id": "1", "text": "all of it", "status": "in_progress"}]
    lead = when(
        ("Go.", lk.reply(lk.use("todo", items=items), lk.use("load_skill", name="code-review"))),
        ("<skill", lk.use("task", prompt="How many files are there?", description="count")),
        ("one file", lk.use("background_run", command="sleep 1; echo built")),
        ("00000", lk.use("task_create", subject="write b.txt")),
        ("write b.txt", lk.use("worktree_create", name="b", task_id=1)),
        ("wt/b, at", spawn("alice")),
        ("has started", lk.use("compact")),
    )

    def model(request: Any) -> Any:
        system = str(request.get("system", ""))
        last = str(request["messages"][-1]["content"])
        if "You are alice" in system:
            return teammate(request)
        if "How many files" in str(request["messages"][0]):
            return lk.say("one file")
        if "<conversation>" in last:
            return lk.say("a summary of what was done")
        return lead(request)

    client = lk.scripted(model)
    with client.clock:
        agent = lk.full_agent(client, repo, skills=SKILLS)
        assert 28 <= len(agent.tools) <= 34
        outcome = agent.run("Go.")
        client.clock.sleep(30)
    assert outcome.reason == "end_turn"
    kinds = {event.type for event in agent.events}
    assert {
        *("todo.updated", "skill.loaded", "subagent.ended", "job.ended", "task.completed"),
        *("team.spawned", "mail.sent", "compaction.summarised", "worktree.create"),
    } <= kinds
    assert not [e for e in agent.events if e.type == "model.failed"]
    assert (repo / ".worktrees" / "b" / "b.txt").read_text() == "two\n"
    assert not (repo / "b.txt").exists()
    assert lk.TaskBoard(repo / ".learnkit" / "tasks").get(1).status == "completed"


OWN = {
    "todo": {"todo"},
    "subagents": {"task"},
    "skills": {"load_skill"},
    "compaction": {"compact"},
    "tasks": {"task_create", "task_list"},
    "background": {"background_run"},
    "team": {"spawn_teammate", "broadcast"},
    "protocols": {"plan_approval"},
    "autonomy": {"claim_task"},
    "worktrees": {"worktree_create", "worktree_merge"},
}


@pytest.mark.slow
@given(without=st.sets(st.sampled_from(PARTS)))
def test_any_part_can_be_left_out(tmp_path_factory: Any, without: set[str]) -> None:
    folder = tmp_path_factory.getbasetemp() / "shared"
    if not folder.exists():
        folder.mkdir()
        lk.LocalShell().run("git init -q", folder)
    client = lk.scripted([lk.say("hello")])
    needed = {one for part, needs in NEEDS.items() if part not in without for one in needs}
    if needed & without:
        with pytest.raises(lk.UsageError, match=r"needs \w+; leave out \w+ as well"):
            lk.full_agent(client, folder, without=without, skills=SKILLS)
        return
    agent = lk.full_agent(client, folder, without=without, skills=SKILLS)
    for part in PARTS:
        there = OWN[part] <= set(agent.tools)
        assert there == (part not in without), part
    assert agent.run("Hi.").text == "hello"


def test_a_list_of_parts_is_all_that_it_has(tmp_path: Path) -> None:
    agent = lk.full_agent(lk.scripted([]), tmp_path, parts=["todo", "tasks"], without=["tasks"])
    assert list(agent.tools) == ["bash", "read_file", "write_file", "edit_file", "todo"]
    with pytest.raises(lk.UsageError, match="there is no part 'magic'; there are: todo, "):
        lk.full_agent(lk.scripted([]), tmp_path, without=["magic"])
    with pytest.raises(lk.UsageError, match="autonomy needs team"):
        lk.full_agent(lk.scripted([]), tmp_path, parts=["autonomy"])


def test_the_lead_may_get_more(tmp_path: Path) -> None:
    more = lk.Toolbox(lk.tool(name="ping")(lambda: "pong"))
    assert list(lk.full_agent(lk.scripted([]), tmp_path, extra=[more]).tools)[-1] == "ping"


def test_what_is_denied_is_denied_to_all(repo: Path) -> None:
    script = {
        "lead": when(("Go.", lk.reply(lk.use("bash", command="ls"), spawn("alice")))),
        "alice": when(("Begin.", lk.use("bash", command="ls"))),
    }
    client = lk.scripted(script)
    with client.clock:
        deny = lk.Permission({"bash": "deny", "*": "allow"})
        agent = lk.full_agent(client, repo, permission=deny)
        agent.run("Go.")
    ended = [e.data for e in agent.events if e.type == "tool.ended" and e.data["name"] == "bash"]
    assert [one["how"] for one in ended] == ["refused", "refused"]


@pytest.mark.parametrize(
    ("rules", "ran"),
    [
        (None, ["background_run", "bash", "worktree_run"]),  # by default nothing is refused
        ({"bash": "allow", "worktree_create": "allow"}, ["bash"]),  # others: nobody can be asked
        (dict.fromkeys(("bash", "background_run", "worktree_run"), "deny") | {"*": "allow"}, []),
    ],
)
def test_a_rule_holds_for_its_tool_and_each_tool_that_runs_commands_needs_one(
    repo: Path, tmp_path: Path, rules: Any, ran: list[str]
) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    names = ("bash", "background_run", "worktree_run")
    tree = {"bash": {}, "background_run": {}, "worktree_run": {"name": "tree"}}
    # There is no list of forbidden commands, and so none that this matches.
    command = f"echo 'sudo rm -rf / >/dev/sda; :(){{ :|:& }};:' >{marks}/"
    calls = [lk.use(name, command=command + name, **tree[name]) for name in names]
    client = lk.scripted(
        [lk.use("worktree_create", name="tree"), lk.reply("", *calls), *[lk.say("done")] * 3]
    )
    permission = None if rules is None else lk.Permission(rules)
    with client.clock, lk.full_agent(client, repo, permission=permission) as agent:
        agent.run("Go.")
        specs = {name: tool.spec()["input_schema"] for name, tool in agent.tools.items()}
    assert {name for name, one in specs.items() if "command" in one["properties"]} == set(names)
    assert sorted(path.name for path in marks.iterdir()) == ran


def test_the_thresholds_of_compaction_are_the_callers(tmp_path: Path) -> None:
    options = {"threshold": 123_000, "keep": 7, "transcripts": tmp_path / "elsewhere"}
    agent = lk.full_agent(lk.scripted([lk.say("")]), tmp_path / "w", compaction=options)
    plain = lk.full_agent(lk.scripted([lk.say("")]), tmp_path / "w2")
    (mine,) = (one for one in agent.mechanisms if isinstance(one, lk.Compaction))
    (other,) = (one for one in plain.mechanisms if isinstance(one, lk.Compaction))
    assert (mine.threshold, mine.transcripts) == (123_000, tmp_path / "elsewhere")
    usual = tmp_path / "w2" / ".learnkit" / "transcripts"
    assert (other.threshold, other.transcripts) == (50_000, usual)
    (team,) = (one for one in agent.mechanisms if isinstance(one, lk.Team))
    (teammate,) = (one for one in team._factory("alice", "coder") if isinstance(one, lk.Compaction))
    assert teammate.threshold == 123_000

"""Worktrees as a mechanism: tools, tasks, and teammates who work in the folders of their tasks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from logged import outputs
from teams import spawn, when

import learnkit as lk

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_thread_is_left")]

COMMIT = "git add -A && git commit -q -m"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "parse.py").write_text("one = 1\n")
    made = lk.LocalShell().run(f"git init -q && {COMMIT} first", folder)
    assert made.code == 0, made.output
    return folder


def use(tool: str, **input: Any) -> Any:
    return lk.use(f"worktree_{tool}", **input)


def ran(repo: Path, *steps: Any, board: lk.TaskBoard | None = None, **options: Any) -> lk.Agent:
    client = lk.scripted([*steps, lk.say("done")])
    agent = lk.Agent(client, [lk.Worktrees(repo, board, **options)])
    agent.run("Go.")
    return agent


def emitted(agent: lk.Agent) -> list[str]:
    return [e.type for e in agent.events if e.type.startswith("worktree.")]


def test_a_piece_of_work_from_its_folder_to_the_main_branch(repo: Path) -> None:
    agent = ran(
        repo,
        use("create", name="parser"),
        use("run", name="parser", command="pwd; echo two > parse.py; git commit -qam two"),
        use("status", name="parser"),
        use("merge", name="parser"),
        use("remove", name="parser"),
        use("list"),
        use("events"),
    )
    created, run, status, merged, removed, listed, events = outputs(agent)
    assert re.fullmatch(r"Created parser on branch wt/parser, at [0-9a-f]{7}\.", created)
    assert run == "/workspace"
    assert status.startswith("parser: wt/parser, active, 1 commits since ")
    assert status.endswith("no uncommitted changes")
    assert merged == "Merged parser; changed files: parse.py"
    assert removed == "Removed parser; branch wt/parser is kept."
    assert listed == "parser: wt/parser, removed"
    assert events.splitlines()[0] == "worktree.create.before parser"
    assert (repo / "parse.py").read_text() == "two\n"
    kinds = [kind for kind in emitted(agent) if kind != "worktree.commits"]
    assert kinds == ["worktree.create", "worktree.merge", "worktree.remove"]


def test_commits_are_logged_when_there_are_others(repo: Path) -> None:
    agent = ran(
        repo,
        use("create", name="parser"),
        use("run", name="parser", command="ls"),
        use("run", name="parser", command="echo two > parse.py; git commit -qam two"),
    )
    logged = [e.data["commits"] for e in agent.events if e.type == "worktree.commits"]
    assert [[one["subject"] for one in commits] for commits in logged] == [
        ["first"],
        ["first"],
        ["two", "first"],
    ]
    assert logged[1][0]["refs"] == ["main", "wt/parser"]
    assert logged[2][0]["parents"] == [logged[2][1]["id"]]
    assert [one["files"] for one in logged[2]] == [["parse.py"], ["parse.py"]]


def test_a_task_knows_its_worktree_and_is_completed_with_it(repo: Path, tmp_path: Path) -> None:
    board = lk.TaskBoard(tmp_path / ".tasks")
    board.create("parse")
    agent = ran(
        repo,
        use("create", name="parser", task_id=1),
        use("create", name="other", task_id=9),
        use("remove", name="parser", complete_task=True),
        board=board,
    )
    assert board.get(1).worktree == "parser"
    assert board.get(1).status == "completed"
    _, unknown, removed = outputs(agent)
    assert "there is no task 9" in unknown
    assert removed.endswith("Task 1 is completed.")
    assert not (repo / ".worktrees" / "other").exists()
    (failed,) = [e.data for e in agent.events if e.type == "worktree.failed"]
    assert (failed["tool"], failed["name"]) == ("create", "other")
    assert "task.completed" in [e.type for e in agent.events]


def test_one_whose_task_is_in_progress_is_not_removed(repo: Path, tmp_path: Path) -> None:
    board = lk.TaskBoard(tmp_path / ".tasks")
    board.create("parse")
    board.claim(1, "alice")
    agent = ran(
        repo,
        use("create", name="parser", task_id=1),
        use("remove", name="parser"),
        use("remove", name="parser", force=True),
        board=board,
    )
    _, refused, removed = outputs(agent)
    assert refused == "parser is in use: task 1 is in progress by alice"
    assert removed.startswith("Removed parser")


def test_two_teammates_edit_the_same_file_each_in_the_worktree_of_its_task(
    repo: Path, tmp_path: Path
) -> None:
    board = lk.TaskBoard(tmp_path / ".tasks")
    for name in ("first", "second"):
        board.create(name)

    def worker(request: Any) -> Any:
        last = str(request["messages"][-1]["content"])
        if found := re.findall(r"<auto-claimed>Task #(\d+)", last):
            id = found[-1]
            return lk.reply(
                lk.use("write_file", path="parse.py", content=f"by task {id}\n"),
                lk.use("bash", command=f"pwd; {COMMIT} 'task {id}'"),
                lk.use("task_update", task_id=int(id), status="completed"),
            )
        return lk.say("ready")

    client = lk.scripted(
        {
            "lead": when(
                ("Go.", lk.reply(*(use("create", name=f"t{n}", task_id=n) for n in (1, 2)))),
                ("Created t2 on", lk.reply(spawn("alice"), spawn("bob"))),
                ("Again.", use("create", name="t3", task_id=3)),
                ("Created t3 on", spawn("alice")),
            ),
            "alice": worker,
            "bob": worker,
        }
    )
    with client.clock:
        team = lk.Team(
            tmp_path / ".team", lambda name, role: [lk.CodingTools(repo), lk.Tasks(board)]
        )
        autonomy = lk.Autonomy(team, board)
        lead = lk.Agent(client, [team, autonomy, lk.Worktrees(repo, board, team=team)])
        with team:
            lead.run("Go.")
            for teammate in team.members:
                teammate.ended()
            board.create("third")
            lead.run("Again.")  # alice has shut down, and her tools are new ones
            for teammate in team.members:
                teammate.ended()
    assert (repo / "parse.py").read_text() == "one = 1\n"  # nobody has touched the main folder
    for number in (1, 2, 3):
        tree = repo / ".worktrees" / f"t{number}"
        assert (tree / "parse.py").read_text() == f"by task {number}\n"
    said = [o for o in outputs(lead) if o == "/workspace"]
    assert len(said) == 3
    last = [e.data["commits"] for e in lead.events if e.type == "worktree.commits"][-1]
    assert {one["subject"] for one in last} == {"task 1", "task 2", "task 3", "first"}

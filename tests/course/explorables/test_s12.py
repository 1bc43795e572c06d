"""Lesson 12's explorable: its files are those that real tools and a real `git merge` leave."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import learnkit as lk
from learnkit.course.lessons.s12.explorable import (
    ALICE,
    BOTH,
    CONFLICT,
    FILE,
    OVERWRITTEN,
    REFUSED,
    TYPED,
    WHOLE,
    draw,
    edited,
    in_one_folder,
    with_worktrees,
)
from learnkit.mechanisms.worktrees.registry import WorktreeRegistry
from learnkit.views.drawing.display import WIDE

NAME = "settings.py"
PLACES = range(len(FILE))


def change(tools: lk.CodingTools, way: str, read: str, place: int, who: str) -> None:
    """One agent's write, of what it has read before."""
    old, new = FILE[place], edited(place, who)
    if way == WHOLE:
        tools.write_file.run(None, {"path": NAME, "content": read.replace(old, new)})
    else:
        tools.edit_file.run(None, {"path": NAME, "old_text": old, "new_text": new})


def text_of(lines: object) -> str:
    return "".join(f"{line.text}\n" for line in lines)  # type: ignore[attr-defined]


@pytest.mark.parametrize("way", [WHOLE, TYPED])
@pytest.mark.parametrize("place", PLACES)
def test_real_tools_in_one_folder_leave_what_the_picture_shows(
    tmp_path: Path, place: int, way: str
) -> None:
    (tmp_path / NAME).write_text("\n".join(FILE) + "\n")
    agents = {name: lk.CodingTools(tmp_path) for name in ("alice", "bob")}
    read = {who: tools.workspace.read(NAME) for who, tools in agents.items()}
    change(agents["alice"], way, read["alice"], ALICE, "alice")
    end = in_one_folder(place, way)
    if end.state == REFUSED:
        with pytest.raises(lk.ToolError, match="was not found"):
            change(agents["bob"], way, read["bob"], place, "bob")
    else:
        change(agents["bob"], way, read["bob"], place, "bob")
    left = (tmp_path / NAME).read_text()
    assert left == text_of(end.lines)
    assert (edited(ALICE, "alice") in left) == (end.state != OVERWRITTEN)
    assert (edited(place, "bob") in left) == (end.state != REFUSED)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "user.name", "A")
    git(tmp_path, "config", "user.email", "a@example.org")
    (tmp_path / NAME).write_text("\n".join(FILE) + "\n")
    git(tmp_path, "add", NAME)
    git(tmp_path, "commit", "-q", "-m", "first")
    return tmp_path


def git(folder: Path, *words: str) -> int:
    plain = ("-c", "merge.conflictStyle=merge", "-c", "commit.gpgSign=false")
    run = subprocess.run(["git", *plain, *words], cwd=folder, capture_output=True, check=False)
    return run.returncode


@pytest.mark.slow
@pytest.mark.parametrize("way", [WHOLE, TYPED])
@pytest.mark.parametrize("place", PLACES)
def test_git_merges_two_worktrees_as_the_picture_shows(repo: Path, place: int, way: str) -> None:
    trees = WorktreeRegistry(repo)
    for who, line in (("alice", ALICE), ("bob", place)):
        trees.create(who)
        tools = lk.CodingTools(trees.path(who))
        change(tools, way, tools.workspace.read(NAME), line, who)
        assert git(trees.path(who), "commit", "-q", "-a", "-m", who) == 0
    assert git(repo, "merge", "-q", "--no-edit", "wt/alice") == 0
    state = CONFLICT if git(repo, "merge", "-q", "--no-edit", "wt/bob") else BOTH
    end = with_worktrees(place)
    assert (state, (repo / NAME).read_text()) == (end.state, text_of(end.lines))


def test_every_case_is_there_and_the_answer_flips_beside_alices_line() -> None:
    near = [with_worktrees(place).state for place in (ALICE - 2, ALICE - 1, ALICE, ALICE + 1)]
    assert near == [BOTH, CONFLICT, CONFLICT, CONFLICT]
    assert with_worktrees(ALICE + 2).state == BOTH
    typed = [in_one_folder(place, TYPED).state for place in PLACES]
    assert [place for place in PLACES if typed[place] == REFUSED] == [ALICE]
    assert {in_one_folder(place, WHOLE).state for place in PLACES} == {OVERWRITTEN}


@pytest.mark.parametrize(
    ("place", "finding", "because"),
    [
        (ALICE, "Bob on Alice's own line: git reports a conflict", "edit_file refuses Bob"),
        (ALICE + 1, "Bob 1 line below Alice: git reports a conflict", "edit_file keeps both."),
        (0, "Bob 3 lines above Alice: git merges both", "edit_file keeps both."),
    ],
)
def test_the_picture_says_all_three_ends(place: int, finding: str, because: str) -> None:
    answer = draw(WIDE, place)
    assert answer.finding == f"{finding}, write_file loses her edit."
    assert because in answer.because
    for name, end in (
        (f"folder: {WHOLE}", in_one_folder(place, WHOLE)),
        (f"folder: {TYPED}", in_one_folder(place, TYPED)),
        ("two worktrees", with_worktrees(place)),
    ):
        expected = {BOTH: "done", OVERWRITTEN: "failed", REFUSED: "blocked", CONFLICT: "blocked"}
        assert answer.canvas[f"verdict {name}"].mark == expected[end.state]


def test_what_the_picture_rests_on_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = draw(WIDE, 0).assumes
    assert f"{len(FILE)} lines" in before
    assert f"line {ALICE + 1}" in before
    monkeypatch.setattr("learnkit.course.lessons.s12.explorable.ALICE", 2)
    assert draw(WIDE, 0).assumes == before.replace("line 4", "line 3")

"""Lesson 12's exercises: their checks, and right answers to test them with."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.content import Verdict
from learnkit.course.content.sources import Check
from learnkit.course.lessons.verdicts import short
from learnkit.mechanisms.worktrees.registry import WorktreeRegistry


def check_good(good: Any) -> Verdict:
    """Check which texts can be the name of a worktree."""
    fine = "it has 1 to 40 letters, digits, dots, underscores or hyphens, and nothing git refuses"
    for name, wanted, why in (
        *((one, True, fine) for one in ("a", "parser", "A.b_c-9", "x" * 40, "7", "_x", "lock")),
        ("", False, "a folder needs a name"),
        ("x" * 41, False, "it has 41 characters, and 40 are allowed"),
        (".", False, "it means the folder itself"),
        ("..", False, "it means the folder above"),
        ("-x", False, "a command would take it for an option"),
        ("a b", False, "a blank isn't allowed"),
        ("a/b", False, "a slash would make a folder in a folder"),
        ("../x", False, "it leads out of the folder of worktrees"),
        ("x.lock", False, "git refuses branches that end in .lock"),
        (".x", False, "git refuses a branch part that begins with a dot"),
        ("a..b", False, "git refuses two dots in a branch name"),
        ("x.", False, "git refuses branches that end with a dot"),
        ("a;b", False, "a shell would read a second command after the semicolon"),
        ("a\n", False, "a line break isn't allowed, not even at the end"),
        ("ä", False, "only the letters a to z and A to Z are allowed"),
    ):
        found = good(name)
        if bool(found) != wanted:
            return (
                f"good({name!r}) returned {short(found)}. It should return {wanted}, because {why}."
            )
    return None


GOOD_LETTERS = """
import string

LETTERS = set(string.ascii_letters + string.digits + "._-")


def good(name):
    fits = 1 <= len(name) <= 40 and set(name) <= LETTERS
    first = name[:1] not in (".", "-")
    return fits and first and ".." not in name and not name.endswith((".", ".lock"))
""".strip()


def _repository(folder: Path) -> WorktreeRegistry:
    """A repository with three worktrees: one with a commit, one with none, one with a conflict."""
    shell = lk.LocalShell()

    def commit(where: Path, text: str) -> None:
        (where / "a.txt").write_text(text)
        shell.run("git add -A && git commit -q -m change", where)

    shell.run("git init -q", folder)
    commit(folder, "one\n")
    trees = WorktreeRegistry(folder)
    for name in ("first", "empty", "second"):
        trees.create(name)
    commit(trees.path("first"), "two\n")
    commit(trees.path("second"), "three\n")
    return trees


def check_merge_all(merge_all: Any) -> Verdict:
    """Check that what can be merged is merged, and that the conflicts are named."""
    with tempfile.TemporaryDirectory() as name:
        trees = _repository(Path(name))
        found = merge_all(trees)
        text = (Path(name) / "a.txt").read_text()
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            return (
                f"Your function returned {short(found)}. It should return two lists: the names "
                "that were merged, and those that conflict."
            )
        if text == "one\n":
            return (
                "Your function merged nothing: a.txt in the main folder is unchanged. It should "
                "call trees.merge for each worktree."
            )
        if "<<<" in text:
            return (
                "Your function left conflict marks in a.txt of the main folder. Use trees.merge, "
                "which undoes a merge that conflicts."
            )
        merged, conflicts = (list(one) for one in found)
        if (merged, conflicts) != (["first"], ["second"]):
            return (
                f"Your function returned {merged} and {conflicts}. It should return ['first'] and "
                "['second'], because first has a commit and is merged, second then conflicts with "
                "it, and empty has no commit, so it is in neither list."
            )
        states = {tree.name: tree.status for tree in trees.all()}
        if set(states.values()) != {"active"}:
            return (
                f"The worktrees are now {states}. They should all still be active, because "
                "merging doesn't remove a worktree."
            )
    return None


MERGE_CAREFUL = """
import learnkit as lk


def merge_all(trees):
    done = {}
    for tree in trees.all():
        if trees.git.commit_of(tree.branch) == tree.base:
            continue
        try:
            done[tree.name] = bool(trees.merge(tree.name))
        except lk.ToolError:
            done[tree.name] = None
    merged = [name for name, files in done.items() if files]
    return merged, [name for name, files in done.items() if files is None]
""".strip()


def check_cheap(cheap: Any) -> Verdict:
    """Check that the most expensive parts are left out, until the tools fit the budget."""
    costs = {"bash": 100, "todo": 80, "task_create": 120, "task_list": 40, "idle": 30}
    parts = {"todo": ["todo"], "tasks": ["task_create", "task_list"], "autonomy": ["idle"]}
    for budget, wanted, why in (
        (370, [], "all tools together cost exactly 370"),
        (369, ["tasks"], "one token must be saved, and tasks is the most expensive part"),
        (210, ["tasks"], "bash, todo and autonomy together cost exactly 210"),
        (200, ["tasks", "todo"], "210 without tasks is still too much, and todo comes next"),
        (130, ["tasks", "todo"], "bash and autonomy together cost exactly 130"),
        (100, ["tasks", "todo", "autonomy"], "only bash is left, which costs exactly 100"),
        (10, ["tasks", "todo", "autonomy"], "bash belongs to no part, so it stays"),
    ):
        found = cheap(dict(costs), {name: list(tools) for name, tools in parts.items()}, budget)
        if not isinstance(found, Iterable) or isinstance(found, str) or list(found) != wanted:
            return (
                f"With a budget of {budget}, your function returned {short(found)}. "
                f"It should return {wanted}, because {why}."
            )
    return None


CHEAP_LOOP = """
def cheap(costs, parts, budget):
    left, out = dict(costs), []
    while sum(left.values()) > budget and len(out) < len(parts):
        rest = [part for part in parts if part not in out]
        dearest = max(rest, key=lambda part: sum(costs[tool] for tool in parts[part]))
        out.append(dearest)
        for tool in parts[dearest]:
            del left[tool]
    return out
""".strip()


EXERCISES = {
    "good": Check(check_good, [GOOD_LETTERS]),
    "merge_all": Check(check_merge_all, [MERGE_CAREFUL]),
    "cheap": Check(check_cheap, [CHEAP_LOOP]),
}

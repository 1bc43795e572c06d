"""Lesson 12's exercises: their checks, and right and wrong sources to test them with."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.lessons import Verdict
from learnkit.course.lessons.sources import SOLUTION, Check
from learnkit.mechanisms.worktrees.registry import WorktreeRegistry


def check_good(good: Any) -> Verdict:
    """Check which texts can be the name of a worktree.

    Args:
        good: the learner's function of a name.
    """
    for name, wanted in (
        *((one, True) for one in ("a", "parser", "A.b_c-9", "x" * 40, "7")),
        *((one, False) for one in ("", "x" * 41, ".", "..", "-x", "a b", "a/b", "../x")),
        *((one, False) for one in ("x.lock", ".x", "a..b", "x.", "a;b", "a\n", "ä")),
    ):
        told = good(name)
        if bool(told) != wanted:
            return f"{name[:50]!r}: it says {told!r}, and {wanted} is right"
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
    """Check that what can be merged is merged, and that the conflicts are named.

    Args:
        merge_all: the learner's function of the worktrees.
    """
    with tempfile.TemporaryDirectory() as name:
        trees = _repository(Path(name))
        told = merge_all(trees)
        text = (Path(name) / "a.txt").read_text()
        if told is None or len(told) != 2:
            return f"it must return two lists, of merged and of conflicting names; it is {told!r}"
        merged, conflicts = (list(one) for one in told)
        if text == "one\n":
            return "nothing was merged: a.txt in the main folder is as it was"
        if "<<<" in text:
            return "a.txt in the main folder holds the marks of a conflict"
        if (merged, conflicts) != (["first"], ["second"]):
            return (
                f"it says {merged} and {conflicts}; ['first'] has a commit and goes in, "
                "['second'] conflicts with it, and 'empty' has nothing to merge"
            )
        states = {tree.name: tree.status for tree in trees.all()}
        if set(states.values()) != {"active"}:
            return f"the worktrees must stay as they are; they are {states}"
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
    """Check that the most expensive parts are left out, until the tools fit the budget.

    Args:
        cheap: the learner's function of the costs, the parts and the budget, in tokens.
    """
    costs = {"bash": 100, "todo": 80, "task_create": 120, "task_list": 40, "idle": 30}
    parts = {"todo": ["todo"], "tasks": ["task_create", "task_list"], "autonomy": ["idle"]}
    for budget, wanted, what in (
        (370, [], "everything fits"),
        (369, ["tasks"], "one token too much: the dearest part goes"),
        (210, ["tasks"], "room for bash, todo and autonomy"),
        (200, ["tasks", "todo"], "then the next one"),
        (130, ["tasks", "todo"], "bash and autonomy"),
        (100, ["tasks", "todo", "autonomy"], "only bash is left"),
        (10, ["tasks", "todo", "autonomy"], "not even bash fits, and it has to stay"),
    ):
        told = cheap(dict(costs), {name: list(tools) for name, tools in parts.items()}, budget)
        if told is None or list(told) != wanted:
            return f"budget {budget}, {what}: it says {told!r}, and {wanted} is right"
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
    "good": Check(
        check_good,
        right=[GOOD_LETTERS],
        wrong=[
            SOLUTION.replace("fullmatch", "match"),
            SOLUTION.replace('(".lock", ".")', '"."'),
            SOLUTION.replace("{0,39}", "*"),
        ],
    ),
    "merge_all": Check(
        check_merge_all,
        right=[MERGE_CAREFUL],
        wrong=[
            SOLUTION.replace(
                "if trees.merge(tree.name):\n                ",
                "trees.merge(tree.name)\n            ",
            ),
            SOLUTION.replace("conflicts.append(tree.name)", "pass"),
            SOLUTION.replace("for tree in trees.all():", "for tree in trees.all()[1:]:"),
        ],
    ),
    "cheap": Check(
        check_cheap,
        right=[CHEAP_LOOP],
        wrong=[
            SOLUTION.replace(", reverse=True", ""),
            SOLUTION.replace("total <= budget", "total < budget"),
            SOLUTION.replace("        total -= price[part]\n", ""),
        ],
    ),
}

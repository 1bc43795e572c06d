"""Worktrees: lesson 12.

After one is made, files are changed and committed in it until it is merged.
"""

from __future__ import annotations

import re

from learnkit.simulation.stand_in.clauses import number, ruleset, several
from learnkit.simulation.stand_in.hands import Failed, Hands, Steps, confirm
from learnkit.simulation.stand_in.rules import board, files


def _make(do: Hands, name: str, ids: str = "", it: str = "") -> Steps:
    input: dict[str, object] = {"name": name}
    if ids:
        input["task_id"] = int(re.sub(r"\D", "", ids))
    elif it:
        if not do.tasks:
            raise Failed("I don't know which task the worktree is for")
        input["task_id"] = do.tasks[-1]
    result = yield from do.call("worktree_create", **input)
    confirm(result, name, f"the worktree {name}")
    do.trees.append(name)
    return f"made the worktree {name}: {result.text}"


def _make_several(do: Hands, n: str, names: str) -> Steps:
    wanted = several(names)
    if len(wanted) != number(n):
        raise Failed(f"you said {n} worktrees, and named {len(wanted)}")
    for name in wanted:
        yield from _make(do, name)
    return f"made the worktrees {' and '.join(wanted)}"


def _task_with_tree(do: Hands, text: str, name: str) -> Steps:
    yield from board.add_task(do, text)
    yield from _make(do, name, it="it")
    return f"created task #{do.tasks[-1]}: {text}, and the worktree {name} for it"


def _inside(do: Hands, file: str, text: str = "") -> Steps:
    """Make a file in the worktree that was mentioned last."""
    do.place = do.changed = do.tree("")
    said = yield from files.create_says(do, file, text) if text else files.create(do, file)
    do.place = ""
    return f"{said}, in the worktree {do.changed}"


def _show_all(do: Hands) -> Steps:
    result = yield from do.call("worktree_list")
    return f"the worktrees are:\n{result.text}"


def _status(do: Hands, which: str) -> Steps:
    many = which.lower() in ("both", "all", "all of them", "each")
    names = do.trees if many else [do.tree(which)]
    if not names:
        raise Failed("I don't know of any worktree")
    told = []
    for name in names:
        result = yield from do.call("worktree_status", name=name)
        told.append(result.text)
    return "the status is:\n" + "\n".join(told)


def _merge(do: Hands, name: str) -> Steps:
    name = do.tree(name)
    result = yield from do.call("worktree_merge", name=name)
    if "nothing" in result.text:
        raise Failed(f"{result.text} Was the work committed?")
    do.trees.append(name)
    do.changed = ""
    return f"merged {name}: {result.text}"


def _remove(do: Hands, name: str) -> Steps:
    name = do.tree(name)
    result = yield from do.call("worktree_remove", name=name)
    confirm(result, "Removed", f"removing {name}")
    do.changed = ""
    return f"removed the worktree {name}"


def _keep(do: Hands, name: str) -> Steps:
    name = do.tree(name)
    result = yield from do.call("worktree_keep", name=name)
    confirm(result, "Kept", f"keeping {name}")
    return f"the worktree {name} is kept"


_TREE = r"(the )?(worktree )?{name}"

RULES = ruleset(
    (
        "a task with a worktree",
        r"(create|add|make) a task {text} and a worktree (called |named )?{name} for it",
        _task_with_tree,
        {"needs": ("worktree_create", "task_create")},
    ),
    (
        "several worktrees",
        r"((create|make|add) )?{n} worktrees( called| named)?[,:]? {names}",
        _make_several,
        {"example": "two worktrees, left and right", "needs": ("worktree_create",)},
    ),
    (
        "a worktree",
        r"(create|make|add) (a |the )?(new )?worktree (called |named )?{name}"
        r"( for (task {ids}|(?P<it>it|that|this task)))?",
        _make,
        {"example": "create a worktree called docs", "needs": ("worktree_create",)},
    ),
    (
        "a file in the worktree",
        rf"{files._MAKE} {files._A}{{file}} (in it|there|in the worktree)"
        rf"(,? (that|which) {files._SAYS} {{text}})?",
        _inside,
        {"needs": ("worktree_run",)},
    ),
    (
        "show the worktrees",
        r"(list|show|show me) (all |the |all the )?worktrees",
        _show_all,
        {"example": "list all worktrees", "needs": ("worktree_list",)},
    ),
    (
        "the status of worktrees",
        r"(show |show me |and )?the (git )?status (of|in) (the worktree )?(?P<which>both|all|all "
        r"of them|each|it|[\w.-]+)",
        _status,
        {"needs": ("worktree_status",)},
    ),
    (
        "merge a worktree",
        rf"merge {_TREE}",
        _merge,
        {"example": "merge it", "needs": ("worktree_merge",)},
    ),
    (
        "remove a worktree",
        [
            r"(remove|delete) (?P<name>it|the worktree)",
            r"(remove|delete) (the )?worktree {name}",
        ],
        _remove,
        {"example": "remove the worktree docs", "needs": ("worktree_remove",)},
    ),
    (
        "keep a worktree",
        [r"keep (?P<name>it|the worktree)", r"keep (the )?worktree {name}"],
        _keep,
        {"example": "keep the worktree", "needs": ("worktree_keep",)},
    ),
)

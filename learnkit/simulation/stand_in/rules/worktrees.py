"""Worktrees: lesson 12.

After one is made, files are changed and committed in it until it is merged.
"""

from __future__ import annotations

import re

from learnkit.simulation.stand_in import clauses
from learnkit.simulation.stand_in.clauses import number, ruleset, several
from learnkit.simulation.stand_in.hands import Failed, Hands, Steps, confirm
from learnkit.simulation.stand_in.rules import board, commands, contents, files


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


def _side_by_side(do: Hands, verb: str, text: str, more: str = "") -> Steps:
    """Each file in a worktree of its own, and committed there."""
    verb = verb.lower()
    tasks = [text, more] if more else re.split(rf",? and (?={clauses.PARTS['file']})", text)
    if len(tasks) < 2:
        raise Failed(f"{text!r} is only one task")
    told = []
    for task in tasks:
        if verb == "build" and " " not in task:
            raise Failed(f"you haven't said what {task} should do")
        told.append((yield from _committed(do, f"create {task}")))
    return "\n".join(told)


def _do_tasks(do: Hands, n: str, text: str) -> Steps:
    tasks = several(text)
    if len(tasks) != number(n):
        raise Failed(f"you said {n} tasks, and named {len(tasks)}")
    told = []
    for task in tasks:
        told.append((yield from _committed(do, task)))
    return "\n".join(told)


def _own_tasks(do: Hands, n: str, trees: str = "") -> Steps:
    """Tasks that have no names: those that are ready on the board, and small ones to fill up."""
    count, wanted = _count(n), _count(trees) if trees else _count(n)
    if count != wanted:
        raise Failed(f"you said {n} tasks, and {trees} worktrees")
    on_board = (yield from board.ready(do))[:count] if do.kit.has("task_list") else []
    told = list[str]()
    for place in range(1, count + 1):
        name = f"task-{place}"
        if place <= len(on_board):
            id, task = on_board[place - 1]
        else:
            id, task = 0, f"create {name}.txt that says {name}"
            if do.kit.has("task_create"):
                yield from board.add_task(do, task)
                id = do.tasks[-1]
        told.append((yield from _committed(do, task, name, str(id or ""))))
        if id:
            result = yield from do.call("task_update", task_id=id, status="completed")
            confirm(result, f"#{id}", f"the end of task #{id}")
            told.append(f"task #{id}, {task}, is completed")
    if len(on_board) < count:
        told.insert(0, "you haven't said which tasks, so I chose small ones")
    return "\n".join(told)


def _count(n: str) -> int:
    return 1 if n.lower() in ("a", "an") else number(n)


def _committed(do: Hands, task: str, name: str = "", ids: str = "") -> Steps:
    said = yield from _in_tree(do, task, name, ids)
    yield from commands.commit(do, task)
    return f"{said}, and committed it"


def _in_tree(do: Hands, text: str, name: str = "", ids: str = "") -> Steps:
    """Do something in a new worktree."""
    file = re.search(r"([\w-]+)\.\w+", text)
    name = name or (file[1] if file else f"work-{len(do.trees) + 1}")
    yield from _make(do, name, ids)
    do.place = do.changed = name
    said = yield from do.carry_out(text)
    do.place = ""
    return f"{said}, in the worktree {name}"


def _show_all(do: Hands) -> Steps:
    result = yield from do.call("worktree_list")
    return f"the worktrees are:\n{result.text}"


def _check(do: Hands, name: str) -> Steps:
    """The worktrees, or the files if there are none; "it" is a file if one can be read."""
    if do.trees and not (name.lower() == "it" and do.kit.has("look")):
        return (yield from _status(do, name))
    return (yield from contents.verify(do, name))


def _status(do: Hands, name: str) -> Steps:
    told = []
    for one in _named(do, name):
        result = yield from do.call("worktree_status", name=one)
        told.append(result.text)
    return "the status is:\n" + "\n".join(told)


def _merge(do: Hands, name: str = "", known: str = "") -> Steps:
    told = []
    for one in _named(do, name, known):
        result = yield from do.call("worktree_merge", name=one)
        if "nothing" in result.text:
            raise Failed(f"{result.text.rstrip('.')} (was the work committed?)")
        told.append(f"merged {one}: {result.text}")
    do.changed = ""
    return "\n".join(told)


def _remove(do: Hands, name: str = "", known: str = "") -> Steps:
    names = _named(do, name, known)
    for one in names:
        result = yield from do.call("worktree_remove", name=one)
        confirm(result, "Removed", f"removing {one}")
    do.changed = ""
    return f"removed the worktree {', '.join(names)}"


def _keep(do: Hands, name: str = "", known: str = "") -> Steps:
    names = _named(do, name, known)
    for one in names:
        result = yield from do.call("worktree_keep", name=one)
        confirm(result, "Kept", f"keeping {one}")
    return f"the worktree {', '.join(names)} is kept"


_ORDER = ("the first", "the second", "the third", "the fourth", "the fifth")


def _named(do: Hands, name: str, known: str = "") -> list[str]:
    """The worktrees that a word means: one by its name or place, the last one, or all of them."""
    made = list(dict.fromkeys(do.trees))
    if known and known not in made:
        raise Failed(f"I know of no worktree or file {known!r} here")
    name = known or name
    if name.lower() in ("both", "all", "all of them", "them", "each"):
        if not made:
            raise Failed("I don't know of any worktree")
        return made
    said = name.lower()
    if said in ("one", "the last", "the other", "the others", "the rest", *_ORDER):
        # "one" is the first of them, so "the other" or "the others" are those after it.
        places = {"one": made[:1], "the last": made[-1:], "the other": made[1:]}
        places |= {"the others": made[1:], "the rest": made[1:]}
        places |= {word: made[place : place + 1] for place, word in enumerate(_ORDER)}
        meant = places[said]
        if not meant or len(made) < 2 or (said == "the other" and len(made) > 2):
            raise Failed(f"I don't know which worktree {name!r} means")
        return meant
    do.trees.append(do.tree(name))
    return do.trees[-1:]


_PRONOUN = (
    r"(?P<name>it|them|both|all|all of them|one|the (first|second|third|fourth|fifth|last|others?|"
    r"rest)|the worktree)"
)
_TREE = r"(the )?worktree {name}"
_COUNT = clauses.PARTS["n"]
#: A name alone has to be one that was mentioned.
_KNOWN = r"(?!(the )?(list|plan)$)(the )?(?P<known>[a-z][\w-]*)"

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
        rf"{files.MAKE} {files.A}{{file}} (in it|there|in the worktree)"
        rf"(,? (that|which) {files.SAYS} {{text}})?",
        _inside,
        {"needs": ("worktree_run",)},
    ),
    (
        "work in worktrees of their own",
        [
            r"(?P<verb>build|make|create|write) {text} side by side( in (\w+ )?worktrees)?",
            r"(?P<verb>make|create|write) {text} in one worktree,? and (?P<more>.+) in another"
            r"( one)?",
        ],
        _side_by_side,
        {"needs": ("worktree_create",)},
    ),
    (
        "tasks in worktrees",
        r"do {n} tasks in \w+ worktrees: {text}",
        _do_tasks,
        {"needs": ("worktree_create",)},
    ),
    (
        "tasks of its choice in worktrees",
        [
            rf"(do|finish|complete) (?P<n>an?|{_COUNT}) (small )?tasks? in (?P<trees>an?|{_COUNT}) "
            r"((separate|new|different) )?worktrees?",
            r"do {n} (small )?tasks,? (each )?in (a worktree each|(a|its|their) own worktrees?|"
            r"a worktree of its own|worktrees of their own)",
        ],
        _own_tasks,
        {"example": "do two tasks in two worktrees", "needs": ("worktree_create",)},
    ),
    (
        "work in a worktree",
        r"{text} in a (new )?worktree( (called|named) {name})?",
        lambda do, text, name="": _in_tree(do, text, name),
        {"needs": ("worktree_create",)},
    ),
    (
        "show the worktrees",
        r"(list|show|show me) (all |the |all the )?worktrees",
        _show_all,
        {"example": "list all worktrees", "needs": ("worktree_list",)},
    ),
    (
        "the status of worktrees",
        r"(show |show me |and )?the (git )?status (of|in) (the worktree )?(?P<name>both|all|all "
        r"of them|each|it|[\w.-]+)",
        _status,
        {"needs": ("worktree_status",)},
    ),
    ("check both", r"(check|verify) (?P<name>both|all|all of them|them|it)", _check),
    (
        "merge a worktree",
        [rf"merge {one}" for one in (_PRONOUN, _TREE, _KNOWN)],
        _merge,
        {"example": "merge it", "needs": ("worktree_merge",)},
    ),
    (
        "remove a worktree",
        [rf"(remove|delete) {one}" for one in (_PRONOUN, _TREE, _KNOWN)],
        _remove,
        {"example": "remove the worktree docs", "needs": ("worktree_remove",)},
    ),
    (
        "keep a worktree",
        [rf"keep {one}" for one in (_PRONOUN, _TREE, _KNOWN)],
        _keep,
        {"example": "keep the worktree", "needs": ("worktree_keep",)},
    ),
)

"""Modules that have moved, and the rewriting of a learner's imports.

Learners' copies of the lessons may be older than the package. This table is the only code that
knows the old names; with it, what learners have written keeps working.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator, Mapping

#: Old dotted name -> new dotted name, a row for each module or class that a lesson has shown.
MODULES: Mapping[str, str] = {
    "learnkit.agent": "learnkit.core.agent",
    "learnkit.answers": "learnkit.mechanisms.protocols.teammate",
    "learnkit.answers.Answers": "learnkit.mechanisms.protocols.teammate.TeammateProtocols",
    "learnkit.autonomy": "learnkit.mechanisms.autonomy.lead",
    "learnkit.background": "learnkit.mechanisms.background",
    "learnkit.batch": "learnkit.core.tool_calls",
    "learnkit.clearing": "learnkit.mechanisms.compaction.edits",
    "learnkit.compaction": "learnkit.mechanisms.compaction.mechanism",
    "learnkit.lessons": "learnkit.course.lessons",
    "learnkit.lessons.crew": "learnkit.course.lessons.s11.crew",
    "learnkit.lessons.gates": "learnkit.course.lessons.s10.gate_trials",
    "learnkit.lessons.letters": "learnkit.course.lessons.s09.inbox_trials",
    "learnkit.lessons.logs": "learnkit.course.lessons.s06.daily_logs",
    "learnkit.lessons.loop": "learnkit.course.lessons.s01.loop",
    "learnkit.lessons.parsers": "learnkit.course.lessons.s04.station_parsers",
    "learnkit.lessons.races": "learnkit.course.lessons.s07.board_race",
    "learnkit.lessons.shipped": "learnkit.course.lessons.s05.many_skills",
    "learnkit.lessons.trials": "learnkit.course.trials",
    "learnkit.lessons.workers": "learnkit.course.lessons.s07.processes",
    "learnkit.mailbox": "learnkit.backends.files.mailbox",
    "learnkit.meter": "learnkit.core.usage",
    "learnkit.post": "learnkit.mechanisms.teams.delivery",
    "learnkit.post.Post": "learnkit.mechanisms.teams.delivery.Delivery",
    "learnkit.pressure": "learnkit.mechanisms.compaction.policies",
    "learnkit.racefinder": "learnkit.course.games.races.panel",
    "learnkit.roster": "learnkit.backends.files.roster",
    "learnkit.seeker": "learnkit.mechanisms.autonomy.teammate",
    "learnkit.seeker.Seeker": "learnkit.mechanisms.autonomy.teammate.TeammateAutonomy",
    "learnkit.skills": "learnkit.mechanisms.skills.mechanism",
    "learnkit.sleeping": "learnkit.runtime.job_wrappers",
    "learnkit.store": "learnkit.backends.files.store",
    "learnkit.subagents": "learnkit.mechanisms.subagents",
    "learnkit.tasks": "learnkit.mechanisms.tasks",
    "learnkit.todo": "learnkit.mechanisms.todo",
    "learnkit.tools": "learnkit.core.tools",
    "learnkit.tracker": "learnkit.backends.files.tracker",
    "learnkit.transcript": "learnkit.core.transcript",
    "learnkit.trees": "learnkit.mechanisms.worktrees.registry",
    "learnkit.trees.Trees": "learnkit.mechanisms.worktrees.registry.WorktreeRegistry",
    "learnkit.views.static": "learnkit.views.drawing.static",
    "learnkit.views.text": "learnkit.views.drawing.text",
}

#: A line for IPython, not for Python: a magic or a shell command.
_MAGIC = re.compile(r"^(\s*)(?:[%!?]|\w+\s*=\s*[%!]).*$", re.MULTILINE)

#: The first line of a cell in another language, such as ``%%bash``.
_OTHER = re.compile(r"\s*%%(?!time|capture)")


def rewrite(source: str, modules: Mapping[str, str]) -> str:
    """Return code in which every import, and every use of an imported module, has the new name.

    Args:
        source: a cell's source; anything but Python, such as another language, is not changed.
        modules: old name -> new name; submodules of an old name move with it.
    """
    tree = _parsed(source) if modules else None
    if tree is None:
        return source
    text = source.encode()
    lines = text.splitlines(keepends=True)
    for node in sorted(_named(tree, modules), key=lambda one: (one.lineno, one.col_offset))[::-1]:
        before = lines[node.lineno - 1][: node.col_offset]
        begin = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
        end = sum(map(len, lines[: (node.end_lineno or 0) - 1])) + (node.end_col_offset or 0)
        new = _renamed(node, text[begin:end].decode(), before.decode(), modules)
        text = text[:begin] + new.encode() + text[end:]
    return text.decode()


def _parsed(source: str) -> ast.Module | None:
    """The tree of a cell without its lines for IPython; None if the cell is not Python."""
    if _OTHER.match(source):
        return None
    for text in (source, _MAGIC.sub(lambda line: f"{line[1]}pass", source)):
        with contextlib.suppress(SyntaxError, ValueError):
            return ast.parse(text)
    return None


_Node = ast.ImportFrom | ast.alias | ast.Attribute


def _named(tree: ast.AST, modules: Mapping[str, str]) -> Iterator[_Node]:
    """The nodes that name a moved module; none of them contains another one."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.ImportFrom):
            package = node.module or ""
            names = [package, *(f"{package}.{one.name}" for one in node.names)]
            if not node.level and any(_moved(name, modules) for name in names):
                yield node
        elif (isinstance(node, ast.alias) and _moved(node.name, modules)) or (
            isinstance(node, ast.Attribute) and _dotted(node) in modules
        ):
            yield node
        else:
            todo.extend(ast.iter_child_nodes(node))


def _renamed(node: _Node, source: str, before: str, modules: Mapping[str, str]) -> str:
    """What replaces a node's source; ``before`` is what its line has before it."""
    if isinstance(node, ast.Attribute):
        return modules[_dotted(node)]
    if isinstance(node, ast.alias):
        return _as(_moved(node.name, modules) or node.name, node.asname)
    package = node.module or ""
    home = _moved(package, modules) or package
    if not any(f"{package}.{one.name}" in modules for one in node.names):
        return re.sub(r"^from(\s+)[\w.]+", rf"from\1{home}", source)
    wanted: dict[str, list[str]] = {}
    for one in node.names:
        new = modules.get(f"{package}.{one.name}", f"{home}.{one.name}")
        where, _, last = new.rpartition(".")
        bound = one.asname or one.name
        wanted.setdefault(where, []).append(_as(last, None if bound == last else bound))
    between = "; " if before.strip() else f"\n{before}"
    return between.join(f"from {where} import {', '.join(n)}" for where, n in wanted.items())


def _moved(name: str, modules: Mapping[str, str]) -> str | None:
    """The new name of a module, by the longest row that is about it."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        if new := modules.get(".".join(parts[:length])):
            return ".".join([new, *parts[length:]])
    return None


def _dotted(node: ast.expr) -> str:
    """``a.b.c`` of an expression that is made of names only; else empty."""
    if isinstance(node, ast.Name):
        return node.id
    inner = _dotted(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{inner}.{node.attr}" if inner and isinstance(node, ast.Attribute) else ""


def _as(name: str, bound: str | None) -> str:
    return f"{name} as {bound}" if bound else name

"""What each lesson adds to the harness, read from the code: nothing is listed by hand.

Lesson 1 is the loop, lesson 2 the tools of a coding agent and the permission to use them, and each
later lesson one part of :func:`learnkit.full_agent`, whose parts are in the order of the lessons.
So a lesson's mechanisms, tools and prompt are what an agent has that the agent without the part
has not.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import pkgutil
import subprocess
import tempfile
import tokenize
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import learnkit
from learnkit.clients.connect import scripted
from learnkit.core import agent as loop
from learnkit.core.agent import Agent
from learnkit.core.mechanism import Mechanism
from learnkit.core.token_count import estimate_tokens
from learnkit.core.tools import Tool
from learnkit.course import files as course_files
from learnkit.course.lessons import load
from learnkit.errors import UsageError
from learnkit.events import vocabulary
from learnkit.harness import PARTS, full_agent
from learnkit.mechanisms.permission import Permission

#: The lessons, in order.
NAMES = tuple(f"s{number:02}" for number in range(1, len(PARTS) + 3))


@dataclass(frozen=True, slots=True)
class Addition:
    """What a lesson adds.

    Attributes:
        lesson: ``s01`` to ``s12``.
        title: of the lesson.
        mechanisms: the classes that the agent gets.
        tools: name -> the first sentence of what the model reads, for each tool of the agent.
        more_tools: likewise, for what an option adds, or what only teammates get.
        hooks: the hooks that these mechanisms, and those that teammates get, define.
        events: the types of events that are met first in this lesson.
        prompt: what the system prompt gets.
        tokens: what prompt and tools add to each request; an estimate.
        lines: of code, without blank lines, comments and docstrings.
        files: that hold these lines, relative to the package.
    """

    lesson: str
    title: str
    mechanisms: tuple[str, ...]
    tools: dict[str, str]
    more_tools: dict[str, str]
    hooks: tuple[str, ...]
    events: tuple[str, ...]
    prompt: str
    tokens: int
    lines: int
    files: tuple[str, ...]


def between(earlier: str, later: str = "") -> list[Addition]:
    """Return what the lessons after one add, up to another one."""
    for name in filter(None, (earlier, later)):
        if name not in NAMES:
            raise UsageError(f"there is no lesson {name!r}; there are: {', '.join(NAMES)}")
    first = NAMES.index(earlier)
    if not later:
        return [addition(earlier)]
    last = NAMES.index(later)
    if last <= first:
        raise UsageError(
            f"{later} does not come after {earlier}; give the earlier lesson first: "
            f"{later} {earlier}"
            if last < first
            else f"both lessons are {later}; give two, or one to compare it with the one before"
        )
    return [addition(name) for name in NAMES[first + 1 : last + 1]]


@cache
def addition(name: str) -> Addition:
    """Return what a lesson adds to the lesson before."""
    number = NAMES.index(name) + 1
    with _agent(number - 1) as before, _agent(number) as after:
        had = {type(one) for one in before.mechanisms}
        new = [one for one in after.mechanisms if type(one) not in had]
        tools = [tool for key, tool in after.tools.items() if key not in before.tools]
        prompt = "\n\n".join(filter(None, (one.system(after) for one in new)))
    kinds = [kind for home in dict.fromkeys(map(home_of, map(type, new))) for kind in within(home)]
    mine = {tool.name for tool in tools}
    others = {tool.name: tool for kind in kinds for tool in tools_of(kind) if tool.name not in mine}
    sources = _sources(list(map(type, new))) if new else [Path(inspect.getfile(loop))]
    package = Path(learnkit.__file__).parent
    return Addition(
        lesson=name,
        title=load(name).title,
        mechanisms=tuple(type(one).__name__ for one in new),
        tools={tool.name: _first_sentence(tool.description) for tool in tools},
        more_tools={key: _first_sentence(tool.description) for key, tool in others.items()},
        hooks=tuple(hook for hook in Mechanism.HOOKS if any(hook in hooks_of(k) for k in kinds)),
        events=tuple(one.name for one in vocabulary.declarations() if one.lesson == name),
        prompt=prompt,
        tokens=estimate_tokens(prompt) + sum(estimate_tokens(tool.spec()) for tool in tools),
        lines=sum(code_lines(path.read_text("utf-8")) for path in sources),
        files=tuple(path.relative_to(package).as_posix() for path in sources),
    )


def home_of(kind: type[Mechanism]) -> str:
    """Return the module or package below ``learnkit.mechanisms`` that defines a mechanism."""
    return ".".join(kind.__module__.split(".")[:3])


def within(home: str) -> list[type[Mechanism]]:
    """Return the mechanisms that a module or package defines, those of teammates too."""
    found = []
    for module in _modules(home):
        for one in vars(importlib.import_module(module)).values():
            if inspect.isclass(one) and issubclass(one, Mechanism) and one.__module__ == module:
                found.append(one)
    return found


def hooks_of(kind: type[Mechanism]) -> set[str]:
    """Return the hooks that a mechanism defines; ``tools`` if it offers any."""
    own = {hook for hook in Mechanism.HOOKS if getattr(kind, hook) is not getattr(Mechanism, hook)}
    return own | ({"tools"} if tools_of(kind) else set())


def tools_of(kind: type[Mechanism]) -> list[Tool]:
    """Return the tools that a class defines with ``@tool``."""
    found = (one for cls in reversed(kind.__mro__) for one in vars(cls).values())
    return [one for one in found if isinstance(one, Tool)]


def code_lines(source: str) -> int:
    """Return the number of a module's lines of code: no blank lines, comments and docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    said = set[int]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            said.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    idle = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    used = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in (*idle, tokenize.ENDMARKER):
            used.update(range(token.start[0], token.end[0] + 1))
    return len(used - said)


@contextmanager
def _agent(number: int) -> Iterator[Agent]:
    """The agent after so many lessons, in an empty repository; it has been started."""
    with tempfile.TemporaryDirectory(prefix="learnkit-") as folder:
        client = scripted([])
        with client.clock:
            if number < 2:
                agent = Agent(client)
            else:
                subprocess.run(["git", "init", "-q", folder], check=True)
                agent = full_agent(
                    client,
                    folder,
                    parts=PARTS[: number - 2],
                    permission=Permission({}),
                    skills=course_files.skills(),
                    system="",
                )
            with agent:
                agent.start("(your prompt)")
                yield agent


def _modules(home: str) -> list[str]:
    """A module's name; of a package, those of its modules too."""
    module = importlib.import_module(home)
    inside = pkgutil.iter_modules(getattr(module, "__path__", ()), f"{home}.")
    return [home, *(one.name for one in inside)]


def _sources(kinds: Sequence[type[Mechanism]]) -> list[Path]:
    homes = dict.fromkeys(map(home_of, kinds))
    names = [name for home in homes for name in _modules(home)]
    paths = [Path(inspect.getfile(importlib.import_module(name))) for name in names]
    return [path for path in paths if code_lines(path.read_text("utf-8"))]


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.split("\n\n")[0].split())
    head, dot, _ = paragraph.partition(". ")
    return f"{head}." if dot else paragraph

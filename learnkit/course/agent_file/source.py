"""The text of ``agent.py``: what each lesson adds, put together so that each name is there once.

A later definition takes the place of the earlier one, so the file reads as if it had been written
in one go. It moves to its own lesson's part only if it needs, to be defined, what comes later: a
decorator, a default, a base class.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from learnkit.course import files as course_files
from learnkit.course.content.sources import agent_cells
from learnkit.errors import UsageError

HEAD = '''"""A coding agent in one file, as the lessons of learnkit build it.

python agent.py "Create hello.py that prints Hello World."

It needs ANTHROPIC_API_KEY, and the name of a model in ANTHROPIC_MODEL.
"""
'''
#: Until lesson 12 writes its own.
MAIN = """def main() -> None:
    lead, prompt = Agent(), " ".join(sys.argv[1:]) or input("> ")
    while prompt:
        try:
            print(run(lead, prompt))
            break
        except KeyboardInterrupt:
            print("Interrupted.")
        except anthropic.APIError as error:
            sys.exit(f"The API refused: {error}")
        prompt = input("> ")
"""
CALL = """if __name__ == "__main__":
    main()
"""
_DEFINES = (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)


@cache
def lessons() -> dict[str, Path]:
    """The notebooks that build the file, by lesson."""
    return course_files.named(course_files.notebooks())


def rank(lesson: str) -> int:
    """The place of a lesson in the order in which they build the file; -1 for none."""
    return [*lessons()].index(lesson) if lesson else -1


@cache
def _added(lesson: str) -> list[str]:
    """The cells of a lesson with ``%%agent``, each followed by what repairs it."""
    return agent_cells(json.loads(lessons()[lesson].read_text("utf-8")))


@dataclass
class Definition:
    """A function, a class or a constant.

    Attributes:
        text: with the comment above it.
        lesson: that it is from.
        part: in which it is; an earlier lesson's if it took the place of a definition there.
        names: what it defines.
        needs: the names that must be there before it, when the file is run from the top.
        uses: all names in it.
        is_constant: whether it is neither a function nor a class.
    """

    text: str
    lesson: str
    part: str

    def __post_init__(self) -> None:
        tree = ast.parse(self.text)
        node = tree.body[0]
        self.is_constant = isinstance(node, (ast.Assign, ast.AnnAssign))
        self.uses = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}
        first = [one for one in _first(tree) if isinstance(one, ast.Name)]
        self.needs = {one.id for one in first if isinstance(one.ctx, ast.Load)}
        self.names = {one.id for one in first if isinstance(one.ctx, ast.Store)}
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            self.names = {node.name}


@dataclass(slots=True)
class Source:
    """The definitions of ``agent.py`` in order, and its imports."""

    definitions: list[Definition] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)

    @classmethod
    def reference(cls, last: str) -> Source:
        """The file as it is after a lesson, with all holes solved."""
        source = _reference(last)
        return cls([*source.definitions], {*source.imports})

    def add(self, lesson: str, text: str) -> None:
        """Add a cell of a lesson.

        Raises:
            SyntaxError: if it is not Python.
            UsageError: if it holds something else than imports, constants, def and class.
        """
        imports, definitions = parsed(text)
        self.imports |= imports
        for one in definitions:
            self._put(Definition(one, lesson, lesson))

    def changed(self, text: str) -> Source:
        """A copy in which some definitions are others."""
        copy = Source([*self.definitions], {*self.imports})
        copy.add([*lessons()][-1], text)
        return copy

    def fill(self, last: str) -> None:
        """Add what the reference has up to a lesson, if it is missing here or older."""
        reference = Source.reference(last)
        self.imports |= reference.imports
        have = {name: one.lesson for one in self.definitions for name in one.names}
        for one in reference.definitions:
            if any(rank(have.get(name, "")) < rank(one.lesson) for name in one.names):
                self._put(Definition(one.text, one.lesson, one.lesson))

    def sections(self) -> dict[str, str]:
        """The text by its markers: the head (""), each lesson's part, and ``main``."""
        made = {}
        for lesson, path in lessons().items():
            mine = [one for one in self.definitions if one.part == lesson]
            if mine:
                made[path.stem.replace("_", " ")] = _joined(mine)
        has_main = any("main" in one.names for one in self.definitions)
        made["main"] = CALL if has_main else f"{MAIN}\n\n{CALL}"
        used = {"sys", *(name for one in self.definitions for name in one.uses)}
        imports = sorted(one for one in {*self.imports, "import sys"} if _bound(one) in used)
        return {"": HEAD + "\n" + "".join(_import_lines(imports)), **made}

    def __str__(self) -> str:
        return joined(self.sections())

    def _put(self, new: Definition) -> None:
        old = [one for one in self.definitions if one.names <= new.names]
        if any(rank(one.lesson) > rank(new.lesson) for one in old):
            return
        if old:
            later = self.definitions[self.definitions.index(old[0]) :]
            missing = new.needs & {name for one in later for name in one.names} - new.names
            if not missing:
                new.part = old[0].part
                self.definitions[self.definitions.index(old[0])] = new
                old = old[1:]
        self.definitions = [one for one in self.definitions if all(one is not o for o in old)]
        if not any(one is new for one in self.definitions):
            place = sum(rank(one.part) <= rank(new.part) for one in self.definitions)
            self.definitions.insert(place, new)


@cache
def _reference(last: str) -> Source:
    source = Source()
    for lesson in lessons():
        if rank(lesson) <= rank(last):
            for cell in _added(lesson):
                source.add(lesson, cell)
    return source


def parsed(text: str) -> tuple[set[str], list[str]]:
    """The imports of a cell, one name each, and the texts of its definitions."""
    tree, lines, ended = ast.parse(text), text.splitlines(), 0
    imports, definitions = set[str](), list[str]()
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            begin = f"from {node.module} import" if isinstance(node, ast.ImportFrom) else "import"
            imports |= {f"{begin} {ast.unparse(alias)}" for alias in node.names}
        elif isinstance(node, _DEFINES):
            first = min(one.lineno for one in [node, *getattr(node, "decorator_list", ())])
            while first - 1 > ended and lines[first - 2].startswith("#"):
                first -= 1
            definitions.append("\n".join(lines[first - 1 : node.end_lineno]))
        else:
            raise UsageError(
                f"line {node.lineno}: {lines[node.lineno - 1].strip()!r} does something at once, "
                "and agent.py would do it at each start. A cell with %%agent holds imports, "
                "constants, def and class only; put this line into a cell of its own"
            )
        ended = node.end_lineno or 0
    return imports, definitions


def split(text: str) -> dict[str, str]:
    """The sections of a file, by the lines that begin with ``# %%``."""
    sections, name = {"": ""}, ""
    for line in text.splitlines(keepends=True):
        if line.startswith("# %%"):
            name = line[4:].strip()
            sections[name] = ""
        else:
            sections[name] += line
    return {name: text.strip("\n") + "\n" for name, text in sections.items()}


def joined(sections: dict[str, str]) -> str:
    """The file that has these sections."""
    marked = (f"# %% {name}\n{text}" if name else text for name, text in sections.items())
    head, *parts = (text.strip("\n") + "\n" for text in marked)
    return head + "\n" + "\n\n".join(parts)


def _joined(definitions: list[Definition]) -> str:
    text, before = "", True
    for one in definitions:
        text += ("\n" if one.is_constant and before else "\n\n\n") * bool(text) + one.text
        before = one.is_constant
    return text + "\n"


def _first(node: ast.AST) -> Iterator[ast.AST]:
    """What is evaluated at once: everything but the bodies of functions."""
    inside = node.body if isinstance(node, ast.FunctionDef) else []
    for child in ast.iter_child_nodes(node):
        if child not in inside:
            yield child
            yield from _first(child)


def _bound(line: str) -> str:
    """The name that an import of one name makes."""
    return line.split()[-1].partition(".")[0]


def _import_lines(imports: list[str]) -> Iterator[str]:
    """Sorted as ruff sorts them: the standard library first, and ``import`` before ``from``."""
    groups: dict[tuple[bool, bool, str], list[str]] = {}
    for line in imports:
        words = line.split()
        other = words[1].partition(".")[0] not in sys.stdlib_module_names
        key = (other, words[0] == "from", words[1])
        groups.setdefault(key, []).append(line.partition("import ")[2])
    above = True
    for (other, is_from, module), names in sorted(groups.items()):
        yield "\n" if other and above is False else ""
        above = other
        names.sort(key=lambda name: (not name.isupper(), name[0].islower(), name))
        yield f"from {module} import {', '.join(names)}\n" if is_from else f"import {module}\n"

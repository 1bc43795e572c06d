"""The learner's own agent: the answers of their exercises, in one file of their working copy.

The file belongs to the learner. Each answer is a block between two comments, and a digest of each
block that we wrote is kept beside the file. A block with another digest has been edited: it stays,
and a newer answer follows it as a comment.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import dis
import hashlib
import inspect
import linecache
import os
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from learnkit.backends.files.store import Document, locked
from learnkit.core.mechanism import Mechanism
from learnkit.core.text import one_line
from learnkit.course.progress import Progress
from learnkit.errors import UsageError, described
from learnkit.runtime import atomic_write

FILE = "my_agent.py"
#: The digests of the blocks that we wrote, in the same folder.
DIGESTS = ".my_agent.json"
HEADER = '''"""My agent: what I have built in the lessons.

Each block is the answer to an exercise, added when its check passed. The file is yours: a block
that you have changed is kept, and a newer answer to its exercise follows it as a comment.

Run it on a copy of one of your repositories: learnkit mine REPO "a prompt"
"""

import learnkit as lk
'''
_LK = "import learnkit as lk"
_END = "# --- end"
_BEGIN = re.compile(r"# --- (s\d\d\.\d+(?: again)?) \w+")


def collect(exercise: str, thing: object) -> str:
    """Add what has passed an exercise's check, and say in a sentence where it went.

    Args:
        exercise: such as ``s03.2``.
        thing: the learner's object; only classes and functions are added.

    Returns:
        The sentence; empty if no notes are kept here, or an exercise asks for something else.
    """
    notes = Progress()
    if not notes.kept or not callable(thing):
        return ""
    name = "this"
    try:
        name = one_line(str(getattr(thing, "__name__", name)), 60)
        said = add(exercise, name, source_of(thing), notes.path.parent)
    except Exception as error:  # the exercise is passed, whatever becomes of the copy
        why = str(error) if isinstance(error, UsageError) else described(error)
        return f"{name} was not added to {FILE}: {why}"
    runs = isinstance(thing, type) and issubclass(thing, Mechanism)
    return said + (' To run it: learnkit mine REPO "a prompt"' if runs else "")


def add(exercise: str, name: str, source: str, folder: Path) -> str:
    """Write an answer into the learner's file, and say in a sentence what has happened.

    Args:
        exercise: such as ``s03.2``.
        name: of the class or function.
        source: its Python source.
        folder: of the file, the learner's working copy.

    Raises:
        UsageError: if the source cannot be a block, or the file is not UTF-8.
        OSError: if the file cannot be written.
    """
    lines = source.strip("\n").splitlines()
    if not name.isidentifier() or any(line.startswith("# --- ") for line in lines):
        raise UsageError("a line of it begins with '# --- ', which separates the blocks there")
    with locked(folder):
        kept = Document(folder / DIGESTS)
        digests = _read(kept)
        file = _File(folder / FILE)
        ours, made = digests.get(exercise), _digest(lines)
        own = file.body(exercise)
        said = f"{name} is in {folder.name}/{FILE}."
        if own is None or own == lines or _digest(own) == ours:
            file.put(exercise, name, lines)
            digests[exercise] = made
        else:
            said = f"{folder.name}/{FILE} keeps your own version of {name}."
            again = f"{exercise} again"
            comment = [f"# {line}".rstrip() for line in lines]
            other = file.body(again)
            if made != ours and (other is None or _digest(other) == digests.get(again)):
                file.put(again, name, comment, after=exercise)
                digests[again] = _digest(comment)
                said = f"{said[:-1]}, with this one below it as a comment."
        file.save()
        kept.write(digests)
    return said


class _File:
    """The learner's file as lines, and the blocks in it; all other lines stay as they are."""

    def __init__(self, path: Path) -> None:
        self._path = Path(os.path.realpath(path))
        try:
            text = self._path.read_bytes().decode("utf-8-sig")
        except FileNotFoundError:
            text = HEADER
        except UnicodeDecodeError:
            raise UsageError("the file is not UTF-8; save it as UTF-8, and check again") from None
        self._line_end = "\r\n" if "\r\n" in text else "\n"
        self._before = self._lines = text.replace("\r\n", "\n").split("\n")
        if not text:
            self._lines = HEADER.split("\n")

    def body(self, key: str) -> list[str] | None:
        """The lines of a block; None if there is no such block."""
        place = self._find(key)
        return None if place is None else self._lines[place[0] + 1 : place[1]]

    def put(self, key: str, name: str, lines: list[str], after: str = "") -> None:
        """Replace a block, or add it after another one or at the end."""
        if (place := self._find(key)) is not None:
            begin, _, end = place
            self._lines = [*self._lines[:begin], *_block(key, name, lines), *self._lines[end:]]
            return
        there = self._find(after)
        end = len(self._lines) if there is None else there[2]
        before, rest = self._lines[:end], self._lines[end:]
        while before and not before[-1].strip():
            before.pop()
        self._lines = [*before, "", "", *_block(key, name, lines), *(rest or [""])]

    def save(self) -> None:
        """Write the file, if it has changed or is not there."""
        if self._lines != self._before or not self._path.exists():
            text = self._line_end.join(self._lines)
            atomic_write.replace(self._path, text)

    def _find(self, key: str) -> tuple[int, int, int] | None:
        """Where a block begins, where its body ends, and where the rest of the file begins.

        A block without an end goes on to the next one. If there are two, the last one counts, as it
        does for Python.
        """
        found, begin = None, None
        for number, line in enumerate([*self._lines, _END]):
            begun, ended = _BEGIN.fullmatch(line.rstrip()), line.rstrip() == _END
            if begin is not None and (begun or ended):
                there = ended and number < len(self._lines)
                found, begin = (begin, number, number + there), None
            if begun and begun[1] == key:
                begin = number
        return found


def _block(key: str, name: str, lines: list[str]) -> list[str]:
    return [f"# --- {key} {name}", *lines, _END]


def _digest(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def _read(document: Document) -> dict[str, str]:
    """The digests; with a damaged file every block counts as edited."""
    with contextlib.suppress(UsageError):
        found = document.read({})
        if isinstance(found, dict):
            return {str(key): str(value) for key, value in found.items()}
    return {}


# The source


def source_of(thing: object) -> str:
    """Return the source of a class or function, with the imports and the helpers that it needs.

    ``inspect.getsource`` does not know the classes of a notebook's cells, so a class is found by
    the code of its methods.

    Args:
        thing: the learner's.

    Raises:
        UsageError: if it has no source, or uses a value that only its notebook has.
    """
    imports: list[str] = []
    parts: dict[str, str] = {}
    _gather(thing, imports, parts)
    lines = [one for one in dict.fromkeys(imports) if one != _LK]
    text = "\n\n\n".join(filter(None, ["\n".join(lines), *parts.values()]))
    ast.parse(text)
    return text


def _gather(thing: Any, imports: list[str], parts: dict[str, str]) -> None:
    """Add the source of a thing, after what it needs."""
    source, namespace = _found(thing)
    own = thing.__name__
    parts[own] = ""  # it may need itself
    needed: dict[str, str] = {}
    for name in sorted(_globals(compile(source, "<answer>", "exec", dont_inherit=True))):
        if name in parts or name not in namespace:
            continue
        value = namespace[name]
        if line := _imported(name, value):
            imports.append(line)
        elif isinstance(inspect.unwrap(value) if callable(value) else value, FunctionType | type):
            if value.__name__ != name:
                raise UsageError(f"it uses {name}, another name of {value.__name__}")
            _gather(value, imports, parts)
        elif (literal := _literal(name, value)) is not None:
            needed[name] = literal
        else:
            raise UsageError(f"it uses {name}, which only your notebook has")
    del parts[own]
    parts.update(needed)
    parts[own] = source


def _found(thing: Any) -> tuple[str, dict[str, Any]]:
    """The source of a class or function, and the names of the place where it was defined."""
    kind = ast.ClassDef if isinstance(thing, type) else ast.FunctionDef
    for function in _functions(thing):
        code = function.__code__
        lines = linecache.getlines(code.co_filename, function.__globals__)
        try:
            tree = ast.parse("".join(lines))
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if not isinstance(node, kind) or node.name != getattr(thing, "__name__", None):
                continue
            begin = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if begin <= code.co_firstlineno <= (node.end_lineno or 0):
                text = "".join(lines[begin - 1 : node.end_lineno])
                return textwrap.dedent(text).strip("\n"), function.__globals__
    raise UsageError("its source can't be found; define it with def or class in a cell")


def _functions(thing: Any) -> Iterator[FunctionType]:
    """A function itself; of a class, its methods, whatever decorates them."""
    values = list(vars(thing).values()) if isinstance(thing, type) else [thing]
    for value in values:
        inner: Any = value.fget if isinstance(value, property) else value
        if callable(inner) or isinstance(inner, classmethod | staticmethod):
            inner = inspect.unwrap(inner)
        if isinstance(inner, FunctionType):
            yield inner


def _globals(code: CodeType) -> set[str]:
    """The global names that code uses, without Python's own."""
    asked = ("LOAD_GLOBAL", "LOAD_NAME")
    found = {str(one.argval) for one in dis.get_instructions(code) if one.opname in asked}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= _globals(inner)
    return {name for name in found if not hasattr(builtins, name)}


def _imported(name: str, value: Any) -> str:
    """The line that imports a value; empty if none does."""
    if isinstance(value, ModuleType):
        return f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}")
    home, own = getattr(value, "__module__", None), getattr(value, "__name__", name)
    if not isinstance(home, str) or not isinstance(own, str) or home == "__main__":
        return ""
    # Path of pathlib says that it is from pathlib._local: where it is public comes first.
    public = home.partition("._")[0]
    for place in (public, home):
        if getattr(sys.modules.get(place), own, None) is value:
            return f"from {place} import {own}" + ("" if own == name else f" as {name}")
    return ""


def _literal(name: str, value: Any) -> str | None:
    """The line that assigns a plain value; None if it is none."""
    with contextlib.suppress(ValueError, SyntaxError, RecursionError):
        text = repr(value)
        if ast.literal_eval(text) == value:
            return f"{name} = {text}"
    return None

"""Changes of files that are there.

A Python file that would be broken by a change is left alone.
"""

from __future__ import annotations

import ast
import re

from learnkit.simulation.stand_in.clauses import Quotation, ruleset, several
from learnkit.simulation.stand_in.hands import (
    Failed,
    Hands,
    Steps,
    confirm,
    quoted,
)
from learnkit.simulation.stand_in.rules import files


def _replace(do: Hands, old: str, new: str, file: str, all: str = "") -> Steps:
    path = do.file(file)
    result = yield from do.read(path)
    count = do.text_of(path, result).count(old)
    if not count:
        raise Failed(f"{old!r} does not occur in {path}")
    if count > 1 and not all:
        raise Failed(f"{old!r} occurs {count} times in {path}; say which, or everywhere")
    if old in new and all:
        raise Failed(f"{new!r} contains {old!r}, so replacing it everywhere would not end")
    for _ in range(count if all else 1):
        yield from do.replace(path, old, new)
    check = yield from do.read(path)
    if (all or old not in new) and old in check.text:
        raise Failed(f"{old!r} is still in {path}")
    confirm(check, new, f"the change of {path}")
    return f"replaced {old!r} with {new!r} in {path}, {count if all else 1} time(s)"


def _change_value(do: Hands, text: str, new: str, file: str = "", old: str = "") -> Steps:
    """Of the lines with the old value, the one that shares words with what was asked for.

    If no file is named, it is in the one that was mentioned last, or in any of the Python files.
    """
    paths = [do.file(file)] if file else do.files[-1:]
    if not paths:
        paths = yield from files.paths_of(do, "files", "python")
    wanted = {word.rstrip("s") for word in re.findall(r"[a-z]{3,}", text.lower())} - {"the"}
    value = rf"(?<![\w.]){re.escape(old)}" if old else r"(?<= = )-?\d+(?:\.\d+)?"
    holds = re.compile(rf"{value}(?![\w.])")
    ranked = []
    for path in paths:
        result = yield from do.read(path)
        for line in do.text_of(path, result).splitlines():
            code = line.partition("#")[0].lower()
            shared = sum(2 * (word in code) + (word in line.lower()) for word in wanted)
            if shared and holds.search(line):
                ranked.append((shared, path, line))
    ranked.sort(key=lambda one: one[0], reverse=True)
    if not ranked:
        where = paths[0] if len(paths) == 1 else f"{len(paths)} Python files"
        raise Failed(f"no line of {where} sets {old or 'a number'} and mentions {text.strip()!r}")
    score, path, was = ranked[0]
    if len(ranked) > 1 and score == ranked[1][0]:
        raise Failed(f"two lines could be meant: {was!r} and {ranked[1][2]!r}")
    line = holds.sub(new, was, count=1)
    yield from do.replace(path, was, line)
    check = yield from do.read(path)
    confirm(check, line, f"the change of {path}")
    return f"changed {was.strip()!r} to {line.strip()!r} in {path}"


def _rewrite(do: Hands, path: str, text: str) -> Steps:
    if path.endswith(".py"):
        try:
            compile(text, path, "exec", dont_inherit=True)  # stricter than ast.parse; runs nothing
        except (SyntaxError, ValueError) as error:
            raise Failed(f"{path} would be no valid Python ({error}), so I left it") from None
    yield from do.write(path, text)
    return ""


def _add_line(do: Hands, text: str, file: str) -> Steps:
    path = do.file(file)
    source = yield from do.source(path)
    yield from _rewrite(do, path, f"{source}{text}\n")
    return f"added the line {text!r} at the end of {path}"


def _rename(do: Hands, old: str, new: str, file: str) -> Steps:
    path = do.file(file)
    users = yield from do.look(f"grep -rlw --include='*.py' -e {quoted(old)} . | sort")
    if others := [one for one in users.split() if one.removeprefix("./") != path and "/" in one]:
        raise Failed(f"{old} is in {', '.join(others)}, too, and I can rename in one file only")
    source = yield from do.source(path)
    changed, count = re.subn(rf"\b{re.escape(old)}\b", new, source)
    if not count:
        raise Failed(f"{old!r} does not occur in {path}")
    yield from _rewrite(do, path, changed)
    return f"renamed {old} to {new} in {path}, {count} time(s)"


def _add_docstring(do: Hands, name: str, text: str, file: str = "") -> Steps:
    if not isinstance(text, Quotation) and re.search(r"\band (?:an?|the|it)\b", text):
        raise Failed(f"I don't know where the docstring {text!r} ends; put it in quotation marks")
    if not file:
        where = rf"grep -rlE --include='*.py' 'def {name}\(' . | sort"
        found = (yield from do.look(where)).split()
        if len(found) != 1 or not found[0].startswith("./"):
            raise Failed(f"I find no function {name}, or more than one")
        file = found[0].removeprefix("./")
    path = do.file(file)
    source = yield from do.source(path)
    function = _function(source, name)
    if function is None or ast.get_docstring(function):
        raise Failed(f"{path} has no function {name} without a docstring")
    first = function.body[0]
    if first.lineno == function.lineno:
        raise Failed(f"the body of {name} is on the line of its name, so there is no place")
    lines = source.splitlines(keepends=True)
    lines.insert(first.lineno - 1, f'{" " * first.col_offset}"""{text}"""\n')
    changed = _function("".join(lines), name)
    if changed is None or ast.get_docstring(changed, clean=False) != text:
        raise Failed(f"{text!r} can't be a docstring as it is")
    yield from _rewrite(do, path, "".join(lines))
    return f"gave {name} in {path} the docstring {text!r}"


def _function(source: str, name: str) -> ast.FunctionDef | None:
    try:
        nodes = ast.walk(ast.parse(source))
    except (SyntaxError, ValueError):
        return None
    found = [one for one in nodes if isinstance(one, ast.FunctionDef) and one.name == name]
    return found[0] if len(found) == 1 else None


def _add_constant(
    do: Hands, name: str, value: str = "", folder: str = "", named: str = ""
) -> Steps:
    """Below the docstring of each file; without a value, the one number in the docstring."""
    paths = several(named)
    if folder:
        paths = yield from files.paths_of(do, "files", "python", folder)
    made = []
    for path in paths:
        source = yield from do.source(path)
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError) as error:
            raise Failed(f"{path} is no valid Python: {error}") from None
        numbers = re.findall(r"-?\d+(?:\.\d+)?", ast.get_docstring(tree) or "")
        if not value and len(numbers) != 1:
            raise Failed(f"there is not exactly one number in the docstring of {path}")
        if re.search(rf"\b{name}\b", source):
            raise Failed(f"{path} uses the name {name} already")
        end = tree.body[0].end_lineno or 0 if ast.get_docstring(tree) else 0
        lines = source.splitlines()
        line = f"{name} = {value or numbers[0]}"
        lines[end:end] = ["", line] if end else [line, ""]
        yield from _rewrite(do, path, "\n".join(lines) + "\n")
        made.append(f"{path}: {line}")
    return "added a constant:\n" + "\n".join(made)


_ITS = r"(its|the|their|each) docstrings?"
_CONSTANT = (
    rf"add (a |the )?constant (called |named )?(?P<name>[A-Za-z_]\w*)( = (?P<value>-?\d+(\.\d+)?)|"
    rf" with the number (from|in) {_ITS})"
)

RULES = ruleset(
    (
        "a constant",
        [
            rf"{_CONSTANT} (to|in) (each|every|all( the)?) (python )?files? in {files.FOLDER}",
            rf"{_CONSTANT} (to|in) {{files:named}}",
        ],
        _add_constant,
        {"example": "add a constant LIMIT = 10 to each file in app/", "needs": ("file", "look")},
    ),
    (
        "a docstring",
        [
            r"give {name} a docstring( that says|:) {text}",
            r"add a docstring to {name}( in {file})?( that says|:) {text}",
        ],
        _add_docstring,
        {"needs": ("file", "run")},
    ),
    (
        "a line more",
        r"(add|append|put) (the |a )?(line|sentence|text)( that says|:)? {text} (to|at the end of) "
        r"{file}",
        _add_line,
        {"example": "add the line 'The end' to notes.txt", "needs": ("file", "look")},
    ),
    (
        "rename a name",
        r"rename (?P<old>[A-Za-z_]\w*) (to|into|as) (?P<new>[A-Za-z_]\w*) in {file}",
        _rename,
        {"needs": ("file", "look", "run")},
    ),
    (
        "change a value",
        [
            r"(raise|lower|change|set|reduce|increase) (the )?(?P<text>[\w ]+?)( in {file})?"
            r"( from (?P<old>-?\d+(\.\d+)?))? to (?P<new>-?\d+(\.\d+)?)( ?degrees| ?°C)?",
            r"make (the )?(?P<text>[a-z ]+? )(?P<new>\d+) (characters|days|degrees)"
            r"( (wide|long|high))?( in {file})?",
        ],
        _change_value,
        {"example": "raise the limit in settings.py from 30 to 35", "needs": ("look",)},
    ),
    (
        "replace a text",
        r"(replace|change) (?P<old>.+?) (with|by|to|into) (?P<new>.+?)"
        r"( (?P<all>everywhere))? in {file}( (?P<everywhere>everywhere))?",
        lambda do, everywhere="", all="", **groups: _replace(do, **groups, all=all or everywhere),
        {"example": "replace red with blue in colours.txt", "needs": ("look",)},
    ),
)

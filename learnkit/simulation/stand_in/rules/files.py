"""Files: what lessons 1 and 2 ask for, and everything else builds on."""

from __future__ import annotations

import ast
import builtins
import csv
import inspect
import json
import re
from collections.abc import Callable, Generator
from typing import Any

from learnkit.simulation.stand_in.clauses import Quotation, number, ruleset, several
from learnkit.simulation.stand_in.hands import (
    Ask,
    Failed,
    Hands,
    Steps,
    Wait,
    confirm,
    first_line,
    quoted,
    short,
)

_LIST = "git ls-files --cached --others --exclude-standard"
_ENDINGS = {"python": "py", "markdown": "md", "text": "txt"}
_ORDER = ("zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
#: How a figure is called that a column of a table has.
_COLUMNS = {"temperature": "celsius"}
#: From here on down a reading says that there is none.
_NO_READING = -999.0
#: What a file says is described by such words, and not given.
_DESCRIBES = re.compile(
    r"^(?:the|an?|all|every|each|some|my|our|your|its|their|this|that|what|whatever|how|whether|"
    r"when|where|something|anything|nothing|it|random|today\b.*|\w+'s)\b|"
    r"\b(?:times|twice|uppercase|lowercase|capitals?|backwards|reversed|numbers|lines|random|"
    r"current|depending|translated)\b|\bin (?:\w+ (?:language|letters)|rust|german|french|red|"
    r"green|blue|colou?r|bold)\b",
    re.I,
)
_QUOTES = re.compile(r"\"[^\"]*\"|“[^”]*”|`[^`]*`")

_MAKE = "(create|make|write|add|generate|start)"
_A = (
    "((a|an|the|one)? ?(new |small |empty |python |text )*(file|script|program)? ?"
    "(called |named )?)"
)
_THAT = "(,? (in it|there))?,? (that|which|to|and have it|and let it)"
_SAYS = "(contains?|says?|holds?|reads?|with the text|with the content|with)"


def _create_prints(do: Hands, file: str, text: str) -> Steps:
    if not file.endswith(".py"):
        return (yield from create_says(do, file, text))
    literal(text)
    printed = text if re.fullmatch(r"-?\d+(\.\d+)?", text) else repr(str(text))
    yield from do.write(file, f"print({printed})\n")
    return f"created {file}, which prints {text}"


def create_says(do: Hands, file: str, text: str) -> Steps:
    """Create a file that contains a text; a Python file prints it.

    Args:
        do: what the rules work with.
        file: its path.
        text: what the file says, without the newline at its end.

    Returns:
        The report.

    Raises:
        Failed: if the text rather describes what the file shall say, or the file can't be written.
    """
    if file.endswith(".py"):
        return (yield from _create_prints(do, file, text))
    literal(text)
    yield from do.write(file, f"{text}\n")
    return f"created {file}, which contains {short(text)!r}"


def literal(text: str) -> None:
    """Check that a text is to be taken literally.

    Args:
        text: what a file shall say.

    Raises:
        Failed: if it rather describes what the file shall say.
    """
    if isinstance(text, Quotation):
        return
    if _DESCRIBES.search(text) or _QUOTES.search(text):
        raise Failed(
            f"{text!r} seems to describe what the file should say; I can only write a text as it "
            "is given, best in quotation marks"
        )


def _create_function(do: Hands, file: str, call: str, code: str) -> Steps:
    text = code.strip("`")
    source = f"def {call}:\n    return {text}\n"
    try:
        function = ast.parse(source).body[0]
        used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        given = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Failed(f"{text!r} is not an expression, and I can write no other function") from None
    if unknown := used - given - set(dir(builtins)):
        raise Failed(f"{text!r} uses {', '.join(sorted(unknown))}, which the function doesn't know")
    yield from do.write(file, source)
    return f"created {file} with the function {call}"


def create(do: Hands, files: str) -> Steps:
    """Create empty files.

    Args:
        do: what the rules work with.
        files: their paths, as a list in words.

    Returns:
        The report.

    Raises:
        Failed: if one can't be made, or is there already and has a text.
    """
    made = several(files)
    for path in made:
        yield from do.touch(path)
    return f"created {', '.join(made)}, empty"


def _unnamed(do: Hands, n: str = "one", text: str = "") -> Steps:
    """Files of which the user gives no name: the first names that are free."""
    literal(text or "-")
    made = yield from do.run(
        f"for one in $(seq {number(n)}); do n=1; while test -e file_$n.txt; do n=$((n+1)); done; "
        f"touch file_$n.txt && echo file_$n.txt; done"
    )
    names = do.text_of("making the files", made).split()
    if len(names) != number(n) or not all(re.fullmatch(r"file_\d+\.txt", one) for one in names):
        raise Failed(f"nothing confirms the new files: {first_line(made.text)}")
    do.files += names
    for name in names if text else ():
        yield from do.write(name, f"{text}\n")
    said = f", which contains {short(text)!r}" if text else ""
    return f"created {', '.join(names)}{said}; you gave no name, so I chose one"


def _folder(do: Hands, folder: str, files: str = "", n: str = "") -> Steps:
    names = several(files)
    if n and number(n) != len(names):
        raise Failed(f"you said {n} files, and named {len(names)}")
    do.folder = folder = folder.rstrip("/")
    inside = [f"{folder}/{name.removeprefix(folder + '/')}" for name in names]
    if not inside:
        result = yield from do.run(
            f"mkdir -p {quoted(folder)} && test -d {quoted(folder)} && echo made"
        )
        confirm(result, "made", f"making {folder}")
        return f"made the folder {folder}"
    for path in inside:
        yield from do.touch(path)
    return f"made the folder {folder} with {', '.join(names)}, all of them empty"


def _package(do: Hands, folder: str, files: str) -> Steps:
    made = []
    for part in re.split(r",? and |, ", files):
        name = re.sub(r"^an? | (?:folder|package|directory)$", "", part.strip()).rstrip("/")
        is_folder = part.strip().endswith(("folder", "directory", "package", "/"))
        if name == "tests":
            is_folder = True
        path = f"{folder}/{name}" + ("/__init__.py" if is_folder else "")
        path += "" if is_folder or "." in name else ".py"
        yield from do.touch(path)
        made.append(path)
    return f"made the package {folder} with {', '.join(made)}, all of them empty"


def _remove(do: Hands, files: str) -> Steps:
    names = several(files)
    shown = " ".join(map(quoted, names))
    gone = " && ".join(f"test ! -e {quoted(name)}" for name in names)
    result = yield from do.run(f"rm -r -- {shown} && {gone} && echo removed")
    confirm(result, "removed", f"removing {shown}")
    return f"removed {', '.join(names)}"


def _listing(do: Hands, kind: str = "", folder: str = "") -> Steps:
    name = kind.lower().lstrip(".")
    like = f"'*.{_ENDINGS.get(name, name)}'" if name else ""
    command = f"{_LIST} -- {like}" if like else _LIST
    if folder.lower() == "it":
        folder = do.folder
    if folder:
        command = f"find {quoted(folder)} -type f{like and ' -name ' + like} | sort"
    listed = yield from do.look(command)
    do.files = [one for one in listed.splitlines() if one and one != "(no output)"]
    return f"the files are:\n{listed}"


def _count_files(do: Hands, kind: str = "") -> Steps:
    yield from _listing(do, kind)
    return f"there are {len(do.files)} {kind and kind + ' '}files: {', '.join(do.files)}"


def _count_lines(do: Hands, file: str) -> Steps:
    path = do.file(file)
    result = yield from do.read(path)
    lines = do.text_of(path, result).splitlines()
    if any(line.startswith("[…") for line in lines):
        raise Failed(f"{path} was not shown whole, so I can't count its lines")
    return f"{path} has {len(lines)} lines"


def _count_tests(do: Hands) -> Steps:
    result = yield from do.run("grep -rhc --include='test_*.py' 'def test_' . | paste -sd+ - | bc")
    return f"there are {first_line(result.text)} tests"


def _count_each(do: Hands) -> Steps:
    lengths = yield from _facts(do, _length)
    return "\n".join(f"{path}: {lines} lines" for path, lines in lengths.items())


def _purposes(do: Hands) -> Steps:
    """What each file says of itself in its first line."""
    about = yield from _facts(do, _about)
    lines = [f"{path}: {text or 'its first line says nothing'}" for path, text in about.items()]
    return "by their first lines:\n" + "\n".join(lines)


def _undocumented(do: Hands) -> Steps:
    found = yield from _facts(do, _documented)
    without = [path for path, has in found.items() if not has]
    return f"no docstring at the top: {', '.join(without) or 'none of them'}"


def _extreme(do: Hands, which: str) -> Steps:
    figures = yield from _facts(do, _figures)
    high = which.lower() in ("highest", "largest", "hottest")
    units = {unit for unit, _, _ in figures.values()}
    if "F" in units and "" in units:
        raise Failed("some of the files have a unit and some have none, so I can't compare them")
    found = [
        ((value - 32) / 1.8 if unit == "F" else value, path)
        for path, (unit, decimals, _) in figures.items()
        for value in decimals
    ]
    if not found:
        raise Failed("there is no number with a decimal point in what I read")
    value, path = max(found) if high else min(found)
    whole = [number for _, _, numbers in figures.values() for number in numbers]
    if any(number > value if high else number < value for number in whole):
        raise Failed("there are whole numbers too, and I can't tell which of them are values")
    shown = f"{value:g}" if units == {""} else f"{value:.1f} °C"
    note = "; I converted what is in °F" if "F" in units else ""
    return f"the {which} value in what I read is {shown}, in {path}{note}"


def _facts(do: Hands, find: Callable[[str], Any]) -> Generator[Ask | Wait, Any, dict[str, Any]]:
    """What a function finds in each file that was read last.

    If compaction has removed a text since, the same function runs on the files themselves.
    """
    if len(do.results) != len(do.files) or not do.files:
        raise Failed("I have read no file yet")
    results = do.results
    read = {path: result for path, (_, result) in zip(do.files, results, strict=True)}
    if not any(one.cut for one in read.values()) or not do.kit.has("run"):
        return {path: find(do.text_of(path, result)) for path, result in read.items()}
    script = (
        f"import ast, json, re\n\n{inspect.getsource(find)}\n"
        f"texts = {{path: open(path, encoding='utf-8').read() for path in {list(read)!r}}}\n"
        f"print(json.dumps({{path: {find.__name__}(text) for path, text in texts.items()}}))"
    )
    found = yield from do.run(f"python - <<'EOF'\n{script}\nEOF")
    do.results = results
    facts: dict[str, Any] = json.loads(do.text_of("the files", found))
    return facts


# These run in the workspace, too: they use nothing but ast and re.


def _length(text: str) -> int:
    return len(text.splitlines())


def _about(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "").strip()
    return first.strip("\"'#/* ") if first.startswith(('"', "'", "#", "/")) else ""


def _documented(text: str) -> bool:
    try:
        return ast.get_docstring(ast.parse(text)) is not None
    except SyntaxError:
        return False


def _figures(text: str) -> tuple[str, list[float], list[float]]:
    """The unit, and the lowest and highest of the decimal and of the whole numbers.

    Only of those that stand alone: not part of a time, a date or a name.
    """
    unit = re.search(r"^.*\bunit ([CF])\b.*$", text, re.M)
    text = text.replace(unit[0], "") if unit else text  # a heading, such as "day 60, unit C"
    alone = r"(?<![\w:./-])-?%s(?![\w:./-])"
    decimals = [float(one) for one in re.findall(alone % r"\d+\.\d+", text)]
    whole = [float(one) for one in re.findall(alone % r"\d+", text)]
    values, others = ([min(some), max(some)] if some else [] for some in (decimals, whole))
    return unit[1] if unit else "", values, others


def _of_column(do: Hands, which: str, column: str, name: str) -> Steps:
    """A figure from the column of a table, a CSV file that is called like the thing."""
    path = yield from _called(do, name, "csv")
    result = yield from do.read(path)
    rows = list(csv.DictReader(do.text_of(path, result).splitlines()))
    key = _COLUMNS.get(column.lower(), column.lower())
    try:
        given = [(float(row[key]), row[key]) for row in rows]
    except (KeyError, TypeError, ValueError):
        raise Failed(f"{path} has no column of numbers that is called {column}") from None
    values = [one for one in given if one[0] > _NO_READING]
    if not values:
        raise Failed(f"{path} has no {column}")
    high = which.lower() in ("highest", "maximum")
    if which.lower() in ("average", "mean"):
        shown = f"{sum(value for value, _ in values) / len(values):g}"
    else:
        shown = (max(values) if high else min(values))[1]
    left = f", without {len(given) - len(values)} missing" if len(values) < len(given) else ""
    return f"the {which} {column} in {path} is {shown}, of {len(values)} readings{left}"


def _called(do: Hands, name: str, ending: str = "*") -> Generator[Ask | Wait, Any, str]:
    """The one file that is called like a thing."""
    found = (yield from do.look(f"{_LIST} -- {quoted(f'*{name.lower()}.{ending}')}")).split()
    paths = [one for one in found if one.rpartition("/")[2].startswith(f"{name.lower()}.")]
    if len(paths) != 1:
        raise Failed(f"there is no file about {name}, or more than one")
    return paths[0]


def _check_thing(do: Hands, name: str) -> Steps:
    path = yield from _called(do, name)
    result = yield from do.read(path)
    lines = do.text_of(path, result).splitlines()
    last = lines[-1] if lines else ""
    return f"checked {path}: {len(lines)} lines; the last one is {last!r}"


def _count_things(do: Hands, things: str, folder: str = "") -> Steps:
    """The things are the files of a folder that is called like them."""
    folder = (folder or things).rstrip("/")
    if things.lower() not in ("files", "modules", folder.rpartition("/")[2].lower()):
        raise Failed(f"I don't know what counts as {things} in {folder}")
    found = yield from do.look(
        f"find {quoted(folder)} -maxdepth 1 -type f -not -name '.*' -not -name 'README*' | sort"
    )
    paths = found.replace("(no output)", "").split()
    return f"there are {len(paths)} {things} in {folder}: {short(', '.join(paths))}"


def _find_text(do: Hands, place: str, text: str, lines: str = "", file: str = "") -> Steps:
    """The files, or the lines, in which a text occurs; on request in a new file."""
    how = "n" if lines else "l"
    search = f"grep -rI{how}F -e {quoted(text)} {quoted(place)} | sort"
    found = (yield from do.look(search)).strip()
    if not found or found == "(no output)":
        return f"nothing in {place} contains {text!r}"
    if file:
        yield from do.write(file, f"{found}\n")
        return f"wrote the {len(found.splitlines())} lines that contain {text!r} to {file}"
    return f"{'the lines' if lines else 'the files'} that contain {text!r} are:\n{found}"


def _line_about(do: Hands, word: str, file: str = "", days: str = "") -> Steps:
    """The lines of a file that have a word."""
    if days:
        (file,) = yield from _paths(do, "logs", days=days)
    path = do.file(file)
    result = yield from do.read(path)
    lines = do.text_of(path, result).splitlines()
    found = [line for line in lines if re.search(rf"\b{re.escape(word)}\b", line, re.I)]
    if not found:
        raise Failed(f"no line of {path} says anything about {word!r}")
    return f"{path} says: {'; '.join(found[:5])}"


def _join(do: Hands, things: str, file: str = "") -> Steps:
    """All files of a folder in one; a table's heading once."""
    listed = yield from do.look(f"find {quoted(things)} -type f -not -name '.*' | sort")
    paths = listed.split()
    endings = {path.rpartition(".")[2] for path in paths}
    if not paths or len(endings) > 1:
        raise Failed(f"the files in {things} are not of one kind, or there are none")
    file = file or f"all_{things.strip('/').rpartition('/')[2]}.{endings.pop()}"
    texts = []
    for path in paths:
        texts.append(do.text_of(path, (yield from do.read(path))).splitlines())
    head = 1 if file.endswith(".csv") and len({text[0] for text in texts if text}) == 1 else 0
    rows = texts[0][:head] + [row for text in texts for row in text[head:]]
    yield from do.write(file, "\n".join(rows) + "\n")
    return f"put {', '.join(paths)} into {file}: {len(rows)} lines"


def _read_files(do: Hands, files: str) -> Steps:
    return (yield from _read_all(do, [do.file(one) for one in several(files)]))


def _read_every(do: Hands, what: str, stop: str = "", **where: str) -> Steps:
    paths = yield from _paths(do, what, **where)
    if stop:
        paths = paths[: _ORDER.index(stop.lower())]
    return (yield from _read_all(do, paths))


def _paths(
    do: Hands, what: str, kind: str = "", folder: str = "", days: str = ""
) -> Generator[Ask | Wait, Any, list[str]]:
    """The files of a kind in a folder; of logs, those of some days, by the number in a name."""
    if what.lower().startswith("log"):
        folder = folder or "logs"
    yield from _listing(do, kind, folder)
    paths = list(do.files)
    if days:
        wanted = _numbers(days)
        paths = [
            path
            for path in paths
            if (found := re.findall(r"\d+", path)) and int(found[-1]) in wanted
        ]
        if len(paths) != len(wanted):
            raise Failed(f"of the {len(wanted)} {what} of {days!r} I find {len(paths)}")
    if not paths:
        raise Failed(f"there are no {kind or what} to read")
    return paths


def _numbers(days: str) -> set[int]:
    """The numbers in "the first ten days", "days 3 to 5" or "days 1, 2 and 4"."""
    if found := re.search(r"first (\w+)", days):
        return set(range(1, number(found[1]) + 1))
    if found := re.search(r"(\d+) ?(?:to|-) ?(\d+)", days):
        return set(range(int(found[1]), int(found[2]) + 1))
    return {int(one) for one in re.findall(r"\d+", days)}


def _read_all(do: Hands, paths: list[str]) -> Steps:
    do.files, results = [], []
    for path in paths:
        result = yield from do.read(path)
        results += [(path, result)]
    do.results, do.files = results, paths
    if len(paths) > 1:
        shown = (f"{path}: {short(one.text)}" for path, one in results if not one.cut)
        return f"read {', '.join(paths)}" + "".join(f"\n{one}" for one in shown)
    path, result = results[0]
    if result.cut:
        return f"read {path}; its text has been removed from the conversation since"
    return f"{path} says:\n{result.text}"


def _first_lines(do: Hands, n: str, file: str) -> Steps:
    path = do.file(file)
    result = yield from do.read(path)
    lines = do.text_of(path, result).splitlines()[: number(n)]
    return f"{path} begins:\n" + "\n".join(lines)


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
        paths = yield from _paths(do, "files", "python")
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
        value = old or "a value"
        raise Failed(f"no line of {', '.join(paths)} has {value} and a word of {text!r}")
    score, path, was = ranked[0]
    if len(ranked) > 1 and score == ranked[1][0]:
        raise Failed(f"two lines could be meant: {was!r} and {ranked[1][2]!r}")
    line = holds.sub(new, was, count=1)
    yield from do.replace(path, was, line)
    check = yield from do.read(path)
    confirm(check, line, f"the change of {path}")
    return f"changed {was.strip()!r} to {line.strip()!r} in {path}"


# Changes of a whole file: it is read, changed and written, unless that would break it


def _source(do: Hands, path: str) -> Generator[Ask | Wait, Any, str]:
    result = yield from do.read(path)
    text = do.text_of(path, result)
    if any(line.startswith("[…") for line in text.splitlines()):
        raise Failed(f"{path} was not shown whole, so I can't change it safely")
    return text if text.endswith("\n") else f"{text}\n"


def _rewrite(do: Hands, path: str, text: str) -> Steps:
    if path.endswith(".py"):
        try:
            ast.parse(text)
        except (SyntaxError, ValueError) as error:
            raise Failed(f"{path} would be no valid Python ({error}), so I left it") from None
    yield from do.write(path, text)
    return ""


def _add_line(do: Hands, text: str, file: str) -> Steps:
    path = do.file(file)
    source = yield from _source(do, path)
    yield from _rewrite(do, path, f"{source}{text}\n")
    return f"added the line {text!r} at the end of {path}"


def _rename(do: Hands, old: str, new: str, file: str) -> Steps:
    path = do.file(file)
    users = yield from do.look(f"grep -rlw --include='*.py' -e {quoted(old)} . | sort")
    if others := [one for one in users.split() if one.removeprefix("./") != path and "/" in one]:
        raise Failed(f"{old} is in {', '.join(others)}, too, and I can rename in one file only")
    source = yield from _source(do, path)
    changed, count = re.subn(rf"\b{re.escape(old)}\b", new, source)
    if not count:
        raise Failed(f"{old!r} does not occur in {path}")
    yield from _rewrite(do, path, changed)
    return f"renamed {old} to {new} in {path}, {count} time(s)"


def _add_docstring(do: Hands, name: str, text: str, file: str = "") -> Steps:
    if not isinstance(text, Quotation) and re.search(r"\band (?:an?|the|it)\b", text):
        raise Failed(f"I don't know where the docstring {text!r} ends; put it in quotation marks")
    if not file:
        where = rf"grep -rlE --include='*.py' 'def {name}\(' ."
        found = (yield from do.look(where)).split()
        if len(found) != 1 or not found[0].startswith("./"):
            raise Failed(f"I find no function {name}, or more than one")
        file = found[0].removeprefix("./")
    path = do.file(file)
    source = yield from _source(do, path)
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
    do: Hands, name: str, value: str = "", folder: str = "", files: str = ""
) -> Steps:
    """Below the docstring of each file; without a value, the one number in the docstring."""
    paths = several(files)
    if folder:
        paths = yield from _paths(do, "files", "python", folder)
    made = []
    for path in paths:
        source = yield from _source(do, path)
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError) as error:
            raise Failed(f"{path} is no valid Python: {error}") from None
        numbers = re.findall(r"-?\d+(?:\.\d+)?", ast.get_docstring(tree) or "")
        if not value and len(numbers) != 1:
            raise Failed(f"there is not exactly one number in the docstring of {path}")
        if re.search(rf"^{name}\b", source, re.M):
            raise Failed(f"{path} has a {name} already")
        end = tree.body[0].end_lineno or 0 if ast.get_docstring(tree) else 0
        lines = source.splitlines()
        line = f"{name} = {value or numbers[0]}"
        lines[end:end] = ["", line] if end else [line, ""]
        yield from _rewrite(do, path, "\n".join(lines) + "\n")
        made.append(f"{path}: {line}")
    return "added a constant:\n" + "\n".join(made)


def verify(do: Hands, file: str = "it", works: str = "") -> Steps:
    """Check a file, or all that were mentioned.

    Args:
        do: what the rules work with.
        file: the path or the pronoun, as in the prompt.
        works: not empty if a program has to run to its end; without it, none is run.

    Returns:
        The report.

    Raises:
        Failed: if a file is empty, is no valid Python, or fails.
    """
    many = file.lower() in ("they", "them", "both", "all", "all of them")
    told = []
    for path in list(dict.fromkeys(do.files)) if many else [do.file(file)]:
        text = yield from _source(do, path)
        kind = "it is there"
        if path.endswith(".py"):
            if not text.strip() and not path.endswith("__init__.py"):
                raise Failed(f"{path} is empty")
            try:
                ast.parse(text)
            except (SyntaxError, ValueError) as error:
                raise Failed(f"{path} is no valid Python: {error}") from None
            kind = "it is valid Python"
            if works:
                yield from do.run(f"python {quoted(path)}")
                kind = "it runs to its end"
        told.append(f"checked {path} ({kind}):\n{text.strip()}")
    if not told:
        raise Failed("I don't know what is to be checked")
    return "\n".join(told)


_KIND = r"(?P<kind>python|csv|markdown|text|json|yaml|\.\w+)"
_FOLDER = r"(the )?(folder )?(?P<folder>(?!this\b|the\b)\w[\w./-]*?)/?"
_DAYS = r"(?P<days>(the )?first \w+( days)?|days? \d[\d, and to-]*)"
_ITS = r"(its|the|their|each) docstrings?"
_CONSTANT = (
    rf"add (a |the )?constant (called |named )?(?P<name>[A-Za-z_]\w*)( = (?P<value>-?\d+(\.\d+)?)|"
    rf" with the number (from|in) {_ITS})"
)
_PRINTS = f"{_MAKE} {_A}{{file}}{_THAT} (just )?(prints?|outputs?) {{text}}"
_OF = r"( of| in|:)?"

RULES = ruleset(
    (
        "a file with a function",
        [
            rf"{_MAKE} {_A}{{file}},? with (a|the) function (?P<call>\w+\([^)]*\)) that returns "
            "{text:code}",
            r"have {file} (made|created|written),? with (a|the) function (?P<call>\w+\([^)]*\)) "
            "that returns {text:code}",
        ],
        _create_function,
        {
            "example": "create greet.py with a function greet(name) that returns 'Hi ' + name",
            "needs": ("file",),
        },
    ),
    (
        "a file that prints something",
        _PRINTS,
        _create_prints,
        {"example": "create hello.py that prints Hello", "needs": ("file",)},
    ),
    (
        "a file with a text",
        [
            rf"{_MAKE} {_A}{{file}}{_THAT} {_SAYS} {{text}}",
            rf"{_MAKE} {_A}{{file}} (containing|saying|with the (text|content)|with) {{text}}",
        ],
        create_says,
        {"example": "create notes.txt that says hello", "needs": ("file",)},
    ),
    (
        "a folder with files",
        rf"{_MAKE} (a |the )?(new )?folder (called |named )?(?P<folder>[\w./-]+)"
        rf"( (with|containing) ((?P<n>\d+|one|two|three|four|five) )?(empty )?(files? ?)?"
        rf"(in it)?[,:]? ?{{files}})?",
        _folder,
        {
            "example": "make a folder notes with two files: a.txt and b.txt",
            "needs": ("file",),
            "each": "files",
        },
    ),
    (
        "a package",
        rf"{_MAKE} (a |the )?package (called |named )?(?P<folder>\w+) with "
        r"(?P<files>[\w./]+((,? and |, )(an? )?[\w./]+( folder| directory)?)*)",
        _package,
        {"needs": ("file",), "each": "files"},
    ),
    (
        "a constant",
        [
            rf"{_CONSTANT} (to|in) (each|every|all( the)?) (python )?files? in {_FOLDER}",
            rf"{_CONSTANT} (to|in) {{files}}",
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
        "find a text",
        [
            r"(tell me )?which (of (the |these )?)?\w+ in (?P<place>[\w./-]+) "
            r"(contain|mention|say) {text}",
            rf"{_MAKE} {{file}}: which (?P<lines>lines) (in|of) (?P<place>[\w./-]+) "
            r"(contain|mention) {text}",
            rf"{_MAKE} {{file}} with the (?P<lines>lines) (in|of) (?P<place>[\w./-]+) that "
            r"(contain|mention) {text}",
        ],
        _find_text,
        {"needs": ("run",), "more": (r"(in )?one line (for )?each",)},
    ),
    (
        "put files together",
        r"(put|join|copy|collect) (all |the |all the )?(files in )?(?P<things>[a-z]+) (in|into|to) "
        r"(one file|a single file|{file})",
        _join,
        {"needs": ("file", "run")},
    ),
    (
        "a file without a name",
        [
            rf"{_MAKE} (an?|{{n}}) (new |small |empty |text )*files?",
            rf"{_MAKE} a (new |small |text )*file that (says|contains) {{text}}",
        ],
        _unnamed,
        {"needs": ("run",)},
    ),
    (
        "an empty file",
        rf"{_MAKE} {_A}(files )?{{files}}",
        create,
        {"needs": ("file",), "each": "files"},
    ),
    (
        "remove files",
        [
            "(delete|remove) (the )?(files? )?{files}",
            r"(delete|remove) the (folder|directory) (?P<files>[\w./-]+)",
        ],
        _remove,
        {"example": "delete old.txt", "needs": ("run",)},
    ),
    (
        "count the files",
        rf"(how many|count the|count all) ({_KIND} )?files"
        r"( (are there|there are|do we have))?( (in|are in) (this|the) (project|repository|"
        r"folder))?",
        _count_files,
        {"example": "how many Python files are there?", "needs": ("run",)},
    ),
    (
        "list the files",
        [
            rf"(list|show|show me|which|what|tell me which) (all |the |all the )*({_KIND} )?"
            r"files( (are there|there are|do we have|exist))?"
            r"( in (this|the) (project|repository|folder))?",
            rf"(list|show|show me) (all |the |all the )*({_KIND} )?files in {_FOLDER}",
            r"(list|show|show me) what is in (?P<folder>it)",
        ],
        _listing,
        {"example": "list the files", "needs": ("run",)},
    ),
    (
        "count lines",
        [
            rf"(count|tell me) (the |how many )?lines{_OF} {{file}}",
            r"how many lines (does |has |are in |are there in )?{file}( have| has)?",
        ],
        _count_lines,
        {"example": "count the lines of README.md", "needs": ("look",)},
    ),
    (
        "count the tests",
        "(count the tests|how many tests are there)",
        _count_tests,
        {"needs": ("run",)},
    ),
    (
        "what each file is for",
        r"(say|tell me) what (each|every one|each one)( of them)? is for",
        _purposes,
    ),
    (
        "count the lines of each",
        r"(say|tell me) how (long (each|every one|each one) is|many lines (each|every one|each "
        r"one) has)",
        _count_each,
    ),
    (
        "which have no docstring",
        r"(say|tell me) which( of them)? (have|has) no docstring",
        _undocumented,
    ),
    (
        "a figure of a table",
        r"(tell me |what is )the (?P<which>average|mean|highest|lowest|maximum|minimum) "
        r"(?P<column>\w+) (in|of|at) (?P<name>[a-z]+)",
        _of_column,
        {"example": "what is the average humidity in Oslo?", "needs": ("run",)},
    ),
    (
        "a line of a file",
        r"(in )?(which|what) (?P<word>[a-z]+) (is|was|has) (the log of (?P<days>day \d+)|{file})",
        _line_about,
        {"needs": ("look",)},
    ),
    (
        "the highest or lowest value read",
        r"(tell me |what is |report )?the (?P<which>highest|lowest|largest|smallest|hottest|"
        r"coldest) "
        r"(value|temperature|number|reading)( of all (days|files|logs))?",
        _extreme,
    ),
    (
        "read every file",
        [
            rf"(read|show me|look at) (every|all|all the|each|the) {_KIND} (?P<what>files?)"
            rf"( in {_FOLDER})?",
            rf"read (every|all|all the|each|the) (?P<what>files?|logs?) in {_FOLDER}",
            rf"read (every|all|all the|each|the) (?P<what>logs?)( of {_DAYS})?",
        ],
        _read_every,
        {
            "example": "read every Python file",
            "needs": ("look", "run"),
            "more": (rf"stop after the (?P<stop>{'|'.join(_ORDER[1:])})( one| file| log)?",),
        },
    ),
    (
        "the first lines",
        r"show me the first {n} lines of {file}",
        _first_lines,
        {"needs": ("look",)},
    ),
    (
        "read",
        [
            r"(read|show|show me|open|print|cat|look at|look into) (the files? )?{files}"
            r"( back)?( to me)?",
            r"(what is|what stands) in {files}",
            r"(find out |tell me |say )?what (does )?{files} (say|says|contain|contains|asks? "
            r"for|holds?)",
            r"(read|show|show me) (?P<files>it|that)( back)?( to me)?",
        ],
        _read_files,
        {"example": "read README.md", "needs": ("look",)},
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
    (
        "verify",
        r"(verify|check|make sure|ensure|see)( that| whether)? "
        r"(?P<file>it|this|that|they|them|both|all of them|[\w./-]+\.\w+)"
        r"( (?P<works>works?|runs?)| (is|are) (valid|fine))?",
        verify,
        {"needs": ("look",)},
    ),
    ("check a thing", r"check (?P<name>[a-z]+)", _check_thing, {"needs": ("look", "run")}),
    (
        "count things",
        r"(count|how many)( the)? (?P<things>[a-z]+)"
        r"( (are|is)( there)?( in (?P<folder>[\w./-]+))?)?",
        _count_things,
        {"needs": ("run",)},
    ),
)

"""What is in files: count, find, compare and check."""

from __future__ import annotations

import ast
import csv
import inspect
import json
import re
from collections.abc import Callable, Generator
from typing import Any

from learnkit.simulation.stand_in.clauses import number, ruleset
from learnkit.simulation.stand_in.hands import (
    Ask,
    Failed,
    Hands,
    Steps,
    Wait,
    first_line,
    quoted,
    short,
)
from learnkit.simulation.stand_in.rules import files

#: How a figure is called that a column of a table has.
_COLUMNS = {"temperature": "celsius"}
#: From here on down a reading says that there is none.
_NO_READING = -999.0


def _count_files(do: Hands, kind: str = "") -> Steps:
    yield from files.listing(do, kind)
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
    hot = [path for path, (unit, _, _) in figures.items() if unit == "F"]
    note = f"; we report in °C, and I converted what is in °F, from {hot[0]} on" if hot else ""
    return f"the {which} value in what I read is {shown}, in {path}{note}"


def _reported(do: Hands, since: str = "") -> str:
    """The line of an earlier reply, or of a summary, that decides on a unit, or else has one."""
    lines = [line.removeprefix("- ") for line in do.said.earlier]
    decided = [line for line in lines if "we report in °" in line]
    found = decided or [line for line in lines if re.search(r"\d °[CF]\b", line)]
    if not found:
        raise Failed("nothing that is left of our conversation says in which unit we report")
    if since and not decided:
        raise Failed("nothing that is left of our conversation says since when we report in a unit")
    unit = found[-1][found[-1].index("°") :][:2]
    return f"in {unit}; our conversation says: {found[-1]}"


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
    left = f"; I left out {len(given) - len(values)} below {_NO_READING:g}"
    note = left if len(values) < len(given) else ""
    return f"the {which} {column} in {path} is {shown}, of {len(values)} readings{note}"


def _called(do: Hands, name: str, ending: str = "*") -> Generator[Ask | Wait, Any, str]:
    """The one file that is called like a thing."""
    found = (yield from do.look(f"{files.LIST} -- {quoted(f'*{name.lower()}.{ending}')}")).split()
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
        (file,) = yield from files.paths_of(do, "logs", days=days)
    path = do.file(file)
    result = yield from do.read(path)
    lines = do.text_of(path, result).splitlines()
    found = [line for line in lines if re.search(rf"\b{re.escape(word)}\b", line, re.I)]
    if not found:
        raise Failed(f"no line of {path} says anything about {word!r}")
    return f"{path} says: {'; '.join(found[:5])}"


def _first_lines(do: Hands, n: str, file: str) -> Steps:
    path = do.file(file)
    result = yield from do.read(path)
    lines = do.text_of(path, result).splitlines()[: number(n)]
    return f"{path} begins:\n" + "\n".join(lines)


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
        text = yield from do.source(path)
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


_OF = r"( of| in|:)?"

RULES = ruleset(
    (
        "find a text",
        [
            r"(tell me )?which (of (the |these )?)?\w+ in (?P<place>[\w./-]+) "
            r"(contain|mention|say) {text}",
            rf"{files.MAKE} {{file}}: which (?P<lines>lines) (in|of) (?P<place>[\w./-]+) "
            r"(contain|mention) {text}",
            rf"{files.MAKE} {{file}} with the (?P<lines>lines) (in|of) (?P<place>[\w./-]+) that "
            r"(contain|mention) {text}",
        ],
        _find_text,
        {"needs": ("run",), "more": (r"(in )?one line (for )?each",)},
    ),
    (
        "count the files",
        rf"(how many|count the|count all) ({files.KIND} )?files"
        r"( (are there|there are|do we have))?( (in|are in) (this|the) (project|repository|"
        r"folder))?",
        _count_files,
        {"example": "how many Python files are there?", "needs": ("run",)},
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
        "the unit of an earlier reply",
        r"(in )?(which|what) unit do (we|you) report"
        r"(?P<since>,? and since when (is|was) (that|this|it) decided)?",
        _reported,
    ),
    (
        "the highest or lowest value read",
        r"(tell me |what is |report )?the (?P<which>highest|lowest|largest|smallest|hottest|"
        r"coldest) "
        r"(value|temperature|number|reading)( of all (days|files|logs))?",
        _extreme,
    ),
    (
        "the first lines",
        r"show me the first {n} lines of {file}",
        _first_lines,
        {"needs": ("look",)},
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

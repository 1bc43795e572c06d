"""Files: what lessons 1 and 2 ask for, and everything else builds on."""

from __future__ import annotations

import ast
import builtins
import re

from learnkit.simulation.stand_in.clauses import Quotation, number, ruleset, several
from learnkit.simulation.stand_in.hands import (
    Failed,
    Hands,
    Steps,
    confirm,
    first_line,
    quoted,
    short,
)

_LIST_PYTHON = "git ls-files --cached --others --exclude-standard -- '*.py'"
_LIST_ALL = "git ls-files --cached --others --exclude-standard"
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

#: Numbers that stand alone: not part of a time, a date or a name.
_DECIMAL = re.compile(r"(?<![\w:./-])-?\d+\.\d+(?![\w:./-])")
_WHOLE = re.compile(r"(?<![\w:./-])-?\d+(?![\w:./-])")

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


def _folder(do: Hands, folder: str, files: str = "", n: str = "") -> Steps:
    names = several(files)
    if n and number(n) != len(names):
        raise Failed(f"you said {n} files, and named {len(names)}")
    folder = folder.rstrip("/")
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
    command = _LIST_PYTHON if "py" in kind.lower() else _LIST_ALL
    if folder:
        command = f"find {quoted(folder)} -type f | sort"
    result = yield from do.run(command)
    do.files = do.text_of("the list", result).split() if not result.cut else do.files
    return f"the files are:\n{do.text_of('the list', result)}"


def _count_files(do: Hands, kind: str = "") -> Steps:
    yield from _listing(do, kind)
    found = [one for one in do.results[-1][1].text.splitlines() if one != "(no output)"]
    return f"there are {len(found)} {kind.strip() + ' ' if kind else ''}files: {', '.join(found)}"


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


def _count_each(do: Hands) -> str:
    texts = _texts(do)
    counts = [f"{path}: {len(text.splitlines())} lines" for path, text in texts]
    return "\n".join(counts)


def _purposes(do: Hands) -> str:
    """What each file says of itself in its first line."""
    lines = []
    for path, text in _texts(do):
        first = next((line for line in text.splitlines() if line.strip()), "")
        about = first.strip("\"'#/* ") if first.lstrip().startswith(('"', "'", "#", "/")) else ""
        lines.append(f"{path}: {about or 'its first line says nothing about it'}")
    return "by their first lines:\n" + "\n".join(lines)


def _extreme(do: Hands, which: str) -> str:
    texts = _texts(do)
    found = [(float(value), path) for path, text in texts for value in _DECIMAL.findall(text)]
    if not found:
        raise Failed("there is no number with a decimal point in what I read")
    high = which.lower() in ("highest", "largest", "hottest")
    value, path = max(found) if high else min(found)
    whole = [int(number) for _, text in texts for number in _WHOLE.findall(text)]
    if any(number > value if high else number < value for number in whole):
        raise Failed("there are whole numbers too, and I can't tell which of them are values")
    return f"the {which} value in what I read is {value:g}, in {path}"


def _texts(do: Hands) -> list[tuple[str, str]]:
    """What was read last, by file."""
    if len(do.results) != len(do.files) or not do.files:
        raise Failed("I have read no file yet")
    return [
        (path, do.text_of(path, result))
        for path, (_, result) in zip(do.files, do.results, strict=True)
    ]


def _read_files(do: Hands, files: str) -> Steps:
    return (yield from _read_all(do, [do.file(one) for one in several(files)]))


def _read_every(do: Hands, kind: str = "", folder: str = "") -> Steps:
    yield from _listing(do, kind, folder)
    paths = [one for one in do.results[-1][1].text.split("\n") if one and one != "(no output)"]
    if not paths:
        raise Failed(f"there are no {kind or 'files'} to read")
    return (yield from _read_all(do, paths))


def _read_all(do: Hands, paths: list[str]) -> Steps:
    do.files, results = [], []
    for path in paths:
        result = yield from do.read(path)
        results += [(path, result)]
    do.results, do.files = results, paths
    if len(paths) > 1:
        return f"read {', '.join(paths)}"
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


def _change_value(do: Hands, text: str, file: str, old: str, new: str) -> Steps:
    """Of the lines with the old value, the one that shares words with what was asked for."""
    path = do.file(file)
    result = yield from do.read(path)
    wanted = set(re.findall(r"[a-z]{3,}", text.lower())) - {"the"}
    holds = re.compile(rf"(?<![\w.]){re.escape(old)}(?![\w.])")
    lines = [line for line in do.text_of(path, result).splitlines() if holds.search(line)]

    def shared(line: str) -> int:
        code = line.partition("#")[0].lower()
        return sum(2 * (word in code) + (word in line.lower()) for word in wanted)

    ranked = sorted(lines, key=shared, reverse=True)
    if not ranked or not shared(ranked[0]):
        raise Failed(f"no line of {path} has {old} and a word of {text!r}")
    if len(ranked) > 1 and shared(ranked[0]) == shared(ranked[1]):
        raise Failed(f"two lines of {path} could be meant: {ranked[0]!r} and {ranked[1]!r}")
    line = holds.sub(new, ranked[0], count=1)
    yield from do.replace(path, ranked[0], line)
    check = yield from do.read(path)
    confirm(check, line, f"the change of {path}")
    return f"changed {ranked[0].strip()!r} to {line.strip()!r} in {path}"


def _verify(do: Hands, file: str = "it") -> Steps:
    path = do.file(file)
    result = yield from do.read(path)
    text = do.text_of(path, result)
    if path.endswith(".py"):
        try:
            ast.parse(text)
        except (SyntaxError, ValueError) as error:
            raise Failed(f"{path} is no valid Python: {error}") from None
    kind = "it is valid Python" if path.endswith(".py") else "it is there"
    return f"checked {path} ({kind}):\n{text.strip()}"


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
        rf"( (with|containing) ((?P<n>\d+|two|three|four|five) )?(empty )?(files? ?)?"
        rf"(in it)?[,:]? ?{{files}})?",
        _folder,
        {"example": "make a folder notes with two files: a.txt and b.txt", "needs": ("file",)},
    ),
    (
        "a package",
        rf"{_MAKE} (a |the )?package (called |named )?(?P<folder>\w+) with "
        r"(?P<files>[\w./]+((,? and |, )(an? )?[\w./]+( folder| directory)?)*)",
        _package,
        {"needs": ("file",)},
    ),
    (
        "an empty file",
        rf"{_MAKE} {_A}(files )?{{files}}",
        create,
        {"needs": ("file",), "each": "files"},
    ),
    (
        "remove files",
        "(delete|remove) (the )?(files? )?{files}",
        _remove,
        {"example": "delete old.txt", "needs": ("run",)},
    ),
    (
        "count the files",
        r"(how many|count the|count all) ((?P<kind>python) )?files"
        r"( (are there|there are|do we have))?( (in|are in) (this|the) (project|repository|"
        r"folder))?",
        _count_files,
        {"example": "how many Python files are there?", "needs": ("run",)},
    ),
    (
        "list the files",
        [
            r"(list|show|show me|which|what|tell me which) (all |the |all the "
            r")*((?P<kind>python) )?"
            r"files( (are there|there are|do we have|exist))?"
            r"( in (this|the) (project|repository|folder))?",
            r"(list|show|show me) (all |the |all the )*files in (?P<folder>\w[\w./-]*)",
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
        "tell me how many lines (each|every one|each one) has",
        _count_each,
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
            r"(read|show me|look at) (every|all|all the|each|the) (?P<kind>python |\.py )files?",
            r"read (every|all|all the|each|the) (files?|logs?) in (?P<folder>\w[\w./-]*?/?)",
        ],
        _read_every,
        {"example": "read every Python file", "needs": ("look", "run")},
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
        r"(raise|lower|change|set|reduce|increase) (the )?(?P<text>[\w ]+?) in {file} from "
        r"(?P<old>[\w.-]+) to (?P<new>[\w.-]+)( degrees| °C)?",
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
        r"(verify|check) (?P<file>it|that|this|[\w./-]+\.\w+)",
        _verify,
        {"needs": ("look",)},
    ),
)

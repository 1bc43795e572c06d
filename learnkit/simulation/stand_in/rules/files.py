"""Files: what lessons 1 and 2 ask for, and everything else builds on: make, list, read, remove."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Generator
from typing import Any

from learnkit.simulation.stand_in.clauses import PARTS, Quotation, number, ruleset, several
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

LIST = "git ls-files --cached --others --exclude-standard"
_ENDINGS = {"python": "py", "markdown": "md", "text": "txt"}
_ORDER = ("zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
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
MAKE = "(create|make|write|add|generate|start)"
A = (
    "((a|an|the|one)? ?(new |small |empty |python |text )*(file|script|program)? ?"
    "(called |named )?)"
)
_THAT = "(,? (in it|there))?,? (that|which|to|and have it|and let it)"
SAYS = "(contains?|says?|holds?|reads?|with the text|with the content|with)"


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


def listing(do: Hands, kind: str = "", folder: str = "") -> Steps:
    """List files, and keep their paths in ``do.files``.

    Args:
        do: what the rules work with.
        kind: of file, in a word such as "Python"; empty for all.
        folder: which folder, "it" for the one made last; empty for all that git knows or would add.

    Returns:
        The report.

    Raises:
        Failed: if no tool can, or there is no such folder.
    """
    name = kind.lower().lstrip(".")
    like = f"'*.{_ENDINGS.get(name, name)}'" if name else ""
    command = f"{LIST} -- {like}" if like else LIST
    if folder.lower() == "it":
        folder = do.folder
    if folder:
        command = f"find {quoted(folder)} -type f{like and ' -name ' + like} | sort"
    listed = yield from do.look(command)
    do.files = [one for one in listed.splitlines() if one and one != "(no output)"]
    return f"the files are:\n{listed}"


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
    paths = yield from paths_of(do, what, **where)
    if stop:
        paths = paths[: _ORDER.index(stop.lower())]
    return (yield from _read_all(do, paths))


def paths_of(
    do: Hands, what: str, kind: str = "", folder: str = "", days: str = ""
) -> Generator[Ask | Wait, Any, list[str]]:
    """Find the files of a kind.

    Args:
        do: what the rules work with.
        what: how they are called; "logs" are in the folder logs if no other is named.
        kind: of file, in a word such as "Python"; empty for all.
        folder: which folder; empty for all that git knows or would add.
        days: of logs, in words such as "days 3 to 5"; the last number in a name is its day.

    Returns:
        Their paths, at least one.

    Raises:
        Failed: if there are none, or not one for each day.
    """
    if what.lower().startswith("log"):
        folder = folder or "logs"
    yield from listing(do, kind, folder)
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


KIND = r"(?P<kind>python|csv|markdown|text|json|yaml|\.\w+)"
FOLDER = r"(the )?(folder )?(?P<folder>(?!this\b|the\b)\w[\w./-]*?)/?"
DAYS = rf"(?P<days>(the )?first {PARTS['n']}( days)?|days? \d[\d, and to-]*)"
_PRINTS = f"{MAKE} {A}{{file}}{_THAT} (just )?(prints?|outputs?) {{text}}"

RULES = ruleset(
    (
        "a file with a function",
        [
            rf"{MAKE} {A}{{file}},? with (a|the) function (?P<call>\w+\([^)]*\)) that returns "
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
            rf"{MAKE} {A}{{file}}{_THAT} {SAYS} {{text}}",
            rf"{MAKE} {A}{{file}} (containing|saying|with the (text|content)|with) {{text}}",
        ],
        create_says,
        {"example": "create notes.txt that says hello", "needs": ("file",)},
    ),
    (
        "a folder with files",
        rf"{MAKE} (a |the )?(new )?folder (called |named )?(?P<folder>[\w./-]+)"
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
        rf"{MAKE} (a |the )?package (called |named )?(?P<folder>\w+) with "
        r"(?P<files>[\w./]+((,? and |, )(an? )?[\w./]+( folder| directory)?)*)",
        _package,
        {"needs": ("file",), "each": "files"},
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
            rf"{MAKE} (an?|{{n}}) (new |small |empty |text )*files?",
            rf"{MAKE} a (new |small |text )*file that (says|contains) {{text}}",
        ],
        _unnamed,
        {"needs": ("run",)},
    ),
    (
        "an empty file",
        rf"{MAKE} {A}(files )?{{files}}",
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
        "list the files",
        [
            rf"(list|show|show me|which|what|tell me which) (all |the |all the )*({KIND} )?"
            r"files( (are there|there are|do we have|exist))?"
            r"( in (this|the) (project|repository|folder))?",
            rf"(list|show|show me) (all |the |all the )*({KIND} )?files in {FOLDER}",
            r"(list|show|show me) what is in (?P<folder>it)",
        ],
        listing,
        {"example": "list the files", "needs": ("run",)},
    ),
    (
        "read every file",
        [
            rf"(read|show me|look at) (every|all|all the|each|the) {KIND} (?P<what>files?)"
            rf"( in {FOLDER})?",
            rf"read (every|all|all the|each|the) (?P<what>files?|logs?) in {FOLDER}",
            rf"read (every|all|all the|each|the) (?P<what>logs?)( of {DAYS})?",
        ],
        _read_every,
        {
            "example": "read every Python file",
            "needs": ("look", "run"),
            "more": (rf"stop after the (?P<stop>{'|'.join(_ORDER[1:])})( one| file| log)?",),
        },
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
)

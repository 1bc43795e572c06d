"""Commands, git and values: what lesson 1 asks for beside files."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any

from learnkit.simulation.stand_in.clauses import ruleset
from learnkit.simulation.stand_in.conversation import Result
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

_TESTS = "python -m pytest -q"
_ABOVE = ("above", "over")


def _run_file(do: Hands, file: str) -> Steps:
    path = do.file(file)
    if not path.endswith((".py", ".sh")):
        raise Failed(f"I don't know how to run {path}")
    result = yield from do.run(f"{'python' if path.endswith('.py') else 'bash'} {quoted(path)}")
    return f"{path} printed: {result.text.strip()}"


def _run_tests(do: Hands) -> Steps:
    result = yield from do.run(_TESTS)
    return f"the tests passed: {_last(result.text)}"


def _run_command(do: Hands, text: str) -> Steps:
    result = yield from do.run(text)
    return f"{text} printed:\n{result.text.strip()}"


def _branch(do: Hands) -> Steps:
    result = yield from do.run("git branch --show-current")
    return f"the branch is {result.text.strip()}"


def _status(do: Hands) -> Steps:
    result = yield from do.run("git status --short --branch")
    return f"git status says:\n{result.text.strip()}"


def _last_commit(do: Hands) -> Steps:
    result = yield from do.run("git log -1 --format='%h %s'")
    return f"the last commit is {result.text.strip()}"


def commit(do: Hands, text: str = "Work of the stand-in") -> Steps:
    """Commit everything, in the worktree that was changed last or in the workspace.

    Args:
        do: what the rules work with.
        text: the commit's message.

    Returns:
        The report.

    Raises:
        Failed: if nothing confirms the commit.
    """
    message = text.replace("'", "'\\''")
    do.place = do.changed
    result = yield from do.run(f"git add -A && git commit -q -m '{message}' && echo committed")
    do.place = ""
    confirm(result, "committed", "the commit")
    return "committed everything" + (f" in the worktree {do.changed}" if do.changed else "")


def _mail_if(do: Hands, word: str, n: str, name: str, to: str) -> Steps:
    tool, usage, line, beyond = yield from _reading(do, word, n, name)
    mail = re.search(r"(\w+) TO TEXT", usage)
    if mail is None:
        raise Failed(f"{tool} writes no mail; it says: {first_line(usage)}")
    if not beyond:
        return f"it says {line!r}, which is not {word} {n}, so there is no mail"
    sent = yield from do.run(f"{tool} {mail[1]} {quoted(to)} {quoted(line)}")
    confirm(sent, "written", "the mail")
    return f"it says {line!r}, which is {word} {n}, so I wrote a mail: {first_line(sent.text)}"


def _is_it(do: Hands, word: str, n: str, name: str) -> Steps:
    _, _, line, beyond = yield from _reading(do, word, n, name)
    yes, is_it = ("yes", "is") if beyond else ("no", "is not")
    return f"{yes}: it says {line!r}, which {is_it} {word} {n}"


def _reading(
    do: Hands, word: str, n: str, name: str
) -> Generator[Ask | Wait, Any, tuple[str, str, str, bool]]:
    """Find the command line tool of the project by its usage line, and ask it for a value.

    Returns the tool, its usage, its answer, and whether the value is beyond the limit.
    """
    found = yield from do.run("find . -name __main__.py -not -path './.*'")
    path = first_line(found.text)
    if "__main__.py" not in path:
        raise Failed("I find no command line tool here that could tell a value")
    tool = "python -m " + path.removeprefix("./").removesuffix("/__main__.py").replace("/", ".")
    usage = yield from _said(do, f"{tool}; echo")
    get = re.search(r"(\w+) STATION", usage)
    if get is None:
        raise Failed(f"{tool} can't do it; it says: {first_line(usage)}")
    line = first_line((yield from _said(do, f"{tool} {get[1]} {quoted(name.lower())}")))
    value = re.search(r"(-?\d+(?:\.\d+)?) ?°", line)
    if value is None:
        raise Failed(f"there is no temperature in {line!r}")
    limit, above = float(n), word in _ABOVE
    beyond = float(value[1]) > limit if above else float(value[1]) < limit
    return tool, usage, line, beyond


def _said(do: Hands, command: str) -> Generator[Ask | Wait, Any, str]:
    result: Result = yield from do.run(command)
    return do.text_of(command, result)


def _which_is(do: Hands, thing: str, which: str) -> Steps:
    values = yield from _values(do, thing)
    high = which.lower() in ("hottest", "warmest", "highest", "largest")
    value, name = max(values) if high else min(values)
    return f"{name} is the {which}: {value:g}, of {', '.join(f'{n} {v:g}' for v, n in values)}"


def _which_are(do: Hands, thing: str, word: str, n: str) -> Steps:
    values = yield from _values(do, thing)
    above = word in _ABOVE
    found = [f"{name} {v:g}" for v, name in values if (v > float(n) if above else v < float(n))]
    return f"{word} {n}: {', '.join(found) or 'none'}, of {len(values)} {thing}"


def _values(do: Hands, thing: str) -> Generator[Ask | Wait, Any, list[tuple[float, str]]]:
    """With a tool that lists things and one that gets a value of one, the value of each."""
    stem = thing.lower().rstrip("s")
    lists = gets = ""
    for name, tool in do.kit.tools.items():
        said = f"{name} {tool.get('description', '')}".lower()
        needed = do.kit.required(name)
        if stem in said and not needed and not do.kit.parameters(name):
            lists = name
        elif len(needed) == 1 and stem in needed[0].lower():
            gets = name
    if not (lists and gets):
        raise Failed(f"there are no tools that list every {stem} and get a value of one")
    listed = yield from do.call(lists)
    names = re.findall(r"[\w-]+", do.text_of(lists, listed))
    (parameter,) = do.kit.required(gets)
    results = yield from do.calls(*((gets, {parameter: name}) for name in names))
    values = []
    for name, result in zip(names, results, strict=True):
        found = re.search(r"-?\d+(?:\.\d+)?", do.text_of(gets, result))
        if found is None:
            raise Failed(f"{gets} gives no number for {name}: {first_line(result.text)}")
        values.append((float(found[0]), name))
    return values


def _not_committed(do: Hands) -> Steps:
    result = yield from do.run("git status --short && git diff HEAD")
    return f"not committed yet:\n{result.text.strip()}"


def _requirements(do: Hands) -> Steps:
    result = yield from do.read("requirements.txt")
    return f"requirements.txt asks for:\n{do.text_of('requirements.txt', result).strip()}"


def tell(do: Hands) -> str:
    """Say again what the last clause has found; the report of it follows anyway.

    Args:
        do: what the rules work with.

    Returns:
        The text of a skill, if one was loaded last; otherwise an empty report.

    Raises:
        Failed: if no call was made yet, or compaction has removed the skill's text.
    """
    if not do.results:
        raise Failed("there is nothing yet that I could tell")
    tool, result = do.results[-1]
    return f"it says:\n{do.text_of(tool, result)}" if tool == "load_skill" else ""


def _last(text: str) -> str:
    return short(next(filter(str.strip, reversed(text.splitlines())), ""))


_BEYOND = r"(?P<word>above|over|below|under) (?P<n>-?\d+(\.\d+)?) ?(°C|degrees|°)?"

RULES = ruleset(
    (
        "run the tests",
        r"(run|execute|start) (the |all |all the )?tests",
        _run_tests,
        {"example": "run the tests", "needs": ("run",)},
    ),
    (
        "run a file",
        "(run|execute|start) (the file )?(?P<file>it|that|[\\w./-]+\\.(py|sh))",
        _run_file,
        {"example": "run hello.py", "needs": ("run",)},
    ),
    (
        "the branch",
        r"(tell me |say )?(which|what) (git )?branch (are we|am i|is this|we are|i am)( on)?"
        r"|what is the (git |current )?branch|show (me )?the (git |current )?branch",
        _branch,
        {"example": "which git branch are we on?", "needs": ("run",)},
    ),
    ("git status", "(show|show me|run|what is) (the )?git status", _status, {"needs": ("run",)}),
    (
        "the last commit",
        "(show|show me|what is|what was) the last commit",
        _last_commit,
        {"needs": ("run",)},
    ),
    (
        "commit",
        "commit( it| everything| them| that| all)?( with the message {text})?",
        commit,
        {"example": "commit everything", "needs": ("run",)},
    ),
    (
        "mail if a value is beyond a limit",
        rf"if it is {_BEYOND} in {{name}},? (mail|write to|send a mail to) (?P<to>[\w.@-]+)",
        _mail_if,
        {"example": "if it is above 30 °C in Beijing, mail me", "needs": ("run",)},
    ),
    (
        "is a value beyond a limit",
        [
            rf"(tell me (whether|if) it is|is it) {_BEYOND} in {{name}}",
            rf"(tell me (whether|if)|is) {{name}} (is )?{_BEYOND}",
        ],
        _is_it,
        {"needs": ("run",)},
    ),
    (
        "compare by two tools",
        r"(tell me )?which (?P<thing>\w+) is the (?P<which>hottest|coldest|warmest|highest|"
        r"lowest|largest|smallest)",
        _which_is,
        {"more": (r"what is its \w+|how \w+ is it",)},
    ),
    ("compare with a limit", rf"(tell me )?which (?P<thing>\w+) are {_BEYOND}", _which_are),
    (
        "what is not committed",
        r"(show|show me|tell me|which files are|what is) (what is )?not committed( yet)?",
        _not_committed,
        {"needs": ("run",)},
    ),
    (
        "what the project needs",
        r"(find out |tell me )?(which|what) packages (this|the) project (needs|uses|requires)",
        _requirements,
        {"needs": ("look",)},
    ),
    (
        "run a command",
        [
            r"(run|execute) (the command )?{quoted:text}",
            r"(run|execute) (the command )?(?P<text>(python|git|ls|cat|echo|grep|find|pwd|wc|sleep|"
            r"head|tail|sort|touch|mkdir|cp|mv|sed|date|true|false|pytest|ruff|bash|sh)\b.*)",
        ],
        _run_command,
        {"example": "run git log", "needs": ("run",)},
    ),
)

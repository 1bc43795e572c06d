"""Checking a learner's code: run it with a limit, and say in the learner's terms what is wrong.

An exception becomes a sentence with the line of the learner's code that raised it. An endless loop
is stopped after a number of lines, not of seconds, so that every machine gives the same verdict.
"""

from __future__ import annotations

import contextlib
import functools
import linecache
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from learnkit.core.text import one_line

if TYPE_CHECKING:
    from learnkit.course.lessons import Exercise

#: Lines of the learner's code that one check may run.
LINES = 50_000
#: Columns of an error's text that are shown.
WIDTH = 240


def judge(check: Callable[[Any], str | None], thing: object, *, lines: int = LINES) -> str | None:
    """Run a check on the learner's object.

    Args:
        check: returns what is wrong, or None.
        thing: the learner's object.
        lines: how many lines of the learner's code may run before it counts as endless.

    Returns:
        What is wrong, or None. Of exceptions, only an interrupt comes through.
    """
    try:
        with _line_limit(lines):
            verdict = check(thing)
    except _Endless as error:
        return f"your code does not come to an end: it was stopped{_where(error.__traceback__)}"
    except (Exception, SystemExit) as error:
        return f"{_said(error)}{_where(error.__traceback__)}"
    return verdict if verdict is None else str(verdict)


def check_and_hint(
    number: int, exercise: Exercise, on_pass: Callable[[], object] = lambda: None
) -> tuple[Callable[[Any], None], Callable[[], None]]:
    """Make the two functions that a learner calls below an exercise.

    Args:
        number: from 1.
        exercise: its check and its hints.
        on_pass: called each time that the learner's object is right.

    Returns:
        ``check(thing)``, which prints ✓ or what is wrong and does not raise, and ``hint()``, which
        prints the next of three hints.
    """
    given = 0

    def check(thing: Any) -> None:
        wrong = judge(exercise.check, thing)
        print(f"not yet: {wrong}" if wrong else f"✓ exercise {number}: {exercise.title}")
        if not wrong:
            on_pass()

    def hint() -> None:
        nonlocal given
        if given < len(exercise.hints):
            given += 1
            print(f"hint {given} of {len(exercise.hints)}: {exercise.hints[given - 1]}")
        else:
            print("Those were the hints; the solution is folded below this exercise.")

    check.__name__, hint.__name__ = f"check_{number}", f"hint_{number}"
    return check, hint


class _Endless(BaseException):
    """The learner's code ran too many lines; no Exception, so that their code does not catch it."""


@contextlib.contextmanager
def _line_limit(lines: int) -> Iterator[None]:
    """Stop this thread once it has run more than ``lines`` lines of the learner's code."""
    left = lines

    def on_call(frame: FrameType, event: str, value: object) -> Any:
        return on_line if _learners(frame.f_code.co_filename) else None

    def on_line(frame: FrameType, event: str, value: object) -> Any:
        nonlocal left
        left -= event == "line"
        if left < 0:
            raise _Endless
        return on_line

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        yield
    finally:
        sys.settrace(before)  # of a debugger or a coverage tool


@functools.cache
def _learners(filename: str) -> bool:
    """Whether code is the learner's: neither ours nor Python's nor a library's."""
    paths = sysconfig.get_paths()
    others = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    # What dataclasses and attrs generate is called <string> and <attrs …>.
    others += [str(Path(__file__).resolve().parents[1]), "<frozen ", "<string>", "<attrs "]
    libraries = ("site-packages", "dist-packages")
    return not filename.startswith(tuple(others)) and not any(n in filename for n in libraries)


def _said(error: BaseException) -> str:
    text = one_line(str(error), WIDTH)
    return f"it raised {type(error).__name__}{': ' if text else ''}{text}"


def _where(traceback: TracebackType | None) -> str:
    """The last line of the learner's own code that the error came through."""
    found = ""
    while traceback is not None:
        name, number = traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
        if _learners(name):
            source = one_line(linecache.getline(name, number), WIDTH)
            found = f", in line {number} of your code" + (f": {source}" if source else "")
        traceback = traceback.tb_next
    return found

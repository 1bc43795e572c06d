"""Checking a learner's code: run it with a limit, and say in the learner's terms what is wrong.

An exception of the learner's code becomes a sentence with its line; one that the check itself runs
into becomes a sentence about what the code returned. An endless loop is stopped, wherever it is: in
a function, in a tool that a loop of ours calls, or in a thread.
"""

from __future__ import annotations

import ctypes
import functools
import linecache
import re
import signal
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any, TypeVar

from learnkit.course.content import Exercise
from learnkit.course.display.card import show
from learnkit.course.display.question_cards import exercise_card
from learnkit.events.text import one_line

T = TypeVar("T")

#: Seconds of computing with the learner's code at work, seconds that their own lines may take, with
#: what they wait for, and seconds in all, that one check may take. The longest one of the course
#: computes for 0.4 s.
WORK, OWN, SECONDS = 5.0, 3.0, 40.0
#: Seconds between two looks at the clock, and between two tries to end a loop that catches all.
_LOOK, _AGAIN = 0.25, 0.05
#: Seconds in which a thread of the learner's has to end after its check, and once it is stopped.
_LEFT, _GRACE = 0.5, 2.0
#: How the file name of what ``agent.py`` has from the lessons before begins.
EARLIER = "agent.py, lessons to "
#: Columns of an error's text, and of a value, that are shown.
WIDTH, VALUE = 240, 60


def judge(check: Callable[[Any], str | None], thing: object) -> str | None:
    """Run a check on the learner's object; one that waits for many processes has limits its own."""
    code = getattr(check, "__code__", None)  # the check may be in the learner's file, as in a test
    limit = _Limit(getattr(check, "own", OWN), getattr(check, "seconds", SECONDS), code)
    verdict, where = None, ""
    try:
        with limit:
            verdict = check(thing)
    except _Endless as error:
        first: BaseException = error  # a handler on its way out, of the harness, raises it anew
        while isinstance(first.__context__, _Endless):
            first = first.__context__
        where = _where(first.__traceback__, code)
    except (Exception, SystemExit) as error:
        if not limit.over:  # a loop of ours may have made this error of the other one
            return _capitalised(_blamed(error, thing, limit.returned, code))
    if limit.over:  # also if it was caught, or raised in a thread
        return f"Your code does not come to an end: it was stopped{where}"
    if verdict is None:
        return None
    said = _capitalised(str(verdict))
    return said if said.endswith((".", "!", "?", '."')) else f"{said}."


def checked(
    number: int, exercise: Exercise, on_pass: Callable[[], object] = lambda: None
) -> Callable[[T], T]:
    """Return a decorator that tries what it decorates, and shows the verdict above the hints."""

    def check(thing: T) -> T:
        wrong = judge(exercise.check, thing)
        if not wrong:
            on_pass()
        verdict = f"not yet: {wrong}" if wrong else f"✓ exercise {number}: {exercise.title}"
        show(exercise_card(exercise, verdict))
        return thing

    return check


class _Endless(BaseException):
    """The learner's code ran for too long; no Exception, so that their code does not catch it."""


class _Limit:
    """Stops the learner's code in this thread and in those that it starts.

    An alarm looks at the clock, and at which code is running. Once the time is up it raises in
    every thread that is in the learner's code, again and again, and so does each line, for code
    that catches everything.
    It doesn't raise in code of ours that the learner's has not called: that removes folders, say.

    Attributes:
        over: whether the limit is reached.
        returned: name and value of the learner's function that returned last to other code.
    """

    def __init__(self, own: float, seconds: float, check: CodeType | None) -> None:
        self.over = False
        self.returned: tuple[str, object] | None = None
        self._work, self._own, self._seconds, self._check = WORK, own, seconds, check
        self._raised: FrameType | None = None

    def __enter__(self) -> None:
        self._computed, self._before = time.process_time(), {*sys._current_frames()}
        self._tracer, self._hook = sys.gettrace(), threading.excepthook
        main = threading.current_thread() is threading.main_thread()
        self._alarm = main and hasattr(signal, "setitimer")
        if self._alarm:
            self._handler = signal.signal(signal.SIGALRM, self._look)
            signal.setitimer(signal.ITIMER_REAL, _LOOK, _LOOK)
        threading.excepthook = self._failed
        sys.settrace(self._on_call)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._tracer)  # of a debugger or a coverage tool
        if self._alarm:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._handler)
        self._raised, began = None, time.monotonic()
        while self._threads() and (late := time.monotonic() - began) < _LEFT + _GRACE:
            if self.over or late > _LEFT:
                self.over = True
                self._stop_threads()
            time.sleep(_AGAIN)
        threading.excepthook = self._hook

    def _failed(self, args: Any) -> None:
        if args.exc_type is not _Endless:
            self._hook(args)

    def _on_call(self, frame: FrameType, event: str, value: object) -> Any:
        """Trace the learner's functions: what they return; and, once it is over, each line."""
        if not self._is_learners(frame):
            return None
        frame.f_trace_lines = self.over
        return self._on_event

    def _on_event(self, frame: FrameType, event: str, value: object) -> Any:
        if event == "line" and self.over:
            raise _Endless
        if event == "exception":
            self._raised = frame
        is_last = event == "return" and not self._is_learners(frame.f_back)
        if is_last and frame is not self._raised:
            self.returned = _name(frame.f_code), value
        return self._on_event

    def _look(self, number: int, frame: FrameType | None) -> None:
        """Handle the alarm, in the main thread."""
        passed = _AGAIN if self.over else _LOOK  # and not what a clock shows: a machine may stall
        computed, before = time.process_time(), self._computed
        stack = [*_stack(frame)]
        theirs = [one for one in stack if self._is_learners(one)]
        self._computed, self._seconds = computed, self._seconds - passed
        self._work -= (computed - before) * bool(theirs)
        innermost = next((one for one in stack if not _pythons(one.f_code.co_filename)), None)
        self._own -= passed * self._is_learners(innermost)
        if not self.over and min(self._work, self._own, self._seconds) < 0:
            self.over = True
            signal.setitimer(signal.ITIMER_REAL, _AGAIN, _AGAIN)
        if not self.over:
            return
        self._stop_threads()
        for one in theirs:  # so that the next line raises too, if this is caught
            one.f_trace, one.f_trace_lines = self._on_event, True
        sys.settrace(self._on_call)
        if theirs or self._seconds < 0:
            self._seconds = max(self._seconds, _GRACE)  # for what removes folders
            raise _Endless

    def _is_learners(self, frame: FrameType | None) -> bool:
        if frame is None or frame.f_code is self._check:
            return False
        return _learners(frame.f_code.co_filename)

    def _threads(self) -> list[int]:
        """The threads that have begun since, are in the learner's code, and wait for nothing."""
        every = sys._current_frames().items()
        return [id for id, one in every if id not in self._before and self._is_learners(one)]

    def _stop_threads(self) -> None:
        for id in self._threads():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(id), ctypes.py_object(_Endless)
            )


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of a check, the innermost first; not those of the cell that calls it."""
    while frame is not None and frame.f_code is not judge.__code__:
        yield frame
        frame = frame.f_back


@functools.cache
def _pythons(filename: str) -> bool:
    """Whether code is of Python's own library, in which the learner's sleeps and waits."""
    return filename.startswith(sysconfig.get_path("stdlib")) and "-packages" not in filename


@functools.cache
def _learners(filename: str) -> bool:
    """Whether code is the learner's: neither ours nor Python's nor a library's."""
    paths = sysconfig.get_paths()
    others = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    # What dataclasses and attrs generate is called <string> and <attrs …>.
    others += [str(Path(__file__).resolve().parents[1]), "<frozen ", "<string>", "<attrs "]
    libraries = ("site-packages", "dist-packages")
    return not filename.startswith(tuple(others)) and not any(n in filename for n in libraries)


def _name(code: CodeType) -> str:
    return getattr(code, "co_qualname", code.co_name).rpartition("<locals>.")[2]


def _blamed(
    error: BaseException,
    thing: object,
    returned: tuple[str, object] | None,
    check: CodeType | None,
) -> str:
    """What a learner can do something about, of an exception."""
    from learnkit.clients.scripted import ScriptEnded

    if isinstance(error, ScriptEnded):
        return "the loop does not end where it should: it asks the model once more than expected"
    if where := _where(error.__traceback__, check):
        notes = "".join(f", {note}" for note in getattr(error, "__notes__", []))
        return f"{_said(error)}{where}{notes}"
    if isinstance(thing, ModuleType) and isinstance(error, AttributeError) and error.obj is thing:
        return f"{thing.__name__}.py has no `{error.name}`: run the cell that defines it"
    if returned is not None:
        name, value = returned
        return (
            f"`{name}` returned {_shown(value)}, and the check can't use that: look again at what "
            "the exercise asks for"
        )
    said = f"this is {_shown(thing)}, and the check can't use it"
    if isinstance(error, TypeError) and "argument" in str(error):
        said += f" ({one_line(str(error), WIDTH)})"
    return f"{said}: look again at the names and the arguments that the exercise asks for"


def _capitalised(text: str) -> str:
    """A text with a capital letter at its beginning, unless that is a name or code."""
    word = re.match(r"[a-z]+(?=[ ,:])", text)
    return text if word is None else text[:1].upper() + text[1:]


def _shown(value: object) -> str:
    if value is None or value is ...:
        return repr(value)
    try:
        text = one_line(repr(value), VALUE)
    except Exception:
        text = "something that can't be shown"
    return f"{text} (of type {type(value).__name__})"


def _said(error: BaseException) -> str:
    text = one_line(str(error), WIDTH)
    return f"it raised {type(error).__name__}{': ' if text else ''}{text}"


def _where(traceback: TracebackType | None, check: CodeType | None) -> str:
    """The last line that the error came through, of a cell, or else of the lessons before."""
    found, typed = "", False
    while traceback is not None:
        name, number = traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
        own = not name.startswith(EARLIER)
        if _learners(name) and traceback.tb_frame.f_code is not check and typed <= own:
            typed = own
            source = one_line(linecache.getline(name, number), WIDTH)
            found = f", in line {number} of your code" + (f": {source}" if source else "")
        traceback = traceback.tb_next
    return found

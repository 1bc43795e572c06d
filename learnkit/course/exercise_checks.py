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
from typing import TYPE_CHECKING, Any, TypeVar

from learnkit.events.text import one_line

if TYPE_CHECKING:
    from learnkit.course.content import Exercise

T = TypeVar("T")

#: Lines of the learner's code that one check may run. They come first, and not the seconds, so that
#: most endless loops end alike on every machine.
LINES = 50_000
#: Seconds of computing while the learner's code is at work, and seconds in all, that one check may
#: take. The longest one of the course computes for 0.4 s, and on a busy machine these 3 s take
#: about 10 s. Imports aren't counted: the first one of the SDK takes 4.5 s while lines are traced.
WORK, SECONDS = 3.0, 40.0
#: Seconds that the learner's own lines may take, with what they wait for: Python 3.11 counts no
#: lines of `while True: pass`.
OWN = 5.0
#: Seconds between two looks at the clock, and between two tries to end a loop that catches all.
_LOOK, _AGAIN = 0.25, 0.05
#: Seconds in which a thread of the learner's has to end after its check, and once it is stopped.
_LEFT, _GRACE = 0.5, 2.0
#: How the file name of what ``agent.py`` has from the lessons before begins.
EARLIER = "agent.py, lessons to "
#: Columns of an error's text, and of a value, that are shown.
WIDTH, VALUE = 240, 60


def judge(
    check: Callable[[Any], str | None],
    thing: object,
    *,
    lines: int = LINES,
    work: float = WORK,
    seconds: float = SECONDS,
    own: float = OWN,
) -> str | None:
    """Run a check on the learner's object."""
    code = getattr(check, "__code__", None)  # the check may be in the learner's file, as in a test
    limit = _Limit(lines, work, getattr(check, "seconds", seconds), own, code)
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


class ExerciseCheck:
    """Checks the function or class that it decorates, and shows the verdict above the hints."""

    def __init__(
        self, number: int, exercise: Exercise, on_pass: Callable[[], object] = lambda: None
    ) -> None:
        self._number, self._exercise, self._on_pass = number, exercise, on_pass

    def __call__(self, thing: T) -> T:
        from learnkit.course.display.card import show
        from learnkit.course.display.question_cards import exercise_card

        show(exercise_card(self._exercise, self._verdict(thing)))
        return thing

    def _verdict(self, thing: Any) -> str:
        wrong = judge(self._exercise.check, thing)
        if wrong:
            return f"not yet: {wrong}"
        self._on_pass()
        return f"✓ exercise {self._number}: {self._exercise.title}"


class _Endless(BaseException):
    """The learner's code ran for too long; no Exception, so that their code does not catch it."""


class _Limit:
    """Stops the learner's code in this thread and in those that it starts.

    Tracing counts lines, and Python ends it with the first exception that it raises. So an alarm
    goes on raising, and begins to trace anew, for code that catches everything. It doesn't raise in
    code of ours that the learner's has not called: that removes folders, say.

    Attributes:
        over: whether the limit is reached.
        returned: name and value of the learner's function that returned last to other code.
    """

    def __init__(
        self, lines: int, work: float, seconds: float, own: float, check: CodeType | None
    ) -> None:
        self.over = False
        self.returned: tuple[str, object] | None = None
        self._left, self._work, self._seconds, self._own = lines, work, seconds, own
        self._check = check
        self._ran = False  # a line of the learner's, since the last look
        self._raised: FrameType | None = None
        self._threads: set[threading.Thread] = set()

    def __enter__(self) -> None:
        self._computed = time.process_time()
        main = threading.current_thread() is threading.main_thread()
        self._alarm = main and hasattr(signal, "setitimer")
        self._tracers = sys.gettrace(), threading.gettrace()
        if self._alarm:
            self._handler = signal.signal(signal.SIGALRM, self._look)
            signal.setitimer(signal.ITIMER_REAL, _LOOK)
        self._hook = threading.excepthook
        threading.excepthook = self._failed
        threading.settrace(self._in_thread)
        sys.settrace(self._on_call)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._tracers[0])  # of a debugger or a coverage tool
        if self._alarm:
            self._alarm = False  # one that is on its way sets no other one
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._handler)
        self._raised = None
        threading.settrace(self._tracers[1])
        self._end_threads()
        threading.excepthook = self._hook

    def _failed(self, args: Any) -> None:
        if args.exc_type is not _Endless:
            self._hook(args)

    def _in_thread(self, frame: FrameType, event: str, value: object) -> Any:
        self._threads.add(threading.current_thread())
        sys.settrace(self._on_call)
        return self._on_call(frame, event, value)

    def _on_call(self, frame: FrameType, event: str, value: object) -> Any:
        return self._on_line if self._is_learners(frame) else None

    def _on_line(self, frame: FrameType, event: str, value: object) -> Any:
        if event == "line":
            self._left, self._ran = self._left - 1, True
            if self.over or self._left < 0:
                self._stop()
                raise _Endless
        elif event == "exception":
            self._raised = frame
        elif (
            event == "return" and frame is not self._raised and not self._is_learners(frame.f_back)
        ):
            self.returned = _name(frame.f_code), value
        return self._on_line

    def _look(self, number: int, frame: FrameType | None) -> None:
        """Handle the alarm, in the main thread; the next one comes when this is done."""
        try:
            self._count(frame)
        finally:
            if self._alarm:
                signal.setitimer(signal.ITIMER_REAL, _AGAIN if self.over else _LOOK)

    def _count(self, frame: FrameType | None) -> None:
        computed, passed = time.process_time(), _AGAIN if self.over else _LOOK
        theirs = [one for one in _stack(frame) if self._is_learners(one)]
        if (theirs or self._ran) and not _imports(frame):
            self._work -= computed - self._computed
        # Not what a clock shows: a machine that stalls looks once.
        self._seconds -= passed
        innermost = (one for one in _stack(frame) if not _pythons(one.f_code.co_filename))
        if next(innermost, None) in theirs:
            self._own -= passed
        self._computed, self._ran = computed, False
        if min(self._work, self._own, self._seconds) < 0:
            self._stop()
        if not self.over:
            return
        for one in theirs:  # so that the next line raises too, if this is caught
            one.f_trace = self._on_line
        sys.settrace(self._on_call)
        if theirs or self._seconds < 0:
            self._seconds = max(self._seconds, _GRACE)  # for what removes folders
            raise _Endless

    def _stop(self) -> None:
        main = threading.current_thread() is threading.main_thread()
        if main and self._alarm and not self.over:
            signal.setitimer(signal.ITIMER_REAL, _AGAIN)
        self.over = True

    def _is_learners(self, frame: FrameType | None) -> bool:
        if frame is None or frame.f_code is self._check:
            return False
        return _learners(frame.f_code.co_filename)

    def _end_threads(self) -> None:
        """Raise in each thread that still runs the learner's code, until it ends."""
        began = time.monotonic()
        while self._running() and (late := time.monotonic() - began) < _GRACE:
            if self.over or late > _LEFT:
                self.over = True  # a thread that is traced ends by this, and the others below
                time.sleep(2 * _AGAIN)
                for one in self._running():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(
                        ctypes.c_ulong(one), ctypes.py_object(_Endless)
                    )
            time.sleep(_AGAIN / 5)

    def _running(self) -> list[int]:
        """The threads that are in the learner's code, and wait for nothing."""
        found = []
        for one in self._threads:
            frame = sys._current_frames().get(one.ident or 0)
            while frame is not None and frame.f_code.co_filename == __file__:  # it is traced
                frame = frame.f_back
            # Not is_alive: Python takes a thread for ended if an alarm interrupts its join.
            if one.ident and self._is_learners(frame):
                found.append(one.ident)
        return found


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of a check, the innermost first; not those of the cell that calls it."""
    while frame is not None and frame.f_code is not judge.__code__:
        yield frame
        frame = frame.f_back


def _imports(frame: FrameType | None) -> bool:
    importing = "<frozen importlib._bootstrap>"
    return any(one.f_code.co_filename == importing for one in _stack(frame))


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
    if returned is not None:
        name, value = returned
        return (
            f"`{name}` returned {_shown(value)}, and the check can't use that: look again at what "
            "the exercise asks for"
        )
    if isinstance(thing, ModuleType) and isinstance(error, AttributeError) and error.obj is thing:
        return f"{thing.__name__}.py has no `{error.name}`: run the cell that defines it"
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

"""Checking a learner's code: run it on a leash, and say what it did wrong in terms they can use.

Whatever the code raises becomes a sentence with the line where it happened, and a loop that does
not end is cut after a number of lines, not of seconds, so that the verdict is the same on every
machine. A lesson's checks use the helpers below: a scripted model, and a throw-away folder.
"""

from __future__ import annotations

import contextlib
import functools
import linecache
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from learnkit.views.drawing.text import content_text, one_line

if TYPE_CHECKING:
    from learnkit.clients.scripted import Script
    from learnkit.clients.transport import Client
    from learnkit.core.agent import Agent, Outcome
    from learnkit.core.mechanism import Mechanism

#: Lines of the learner's code that one check may run.
LINES = 50_000
#: Columns of an error's text that are shown.
WIDTH = 240


def judge(check: Callable[[Any], str | None], thing: object, *, lines: int = LINES) -> str | None:
    """Let a check look at the learner's object.

    Args:
        check: returns what is wrong, or None.
        thing: the learner's object.
        lines: how many lines of the learner's code may run, before it counts as endless.

    Returns:
        What is wrong, or None. Only an interrupt, or the end of the interpreter, gets out.
    """
    try:
        with _leash(lines):
            verdict = check(thing)
    except _Endless as error:
        return f"your code does not come to an end: it was stopped{_where(error.__traceback__)}"
    except (Exception, SystemExit) as error:
        return f"{_said(error)}{_where(error.__traceback__)}"
    return verdict if verdict is None else str(verdict)


@dataclass(slots=True)
class Trial:
    """What an agent did with a scripted model.

    Attributes:
        agent: after the run.
        outcome: how the run ended.
        requests: what the model was sent, as it was at that time.
    """

    agent: Agent
    outcome: Outcome
    requests: list[dict[str, Any]]

    @property
    def results(self) -> list[str]:
        """The text of every ``tool_result``, in order."""
        return [content_text(block.get("content")) for block in self._blocks("tool_result")]

    @property
    def errors(self) -> list[str]:
        """The text of every ``tool_result`` that is marked as an error, in order."""
        failed = (block for block in self._blocks("tool_result") if block.get("is_error"))
        return [content_text(block.get("content")) for block in failed]

    def _blocks(self, kind: str) -> Iterator[dict[str, Any]]:
        for message in self.agent.messages:
            if isinstance(message["content"], list):
                yield from (block for block in message["content"] if block["type"] == kind)


def run_with(
    script: Script, *mechanisms: Mechanism, prompt: str = "Go.", system: str = "", turns: int = 8
) -> Trial:
    """Run an agent with a scripted model, on a virtual clock.

    Args:
        script: as for :func:`learnkit.scripted`.
        mechanisms: the learner's, and those around it.
        prompt: what it is asked.
        system: its system prompt.
        turns: how often it may ask the model; it then ends with the reason ``turn_limit``.

    Raises:
        Exception: what a mechanism raises, or a script that is too short.
    """
    from learnkit.core.agent import Agent

    client, requests = listening(script)
    with client.clock:
        agent = Agent(client, mechanisms, system=system, max_turns=turns)
        return Trial(agent, agent.run(prompt), requests)


def listening(script: Script) -> tuple[Client, list[dict[str, Any]]]:
    """A scripted client, and the growing list of the requests that it gets.

    For code that asks the model itself. A loop that does not stop runs into the script's end,
    which raises.
    """
    from learnkit.clients.connect import scripted
    from learnkit.clients.scripted import Scripted
    from learnkit.core.events import LANE

    source, requests = Scripted(script), list[dict[str, Any]]()

    def answer(request: dict[str, Any]) -> Any:
        requests.append(deepcopy(request))
        return source.answer(request, LANE.get())

    return scripted(answer), requests


@contextlib.contextmanager
def folder(files: Mapping[str, str] | None = None) -> Iterator[Path]:
    """A throw-away folder with these files (path -> text), removed when the block ends."""
    with tempfile.TemporaryDirectory(prefix="learnkit-", ignore_cleanup_errors=True) as name:
        for path, text in (files or {}).items():
            target = Path(name) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        yield Path(name)


class _Endless(BaseException):
    """The learner's code ran too many lines; not an Exception, so that it is not caught there."""


@contextlib.contextmanager
def _leash(lines: int) -> Iterator[None]:
    """Count the lines of the learner's code that this thread runs, and stop it at ``lines``."""
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
        sys.settrace(before)  # a debugger or a coverage tool goes on


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

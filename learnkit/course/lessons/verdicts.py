"""What the checks of several lessons share: a table of cases, and a place to try ``agent.py`` in.

A check only says what a learner may well get wrong. What it can't use at all, such as None in the
place of a list, raises an error in it, and :func:`learnkit.course.exercise_checks.judge` says so.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.agent_file.process import Terminal
from learnkit.course.agent_file.settings import with_settings as with_settings
from learnkit.course.agent_file.settings import working_in
from learnkit.course.content import Verdict
from learnkit.events.text import one_line

#: What a case is, in words, the arguments of the function, and its right result.
Cases = Sequence[tuple[str, tuple[Any, ...], Any]]


def short(value: Any) -> str:
    """Return what a learner's code returned, in few characters."""
    return one_line(repr(value), 60)


def first_wrong(
    function: Callable[..., Any],
    cases: Cases,
    shape: Callable[[Any], Any] = lambda found: found,
    says: str = "your function returned {}. It should return {}",
) -> Verdict:
    """Call a function for each case, and say the first result that is wrong.

    ``shape`` makes two results equal that are as good as each other; ``says`` takes what was found
    and what is right.
    """
    for what, given, right in cases:
        found = function(*deepcopy(given))
        if shape(found) != right:
            return f"for {what}, {says.format(short(found), repr(right))}"
    return None


@contextmanager
def in_a_folder(agent: Any, **own: Any) -> Iterator[Path]:
    """Let the module work in an empty folder, with other values, in a block."""
    with tempfile.TemporaryDirectory(prefix="learnkit-") as name:
        folder = Path(name).resolve()
        with working_in(agent, folder, **own):
            yield folder


@contextmanager
def asking(agent: Any, script: Any, **own: Any) -> Iterator[Path]:
    """The same, and a script or a function answers for the model."""
    with (
        closing(lk.scripted(script)) as client,
        in_a_folder(agent, client=client, MODEL=client.model, **own) as folder,
    ):
        yield folder


@contextmanager
def in_processes(
    agent: Any, answer: Callable[[Any], Any] = lambda _: lk.say(".")
) -> Iterator[Terminal]:
    """Run ``agent.py`` as processes in an empty folder, which is the module's as well."""
    with in_a_folder(agent) as folder, Terminal(str(agent.__source__), answer, folder) as terminal:
        yield terminal

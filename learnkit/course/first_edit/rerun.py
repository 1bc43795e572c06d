"""Run a cell again with other replies, and return how it ended instead of showing it in red."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from learnkit.clients.scripted import Source
from learnkit.course.first_edit.answers import answering
from learnkit.course.games.be_the_model.seat import Paused
from learnkit.course.scenario import relative
from learnkit.errors import described
from learnkit.events.text import one_line

#: Columns of an error that are shown.
WIDTH = 240


def rerun(
    shell: Any, text: str, rest: Source, place: AbstractContextManager[Any]
) -> BaseException | None:
    """Run a cell again, with its output in a place of its own."""
    before = shell.custom_exceptions, shell.CustomTB
    shell.set_custom_exc((BaseException,), lambda *_, **__: None)
    try:
        with answering(rest), place:
            result = shell.run_cell(text, store_history=False)
    finally:
        shell.custom_exceptions, shell.CustomTB = before
    error: BaseException | None = result.error_before_exec or result.error_in_exec
    return error


def ending(error: BaseException | None) -> str:
    """Return in a sentence how a cell ended that ran again; empty if it came to its end."""
    if error is None or isinstance(error, Paused):
        return ""
    if isinstance(error, KeyboardInterrupt):
        return "You interrupted it; nothing of it runs any more."
    if isinstance(error, AssertionError):
        return (
            "At its end the cell checks something that holds for the recorded run, and not for "
            "this one."
        )
    return f"Then the cell stopped: {one_line(relative(described(error)), WIDTH)}"

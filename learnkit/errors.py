"""The errors learnkit raises on purpose.

Each message says what was wrong, with which value, and what to do about it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class LearnkitError(Exception):
    """Base class of every error that learnkit raises on purpose."""


class UsageError(LearnkitError, ValueError):
    """The caller passed something that cannot work; the message says what would."""


class ToolError(LearnkitError):
    """A tool could not do its work; the text goes to the model as an error result."""


class ArgumentsError(ToolError):
    """A call's arguments do not fit the tool's schema; the text names the argument."""


class Halted(LearnkitError):
    """A request waits for a person, and no agent gets a reply before it does: nothing has failed.

    Attributes:
        lane: the agent whose request waits.
    """

    lane: str = ""


@contextlib.contextmanager
def extra(name: str) -> Iterator[None]:
    """Import in this block what only an extra brings."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{error.name} is not installed; get it with: pip install 'learnkit[{name}]'"
        ) from error


def lab_extra() -> contextlib.AbstractContextManager[None]:
    """Import in a block what only the extra ``lab`` brings, notebooks and widgets.

    See :func:`extra`.
    """
    return extra("lab")


def text_of(error: BaseException) -> str:
    """Return what an exception says, of a group its first one, also when ``str`` fails."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    try:
        match getattr(error, "body", None):
            case {"error": {"message": str(message)}}:
                return f"{getattr(error, 'status_code', 'error')}, {message}"
        return str(error)
    except Exception:
        return "(its text cannot be shown)"


def described(error: BaseException) -> str:
    """Return the type of an exception, and what it says."""
    return f"{type(error).__name__}: {text_of(error)}"

"""Showing source: the package's own code, or the learner's, with its module.

In JupyterLab it is Markdown, which the notebook highlights in the colours of its theme. In static
form it is plain text.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from learnkit.course.display.card import Card
from learnkit.errors import UsageError
from learnkit.events.text import count
from learnkit.views.drawing.text import esc


def show_source(thing: Any, *, only: Sequence[str] = ()) -> Card:
    """Return the source of some code as a card."""
    thing = _code_of(thing)
    try:
        lines, first = inspect.getsourcelines(thing)
    except (OSError, TypeError) as error:
        name = getattr(thing, "__qualname__", repr(thing))
        raise UsageError(
            f"there is no Python source of {name} to show ({error}); "
            "give a function, method or class that a module defines"
        ) from None
    name = getattr(thing, "__qualname__", thing.__name__)
    module = thing.__name__ if inspect.ismodule(thing) else str(thing.__module__)
    place = "your own code" if module == "__main__" else module
    line = "" if module == "__main__" else f":{max(first, 1)}"  # changes with every edit above it
    source = inspect.cleandoc("\n" + "".join(lines))
    long = count(source.count("\n") + 1, "line")
    code = f"<pre><code>{esc(source)}</code></pre>"
    ticks = max(map(len, re.findall(r"`+", source)), default=0)
    fence = "`" * max(3, ticks + 1)
    markdown = f"{fence}python\n{source}\n{fence}"
    if only:
        part = _excerpt(source, only)
        folded = f"<details><summary>all {long}</summary>"
        code = f"<pre><code>{esc(part)}</code></pre>{folded}{code}</details>"
        markdown = f"{fence}python\n{part}\n{fence}\n\n{folded}\n\n{markdown}\n\n</details>"
        long = f"{len(only)} of {long}"
    html = f"<p><strong>{esc(name)}</strong> · <code>{esc(place)}</code> · {long}</p>"

    def live() -> dict[str, str]:
        return {"text/markdown": f"**{name}** · `{place}{line}` · {long}\n\n{markdown}"}

    return Card(html + code, f"{name}, {place}, {long}", live)


def _excerpt(source: str, parts: Sequence[str]) -> str:
    """The lines of a source that hold the parts, in order; dots for what is between."""
    shown, wanted = list[str](), list(parts)
    for line in source.splitlines():
        if wanted and wanted[0] in line:
            shown.append(line)
            del wanted[0]
        elif line.strip() and not (shown and shown[-1].endswith("…")):
            shown.append(f"{line[: len(line) - len(line.lstrip())]}…")
    if wanted:
        raise UsageError(f"there is no line with {wanted[0]!r}; give parts of lines, in order")
    return "\n".join(shown)


def _code_of(thing: Any) -> Any:
    """The object that has source: the class of an instance, the function of a property."""
    if isinstance(thing, property):
        thing = thing.fget
    elif isinstance(thing, cached_property):
        thing = thing.func
    thing = inspect.unwrap(thing)
    if inspect.ismodule(thing) or inspect.isclass(thing) or inspect.isroutine(thing):
        return thing
    return type(thing)

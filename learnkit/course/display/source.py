"""Showing source: the package's own code, or the learner's, with its module.

In JupyterLab it is Markdown, which the notebook highlights in the colours of its theme. In static
form it is plain text.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from learnkit.core.text import count
from learnkit.course.display.card import Card
from learnkit.errors import UsageError
from learnkit.views.drawing.text import esc


def show_source(thing: Any) -> Card:
    """Return the source of some code as a card.

    Args:
        thing: a module, class, function, method, property or tool; or an instance of a class.

    Raises:
        UsageError: if there is no Python source to show.
    """
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
    html = (
        f"<p><strong>{esc(name)}</strong> · <code>{esc(place)}</code> · {long}</p>"
        f"<pre><code>{esc(source)}</code></pre>"
    )

    def live() -> dict[str, str]:
        ticks = max(map(len, re.findall(r"`+", source)), default=0)
        fence = "`" * max(3, ticks + 1)
        heading = f"**{name}** · `{place}{line}` · {long}"
        return {"text/markdown": f"{heading}\n\n{fence}python\n{source}\n{fence}"}

    return Card(html, f"{name}, {place}, {long}", live)


def _code_of(thing: Any) -> Any:
    """The object that has source: the class of an instance, the function of a property."""
    if isinstance(thing, property):
        thing = thing.fget
    thing = inspect.unwrap(thing)
    if inspect.ismodule(thing) or inspect.isclass(thing) or inspect.isroutine(thing):
        return thing
    return type(thing)

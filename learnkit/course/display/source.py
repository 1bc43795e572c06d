"""Showing source: the package's own code, beside the learner's, with where it stands.

In JupyterLab it is Markdown, which the notebook highlights in the colours of its own theme. In
static form it is plain text.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from learnkit.course.display.card import Card
from learnkit.errors import UsageError
from learnkit.views.drawing.text import count, esc


def show_source(thing: Any) -> Card:
    """The source of a module, class, function, method, property or tool.

    An instance stands for its class.

    Raises:
        UsageError: if there is no Python source to show.
    """
    thing = _written(thing)
    try:
        lines, first = inspect.getsourcelines(thing)
    except (OSError, TypeError) as error:
        name = getattr(thing, "__qualname__", repr(thing))
        raise UsageError(
            f"there is no Python source of {name} to show ({error}); "
            "give a function, method or class that is written in a module"
        ) from None
    name = getattr(thing, "__qualname__", thing.__name__)
    module = thing.__name__ if inspect.ismodule(thing) else str(thing.__module__)
    place = "your own code" if module == "__main__" else module
    line = "" if module == "__main__" else f":{max(first, 1)}"  # moves with every edit above it
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


def _written(thing: Any) -> Any:
    """What the source belongs to."""
    if isinstance(thing, property):
        thing = thing.fget
    thing = inspect.unwrap(thing)
    if inspect.ismodule(thing) or inspect.isclass(thing) or inspect.isroutine(thing):
        return thing
    return type(thing)

"""What ``learnkit diff`` prints: what lessons add to the harness, for any width of a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from learnkit.course.additions import Addition
from learnkit.course.display.loop import LESSONS
from learnkit.events.text import count

#: Columns of the names at the left.
_NAMES = 8
#: A longer text of a prompt is cut; ``--json`` has all of it.
_PROMPT = 400


def as_text(additions: Sequence[Addition], width: int) -> str:
    """Return what lessons add, one below the other."""
    width = max(30, min(width, 100))
    blocks = ["\n".join(_block(one, width)) for one in additions]
    if len(additions) > 1:
        tools = sum(len(one.tools) for one in additions)
        events = sum(len(one.events) for one in additions)
        tokens, lines = sum(one.tokens for one in additions), sum(one.lines for one in additions)
        whole = (
            f"Together: {count(tools, 'tool')}, {count(events, 'type')} of events, "
            f"≈{tokens:,} tokens in each request, {lines:,} lines of code. The loop did not change."
        )
        blocks.append("\n".join(textwrap.wrap(whole, width)))
    return "\n\n".join(blocks)


def _block(one: Addition, width: int) -> Iterator[str]:
    number = int(one.lesson[1:])
    against = f", adds to lesson {number - 1}" if number > 1 else ""
    yield from textwrap.wrap(f"Lesson {number}, {one.title}{against}:", width)
    prompt = textwrap.shorten(one.prompt, _PROMPT, placeholder=" … (--json has all of it)")
    does = LESSONS[number]
    folder = f"{Path(one.files[0]).parent.as_posix()}/"
    home = ", ".join(one.files) if len(one.files) <= 2 else folder
    rows: Mapping[str, Iterable[str]] = {
        "class": one.mechanisms,
        "tool": [f"{name}: {said}" for name, said in one.tools.items()],
        "option": [f"{name}: {said}" for name, said in one.more_tools.items()],
        "hook": [": ".join(filter(None, (hook, does.get(hook)))) for hook in one.hooks],
        "event": [", ".join(one.events)] if one.events else (),
        "prompt": [prompt] if prompt else (),
        "tokens": [f"≈{one.tokens:,} in each request (characters / 4)"] if one.tokens else (),
        "lines": [f"{one.lines:,} of code in {home}"],
    }
    for name, entries in rows.items():
        for place, entry in enumerate(entries):
            yield from _entry("" if place else name, entry, width)


def _entry(name: str, text: str, width: int) -> list[str]:
    """One entry, marked with a plus; what does not fit goes on below it."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=f"{name:<{_NAMES}}+ ",
        subsequent_indent=" " * (_NAMES + 2),
        break_on_hyphens=False,
    )

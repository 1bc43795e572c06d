"""Records ``learnkit chat --replay s12`` in a real terminal, as an SVG that moves by itself.

    python tests/tools/record_chat.py docs/chat.svg

What is on the screen after each step is a picture of its own. They lie below one another, and CSS
moves them past a window one screen high. Equal lines are stored once. The colours follow the
reader's, light or dark, and nothing moves for readers who asked for that: they see the last one.
"""

from __future__ import annotations

import html
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT)]

from screen import CTRL_C, ENTER, Screen  # noqa: E402

COLUMNS, ROWS = 80, 26
ADVANCE, HEIGHT, EDGE = 8.4, 19, 14  # of a character, of a line, around the screen, in px
SHOT = 0.35  # seconds between two pictures
LONGEST, LAST = 1.6, 6.0  # seconds for which one is shown, and the last one

#: Colour of a terminal -> its class, light and dark.
COLOURS = {
    "green": ("g", "#1a7f37", "#56d364"),
    "red": ("r", "#cf222e", "#ff7b72"),
    "cyan": ("c", "#1b7c83", "#56d4dd"),
    "brown": ("y", "#9a6700", "#e3b341"),
    "brightblack": ("d", "#59636e", "#9198a1"),
}
FRONT, BACK, EDGES = ("#1f2328", "#e6edf3"), ("#ffffff", "#0d1117"), ("#d1d9e0", "#3d444d")

Line = tuple[tuple[str, str], ...]


def steps() -> Iterator[tuple[Line, ...]]:
    """What is on the screen, again and again, while a user plays the recording."""
    with tempfile.TemporaryDirectory() as state:
        env = {"XDG_STATE_HOME": state}
        with Screen("--replay", "s12", columns=COLUMNS, rows=ROWS, **env) as screen:
            screen.expect("Press Enter to say")
            yield picture(screen)
            screen.type(ENTER)
            yield from until(screen, "bob is idle", 60)
            screen.type(CTRL_C)
            yield from until(screen, "paused ·", 60)
            for typed in ("/", "t", "a", "s", "k", "s", ENTER):
                screen.type(typed)
                yield from during(screen, 0.4)
            screen.type(ENTER)
            yield from until(screen, "The recording is over", 90)
            for typed in ("/show 1", ENTER):
                screen.type(typed)
                yield from during(screen, 0.8)
            screen.type("\x04")
            screen.ended()


def until(screen: Screen, said: str, within: float) -> Iterator[tuple[Line, ...]]:
    """Pictures until words are on the screen."""
    end = time.monotonic() + within
    while said not in screen.words:
        if time.monotonic() > end:
            raise SystemExit(f"no {said!r} in:\n{screen.text}")
        yield from during(screen, SHOT)


def during(screen: Screen, seconds: float) -> Iterator[tuple[Line, ...]]:
    """One picture, after some time."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        screen.pump(left)
    yield picture(screen)


def picture(screen: Screen) -> tuple[Line, ...]:
    """The lines of the screen: of each the texts with their classes."""
    return tuple(_line(cells) for cells in screen.cells)


def _line(cells: list[tuple[str, str, bool]]) -> Line:
    runs = []
    for (colour, bold), some in groupby(cells, key=lambda cell: cell[1:]):
        names = [COLOURS[colour][0]] if colour in COLOURS else []
        runs.append((" ".join([*names, *["b"] * bold]), "".join(cell[0] for cell in some)))
    while runs and not runs[-1][1].strip():
        runs.pop()
    return tuple(runs)


def svg(pictures: list[tuple[Line, ...]]) -> str:
    """The pictures as one file."""
    shown = [one for one, _ in groupby(pictures)]
    spent = [min(LONGEST, len(list(some)) * SHOT) for _, some in groupby(pictures)]
    spent[-1] = LAST
    numbers = {line: f"l{n}" for n, line in enumerate(dict.fromkeys(sum(shown, ())))}
    width, height = COLUMNS * ADVANCE + 2 * EDGE, ROWS * HEIGHT + 2 * EDGE
    page = ROWS * HEIGHT
    keys, at = [], 0.0
    for number, seconds in enumerate(spent):
        keys.append(f"{100 * at / sum(spent):.3f}%{{transform:translateY(-{number * page}px)}}")
        at += seconds
    last = f"translateY(-{(len(shown) - 1) * page}px)"
    lines = [f'<g id="{name}">{_text(line)}</g>' for line, name in numbers.items() if line]
    uses = [
        f'<use href="#{numbers[line]}" y="{(n * ROWS + row) * HEIGHT}"/>'
        for n, one in enumerate(shown)
        for row, line in enumerate(one)
        if line
    ]
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" role="img">
<title>learnkit chat plays lesson 12: a lead, two teammates in worktrees, and the merge</title>
<style>
{_colours(0)}
@media (prefers-color-scheme: dark) {{ {_colours(1)} }}
text {{ font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre }}
.b {{ font-weight: bold }}
.play {{ animation: play {sum(spent):.1f}s step-end infinite; transform: {last} }}
@keyframes play {{ {" ".join(keys)} 100%{{transform:{last}}} }}
@media (prefers-reduced-motion: reduce) {{ .play {{ animation: none }} }}
</style>
<defs>
<clipPath id="window"><rect width="{width:g}" height="{page}"/></clipPath>
{os.linesep.join(lines)}
</defs>
<rect class="back" x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1}" rx="8"/>
<g transform="translate({EDGE} {EDGE})" clip-path="url(#window)"><g class="play">
{os.linesep.join(uses)}
</g></g>
</svg>
"""


def _text(line: Line) -> str:
    made, column = [], 0
    for name, text in line:
        stripped = text.strip()
        if stripped:
            begin = column + len(text) - len(text.lstrip())
            place = f'x="{begin * ADVANCE:g}" textLength="{len(stripped) * ADVANCE:g}"'
            kind = f' class="{name}"' if name else ""
            made.append(f'<text{kind} y="14" {place}>{html.escape(stripped, quote=False)}</text>')
        column += len(text)
    return "".join(made)


def _colours(side: int) -> str:
    rules = [f"text {{ fill: {FRONT[side]} }}"]
    rules += [f".{name} {{ fill: {shades[side]} }}" for name, *shades in COLOURS.values()]
    rules.append(f".back {{ fill: {BACK[side]}; stroke: {EDGES[side]} }}")
    return " ".join(rules)


def main() -> None:
    """Record, and write the file that was named."""
    Path(sys.argv[1]).write_text(svg(list(steps())), "utf-8")


if __name__ == "__main__":
    main()

"""Lesson 12's explorable: two agents edit one file, in one folder or in a worktree each.

In one folder, the way in which they write decides what is left. With worktrees git decides, and it
wants an unchanged line between two changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from learnkit.events.text import count
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import Canvas
from learnkit.widget.explore import Answer, Explorable, drag, explore

WHOLE, TYPED = "write_file", "edit_file"
#: The file that both read before either of them writes.
FILE = (
    "EVERY = 10",
    "HOURS = 12",
    "WARN = 25",
    "LIMIT = 30",
    "COOL = 20",
    "KEEP = 30",
    "RETRY = 15",
)
#: Number of Alice's line, from 0, and what the two do to the value of theirs.
ALICE = 3
_NEW: dict[str, Callable[[int], int]] = {"alice": lambda n: n + 1, "bob": lambda n: n * 2}
BOTH, OVERWRITTEN, REFUSED, CONFLICT = "both", "overwritten", "refused", "conflict"
#: Height of a line, where the files begin, room for the first one, and where Bob's edit stands.
_ROW, _HEAD, _START, _BOB = 20, 40, 194, 138
_LONGEST = len(FILE) + 5  # two neighbours, both versions of them, and git's three marks


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file.

    Attributes:
        text: what it says.
        by: who has written it: ``alice``, ``bob``, ``git``, or nobody since the beginning.
    """

    text: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class End:
    """What there is when both have written.

    Attributes:
        state: :data:`BOTH` changes, Alice's is :data:`OVERWRITTEN`, Bob's is :data:`REFUSED`, or a
            :data:`CONFLICT`.
        lines: of the file.
    """

    state: str
    lines: tuple[Line, ...]


def edited(place: int, who: str) -> str:
    """A line as one of the two changes it."""
    name, value = FILE[place].split(" = ")
    return f"{name} = {_NEW[who](int(value))}"


def in_one_folder(place: int, way: str) -> End:
    """What is left in a folder that both share."""
    if way == WHOLE:  # Bob's text is the file as he has read it
        return End(OVERWRITTEN, _with({place: "bob"}))
    if place == ALICE:  # what he wants to replace is no longer there
        return End(REFUSED, _with({ALICE: "alice"}))
    return End(BOTH, _with({ALICE: "alice", place: "bob"}))


def with_worktrees(place: int) -> End:
    """What git makes of two branches."""
    if abs(place - ALICE) > 1:
        return End(BOTH, _with({ALICE: "alice", place: "bob"}))
    first, last = min(place, ALICE), max(place, ALICE) + 1
    main, branch = _with({ALICE: "alice"}), _with({place: "bob"})
    torn = (
        Line("<<<<<<< HEAD", "git"),
        *main[first:last],
        Line("=======", "git"),
        *branch[first:last],
        Line(">>>>>>> wt/bob", "git"),
    )
    return End(CONFLICT, (*main[:first], *torn, *main[last:]))


def _with(changes: dict[int, str]) -> tuple[Line, ...]:
    return tuple(
        Line(edited(number, changes[number]), changes[number]) if number in changes else Line(text)
        for number, text in enumerate(FILE)
    )


def draw(width: float, place: int) -> Answer:
    """The file with both edits, and what becomes of them: in one folder twice, and with git."""
    canvas = Canvas(width)
    ends = {
        f"folder: {WHOLE}": in_one_folder(place, WHOLE),
        f"folder: {TYPED}": in_one_folder(place, TYPED),
        "two worktrees": with_worktrees(place),
    }
    low = _HEAD + _ROW * _LONGEST
    if width >= 700:
        wide = (width - _START - 36) / 3
        spots = [(_START + 12 + (wide + 12) * number, 0.0, wide) for number in range(3)]
    else:
        wide = (width - 16) / 2
        last = _START + 12, 0.0, min(wide, width - _START - 12)
        spots = [(0, low + 24, wide), (wide + 16, low + 24, wide), last]
    _start(canvas, place)
    for (name, end), (x, y, room) in zip(ends.items(), spots, strict=True):
        _end(canvas, name, x, y, room, end)
    canvas.height = max(low, spots[0][1] + _HEAD + _ROW * len(FILE))
    assumes = (
        f"a file of {len(FILE)} lines; both read it before either writes; Alice changes line "
        f"{ALICE + 1}, and is the first to write and the first to be merged; Bob's edit_file names "
        "his line alone as the old text; git merge with its own settings"
    )
    first = _HEAD + _ROW / 2
    axis = _BOB + 28, first, _BOB + 28, first + _ROW * (len(FILE) - 1)
    return Answer(_finding(place, *ends.values()), canvas, assumes, _because(place), axis)


def _start(canvas: Canvas, place: int) -> None:
    canvas.text("start", 0, 12, "both read this file", "b", width=_START)
    for number, text in enumerate(FILE):
        canvas.text(f"start {number}", 0, _HEAD + _ROW * number + 13, text, "m", width=80)
    edits = ("alice", ALICE, 1, _BOB - 60, ""), ("bob", place, 2, _BOB, "↕ ")
    for who, line, mark, left, grip in edits:
        low, key = _HEAD + _ROW * line, theme.agent(mark).key
        said = f"{grip}{who} {edited(line, who).split(' = ')[1]}"
        canvas.bar(f"edit {who}", left, low, 56, _ROW - 1, key, "p", says=said)
        canvas.text(f"says {who}", left + 28, low + 13, said, "cn", key, width=56)


def _end(canvas: Canvas, name: str, x: float, y: float, wide: float, end: End) -> None:
    mark, said = _VERDICTS[end.state]
    canvas.text(name, x, y + 12, name, "b", width=wide)
    canvas.text(f"verdict {name}", x, y + 30, said, "b", mark, width=wide)
    seen: dict[str, int] = {}
    for number, line in enumerate(end.lines):
        # The same line keeps its key, so that it moves; in a conflict some are there twice.
        seen[line.text] = seen.get(line.text, 0) + 1
        key = f"{name} {line.text} {seen[line.text]}"
        low = y + _HEAD + _ROW * number
        mark = _MARKS.get(line.by, "")
        lost = _lost(number, end)
        if mark:
            canvas.bar(f"bar {key}", x, low, wide, _ROW - 1, mark, "p", says=line.by)
        elif lost:  # a ghost where the edit was
            canvas.box(f"ghost {name}", x, low, wide, _ROW - 1, style="d")
        canvas.text(key, x + 4, low + 13, line.text, "mn" if mark else "m", mark, width=wide - 8)
        if lost:
            style = "en" if mark else "e"
            canvas.text(f"lost {name}", x + wide - 6, low + 13, f"✗ {lost}", style, "failed")


def _lost(number: int, end: End) -> str:
    """Whose change should be in a line, and isn't."""
    if number != ALICE:
        return ""
    return {OVERWRITTEN: "alice", REFUSED: "bob"}.get(end.state, "")


def _finding(place: int, whole: End, typed: End, merged: End) -> str:
    away = abs(place - ALICE)
    side = "below" if place > ALICE else "above"
    where = f"Bob {count(away, 'line')} {side} Alice" if away else "Bob on Alice's own line"
    git = {BOTH: "git merges both", CONFLICT: "git reports a conflict"}[merged.state]
    assert whole.state == OVERWRITTEN
    return f"{where}: {git}, {WHOLE} loses her edit."


def _because(place: int) -> str:
    if place == ALICE:
        return "Both changed one line: edit_file refuses Bob, and git can't choose between them."
    typed = "In one folder, edit_file keeps both."
    if abs(place - ALICE) == 1:
        return f"git wants an unchanged line between two changes; here there is none. {typed}"
    return f"An unchanged line between two changes is all that git wants. {typed}"


_MARKS = {"alice": theme.agent(1).key, "bob": theme.agent(2).key, "git": "blocked"}
_VERDICTS = {
    BOTH: ("done", "✓ both changes"),
    OVERWRITTEN: ("failed", "✗ Alice's is lost"),
    REFUSED: ("blocked", "⊘ Bob is refused"),
    CONFLICT: ("blocked", "⊘ merge conflict"),
}


def explorable() -> Explorable:
    """Let Bob edit any line of the file."""

    def said(place: int) -> str:
        return f"line {place + 1}, {FILE[place].split()[0]}"

    line: Any = drag(range(len(FILE)), ALICE + 2, "Bob edits", said=said)
    return explore(draw, place=line)

"""Lesson 12's explorable: two agents edit one file, in one folder or in a worktree each.

In one folder, the way in which they write decides what is left. With worktrees git decides, and it
wants an unchanged line between two changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from learnkit.views.drawing import theme
from learnkit.views.drawing.display import Canvas
from learnkit.widget.explore import Answer, Explorable, drag, explore, pick

WHOLE, TYPED = "write_file: the whole file", "edit_file: one line"
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
_ROW, _HEAD = 18, 76
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


def draw(width: float, place: int, way: str) -> Answer:
    """The file with both edits, and what becomes of them in one folder and in two worktrees."""
    canvas = Canvas(width)
    one, other = in_one_folder(place, way), with_worktrees(place)
    if width >= 640:
        start = width * 0.32
        wide = (width - start - 36) / 2
        _start(canvas, 4, 20, start, place, _HEAD - 20)
        x, top = start + 18, 20.0
    else:
        wide = (width - 16) / 2
        _start(canvas, 4, 20, width - 8, place, 8)
        x, top = 4.0, 20.0 + _ROW * len(FILE) + 40
    _end(canvas, "one folder", x, top, wide, one)
    _end(canvas, "a worktree each", x + wide + (14 if width >= 640 else 8), top, wide, other)
    canvas.height = top + _HEAD - 20 + _ROW * _LONGEST + 8
    assumes = (
        f"a file of {len(FILE)} lines; both read it before either writes; Alice changes line "
        f"{ALICE + 1}, and is the first to write and the first to be merged; Bob's edit_file names "
        "his line alone as the old text; git merge with its own settings"
    )
    return Answer(_finding(place, one, other), canvas, assumes, _because(place))


def _start(canvas: Canvas, x: float, y: float, wide: float, place: int, gap: float) -> None:
    canvas.text("start", x, y - 6, "both read this file", "b", width=wide)
    for number, text in enumerate(FILE):
        low = y + gap + _ROW * number
        canvas.text(f"start {number}", x + 6, low + 13, text, "m", width=wide)
    for who, line, mark, left in (("alice", ALICE, 1, 96), ("bob", place, 2, 164)):
        low, key = y + gap + _ROW * line, theme.agent(mark).key
        said = f"{who} → {edited(line, who).split(' = ')[1]}"
        canvas.bar(f"edit {who}", x + left, low + 1, 66, _ROW - 2, key, "p", says=said)
        canvas.text(f"says {who}", x + left + 33, low + 13, said, "cn", key, width=66)


def _end(canvas: Canvas, name: str, x: float, y: float, wide: float, end: End) -> None:
    canvas.text(name, x, y - 6, name, "b", width=wide)
    mark, *lines = _VERDICTS[end.state]
    canvas.box(f"verdict {name}", x, y + 2, wide, 44, mark, lines, says=" ".join(lines))
    seen: dict[str, int] = {}
    for number, line in enumerate(end.lines):
        # The same line keeps its key, so that it moves; in a conflict some are there twice.
        seen[line.text] = seen.get(line.text, 0) + 1
        key = f"{name} {line.text} {seen[line.text]}"
        low = y + _HEAD - 20 + _ROW * number
        mark = _MARKS.get(line.by, "")
        if mark:
            canvas.bar(f"bar {key}", x, low + 1, wide, _ROW - 2, mark, "p", says=line.by)
        canvas.text(key, x + 6, low + 13, line.text, "mn" if mark else "m", mark, width=wide - 12)
        lost = _lost(number, end)
        if lost:
            style = "en" if mark else "e"
            canvas.text(f"lost {name}", x + wide - 6, low + 13, f"✗ {lost}", style, "failed")


def _lost(number: int, end: End) -> str:
    """Whose change should be in a line, and isn't."""
    if number != ALICE:
        return ""
    return {OVERWRITTEN: "alice", REFUSED: "bob"}.get(end.state, "")


def _finding(place: int, one: End, other: End) -> str:
    away = abs(place - ALICE)
    side = "below" if place > ALICE else "above"
    where = f"is {away} {side} Alice's" if away else "is Alice's own"
    folder = {
        BOTH: "in one folder both edits go in",
        OVERWRITTEN: "in one folder her change is lost without an error",
        REFUSED: "in one folder his edit is refused",
    }[one.state]
    merged = {BOTH: "git merges both", CONFLICT: "git reports a conflict"}[other.state]
    return f"Bob's line {where}: {folder}; from two worktrees {merged}."


def _because(place: int) -> str:
    if place == ALICE:
        return "Both sides changed the same line, and git can't choose between them."
    if abs(place - ALICE) == 1:
        return "git wants an unchanged line between two changes; here there is none."
    return "An unchanged line lies between the two changes, which is all that git wants."


_MARKS = {"alice": theme.agent(1).key, "bob": theme.agent(2).key, "git": "blocked"}
_VERDICTS = {
    BOTH: ("done", "✓ both changes", "nothing is lost"),
    OVERWRITTEN: ("failed", "✗ Alice's is lost", "without an error"),
    REFUSED: ("blocked", "⊘ Bob is refused", "the error says why"),
    CONFLICT: ("blocked", "⊘ merge conflict", "git says where"),
}


def explorable() -> Explorable:
    """Let Bob edit any line of the file, with either tool."""

    def said(place: int) -> str:
        return f"line {place + 1}, {FILE[place].split()[0]}"

    line: Any = drag(range(len(FILE)), ALICE + 2, "Bob edits", said=said)
    return explore(draw, place=line, way=pick([WHOLE, TYPED], label="both use"))

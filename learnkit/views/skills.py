"""Skill layers: what is listed, what was loaded, and what sending everything would cost.

Two bars on one scale compare all instructions upfront with what is in the requests now. Below them,
each skill is a step of a staircase at its place in the long bar: an outline if it is only listed,
filled if it was loaded, and half as high for files that were read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from learnkit.core.events import Event
from learnkit.core.text import clean, count, one_line
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Drawn, DrawnView, css_beside
from learnkit.views.drawing.static import Picture
from learnkit.views.drawing.text import esc, scale_of
from learnkit.views.shelf import METHOD, Shelf, SkillRow, grow, sentence, ticks_of

#: The most file names in one row.
FILES = 2
#: In pixels: where the scale begins, how long it is, and where the words begin.
PLOT, LENGTH, WORDS = 160, 420, 592


@dataclass(frozen=True, slots=True)
class State(Drawn):
    """Every agent's skills, and the scale they share."""

    shelves: dict[str, Shelf] = field(default_factory=dict)
    scale: int = 10


class Skills(DrawnView[State]):
    """Tokens of the catalogue, of what was loaded, and of everything, as lengths."""

    name = "skill layers"
    css = css_beside(__file__)
    start = State()

    def fold(self, state: State, event: Event) -> State:
        old = state.shelves.get(event.lane) or Shelf(event.lane)
        new = grow(old, event)
        if new is old:
            return state
        shelves = {**state.shelves, event.lane: new}
        return State(shelves, scale_of(max(shelf.longest for shelf in shelves.values())))

    def sentence(self, state: State, event: Event) -> str:
        said = sentence(state.shelves.get(event.lane) or Shelf(event.lane), event)
        alone = not state.shelves.keys() - {event.lane}
        return said if alone else f"{one_line(event.lane, 40)}: {said}"

    def draw(self, state: State, old: State) -> dict[str, str]:
        html = {}
        for shelf in state.shelves.values():
            lane, now = clean(shelf.lane), _used(shelf)
            title = f"<b>{shelf.gain}</b><span>{esc(shelf.note)}</span>"
            html[f"{lane}/0"] = f'<div class="shelf" data-quiet>{title}</div>'
            html[f"{lane}/1"] = _axis(state.scale)
            html[f"{lane}/2"] = _sum("everything upfront", "", shelf.everything, _whole(shelf))
            html[f"{lane}/3"] = _sum("this conversation", "now", shelf.now, now, _layers(shelf))
            html |= {f"{lane}/s {clean(name)}": _row(row) for name, row in shelf.rows.items()}
        return html

    def frame(self, state: State) -> dict[str, str]:
        return state.html or {"": '<div class="note">No skills were listed yet.</div>'}

    def line(self, state: State) -> str:
        sizes = [
            f"{one_line(lane, 40)} {shelf.loaded} of {count(len(shelf.rows), 'skill')} loaded, "
            f"≈ {shelf.now:,} tokens instead of ≈ {shelf.everything:,}, {shelf.gain}"
            for lane, shelf in state.shelves.items()
        ]
        return f"{self.name}: {'; '.join([*sizes, state.head])}"

    def picture(self, state: State, rows: int) -> Picture:
        picture = Picture(f"{self.line(state)} Every number stands in the table below.")
        y = 10.0
        for shelf in state.shelves.values():
            y = _Staircase(picture, state.scale, y).shelf(shelf, rows // len(state.shelves)) + 18
        if not state.shelves:
            picture.text(16, y + 18, "No skills were listed yet.", "q")
            y += 36
        picture.height = y
        return picture

    def facts(self, state: State, rows: int) -> str:
        each = rows // max(len(state.shelves), 1)
        tables = "".join(_table(shelf, each, rows) for shelf in state.shelves.values())
        return tables or "<p>empty</p>"


def _axis(scale: int) -> str:
    marks = "".join(f'<span style="--o:{at}">{at:,}</span>' for at in ticks_of(scale))
    return (
        f'<div class="sk axis" data-quiet><style>:host{{--s:{scale}}}</style><span>{METHOD}</span>'
        f'<span class="p">{marks}</span><span></span></div>'
    )


def _bar(kind: str, start: int, length: int) -> str:
    return f'<i class="{kind}" style="--o:{start};--n:{length}"></i>' if length else ""


def _sum(name: str, kind: str, tokens: int, bars: str, below: str = "") -> str:
    quiet = "" if kind else " data-quiet"
    return (
        f'<div class="sk sum {kind}" role="group" aria-label="{name}: ≈ {tokens:,} tokens"{quiet}>'
        f'<span>{name}</span><span class="p">{bars}</span><span>≈ {tokens:,}</span>{below}</div>'
    )


def _whole(shelf: Shelf) -> str:
    return "".join(
        _bar("some" if row.body else "list", row.start, row.size) for row in shelf.rows.values()
    )


def _used(shelf: Shelf) -> str:
    bars = "".join(_bar(*part) for part in shelf.parts)
    if shelf.share:
        place = f"--o:{shelf.now};--n:{shelf.everything - shelf.now}"
        bars += f'<i class="gap" style="{place}"><u>not sent: {shelf.share}</u></i>'
    return bars


def _layers(shelf: Shelf) -> str:
    parts = [
        f'<span class="t-{mark.key}">{mark.glyph} {name} ≈ {tokens:,}</span>'
        for mark, name, tokens in shelf.layers
    ]
    return f"<small>{' · '.join(parts)}</small>" if parts else ""


def _row(row: SkillRow) -> str:
    files = [f"{esc(one_line(file, 60))} ≈ {tokens:,}" for file, tokens in row.files[:FILES]]
    files += [count(len(row.files) - FILES, "more file")] if row.files[FILES:] else []
    below = f"<small>{theme.RESULT.glyph} {', '.join(files)}</small>" if files else ""
    bars = _bar(row.kind, row.start, row.tokens)
    bars += _bar("file", row.start + row.tokens, row.read)
    said = f"{esc(row.name)}: {row.word}, ≈ {row.tokens:,} tokens"
    return (
        f'<div class="sk row{" on" if row.body else ""}" role="group" aria-label="{said}">'
        f'<span>{esc(row.name)}</span><span class="p">{bars}</span>'
        f'<span class="t-{row.mark.key}">{row.word} ≈ {row.tokens:,}</span>{below}</div>'
    )


def _table(shelf: Shelf, rows: int, width: int) -> str:
    body: list[list[object]] = [
        ["everything upfront", "", shelf.everything, "", ""],
        ["this conversation", shelf.gain, shelf.now, "", ""],
        ["catalogue", theme.SYSTEM.label, shelf.catalogue, "", ""],
    ]
    shown = list(shelf.rows.values())[:rows]
    for row in shown:
        files = one_line(", ".join(file for file, _ in row.files), 20 + width)
        cells: list[object] = [one_line(row.name, 64), row.word, row.tokens]
        body.append([*cells, files, row.read or ""])
    if len(shown) < len(shelf.rows):
        body.append([f"… {count(len(shelf.rows) - len(shown), 'more skill')}", *[""] * 4])
    body += [
        [one_line(one, 60 + 2 * width), "✗ left out", "", "", ""] for one in shelf.problems[:rows]
    ]
    head = [f"skills of {one_line(shelf.lane, 40)}", "", "≈ tokens", "files read", "≈ tokens"]
    return static.table(head, body)


class _Staircase:
    """Draws one shelf into a static picture, from the top down."""

    def __init__(self, picture: Picture, scale: int, y: float) -> None:
        self.picture, self.scale, self.y = picture, scale, y

    def shelf(self, shelf: Shelf, rows: int) -> float:
        """Draw a shelf with at most ``rows`` skills; return where it ends, in pixels."""
        picture = self.picture
        picture.text(16, self.y + 18, shelf.gain, "b", 330)
        picture.text(static.WIDTH - 16, self.y + 18, shelf.note, "q e", 380)
        self.y += 30
        self.axis()
        self.whole(shelf)
        self.words("everything upfront", "b", f"≈ {shelf.everything:,}", 26)
        for part in shelf.parts:
            self.bar(*part, 18)
        self.gap(shelf)
        self.words("this conversation", "b", f"≈ {shelf.now:,}", 22)
        x = float(PLOT)
        for mark, name, tokens in shelf.layers:
            text = f"{mark.glyph} {name} ≈ {tokens:,}"
            picture.text(x, self.y + 13, text, "", 0, mark.key)
            x += 6.6 * len(text) + 18
        self.y += 28
        shown = list(shelf.rows.values())[:rows]
        for row in shown:
            self.row(row)
        if len(shown) < len(shelf.rows):
            self.words(f"… {count(len(shelf.rows) - len(shown), 'more skill')} …", "q", "", 20)
        return self.y

    def whole(self, shelf: Shelf) -> None:
        """Draw the long bar: a cell for each skill, filled if the skill is in use."""
        top, end = self.y + 1, self.at(shelf.everything)
        for row in shelf.rows.values():
            if row.body and row.size:
                width = row.size * LENGTH / self.scale
                self.picture.box(round(self.at(row.start), 1), top, width, 18, "done")
        cells = "".join(f"M{self.at(row.start):.1f} {top:g}v18" for row in shelf.rows.values())
        self.picture.path(f"{cells}M{PLOT} {top:g}H{end:.1f}v18H{PLOT}", "pending")

    def axis(self) -> None:
        self.picture.text(16, self.y + 14, METHOD, "q", PLOT - 16)
        for tick in ticks_of(self.scale):
            self.picture.path(f"M{self.at(tick):.1f} {self.y + 4:g}v16")
            self.picture.text(self.at(tick) + 4, self.y + 14, f"{tick:,}", "q", 70)
        self.picture.path(f"M{PLOT} {self.y + 20.5:g}h{LENGTH}")
        self.y += 28

    def row(self, row: SkillRow) -> None:
        self.bar(row.kind, row.start, row.tokens, 12)
        self.bar("file", row.start + row.tokens, row.read, 12)
        style = "m b" if row.body else "m"
        self.words(row.name, style, f"{row.word} ≈ {row.tokens:,}", 20, row.mark.key, 11)
        if row.files:
            names = ", ".join(file for file, _ in row.files)
            more = f"{theme.RESULT.glyph} {one_line(names, 70)} ≈ {row.read:,}"
            self.words(more, "q", "", 20, at=11)

    def words(
        self, name: str, style: str, what: str, height: float, mark: str = "", at: float = 15
    ) -> None:
        room = PLOT - 24 if what else WORDS - 24
        self.picture.text(16, self.y + at, name, style, room)
        if what:
            self.picture.text(WORDS, self.y + at, what, "", 0, mark)
        self.y += height

    def at(self, tokens: int) -> float:
        return PLOT + tokens * LENGTH / self.scale

    def bar(self, kind: str, start: int, length: int, height: float) -> None:
        if not length:
            return
        x, width, top = self.at(start), max(length * LENGTH / self.scale, 1.0), self.y + 1
        if kind == "list":
            self.picture.path(f"M{x:.1f} {top:g}h{width:.1f}v{height:g}h-{width:.1f}z", "pending")
        else:
            low = height / 2 if kind == "file" else 0
            mark = "done" if kind in ("got", "file") else "system"
            self.picture.bar(round(x, 1), top + low, max(width - 1, 2.5), height - low, mark)

    def gap(self, shelf: Shelf) -> None:
        """Draw a dimension line over the tokens that aren't sent."""
        first, last, y = self.at(shelf.now) + 2, self.at(shelf.everything), self.y
        if not shelf.share or last - first < 8:
            return
        share = f"not sent: {shelf.share}"
        room, middle = len(share) * static.NARROW, (first + last) / 2
        self.picture.path(f"M{first:.1f} {y + 2:g}v16M{last:.1f} {y + 2:g}v16", "system")
        if last - first < room + 24:
            self.picture.path(f"M{first:.1f} {y + 10:g}H{last:.1f}", "system")
            return
        left, right = middle - room / 2, middle + room / 2
        self.picture.text(right, y + 14, share, "e")
        line = f"M{first:.1f} {y + 10:g}H{left - 6:.1f}M{right + 6:.1f} {y + 10:g}H{last:.1f}"
        self.picture.path(line, "system")

"""The static picture of one agent's skills, drawn from the top down."""

from __future__ import annotations

from learnkit.views.drawing import static, theme
from learnkit.views.drawing.static import Picture
from learnkit.views.drawing.text import count, one_line
from learnkit.views.shelf import METHOD, Row, Shelf, ticks_of

#: Pixels: where lengths begin, how long the scale is, where words begin.
PLOT, LENGTH, WORDS = 160, 420, 592


class Staircase:
    """Draws one shelf into a static picture, from the top down."""

    def __init__(self, picture: Picture, scale: int, y: float) -> None:
        self.picture, self.scale, self.y = picture, scale, y

    def shelf(self, shelf: Shelf, rows: int) -> float:
        """Draw it with so many rows; return where it ends."""
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
        """The long bar: a cell for every skill, those in use filled."""
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

    def row(self, row: Row) -> None:
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
        """Measure off what is not sent, as a builder's drawing does."""
        first, last, y = self.at(shelf.now) + 2, self.at(shelf.everything), self.y
        share = f"not sent: {shelf.share}" if shelf.share else ""
        room, middle = len(share) * static.NARROW, (first + last) / 2
        if not share or last - first < 8:
            return
        self.picture.path(f"M{first:.1f} {y + 2:g}v16M{last:.1f} {y + 2:g}v16", "system")
        if last - first < room + 24:
            self.picture.path(f"M{first:.1f} {y + 10:g}H{last:.1f}", "system")
            return
        self.picture.text(middle + room / 2, y + 14, share, "e")
        left, right = middle - room / 2 - 6, middle + room / 2 + 6
        line = f"M{first:.1f} {y + 10:g}H{left:.1f}M{right:.1f} {y + 10:g}H{last:.1f}"
        self.picture.path(line, "system")

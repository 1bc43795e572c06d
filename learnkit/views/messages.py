"""The message array that is sent to the model, and how much of it each request carries.

Read this view first: an agent is this array and a loop. A call and its result show the id that they
share. A request carries all rows above it: its bar is as long as theirs together, on one scale, and
its end is what no request before has carried. Text that the harness injects is marked, so that it
can't be mistaken for the user's.
"""

from __future__ import annotations

from learnkit.events.log import Event
from learnkit.events.text import count, listed, one_line
from learnkit.views.drawing import blocks, display, static, theme
from learnkit.views.drawing.array import Array, MessageCard, Request, grow
from learnkit.views.drawing.base import View, css_beside
from learnkit.views.drawing.display import Canvas, fitting
from learnkit.views.drawing.text import scale_of

#: In the static picture, in pixels: length of a full bar, room for the number beside it, and where
#: content starts and ends.
BAR, LABEL, WHAT, END = 130, 56, 140, 508
#: The shortest scale, in tokens.
LEAST = 100
#: The most lines of one message in the static picture.
MOST = 4


class Messages(View[Array]):
    """The live message array of one agent."""

    name = "message array"
    css = css_beside(__file__)
    alone = True

    def init(self) -> Array:
        return Array(self.lane or "lead")

    def fold(self, state: Array, event: Event) -> Array:
        return grow(state, event)

    def says(self, state: Array) -> list[str]:
        if state == self.init():
            return ["The array is empty."]
        if state.requests and state.asked > 1:
            last = state.requests[-1]
            return [
                f"Each request carries the whole array again: {state.asked} requests.",
                f"≈ {state.carried:,} tokens in all, ≈ {last.tokens:,} in the last one alone.",
            ]
        return _requested(state.requests[-1]) if state.requests else _answered(state)

    def frame(self, state: Array, width: float = display.WIDE) -> dict[str, str]:
        shown = {"ruler": ruler(_scale(state), f'<span class="note">{_legend(state)}</span>')}
        if state.system:
            shown["system"] = state.system
        requests = {one.messages: one for one in state.requests}
        for number, card in enumerate(state.cards, start=1):
            shown[f"{card.index}"] = card.html
            if number in requests:
                now = state.waiting and number == len(state.cards)
                shown[f"request {number}"] = _request(requests[number], now)
        return shown

    def draw(self, state: Array, width: float, rows: int) -> Canvas:
        canvas = Canvas(width)
        canvas.text("legend", 8, 20, _legend(state), "q", width=END - 48)
        y = 20.0
        if state != self.init():
            left, scale = width - 8 - LABEL - BAR, _scale(state)
            canvas.text("scale", left - 8, y, f"{scale:,}", "qe", width=90)
            canvas.edge("ruler", f"M0 0v5h{BAR}v-5", x=left, y=y - 8)
            y = _draw(canvas, state, y + 12, rows, scale) + 8
        canvas.height = max(y, 34)
        return canvas

    def facts(self, state: Array, rows: int) -> str:
        head = ["#", "role", "block", "content", "id", "≈ tokens"]
        said = [state.size, *(" ".join(_requested(one)) for one in state.requests[-rows:])]
        lines = "".join(f"<p>{one}</p>" for one in said)
        return lines + static.table(head, block_rows(state, rows, 30 + 3 * rows))


def _scale(array: Array) -> int:
    """The tokens that a full bar represents; it grows in steps, so that bars rarely change."""
    return scale_of(max(array.longest, LEAST))


def _legend(array: Array) -> str:
    """How much there is, and what the lengths are."""
    if not array.cards:
        return "≈ tokens: characters / 4"
    return f"{array.size} (characters / 4)" + "; orange is new" * bool(array.requests)


def _answered(array: Array) -> list[str]:
    """What became of the calls of an array that no request carries."""
    said = count(len(array.cards), "message")
    if not array.calls:
        return [f"{said}, ≈ {array.tokens:,} tokens."]
    every = [
        line
        for card in array.cards
        for line in blocks.lines(card.message, card.injected)
        if line.mark in (theme.RESULT, theme.ERROR)
    ]
    results = {line.pair: line for line in every}
    one, last = len(array.calls) == 1, array.cards[-1].mark is theme.ASSISTANT
    names = listed(list(dict.fromkeys(name for name, _ in array.calls.values())))
    calls = "The model calls" if one else f"The model makes {len(array.calls)} calls of"
    calls += f" {names}" if len(names) <= 24 else " tools"
    if waiting := len(array.calls.keys() - results.keys()):
        return [f"{calls}.", f"{waiting} without a result."]
    if bad := sum(bool(it.mark is theme.ERROR or blocks.failure(it.text)) for it in every):
        which = "the result reads as a failure" if one else f"{bad} results read as failures"
        return [f"{calls}; {which}."]
    gets = f"gets {'the' if one else 'each'} result"
    return [f"{calls}, {gets}, and answers." if last else f"{calls} and {gets}."]


def _requested(one: Request) -> list[str]:
    """What a request carries."""
    what = f"all {one.messages} messages" if one.messages > 1 else count(one.messages, "message")
    new = "all new" if one.new == one.tokens else f"of which {one.new:,} are new"
    return [f"Request {one.number} carries {what}.", f"≈ {one.tokens:,} tokens, {new}."]


def _request(one: Request, now: bool) -> str:
    note = "all of it is new" if one.new == one.tokens else f"≈ {one.new:,} tokens of it are new"
    if now:
        note = f"{theme.ACTIVE.glyph} the model has it"
    says = " ".join(_requested(one))
    return (
        f'<div class="line request" aria-label="{says}" role="group">'
        f'<b>request {one.number}</b><span class="note">{note}</span>'
        f"{blocks.tokens(one.tokens, one.new)}</div>"
    )


def ruler(scale: int, left: str) -> str:
    """The fragment that sets the scale of a page, and shows it."""
    return (
        f'<div class="line" data-quiet><style>:host{{--lk-full:{scale}}}</style>'
        f'{left}<span class="tokens ruler">{scale:,} tokens<i></i><b></b></span></div>'
    )


def _draw(canvas: Canvas, array: Array, top: float, rows: int, scale: int) -> float:
    """Draw an array below ``top``; return where it ends."""
    shown = [(card, blocks.lines(card.message, card.injected)) for card in array.cards]
    requests = {one.messages: one for one in array.requests}
    costs = [min(len(lines), MOST) + (card.index + 1 in requests) for card, lines in shown]
    ends: dict[str, float] = {}
    y = top
    if array.system_tokens:
        canvas.text("system", 44, y + 16, f"{theme.SYSTEM.label} prompt and tools", "b")
        canvas.bar("edge system", 34, y + 2, 3, 20, theme.SYSTEM.key)
        _bar(canvas, "system", y, scale, array.system_tokens)
        y += 28
    for one in static.cut(shown, rows, costs):
        if isinstance(one, static.Gap):
            canvas.left_out("gap", WHAT, y + 16, one, "message")
            y += 26
            continue
        y = _draw_message(canvas, *one, y, scale, ends)
        if request := requests.get(one[0].index + 1):
            key = f"request {request.number}"
            canvas.text(key, 44, y + 16, f"request {request.number}", "bq", width=90)
            canvas.edge(f"{key} line", f"M0 0H{END - WHAT}", x=WHAT, y=y + 12)
            _bar(canvas, key, y, scale, request.tokens, request.new)
            y += 28
    return y


def _bar(canvas: Canvas, key: str, y: float, scale: int, tokens: int, new: int = 0) -> None:
    """A number of tokens and its length, on the line below ``y``."""
    left, each = canvas.width - 8 - LABEL - BAR, BAR / scale
    wide, fresh = max(tokens * each, 1), max(new * each, 1) if new else 0
    if wide > fresh:
        canvas.bar(f"{key} bar", left, y + 8, wide - fresh, 7, "cached")
    if fresh:
        canvas.bar(f"{key} new", left + wide - fresh, y + 8, fresh, 7, "fresh")
    canvas.text(f"{key} size", canvas.width - 8, y + 16, f"≈ {tokens:,}", "e", width=LABEL)


def _draw_message(
    canvas: Canvas,
    card: MessageCard,
    lines: list[blocks.BlockLine],
    y: float,
    scale: int,
    ends: dict[str, float],
) -> float:
    """Draw a message below ``y``; ``ends`` has where the open calls stand. Return where it ends."""
    key, mark = f"{card.index}", card.mark.key
    canvas.bar(f"edge {key}", 34, y + 2, 3, 22 * min(len(lines), MOST) - 2, mark)
    canvas.text(f"index {key}", 28, y + 16, str(card.index), "mqe", width=28)
    canvas.text(f"role {key}", 44, y + 16, card.mark.label, "b", mark, width=94)
    _bar(canvas, f"bar {key}", y, scale, card.tokens)
    cut = lines[: MOST - 1] if len(lines) > MOST else lines
    for place, line in enumerate(cut):
        name = f"{key} {place}"
        reads_failed = line.mark is theme.RESULT and blocks.failure(line.text)
        failed = f"{theme.ERROR.glyph} " if reads_failed else ""
        if line.mark is None or line.mark is card.mark:
            canvas.text(name, WHAT, y + 16, line.text, width=END - WHAT)
        else:
            own, room = line.mark.key, END - WHAT - 70 * bool(line.pair)
            said = f"{line.mark.label}  {line.name + '  ' if line.name else ''}{failed}{line.text}"
            box = (WHAT - 6, y - 1, END - WHAT, 21)
            canvas.box(f"box {name}", *box, own, [fitting(said, room, "m")], "ml")
            if line.pair:
                short = f"id {blocks.short_id(line.pair)}"
                canvas.text(f"id {name}", END - 12, y + 16, short, "men", own, width=70)
            if line.pair in ends:
                x, up = END - 6, ends.pop(line.pair)
                low, bend = y + 12 - up, 14 + 4 * (len(ends) % 3)
                path = f"M0 0C{bend} 0 {bend} {low:g} 0 {low:g}"
                canvas.edge(f"pair {name}", path, line.mark.key, x=x, y=up)
            elif line.mark is theme.CALL:
                ends[line.pair] = y + 12
        y += 22
    y += 22 * canvas.left_out(f"more {key}", WHAT, y + 16, len(lines) - len(cut), "more block")
    return y + 6


def block_rows(array: Array, rows: int, width: int, plain: str = "") -> list[list[object]]:
    """The cells of a table with a row a block: index, role, kind, content, id and tokens.

    Index, role and tokens are in the first row of each message.
    """
    shown = [(card, blocks.lines(card.message, card.injected)) for card in array.cards]
    body: list[list[object]] = []
    for one in static.cut(shown, rows, [len(lines) for _, lines in shown]):
        if isinstance(one, static.Gap):
            body.append(["…", "", "", f"{count(one, 'message')} left out", "", ""])
            continue
        card, lines = one
        for place, line in enumerate(lines):
            kind = line.mark.label if line.mark and line.mark is not card.mark else plain
            first = (card.index, card.mark.label, card.tokens) if place == 0 else ("", "", "")
            index, role, size = first
            said = blocks.failure(line.text) if line.mark is theme.RESULT else ""
            text = one_line(str(line), width) + (f" ({said})" if said else "")
            body.append([index, role, kind, text, blocks.short_id(line.pair), size])
    return body

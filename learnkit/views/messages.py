"""The message array that is sent to the model, and how much of it each request carries.

Read this view first: an agent is this array and a loop. A line joins a call and its result, which
both show the id that they share. A request carries all rows above it: the end of its bar, on top
with the others, is what no request before has carried. Text that the harness injects is marked, so
that it can't be mistaken for the user's.
"""

from __future__ import annotations

import re

from learnkit.events.log import Event
from learnkit.events.text import count, listed, one_line, quoted
from learnkit.views.drawing import blocks, display, static, theme
from learnkit.views.drawing.array import Array, MessageCard, Request, grow
from learnkit.views.drawing.base import View, css_beside
from learnkit.views.drawing.display import Canvas
from learnkit.views.drawing.text import scale_of

#: In the static picture, in pixels: length of a full bar, room for the number at its end, where
#: content starts and ends, and the height of a line.
BAR, LABEL, WHAT, END, LINE = 84, 60, 132, 544, 26
Lines = list[blocks.BlockLine]
#: Call id -> how far down its call stands.
Ends = dict[str, float]
#: Of a length: x, y, height, and the pixels of a token.
Place = tuple[float, float, float, float]
#: The shortest scale, in tokens.
LEAST = 100
#: The most lines of one message in the static picture, and the most requests on top.
MOST, TOP = 4, 5


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
            again = f"Each request carries the whole array again: {state.asked} requests."
            last = f"≈ {state.requests[-1].tokens:,} in the last one alone."
            return [again, f"≈ {state.carried:,} tokens in all, {last}"]
        return _requested(state.requests[-1]) if state.requests else _answered(state)

    def frame(self, state: Array, width: float = display.WIDE) -> dict[str, str]:
        top = "".join(map(_stair, state.requests[-TOP:]))
        beside = f", beside ≈ {state.system_tokens:,} of system prompt and tools"
        note = f'<span class="note">{state.size}{beside * bool(state.system_tokens)}</span>'
        scale = scale_of(max(state.longest, LEAST))  # in steps, so that bars rarely change
        stairs = f'<div style="--lk-full:{_longest(state)}">{top}</div>' if top else ""
        shown = {"ruler": f"<div data-quiet data-stays>{scaled(scale, note)}{stairs}</div>"}
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
        canvas.text("legend", 0, 16, f"{state.size} (characters / 4)", "q")
        canvas.height = _draw(canvas, state, 24, rows, scale_of(max(state.longest, LEAST)))
        return canvas

    def facts(self, state: Array, rows: int) -> str:
        head = ["#", "role", "block", "content", "id", "≈ tokens"]
        said = [state.size, *(" ".join(_requested(one)) for one in state.requests[-rows:])]
        lines = "".join(f"<p>{one}</p>" for one in said)
        return lines + static.table(head, block_rows(state, rows, 30 + 3 * rows))


def _answered(array: Array) -> list[str]:
    """What became of the calls of an array that no request carries."""
    went_on = _went_on(array)
    if not array.calls:
        return [went_on or f"{array.size}."]
    lines = [line for card in array.cards for line in blocks.lines(card.message)]
    results = {one.pair: one.mark for one in lines if one.pair and one.mark is not theme.CALL}
    names = {call: name for call, (name, *_) in array.calls.items()}
    one, every = len(names) == 1, listed(list(dict.fromkeys(names.values())))
    calls = "The model calls" if one else f"The model makes {len(names)} calls of"
    calls += f" {every}" if len(every) <= 24 else " tools"
    if waiting := len(names.keys() - results.keys()):
        return [f"{calls}.", f"{waiting} without a result."]
    bad = [call for call in names if results[call] is not theme.RESULT]
    if one and bad:
        return [f"{calls}; the result reads as a failure.", went_on]
    if bad:
        last = {name: call for call, name in names.items()}
        ended = [name for name in dict.fromkeys(names[call] for call in bad) if last[name] in bad]
        said = f"{len(bad)} of {len(names)} calls fail"
        how = f", also the last of {listed(ended)}" if ended else "; each tool's last call works"
        return [f"{said}{how}.", went_on]
    gets = f"gets {'the' if one else 'each'} result"
    last_card = array.cards[-1].mark is theme.ASSISTANT
    return [went_on or (f"{calls}, {gets}, and answers." if last_card else f"{calls} and {gets}.")]


def _went_on(array: Array) -> str:
    """How a text of the harness has kept the model from ending; empty if none has."""
    for said, told, after in zip(array.cards, array.cards[1:], array.cards[2:], strict=False):
        if told.injected and said.mark is theme.ASSISTANT is after.mark:
            text = re.sub(r"</?\w[^>]*>", " ", told.text)
            return f"The model stops, is told {quoted(text, 40)}, and goes on."
    return ""


def _requested(one: Request) -> list[str]:
    """What a request carries."""
    what = f"all {one.messages} messages" if one.messages > 1 else count(one.messages, "message")
    new = "all new" if one.new == one.tokens else f"of which {one.new:,} are new"
    return [f"Request {one.number} carries {what}.", f"≈ {one.tokens:,} tokens, {new}."]


def _request(one: Request, now: bool) -> str:
    says = _requested(one)
    note = f"{theme.ACTIVE.glyph} the model has it" if now else says[1]
    return (
        f'<div class="line request" aria-label="{" ".join(says)}" role="group">'
        f'<b>request {one.number}</b><span class="note">{note}</span></div>'
    )


def _stair(one: Request) -> str:
    """A request as a length, below those before it."""
    size = blocks.tokens(one.tokens, one.new)
    return f'<div class="line stair"><b>request {one.number}</b>{size}</div>'


def _longest(array: Array) -> int:
    """The tokens of the longest request on top."""
    return max([LEAST, *(one.tokens for one in array.requests[-TOP:])])


def scaled(scale: int, left: str) -> str:
    """The fragment that sets the scale of a page's lengths, beside a text."""
    return f'<div class="line" data-quiet><style>:host{{--lk-full:{scale}}}</style>{left}</div>'


def _draw(canvas: Canvas, array: Array, y: float, rows: int, scale: int) -> float:
    """Draw the requests below y, and then the array; return where it ends."""
    shown = [(card, blocks.lines(card.shown, card.injected)) for card in array.cards]
    requests = {one.messages: one for one in array.requests}
    costs = [min(len(lines), MOST) + (card.index + 1 in requests) for card, lines in shown]
    ends: Ends = {}
    for stair in array.requests[-TOP:]:
        key, each = f"request {stair.number}", (canvas.width - 90 - LABEL) / _longest(array)
        canvas.text(f"{key} name", 0, y + 16, key, "b", width=90)
        _bar(canvas, key, (90, y + 4, 14, each), stair.tokens, stair.new)
        y += 20
    y += 10
    left, each = canvas.width - LABEL - BAR, BAR / scale
    if array.system_tokens:
        canvas.text("system", 36, y + 17, f"{theme.SYSTEM.label} prompt and tools", "b")
        canvas.bar("edge system", 26, y, 3, LINE, theme.SYSTEM.key)
        _bar(canvas, "system", (left, y + 10, 4, each), array.system_tokens)
        y += LINE + 8
    for one in static.cut(shown, rows, costs):
        if isinstance(one, static.Gap):
            canvas.left_out("gap", WHAT, y + 13, one, "message")
            y += LINE
            continue
        _bar(canvas, f"bar {one[0].index}", (left, y + 10, 4, each), one[0].tokens)
        y = _draw_message(canvas, *one, y, ends)
        if request := requests.get(one[0].index + 1):
            key = f"request {request.number}"
            canvas.edge(f"{key} line", f"M0 0H{canvas.width}", "", "d", y=y - 1)
            canvas.text(key, 0, y + 15, key, "bq", width=WHAT)
            canvas.text(f"{key} says", WHAT, y + 15, _requested(request)[1], "q", width=END - WHAT)
            y += LINE + 4
    return y


def _bar(canvas: Canvas, key: str, place: Place, tokens: int, new: int = 0) -> None:
    """A length from a place on, with its number of tokens at its end."""
    x, y, tall, each = place
    wide, fresh = max(tokens * each, 1), max(new * each, 1) if new else 0
    if wide > fresh:
        canvas.bar(f"{key} bar", x, y, wide - fresh, tall, "cached")
    if fresh:
        canvas.bar(f"{key} new", x + wide - fresh, y, fresh, tall, "fresh")
    canvas.text(f"{key} size", x + wide + 6, y + tall / 2 + 5, f"≈ {tokens:,}", "n", width=LABEL)


def _draw_message(canvas: Canvas, card: MessageCard, lines: Lines, y: float, ends: Ends) -> float:
    """Draw a message below y; ``ends`` has where the open calls stand. Return where it ends."""
    key, mark = f"{card.index}", card.mark.key
    canvas.bar(f"edge {key}", 26, y, 3, LINE * min(len(lines), MOST) - 2, mark)
    canvas.text(f"index {key}", 0, y + 17, str(card.index), "mq", width=26)
    canvas.text(f"role {key}", 36, y + 17, card.mark.label, "b", mark, width=94)
    cut = lines[: MOST - 1] if len(lines) > MOST else lines
    for place, line in enumerate(cut):
        name = f"{key} {place}"
        if line.mark is None or line.mark is card.mark:
            canvas.text(name, WHAT, y + 17, line.text, width=END - WHAT)
        else:
            said = f"{line.mark.label}  {line.name + '  ' if line.name else ''}{line.text}"
            box = (WHAT - 6, y, END - WHAT, LINE - 2)
            canvas.box(f"box {name}", *box, line.mark.key, [said], "ml")
            if line.pair in ends:
                x, up = END - 6, ends.pop(line.pair)
                low, bend = y + 12 - up, 14 + 4 * (len(ends) % 3)
                path = f"M0 0C{bend} 0 {bend} {low:g} 0 {low:g}"
                canvas.edge(f"pair {name}", path, x=x, y=up)
            elif line.mark is theme.CALL:
                ends[line.pair] = y + 12
        y += LINE
    y += LINE * canvas.left_out(f"more {key}", WHAT, y + 17, len(lines) - len(cut), "more block")
    return y + 8


def block_rows(array: Array, rows: int, width: int, plain: str = "") -> list[list[object]]:
    """The cells of a table with a row a block: index, role, kind, content, id and tokens.

    Index, role and tokens are in the first row of each message.
    """
    shown = [(card, blocks.lines(card.shown, card.injected)) for card in array.cards]
    body: list[list[object]] = []
    for one in static.cut(shown, rows, [len(lines) for _, lines in shown]):
        if isinstance(one, static.Gap):
            body.append(["…", "", "", f"{count(one, 'message')} left out", "", ""])
            continue
        card, lines = one
        for place, line in enumerate(lines):
            kind = line.mark.label if line.mark and line.mark is not card.mark else plain
            start = (card.index, card.mark.label, card.tokens) if place == 0 else ("", "", "")
            said = blocks.failure(line.text) if line.mark is theme.UNMARKED else ""
            text = one_line(str(line), width) + (f" ({said})" if said else "")
            body.append([*start[:2], kind, text, blocks.short_id(line.pair), start[2]])
    return body

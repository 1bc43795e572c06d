"""The message array that is sent to the model, and how much of it each request carries.

Read this view first: an agent is this array and a loop. A call and its result show the id that they
share. A request carries all rows above it: its bar is as long as theirs together, on one scale, and
its end is what no request before has carried. Text that the harness injects is marked, so that it
can't be mistaken for the user's.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from learnkit.events.log import Event
from learnkit.events.text import clean, count, one_line
from learnkit.views.drawing import blocks, display, static, theme
from learnkit.views.drawing.array import Array, MessageCard, Request, grow
from learnkit.views.drawing.base import Worded, css_beside
from learnkit.views.drawing.display import Canvas, fitting
from learnkit.views.drawing.text import esc, scale_of
from learnkit.views.words import describe

#: In the static picture, in pixels: length of a full bar, room for the number beside it, and where
#: content starts and ends.
BAR, LABEL, WHAT, END = 130, 56, 140, 508
#: The shortest scale, in tokens.
LEAST = 100
#: The most lines of one message in the static picture.
MOST = 4


@dataclass(frozen=True, slots=True)
class State:
    """The arrays that are shown, by agent."""

    arrays: dict[str, Array] = field(default_factory=dict)

    @property
    def scale(self) -> int:
        """The tokens that a full bar represents; it grows in steps, so that bars rarely change."""
        longest = max((array.longest for array in self.arrays.values()), default=0)
        return scale_of(max(longest, LEAST))

    @property
    def legend(self) -> str:
        """What the lengths are."""
        asked = any(array.requests for array in self.arrays.values())
        return f"≈ tokens: characters / 4{_CARRIES if asked else ''}"

    def called(self, lane: str) -> str:
        """What an array is called: by its agent, or nothing if there is only the lead's."""
        return one_line(lane, 40) if self.arrays.keys() - {"lead"} else ""


class Messages(Worded[State]):
    """The live message array of one agent, or of every agent in the log, side by side."""

    name = "message array"
    css = css_beside(__file__)
    start = State()

    def fold(self, state: State, event: Event) -> State:
        array = state.arrays.get(event.lane) or Array(event.lane)
        grown = grow(array, event)
        if grown is array:
            return state
        return replace(state, arrays={**state.arrays, event.lane: grown})

    def _says(self, state: State) -> list[str]:
        if not state.arrays:
            return ["The array is empty."]
        if len(state.arrays) == 1:
            (array,) = state.arrays.values()
            first, *more = _found(array)
            return [f"{_before(state, array.lane)}{first}", *more]
        sizes = [f"{one_line(lane, 40)}’s {array.size}" for lane, array in state.arrays.items()]
        return [f"{len(sizes)} arrays, one for each agent.", f"{'; '.join(sizes)}."]

    def told(self, state: State, old: State, event: Event) -> str:
        array, before = state.arrays[event.lane], _before(state, event.lane)
        if event.type == "model.requested" and array.requests:
            return f"{before}{' '.join(_requested(array.requests[-1]))}"
        if event.type == "message.added" and array.cards[-1].injected:
            return f"{before}The harness injects it. {describe(event)}"
        return f"{before}{describe(event)}"

    def frame(self, state: State, width: float = display.WIDE) -> dict[str, str]:
        shown = {"ruler": ruler(state.scale, f'<span class="note">{state.legend}</span>')}
        for raw, array in state.arrays.items():
            lane = clean(raw)
            name = esc(state.called(raw))
            shown[f"{lane}/summary"] = (
                f'<div class="sum" data-quiet>{name} <span>{array.size}</span></div>'
            )
            if array.system:
                shown[f"{lane}/system"] = array.system
            requests = {one.messages: one for one in array.requests}
            for place, card in enumerate(array.cards):
                shown[f"{lane}/{place}"] = card.html
                if place + 1 in requests:
                    now = array.waiting and place + 1 == len(array.cards)
                    shown[f"{lane}/request {place + 1}"] = _request(requests[place + 1], now)
        return shown

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas = Canvas(width)
        canvas.text("legend", 8, 20, state.legend, "q", width=END)
        y = 20.0
        if state.arrays:
            left = width - 8 - LABEL - BAR
            canvas.text("scale", left - 8, y, f"{state.scale:,}", "qe", width=90)
            canvas.edge("ruler", f"M0 0v5h{BAR}v-5", x=left, y=y - 8)
            y += 24
        for lane, array in state.arrays.items():
            name = state.called(lane)
            size = f"{name}: {array.size}" if name else array.size
            canvas.text(f"size {lane}", 8, y, size, "b")
            y = _draw(canvas, array, y + 8, rows // len(state.arrays), state.scale) + 26
        canvas.height = max(y - 18, 34)
        return canvas

    def facts(self, state: State, rows: int) -> str:
        head, tables = ["#", "role", "block", "content", "id", "≈ tokens"], ""
        for lane, array in state.arrays.items():
            room = rows // len(state.arrays)
            name = state.called(lane)
            tables += f"<p>{esc(f'{name}: ' if name else '')}{array.size} (≈: characters / 4)</p>"
            tables += static.table(head, block_rows(array, room, 30 + 3 * room))
            if array.requests:
                body = [
                    [f"request {one.number}", one.messages, one.tokens, one.new]
                    for one in array.requests
                ]
                columns = ["", "messages", "≈ tokens", "of which new"]
                tables += static.table(columns, body, room, newest=True)
        return tables or "<p>empty</p>"


_CARRIES = ". A request carries all rows above it; orange is new"


def _before(state: State, lane: str) -> str:
    name = state.called(lane)
    return f"{name}: " if name else ""


def _found(array: Array) -> list[str]:
    """What a whole array shows: its requests, or without any, whether its calls are answered."""
    if array.requests and array.asked > 1:
        one = array.requests[-1]
        return [
            f"Each request carries the whole array again: {array.asked} requests.",
            f"≈ {array.carried:,} tokens in all, ≈ {one.tokens:,} in the last one alone.",
        ]
    if array.requests:
        return _requested(array.requests[-1])
    said = count(len(array.cards), "message")
    if not array.calls:
        return [f"{said}, ≈ {array.tokens:,} tokens."]
    results = [
        line
        for card in array.cards
        for line in blocks.lines(card.message, card.injected)
        if line.mark in (theme.RESULT, theme.ERROR)
    ]
    calls = count(len(array.calls), "call")
    if waiting := len(array.calls.keys() - {line.pair for line in results}):
        return [f"{said}: {calls}.", f"{waiting} without a result."]
    has = " and the result that" if len(array.calls) == 1 else ", each with the result that"
    bad = sum(line.mark is theme.ERROR for line in results)
    return [f"{said}: {calls}{has} has its id.", f"{count(bad, 'error')}." if bad else ""]


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
    lane = clean(array.lane)
    shown = [(card, blocks.lines(card.message, card.injected)) for card in array.cards]
    requests = {one.messages: one for one in array.requests}
    costs = [min(len(lines), MOST) + (card.index + 1 in requests) for card, lines in shown]
    ends: dict[str, float] = {}
    y = top
    if array.system_tokens:
        canvas.text(f"system {lane}", 44, y + 16, f"{theme.SYSTEM.label} prompt and tools", "b")
        canvas.bar(f"edge {lane}", 34, y + 2, 3, 20, theme.SYSTEM.key)
        _bar(canvas, f"system {lane}", y, scale, array.system_tokens)
        y += 28
    for one in static.cut(shown, rows, costs):
        if isinstance(one, static.Gap):
            canvas.left_out(f"gap {lane}", WHAT, y + 16, one, "message")
            y += 26
            continue
        y = _draw_message(canvas, lane, *one, y, scale, ends)
        if request := requests.get(one[0].index + 1):
            key = f"request {lane} {request.number}"
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
        if new == tokens and wide < BAR - 30:  # the first request: what its colour means
            canvas.text(f"{key} is new", left + wide + 5, y + 16, "new", "", "fresh")
    canvas.text(f"{key} size", canvas.width - 8, y + 16, f"≈ {tokens:,}", "e", width=LABEL)


def _draw_message(
    canvas: Canvas,
    lane: str,
    card: MessageCard,
    lines: list[blocks.BlockLine],
    y: float,
    scale: int,
    ends: dict[str, float],
) -> float:
    """Draw a message below ``y``; ``ends`` has where the open calls stand. Return where it ends."""
    key, mark = f"{lane} {card.index}", card.mark.key
    canvas.bar(f"edge {key}", 34, y + 2, 3, 22 * min(len(lines), MOST) - 2, mark)
    canvas.text(f"index {key}", 28, y + 16, str(card.index), "mqe", width=28)
    canvas.text(f"role {key}", 44, y + 16, card.mark.label, "b", mark, width=94)
    _bar(canvas, f"bar {key}", y, scale, card.tokens)
    cut = lines[: MOST - 1] if len(lines) > MOST else lines
    for place, line in enumerate(cut):
        name, failed = f"{key} {place}", ""
        if line.failed and line.mark is theme.RESULT:
            failed = f"{theme.ERROR.glyph} "
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

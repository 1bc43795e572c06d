"""Tokens over turns: how long each request was, and where compaction made it shorter.

Each request is a column on one scale with the threshold: what came from the prompt cache, and what
is new. So a rewrite shows twice: the column is shorter, and more of it is new. A dashed column is
what the messages were before a compaction, and an arrow goes down to what they are after it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from learnkit.core.token_count import estimate_tokens
from learnkit.events.compaction import CompactionCleared, CompactionSummarised, TokensEstimated
from learnkit.events.log import Event
from learnkit.events.loop import MessageAdded, MessagesRewritten, ModelReplied, RunStarted
from learnkit.events.text import count
from learnkit.events.vocabulary import read
from learnkit.views.drawing import theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas, text_width
from learnkit.views.drawing.plot import legend, short, ticks_of
from learnkit.views.drawing.text import scale_of

#: In pixels: the height of a full column, its upper end, where the first one begins, and the least
#: that a column takes.
HEIGHT, TOP, LEFT, LEAST = 170, 64, 48, 3
#: For how many columns there is room.
_SLOTS = (6, 10, 16, 24, 32, 48, 64, 90, 128, 180, 224)
#: Last word of a compaction's event type -> glyph, and what it is.
_LAYERS = {"cleared": ("▽", "clearing"), "summarised": ("▼", "summary")}


@dataclass(frozen=True, slots=True)
class RequestLength:
    """An answered request: its tokens, those from the cache, and whether the API counted them."""

    tokens: int
    cached: int = 0
    counted: bool = False


@dataclass(frozen=True, slots=True)
class Shortened:
    """One compaction, and the index of the first request after it."""

    place: int
    layer: str
    before: int
    after: int

    @property
    def said(self) -> str:
        """What it did, in words."""
        glyph, word = _LAYERS[self.layer]
        share = 100 * (self.before - self.after) / self.before if self.before else 0
        return (
            f"{glyph} {word}: ≈{self.before:,} → ≈{self.after:,} tokens, "
            f"≈{self.before - self.after:,} saved ({share:.0f}%)"
        )


@dataclass(frozen=True, slots=True)
class State:
    """The requests, the compactions, the threshold. And what is only known so far.

    Attributes:
        requests: all that were answered.
        shortened: the compactions.
        threshold: tokens at which compaction begins; 0 for none.
        head: tokens of the system prompt and the tools.
        length: tokens of the messages.
        estimate: what the harness has estimated for the next request, if it has.
    """

    requests: tuple[RequestLength, ...] = ()
    shortened: tuple[Shortened, ...] = ()
    threshold: int = 0
    head: int = 0
    length: int = 0
    estimate: int | None = None

    @property
    def scale(self) -> int:
        """The tokens that the full height represents: a round number."""
        columns = [one.tokens for one in self.requests]
        threshold = self.threshold if self.requests else 0
        return scale_of(max([threshold, *columns, *(one.before for one in self.shortened)]))


class Tokens(Diagram[State]):
    """The length of every request of one agent, the threshold, and each compaction."""

    name = "tokens over turns"
    start = State()
    alone = True

    def fold(self, state: State, event: Event) -> State:
        requests = state.requests
        match read(event):
            case RunStarted(system=system, tools=tools):
                head = estimate_tokens(system) + estimate_tokens(list(tools))
                return replace(state, head=head)
            case MessageAdded(message=message):
                return replace(state, length=state.length + estimate_tokens(message), estimate=None)
            case MessagesRewritten(messages=messages):
                return replace(state, length=estimate_tokens(list(messages)), estimate=None)
            case TokensEstimated(tokens=tokens, threshold=threshold):
                return replace(state, estimate=tokens, threshold=threshold)
            case CompactionCleared() | CompactionSummarised() as cut:
                layer = event.type.partition(".")[2]
                cuts = (*state.shortened, Shortened(len(requests), layer, cut.before, cut.after))
                return replace(state, shortened=cuts, estimate=None)
            case ModelReplied(purpose="conversation", usage=usage):
                guess = state.head + state.length if state.estimate is None else state.estimate
                cached = usage.cache_read_input_tokens
                new = RequestLength(usage.sent or guess, cached, bool(usage.sent))
                return replace(state, requests=(*requests, new), estimate=None)
        return state

    def says(self, state: State) -> list[str]:
        if not state.requests:
            return ["No request was answered yet."]
        number, longest = len(state.requests), max(one.tokens for one in state.requests)
        under = longest <= state.threshold
        limit = f", {'under' if under else 'over'} the threshold of {state.threshold:,}"
        limit = limit if state.threshold else ""
        which = f"The longest of {number} requests" if number > 1 else "The only request"
        has = f"has ≈{short(longest)} tokens"
        cached = sum(one.cached for one in state.requests)
        share = cached / max(sum(one.tokens for one in state.requests), 1)
        cache = f"{share:.0%} of all tokens sent came from the cache." * bool(cached)
        many = len(state.shortened)
        if not many:
            return [f"{which} {has}.", f"Nothing was compacted{limit}.", cache]
        compactions, s = count(many, "compaction"), "s" * (many == 1)
        removed = short(sum(one.before - one.after for one in state.shortened))
        saved = f"{compactions} remove{s} ≈{removed} tokens."
        if under and all(one.before > state.threshold for one in state.shortened):
            times = "once" if many == 1 else count(many, "time")
            passed = f"The messages passed {state.threshold:,} tokens {times}, and were compacted."
            return [passed, f"{saved} {which} {has}.", cache]
        return [saved, f"{which} {has}{limit}.", cache]

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas = Canvas(width)
        scale, base, room = state.scale, TOP + HEIGHT, width - LEFT
        for tick in ticks_of(scale):
            y = base - HEIGHT * tick / scale
            canvas.text(f"tick {tick}", LEFT - 8, y + 4, short(tick), "q e")
            canvas.edge(f"line {tick}", f"M0 0H{room:g}", x=LEFT, y=y)
        canvas.text("unit", 0, 12, "≈ tokens in a request", "q")
        # A column may have to stand for several requests: then the longest of them.
        many = max([1, len(state.requests), *(cut.place + 1 for cut in state.shortened)])
        group = math.ceil(many / min(8 * rows, room / LEAST))
        # Room for more than there are, so that the columns don't move with every request.
        slots = next(n for n in _SLOTS if n >= math.ceil(many / group))
        each = room / slots
        width_of = max(each - 2, 1.5)
        cached = ""  # one path for all: a bar each would make the static form too long
        for first in range(0, len(state.requests), group):
            places = range(first, min(first + group, len(state.requests)))
            place = max(places, key=lambda number: state.requests[number].tokens)
            one, x = state.requests[place], LEFT + each * (first // group) + 1
            high, pale = (HEIGHT * part / scale for part in (one.tokens, one.cached))
            high = max(high, 1.5)
            size = (width_of, high - pale, theme.FRESH.key)
            canvas.bar(f"new {first}", x, base - high, *size, says=_said(state, place))
            cached += f"M{x:.1f} {-pale:.1f}h{width_of:.1f}V0h{-width_of:.1f}z" * bool(pale)
        if cached:
            canvas.edge("cached", cached, theme.CACHED.key, "f", y=base)
        before = ""
        for cut in {cut.place: cut for cut in state.shortened[::-1]}.values():
            x, high = LEFT + each * math.ceil(cut.place / group) + 1, HEIGHT * cut.before / scale
            before += f"M{x:.1f} 0v-{high:.1f}h{width_of:.1f}V0" * (each > 14)
        if before:
            canvas.edge("before", before, theme.INJECTED.key, "d", y=base)
        if state.threshold and state.requests:
            y = base - HEIGHT * state.threshold / scale
            canvas.edge("threshold", f"M0 0H{room:g}", "", "di", x=LEFT, y=y)
            # What the dashed line is is said above it, where no column and no arrow gets.
            canvas.edge("limit", "M0 0H22", "", "di", x=width - 22, y=8)
            canvas.text("limits", width - 30, 12, f"threshold {state.threshold:,}", "e")
        _arrows(canvas, state, each, group)
        last = len(state.requests)
        if last:
            canvas.text("first", LEFT, base + 16, "request 1", "q")
        end = LEFT + each * math.ceil(last / group)
        if end - LEFT > 100:
            canvas.text("last", end, base + 16, f"{last}", "q e")
        y = base + 26
        if group > 1:
            said = f"a column is the longest of {group} requests"
            canvas.text("group", LEFT, y + 10, said, "q")
            y += 18
        marks = [(one.key, one.word) for one in (theme.CACHED, theme.FRESH) if cached]
        layers = dict.fromkeys(_LAYERS[cut.layer] for cut in state.shortened)
        marks += [("", " ".join(one)) for one in layers]
        canvas.height = (legend(canvas, LEFT, y, marks) if marks else y) + 4
        return canvas


def _said(state: State, place: int) -> str:
    one = state.requests[place]
    cached = f", {one.cached:,} of them from the cache" if one.cached else ", all of them new"
    return f"Request {place + 1} has {'' if one.counted else '≈'}{one.tokens:,} tokens{cached}"


def _arrows(canvas: Canvas, state: State, each: float, group: int) -> None:
    """Draw the compactions: arrows from before to after, and their numbers where there is room."""
    mark, base, free = theme.INJECTED.key, TOP + HEIGHT, canvas.width + 4
    for number, cut in reversed([*enumerate(state.shortened)]):
        # What came between the same two requests stands side by side.
        beside = sum(one.place == cut.place for one in state.shortened[:number])
        x = LEFT + each * (math.ceil(cut.place / group) + 0.5) + 10 * beside
        low = base - HEIGHT * cut.after / state.scale
        path = f"M0 0V{low - TOP:.1f}m-4 -6l4 6l4 -6"
        says = f"Before request {cut.place + 1}: {cut.said}"
        canvas.edge(f"cut {number}", path, mark, "w", x=x, y=TOP, says=says)
        lines = f"{_LAYERS[cut.layer][0]} {short(cut.before)}", f"→ {short(cut.after)}"
        left = min(x - 5, free - 8 - max(map(text_width, lines)))
        if x - left < 30 and each > 14:  # else the arrow says it
            canvas.rows(f"cut {number} is", left, TOP - 22, lines, "", mark, 15)
            free = left

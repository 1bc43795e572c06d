"""Tokens over turns: how long each request was, and where compaction made it shorter.

Each request is a column on one scale with the threshold. Tokens from the prompt cache are pale and
new ones have full colour, so that a rewrite shows twice: the column is shorter, and all of it is
new. Below are the compactions, with their lengths before and after on the same scale.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from learnkit.core.events import Event
from learnkit.core.text import count, one_line
from learnkit.core.token_count import estimate_tokens, sent
from learnkit.views.drawing import static
from learnkit.views.drawing.base import Drawn, DrawnView, css_beside
from learnkit.views.drawing.static import Picture
from learnkit.views.drawing.text import esc, scale_of

#: Height of a full column in pixels, in the picture and live (``tokens.css`` has it, too).
HEIGHT = 150
#: Last word of a compaction's event type -> glyph, and what it did.
_LAYERS = {"cleared": ("▽", "results cleared"), "summarised": ("▼", "summarised")}


@dataclass(frozen=True, slots=True)
class RequestLength:
    """One request: its tokens, those from the cache, and whether the API reported them."""

    turn: int
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
            f"≈{self.before - self.after:,} saved ({share:.0f} %)"
        )


@dataclass(frozen=True, slots=True)
class State(Drawn):
    """The requests, the compactions, and the length of the array now."""

    requests: tuple[RequestLength, ...] = ()
    shortened: tuple[Shortened, ...] = ()
    threshold: int = 0
    head_tokens: int = field(default=0, compare=False)
    length: int = field(default=0, compare=False)
    estimate: int | None = field(default=None, compare=False)

    @property
    def scale(self) -> int:
        """The tokens that the full height represents: a round number."""
        columns = [one.tokens for one in self.requests]
        return scale_of(max([self.threshold, *columns, *(one.before for one in self.shortened)]))


class Tokens(DrawnView[State]):
    """The length of every request of one agent, the threshold, and each compaction."""

    name = "tokens over turns"
    css = css_beside(__file__)
    start = State()

    def step(self, state: State, event: Event) -> State:
        return super().step(state, event) if event.lane == (self.lane or "lead") else state

    def fold(self, state: State, event: Event) -> State:
        data, requests = event.data, state.requests
        match event.type:
            case "run.started":
                head = estimate_tokens(data.get("system")) + estimate_tokens(data.get("tools"))
                return replace(state, head_tokens=head)
            case "message.added":
                length = state.length + estimate_tokens(data.get("message"))
                return replace(state, length=length, estimate=None)
            case "messages.rewritten":
                return replace(state, length=estimate_tokens(data.get("messages")), estimate=None)
            case "tokens.estimated":
                threshold = int(data.get("threshold") or 0)
                return replace(state, estimate=data.get("tokens"), threshold=threshold)
            case "compaction.cleared" | "compaction.summarised":
                before, after = int(data.get("before", 0)), int(data.get("after", 0))
                layer = event.type.partition(".")[2]
                new = Shortened(len(requests), layer, before, after)
                return replace(state, shortened=(*state.shortened, new), estimate=None)
            case "model.requested" if "purpose" not in data:
                tokens = state.estimate
                if tokens is None:
                    tokens = state.head_tokens + state.length
                asked = RequestLength(int(data.get("turn", 0)), tokens)
                return replace(state, requests=(*requests, asked))
            case "model.replied" if "purpose" not in data and requests:
                usage = data.get("usage") or {}
                if total := sent(usage):
                    cached = int(usage.get("cache_read_input_tokens") or 0)
                    last = replace(requests[-1], tokens=total, cached=cached, counted=True)
                    return replace(state, requests=(*requests[:-1], last))
        return state

    def draw(self, state: State, old: State) -> dict[str, str]:
        scale = state.scale
        html = {
            "turns/axis": f'<div class="axis" data-quiet>full height: ≈{scale:,} tokens'
            '<i style="background:var(--lk-system-edge);opacity:.55"></i>from the prompt cache'
            f'<i style="background:var(--lk-assistant-edge)"></i>{esc(_method(state))}</div>',
            "turns/plot": _plot(state, scale),
        }
        for number, one in enumerate(state.shortened):
            html[f"saved/{number}"] = (
                '<div class="saved m-injected" style="border-left-width:3px">'
                f"{esc(_where(state, one))}"
                f'<span class="pair" style="width:{100 * one.before / scale:.1f}%"></span>'
                f'<span class="pair after" style="width:{100 * one.after / scale:.1f}%"></span>'
                "</div>"
            )
        return html

    def line(self, state: State) -> str:
        longest = max((one.tokens for one in state.requests), default=0)
        saved = sum(one.before - one.after for one in state.shortened)
        return (
            f"{self.name}: {count(len(state.requests), 'request')}, the longest "
            f"≈{longest:,} tokens; {count(len(state.shortened), 'compaction')} saved "
            f"≈{saved:,}; {state.head}"
        )

    def picture(self, state: State, rows: int) -> Picture:
        picture = Picture(f"{self.line(state)} The lengths stand in the table below.")
        left, width, top = 70, static.WIDTH - 86, 20.0
        base, scale = top + HEIGHT, state.scale
        each = min(width / max(len(state.requests), 1), 26.0)
        picture.text(left - 6, top + 8, f"≈{scale:,}", "q e", 60)
        picture.text(left - 6, base, "0", "q e", 60)
        picture.path(f"M{left} {top}V{base}H{left + width}")
        cuts = {one.place: one for one in state.shortened}
        for place, one in enumerate(state.requests):
            x = left + 2 + place * each
            high, quiet = HEIGHT * one.tokens / scale, HEIGHT * one.cached / scale
            if quiet:
                picture.bar(round(x, 1), base - quiet, max(each - 1, 1), quiet, "system")
            picture.bar(round(x, 1), base - high, max(each - 1, 1), high - quiet, "assistant")
            if place in cuts:
                glyph, _ = _LAYERS[cuts[place].layer]
                picture.text(x - 3, base - high - 5, glyph, "b", 20, "injected")
        if state.threshold:
            y = base - HEIGHT * state.threshold / scale
            picture.path(f"M{left} {y:.1f}H{left + width}", "error")
            picture.text(left + width, y - 4, f"threshold ≈{state.threshold:,}", "e", 200, "error")
        y = base + 20
        picture.bar(left, y - 9, 10, 10, "system")
        picture.text(left + 15, y, "from the prompt cache", "q", 200)
        picture.bar(left + 170, y - 9, 10, 10, "assistant")
        picture.text(left + 185, y, _method(state), "q")
        for cut in state.shortened[-max(rows // 2, 1) :]:
            y += 20
            picture.text(left, y, _where(state, cut), "", width)
        picture.height = y + 16
        return picture

    def facts(self, state: State, rows: int) -> str:
        cuts = {one.place: one for one in state.shortened}
        body: list[list[object]] = []
        for one in static.cut(list(enumerate(state.requests)), rows * 2):
            if isinstance(one, static.Gap):
                body.append([f"… {one.hidden} more …", "", "", ""])
                continue
            place, request = one
            note = one_line(cuts[place].said, 90) if place in cuts else ""
            body.append([request.turn, request.tokens, request.cached, note])
        return static.table(["turn", "≈ tokens", "from the cache", "before it"], body)


def _method(state: State) -> str:
    counted = any(one.counted for one in state.requests)
    return "new in the request" + ("" if counted else " (≈4 characters a token)")


def _where(state: State, one: Shortened) -> str:
    before = state.requests[one.place].turn if one.place < len(state.requests) else None
    return f"{f'before turn {before}' if before else 'before the next turn'}: {one.said}"


def _plot(state: State, scale: int) -> str:
    cuts = {one.place: one for one in state.shortened}
    columns = []
    for place, one in enumerate(state.requests):
        after = "after" if place in cuts else ""
        now = "now" if one is state.requests[-1] else ""
        classes = f"{after} {now}".strip()
        cached = f", {one.cached:,} of them from the cache" if one.cached else ""
        said = f"turn {one.turn}: ≈{one.tokens:,} tokens{cached}"
        if place in cuts:
            said += f"; before it {cuts[place].said}"
        new = HEIGHT * (one.tokens - one.cached) / scale
        columns.append(
            f'<i class="{classes}" title="{esc(said)}"><b style="height:{new:.1f}px"></b>'
            f'<u style="height:{HEIGHT * one.cached / scale:.1f}px"></u></i>'
        )
    line = ""
    if state.threshold:
        y = HEIGHT * (1 - state.threshold / scale)
        line = (
            f'<hr style="top:{y:.1f}px"><em style="top:{max(y - 18, 0):.1f}px">'
            f"threshold ≈{state.threshold:,}</em>"
        )
    said = count(len(state.requests), "request")
    if state.requests:
        said += f", the last with ≈{state.requests[-1].tokens:,} tokens"
    return (
        f'<div class="plot" data-quiet role="img" aria-label="{esc(said)}">'
        f'<div class="cols">{"".join(columns)}</div>{line}</div>'
    )

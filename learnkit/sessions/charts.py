"""The pictures of a session that no view of a single run draws: its context, its time, its agents.

They are display lists like those of the views, with the same marks; the rest of the page's pictures
are the views themselves.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from learnkit.events.text import count, one_line
from learnkit.sessions.findings import Finding
from learnkit.sessions.turns import Session, Source, Thread, Turn
from learnkit.views.drawing.display import Canvas, text_width
from learnkit.views.drawing.plot import legend, short, ticks_of
from learnkit.views.drawing.text import scale_of
from learnkit.views.drawing.time_axis import Axis, duration

#: What a context is made of, in the order in which it is piled up: words and the key of a mark.
FIXED, TALK, FILES, REST = "system prompt and tools", "messages", "files read", "other tools"
KINDS = (FIXED, TALK, FILES, REST)
_READ = {FILES: "agent-2", REST: "agent-7"}
_TOOLS = ("agent-3", "agent-5", "agent-6")
#: In pixels: the height of the plot, wide and narrow, the least a column takes, a finding's disc.
HEIGHT, LOW, LEAST, DISC = 250, 170, 4, 11


def anchor(lane: str, number: int) -> str:
    """The name of a turn's place on the page."""
    return f"t-{'_'.join(lane.split())}-{number}"


def group_of(source: Source, tools: Sequence[str]) -> str:
    """What a part of a context is drawn as."""
    kind, name = source
    if kind == "tool":
        return name if name in tools else REST
    return FILES if kind == "file" else TALK


def largest_tools(thread: Thread) -> list[str]:
    """The tools that get a colour of their own: those with the most tokens in any request."""
    most: Counter[str] = Counter()
    for turn in thread.turns:
        for (kind, name), size in turn.parts.items():
            if kind == "tool":
                most[name] = max(most[name], size)
    seen = max(map(thread.size, thread.turns), default=0) / 50  # what is less can't be seen
    return [name for name, size in most.most_common(len(_TOOLS)) if size > seen]


def piled(thread: Thread, turn: Turn, tools: Sequence[str]) -> dict[str, float]:
    """A request's tokens by what they are; the estimates are stretched to the server's count."""
    fixed, whole = thread.fixed(), thread.size(turn)
    fixed = min(fixed, whole)
    stretch = (whole - fixed) / turn.estimate if turn.estimate else 0.0
    pile = {name: 0.0 for name in (FIXED, TALK, *tools, FILES, REST)}
    pile[FIXED] = fixed
    for source, size in turn.parts.items():
        pile[group_of(source, tools)] += size * stretch
    return pile


def context(thread: Thread, found: Sequence[Finding], width: float) -> Canvas:
    """How long each request was and what filled it, with a disc where a finding happened."""
    canvas, turns, tools = Canvas(width), thread.turns, largest_tools(thread)
    marks = {FIXED: "system", TALK: "user", **dict(zip(tools, _TOOLS, strict=False)), **_READ}
    high, scale = LOW if width < 560 else HEIGHT, scale_of(max(map(thread.size, turns)))
    left, room = 40.0, width - 40
    group = math.ceil(len(turns) / (room / LEAST))
    columns = [turns[first : first + group] for first in range(0, len(turns), group)]
    longest = [max(several, key=thread.size) for several in columns]
    each = min(room / len(columns), 64)
    heights = [high * thread.size(turn) / scale for turn in longest]
    spots = _spots(thread, found, (each, group), heights, room)
    base = max([high, *(DISC - y for *_, y in spots)]) + 14
    for tick in ticks_of(scale):
        y = base - high * tick / scale
        canvas.edge(f"line {tick}", f"M0 0H{room:g}", x=left, y=y)
        canvas.text(f"tick {tick}", left - 8, y + 4, short(tick), "qe")
    paths = dict.fromkeys(marks, "")
    wide = max(each - (2 if each > 8 else 0.6), 1)
    for place, turn in enumerate(longest):
        x, y = each * place + 1, 0.0
        for name, size in piled(thread, turn, tools).items():
            if (tall := high * size / scale) >= 0.2:
                paths[name] += f"M{x:.1f} {-y:.1f}v{-tall:.1f}h{wide:.1f}v{tall:.1f}z"
            y += tall
    for name, path in paths.items():
        if path:
            canvas.edge(f"part {name}", path, marks[name], "f", x=left, y=base)
    for place, turn in enumerate(longest):
        spot = left + each * place, base - heights[place], each, heights[place]
        says, pair = _says(thread, turn, tools), anchor(thread.lane, turn.number)
        canvas.bar(f"turn {place}", *spot, style="o", says=says, pair=pair)
    end = left + each * len(columns)
    canvas.text("first", left, base + 18, "turn 1", "q")
    _cuts(canvas, thread, left, each / group, base)
    if end - left > 110:
        canvas.text("last", end, base + 18, str(len(turns)), "qe")
    for number, x, y in spots:
        says, look = f"{number}: {found[number - 1].sentence}", ("failed", str(number), "bc")
        canvas.dot(f"disc {number}", left + x, base + y, DISC, *look, says=says, pair=f"f{number}")
    used = [(marks[name], name) for name in marks if paths[name]]
    canvas.height = legend(canvas, left, base + 32, used) + 4
    return canvas


def _spots(
    thread: Thread,
    found: Sequence[Finding],
    grid: tuple[float, int],
    heights: Sequence[float],
    room: float,
) -> list[tuple[int, float, float]]:
    """Where a disc stands for each finding: above its turn, clear of the columns and the others.

    Its number, and its place from the lower left corner of the plot.
    """
    each, group = grid
    placed: list[tuple[int, float, float]] = []
    for number, one in enumerate(found, start=1):
        mine = [turn for lane, turn in one.turns if lane == thread.lane]
        starts = (call for call in thread.calls.values() if call.child == one.turns[0][0])
        mine = mine or [call.turn for call in starts]  # of a subagent: where it was started
        if mine:
            x = each * ((mine[0] - 1) // group + 0.5)
            x = min(max(x, DISC), room - DISC - 1)
            near = heights[max(int((x - DISC) // each), 0) : int((x + DISC) // each) + 1]
            y = -max(near) - DISC - 5
            while any(abs(x - a) < 2 * DISC + 2 > abs(y - b) for _, a, b in placed):
                y -= 2
            placed.append((number, x, y))
    return placed


def _says(thread: Thread, turn: Turn, tools: Sequence[str]) -> str:
    pile = piled(thread, turn, tools)
    parts = ", ".join(f"{name} ≈{round(size):,}" for name, size in pile.items() if size >= 1)
    about = "" if turn.usage.known else "≈"
    return f"Turn {turn.number}: {about}{thread.size(turn):,} tokens: {parts}"


def _cuts(canvas: Canvas, thread: Thread, left: float, each: float, base: float) -> None:
    """Say where the context was compacted, where there is room between the first and last turn."""
    free, end = left + 50, left + each * len(thread.turns) - 110
    for number, cut in enumerate(thread.cuts):
        x = left + each * (cut.turn - 1)
        canvas.edge(f"cut {number}", "M0 0v6", "", "i", x=x, y=base)
        if (begin := max(x - 32, free)) < end:
            canvas.text(f"cut {number} is", begin, base + 18, "compacted", "q")
            free = begin + 72


def fillers(thread: Thread, most: int = 12) -> list[tuple[str, str, int, int]]:
    """What the longest request held: words, the key of a mark, tokens, and how many calls."""
    if not thread.turns:
        return []
    turn, tools = max(thread.turns, key=thread.size), largest_tools(thread)
    marks = {TALK: "user", **dict(zip(tools, _TOOLS, strict=False)), **_READ}
    calls = Counter(call.source for call in thread.calls.values() if call.turn < turn.number)
    rows: Counter[tuple[str, str, int]] = Counter()
    for source, size in turn.parts.items():
        kind, name = source
        said = f"…/{'/'.join(PurePath(name).parts[-2:])}" if name.count("/") > 2 else name
        said = said if kind in ("tool", "file") else TALK
        rows[one_line(said, 60), marks[group_of(source, tools)], calls[source]] += size
    rows[FIXED, "system", 0] = thread.fixed()
    found = [(*key[:2], size, key[2]) for key, size in rows.most_common() if size > 0]
    if len(found) > most:
        rest = found[most - 1 :]
        said = count(len(rest), "more source")
        found = [*found[: most - 1], (said, "plain", sum(one[2] for one in rest), 0)]
    return found


def time_line(session: Session, width: float, most: int = 14) -> Canvas:
    """When each agent worked: the model, its tools, and where a person was waited for.

    The scale is time at work. A pause is a gap of one width, with its length beside it.
    """
    canvas, lead = Canvas(width), session.lead
    every = [one for one in session.threads.values() if one.turns]
    threads = every[:most]
    pauses = [one for one in lead.waits if one[1] - one[0] >= 1]
    gap = min(26.0, 0.3 * width / max(len(pauses), 1))
    waited, notches = 0.0, list[float]()
    for begin, end in pauses:
        notches.append(begin - session.begin - waited)
        waited += end - begin
    axis = Axis(max(session.end - session.begin - waited, 1.0), 0, width - gap * len(pauses) - 2)

    def x(at: float) -> float:
        lost = sum(max(min(end, at) - begin, 0) for begin, end in pauses)
        return axis.x(at - session.begin - lost) + gap * sum(end <= at for _, end in pauses)

    y = 20.0
    low = y + 42 * len(threads)
    for share, said in axis.ticks:
        work = axis.scale * share
        at = axis.x(work) + gap * sum(notch < work for notch in notches)
        canvas.edge(f"tick {said}", f"M0 0V{low - 8:g}", x=at, y=8)
        canvas.text(f"time {said}", at + 4, 12, said, "q", width=60)
    free = 0.0  # where the name of the lead ends, or the last length of a pause
    for number, thread in enumerate(threads):
        name = one_line(thread.title or thread.lane, 60) if thread is not lead else "main agent"
        free = free or text_width(name, "b") + 8
        canvas.text(f"name {number}", 0, y + 12, name, "b")
        for mark, spans in (("call", worked(thread)), ("assistant", replies(thread))):
            path = "".join(
                f"M{x(begin):.1f} 0h{max(x(end) - x(begin), 0.7):.1f}v16H{x(begin):.1f}z"
                for begin, end in spans
            )
            if path:
                canvas.edge(f"{mark} {number}", path, mark, "f", y=y + 18)
        y += 42
    for number, (begin, end) in enumerate(pauses):
        at, took = x(begin), lasted(end - begin)
        says = f"waits {took} for the next prompt"
        canvas.bar(f"pause {number}", at + gap / 4, 38, gap / 2, 16, "idle", says=says)
        if free < at < width - text_width(took):
            canvas.text(f"pause {number} is", at + gap / 4, 33, took, "q", "idle")
            free = at + text_width(took) + 12
    low += 20 * canvas.left_out("gone", 0, low + 8, len(every) - len(threads), "more agent")
    marks = [("assistant", "the model"), ("call", "its tools")]
    marks += [("idle", "waits for you")] * bool(pauses)
    canvas.height = legend(canvas, 0, low + 6, marks) + 4
    return canvas


def lasted(seconds: float) -> str:
    """A length of time, without what nobody reads of a long one."""
    return duration(60 * round(seconds / 60) if seconds >= 120 else round(seconds))


def replies(thread: Thread) -> Iterator[tuple[float, float]]:
    """When the model worked: begin and end, in seconds on the log's clock."""
    return ((one.asked, one.replied) for one in thread.turns if one.replied is not None)


def worked(thread: Thread) -> Iterator[tuple[float, float]]:
    """When tools worked: begin and end, in seconds on the log's clock."""
    return ((one.start, one.end) for one in thread.calls.values() if one.end is not None)


def busy(spans: Iterable[tuple[float, float]]) -> float:
    """Seconds that are in at least one of the spans."""
    total, until = 0.0, -math.inf
    for begin, end in sorted(spans):
        total += max(end - max(begin, until), 0.0)
        until = max(until, end)
    return total

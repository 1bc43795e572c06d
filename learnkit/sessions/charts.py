"""The pictures of a session that no view of a single run draws: its context and its time.

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

#: What a context is made of: words and the key of a mark. Three tools have marks of their own.
FIXED, TALK, FILES, REST = "system prompt and tools", "messages", "files read", "other tools"
KINDS = {FIXED: "system", TALK: "user", FILES: "agent-2", REST: "agent-7"}
_TOOLS = ("agent-3", "agent-5", "agent-6")
#: In pixels: the height of the plot, wide and narrow; the least and the most that a column takes; a
#: finding's disc.
HEIGHT, LOW, LEAST, WIDEST, DISC = 250, 170, 4, 64, 11


def anchor(lane: str, number: int) -> str:
    """The name of a turn's place on the page."""
    return f"t-{'_'.join(lane.split())}-{number}"


def marks_of(thread: Thread) -> dict[str, str]:
    """The marks of what its contexts are made of, in the order in which it is piled up."""
    most: Counter[str] = Counter()
    for turn in thread.turns:
        for (kind, name), size in turn.parts.items():
            most[name] = max(most[name], size) if kind == "tool" else most[name]
    seen = max(map(thread.size, thread.turns), default=0) / 50  # what is less can't be seen
    tools = [name for name, size in most.most_common(len(_TOOLS)) if size > seen]
    fixed, talk, *others = KINDS.items()
    return dict([fixed, talk, *zip(tools, _TOOLS, strict=False), *others])


def group_of(source: Source, marks: dict[str, str]) -> str:
    """What a part of a context is drawn as."""
    kind, name = source
    if kind == "tool":
        return name if name in marks else REST
    return FILES if kind == "file" else TALK


def piled(thread: Thread, turn: Turn, marks: dict[str, str]) -> dict[str, float]:
    """A request's tokens by what they are; the estimates are stretched to the server's count."""
    whole = thread.size(turn)
    pile = dict.fromkeys(marks, 0.0) | {FIXED: min(thread.fixed(), whole)}
    stretch = (whole - pile[FIXED]) / turn.estimate if turn.estimate else 0.0
    for source, size in turn.parts.items():
        pile[group_of(source, marks)] += size * stretch
    return pile


def fillers(thread: Thread, most: int = 12) -> list[tuple[str, str, int, int]]:
    """What the longest request held: words, the key of a mark, tokens, and how many calls."""
    turn, marks = max(thread.turns, key=thread.size), marks_of(thread)
    calls = Counter(call.source for call in thread.calls.values() if call.turn < turn.number)
    rows = Counter({(FIXED, KINDS[FIXED], 0): thread.fixed()})
    for (kind, name), size in turn.parts.items():
        said = f"…/{'/'.join(PurePath(name).parts[-2:])}" if name.count("/") > 2 else name
        said = one_line(said, 60) if kind in ("tool", "file") else TALK
        rows[said, marks[group_of((kind, name), marks)], calls[kind, name]] += size
    found = [(*key[:2], size, key[2]) for key, size in rows.most_common() if size > 0]
    if rest := found[most - 1 :] if len(found) > most else []:
        said = count(len(rest), "more source")
        found[most - 1 :] = [(said, "plain", sum(one[2] for one in rest), 0)]
    return found


def context(thread: Thread, found: Sequence[Finding], width: float) -> Canvas:
    """How long each request was and what filled it, with a disc where a finding happened."""
    canvas, turns, marks = Canvas(width), thread.turns, marks_of(thread)
    high, scale = LOW if width < 560 else HEIGHT, scale_of(max(map(thread.size, turns)))
    left, room = 40.0, width - 40
    group = math.ceil(len(turns) / (room / LEAST))
    columns = [turns[first : first + group] for first in range(0, len(turns), group)]
    longest = [max(several, key=thread.size) for several in columns]
    each = min(room / len(columns), WIDEST)
    heights = [high * thread.size(turn) / scale for turn in longest]
    spots = list(_spots(thread, found, heights, group, room))
    base = max([high, *(DISC - y for *_, y in spots)]) + 14
    for tick in ticks_of(scale):
        y = base - high * tick / scale
        canvas.edge(f"line {tick}", f"M0 0H{room:g}", x=left, y=y)
        canvas.text(f"tick {tick}", left - 8, y + 4, short(tick), "qe")
    paths, piles = dict.fromkeys(marks, ""), [piled(thread, turn, marks) for turn in longest]
    wide = max(each - (2 if each > 8 else 0.6), 1)
    for place, pile in enumerate(piles):
        y = 0.0
        for name, size in pile.items():
            if (tall := high * size / scale) >= 0.2:
                x = each * place + 1
                paths[name] += f"M{x:.1f} {-y:.1f}v{-tall:.1f}h{wide:.1f}v{tall:.1f}z"
            y += tall
    for name, path in paths.items():
        if path:
            canvas.edge(f"part {name}", path, marks[name], "f", x=left, y=base)
    for place, (turn, pile) in enumerate(zip(longest, piles, strict=True)):
        parts = ", ".join(f"{name} ≈{round(size):,}" for name, size in pile.items() if size >= 1)
        about = "" if turn.usage.known else "≈"
        says = f"Turn {turn.number}: {about}{thread.size(turn):,} tokens: {parts}"
        spot = left + each * place, base - heights[place], each, heights[place]
        pair = anchor(thread.lane, turn.number)
        canvas.bar(f"turn {place}", *spot, style="o", says=says, pair=pair)
    low = _along(canvas, thread, left, each / group, base)
    for number, x, y in spots:
        says, look = f"{number}: {found[number - 1].sentence}", ("failed", str(number), "bc")
        canvas.dot(f"disc {number}", left + x, base + y, DISC, *look, says=says, pair=f"f{number}")
    used = [(marks[name], name) for name in marks if paths[name]]
    canvas.height = legend(canvas, left, low, used) + 4
    return canvas


def _spots(
    thread: Thread, found: Sequence[Finding], heights: Sequence[float], group: int, room: float
) -> Iterator[tuple[int, float, float]]:
    """Where a disc stands for each finding: above its turn, clear of the columns and the others.

    Its number, and its place from the lower left corner of the plot. A column has ``group`` turns.
    """
    placed: list[tuple[float, float]] = []
    each = min(room / len(heights), WIDEST)
    for number, one in enumerate(found, start=1):
        mine = [turn for lane, turn in one.turns if lane == thread.lane]
        # That of a subagent is where it was started.
        mine += [call.turn for call in thread.calls.values() if call.child == one.turns[0][0]]
        if mine:
            x = min(max(each * ((mine[0] - 1) // group + 0.5), DISC), room - DISC - 1)
            near = heights[max(int((x - DISC) // each), 0) : int((x + DISC) // each) + 1]
            y = -max(near) - DISC - 5
            while any(abs(x - a) < 2 * DISC + 2 > abs(y - b) for a, b in placed):
                y -= 2
            placed.append((x, y))
            yield number, x, y


def _along(canvas: Canvas, thread: Thread, left: float, step: float, base: float) -> float:
    """Number the turns, and say where the context was compacted; return where that ends."""
    last = len(thread.turns)
    end = min(left + step * last, canvas.width)
    canvas.text("first", left, base + 18, "turn 1", "q")
    for number in ticks_of(last):
        if left + 60 < (x := left + step * (number - 0.5)) < end - 48:
            canvas.text(f"at {number}", x, base + 18, str(number), "qc")
    if end > left + 60:
        canvas.text("last", end, base + 18, str(last), "qe")
    free = left
    for number, cut in enumerate(thread.cuts):
        x = left + step * (cut - 1)
        canvas.edge(f"cut {number}", "M0 0v4M0 24v12", "", "i", x=x, y=base)
        if free <= x < canvas.width - 72:
            canvas.text(f"cut {number} is", x + 4, base + 34, "compacted", "q")
            free = x + 72
    return base + (46 if thread.cuts else 30)


def time_line(session: Session, width: float, most: int = 14) -> Canvas:
    """When each agent worked: the model, its tools, and where a person was waited for.

    The scale is time at work. A pause is a gap of one width, with its length beside it.
    """
    canvas, lead = Canvas(width), session.lead
    every = [one for one in session.threads.values() if one.turns]
    pauses = [one for one in lead.waits if one[1] - one[0] >= 1]
    gap = min(26.0, 0.3 * width / max(len(pauses), 1))
    work = session.end - session.begin - sum(end - begin for begin, end in pauses)
    axis = Axis(max(work, 1.0), 0, width - gap * len(pauses) - 2)

    def x(at: float) -> float:
        lost = sum(max(min(end, at) - begin, 0) for begin, end in pauses)
        return axis.x(at - session.begin - lost) + gap * sum(end <= at for _, end in pauses)

    y = 20.0
    low, free = y + 42 * min(len(every), most), text_width("main agent", "b") + 8
    for share, said in axis.ticks:
        at = session.begin + axis.scale * share
        for begin, end in pauses:
            at += end - begin if begin < at else 0
        canvas.edge(f"tick {said}", f"M0 0V{low - 8:g}", x=x(at), y=8)
        canvas.text(f"time {said}", x(at) + 4, 12, said, "q", width=60)
    for number, thread in enumerate(every[:most]):
        name = one_line(thread.title or thread.lane, 60) if thread is not lead else "main agent"
        canvas.text(f"name {number}", 0, y + 12, name, "b")
        for mark, spans in zip(("call", "assistant"), worked(thread), strict=True):
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
    low += 20 * canvas.left_out("gone", 0, low + 8, len(every) - most, "more agent")
    marks = [("assistant", "the model"), ("call", "its tools")]
    marks += [("idle", "waits for you")] * bool(pauses)
    canvas.height = legend(canvas, 0, low + 6, marks) + 4
    return canvas


def lasted(seconds: float) -> str:
    """A length of time, without what nobody reads of a long one."""
    return duration(60 * round(seconds / 60) if seconds >= 120 else round(seconds))


def worked(*threads: Thread) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """When tools and when the model worked: begin and end, in seconds on the log's clock."""
    calls = [call for one in threads for call in one.calls.values()]
    turns = [turn for one in threads for turn in one.turns]
    return (
        [(call.start, call.end) for call in calls if call.end is not None],
        [(turn.asked, turn.replied) for turn in turns if turn.replied is not None],
    )


def busy(spans: Iterable[tuple[float, float]]) -> float:
    """Seconds that are in at least one of the spans."""
    total, until = 0.0, -math.inf
    for begin, end in sorted(spans):
        total += max(end - max(begin, until), 0.0)
        until = max(until, end)
    return total

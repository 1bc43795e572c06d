"""The pictures of a session that no view of a single run draws: its context and its time.

They are display lists like those of the views, with the same marks; the rest of the page's pictures
are the views themselves.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
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
_TOOLS = ("agent-6", "agent-1", "agent-5")
#: In pixels: the height of the plot, wide and narrow; the least and the most that a column takes; a
#: finding's disc, and the row that it leads.
HEIGHT, LOW, LEAST, WIDEST, DISC, ROW = 210, 160, 4, 64, 9, 22
#: Where a plot begins; the bar of the whole time, and where the work begins below it.
LEFT, CLOCK, ENLARGED = 40, 24, 66
#: Lengths of time: begin and end of each, in seconds on the log's clock.
Spans = Sequence[tuple[float, float]]


def anchor(lane: str, number: int) -> str:
    """The name of a turn's place on the page."""
    return f"t-{'_'.join(lane.split())}-{number}"


def marks_of(thread: Thread) -> dict[str, str]:
    """The marks of what its contexts are made of, in the order in which it is piled up."""
    most: Counter[str] = Counter()
    for turn in thread.turns:
        most |= Counter({name: size for (kind, name), size in turn.parts.items() if kind == "tool"})
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
    """How long each request was and what filled it, with a row of its turns for each finding."""
    canvas, turns, marks = Canvas(width), thread.turns, marks_of(thread)
    high, scale = LOW if width < 560 else HEIGHT, scale_of(max(map(thread.size, turns)))
    room = width - LEFT
    group = math.ceil(len(turns) / (room / LEAST))
    longest = [max(turns[at : at + group], key=thread.size) for at in range(0, len(turns), group)]
    each = min(room / len(longest), WIDEST)
    wide = max(each - (2 if each > 8 else 0.6), 1)
    paths, piles = dict.fromkeys(marks, ""), [piled(thread, turn, marks) for turn in longest]
    for place, pile in enumerate(piles):
        y = 0.0
        for name, size in pile.items():
            if (tall := high * size / scale) >= 0.2:
                x = each * place + 1
                paths[name] += f"M{x:.1f} {-y:.1f}v{-tall:.1f}h{wide:.1f}v{tall:.1f}z"
            y += tall
    canvas.text("unit", 0, 12, "Tokens of each request, by what they are")
    base = legend(canvas, 0, 18, [(marks[name], name) for name in marks if paths[name]]) + high + 12
    for tick in ticks_of(scale):
        y = base - high * tick / scale
        canvas.edge(f"line {tick}", f"M0 0H{room:g}", x=LEFT, y=y)
        canvas.text(f"tick {tick}", 0, y + 4, short(tick), "q")
    for name, path in paths.items():
        if path:
            canvas.edge(f"part {name}", path, marks[name], "f", x=LEFT, y=base)
    for place, (turn, pile) in enumerate(zip(longest, piles, strict=True)):
        parts = ", ".join(f"{name} ≈{round(size):,}" for name, size in pile.items() if size >= 1)
        about = "" if turn.usage.known else "≈"
        says = f"Turn {turn.number}: {about}{thread.size(turn):,} tokens: {parts}"
        x, tall = LEFT + each * place, high * thread.size(turn) / scale
        pair = anchor(thread.lane, turn.number)
        canvas.bar(f"turn {place}", x, base - tall, each, tall, style="o", says=says, pair=pair)
    y = _along(canvas, thread, each / group, base, high)
    for number, one in enumerate(found, start=1):
        mine = [turn for lane, turn in one.turns if lane == thread.lane]
        # Those of a subagent are where it was started.
        mine += [call.turn for call in thread.calls.values() if call.child == one.turns[0][0]]
        if mine:
            at = [each * ((turn - 1) // group) + 1 for turn in sorted(set(mine))]
            link = {"says": f"{number}: {one.sentence}", "pair": f"f{number}"}
            spans = "".join(f"M{x:.1f} -5v10h{max(wide, 3):.1f}v-10z" for x in at)
            canvas.edge(f"row {number}", f"M{2 * DISC - LEFT} 0H{room:g}", x=LEFT, y=y)
            canvas.edge(f"from {number}", f"M{at[0]:.1f} 0H{at[-1]:.1f}", "failed", x=LEFT, y=y)
            canvas.edge(f"turns {number}", spans, "failed", "f", x=LEFT, y=y, **link)
            canvas.dot(f"disc {number}", DISC, y, DISC, "failed", str(number), "bc", **link)
            y += ROW
    canvas.height = y - 4
    return canvas


def _along(canvas: Canvas, thread: Thread, step: float, base: float, high: float) -> float:
    """Number the turns, and say where the context was compacted; return where a row may follow."""
    last = len(thread.turns)
    end = min(LEFT + step * last, canvas.width)
    canvas.text("first", LEFT, base + 18, "turn 1", "q")
    for number in ticks_of(last):
        if LEFT + 60 < (x := LEFT + step * (number - 0.5)) < end - 48:
            canvas.text(f"at {number}", x, base + 18, str(number), "qc")
    if end > LEFT + 60:
        canvas.text("last", end, base + 18, str(last), "qe")
    for number, cut in enumerate(thread.cuts):
        x = LEFT + step * (cut - 1)
        canvas.edge(f"cut {number}", f"M0 {-high}V6", "", "di", x=x, y=base)
        if not number:
            canvas.text("cut", min(x, canvas.width - 30), base + 34, "compacted", "qc")
    return base + (54 if thread.cuts else 38)


def time_line(session: Session, width: float, most: int = 14) -> Canvas:
    """When each agent worked: the model, its tools, and where a person was waited for.

    The scale is time at work, cut where a person was waited for. How long that was shows above it,
    where the whole time is one bar.
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

    top = ENLARGED * bool(pauses)
    y = top + 20.0
    low = y + 42 * min(len(every), most)
    zigzag = "l4 5l-4 5" * round((low - y) / 10 - 2)
    for number, (begin, _) in enumerate(pauses if gap > 20 else []):  # texts lie over it
        canvas.edge(f"cut {number}", f"M7 0{zigzag}M15 0{zigzag}", "", "i", x=x(begin), y=y + 18)
    for share, said in axis.ticks:
        at = axis.room * share
        at += gap * sum(x(begin) < at + gap * n for n, (begin, _) in enumerate(pauses))
        canvas.edge(f"tick {said}", f"M0 0V{low - top - 8:g}", x=at, y=top + 8)
        canvas.text(f"time {said}", at + 4, top + 16, said, "q", width=60)
    for number, thread in enumerate(every[:most]):
        name = one_line(thread.title or thread.lane, 60) if thread is not lead else "main agent"
        canvas.text(f"name {number}", 0, y + 14, name, "b")
        for mark, spans in zip(("call", "assistant"), worked(thread), strict=True):
            path = "".join(
                f"M{x(a):.1f} 0h{max(x(b) - x(a), 0.7):.1f}v16H{x(a):.1f}z" for a, b in spans
            )
            if path:
                canvas.edge(f"{mark} {number}", path, mark, "f", y=y + 20)
        y += 42
    if pauses:
        _whole(canvas, session, pauses, x)
    low += 20 * canvas.left_out("gone", 0, low + 8, len(every) - most, "more agent")
    canvas.height = legend(canvas, 0, low + 6, [("assistant", "the model"), ("call", "its tools")])
    return canvas


def _whole(canvas: Canvas, session: Session, pauses: Spans, x: Callable[[float], float]) -> None:
    """The whole time as one bar, hatched where a person was waited for; lines lead to the cuts."""
    whole = session.end - session.begin
    each, low = (canvas.width - 2) / whole, 18 + CLOCK
    canvas.text("all", 0, 12, f"{lasted(whole)} in all; below, the work enlarged")
    canvas.bar("whole", 0, 18, each * whole, CLOCK, "plain")
    for number, (begin, end) in enumerate(pauses):
        at, wide, took = each * (begin - session.begin), each * (end - begin), lasted(end - begin)
        words = f"{took} waiting for you"
        canvas.bar(f"pause {number}", at, 18, wide, CLOCK, "idle", "p", says=words)
        hatching = "".join(f"M{n} 0l{-CLOCK} {CLOCK}" for n in range(CLOCK + 4, int(wide), 8))
        canvas.edge(f"hatched {number}", hatching, "idle", x=at, y=18)
        leads = f"M{at:.1f} {low}L{x(begin):.1f} {ENLARGED}M{at + wide:.1f} {low}L{x(end):.1f}"
        canvas.edge(f"leads {number}", f"{leads} {ENLARGED}")
        if said := next((one for one in (words, took) if text_width(one) + 32 < wide), ""):
            room = text_width(said) + 16
            spot = at + (wide - room) / 2, 18, room, CLOCK
            canvas.box(f"took {number}", *spot, "idle", [said], "l")


def lasted(seconds: float) -> str:
    """A length of time, without what nobody reads of a long one."""
    return duration(60 * round(seconds / 60) if seconds >= 120 else round(seconds))


def worked(*threads: Thread) -> tuple[Spans, Spans]:
    """When tools and when the model worked."""
    calls = [call for one in threads for call in one.calls.values()]
    turns = [turn for one in threads for turn in one.turns]
    return (
        [(call.start, call.end) for call in calls if call.end is not None],
        [(turn.asked, turn.replied) for turn in turns if turn.replied is not None],
    )


def busy(spans: Spans) -> float:
    """Seconds that are in at least one of the spans."""
    total, until = 0.0, -math.inf
    for begin, end in sorted(spans):
        total += max(end - max(begin, until), 0.0)
        until = max(until, end)
    return total

"""Lesson b2's explorable: what a fact survives, by where it was written down.

What the picture says of a note, a rule and a sentence is what the lesson's ``agent_beyond.py``
does, which a test tries; sessions and checkpoints are as the products have them.
"""

from __future__ import annotations

from learnkit.course.lessons.plots import signs
from learnkit.views.drawing.display import Canvas, wrapped
from learnkit.widget.explore import Answer, Explorable, drag, explore

#: What happens, one after the other, and why it then is as it is.
BECAUSE = {
    "a turn": "All messages are sent again with each request, and the system prompt, too.",
    "a compaction": "A summary replaces the messages, and never the system prompt.",
    "a new session": "It has a system prompt, and no messages until you resume the old ones.",
    "300 more notes": "The newest 200 lines are sent, and this note is older; recall finds it.",
    "a move to another machine": "Only what git tracks comes along.",
}
MOMENTS = tuple(BECAUSE)
SENT, FOUND, GONE = "sent", "in a file", "gone"
PLACES = ("the session", "AGENTS.md", "a note", "a checkpoint")
#: Tokens of the fact, of a line in the list of notes, and how many notes there were before, and
#: are added; of how many a line is sent.
FACT, LINE, NOTES, MORE, LINES = 40, 20, 20, 300, 200


def state(place: str, moment: str) -> str:
    """Whether a fact is still sent, only found, or gone."""
    at = MOMENTS.index(moment)
    if place == "AGENTS.md":  # git brings it along
        return SENT
    if moment == "a move to another machine":  # the other three are on the disk of this one
        return GONE
    last = {"the session": "a turn", "a note": "a new session"}.get(place)
    return SENT if last and at <= MOMENTS.index(last) else FOUND


def draw(width: float, moment: str) -> Answer:
    """Draw what becomes of a fact in four places, and light what is so after a moment."""
    canvas, now = Canvas(width), MOMENTS.index(moment)
    # On a phone, a name is above its row.
    beside, above = (150, 0) if width > 560 else (0, 21)
    step, row = (width - beside) / len(MOMENTS), _ROW + above
    xs = [beside + (number + 0.5) * step for number in range(len(MOMENTS))]
    base = _FIRST + len(PLACES) * row
    canvas.text("fact", 0, 14, "The fact: “In Oslo, it's hot from 25 °C.”", "q")
    for one, x in zip(MOMENTS, xs, strict=True):
        lines = wrapped(one, step + 4)
        canvas.rows(one, x, _FIRST + 6 - 16 * len(lines), lines, "c", "cause" * (one == moment))
    for number, place in enumerate(PLACES):
        top = _FIRST + number * row
        y = top + above + 16
        canvas.edge(f"{place} line", f"M0 0H{width:g}", y=top)
        canvas.text(place, 0, y + 4 if beside else top + 15, place, "b")
        canvas.bar(f"{place} lit", xs[now] - step / 2, y - 16, step, _ROW, "cause", "p")
        for at, (one, x) in enumerate(zip(MOMENTS, xs, strict=True)):
            found = state(place, one)
            mark, line, disc = _LOOKS[found]
            if found == GONE:
                canvas.text(f"{place} lost", x, y + 4, "✗", "bcn", mark)
            else:
                canvas.dot(f"{place} dot {at}", x, y, 6, mark, style=disc)
            if at and line:
                canvas.edge(f"{place} {at}", f"M{6 - step:g} 0H-6", mark, line, x=x, y=y)
            if one == moment:
                so = f"{LINE if place == 'a note' else FACT} tokens" if found == SENT else found
                canvas.text(f"{place} now", x, y + 22, so, "cn", mark)
    canvas.edge("axis", f"M0 0H{width:g}", y=base)
    signs(canvas, base + 22, _SIGNS)
    canvas.height = base + 32
    *most, last = (one for one in PLACES if state(one, moment) == SENT)
    where = f"{', '.join(most)} and {last}" if most else f"{last} only"
    finding = f"After {moment}, Oslo's limit is sent from {where}."
    return Answer(finding, canvas, _ASSUMES, BECAUSE[moment], (xs[0], base, xs[-1], base))


def explorable() -> Explorable:
    """The week, with what happens to drag."""
    return explore(draw, moment=drag(MOMENTS, "a compaction", "what happens", said=str))


_FIRST, _ROW = 84, 46
#: The mark of a dot, the line to it, and its disc.
_LOOKS = {SENT: ("done", "w", "c"), FOUND: ("pending", "d", "cg"), GONE: ("failed", "", "")}
_SIGNS = ("c", "done", "in each request"), ("cg", "pending", FOUND), ("✗", "failed", GONE)
_ASSUMES = (
    f"simulated: the fact has {FACT} tokens, a line of the list of notes {LINE}; {NOTES} notes are "
    f"older, later {MORE} newer, and {LINES} lines are sent. The summary is assumed to leave the "
    "fact out, notes aren't in git, and each of the events comes after those to its left."
)

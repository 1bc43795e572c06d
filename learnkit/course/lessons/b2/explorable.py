"""Lesson b2's explorable: what a fact survives, by where it was written down.

What the picture says of a note, a rule and a sentence is what the lesson's ``agent_beyond.py``
does, which a test tries; sessions and checkpoints are as the products have them.
"""

from __future__ import annotations

from learnkit.views.drawing.display import Canvas
from learnkit.widget.explore import Answer, Explorable, drag, explore, pick

#: What happens, one after the other, and why it then is as it is.
BECAUSE = {
    "a turn": "All messages are sent again with each request, and the system prompt, too.",
    "a compaction": "A summary replaces the messages, and never the system prompt.",
    "a new session": "It has a system prompt, and no messages until you resume the old ones.",
    "300 more notes": "The list grows by a line a note.",
    "a move to another machine": "Only what git tracks comes along.",
}
MOMENTS = tuple(BECAUSE)
SENT, FOUND, GONE = "sent", "not sent, but in a file", "gone"
PLACES = ("said in the session", "AGENTS.md", "a note", "a checkpoint")
WHOLE, NEWEST, OLDEST = "whole", "its newest 200 lines", "its oldest 200 lines"
#: Tokens of the fact, of a line in the list of notes, and how many notes there were before.
FACT, LINE, NOTES, MORE, LINES = 40, 20, 20, 300, 200


def state(place: str, moment: str, sends: str) -> str:
    """Whether a fact is still sent, only found, or gone."""
    at = MOMENTS.index(moment)
    if place == "AGENTS.md":  # git brings it along
        return SENT
    if moment == "a move to another machine":  # the other three are on the disk of this one
        return GONE
    if place == "a note":
        return FOUND if sends == NEWEST and at >= MOMENTS.index("300 more notes") else SENT
    if place == "a checkpoint":
        return FOUND
    return SENT if at < MOMENTS.index("a compaction") else FOUND


def listed(moment: str, sends: str) -> int:
    """How many lines of the list are sent."""
    if moment == "a move to another machine":
        return 0
    number = NOTES + 1 + MORE * (moment == "300 more notes")
    return number if sends == WHOLE else min(number, LINES)


def tokens(place: str, moment: str, sends: str) -> int:
    """What is sent of the fact with each request."""
    if state(place, moment, sends) != SENT:
        return 0
    return LINE if place == "a note" else FACT


def draw(width: float, moment: str, list_sends: str) -> Answer:
    """Draw a fact's way through the week, from four places."""
    canvas, now = Canvas(width), MOMENTS.index(moment)
    step = (width - 2 * _EDGE) / (len(MOMENTS) - 1)
    xs = [_EDGE + number * step for number in range(len(MOMENTS))]
    canvas.text("head", 0, 14, "where it was written", "b")
    canvas.text("head now", width, 14, "in each request", "qe")
    base = _FIRST + len(PLACES) * _ROW
    canvas.edge("cause", f"M0 0V{base - 24}", "cause", "d", x=xs[now], y=24)
    for number, place in enumerate(PLACES):
        y = _FIRST + number * _ROW
        found = [state(place, one, list_sends) for one in MOMENTS[: now + 1]]
        canvas.text(f"{place} name", 0, y, place, "b")
        sent = tokens(place, moment, list_sends)
        what = "its line" if place == "a note" else "sent"
        said = f"{what}, {sent} tokens" if sent else found[-1]
        canvas.text(f"{place} now", width, y, said, "e", _MARKS[found[-1]])
        for at, one in enumerate(found):
            mark, far = _MARKS[one], one == FOUND
            if one == GONE:
                canvas.text(f"{place} lost", xs[at], y + 22, "✗", "bc", mark)
                continue
            canvas.dot(f"{place} dot {at}", xs[at], y + 18, 6, mark, style="cg" if far else "")
            if at:
                way = f"M6 0H{step - 6:g}"
                canvas.edge(f"{place} {at}", way, mark, "d" if far else "w", x=xs[at - 1], y=y + 18)
    canvas.edge("axis", f"M0 0H{width - 2 * _EDGE:g}", x=_EDGE, y=base)
    for number, x in enumerate(xs):
        canvas.edge(f"tick {number}", "M0 0V5", x=x, y=base)
    x, style = {0: (0.0, "b"), len(MOMENTS) - 1: (width, "be")}.get(now, (xs[now], "bc"))
    canvas.text("moment", x, base + 20, moment, style, "cause")
    _list(canvas, base + 56, listed(moment, list_sends) * LINE)
    canvas.height = base + 84
    number = sum(state(place, moment, list_sends) == SENT for place in PLACES)
    places = "one place" if number == 1 else f"{number} places"
    finding = f"Something of the fact is sent from {places} after {moment}."
    because = f"{BECAUSE[moment]} {_CUT[list_sends] * (moment == '300 more notes')}".strip()
    return Answer(finding, canvas, _assumes(), because, (_EDGE, base, width - _EDGE, base))


def explorable() -> Explorable:
    """The week, with what happens to drag, and how much of the list is sent to pick."""
    sends = pick((NEWEST, OLDEST, WHOLE), label="of the list of notes, each request has")
    moment = drag(MOMENTS, "a compaction", "what happens", said=str)
    return explore(draw, moment=moment, list_sends=sends)


def _list(canvas: Canvas, y: float, size: int) -> None:
    """What the list costs as it is sent, beside the most that it can cost here."""
    canvas.text("list", 0, y, "the list of notes, as it is sent", "b")
    canvas.text("list now", canvas.width, y, f"{size:,} tokens", "e")
    unit = canvas.width / ((NOTES + 1 + MORE) * LINE)
    canvas.bar("list most", 0, y + 8, canvas.width, 12, "plain", "p")
    canvas.bar("list size", 0, y + 8, size * unit, 12, "fresh")


_EDGE, _FIRST, _ROW = 8, 46, 46
_MARKS = {SENT: "done", FOUND: "pending", GONE: "failed"}

#: What becomes of an old note, and of new ones, by what is sent of the list.
_CUT = {
    NEWEST: "This note is too old to be listed; an agent that knows its name can recall it.",
    OLDEST: "This old note is still listed. Newer ones aren't, and a correction is always newer.",
    WHOLE: "All of it is sent.",
}


def _assumes() -> str:
    return (
        f"simulated: the fact has {FACT} tokens, a line of the list {LINE}; {NOTES} notes "
        f"are older, and later {MORE} newer; a list that is cut has {LINES} lines. The summary is "
        "assumed to leave the fact out, notes aren't in git, and each of the events comes after "
        "those to its left."
    )

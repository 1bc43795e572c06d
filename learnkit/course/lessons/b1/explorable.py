"""Lesson b1's explorable: a call's way through the gates, and what each of them sees of it.

Nothing is simulated: a test makes each call in the lesson's own file, and compares.
"""

from __future__ import annotations

from dataclasses import dataclass

from learnkit.views.drawing.display import Canvas
from learnkit.widget.explore import Answer, Explorable, drag, explore, pick

#: What the user has allowed beforehand.
ALLOWED = (
    "bash(git:*)",
    "bash(python -m pytest:*)",
    "bash(python -m heatwatch:*)",
    "write_file(tests/*)",
)
PASSES, ASKS, STOPS = "passes", "asks", "stops"
NO, YES, PLANS = "says no", "says yes", "has approved no plan"
MODE, GUARD, RULES, BOX = GATES = "plan mode", "guard", "rules", "sandbox"


@dataclass(frozen=True, slots=True)
class Step:
    """A call, and what each gate makes of it.

    Attributes:
        tool: its name.
        about: a command or a path.
        rules: what they do, and what they see.
        guard: likewise.
        sandbox: likewise.
        end: what has happened if nothing stopped it; empty for what is in its order.
    """

    tool: str
    about: str
    rules: tuple[str, str]
    guard: tuple[str, str]
    sandbox: tuple[str, str]
    end: str = ""

    @property
    def harm(self) -> bool:
        """Whether it does harm, if nothing stops it."""
        return bool(self.end) and self.tool != "read_file"


_NO_WORD = PASSES, "the word “stations” isn't in it"
_WORD = STOPS, "“stations” is in it"
_CLOSED = STOPS, "stations/ can't be written"
_FREE = PASSES, "outbox/ may be written"
_HERE = PASSES, "not a command: it isn't run there"
_UNKNOWN = ASKS, "no rule covers it"
_GIT, _PYTEST, _MAIL, _TESTS = ((PASSES, f"{rule} covers it") for rule in ALLOWED)
_READS = PASSES, "no rule, but it only reads"
STEPS = (
    Step("read_file", "notes/oslo.md", _READS, _NO_WORD, _HERE, "the note's order is read"),
    Step("bash", "git diff", _GIT, _NO_WORD, (PASSES, "writes nothing")),
    Step("bash", "rm -r stations", _UNKNOWN, _WORD, _CLOSED),
    Step("bash", "git log; rm -r s*", (ASKS, "no rule covers rm"), _NO_WORD, _CLOSED),
    Step("bash", "git -c alias.x='!rm -r s*' x", _GIT, _NO_WORD, _CLOSED),
    Step("bash", "git diff --output=stations/oslo.csv", _GIT, _WORD, _CLOSED),
    Step("write_file", "tests/conftest.py", _TESTS, _NO_WORD, _HERE, "a program is in tests/"),
    Step("bash", "python -m pytest -q", _PYTEST, _NO_WORD, _CLOSED),
    Step("bash", "python -m heatwatch mail eve 31.4", _MAIL, _NO_WORD, _FREE, "eve has mail"),
    Step("write_file", "outbox/eve.txt", _UNKNOWN, _NO_WORD, _HERE, "eve has mail"),
)


def way(step: Step, user: str) -> list[tuple[str, str, str]]:
    """Gate, decision and what it saw, as if no other gate were there."""
    planning = user == PLANS and step.tool != "read_file"
    mode = (STOPS, "not a tool that reads") if planning else (PASSES, "a tool that reads")
    if user != PLANS:
        mode = PASSES, "a plan is approved"
    found = []
    for gate, (said, saw) in zip(GATES, (mode, step.guard, step.rules, step.sandbox), strict=True):
        if said == ASKS:
            answer = "yes" if user == YES else "no"
            said, saw = (PASSES if user == YES else STOPS), f"{saw}, and you say {answer}"
        found.append((gate, said, saw))
    return found


def draw(width: float, call: Step, user: str) -> Answer:
    """Draw the gates as rows, and each call's line down to the first gate that stops it."""
    canvas, narrow = Canvas(width), width < 640
    left, above, tall = (_LINE, 38, 66) if narrow else (290, 0, 50)
    stops = {step: [gate for gate, said, _ in way(step, user) if said == STOPS] for step in STEPS}
    ends = {step: GATES.index(one[0]) if one else len(GATES) for step, one in stops.items()}
    happens = call.end or "it runs, and does no harm"
    rows = [(_SEES[gate], saw) for gate, _, saw in way(call, user)]
    rows.append(("In the end", "nothing happens" if stops[call] else happens))
    canvas.text("call", 0, 14, f"{call.tool} {call.about}", "m", "call")
    for place, (sees, saw) in enumerate(rows):
        top, mark = _FIRST + place * tall, "call" if place == ends[call] else ""
        canvas.edge(f"above {place}", f"M0 0H{width:g}", y=top)
        room = width if narrow else left - 8
        canvas.text(f"sees {place}", 0, top + 16, sees, "b", mark, width=room)
        canvas.text(f"saw {place}", 0, top + 33, saw, "", mark, width=room)
    for number, step in enumerate(STEPS):
        x = left + number * (width - _LINE - left) / (len(STEPS) - 1)
        mark, style = ("call", "w") if step is call else ("", "")
        for place in range(ends[step] + 1):
            long = (tall - above) / (2 if place == ends[step] else 1)
            top = _FIRST + place * tall + above
            canvas.edge(f"way {number} {place}", f"M0 0V{long:g}", mark, style, x=x, y=top)
        for gate in stops[step][1:]:  # it would have stopped the call, too
            y = _FIRST + GATES.index(gate) * tall + (above + tall) / 2
            canvas.text(f"{gate} too {number}", x, y + 4, "✗", "qc")
        glyph, what = "✗", f"stopped by {stops[step][0]}" if stops[step] else step.end or "no harm"
        if not stops[step]:
            mark, glyph = ("failed", "!") if step.harm else ("done", "✓")
        y = _FIRST + ends[step] * tall + (above + tall) / 2
        says = f"{step.tool} {step.about}: {what}"
        canvas.dot(f"end {number}", x, y, 9, mark, glyph, says=says)
    base = _FIRST + len(rows) * tall
    canvas.height = base
    finding = f"Nothing stops this call: {happens}."
    if stops[call]:
        gate = stops[call][0]
        finding = f"{_STOPS.get(gate, f'The {gate} stops')} this call."
    free = [step for step in STEPS if not stops[step]]
    harm = sum(step.harm for step in free)
    because = f"Let through: {len(free)} of {len(STEPS)} calls, {harm} of them with harm."
    return Answer(finding, canvas, _ASSUMES, because, (left, base, width - _LINE, base))


def explorable() -> Explorable:
    """The gates, with the call to drag."""
    said = "{0.tool} {0.about}".format
    return explore(
        draw,
        call=drag(STEPS, STEPS[4], "call", said=said),
        user=pick((NO, YES, PLANS), label="the user"),
    )


#: What a gate goes by.
_SEES = {
    MODE: "Plan mode sees the tool's name",
    GUARD: "The guard sees the call as text",
    RULES: "Rules see its commands, or its path",
    BOX: "The sandbox sees what is written",
}
_STOPS = {MODE: "Plan mode stops", RULES: "The rules ask you, and you stop"}
_LINE, _FIRST = 18, 26
_ASSUMES = (
    f"The rules allow {', '.join(ALLOWED)}. The guard refuses whatever has “stations” in it. In "
    "the sandbox, stations/ is read-only. All calls were made in agent_beyond.py as the lesson "
    "repairs it. tests/conftest.py deletes s*/*.csv, and pytest runs it."
)

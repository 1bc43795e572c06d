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
        end: what has happened if nothing stopped it; empty for no harm.
    """

    tool: str
    about: str
    rules: tuple[str, str]
    guard: tuple[str, str]
    sandbox: tuple[str, str]
    end: str = ""


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
    """Gate, decision and what it saw, as far as the call gets."""
    planning = user == PLANS and step.tool != "read_file"
    mode = (STOPS, "not a tool that reads") if planning else (PASSES, "a tool that reads")
    if user != PLANS:
        mode = PASSES, "a plan is approved"
    found = []
    for gate, (said, saw) in zip(GATES, (mode, step.guard, step.rules, step.sandbox), strict=True):
        if said == ASKS:
            said, saw = (PASSES if user == YES else STOPS), f"{saw}, and you say {user[5:]}"
        found.append((gate, said, saw))
        if said == STOPS:
            break
    return found


def draw(width: float, call: Step, user: str) -> Answer:
    """Draw the gates, the call's line through those that let it pass, and how all calls fare."""
    canvas, passed = Canvas(width), way(call, user)
    last, through = passed[-1][0], passed[-1][1] != STOPS
    canvas.text("call", 0, 14, f"{call.tool} {call.about}", "m", "call")
    low = _FIRST + len(GATES) * _ROW
    for place, gate in enumerate(GATES):
        said, saw = passed[place][1:] if place < len(passed) else ("", "isn't asked any more")
        mark, style, glyph = _LOOKS[said]
        y, x = _FIRST + place * _ROW, 2 * _LINE + 8
        canvas.box(gate, 0, y, width, _TALL, mark, (), style)
        canvas.text(f"{gate} sees", x, y + 19, _SEES[gate], "bn", mark)
        canvas.text(f"{gate} saw", x, y + 35, saw, "n", mark)
        if said:
            on = _TALL + 9 if said == PASSES else _TALL / 2
            canvas.edge(f"way {gate}", f"M0 -10V{on:g}", "call", "w", x=_LINE, y=y)
            canvas.dot(f"{gate} said", _LINE, y + _TALL / 2, 9, mark, glyph)
    happens = call.end or "it runs, and does no harm"
    if through:
        canvas.edge("through", "M-5 -8L0 0L5 -8", "call", "w", x=_LINE, y=low)
        canvas.text("end", 2 * _LINE + 8, low + 6, happens, "b")
    ends = [way(one, user)[-1][1] for one in STEPS]
    free = len(ends) - ends.count(STOPS)
    canvas.text("all", 0, low + 40, f"{free} of {len(ends)} calls get through", "q")
    base, each = low + 60, (width - 2 * _LINE) / (len(STEPS) - 1)
    for number, end in enumerate(ends):
        mark, _, glyph = _LOOKS[end]
        radius = 10 if STEPS[number] is call else 8
        canvas.dot(f"call {number}", _LINE + number * each, base, radius, mark, glyph)
    canvas.height = base + 14
    names = {MODE: "Plan mode stops", RULES: "The rules ask you, and you stop"}
    stopped = f"{names.get(last, f'The {last} stops')} this call."
    finding = f"Nothing stops this call: {happens}." if through else stopped
    return Answer(finding, canvas, _ASSUMES, axis=(_LINE, base, width - _LINE, base))


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
_LOOKS = {PASSES: ("done", "", "✓"), STOPS: ("failed", "", "✗"), "": ("", "d", "")}
_LINE, _FIRST, _ROW, _TALL = 18, 34, 54, 44
_ASSUMES = (
    f"The rules allow {', '.join(ALLOWED)}. The guard refuses whatever has “stations” in it. In "
    "the sandbox, stations/ is read-only. All calls were made in agent_beyond.py as the lesson "
    "repairs it. tests/conftest.py deletes s*/*.csv, and pytest runs it."
)

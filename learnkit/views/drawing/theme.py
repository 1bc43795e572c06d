"""The visual language of all views: how a role or a state looks.

Each has a glyph, a word and colours, and colour is never the only sign. The live form gets the
colours as CSS variables, and always sets foreground and background together. Static pictures use
the light colours on a card, so that they can be read on any page.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tone:
    """Colours that belong together: text, its background, and the edge around both."""

    fg: str
    bg: str
    edge: str


@dataclass(frozen=True, slots=True)
class Mark:
    """The look of one role or state.

    Attributes:
        key: name in CSS classes and variables.
        glyph: one character, in text presentation (never an emoji).
        word: its name, also for screen readers.
        light: colours on a light page.
        dark: colours on a dark page.
        line: the edge's CSS border style.
    """

    key: str
    glyph: str
    word: str
    light: Tone
    dark: Tone
    line: str = "solid"

    @property
    def label(self) -> str:
        """Glyph and word, to be written before a text."""
        return f"{self.glyph}\u00a0{self.word}"


_BLUE = Tone("#1c4e96", "#edf3fc", "#4a7dc9"), Tone("#a9c9fa", "#17253a", "#5b8bd0")
_VIOLET = Tone("#553795", "#f3effb", "#8062c4"), Tone("#cdb8fb", "#272040", "#8e74cf")
_AMBER = Tone("#74480a", "#fcf3e2", "#ad7518"), Tone("#f0c884", "#332713", "#b3822f")
_GREEN = Tone("#1b5a39", "#eaf5ef", "#3d8c62"), Tone("#9fd8b6", "#152c20", "#4c9a70")
_RED = Tone("#9b1c1c", "#fdeeee", "#c84646"), Tone("#f9b0aa", "#3a1b1b", "#d0605b")
_GREY = Tone("#484e57", "#f2f3f5", "#7b828c"), Tone("#c3c8d0", "#26292e", "#838b97")
_UNSURE = Tone("#484e57", "#f2f3f5", "#c84646"), Tone("#c3c8d0", "#26292e", "#d0605b")
_TEAL = Tone("#0f565f", "#e5f4f5", "#2d8691"), Tone("#93d6dc", "#122c30", "#3f96a0")

USER = Mark("user", "■", "user", *_BLUE)
ASSISTANT = Mark("assistant", "◆", "assistant", *_VIOLET)
CALL = Mark("call", "→", "call", *_AMBER)
RESULT = Mark("result", "←", "result", *_GREEN)
ERROR = Mark("error", "✗", "error", *_RED, line="dashed")
#: A result that reads like a failure and isn't marked as one: it is neither an error nor green.
UNMARKED = Mark("unmarked", "⇠", "result", *_UNSURE, line="dashed")
SYSTEM = Mark("system", "▲", "system", *_GREY)
INJECTED = Mark("injected", "✉\ufe0e", "injected", *_TEAL, line="dotted")

# States are stronger than roles, and none of their colours is a role's: what a thing is, and how
# far it has got, are never told by the same colour.
_SLATE = Tone("#3b4350", "#e6e9ef", "#6c7584"), Tone("#c0c7d3", "#2a2f38", "#8a93a3")
_SKY = Tone("#0b4a70", "#d3ecfa", "#1d7fb5"), Tone("#9bd3f3", "#0f2c3d", "#3f97c9")
_GOLD = Tone("#5f4500", "#ffedb0", "#9a7400"), Tone("#ffd95e", "#3a2f08", "#b8931f")
_LIME = Tone("#2f4f0a", "#dcf0c4", "#56831d"), Tone("#b9e08a", "#20300d", "#6f9f34")
_ROSE = Tone("#8f1246", "#ffdde7", "#c62a66"), Tone("#ffaac6", "#42142a", "#d85b8b")
_STONE = Tone("#5a4630", "#ede3d6", "#8b6c47"), Tone("#ddc6a8", "#332a1f", "#a3845c")
_MIST = Tone("#4a515c", "#eef0f4", "#79818d"), Tone("#b4bbc6", "#202429", "#79818e")
_ASH = Tone("#454950", "#d9dce2", "#70757e"), Tone("#a9aeb7", "#34383e", "#868c96")

PENDING = Mark("pending", "○", "pending", *_SLATE)
READY = Mark("ready", "◎", "ready", *_SKY)
ACTIVE = Mark("active", "▶\ufe0e", "in progress", *_GOLD)
DONE = Mark("done", "✓", "completed", *_LIME)
FAILED = Mark("failed", "✗", "failed", *_ROSE, line="dashed")
BLOCKED = Mark("blocked", "⊘", "blocked", *_STONE, line="dashed")
WORKING = Mark("working", "▶\ufe0e", "working", *_GOLD)
IDLE = Mark("idle", "◌", "idle", *_MIST, line="dotted")
SHUTDOWN = Mark("shutdown", "■", "shutdown", *_ASH)

# Where the tokens of a request came from, in the same colours in every picture.
_FOG = Tone("#4c5666", "#e9edf5", "#727f97"), Tone("#b9c3d6", "#272c36", "#7c89a2")
CACHED = Mark("cached", "▒", "from the cache", *_FOG)
_EMBER = Tone("#8a3200", "#ffe9dc", "#c4500c"), Tone("#ffb388", "#3d1f0d", "#e0702f")
FRESH = Mark("fresh", "█", "new or rewritten", *_EMBER)
_INDIGO = Tone("#3d3f9c", "#e6e7fb", "#6165cf"), Tone("#bfc2ff", "#1f2145", "#7f83e6")
OUTPUT = Mark("output", "▓", "output", *_INDIGO)

#: What an answer to a question or an explorable says of itself: chosen, right, wrong, and the cause
#: that the reader drags.
_COBALT = Tone("#0d4bb5", "#dfeaff", "#1c62c4"), Tone("#9cc3ff", "#10264a", "#5b95ee")
CAUSE = Mark("cause", "●", "chosen", *_COBALT)

#: What something is compared with: a run without the mechanism.
_LEAD = Tone("#40464e", "#e9ebee", "#7c838d"), Tone("#c1c7cf", "#292c32", "#8b929c")
PLAIN = Mark("plain", "▪", "to compare", *_LEAD)

_AGENTS = (
    ("lead", "#23282f", "#eceef1", "#3b434e", "#e4e7ec", "#24282e", "#aab2be"),
    ("1", "#5a2d91", "#f0e8fa", "#7a3fc0", "#d5b8ff", "#2b1b42", "#a06ee6"),
    ("2", "#07575c", "#dff3f2", "#0b7c80", "#86dcdd", "#0b3033", "#1fa3a8"),
    ("3", "#8a3b06", "#fdeadb", "#bd5a12", "#ffb98a", "#3c2010", "#dd7a33"),
    ("4", "#1d4690", "#e4ebfb", "#2f66c9", "#a8c5ff", "#172748", "#6a97ee"),
    ("5", "#8c1b5c", "#fbe4f0", "#b93580", "#ffabd6", "#3d1530", "#dd62a6"),
    ("6", "#46540c", "#eef3d5", "#6b7f14", "#cfe07a", "#272e0c", "#8fa62a"),
    ("7", "#6b3b2c", "#f5e7e2", "#95604d", "#e8bdac", "#35221b", "#b47f6c"),
)
#: An agent's colours, by its place in the team: the lead first. More agents than these share.
AGENTS = tuple(
    Mark(f"agent-{name}", "●", f"agent {name}", Tone(fg, bg, edge), Tone(dark, ground, line))
    for name, fg, bg, edge, dark, ground, line in _AGENTS
)

#: Every mark by its key.
MARKS = {
    mark.key: mark
    for mark in (
        *(USER, ASSISTANT, CALL, RESULT, ERROR, UNMARKED, SYSTEM, INJECTED),
        *(PENDING, READY, ACTIVE, DONE, FAILED, BLOCKED, WORKING, IDLE, SHUTDOWN),
        *(CACHED, FRESH, OUTPUT, CAUSE, PLAIN, *AGENTS),
    )
}

#: The card that carries a static picture: ink, quiet ink, ground, hairline.
INK, QUIET, GROUND, HAIRLINE = "#1f2328", "#59616b", "#ffffff", "#d9dce1"

_PAGE = {
    "light": {"ink": INK, "quiet": QUIET, "ground": GROUND, "line": HAIRLINE},
    "dark": {"ink": "#e6e8eb", "quiet": "#a2a9b3", "ground": "#111111", "line": "#4a5058"},
}


def agent(number: int) -> Mark:
    """The colours of an agent."""
    return AGENTS[number] if number < len(AGENTS) else AGENTS[1 + (number - 1) % (len(AGENTS) - 1)]


def variables(shade: str, keys: Iterable[str]) -> str:
    """CSS declarations that set the colours of a static picture and its marks."""
    page = "".join(f"--lk-{name}:{colour};" for name, colour in _PAGE[shade].items())
    return page + _colours(shade, keys)


def rules(keys: Iterable[str]) -> str:
    """CSS that gives the shapes of a display list the colours of their marks."""
    parts = []
    for key in keys:
        fg, bg, edge = (f"var(--lk-{key}-{part})" for part in ("fg", "bg", "edge"))
        dash = {"dashed": "4 3", "dotted": "1.5 2.5"}.get(MARKS[key].line, "")
        parts.append(
            f".k-{key} text{{fill:{fg}}}.box.k-{key} rect,.dot.g.k-{key} circle{{fill:{bg};"
            f"stroke:{edge}{f';stroke-dasharray:{dash}' if dash else ''}}}"
            f".bar.p.k-{key} rect{{fill:{bg};stroke:{edge}}}"
            f".bar:not(.p).k-{key} rect,.dot:not(.g).k-{key} circle{{fill:{edge}}}"
            f".edge.k-{key} path{{stroke:{edge}}}.edge.f.k-{key} path{{fill:{edge};stroke:none}}"
            f".text.o.k-{key} text{{stroke:{bg}}}"
        )
    return "".join(parts)


def _colours(shade: str, keys: Iterable[str]) -> str:
    return "".join(
        f"--lk-{key}-{part}:{getattr(getattr(MARKS[key], shade), part)};"
        for key in keys
        for part in ("fg", "bg", "edge")
    )


def stylesheet() -> str:
    """CSS for the live form: each mark's variables, and the classes that use them.

    A document's fragment takes a mark with ``m-<key>``, a shape with ``k-<key>``.
    """
    classes = "".join(
        f".m-{key}{{color:var(--lk-{key}-fg);background:var(--lk-{key}-bg);"
        f"border:0 {mark.line} var(--lk-{key}-edge)}}\n"
        f".t-{key}{{color:var(--lk-{key}-fg)}}\n"
        for key, mark in MARKS.items()
    )
    light, dark = _colours("light", MARKS), _colours("dark", MARKS)
    return f":host{{{light}}}\n:host([data-dark]){{{dark}}}\n{classes}{rules(MARKS)}"

"""The visual language of all views: how a role or a state looks.

Each has a glyph, a word and colours, and colour is never the only sign. The live form gets the
colours as CSS variables, and always sets foreground and background together. Static pictures use
the light colours on a card, so that they can be read on any page.
"""

from __future__ import annotations

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
_TEAL = Tone("#0f565f", "#e5f4f5", "#2d8691"), Tone("#93d6dc", "#122c30", "#3f96a0")

USER = Mark("user", "■", "user", *_BLUE)
ASSISTANT = Mark("assistant", "◆", "assistant", *_VIOLET)
CALL = Mark("call", "→", "call", *_AMBER)
RESULT = Mark("result", "←", "result", *_GREEN)
ERROR = Mark("error", "✗", "error", *_RED, line="dashed")
SYSTEM = Mark("system", "▲", "system", *_GREY)
INJECTED = Mark("injected", "✉\ufe0e", "injected", *_TEAL, line="dotted")

PENDING = Mark("pending", "○", "pending", *_GREY)
READY = Mark("ready", "◎", "ready", *_BLUE)
ACTIVE = Mark("active", "▶\ufe0e", "in progress", *_AMBER)
DONE = Mark("done", "✓", "completed", *_GREEN)
FAILED = Mark("failed", "✗", "failed", *_RED, line="dashed")
BLOCKED = Mark("blocked", "⊘", "blocked", *_VIOLET, line="dashed")
WORKING = Mark("working", "▶\ufe0e", "working", *_AMBER)
IDLE = Mark("idle", "◌", "idle", *_GREY, line="dotted")
SHUTDOWN = Mark("shutdown", "■", "shutdown", *_GREY)

#: Every mark by its key.
MARKS = {
    mark.key: mark
    for mark in (
        *(USER, ASSISTANT, CALL, RESULT, ERROR, SYSTEM, INJECTED),
        *(PENDING, READY, ACTIVE, DONE, FAILED, BLOCKED, WORKING, IDLE, SHUTDOWN),
    )
}

#: The card that carries a static picture: ink, quiet ink, ground, hairline.
INK, QUIET, GROUND, HAIRLINE = "#1f2328", "#59616b", "#fdfdfc", "#d9dce1"

#: Pages the live form has to be readable on: light, and JupyterLab's two dark grounds and black.
LIGHT_PAGES = ("#ffffff", GROUND)
DARK_PAGES = ("#111111", "#212121", "#000000")


def stylesheet() -> str:
    """CSS for the live form: each mark's variables, and a class ``m-<key>`` that uses them."""

    def variables(shade: str) -> str:
        return "".join(
            f"--lk-{key}-{part}:{getattr(getattr(mark, shade), part)};"
            for key, mark in MARKS.items()
            for part in ("fg", "bg", "edge")
        )

    classes = "".join(
        f".m-{key}{{color:var(--lk-{key}-fg);background:var(--lk-{key}-bg);"
        f"border:0 {mark.line} var(--lk-{key}-edge)}}\n"
        f".t-{key}{{color:var(--lk-{key}-fg)}}\n"
        for key, mark in MARKS.items()
    )
    return f":host{{{variables('light')}}}\n:host([data-dark]){{{variables('dark')}}}\n{classes}"

"""The badges: which lesson was opened, and where its replies come from."""

from __future__ import annotations

from learnkit.course.display.card import FRAME, Card
from learnkit.views.drawing.text import esc

#: JupyterLab breaks printed text in the middle of a word, and the lines of a diagram made of
#: characters. All outputs and texts of the lesson follow this.
_PRE = ".jp-Notebook .jp-Cell .jp-RenderedMarkdown pre"
WRAP = (
    "<style>.jp-OutputArea-output pre{word-break:normal}"
    f"{_PRE},{_PRE} code{{white-space:pre}}{_PRE}{{overflow-x:auto}}</style>"
)
#: What a mode means.
MODES = {
    "replay": "replies come from the recording; no key, no network",
    "live": "the API answers, and costs money",
    "record": "the API answers, costs money, and is written down",
    "keep": "replies come from the recording, which is written anew",
}


def badge(title: str, mode: str) -> Card:
    """Return the card that a lesson begins with.

    Only the live form has a style, which makes JupyterLab break printed lines between words.
    """
    html = f"<p><strong>{esc(title)}</strong> · {esc(mode)}: {esc(MODES[mode])}</p>"
    live = {"text/html": f'{WRAP}<div style="{FRAME}">{html}</div>'}
    return Card(html, f"{title} · {mode}: {MODES[mode]}", lambda: live)


def filled_badge() -> Card:
    """Return the card of a run whose recorded replies were filled with the learner's words."""
    text = "recorded reply, with your words filled in"
    return Card(f"<p>{text}</p>", text)

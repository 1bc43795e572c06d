"""A card: what the lab shows, as plain HTML and a line of text, or as a widget.

The static form has no style, script or picture, and nothing that differs from machine to machine.
It is shown where outputs are committed, and needs no IPython.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnkit.runtime.notebook import in_kernel, is_live
from learnkit.views.drawing import theme
from learnkit.views.drawing.text import esc

if TYPE_CHECKING:
    from learnkit.course.content import Option, Question

#: How a live card looks; its colours are those of these marks.
LOOK = Path(__file__).with_name("card.css").read_text("utf-8")
_LIGHT, _DARK = (theme.variables(shade, ("done", "error", "cause")) for shade in ("light", "dark"))
#: The style of a live card that is plain HTML.
STYLE = (
    f"<style>.lk-card{{{_LIGHT}}}\n:is([data-jp-theme-light=false],.vscode-dark) "
    f".lk-card{{{_DARK}}}\n{LOOK}</style>"
)
#: What a mode means.
MODES = {
    "replay": "replies come from the recording; no key, no network",
    "live": "the API answers, and costs money",
    "record": "the API answers, costs money, and is written down",
    "keep": "replies come from the recording, which is written anew",
}


@dataclass(frozen=True, slots=True)
class Card:
    """Something to look at in a notebook.

    Attributes:
        html: the static form; no style, script or picture, everything escaped.
        text: the same in a line or a few.
        live: makes the MIME bundle for an open notebook; by default the static form in a frame.
    """

    html: str
    text: str
    live: Callable[[], Mapping[str, Any]] | None = None

    def or_widget(self, make: Callable[[], Any]) -> Card:
        """Return this card with a widget as its live form.

        Args:
            make: makes the widget when the card is shown in an open notebook.
        """
        return replace(self, live=lambda: bundle(make()))

    def or_html(self, html: str) -> Card:
        """Return this card with other HTML as its live form."""
        return replace(self, live=lambda: _framed(html))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        if not is_live():
            return {"text/html": self.html, "text/plain": self.text}
        shown = self.live() if self.live else _framed(self.html)
        return {**shown, "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text


def show(card: Card) -> None:
    """Display a card now; outside a notebook, print its text."""
    if in_kernel():
        sys.modules["IPython"].display.display(card)
    else:
        print(card.text)


def badge(title: str, mode: str) -> Card:
    """Return the card that a lesson begins with: where its replies come from."""
    html = f"<p><strong>{esc(title)}</strong> · {esc(mode)}: {esc(MODES[mode])}</p>"
    return Card(html, f"{title} · {mode}: {MODES[mode]}")


def line(text: str) -> Card:
    """Return a card of one line."""
    return Card(f"<p>{inline(text)}</p>", text)


def verdict(said: str, more: str = "", rows: str = "") -> Card:
    """Return a card that begins with a verdict: one with a tick, or of what is wrong.

    Args:
        said: the verdict.
        more: what is below it.
        rows: what is there in the live form instead.
    """
    mark = theme.DONE if said.startswith(theme.DONE.glyph) else theme.ERROR
    line = f"<i>{mark.glyph}</i> <span>{inline(said.removeprefix(f'{mark.glyph} '))}</span>"
    live = f'<p class="lk-verdict lk-{mark.key}">{line}</p>{rows or more}'
    return Card(f"<p><strong>{inline(said)}</strong></p>{more}", said).or_html(live)


def bundle(widget: Any) -> Mapping[str, Any]:
    """Return the MIME bundle that shows a widget."""
    shown = widget._repr_mimebundle_()
    data: Mapping[str, Any] = shown[0] if isinstance(shown, tuple) else shown  # an anywidget's
    return data


def inline(text: str) -> str:
    """Return text as HTML: escaped, and with code where the text has backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", esc(text))


def situation(question: Question) -> str:
    """Return what one has to know for a question as HTML: sentences, and cases or steps as rows."""
    listed = "".join(f"<li>{inline(one)}</li>" for one in (*question.cases, *question.steps))
    setup = f"<p>{inline(question.setup)}</p>" if question.setup else ""
    return setup + (f"<ol>{listed}</ol>" if listed else "")


def choices(options: Mapping[str, Option]) -> str:
    """Return the options to choose from as HTML, without their reasons."""
    rows = (f"<li><strong>{k}</strong> · {inline(o.text)}</li>" for k, o in options.items())
    return f"<ul>{''.join(rows)}</ul>"


def explained(options: Mapping[str, Option], right: str, given: str | None) -> str:
    """Return every option with its reason as HTML."""
    rows = []
    for letter, option in options.items():
        yours = "● your answer, " if letter == given else ""
        mark = "✓ right" if letter == right else "✗ wrong"
        rows.append(
            f"<li><strong>{letter}</strong> ({yours}{mark}) · {inline(option.text)}<br>"
            f"{inline(option.why)}</li>"
        )
    return f"<ul>{''.join(rows)}</ul>"


def rows(options: Mapping[str, Option], right: str, given: str | None, name: str = "") -> str:
    """Return the options as the rows of a live card.

    Args:
        options: letter -> option.
        right: the letter of the right one; reasons are shown if it is known.
        given: the letter of the chosen one.
        name: of the question, to which a row is the answer when it is pressed.
    """
    html = ""
    for letter, option in options.items():
        yours = letter == given
        mark = theme.DONE if letter == right else theme.ERROR if right else theme.CAUSE
        marked = yours or letter == right
        # The chosen one stays a button, or the keyboard's focus would be lost.
        tag, more = "div", ""
        if name and (given is None or yours):
            tag, more = "button", f' name="{name}" value="{letter}" aria-pressed="{yours}"'.lower()
        word = f"<b>{mark.glyph} {'your answer' if yours else 'right'}</b>" * marked
        why = f"<p>{inline(option.why)}</p>" if right else ""
        html += (
            f"<li{f' class=lk-{mark.key}' * marked}><{tag} class=lk-row{more}>"
            f"<i>{letter}</i> <span>{inline(option.text)}</span> {word}</{tag}>{why}</li>"
        )
    return f"<ul class=lk-rows>{html}</ul>"


def _framed(html: str) -> Mapping[str, Any]:
    return {"text/html": f'{STYLE}<div class="lk-card">{html}</div>'}

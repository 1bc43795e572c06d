"""A widget on an empty page, without a notebook: a model there stands in for the kernel's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

import learnkit.widget
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import WIDE
from learnkit.widget.pump import Feed

WIDGET = Path(learnkit.widget.__file__).parent
_PAGE = """<!doctype html><meta charset="utf-8"><body style="background:#fff"><script type="module">
%s
</script></body>"""
# A module cannot import the module it stands in, so the default export is called by a name.
_START = """
window.start = (traits) => {
  const heard = new Set();
  window.sent = [];
  window.alive = true;
  const model = {
    get: (name) => traits[name],
    on: (name, act) => heard.add(act),
    off: (name, act) => heard.delete(act),
    send: (message) => {
      if (!window.alive) throw new Error("no kernel");
      window.sent.push(structuredClone(message));
    },
  };
  window.receive = (message) => heard.forEach((act) => act(message));
  window.listeners = () => heard.size;
  const widget = typeof made === "function" ? made() : made;
  widget.initialize?.({ model });
  window.close = widget.render({ model, el: document.body });
};
"""


def open_widget(page: Page, *scripts: str, css: str, **traits: Any) -> None:
    """Make the widget that the last of some scripts exports, with its traits."""
    source = "\n".join((WIDGET / name).read_text() for name in scripts)
    source = source.replace("export default ", "const made = ").replace("export ", "")
    page.goto("about:blank")
    page.set_content(_PAGE % (source + _START))
    page.wait_for_function("() => window.start")
    page.evaluate("traits => window.start(traits)", {**traits, "css": theme.stylesheet() + css})


def give(page: Page, *messages: dict[str, Any]) -> None:
    """Let messages of the kernel arrive."""
    for message in messages:
        page.evaluate("message => window.receive(message)", message)


def messages_of(view: Any, width: float = WIDE) -> list[dict[str, Any]]:
    """What the kernel sends of a view."""
    sent: list[dict[str, Any]] = []
    Feed(view, sent.append, width).flush()
    return sent

"""A view's static form as a page has it: tags, words, and the picture."""

from __future__ import annotations

import base64
from html.parser import HTMLParser
from xml.etree import ElementTree


class Page(HTMLParser):
    """Which tags and attributes a page has, what it says, and what its picture's alt text is."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text, self.alt, self.src = "", "", ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "img":
            self.alt, self.src = (dict(attrs)[name] or "" for name in ("alt", "src"))

    def handle_data(self, data: str) -> None:
        self.text += data

    def svg(self) -> ElementTree.Element:
        kind, _, data = self.src.partition(",")
        assert kind == "data:image/svg+xml;base64"
        return ElementTree.fromstring(base64.b64decode(data))

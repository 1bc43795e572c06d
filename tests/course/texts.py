"""The rules about what is read: headings, sections, links, figures, and what outputs betray."""

from __future__ import annotations

import base64
import re
import urllib.parse
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import nbformat

from learnkit.course.files import EXAMPLE
from learnkit.runtime.secret_scan import SecretError, refuse_secrets

from .subject import Subject, headings, shown, unfenced

ALT = 20
_MARKDOWN_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\s*<?([^)\s>]+)>?[^)]*\)")


def one_heading_tree(subject: Subject) -> list[str]:
    """One H1, which opens the notebook, and no level skipped."""
    found, before = [], 0
    levels = [(number, *one) for number, text in subject.prose for one in headings(text)]
    if [number for number, level, _ in levels if level == 1] != [1]:
        found.append("there must be one H1, in the first cell")
    for number, level, title in levels:
        if level > before + 1:
            found.append(f"cell {number}: {title!r} has level {level} after level {before}")
        before = level
    return found


def links(subject: Subject) -> list[str]:
    """Every link leads somewhere: files exist, anchors are headings, the web is https."""
    found = []
    for number, target in _targets(subject):
        if re.match(r"(?:https|mailto):", target):
            continue
        path, _, anchor = urllib.parse.unquote(target).partition("#")
        if re.match(r"[a-z]+:|/", path):
            found.append(f"cell {number}: {target} is no relative link and no https")
            continue
        file = (subject.home / path).resolve() if path else subject.path
        if path and not file.exists():
            found.append(f"cell {number}: there is no {target}")
        elif anchor and anchor not in _anchors(subject, file if path else None):
            found.append(f"cell {number}: nothing has the anchor of {target}")
    return found


def _targets(subject: Subject) -> Iterator[tuple[int, str]]:
    for number, text in subject.prose:
        bare = unfenced(text)
        for _, _, target in _MARKDOWN_LINK.findall(bare):
            yield number, target
        for target in re.findall(r"<(?:a|img)\b[^>]*?\b(?:href|src)=\"([^\"]+)\"", bare):
            if not target.startswith("data:"):
                yield number, target
        for target in re.findall(r"^\[[^\]]+\]: +(\S+)", bare, flags=re.MULTILINE):
            yield number, target


def _anchors(subject: Subject, file: Path | None) -> set[str]:
    """The anchors of a document, as GitHub and as JupyterLab make them."""
    if file is None:
        texts = [text for _, text in subject.prose]
    elif file.suffix == ".ipynb":
        cells = nbformat.read(file, as_version=4).cells
        texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    elif file.suffix == ".md":
        texts = [file.read_text("utf-8")]
    else:
        return set()
    found = set()
    for text in texts:
        for _, title in headings(text):
            plain = re.sub(r"[*`]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title))
            found.add(re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-"))
            found.add(plain.replace(" ", "-"))
        found.update(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))
    return found


class _Images(HTMLParser):
    """The alt texts of the images in HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.alts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.alts.append(dict(attrs).get("alt") or "")


def figures(subject: Subject) -> list[str]:
    """Each picture has an alt text, and a form that is text: nbval compares no PNG."""
    found = []
    for number, text in subject.prose:
        bare = unfenced(text)
        alts = [alt for mark, alt, _ in _MARKDOWN_LINK.findall(bare) if mark]
        # A badge is a link with a picture in it, which _MARKDOWN_LINK sees as one link.
        alts += [alt for alt in re.findall(r"\[!\[([^\]]*)\]\(", bare)]
        found += _short(number, [*alts, *_Images(bare).alts])
    for number, output in subject.outputs:
        texts = shown(output)
        found += _short(number, _Images(texts.get("text/html", "")).alts)
        for kind in [kind for kind in texts if kind in ("image/png", "image/jpeg")]:
            alt = output.get("metadata", {}).get(kind, {}).get("alt", "")
            found += _short(number, [alt])
            beside = [texts.get("text/html"), texts.get("image/svg+xml")]
            plain = texts.get("text/plain", "")
            if not any(beside) and (not plain or plain.startswith("<")):
                found.append(f"cell {number}: a {kind} has no form that is text")
        if "image/svg+xml" in texts and "<title" not in texts["image/svg+xml"]:
            found.append(f"cell {number}: an SVG has no <title>")
    return found


def _short(number: int, alts: list[str]) -> list[str]:
    few = [alt for alt in alts if len(alt.strip()) < ALT]
    return [f"cell {number}: the alt text {alt!r} has under {ALT} characters" for alt in few]


#: What an output must not hold. Dates that the lesson itself writes, or its data, are no betrayal.
BETRAYALS = {
    "an absolute path": r"(?<![\w.~-])/(?:home|root|tmp|var|mnt|opt|private|Users|usr(?!/bin/))"
    r"/[\w.-]{2,}|\b[A-Z]:\\\w+|site-packages|ipykernel_\d",
    "an address": r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])"
    r"|\bat 0x[0-9a-f]{6,}|https?://localhost",
    "a date": r"\b20\d\d-[01]\d-[0-3]\d(?:[T ]\d\d:\d\d(?::\d\d)?)?"
    r"|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?:\d{1,2} )?[A-Z][a-z]{2}\b",
}


def clean_outputs(subject: Subject) -> list[str]:
    """No absolute path, address, date or secret in an output."""
    written = "\n".join(cell.source for cell in subject.book.cells) + _example()
    found = []
    for number, output in subject.outputs:
        for kind, text in shown(output).items():
            if kind.startswith("image/") and kind != "image/svg+xml":
                continue
            text = _readable(text)
            try:
                refuse_secrets(text)
            except SecretError:
                found.append(f"cell {number}: its output looks like it holds a secret")
            for what, pattern in BETRAYALS.items():
                for match in sorted({match[0] for match in re.finditer(pattern, text)}):
                    if what != "a date" or match not in written:
                        found.append(f"cell {number}: its output holds {what}: {match}")
    return list(dict.fromkeys(found))


def _readable(text: str) -> str:
    """An output's text with pictures decoded, and without the colours of a traceback."""

    def decoded(match: re.Match[str]) -> str:
        svg = match[1] == "image/svg+xml"
        return base64.b64decode(match[2]).decode() if svg else ""

    text = re.sub(r"data:(image/[\w.+-]+);base64,([\w+/=]+)", decoded, text)
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def _example() -> str:
    files = (path for path in sorted(EXAMPLE.rglob("*")) if path.is_file())
    return "\n".join(
        path.read_text("utf-8") for path in files if path.suffix not in (".pyc", ".gz", ".png")
    )

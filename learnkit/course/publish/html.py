"""The HTML edition: the course as pages to read, with working sliders, without Python.

Every notebook is run as CI runs it, and its views are kept as tapes that a script in the page
plays. A page contains everything that it shows, and the links between pages are relative, so the
folder works on a disk and on any web server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from string import Template

from learnkit.course import files as course_files
from learnkit.course.content import load
from learnkit.course.display.card import inline
from learnkit.course.display.course_map import as_html
from learnkit.course.progress import lesson_progress
from learnkit.course.publish import repository
from learnkit.course.publish.execute import execute
from learnkit.errors import lab_extra
from learnkit.events.text import clean
from learnkit.runtime import atomic_write
from learnkit.views.drawing.display import NARROW
from learnkit.views.drawing.text import esc
from learnkit.widget import frozen

_HERE = Path(__file__).parent
#: A pattern for a notebook's links, and the link in the edition.
_LINKS = (
    (r"(s\d\d_\w+)\.ipynb", r"\1.html"),
    (r"\.\./README\.md(?:#\w+)?", "index.html"),
    (r"\.\./docs/glossary\.md", "glossary.html"),
    (r"\.\./notebooks/(s\d\d_\w+)\.ipynb", r"\1.html"),
)


def build(course: Path, target: Path, lessons: Sequence[str] = ()) -> Iterator[str]:
    """Write the edition."""
    every = course_files.lessons(course)
    chosen = [path for path in every if not lessons or path.stem[:3] in lessons]
    target.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(max_workers=2) as pool:
        for path, body in zip(chosen, pool.map(lesson, chosen), strict=True):
            place = every.index(path)
            around = [every[at] if 0 <= at < len(every) else None for at in (place - 1, place + 1)]
            yield _written(target / f"{path.stem}.html", _page(_title(path), body, *around))
    yield _written(target / "index.html", _page("learnkit", _index(every)))
    glossary = (course.parent / "docs" / "glossary.md").read_text("utf-8")
    yield _written(target / "glossary.html", _page("Glossary", _markdown(glossary)))


def lesson(path: Path) -> str:
    """Run a notebook, and return it as HTML with tapes."""
    with lab_extra():
        from nbconvert import HTMLExporter

    book = execute(path, {"LEARNKIT_TAPES": "1"})
    exporter = HTMLExporter(template_name="basic", embed_images=False)
    body, _ = exporter.from_notebook_node(book)
    return _linked(clean(body))  # also what a cell has printed


def _index(every: Sequence[Path]) -> str:
    lessons = lesson_progress(every[0].parent)
    rows = "".join(
        f"<tr><td>{one.number}</td><td><a href='{esc(one.file)}'>{esc(one.lesson.title)}</a><br>"
        f"{esc(one.lesson.promise)}</td><td>{inline(one.lesson.adds)}</td>"
        f"<td>{one.lesson.minutes}&nbsp;min</td></tr>"
        for one in lessons
    )
    page = Template((_HERE / "edition.html").read_text("utf-8"))
    wide, narrow = as_html(lessons), as_html(lessons, NARROW)
    address = esc(repository.address())
    return _linked(page.substitute(address=address, rows=rows, wide=wide, narrow=narrow))


def _page(title: str, body: str, before: Path | None = None, after: Path | None = None) -> str:
    def link(path: Path | None, arrow: str) -> str:
        if path is None:
            return ""
        return f'<a href="{path.stem}.html">{arrow.format(esc(_title(path)))}</a>'

    nav = (
        f"<nav><b><a href='index.html'>learnkit</a></b>{link(before, '← {}')}{link(after, '{} →')}"
        "<a href='glossary.html'>glossary</a></nav>"
    )
    return frozen.page(title, f"{nav}<main>{body}</main>{nav}", look=_look())


def _title(path: Path) -> str:
    return f"{int(path.stem[1:3])} · {load(path.stem[:3]).title}"


@cache
def _look() -> str:
    """The style of a page, with Pygments' colours for code, light and dark."""
    with lab_extra():
        from pygments.formatters import HtmlFormatter

    def rules(style: str) -> str:
        found = HtmlFormatter(style=style).get_style_defs(".highlight")
        kept = [line for line in found.splitlines() if "background" not in line.partition("{")[2]]
        return "\n".join(line for line in kept if line.startswith(".highlight ."))

    dark = f"@media (prefers-color-scheme:dark){{{rules('github-dark')}}}"
    return (_HERE / "edition.css").read_text("utf-8") + rules("default") + dark


def _markdown(text: str) -> str:
    with lab_extra():
        from nbconvert.filters import markdown2html

    return _linked(str(markdown2html(text)))


def _linked(html: str) -> str:
    def there(match: re.Match[str]) -> str:
        address = match[2]
        for pattern, replacement in _LINKS:
            address = re.sub(f"^{pattern}(?=#|$)", replacement, address)
        return f"{match[1]}{address}{match[3]}"

    return re.sub(r"(href=[\"'])([^\"']*)([\"'])", there, html)


def _written(path: Path, text: str) -> str:
    atomic_write.replace(path, text)
    return f"{path.name}: {len(text.encode()) // 1000} KB"

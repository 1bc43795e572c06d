"""The HTML edition: the course as pages to read, with working sliders, without Python.

Every notebook is run as CI runs it, and its views are kept as tapes that a script in the page
plays. Instead, the runs of ``pytest --nbval`` with ``LEARNKIT_EXECUTED=<folder>`` can be used.
A page contains everything that it shows, and the links between pages are relative, so the folder
works on a disk and on any web server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from learnkit.course.display.card import inline
from learnkit.course.lessons import load
from learnkit.course.progress import lesson_progress
from learnkit.course.publish import repository
from learnkit.course.publish.execute import execute, normalise
from learnkit.errors import UsageError, lab_extra
from learnkit.runtime import atomic_write
from learnkit.views.drawing.text import esc
from learnkit.widget import frozen

with lab_extra():
    import nbformat

#: The style of a lesson's page, besides that of ``frozen``.
_LOOK = """
body{max-width:54rem}nav{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;font-size:.9rem;
padding:.6rem 0;border-bottom:1px solid var(--lk-rule)}
nav b{margin-right:auto}
pre{overflow-x:auto;padding:.6rem .8rem;margin:.5rem 0;line-height:1.45}
code,pre{font:.86rem/1.5 ui-monospace,Menlo,Consolas,monospace}
.highlight{background:var(--lk-shade);border-radius:4px;margin:.8rem 0 .2rem}
.highlight pre{background:none}
.prompt,.anchor-link{display:none}
.output_area pre{white-space:pre-wrap;margin:.2rem 0;border-left:3px solid var(--lk-rule)}
table{border-collapse:collapse;font-size:.9rem;display:block;overflow-x:auto}
td,th{border:1px solid var(--lk-rule);padding:3px 10px;text-align:left;vertical-align:top}
details{margin:.6rem 0}summary{cursor:pointer}img{max-width:100%;height:auto}
:root{--lk-shade:#f4f5f7}@media (prefers-color-scheme:dark){:root{--lk-shade:#1b1e23}}
"""
_DARK = "@media (prefers-color-scheme:dark){%s}"
#: A pattern for a notebook's links, and the link in the edition.
_LINKS = (
    (r"(s\d\d_\w+)\.ipynb", r"\1.html"),
    (r"\.\./README\.md(?:#\w+)?", "index.html"),
    (r"\.\./docs/glossary\.md", "glossary.html"),
    (r"\.\./notebooks/(s\d\d_\w+)\.ipynb", r"\1.html"),
)


def build(
    course: Path, target: Path, lessons: Sequence[str] = (), executed: Path | None = None
) -> Iterator[str]:
    """Write the edition.

    Args:
        course: the folder of the notebooks; the glossary is in ``docs`` beside it.
        target: the folder to write; existing pages are replaced.
        lessons: names such as ``s01``; by default all.
        executed: a folder of notebooks that were run with tapes; by default they are run now.

    Yields:
        A line for each page.

    Raises:
        UsageError: if ``executed`` lacks a notebook, or has one with other cells.
        Exception: if a notebook fails: see :data:`learnkit.course.publish.execute.FAILURES`.
    """
    every = sorted(course.glob("s[0-9][0-9]_*.ipynb"))
    chosen = [path for path in every if not lessons or path.stem[:3] in lessons]
    runs = [None if executed is None else executed / path.name for path in chosen]
    target.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(max_workers=2) as pool:
        for path, body in zip(chosen, pool.map(lesson, chosen, runs), strict=True):
            place = every.index(path)
            around = [every[at] if 0 <= at < len(every) else None for at in (place - 1, place + 1)]
            yield _written(target / f"{path.stem}.html", _page(_title(path), body, *around))
    yield _written(target / "index.html", _page("learnkit", _index(every)))
    glossary = (course.parent / "docs" / "glossary.md").read_text("utf-8")
    yield _written(target / "glossary.html", _page("Glossary", _markdown(glossary)))


def lesson(path: Path, executed: Path | None = None) -> str:
    """Return a notebook as HTML with tapes.

    Args:
        path: the notebook.
        executed: the same notebook after a run with tapes; by default it is run now.

    Raises:
        UsageError: if ``executed`` does not exist, or has other cells than the notebook.
        Exception: if the notebook fails: see :data:`learnkit.course.publish.execute.FAILURES`.
    """
    with lab_extra():
        from nbconvert import HTMLExporter

    if executed is None:
        book = execute(path, {"LEARNKIT_TAPES": "1"})
    else:
        book = _earlier_run(path, executed)
    exporter = HTMLExporter(template_name="basic", embed_images=False)
    body, _ = exporter.from_notebook_node(book)
    return _linked(body)


def _earlier_run(path: Path, executed: Path) -> Any:
    """An earlier run, normalised."""
    if not executed.is_file():
        raise UsageError(f"there is no {executed}; run pytest --nbval with LEARNKIT_EXECUTED")
    original, book = (nbformat.read(one, as_version=4) for one in (path, executed))
    if [cell.source for cell in original.cells] != [cell.source for cell in book.cells]:
        raise UsageError(f"{executed} has other cells than {path}; run pytest --nbval again")
    return normalise(book)


def _index(every: Sequence[Path]) -> str:
    rows = "".join(
        f"<tr><td>{one.number}</td><td><a href='{esc(one.file)}'>{esc(one.lesson.title)}</a><br>"
        f"{esc(one.lesson.promise)}</td><td>{inline(one.lesson.adds)}</td>"
        f"<td>{one.lesson.minutes}&nbsp;min</td></tr>"
        for one in lesson_progress(every[0].parent)
    )
    return _linked(
        "<h1>learnkit</h1><p><strong>How agents like Claude Code really work: you build one, "
        "mechanism by mechanism, and watch it think.</strong></p>"
        "<p>These pages are for reading: every picture can be scrubbed, and nothing runs. To "
        "predict, break and mend things yourself, open the notebooks: the "
        f"<a href='{esc(repository.address())}'>project's README</a> says how, in one line. "
        "The replies of the model were written by hand; everything else really happened.</p>"
        f"<table><tr><th></th><th>lesson</th><th>what it adds</th><th>time</th></tr>{rows}</table>"
        "<p>The words of the course: <a href='glossary.html'>glossary</a>.</p>"
    )


def _page(title: str, body: str, before: Path | None = None, after: Path | None = None) -> str:
    def link(path: Path | None, arrow: str) -> str:
        if path is None:
            return ""
        return f'<a href="{path.stem}.html">{arrow.format(esc(_title(path)))}</a>'

    nav = (
        f"<nav><b><a href='index.html'>learnkit</a></b>{link(before, '← {}')}{link(after, '{} →')}"
        "<a href='glossary.html'>glossary</a></nav>"
    )
    return frozen.page(title, f"{nav}<main>{body}</main>{nav}", look=_LOOK + _colours())


def _title(path: Path) -> str:
    return f"{int(path.stem[1:3])} · {load(path.stem[:3]).title}"


@cache
def _colours() -> str:
    """Pygments' colours for code, light and dark."""
    with lab_extra():
        from pygments.formatters import HtmlFormatter

    def rules(style: str) -> str:
        found = HtmlFormatter(style=style).get_style_defs(".highlight")
        kept = [line for line in found.splitlines() if "background" not in line.partition("{")[2]]
        return "\n".join(line for line in kept if line.startswith(".highlight ."))

    return rules("default") + _DARK % rules("github-dark")


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

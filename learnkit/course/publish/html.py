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

from learnkit.course.display.card import inline
from learnkit.course.display.course_map import as_html
from learnkit.course.progress import LessonProgress, lesson_progress
from learnkit.course.publish import repository
from learnkit.course.publish.execute import execute
from learnkit.errors import lab_extra
from learnkit.events.text import clean
from learnkit.runtime import atomic_write
from learnkit.views.drawing.text import esc
from learnkit.widget import frozen

_HERE = Path(__file__).parent
#: A pattern for a notebook's links, and the link in the edition.
_LINKS = (
    (r"(?:\.\./)*(?:notebooks/)?(?:beyond/)?(s\d\d_\w+|b\d_\w+)\.ipynb", r"\1.html"),
    (r"(?:\.\./)+README\.md(?:#\w+)?", "index.html"),
    (r"(?:\.\./)+docs/glossary\.md", "glossary.html"),
    (r"(?:\.\./)+learnkit/course/workbook/start_page\.md", "index.html"),
)


def build(course: Path, target: Path, lessons: Sequence[str] = ()) -> Iterator[str]:
    """Write the edition."""
    every = lesson_progress(course) + lesson_progress(course, part_two=True)
    chosen = [one for one in every if not lessons or one.name in lessons]
    target.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(max_workers=2) as pool:
        bodies = pool.map(lesson, [course / one.file for one in chosen])
        for one, body in zip(chosen, bodies, strict=True):
            page = _page(_title(one), _contents(body) + body, every, one)
            yield _written(target / f"{Path(one.file).stem}.html", page)
    yield _written(target / "index.html", _page("learnkit", _index(every), every))
    glossary = _markdown((course.parent / "docs" / "glossary.md").read_text("utf-8"))
    yield _written(target / "glossary.html", _page("Glossary", glossary, every))


def lesson(path: Path) -> str:
    """Run a notebook, and return it as HTML with tapes."""
    with lab_extra():
        from nbconvert import HTMLExporter

    book = execute(path, {"LEARNKIT_TAPES": "1"})
    exporter = HTMLExporter(template_name="basic", embed_images=False)
    body, _ = exporter.from_notebook_node(book)
    body = body.replace("<p><strong>not yet: ", "<p class='lk-not-yet'><strong>✗ not yet: ")
    # The neighbours of a lesson are at the head and at the foot of its page.
    about = r"<p>(\d+ minutes · .*?) · previous: .*?(?= · <a [^>]*>run it)"
    body = re.sub(about, r"<p class='lk-about'>\1", body, count=1)
    return clean(body)  # also what a cell has printed


def _index(every: Sequence[LessonProgress]) -> str:
    twelve = [one for one in every if one.name.startswith("s")]
    cards = ["".join(map(_card, some)) for some in (twelve, every[len(twelve) :])]
    page = Template((_HERE / "edition.html").read_text("utf-8"))
    start = (_HERE.parent / "workbook" / "start_page.md").read_text("utf-8")
    products = _markdown(f"<a id={start.partition('<a id=')[2].partition('## To play')[0]}")
    parts = {"lessons": cards[0], "more": cards[1], "map": as_html(twelve), "products": products}
    return page.substitute(parts, address=esc(repository.address()))


def _card(one: LessonProgress) -> str:
    about = f"<p>{inline(one.lesson.promise)}<small>{inline(one.lesson.adds)}</small></p>"
    return f"<li>{_link(one)}{about}<small>{one.lesson.minutes}&nbsp;min</small></li>"


def _contents(body: str) -> str:
    """The headings of a lesson as links."""
    found = re.findall(r'<h2 id="([^"]+)">(.*?)<a class="anchor-link"', body, re.DOTALL)
    items = "".join(f'<li><a href="#{anchor}">{text}</a></li>' for anchor, text in found)
    return (
        '<nav class="lk-contents" aria-label="lesson"><details><summary>In this lesson</summary>'
        f"<ol>{items}</ol></details></nav>"
    )


def _page(
    title: str,
    body: str,
    every: Sequence[LessonProgress],
    here: LessonProgress | None = None,
) -> str:
    numbers = "".join(
        f"<li><a href='{one.file}' title='{esc(_title(one))}'"
        f"{' aria-current=page' * (one is here)}>{one.label}</a></li>"
        for one in every
    )
    course = (
        f"<nav class='lk-course' aria-label='course'><a href='index.html'><b>learnkit</b></a>"
        f"<ol>{numbers}</ol><a href='glossary.html'>glossary</a></nav>"
    )
    around = ""
    if here:
        place = every.index(here)
        before = f"<span>← {_link(every[place - 1])}</span>" if place else "<span></span>"
        after = f"{_link(every[place + 1])} →" if place + 1 < len(every) else ""
        around = f"<nav class='lk-around' aria-label='next'>{before}<span>{after}</span></nav>"
    script = f"<script type='module'>{(_HERE / 'edition.js').read_text('utf-8')}</script>"
    whole = _linked(f"{course}<main>{body}</main>{around}{script}")
    return frozen.page(title, whole, look=_look())


def _link(one: LessonProgress) -> str:
    return f"<a href='{esc(one.file)}'>{esc(_title(one))}</a>"


def _title(one: LessonProgress) -> str:
    return f"{one.label} · {one.lesson.title}"


@cache
def _look() -> str:
    """The style of a page, with Pygments' colours for code, light and dark."""
    with lab_extra():
        from pygments.formatters import HtmlFormatter

    def rules(style: str) -> str:
        return str(HtmlFormatter(style=style, nobackground=True).get_style_defs(".highlight"))

    dark = f"@media screen and (prefers-color-scheme:dark){{{rules('github-dark')}}}"
    return rules("default") + dark + (_HERE / "edition.css").read_text("utf-8")


def _markdown(text: str) -> str:
    with lab_extra():
        from nbconvert.filters import markdown2html

    return str(markdown2html(text))


def _linked(html: str) -> str:
    for pattern, replacement in _LINKS:
        html = re.sub(rf"(?<=href=[\"']){pattern}(?=[#\"'])", replacement, html)
    return html


def _written(path: Path, text: str) -> str:
    atomic_write.replace(path, text)
    return f"{path.name}: {len(text.encode()) // 1000} KB"

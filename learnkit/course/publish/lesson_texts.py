"""Title, minutes and promise of a lesson stand in its data file; what shows them is made from it.

That is the first cell of its notebook, the links to it in the other notebooks, and the table in
the README. The start page reads the data files itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from learnkit.course import files as course_files
from learnkit.course.lessons import EXAMPLE, question_file
from learnkit.runtime import atomic_write as files

#: The table in the README: its two head lines, and its rows.
_TABLE = re.compile(r"(^\| \| Lesson \|.*\n\|[-|]+\|\n)(?:\|.*\n)*", re.MULTILINE)
#: A link to a lesson by number and title, such as ``[3 · Todo](s03_todo.ipynb)``.
_LINK = re.compile(r"\[\d+ · [^\]]*\]\((s\d\d)_\w+\.ipynb\)")


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is shown of a lesson outside of it.

    Attributes:
        number: from 1.
        file: the name of its notebook.
        title, promise, minutes: as in its data file.
    """

    number: int
    file: str
    title: str
    promise: str
    minutes: int

    @property
    def link(self) -> str:
        """A link to it from another notebook."""
        return f"[{self.number} · {self.title}]({self.file})"

    @property
    def row(self) -> str:
        """Its line in the README's table."""
        link = f"[{self.title}](notebooks/{self.file})"
        return f"| {self.number} | {link} | {self.promise} | {self.minutes} min |\n"


def rendered(checkout: Path | None = None) -> Iterator[tuple[Path, str]]:
    """The files of a checkout that show something of a lesson.

    Args:
        checkout: the folder of ``README.md`` and ``notebooks``; by default this package's.

    Yields:
        Each file, and its text as the data files want it.
    """
    checkout = checkout or course_files.originals().parent
    books = sorted((checkout / "notebooks").glob("s[0-9][0-9]_*.ipynb"))
    lessons = {path.name[:3]: _lesson(path) for path in books}
    readme = checkout / "README.md"
    rows = "".join(lesson.row for lesson in lessons.values())
    yield readme, _TABLE.sub(lambda table: table[1] + rows, readme.read_text("utf-8"))
    for path in books:
        yield path, _notebook(path.read_text("utf-8"), lessons[path.name[:3]], lessons)


def refresh(checkout: Path | None = None) -> Iterator[str]:
    """Write title, minutes and promise of every lesson to wherever they are shown.

    Args:
        checkout: as for :func:`rendered`.

    Yields:
        The name of each file that changed.
    """
    checkout = checkout or course_files.originals().parent
    for path, text in rendered(checkout):
        if text != path.read_text("utf-8"):
            files.replace(path, text)
            yield path.relative_to(checkout).as_posix()


def _lesson(path: Path) -> Lesson:
    name = path.name[:3]
    texts = question_file.read(EXAMPLE.parent / name / question_file.NAME)
    return Lesson(int(name[1:]), path.name, texts.title, texts.promise, texts.minutes)


def _notebook(text: str, lesson: Lesson, lessons: Mapping[str, Lesson]) -> str:
    def link(found: re.Match[str]) -> str:
        return lessons[found[1]].link if found[1] in lessons else found[0]

    book = json.loads(text)
    for number, cell in enumerate(book["cells"]):
        if cell["cell_type"] == "markdown":
            source = _LINK.sub(link, "".join(cell["source"]))
            source = source if number else _opening(source, lesson)
            cell["source"] = source.splitlines(keepends=True)
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def _opening(source: str, lesson: Lesson) -> str:
    """The first cell: heading, promise in bold, and the minutes at the start of a line."""
    heading, promise, minutes = (
        f"# {lesson.number} · {lesson.title}",
        f"**{lesson.promise}**",
        f"{lesson.minutes} minutes",
    )
    source = re.sub(r"^# .*", lambda _: heading, source, count=1, flags=re.MULTILINE)
    source = re.sub(r"^\*\*.*\*\*$", lambda _: promise, source, count=1, flags=re.MULTILINE)
    return re.sub(r"^\d+ minutes\b", minutes, source, count=1, flags=re.MULTILINE)

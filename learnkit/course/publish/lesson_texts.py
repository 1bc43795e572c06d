"""Write title, minutes and promise of a lesson from its data file to wherever they are shown.

They are shown in the first cell of its notebook, in the links to it in other notebooks, and in the
table of the README. The start page reads the data files itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from learnkit.course import files as course_files
from learnkit.course.content import question_file
from learnkit.course.content.question_file import QuestionFile
from learnkit.course.files import EXAMPLE

#: The table in the README: its two head lines, and its rows.
_TABLE = re.compile(r"(^\| Lesson \|.*\n\|[-|]+\|\n)(?:\|.*\n)*", re.MULTILINE)
#: A link to a lesson by number and title, such as ``[3 · Todo](s03_todo.ipynb)``.
_LINK = re.compile(r"\[\d+ · [^\]]*\]\((s\d\d)_\w+\.ipynb\)")


@dataclass(frozen=True, slots=True)
class _Shown:
    """A lesson's notebook, and what its data file says."""

    notebook: Path
    texts: QuestionFile

    @property
    def heading(self) -> str:
        """Its heading, without the mark of one."""
        return f"{int(self.notebook.name[1:3])} · {self.texts.title}"

    @property
    def link(self) -> str:
        """A link to it from another notebook."""
        return f"[{self.heading}]({self.notebook.name})"

    @property
    def row(self) -> str:
        """Its line in the README's table."""
        texts, file = self.texts, self.notebook.name
        return f"| [{self.heading}](notebooks/{file}) | {texts.promise} {texts.minutes} min |\n"


def rendered(checkout: Path | None = None) -> Iterator[tuple[Path, str]]:
    """The files of a checkout that show something of a lesson."""
    checkout = checkout or course_files.originals().parent
    books = course_files.lessons(checkout / "notebooks")
    texts = {path: EXAMPLE.parent / path.name[:3] / question_file.NAME for path in books}
    lessons = {p.name[:3]: _Shown(p, question_file.read(text)) for p, text in texts.items()}
    readme = checkout / "README.md"
    rows = "".join(lesson.row for lesson in lessons.values())
    yield readme, _TABLE.sub(lambda table: table[1] + rows, readme.read_text("utf-8"))
    for path in books:
        yield path, _notebook(path.read_text("utf-8"), lessons[path.name[:3]], lessons)


def refresh(checkout: Path | None = None) -> Iterator[str]:
    """Write title, minutes and promise of every lesson to wherever they are shown."""
    checkout = checkout or course_files.originals().parent
    for path, text in rendered(checkout):
        if course_files.put(path, text):
            yield path.relative_to(checkout).as_posix()


def _notebook(text: str, lesson: _Shown, lessons: Mapping[str, _Shown]) -> str:
    def link(found: re.Match[str]) -> str:
        return lessons[found[1]].link if found[1] in lessons else found[0]

    book = json.loads(text)
    for number, cell in enumerate(book["cells"]):
        if cell["cell_type"] == "markdown":
            source = _LINK.sub(link, "".join(cell["source"]))
            source = source if number else _opening(source, lesson)
            cell["source"] = source.splitlines(keepends=True)
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def _opening(source: str, lesson: _Shown) -> str:
    """The first cell: heading, promise in bold, and the minutes at the start of a line."""
    for pattern, line in (
        (r"^# .*", f"# {lesson.heading}"),
        (r"^\*\*.*\*\*$", f"**{lesson.texts.promise}**"),
        (r"^\d+ minutes\b", f"{lesson.texts.minutes} minutes"),
    ):
        plain = line.replace("\\", r"\\")  # a backslash has a meaning in a replacement
        source = re.sub(pattern, plain, source, count=1, flags=re.MULTILINE)
    return source

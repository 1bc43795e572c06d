"""Title, minutes and promise of a lesson are written once, and shown from there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from project import ROOT

from learnkit.course.publish import lesson_texts


def checkout(folder: Path) -> Path:
    """The README and three lessons, as an author's clone has them."""
    (folder / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text("utf-8"), "utf-8")
    (folder / "README.md").write_text((ROOT / "README.md").read_text("utf-8"), "utf-8")
    (folder / "notebooks").mkdir()
    for name in ("s02_tools", "s03_todo", "s04_subagents"):
        text = (ROOT / f"notebooks/{name}.ipynb").read_text("utf-8")
        (folder / f"notebooks/{name}.ipynb").write_text(text, "utf-8")
    return folder


@pytest.fixture
def renamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lesson 3 gets another title, promise and length."""
    read = lesson_texts.question_file.read

    def changed(path: Path) -> object:
        new = {"title": 'A "plan"', "promise": "You'll plan \\1 anew.", "minutes": 20}
        texts = read(path)
        return texts.model_copy(update=new) if path.parent.name == "s03" else texts

    monkeypatch.setattr(lesson_texts.question_file, "read", changed)


def test_what_is_shown_of_a_lesson_is_what_its_data_file_says() -> None:
    differing = [
        f"{path.relative_to(ROOT)}:{number}: {line} != {wanted}"
        for path, text in lesson_texts.rendered()
        for number, (line, wanted) in enumerate(
            zip(path.read_text("utf-8").splitlines(), text.splitlines(), strict=False), 1
        )
        if line != wanted
    ]
    assert differing == [], "run: learnkit verify --refresh"
    assert all(path.read_text("utf-8") == text for path, text in lesson_texts.rendered())


@pytest.mark.usefixtures("renamed")
def test_a_refresh_writes_it_to_the_readme_the_notebook_and_its_neighbours(tmp_path: Path) -> None:
    folder = checkout(tmp_path)
    before = json.loads((folder / "notebooks/s03_todo.ipynb").read_text("utf-8"))
    changed = [f"notebooks/{name}.ipynb" for name in ("s02_tools", "s03_todo", "s04_subagents")]
    assert list(lesson_texts.refresh(folder)) == ["README.md", *changed]
    row = '| [3 · A "plan"](notebooks/s03_todo.ipynb) | You\'ll plan \\1 anew. 20 min |\n'
    assert row in (folder / "README.md").read_text("utf-8")
    books = [json.loads((folder / name).read_text("utf-8")) for name in changed]
    first = "".join(books[1]["cells"][0]["source"])
    assert first.startswith('# 3 · A "plan"\n\n**You\'ll plan \\1 anew.**\n\n20 minutes · ')
    link = '[3 · A "plan"](s03_todo.ipynb)'
    assert f"next: {link}" in "".join(books[0]["cells"][0]["source"])
    assert f"previous: {link}" in "".join(books[2]["cells"][0]["source"])
    assert books[1]["cells"][1:] == before["cells"][1:]
    assert list(lesson_texts.refresh(folder)) == []


@pytest.mark.usefixtures("renamed")
def test_the_table_has_a_row_for_each_notebook_and_nothing_else_changes(tmp_path: Path) -> None:
    folder = checkout(tmp_path)
    list(lesson_texts.refresh(folder))
    original, text = ((one / "README.md").read_text("utf-8") for one in (ROOT, folder))
    rows = [line for line in text.splitlines() if "](notebooks/" in line]
    assert [row[:5] for row in rows] == ["| [2 ", "| [3 ", "| [4 "]
    kept = [line for line in original.splitlines() if "](notebooks/s" not in line]
    assert [line for line in text.splitlines() if line not in rows] == kept

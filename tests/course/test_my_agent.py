"""The learner's own file: it collects what passes, and nothing that they wrote is lost."""

from __future__ import annotations

import importlib.util
import json
import linecache
import multiprocessing
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from learnkit import Mechanism, UsageError
from learnkit.course.lab import Lab
from learnkit.course.lessons import load
from learnkit.course.my_agent import DIGESTS, FILE, HEADER, add, collect, source_of
from learnkit.course.workbook import folder as workbook

PATIENT = "class Patient(lk.Todo):\n    waits = 2\n"
LATER = PATIENT.replace("2", "3")
BLOCK = f"# --- s03.2 Patient\n{PATIENT}# --- end\n"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.setenv("LEARNKIT_WORKBOOK", str(folder))
    return folder


def defined(source: str, name: str, tmp_path: Path) -> Any:
    """Define something as a cell does: its text is known to linecache only."""
    file = f"<cell {tmp_path.name} {abs(hash(source))}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source, file, "exec"), names)
    return names[name]


def imported(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location("learners_agent", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# The file


def test_the_first_answer_makes_a_file_that_can_be_imported(work: Path) -> None:
    assert add("s03.2", "Patient", PATIENT, work) == f"Patient is in work/{FILE}."
    file = work / FILE
    assert file.read_text() == f"{HEADER}\n\n{BLOCK}"
    assert imported(file).Patient.waits == 2


def test_passing_twice_changes_nothing(work: Path) -> None:
    add("s03.2", "Patient", PATIENT, work)
    before = (work / FILE).read_bytes()
    assert add("s03.2", "Patient", PATIENT, work) == f"Patient is in work/{FILE}."
    assert (work / FILE).read_bytes() == before


def test_a_newer_answer_replaces_the_one_that_we_wrote_in_its_place(work: Path) -> None:
    add("s03.2", "Patient", PATIENT, work)
    add("s03.3", "f", "def f():\n    return 1", work)
    file = work / FILE
    file.write_text(
        file.read_text().replace("import learnkit as lk", "import learnkit as lk\n# me")
    )
    before = file.read_text()
    add("s03.2", "Patient", LATER, work)
    assert file.read_text() == before.replace(PATIENT, LATER)


def test_an_edited_block_stays_and_a_newer_answer_follows_it_once_as_a_comment(work: Path) -> None:
    add("s03.2", "Patient", PATIENT, work)
    add("s03.3", "f", "def f():\n    return 1", work)
    file = work / FILE
    file.write_text(file.read_text().replace("waits = 2", "waits = 99"))
    edited = file.read_text()
    mine = BLOCK.replace("= 2", "= 99")

    # The answer that the edit began with is no news.
    assert "keeps your own version of Patient." in add("s03.2", "Patient", PATIENT, work)
    assert file.read_text() == edited

    for _ in range(2):
        said = add("s03.2", "Patient", LATER, work)
        assert said.endswith(
            "keeps your own version of Patient, with this one below it as a comment."
        )
        comment = "# class Patient(lk.Todo):\n#     waits = 3\n"
        below = f"{mine}\n\n# --- s03.2 again Patient\n{comment}# --- end\n"
        assert file.read_text() == edited.replace(mine, below)
    assert imported(file).Patient.waits == 99

    add("s03.2", "Patient", PATIENT.replace("2", "4"), work)  # the comment is ours, so it follows
    assert file.read_text() == edited.replace(mine, below.replace("waits = 3", "waits = 4"))
    file.write_text(file.read_text().replace("#     waits = 4", "#     waits = 4  # hm"))
    before = file.read_text()
    add("s03.2", "Patient", LATER, work)
    assert file.read_text() == before


def test_a_block_that_was_removed_comes_back(work: Path) -> None:
    add("s03.2", "Patient", PATIENT, work)
    (work / FILE).write_text("# empty now\n")
    add("s03.2", "Patient", PATIENT, work)
    assert (work / FILE).read_text() == f"# empty now\n\n\n{BLOCK}"


@pytest.mark.parametrize("rest", ["", "\nx = 1\n", "\n# --- s03.3 f\ndef f(): ...\n# --- end\n"])
def test_a_block_without_its_end_is_kept_whole(rest: str, work: Path) -> None:
    add("s03.2", "Patient", PATIENT, work)
    file = work / FILE
    file.write_text(file.read_text().replace("# --- end\n", rest))
    before = file.read_text().rstrip()
    add("s03.2", "Patient", LATER, work)
    after = file.read_text()
    assert [line for line in before.splitlines() if line not in after.splitlines()] == []
    assert "#     waits = 3" in after
    assert imported(file).Patient.waits == 2


def test_a_writer_killed_before_its_digests_leaves_no_edit_behind(work: Path) -> None:
    add("s03.2", "Patient", PATIENT, work)
    for damage in (b"", b"[1]", b'{"s03.2": 1}', b"\xff"):
        (work / DIGESTS).write_bytes(damage)
        before = (work / FILE).read_bytes()
        add("s03.2", "Patient", PATIENT, work)
        assert (work / FILE).read_bytes() == before
        assert set(json.loads((work / DIGESTS).read_text())) == {"s03.2"}
    add("s03.2", "Patient", LATER, work)
    assert "waits = 3" in (work / FILE).read_text()
    assert "again" not in (work / FILE).read_text()


def test_without_its_digests_every_other_block_counts_as_edited(work: Path) -> None:
    add("s03.2", "Patient", PATIENT, work)
    (work / DIGESTS).unlink()
    add("s03.2", "Patient", LATER, work)
    assert imported(work / FILE).Patient.waits == 2


def test_line_ends_and_links_stay_as_the_learner_has_them(work: Path, tmp_path: Path) -> None:
    real = tmp_path / "mine.py"
    real.write_bytes(b"import learnkit as lk\r\n")
    (work / FILE).symlink_to(real)
    add("s03.2", "Patient", PATIENT, work)
    assert (work / FILE).is_symlink()
    content = real.read_bytes()
    assert content.count(b"\r\n") == content.count(b"\n") == 7
    add("s03.2", "Patient", LATER, work)
    assert b"again" not in real.read_bytes()


@pytest.mark.parametrize("name", ["x\n# --- end", "a b", "", "../x", "<lambda>"])
def test_a_hostile_name_is_refused(name: str, work: Path) -> None:
    with pytest.raises(UsageError):
        add("s03.2", name, PATIENT, work)
    assert not (work / FILE).exists()


@pytest.mark.parametrize("line", ["# --- end", "# --- s01.1 x"])
def test_a_source_that_looks_like_the_end_of_a_block_is_refused(line: str, work: Path) -> None:
    with pytest.raises(UsageError, match="separates the blocks"):
        add("s03.2", "f", f'def f():\n    """\n{line}\n    """\n', work)
    assert not (work / FILE).exists()


@pytest.mark.slow
def test_concurrent_passes_lose_nothing(work: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        given = [
            (f"s{n:02}.1", f"f{n}", f"def f{n}():\n    return {n}", work) for n in range(1, 13)
        ]
        pool.starmap(add, given, chunksize=1)
    module = imported(work / FILE)
    assert [getattr(module, f"f{n}")() for n in range(1, 13)] == list(range(1, 13))
    assert len(json.loads((work / DIGESTS).read_text())) == 12
    assert not list(work.glob(".*.part"))


# The source


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("def f():\n    return 1\n", "def f():\n    return 1", id="plain"),
        pytest.param("if True:\n    def f():\n        return 1\n", None, id="indented"),
        pytest.param(
            "import re\nfrom pathlib import Path as P\nN = 3\ndef g():\n    return N\n"
            "def f():\n    g()\n    return re, P\n",
            "from pathlib import Path as P\nimport re\n\n\nN = 3\n\n\ndef g():\n    return N\n\n\n"
            "def f():\n    g()\n    return re, P",
            id="with what it needs",
        ),
        pytest.param(
            "def g(n):\n    return f(n)\ndef f(n):\n    return n and g(n - 1)\n",
            "def g(n):\n    return f(n)\n\n\ndef f(n):\n    return n and g(n - 1)",
            id="in a circle",
        ),
        pytest.param(
            "from dataclasses import dataclass\n@dataclass\nclass f:\n    x: int = 1\n"
            "    def m(self):\n        return self.x\n",
            "from dataclasses import dataclass\n\n\n@dataclass\nclass f:\n    x: int = 1\n"
            "    def m(self):\n        return self.x",
            id="decorated",
        ),
        pytest.param(
            "events = 1\ndef f(events):\n    return events\n",
            "def f(events):\n    return events",
            id="a local name is none of the notebook's",
        ),
        pytest.param(
            "class f:\n    @property\n    def p(self):\n        return 1\n",
            "class f:\n    @property\n    def p(self):\n        return 1",
            id="only a property",
        ),
    ],
)
def test_a_source_comes_with_the_imports_and_helpers_it_needs(
    source: str, expected: str | None, tmp_path: Path
) -> None:
    found = source_of(defined(source, "f", tmp_path))
    assert found == (expected or "def f():\n    return 1")
    exec(compile(found, "<found>", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("f = lambda: 1\n", "define it with def or class"),
        ("class f:\n    x = 1\n", "its source can't be found"),
        ("lab = object()\ndef f():\n    return lab\n", "it uses lab, which only your notebook has"),
        ("def g(): return 1\nh = g\ndef f():\n    return h()\n", "it uses h, another name of g"),
        (
            "class Odd(type):\n    pass\nclass f:\n    pass\nf.__name__ = 'x\\n# --- end'\n",
            "source",
        ),
    ],
)
def test_what_cannot_be_copied_is_a_sentence(
    source: str, why: str, work: Path, tmp_path: Path
) -> None:
    said = collect("s03.1", defined(source, "f", tmp_path))
    assert f"was not added to {FILE}: " in said
    assert why in said
    assert "\n" not in said
    assert not (work / FILE).exists()


def test_an_object_that_answers_oddly_still_passes(work: Path) -> None:
    class Odd:
        def __call__(self) -> None: ...

        def __getattr__(self, name: str) -> None:
            raise RuntimeError("no")

    assert collect("s03.1", Odd()) == f"this was not added to {FILE}: RuntimeError: no"


@pytest.mark.parametrize("harm", [lambda file: file.write_bytes(b"\xff"), Path.mkdir])
def test_a_file_that_cannot_be_used_is_a_sentence(
    harm: Callable[[Path], object], work: Path, tmp_path: Path
) -> None:
    harm(work / FILE)
    said = collect("s03.1", defined("def f():\n    return 1\n", "f", tmp_path))
    assert said.startswith(f"f was not added to {FILE}: ")


# In a lesson


def test_a_check_that_passes_says_where_the_class_went(
    work: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lesson = load("s03")
    check, _ = Lab(lesson, "replay", tmp_path / "s03.yaml", static=False).exercise(2)
    check(defined(lesson.exercises[1].wrong[0], "Patient", tmp_path))
    assert not (work / FILE).exists()
    capsys.readouterr()
    check(defined(lesson.exercises[1].solution, "Patient", tmp_path))
    assert capsys.readouterr().out.splitlines()[1:] == [
        f'Patient is in work/{FILE}. To run it: learnkit mine REPO "a prompt"'
    ]
    assert issubclass(imported(work / FILE).Patient, Mechanism)


def test_a_static_run_and_a_folder_that_is_no_copy_leave_no_trace(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = load("s03")
    patient = defined(lesson.exercises[1].solution, "Patient", tmp_path)
    check, _ = Lab(lesson, "replay", tmp_path / "s03.yaml", static=True).exercise(2)
    check(patient)
    assert list(work.iterdir()) == []
    monkeypatch.delenv("LEARNKIT_WORKBOOK")
    monkeypatch.chdir(tmp_path)
    assert collect("s03.2", patient) == ""
    assert list(tmp_path.iterdir()) == [work]


def test_the_lessons_can_be_copied_to_where_the_file_is(work: Path, tmp_path: Path) -> None:
    add("s03.2", "Patient", PATIENT, work)
    (tmp_path / "course").mkdir()
    assert list(workbook.update(tmp_path / "course", work)) == []
    assert (work / FILE).exists()


IN_CELLS = """
import ast
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell
from learnkit.course.lab import Lab
from learnkit.course.lessons import load

shell = InteractiveShell.instance()
for number in range(1, 13):
    lesson = load(f"s{number:02}")
    shell.user_ns["lab"] = Lab(lesson, "replay", Path(f"s{number:02}.yaml"), False)
    for place, exercise in enumerate(lesson.exercises, start=1):
        shell.run_cell(exercise.solution, store_history=True)
        shell.run_cell(f"lab.exercise({place})[0]({exercise.name})")
"""


@pytest.mark.slow
def test_every_solution_defined_in_a_cell_arrives_and_can_be_imported(work: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IN_CELLS], capture_output=True, text=True, check=False, cwd=work
    )
    assert "not added" not in done.stdout, done.stdout
    module = imported(work / FILE)
    names = [one.name for n in range(1, 13) for one in load(f"s{n:02}").exercises]
    assert [name for name in names if not hasattr(module, name)] == ["replies"]  # a list
    for name in ("Patient", "Finisher", "Brief", "GoOn", "AtMost", "Still", "Enough", "TwoKeys"):
        assert issubclass(getattr(module, name), Mechanism)

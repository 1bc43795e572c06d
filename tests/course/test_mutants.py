"""Mutants: each fault shows in its view, is gone afterwards, and leaves nothing behind."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from learnkit import views
from learnkit.core.events import EventLog
from learnkit.course.games.mutants import catalogue
from learnkit.course.games.mutants.catalogue import MUTANTS
from learnkit.course.games.mutants.mutant import Mutant, healthy, play
from learnkit.course.games.mutants.patch import planted
from learnkit.course.lessons import Option
from learnkit.errors import UsageError

pytestmark = pytest.mark.usefixtures("no_thread_is_left")

each = pytest.mark.parametrize("mutant", MUTANTS, ids=[one.name for one in MUTANTS])

#: A text of an option is read in a button, an explanation in a line or two below it.
TEXT, WHY, SCENE = 80, 100, 160

SAMPLE = """
from __future__ import annotations

import contextlib
from dataclasses import dataclass

LIMIT = 3
TABLE = {"double": lambda number: number * 2}


def plain():
    return "plain"


def with_default(number=1):
    return number


def maker(number):
    def inner():
        return number + 1

    return inner


@contextlib.contextmanager
def opened():
    yield "opened"


class Outer:
    word = "class"

    def method(self):
        return "method"

    @property
    def attribute(self):
        return "property"

    @attribute.setter
    def attribute(self, value):
        self.kept = value

    @staticmethod
    def static():
        return "static"

    @classmethod
    def made(cls):
        return cls, "classmethod"

    class Inner:
        def deep(self):
            return "deep"


class Child(Outer):
    def method(self):
        return super().method() + "!"


@dataclass(slots=True)
class Value:
    number: int = 1

    def twice(self):
        return self.number * 2


def same():
    return "twice"


def again():
    return "twice"
"""


@pytest.fixture
def sample(tmp_path: Path) -> Iterator[ModuleType]:
    """A module with functions of all kinds."""
    path = tmp_path / "planted_sample.py"
    path.write_text(SAMPLE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("planted_sample", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


class Played:
    """Each mutant's runs, played once: healthy, ill, healthy, ill."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._logs: dict[str, list[EventLog]] = {}

    def __call__(self, mutant: Mutant) -> list[EventLog]:
        if mutant.name not in self._logs:
            runs = (healthy, play, healthy, play)
            self._logs[mutant.name] = [run(mutant) for run in runs]
        return self._logs[mutant.name]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    folder = tmp_path_factory.mktemp("mutants")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        yield Played(folder)


def entered(context: Any) -> Any:
    with context as value:
        return value


def frames(view: Any) -> list[tuple[str, dict[str, str]]]:
    """What the view shows after each event."""
    state = view.init()
    shown = []
    for event in view.events:
        if view.wants(event):
            state = view.step(state, event)
            shown.append((view.finding(state), view.frame(state)))
    return shown


def view_of(mutant: Mutant, log: EventLog) -> Any:
    return getattr(views, mutant.view)(log)


def lines(log: EventLog) -> list[str]:
    return [json.dumps(event._asdict()) for event in log]


# The mutants


@each
def test_the_line_stands_once_in_its_module(mutant: Mutant) -> None:
    source = inspect.getsource(importlib.import_module(mutant.module)).splitlines()
    assert [line.strip() for line in source].count(mutant.old) == 1
    assert mutant.new != mutant.old


@pytest.mark.slow
@each
def test_the_fault_shows_in_the_view_and_is_gone_afterwards(mutant: Mutant, played: Played) -> None:
    before, ill, after, again = played(mutant)
    assert view_of(mutant, ill).html() != view_of(mutant, before).html()
    assert frames(view_of(mutant, ill)) != frames(view_of(mutant, before))
    assert lines(after) == lines(before)
    assert view_of(mutant, after).html() == view_of(mutant, before).html()
    assert lines(again) == lines(ill)
    assert frames(view_of(mutant, again)) == frames(view_of(mutant, ill))
    assert view_of(mutant, again).html() == view_of(mutant, ill).html()


@pytest.mark.slow
@each
def test_a_run_leaves_no_file_and_tells_no_path(mutant: Mutant, played: Played) -> None:
    logs = played(mutant)
    assert list(played.folder.iterdir()) == []
    assert not any(str(played.folder) in line for log in logs for line in lines(log))


@pytest.mark.slow
def test_what_the_api_refuses_stands_in_the_log(played: Played) -> None:
    refused = {}
    for mutant in MUTANTS:
        before, ill, *_ = played(mutant)
        assert all(event.type != "model.failed" for event in before)
        if ill[-1].type == "model.failed":
            refused[mutant.name] = (ill[-1].data["status"], ill[-1].data["error_type"])
    assert refused == dict.fromkeys(("m01", "m02", "m15"), (400, "invalid_request_error"))


@each
def test_the_texts_are_short_and_only_the_right_one_is_called_right(mutant: Mutant) -> None:
    assert list(mutant.options) == ["a", "b", "c", "d"]
    called = [letter for letter, one in mutant.options.items() if one.why.startswith("Right")]
    assert called == [mutant.right]
    assert len({one.text for one in mutant.options.values()}) == 4
    assert max(len(one.text) for one in mutant.options.values()) <= TEXT
    assert max(len(one.why) for one in mutant.options.values()) <= WHY
    assert 0 < len(mutant.scene) <= SCENE


def test_neither_the_letter_nor_the_length_gives_the_answer_away() -> None:
    letters = Counter(mutant.right for mutant in MUTANTS)
    assert max(letters.values()) - min(letters[one] for one in "abcd") <= 1
    longest = [
        mutant.name
        for mutant in MUTANTS
        if len(mutant.options[mutant.right].text)
        >= max(len(one.text) for one in mutant.options.values())
    ]
    assert len(longest) <= len(MUTANTS) / 3


def test_they_are_numbered_and_spread_over_the_course() -> None:
    assert [one.name for one in MUTANTS] == [f"m{n:02}" for n in range(1, len(MUTANTS) + 1)]
    planted_in = {mutant.module.removeprefix("learnkit.") for mutant in MUTANTS}
    harness = ["core.agent", "core.tool_calls", "runtime.workspace", "backends.files.board"]
    harness += ["backends.files.mailbox", "backends.files.tracker"]
    rooms = {module.split(".")[1] for module in planted_in if module.startswith("mechanisms.")}
    assert planted_in >= set(harness)
    assert rooms >= {"coding", "todo", "subagents", "skills", "compaction", "background"}
    assert rooms >= {"protocols", "worktrees"}
    assert all(hasattr(views, mutant.view) for mutant in MUTANTS)


def test_a_mutant_needs_four_options_and_a_right_one() -> None:
    first = MUTANTS[0]
    with pytest.raises(UsageError, match="m01: options a, b, c, d, right 'e'"):
        replace(first, right="e")
    with pytest.raises(UsageError, match="give a to d"):
        replace(first, options={"a": Option("one", "why")}, right="a")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  scene: ", "  scenes: ", "number 1, scene: .*\n.*number 1, scenes: "),
        (".loop.two_calls", ".loop.three_calls", "number 1, run: .*three_calls"),
        ("    why: ", "    because: ", "number 1, options, a, why: "),
        ("  right: c", "  right: x", "number 1: .*m01: options a, b, c, d, right 'x'"),
    ],
)
def test_what_a_row_of_the_data_file_says_wrong_is_named(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    text = catalogue.FILE.read_text("utf-8")
    (tmp_path / "mutants.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        catalogue.read(tmp_path / "mutants.yaml")


def test_nothing_is_played_while_another_fault_is_planted() -> None:
    first = MUTANTS[0]
    with (
        planted(first.module, first.old, first.new),
        pytest.raises(UsageError, match="another fault is planted"),
    ):
        play(MUTANTS[1])
    assert lines(play(first)) != lines(healthy(first))


# Planting


@pytest.mark.parametrize(
    ("old", "new", "seen", "value"),
    [
        ('return "plain"', 'return "ill"', lambda m: m.plain(), "ill"),
        ("return number", "return number - 1", lambda m: m.with_default(), 0),
        ("return number + 1", "return number + 9", lambda m: m.maker(1)(), 10),
        ('yield "opened"', 'yield "ill"', lambda m: entered(m.opened()), "ill"),
        ('return "method"', 'return "ill"', lambda m: m.Outer().method(), "ill"),
        ('return "property"', 'return "ill"', lambda m: m.Outer().attribute, "ill"),
        ('return "static"', 'return "ill"', lambda m: m.Outer.static(), "ill"),
        ('return cls, "classmethod"', 'return "ill"', lambda m: m.Outer.made(), "ill"),
        ('return "deep"', 'return "ill"', lambda m: m.Outer.Inner().deep(), "ill"),
        ('return super().method() + "!"', "return super().method()", lambda m: m.Child().method(),
         "method"),
        ("return self.number * 2", "return self.number * 3", lambda m: m.Value(2).twice(), 6),
    ],
)  # fmt: skip
def test_a_line_says_something_else_while_the_block_runs(
    sample: ModuleType, old: str, new: str, seen: Any, value: Any
) -> None:
    before = seen(sample)
    with planted(sample, old, new):
        assert seen(sample) == value
    assert seen(sample) == before != value


def test_a_setter_is_changed_as_well(sample: ModuleType) -> None:
    outer = sample.Outer()
    with planted("planted_sample", "self.kept = value", "self.kept = -value"):
        outer.attribute = 3
    assert outer.kept == -3


def test_who_has_taken_the_function_before_sees_the_fault(sample: ModuleType) -> None:
    taken, outer = sample.plain, sample.Outer()
    bound = outer.method
    code = taken.__code__
    with planted(sample, 'return "plain"', 'return "ill"'):
        assert taken() == "ill"
    assert taken.__code__ is code
    with planted(sample, 'return "method"', 'return "ill"'):
        assert bound() == "ill"
    assert (taken(), bound()) == ("plain", "method")


def test_the_file_stays_and_a_traceback_names_it(sample: ModuleType) -> None:
    with planted(sample, 'return "plain"', 'raise KeyError("ill")'):
        with pytest.raises(KeyError, match="ill") as caught:
            sample.plain()
        assert str(caught.traceback[-1].path) == sample.__file__
    assert Path(str(sample.__file__)).read_text("utf-8") == SAMPLE


def test_an_exception_in_the_block_does_not_leave_the_fault(sample: ModuleType) -> None:
    with pytest.raises(KeyError), planted(sample, 'return "plain"', 'return "ill"'):
        raise KeyError
    assert sample.plain() == "plain"
    with planted(sample, 'return "plain"', 'return "again"'):
        assert sample.plain() == "again"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('return "absent"', "pass", "occurs 0 times"),
        ('return "twice"', "pass", "occurs 2 times"),
        ('return "plain"', "return 1\n    return 2", "one line to put in its place"),
        ('return "plain"', "return (", "is not Python"),
        ('return "plain"', 'return  "plain"', "no function that the new line changes"),
        ("LIMIT = 3", "LIMIT = 4", "defined again"),
        ('word = "class"', 'word = "ill"', "defined again"),
        ("def with_default(number=1):", "def with_default(number=2):", "defined again"),
        ("number: int = 1", "number: int = 2", "defined again"),
        (
            'TABLE = {"double": lambda number: number * 2}',
            'TABLE = {"double": lambda number: number * 3}',
            "no function of planted_sample has the code",
        ),
        ('return super().method() + "!"', 'return "!"', "Child would have to be defined again"),
    ],
)
def test_what_cannot_be_planted_is_refused_and_nothing_changes(
    sample: ModuleType, old: str, new: str, problem: str
) -> None:
    codes = [sample.plain.__code__, sample.Child.method.__code__]
    with pytest.raises(UsageError, match=problem), planted(sample, old, new):
        pytest.fail("it was planted")
    assert [sample.plain.__code__, sample.Child.method.__code__] == codes
    with planted(sample, 'return "plain"', 'return "ill"'):  # nothing is held
        assert sample.plain() == "ill"


def test_a_file_that_has_changed_since_is_not_mixed_with_the_old_code(sample: ModuleType) -> None:
    Path(str(sample.__file__)).write_text(f"# A line more.\n{SAMPLE}", encoding="utf-8")
    with (
        pytest.raises(UsageError, match="restart the kernel"),
        planted(sample, 'return "plain"', 'return "ill"'),
    ):
        pytest.fail("it was planted")


def test_two_at_once_are_refused_also_from_another_thread(sample: ModuleType) -> None:
    problems = []

    def second() -> None:
        try:
            with planted(sample, 'return "method"', 'return "ill"'):
                problems.append("it was planted")
        except UsageError as error:
            problems.append(str(error))

    with planted(sample, 'return "plain"', 'return "ill"'):
        second()
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
        assert (sample.plain(), sample.Outer().method()) == ("ill", "method")
    assert problems == ["another fault is planted; leave its block first"] * 2
    assert sample.plain() == "plain"

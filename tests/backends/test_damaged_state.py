"""Damaged state: every file loads, or an error names it; and the others work on."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from profiles import examples
from repos import begun

import learnkit as lk
from learnkit.backends.files.board import TaskBoard
from learnkit.backends.files.mailbox import Mailbox
from learnkit.backends.files.store import Journal
from learnkit.backends.files.values import members_in, requests_in
from learnkit.clients.recordings.recording import Recording
from learnkit.course.progress import Progress
from learnkit.errors import LearnkitError, ToolError, UsageError
from learnkit.events.log import EventLog
from learnkit.mechanisms.teams.delivery import Delivery
from learnkit.mechanisms.worktrees.registry import WorktreeRegistry

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def use_mail(folder: Path) -> None:
    box = Mailbox(folder / "inbox")
    box.open("alice")
    known = {mail.id for mail in box.all("alice")}
    inbox = box.reader("alice", seen=["m1", "m7"])
    inbox.look()
    sent = box.send("lead", "alice", "hello", at=NOW)
    assert sent.id not in known
    assert sent in inbox.take(), "it is new, whatever the files said"
    inbox.commit()
    assert sent not in box.unread("alice")


def use_board(folder: Path) -> None:
    board = TaskBoard(folder / "tasks")
    known = {task.id for task in board.tasks()}
    new = board.create("one more")
    assert new.id not in known
    assert board.get(new.id) == new
    board.ready()
    board.claim(new.id, "alice")
    board.update(new.id, "completed")
    board.update(new.id, "deleted")


def use_requests(folder: Path) -> None:
    tracker = requests_in(folder, lambda: NOW)
    known = {one.id for one in tracker.all()}
    tracker.current("bob")
    new = tracker.open("shutdown", "lead", "carol", "please", within=5.0)
    assert new.id not in known
    tracker.answer(new.id, "carol", "approved")
    tracker.assign("bob")


def use_roster(folder: Path) -> None:
    roster = members_in(folder, "team")
    roster.begin()
    roster.note({"name": "dora", "role": "coder", "status": "idle"})
    assert "dora" in [one["name"] for one in roster.members()]


def use_transcript(folder: Path) -> None:
    box = Mailbox(folder / "inbox2")
    box.open("alice")
    sent = box.send("lead", "alice", "hello")
    agent = lk.Agent(lk.scripted([]), [], name="alice")
    delivery = Delivery(box, agent, Journal(folder / "transcript.jsonl"))
    text = delivery.deliver()
    assert text is None or sent.id in text


def use_progress(folder: Path) -> None:
    progress = Progress(folder / "progress.json")
    progress.of("s01")
    progress.note("s01", "quiz", "q1", "a")
    assert progress.of("s01")["quiz"]["q1"] == "a"


def use_recording(folder: Path) -> None:
    path = folder / "recording.yaml"
    recording = Recording.load(path)
    for scenario in recording.scenarios[:1]:
        lk.connect(recording=path, scenario=scenario)
    recording.save(folder / "again.yaml")


def use_log(folder: Path) -> None:
    log = EventLog.load(folder / "log.jsonl")
    log.append("more.happened")
    str(log)
    log.save(folder / "again.jsonl")


def use_index(folder: Path) -> None:
    registry = WorktreeRegistry(folder / "repo")
    registry.all()
    registry.journal.read()


MAIL = {
    "id": "m1",
    "type": "message",
    "from": "bob",
    "to": "alice",
    "content": "hi",
    "timestamp": "",
}
REQUEST = {
    "id": "r0000001",
    "kind": "plan",
    "sender": "bob",
    "to": "lead",
    "content": "x",
    "state": "pending",
    "assignment": 0,
    "expires": "2027-01-01T00:00:00+00:00",
    "note": "",
}
EVENT = {"seq": 0, "time": 0.0, "lane": "lead", "type": "a.b", "data": {"x": [1]}}
TURN = {
    "id": "t1",
    "scenario": "s",
    "lane": "lead",
    "after": None,
    "params": {"system": "k", "max_tokens": 5},
    "said": [{"user": "hi"}, {"assistant": [{"text": "a"}]}],
    "reply": [{"text": "x"}, {"use": "bash", "id": "1", "input": {"command": "ls"}}],
    "stop": "end_turn",
    "usage": {"output_tokens": 3},
    "latency": 2.0,
}


EDIT = {**TURN, "id": "t2", "after": "t1", "said": [], "edits": {"0": {"user": "b"}}}


@dataclass(frozen=True)
class State:
    """A state file: where it is, what it may hold, and what reads it."""

    path: str
    valid: Any
    use: Callable[[Path], None]
    lines: bool = False

    def text(self, value: Any) -> str:
        return (json.dumps(value) if not self.lines else "\n".join(map(json.dumps, value))) + "\n"


STATES = (
    State("inbox/alice.jsonl", [MAIL, {**MAIL, "id": "m2", "request_id": "r1"}], use_mail, True),
    State("inbox/mail.json", {"next_id": 3, "version": 1}, use_mail),
    State("inbox/alice.place.json", 95, use_mail),
    State(
        "tasks/task_1.json",
        {
            "id": 1,
            "subject": "a",
            "status": "pending",
            "blockedBy": [2],
            "blocks": [],
            "tags": ["x"],
        },
        use_board,
    ),
    State("tasks/board.json", {"next_id": 2, "version": 1}, use_board),
    State(
        "tasks/.together.json",
        {"version": 1, "renames": {"x.json": None, "y.json": "z"}},
        use_board,
    ),
    State(
        "requests.json",
        {"version": 1, "next_id": 2, "assignments": {"bob": 1}, "requests": [REQUEST]},
        use_requests,
    ),
    State(
        "config.json",
        {"team_name": "t", "members": [{"name": "bob", "role": "coder", "status": "idle"}]},
        use_roster,
    ),
    State(
        "transcript.jsonl",
        [{"message": {"role": "user", "content": "x"}, "mail": ["m1"]}, {"message": {}}],
        use_transcript,
        True,
    ),
    State("progress.json", {"s01": {"quiz": {"q2": "b"}}}, use_progress),
    State(
        "recording.yaml",
        {"version": 1, "meta": {"model": "m"}, "shared": {"k": "be good"}, "turns": [TURN, EDIT]},
        use_recording,
    ),
    State("log.jsonl", [{"version": 1}, EVENT, {**EVENT, "seq": 1}], use_log, True),
    State(
        "repo/.worktrees/index.json",
        {"version": 1, "worktrees": [{"name": "a", "branch": "wt/a", "base": "x", "task_id": 1}]},
        use_index,
    ),
)
BY_PATH = pytest.mark.parametrize("state", STATES, ids=[state.path for state in STATES])


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("state") / "pristine"
    begun(folder / "repo")
    for state in STATES:
        path = folder / state.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(state.text(state.valid))
    return folder


def copied(pristine: Path, *, repo: bool = True) -> Path:
    folder = pristine.parent / "copy"
    if folder.exists():
        shutil.rmtree(folder)
    ignored = shutil.ignore_patterns() if repo else shutil.ignore_patterns("repo")
    shutil.copytree(pristine, folder, ignore=ignored)
    return folder


def loads_or_names_itself(state: State, folder: Path) -> None:
    said = ""
    try:
        state.use(folder)
    except ToolError:
        return  # what is stored makes no sense of the call: that is for the model
    except LearnkitError as error:
        said = str(error)
    except Exception as error:
        raise AssertionError(f"{state.path}: {type(error).__name__}: {error}") from error
    assert not said or Path(state.path).name in said


POISON = {
    "empty": b"",
    "torn": b'{"a": ',
    "deep": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "deep and whole": b"[" * 100_000 + b"]" * 100_000,
    "rather deep": b'{"id": ' + b"[" * 700 + b"]" * 700 + b"}",
    "not a number": b'{"next_id": NaN, "version": Infinity}',
    "large": b'{"next_id": ' + b"9" * 5_000 + b"}",
    "larger than a file name": b'{"next_id": 99999999999999999999}',
    "binary": bytes(range(256)),
    "null": b"null",
}


@BY_PATH
def test_a_poisoned_file_loads_or_names_itself(pristine: Path, state: State) -> None:
    for poison in POISON.values():
        folder = copied(pristine, repo=state.use is use_index)
        (folder / state.path).write_bytes(poison)
        loads_or_names_itself(state, folder)


LINES = [state for state in STATES if state.lines]


@pytest.mark.parametrize("state", LINES, ids=[state.path for state in LINES])
def test_a_poisoned_line_loses_at_most_itself(pristine: Path, state: State) -> None:
    for poison in POISON.values():
        folder = copied(pristine, repo=False)
        path = folder / state.path
        path.write_bytes(path.read_bytes() + poison.replace(b"\n", b" ") + b"\n")
        if state.use is use_log:  # a log with a gap is none
            loads_or_names_itself(state, folder)
        else:
            state.use(folder)


leaves = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.sampled_from(
        ["", "m1", "r0000001", "pending", "2026-13-45", "2026-01-01T00:00:00", "../x"]
    )
)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from places(one, (*path, index))


@st.composite
def damaged(draw: st.DrawFn, valid: Any) -> Any:
    """A valid value with other values in one to three places, or without something."""
    value = copy.deepcopy(valid)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(list(places(value))))
        new = draw(values)
        if not place:
            value = new
            continue
        *way, last = place
        inner = value
        for key in way:
            inner = inner[key]
        if draw(st.booleans()):
            inner[last] = new
        else:
            del inner[last]
            if isinstance(inner, dict) and draw(st.booleans()):
                inner[draw(st.text(max_size=5))] = new
    return value


QUICK = settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES[:-1], ids=[state.path for state in STATES[:-1]])
@QUICK
@given(data=st.data())
def test_whatever_a_file_holds_it_loads_or_names_itself(
    pristine: Path, state: State, data: st.DataObject
) -> None:
    write_damaged(pristine, state, data.draw(damaged(state.valid)))


def write_damaged(pristine: Path, state: State, value: Any) -> None:
    if state.lines and not isinstance(value, list):
        value = [value]
    folder = copied(pristine, repo=state.use is use_index)
    (folder / state.path).write_text(state.text(value), encoding="utf-8")
    loads_or_names_itself(state, folder)


@pytest.mark.parametrize(
    ("path", "use", "value"),
    [
        ("tasks/board.json", lambda folder: TaskBoard(folder / "tasks"), {"version": 2}),
        ("inbox/mail.json", use_mail, {"next_id": 9, "version": 2}),
        ("requests.json", use_requests, {"version": 2, "shape": "unknown"}),
        ("config.json", use_roster, {"version": 3, "people": {}}),
        ("recording.yaml", use_recording, {"version": 2, "turns": []}),
        ("repo/.worktrees/index.json", use_index, {"version": 2, "trees": []}),
        ("tasks/.together.json", use_board, {"version": 2, "moves": []}),
    ],
)
def test_what_a_newer_version_has_written_says_so(
    pristine: Path, path: str, use: Any, value: Any
) -> None:
    folder = copied(pristine)
    (folder / path).write_text(json.dumps(value))
    before = (folder / path).read_bytes()
    with pytest.raises(UsageError, match=r"version \d.* reads up to 1.*[Uu]pgrade") as caught:
        use(folder)
    assert Path(path).name in str(caught.value)
    assert (folder / path).read_bytes() == before


def test_state_that_has_vanished_is_not_taken_for_none_yet(tmp_path: Path) -> None:
    """Nobody counts as gone, no gate opens, and no new file bars the way of the old one."""
    roster, tracker = (
        members_in(tmp_path, "team"),
        requests_in(tmp_path, lambda: NOW),
    )
    alice = {"name": "alice", "role": "coder", "status": "working", "incarnation": "a1"}
    roster.note(alice)
    tracker.require_plan(True)
    for path, uses in {
        tmp_path / "config.json": [
            roster.members,
            roster.begin,
            lambda: roster.beat("alice", "a1", "machine 7"),
            lambda: roster.note({"name": "bob", "role": "coder", "status": "idle"}),
        ],
        tmp_path / "requests.json": [
            lambda: tracker.requires_plan(),
            lambda: tracker.assign("alice"),
        ],
    }.items():
        path.rename(tmp_path / "away")
        for use in uses:
            with pytest.raises(OSError, match=rf"{path.name} was there, and is gone; put it back"):
                use()
        (tmp_path / "away").rename(path)
    assert roster.members() == [alice]
    assert tracker.requires_plan()
    (tmp_path / "config.json").write_text("[")
    with pytest.raises(UsageError, match="mend it or remove it"):
        roster.members()
    (tmp_path / "config.json").unlink()
    assert roster.members() == []

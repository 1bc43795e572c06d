"""The event log: gapless, in one order for everybody, and the same after a save and a load."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from threads import all_at_once

from learnkit.errors import UsageError
from learnkit.events.log import Event, EventLog

# Any character, half surrogate pairs and line separators among them.
TEXT = st.text(st.characters(codec=None, categories=None), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
# Names of details must not be those of append's own parameters.
DETAILS = st.dictionaries(TEXT.map(lambda name: f"x{name}"), JSON, max_size=4)


def test_an_event_is_kept_as_it_was() -> None:
    log = EventLog()
    blocks = [{"type": "text", "text": "hi"}]
    event = log.append("message.added", lane="alice", time=2.5, index=0, content=blocks)
    blocks[0]["text"] = "changed later"
    assert event == Event(0, 2.5, "alice", "message.added", event.data)
    assert event.data == {"index": 0, "content": [{"type": "text", "text": "hi"}]}
    assert list(log) == [log[0]] == log[:1] == [event]
    assert len(log) == 1
    with pytest.raises(AttributeError):
        event.seq = 5  # type: ignore[misc]


@pytest.mark.parametrize("detail", [object(), b"bytes", {1, 2}, {"a": {("tuple", "key"): 1}}])
def test_details_that_json_cannot_hold_are_refused_and_leave_nothing(detail: object) -> None:
    log = EventLog()
    with pytest.raises(UsageError, match=r"event 'odd\.happened' has details that JSON cannot"):
        log.append("odd.happened", detail=detail)
    assert len(log) == 0


def test_threads_append_without_gaps_and_listeners_see_the_order_of_the_log() -> None:
    log = EventLog()
    seen: list[list[Event]] = [[], [], []]
    for one in seen:
        log.subscribe(one.append)
    start = threading.Barrier(8)

    def work(lane: str) -> None:
        start.wait()
        for number in range(200):
            log.append("number.counted", lane=lane, number=number)

    all_at_once(work, *(f"lane {i}" for i in range(8)))
    assert [event.seq for event in log] == list(range(1600))
    assert seen == [list(log)] * 3
    for i in range(8):
        numbers = [event.data["number"] for event in log if event.lane == f"lane {i}"]
        assert numbers == list(range(200))


def test_a_listener_that_appends_does_not_upset_the_order_for_the_others() -> None:
    log = EventLog()
    seen: list[str] = []

    def answer(event: Event) -> None:
        if event.type == "question.asked":
            log.append("answer.given")
            log.append("answer.ended")
            log.subscribe(lambda event: None)  # what waits is delivered all the same

    log.subscribe(answer)
    log.subscribe(lambda event: seen.append(event.type))
    log.append("question.asked")
    log.append("question.asked")
    assert seen == ["question.asked", "answer.given", "answer.ended"] * 2
    assert seen == [event.type for event in log]


def test_a_listener_that_raises_takes_nothing_from_the_others() -> None:
    log = EventLog()
    seen: list[int] = []
    problem = LookupError("the picture is gone")

    def broken(event: Event) -> None:
        if event.seq == 0:
            raise problem

    log.subscribe(broken)
    log.subscribe(lambda event: seen.append(event.seq))
    with pytest.raises(LookupError) as caught:
        log.append("first.happened")
    assert caught.value is problem
    log.append("second.happened")
    assert seen == [0, 1]
    assert len(log) == 2


def test_a_subscription_ends_once_and_for_all() -> None:
    log = EventLog()
    seen: list[int] = []
    log.append("zero.happened")
    unsubscribe = log.subscribe(lambda event: seen.append(event.seq))
    log.append("one.happened")
    unsubscribe()
    unsubscribe()
    log.append("two.happened")
    log.subscribe(lambda event: seen.append(event.seq))
    log.append("three.happened")
    assert seen == [1, 3]


def test_nothing_of_another_thread_comes_between_a_deed_and_its_event() -> None:
    log, appended = EventLog(), threading.Event()

    def work() -> None:
        log.append("mail.read")
        appended.set()

    reader = threading.Thread(target=work)
    with log.ordered():
        reader.start()
        appended.wait(0.2)  # as long as a log without the order needs at most
        log.append("mail.sent")
    reader.join(60)
    assert [event.type for event in log] == ["mail.sent", "mail.read"]


def test_no_interrupt_comes_between_a_deed_and_its_event() -> None:
    log = EventLog()

    def send() -> None:
        with log.ordered():
            signal.raise_signal(signal.SIGINT)
            log.append("mail.sent")

    with pytest.raises(KeyboardInterrupt):
        send()
    assert [event.type for event in log] == ["mail.sent"]


@given(
    st.lists(
        st.tuples(TEXT, TEXT, st.floats(0, 1e9), DETAILS),
        max_size=6,
    )
)
def test_a_saved_log_loads_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, entries: list[tuple[str, str, float, dict[str, Any]]]
) -> None:
    log = EventLog()
    for type_, lane, time, details in entries:
        # Half a pair in the name of an event has no way to be joined, so it stays out of these.
        log.append(_joined(type_), lane=_joined(lane), time=time, **details)
    path = tmp_path_factory.mktemp("log") / "events.jsonl"
    log.save(path)
    again = EventLog.load(path)
    assert list(again) == list(log)
    assert len(path.read_text("utf-8").split("\n")) == len(log) + 2  # the version is first
    assert [one.name for one in path.parent.iterdir()] == ["events.jsonl"]
    str(log).encode()  # it can be printed
    again.append("more.happened")
    assert again[-1].seq == len(log)


def _joined(text: str) -> str:
    joined: str = json.loads(json.dumps(text))
    return joined


GOOD = '{"seq": 0, "time": 0.0, "lane": "lead", "type": "a.b", "data": {}}'


@pytest.mark.parametrize(
    ("lines", "number", "problem"),
    [
        (["nonsense"], 1, "not an event"),
        ([GOOD, '{"seq": 1, "time": 0.'], 2, "not an event"),
        ([GOOD, "[1, 2]"], 2, "an object with seq, time, lane, type, data"),
        ([GOOD.replace('"data": {}', '"datum": {}')], 1, "an object with"),
        ([GOOD.replace('"lead"', "7")], 1, "lane is 7"),
        ([GOOD.replace("0.0", '"noon"')], 1, "time is 'noon'"),
        ([GOOD.replace('"seq": 0', '"seq": false')], 1, "seq is False"),
        ([GOOD.replace("{}", "[]")], 1, "data is"),
        ([GOOD, "", GOOD], 3, "event 0 where 1 should follow"),
        ([GOOD.replace("lead", "\udcff")], 1, "not an event"),
        ([GOOD.replace("{}", "[" * 100_000 + "]" * 100_000)], 1, "not an event"),
        (['{"version": 1}', GOOD, '{"version": 1}'], 3, "an object with"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, lines: list[str], number: int, problem: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match=problem) as caught:
        EventLog.load(path)
    assert f"log.jsonl, line {number}: " in str(caught.value)


def _as_folder(path: Path) -> Path:
    path.mkdir()
    (path / "keep").write_text("old")
    return path


def test_a_failed_save_leaves_what_was_there(tmp_path: Path) -> None:
    log = EventLog()
    log.append("a.happened")
    path = _as_folder(tmp_path / "log.jsonl")
    with pytest.raises(OSError, match=r".+"):
        log.save(path)
    assert (path / "keep").read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_save_replaces_the_old_file(tmp_path: Path) -> None:
    log = EventLog()
    path = tmp_path / "log.jsonl"
    log.save(path)
    assert path.read_bytes() == b'{"version": 1}\n'
    log.append("a.happened", n=1)
    log.save(path)
    assert list(EventLog.load(path)) == list(log)


@pytest.mark.parametrize("version", ["2", '"1"', "true", "null"])
def test_a_log_of_a_newer_version_says_so(tmp_path: Path, version: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(f'{{"version": {version}}}\n{GOOD}\n')
    with pytest.raises(UsageError, match=r"log\.jsonl has version .* reads up to 1; upgrade"):
        EventLog.load(path)


def test_the_log_reads_as_one_line_an_event() -> None:
    log = EventLog()
    log.append("tool.started", lane="lead", time=1.5, name="bash", input={"command": "x" * 200})
    log.append("run.ended", lane="alice", time=12.25, reason="end_turn")
    first, second = str(log).split("\n")
    assert first.split()[:3] == ["1.50", "lead", "tool.started"]
    assert first.endswith("x…")
    assert second.split(maxsplit=3) == ["12.25", "alice", "run.ended", '{"reason": "end_turn"}']
    assert repr(log) == "<EventLog of 2 events>"

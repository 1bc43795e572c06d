"""Broken and hostile files: a clear error, or a log that says what was left out."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest
from claude_lines import Lines, text, use
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from other_formats import ATIF, META, MINI, counts, item, said
from random_events import words
from sessions_read import typed

import learnkit as lk
from learnkit.errors import UsageError
from learnkit.events import loop
from learnkit.events.vocabulary import read
from learnkit.sessions import source
from learnkit.sessions.export import to_atif
from learnkit.sessions.page import page

VIEWS = ("Messages", "Tokens", "Contexts", "Dispatch", "Timeline", "Compaction")


def fold(log: lk.EventLog) -> None:
    """Draw every picture that a session has."""
    for name in VIEWS:
        assert getattr(lk.views, name)(log)._repr_mimebundle_()["text/plain"]


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    refusals = {
        "pipe": "is no regular file",
        ".": "is no regular file",
        "loop": "cannot be opened: Too many levels of symbolic links",
        "nothing": "cannot be opened: No such file or directory",
        "nul\0": "cannot be opened: embedded null byte",
        "n" * 5_000: "cannot be opened: File name too long",
    }
    for name, why in refusals.items():
        with pytest.raises(UsageError, match=why):
            lk.open_session(tmp_path / name)


def test_a_link_to_the_file_of_a_subagent_is_not_followed(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Look")
    path = lines.write(tmp_path / "s.jsonl")
    other = Lines("o", isSidechain=True)
    other.user("Elsewhere")
    folder = tmp_path / "s" / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-x.jsonl").symlink_to(other.write(tmp_path / "other.jsonl"))
    os.mkfifo(folder / "agent-y.jsonl")
    assert {event.lane for event in lk.open_session(path)} == {"lead"}


def test_a_file_is_read_in_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = Lines()
    lines.user("Look")
    for number in range(30):
        lines.reply(f"m{number}", use(f"t{number}", "Read", file_path="/a"))
        lines.result(f"t{number}", f"{number}" + "x" * 3000)
    lines.user("y" * 20_000)
    path = lines.write(tmp_path / "s.jsonl", *("{}" for _ in range(9)))
    monkeypatch.setattr(source, "LONGEST_LINE", 10_000)
    monkeypatch.setattr(source, "LINES", 65)
    monkeypatch.setattr(source, "TEXT", 40_000)
    log = lk.open_session(path)
    about = log[0].data
    assert about["left_out"]["lines"] == 5
    assert [(one["line"], one["text"]) for one in about["warnings"]] == [
        (62, "left out: longer than 10,000 bytes")
    ]
    outputs = [end.output for end in typed(log, loop.ToolEnded)]
    assert outputs[0] == "0" + "x" * 3000
    assert len(outputs[-1]) < 1_100
    assert outputs[-1].startswith("29xxx")
    assert about["left_out"]["characters"] == sum(3001 + (n > 9) - 1000 for n in range(30)) - sum(
        len(one) - 1000 for one in outputs if len(one) > 1_100
    )
    fold(log)


@pytest.mark.slow
def test_a_million_lines_are_counted_in_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "LINES", 1_000)
    path = tmp_path / "s.jsonl"
    line = b'{"type":"progress","uuid":"%07d","sessionId":"s"}\n'
    with path.open("wb") as file:
        for start in range(0, 1_000_000, 10_000):
            file.write(b"".join(line % number for number in range(start, start + 10_000)))
    about = lk.open_session(path)[0].data
    assert about["lines"] == {"progress": 1_000}
    assert about["left_out"] == {"lines": 999_000}


def test_a_document_is_cut_off_or_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.json"
    path.write_text('{"schema_version": "ATIF-v1.7", "steps": [{"step_id": 1, "sou')
    with pytest.raises(UsageError, match="is damaged or cut off: Unterminated string"):
        lk.open_session(path)
    monkeypatch.setattr(source, "LONGEST_DOCUMENT", 20)
    with pytest.raises(UsageError, match="is longer than 20 bytes"):
        lk.open_session(path)


def test_deep_nesting_and_odd_numbers_stop_nothing(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Look")
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    lines.reply("m1", use("t1", "Read", deep=deep))
    nested = '{"type": "user", "sessionId": "s", "deep": ' + "[" * 100_000 + "}"
    odd = '{"type": "user", "uuid": "n", "message": {"content": "\\ud800"}, "n": NaN, "m": 1e999}'
    stamp = '{"type": "assistant", "sessionId": "s", "timestamp": 1e300, "message": {"id": 5}}'
    log = lk.open_session(lines.write(tmp_path / "s.jsonl", nested, odd, stamp))
    assert log[0].data["left_out"] == {"values nested too deeply": 1}
    assert "nested too deeply" in log[0].data["warnings"][0]["text"]
    assert json.dumps([event.data for event in log], allow_nan=False)
    log.save(tmp_path / "log.jsonl")
    assert len(lk.EventLog.load(tmp_path / "log.jsonl")) == len(log)
    fold(log)


def test_a_block_without_a_type_is_drawn_also_where_it_is_summarised(tmp_path: Path) -> None:
    lines = Lines()
    lines.user([{}])
    lines.reply("m1", text("Done."))
    lines.user("In short", isCompactSummary=True)
    fold(lk.open_session(lines.write(tmp_path / "s.jsonl")))


def test_a_usage_of_anything_stops_no_page(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Look")
    lines.reply("m1", text("Done."))
    kinds = {"ephemeral_1h_input_tokens": "many"}
    usage = {"input_tokens": {"a": 1}, "output_tokens": "7", "cache_creation": kinds}
    lines.entries[-1]["message"]["usage"] = usage
    assert page(lk.open_session(lines.write(tmp_path / "s.jsonl")))


def test_a_time_beyond_all_times_is_none(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    event = '{"seq": 0, "time": %s, "lane": "lead", "type": "note.taken", "data": {"a": 1}}\n'
    path.write_text("".join(event % time for time in ("1", "1e999", "1" * 400, '"1"', "true")))
    log = lk.open_session(path)
    assert [event.time for event in log[1:]] == [1.0, 1.0]
    assert [one["line"] for one in log[0].data["warnings"]] == [2, 3, 4]
    made = to_atif(log)
    for event in made["extra"]["learnkit"]:
        event["time"] = float("inf")
    path.write_text(json.dumps(made))
    assert len(lk.open_session(path)) == 1


_leaf = st.none() | st.booleans() | st.integers() | st.floats() | words
_any = st.recursive(
    _leaf, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3)
)


def files() -> list[Any]:
    """A file of each format, as its lines or as its object."""
    lines = Lines()
    lines.user("Look")
    lines.reply("m1", use("t1", "Task", prompt="Go"), stop="tool_use")
    lines.user("Go", isSidechain=True, parentUuid=None, agentId="a1")
    lines.result("t1", "found", failed=True, toolUseResult={"agentId": "a1"})
    lines.add("attachment", attachment={"type": "queued_command", "prompt": "And this"})
    lines.add("system", subtype="api_error", error={"status": 529, "error": {"error": {}}})
    lines.add("system", subtype="compact_boundary", compactMetadata={"trigger": "auto"})
    lines.user("In short", isCompactSummary=True)
    call = item("function_call", call_id="c1", name="shell", arguments='{"command": ["ls"]}')
    output = item("function_call_output", call_id="c1", output="ok")
    history = {"message": "In short", "replacement_history": [{"role": "user", "content": "So"}]}
    payloads = [("session_meta", META), said("user", "Look"), call, counts(900, 400), output]
    rollout = [
        {"timestamp": "2026-11-01T00:00:00Z", "type": kind, "payload": payload}
        for kind, payload in [*payloads, ("compacted", history)]
    ]
    event = {"seq": 0, "time": 0.0, "lane": "lead", "type": "run.started", "data": {"prompt": "Go"}}
    return [lines.entries, rollout, [{"version": 1}, event], ATIF, MINI]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Each container in a value, with each of its keys but those that tell the format."""
    if not isinstance(value, dict | list):
        return []
    keys = list(value) if isinstance(value, dict) else range(len(value))
    keys = [key for key in keys if key not in ("schema_version", "trajectory_format")]
    return [(value, key) for key in keys] + [one for key in keys for one in places(value[key])]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.integers(0, 4), st.data(), st.binary(max_size=30))
def test_anything_in_the_place_of_anything_becomes_a_log_that_can_be_drawn_and_exported(
    tmp_path: Path, format: int, data: st.DataObject, rest: bytes
) -> None:
    file = copy.deepcopy(files()[format])
    path, first = tmp_path / "file", copy.deepcopy(file[0]) if isinstance(file, list) else None
    for _ in range(data.draw(st.integers(1, 6))):
        container, key = data.draw(st.sampled_from(places(file)))
        container[key] = data.draw(_any)
    told = b"\n".join(json.dumps(one).encode() for one in [first, *file, 0])
    path.write_bytes(told + rest if first else json.dumps(file).encode())
    log = lk.open_session(path)
    assert [event.type for event in log if read(event) is None and "." in event.type] == []
    fold(log)
    assert page(log)
    assert json.dumps(to_atif(log), allow_nan=False)

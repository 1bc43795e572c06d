"""Broken and hostile files: a clear error, or a log that says what was left out."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from claude_lines import Lines, text, use
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_events import words
from sessions_read import contents, typed

import learnkit as lk
from learnkit.errors import UsageError
from learnkit.events import loop
from learnkit.events.vocabulary import read
from learnkit.sessions import source
from learnkit.sessions.export import to_atif

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
        ".": "cannot be opened: Is a directory",
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


def test_an_id_in_a_line_names_no_file_elsewhere(tmp_path: Path) -> None:
    other = Lines("o", isSidechain=True)
    other.user("Elsewhere")
    other.write(tmp_path / "x.jsonl")
    lines = Lines()
    lines.user("Look")
    lines.reply("m1", use("t1", "Task"))
    lines.result("t1", "found", toolUseResult={"agentId": "a/../../x"})
    lines.add("progress", data={"agentId": "n" * 5_000}, parentToolUseID="t1")
    (tmp_path / "folder" / "agent-a").mkdir(parents=True)
    log = lk.open_session(lines.write(tmp_path / "folder" / "s.jsonl"))
    assert {event.lane for event in log} == {"lead"}


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


def test_a_time_beyond_all_times_is_none(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    event = '{"seq": 0, "time": %s, "lane": "lead", "type": "note.taken", "data": {"a": 1}}\n'
    path.write_text("".join(event % time for time in ("1", "1e999", "1" * 400, '"1"', "true")))
    log = lk.open_session(path)
    assert [event.time for event in log[1:]] == [1.0, 1.0]
    assert [one["line"] for one in log[0].data["warnings"]] == [2, 3, 4]
    made = to_atif(log)
    for event in made["steps"][0]["extra"]["learnkit"]:
        event["time"] = float("inf")
    path.write_text(json.dumps(made))
    assert len(lk.open_session(path)) == 1


def test_mixed_formats_and_versions_keep_what_fits(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Look")
    lines.reply("m1", text("Done."))
    log = lk.open_session(
        lines.write(
            tmp_path / "s.jsonl",
            json.dumps({"timestamp": "x", "type": "response_item", "payload": {"type": "message"}}),
            json.dumps({"version": 1}),
        )
    )
    assert contents(log) == ["Look", [text("Done.")]]
    assert log[0].data["unknown"] == {"response_item": 1, "no type": 1}


# Anything at all, in the place of anything.

_ids = st.sampled_from(["u1", "u2", "u3", "m1", "t1", "a1", "", "<i>"])
_leaf = st.none() | st.booleans() | st.integers() | st.floats() | words | _ids
_any = st.recursive(
    _leaf, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3)
)
_kinds = st.sampled_from(
    [
        *("text", "tool_use", "tool_result", "thinking", "image", "message", "reasoning"),
        *("function_call", "function_call_output", "agent_progress", "queued_command"),
    ]
)
_block = st.fixed_dictionaries(
    {"type": _kinds | _any},
    optional={
        **dict.fromkeys(("id", "tool_use_id", "call_id"), _ids | _any),
        **dict.fromkeys(("name", "text", "input", "content", "arguments", "output"), _any),
        "is_error": st.booleans() | _any,
    },
)
_content = st.lists(_block, max_size=3) | _any
_line = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            [
                *("user", "assistant", "system", "progress", "summary", "attachment"),
                *("response_item", "event_msg", "compacted", "session_meta", "run.started"),
            ]
        )
        | _any,
    },
    optional={
        **dict.fromkeys(("uuid", "parentUuid", "agentId", "parentToolUseID"), _ids | _any),
        "timestamp": st.sampled_from(["2026-11-01T00:00:00Z", "2026-11-01T00:00:09", 1e300]) | _any,
        "message": st.fixed_dictionaries({"content": _content}, optional={"id": _ids | _any})
        | _any,
        "subtype": st.sampled_from(["compact_boundary", "microcompact_boundary", "api_error"]),
        **dict.fromkeys(("isSidechain", "isMeta", "isCompactSummary"), st.booleans() | _any),
        **dict.fromkeys(("payload", "data", "attachment", "toolUseResult"), _block | _any),
        **dict.fromkeys(("compactMetadata", "microcompactMetadata", "error", "time", "lane"), _any),
    },
)
_first = st.sampled_from(
    [
        {"type": "user", "uuid": "u1", "message": {"content": "Look"}},
        {"type": "session_meta", "payload": {"id": "x"}},
        {"version": 1},
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(_first, st.lists(_line, max_size=12), st.binary(max_size=30))
def test_any_lines_become_a_log_that_can_be_drawn_and_exported(
    tmp_path: Path, first: Any, lines: list[Any], rest: bytes
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes("\n".join(map(json.dumps, [first, *lines, 0])).encode() + rest)
    check(lk.open_session(path))


_step = st.fixed_dictionaries(
    {"source": st.sampled_from(["user", "agent", "system"]) | _any},
    optional={
        "message": _content,
        "tool_calls": st.lists(_block, max_size=2) | _any,
        "observation": st.fixed_dictionaries({"results": _content}) | _any,
        **dict.fromkeys(("metrics", "timestamp", "extra", "model_name"), _any),
    },
)
_message = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool", "exit"]) | _any},
    optional={
        **dict.fromkeys(("content", "output", "tool_calls"), _content),
        **dict.fromkeys(("extra", "usage", "tool_call_id", "created_at"), _any),
    },
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(_step | _any, max_size=6), st.lists(_message | _any, max_size=6), _any)
def test_any_document_becomes_a_log_too(
    tmp_path: Path, steps: list[Any], messages: list[Any], extra: Any
) -> None:
    path = tmp_path / "t.json"
    for document in (
        {"schema_version": "ATIF-v1.7", "steps": steps, "agent": extra, "extra": extra},
        {"info": extra, "messages": messages, "trajectory_format": "mini-swe-agent-1.1"},
    ):
        path.write_text(json.dumps(document))
        check(lk.open_session(path))


def check(log: lk.EventLog) -> None:
    """Every event can be read, and every picture drawn."""
    assert [event.type for event in log if read(event) is None and "." in event.type] == []
    fold(log)

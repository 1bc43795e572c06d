"""Codex's rollouts, ATIF, mini-swe-agent's trajectories and saved logs, told apart by content."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from claude_lines import text, use
from other_formats import ATIF, META, MINI, counts, item, said
from sessions_read import contents, typed

import learnkit as lk
from learnkit.errors import UsageError
from learnkit.events import compaction, loop
from learnkit.events.subagents import SubagentStarted
from learnkit.sessions.source import seconds


def opened(folder: Path, text: str) -> lk.EventLog:
    """The log of a file with a text."""
    path = folder / "file"
    path.write_text(text, "utf-8")
    return lk.open_session(path)


def codex(folder: Path, *lines: tuple[str, dict[str, Any]]) -> lk.EventLog:
    """The log of a rollout, a line a second."""
    every = [("session_meta", META), *lines]
    stamps = [f"2026-11-01T00:00:{number:02}.000Z" for number in range(len(every))]
    return opened(
        folder,
        "\n".join(
            json.dumps({"timestamp": stamp, "type": kind, "payload": payload})
            for stamp, (kind, payload) in zip(stamps, every, strict=True)
        ),
    )


def test_a_rollout_has_the_turns_that_its_counts_end(tmp_path: Path) -> None:
    log = codex(
        tmp_path,
        said("user", "<environment_context>/w</environment_context>"),
        said("user", "Fix it"),
        counts(1, 1),
        ("turn_context", {"model": "some-model"}),
        item("reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
        item("web_search_call", status="completed", action={"query": "q"}),
        item("function_call", call_id="c1", name="shell", arguments='{"command": ["ls"]}'),
        item("custom_tool_call", call_id="c2", name="patch", input="***"),
        counts(900, 400),
        counts(900, 400),
        said("developer", "Allowed"),
        item("function_call_output", call_id="c1", output="Exit code: 2\nOutput:\nno"),
        item("custom_tool_call_output", call_id="c2", output="ok"),
        item("function_call_output", call_id="c1", output="told twice"),
        said("assistant", "Done."),
        counts(950, 900),
        item("ghost_snapshot", ghost=1),
        ("brand_new", {"a": 1}),
    )
    about = log[0].data
    assert (about["format"], about["id"], about["cwd"]) == ("codex", "019e", "/w")
    assert (about["title"], about["versions"]) == ("Fix it", ["0.128.0"])
    assert about["unknown"] == {"line ghost_snapshot": 1, "line brand_new": 1}
    first, second = typed(log, loop.ModelReplied)
    assert (first.usage.input_tokens, first.usage.cache_read_input_tokens) == (500, 400)
    assert (second.usage.sent, second.usage.output_tokens, second.model) == (950, 9, "some-model")
    (run,) = typed(log, loop.RunStarted)
    assert (run.prompt, run.system) == ("Fix it", "You are Codex.")
    thought = {"type": "thinking", "thinking": "hm"}
    result = {"type": "tool_result", "tool_use_id": "c2", "content": "ok"}
    failed = {"tool_use_id": "c1", "content": "Exit code: 2\nOutput:\nno", "is_error": True}
    assert contents(log)[2:] == [
        [
            thought,
            use("", "web_search_call", query="q") | {"type": "server_tool_use"},
            *[use("c1", "shell", command=["ls"]), use("c2", "patch", input="***")],
        ],
        [text("Allowed"), result | failed, result],
        [text("Done.")],
    ]


def test_the_rollout_of_a_subagent_begins_with_a_copy_that_is_not_its_own(tmp_path: Path) -> None:
    own = {"id": "child", "subagent_history_start_ordinal": 3}
    payloads = [("session_meta", own), ("session_meta", META), said("user", "The parent's")]
    payloads += [said("user", "Look"), said("assistant", "Seen.")]
    log = opened(
        tmp_path,
        "\n".join(
            json.dumps({"ordinal": number, "type": kind, "payload": payload})
            for number, (kind, payload) in enumerate(payloads)
        ),
    )
    assert contents(log) == ["Look", [text("Seen.")]]
    assert (log[0].data["id"], log[0].data["lines"]["of the parent"]) == ("child", 2)


def test_a_rollout_is_compacted_and_aborted(tmp_path: Path) -> None:
    log = codex(
        tmp_path,
        said("user", "One"),
        said("assistant", "1"),
        counts(800, 0),
        said("user", "Two"),
        ("event_msg", {"type": "turn_aborted", "reason": "interrupted"}),
        ("compacted", {"message": "In short", "replacement_history": []}),
        said("user", "Three"),
    )
    assert contents(log) == ["In short", "Three"]
    (done,) = typed(log, compaction.CompactionSummarised)
    assert done.after == lk.estimate_tokens([{"role": "user", "content": "In short"}])
    assert [run.reason for run in typed(log, loop.RunEnded)] == ["end_turn", "cancelled"]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_trajectory_in_atif_is_read_with_its_subagents(tmp_path: Path, indent: Any) -> None:
    log = opened(tmp_path, json.dumps(ATIF, indent=indent))
    assert (log[0].data["format"], log[0].data["id"]) == ("atif", "run-1")
    assert log[0].data["unknown"] == {"field trajectory.new_field": 1}
    (run,) = typed(log, loop.RunStarted, "lead")
    assert (run.system, run.prompt, run.tools) == ("Be brief.", "Fix it", ({"name": "read"},))
    first, _ = typed(log, loop.ModelReplied, "lead")
    assert (first.usage.sent, first.usage.cache_read_input_tokens) == (900, 600)
    assert (first.model, first.stop_reason) == ("m-1", "tool_use")
    thought = {"type": "thinking", "thinking": "hm"}
    assert contents(log)[1:] == [
        [thought, text("Looking."), use("c1", "task", prompt="Look")],
        [{"type": "tool_result", "tool_use_id": "c1", "content": "found"}],
        [text("Done.")],
    ]
    (child,) = typed(log, SubagentStarted)
    assert (child.parent, child.call, child.prompt) == ("lead", "c1", "Look")
    assert contents(log, "lead.c1") == ["Look", [text("found")]]


def test_a_trajectory_of_mini_swe_agent_has_both_of_its_apis(tmp_path: Path) -> None:
    log = opened(tmp_path, json.dumps(MINI, indent=2))
    about = log[0].data
    assert (about["format"], about["versions"], about["cwd"]) == ("mini-swe-agent", ["2.4.6"], "/w")
    assert contents(log)[1::2] == [
        [text("First"), use("c1", "bash", a=1)],
        [text("And"), use("c2", "bash")],
    ]
    ends = typed(log, loop.ToolEnded)
    assert [(one.output, one.is_error) for one in ends] == [("a.py", False), ("no", True)]
    assert [one.usage.sent for one in typed(log, loop.ModelReplied)] == [70, 90]
    (run,) = typed(log, loop.RunEnded)
    assert (run.reason, run.turns) == ("Submitted", 2)


def test_a_command_in_the_text_of_mini_swe_agent_is_a_call(tmp_path: Path) -> None:
    says = "```bash\nls\n```"
    messages = [
        {"role": "user", "content": "Fix it"},
        {"role": "assistant", "content": says},
        {"role": "user", "content": "<returncode>1</returncode>\na.py"},
        {"role": "assistant", "content": says, "extra": {"actions": [{"command": "ls"}]}},
        {"role": "user", "content": "b.py", "extra": {"returncode": 0}},
        {"role": "assistant", "content": f"{says}\n{says}"},
        {"role": "user", "content": "Give one."},
    ]
    log = opened(tmp_path, json.dumps({**MINI, "messages": messages}))
    ends = [(end.name, end.output[-4:], end.how) for end in typed(log, loop.ToolEnded)]
    assert ends == [("bash", "a.py", "raised"), ("bash", "b.py", "ran")]
    assert contents(log)[1] == [text(says), use("command 2", "bash", command="ls")]
    assert contents(log)[5:] == [[text(f"{says}\n{says}")], "Give one."]


def test_results_in_atif_without_an_id_are_those_of_the_calls_in_order(tmp_path: Path) -> None:
    calls = [{"tool_call_id": id, "function_name": "bash_command"} for id in "ab"]
    results = [{"content": "one"}, {"content": "<returncode>2</returncode>"}, {"content": "more"}]
    step = {"source": "agent", "tool_calls": calls, "observation": {"results": results}}
    log = opened(tmp_path, json.dumps({**ATIF, "steps": [step]}))
    ends = [(end.id, end.output, end.how) for end in typed(log, loop.ToolEnded, "lead")]
    assert ends == [("a", "one", "ran"), ("b", "<returncode>2</returncode>", "raised")]
    assert contents(log)[-1][2:] == [text("more")]


def test_a_saved_log_is_read_as_it_is_also_if_its_last_line_is_cut(tmp_path: Path) -> None:
    agent = lk.Agent(lk.scripted([lk.say("Done.")]))
    agent.run("Look")
    path = tmp_path / "log.jsonl"
    agent.events.save(path)
    log = lk.open_session(path)
    assert (log[0].data["format"], log[0].data["title"]) == ("learnkit", "Look")
    assert [one[1:] for one in log[1:]] == [one[1:] for one in agent.events]

    odd = lk.EventLog()
    odd.add("session.opened", {**log[0].data, "cwd": "/w", "self": "x"}, "lead", 0.0)
    odd.save(path)
    (about,) = lk.open_session(path)
    assert about.data["cwd"] == "/w"

    agent.events.save(path)
    path.write_bytes(path.read_bytes()[:-20])
    cut = lk.open_session(path)
    assert len(cut) == len(log) - 1
    assert cut[0].data["warnings"][0]["text"].startswith("cut off: ")


def test_a_file_of_no_known_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no session of a known format"):
        opened(tmp_path, '{"a": 1}\n{"type": "user"}\n')
    with pytest.raises(UsageError, match="is empty"):
        opened(tmp_path, "\n")


def test_a_time_without_a_zone_is_one_of_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/Lima")
    time.tzset()
    try:
        assert seconds("2026-11-01T10:00:00") == seconds("2026-11-01T10:00:00Z")
    finally:
        monkeypatch.undo()
        time.tzset()

"""Codex's rollouts, ATIF, mini-swe-agent's trajectories and saved logs, told apart by content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sessions_read import contents, typed

import learnkit as lk
from learnkit.errors import UsageError
from learnkit.events import compaction, loop
from learnkit.events.subagents import SubagentStarted
from learnkit.events.vocabulary import read


def codex(*lines: tuple[str, dict[str, Any]]) -> str:
    """A rollout, a line a second."""
    return "\n".join(
        json.dumps({"timestamp": f"2026-11-01T00:00:{n:02}.000Z", "type": kind, "payload": payload})
        for n, (kind, payload) in enumerate(lines)
    )


def item(kind: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    """A response item."""
    return "response_item", {"type": kind, **fields}


def said(role: str, text: str) -> tuple[str, dict[str, Any]]:
    """A message."""
    return item("message", role=role, content=[{"type": "input_text", "text": text}])


def event(kind: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    """What the harness says."""
    return "event_msg", {"type": kind, **fields}


def counts(sent: int, cached: int) -> tuple[str, dict[str, Any]]:
    """The counts that end a reply."""
    last = {"input_tokens": sent, "cached_input_tokens": cached, "output_tokens": 9}
    return event("token_count", info={"last_token_usage": last})


def opened(folder: Path, text: str, name: str = "file") -> lk.EventLog:
    """The log of a file with a text."""
    path = folder / name
    path.write_text(text, "utf-8")
    return lk.open_session(path)


META = {"id": "019e", "cwd": "/w", "cli_version": "0.128.0", "git": {"branch": "main"}}
PROMPT = {"base_instructions": {"text": "You are Codex."}}


def test_a_rollout_has_the_turns_that_its_counts_end(tmp_path: Path) -> None:
    log = opened(
        tmp_path,
        codex(
            ("session_meta", META | PROMPT),
            said("developer", "<permissions>"),
            said("user", "<environment_context>/w</environment_context>"),
            said("user", "Fix it"),
            event("task_started"),
            counts(1, 1),
            ("turn_context", {"model": "some-model"}),
            item("reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
            item("function_call", call_id="c1", name="shell", arguments='{"command": ["ls"]}'),
            item("custom_tool_call", call_id="c2", name="patch", input="***"),
            event("token_count", info=None),
            counts(900, 400),
            counts(900, 400),
            item("function_call_output", call_id="c1", output="Exit code: 2\nOutput:\nno"),
            item("custom_tool_call_output", call_id="c2", output="ok"),
            item("function_call_output", call_id="c1", output="told twice"),
            said("assistant", "Done."),
            counts(950, 900),
            item("ghost_snapshot", ghost=1),
            ("brand_new", {"a": 1}),
        ),
    )
    about = log[0].data
    assert (about["format"], about["id"], about["cwd"]) == ("codex", "019e", "/w")
    assert (about["title"], about["versions"], about["models"]) == (
        *("Fix it", ["0.128.0"]),
        ["some-model"],
    )
    assert about["unknown"] == {"ghost_snapshot": 1, "brand_new": 1}
    first, second = typed(log, loop.ModelReplied)
    assert (first.usage.input_tokens, first.usage.cache_read_input_tokens) == (500, 400)
    assert (second.usage.sent, second.usage.output_tokens) == (950, 9)
    (run,) = typed(log, loop.RunStarted)
    assert (run.prompt, run.system) == ("Fix it", "You are Codex.")
    assert contents(log)[3:] == [
        [
            {"type": "thinking", "thinking": "hm"},
            {"type": "tool_use", "id": "c1", "name": "shell", "input": {"command": ["ls"]}},
            {
                "type": "tool_use",
                "id": "c2",
                "name": "patch",
                "input": {"input": "***"},
            },
        ],
        [
            {
                **{"type": "tool_result", "tool_use_id": "c1", "is_error": True},
                "content": "Exit code: 2\nOutput:\nno",
            },
            {"type": "tool_result", "tool_use_id": "c2", "content": "ok"},
        ],
        [{"type": "text", "text": "Done."}],
    ]


def test_a_rollout_without_counts_begins_a_turn_after_all_results(tmp_path: Path) -> None:
    call = {"name": "shell", "arguments": "{}"}
    log = opened(
        tmp_path,
        codex(
            ("session_meta", META),
            said("user", "Go"),
            item("function_call", call_id="c1", **call),
            item("function_call", call_id="c2", **call),
            item("function_call_output", call_id="c1", output="1"),
            item("function_call_output", call_id="c2", output="2"),
            said("assistant", "Done."),
        ),
    )
    assert [len(one) for one in contents(log)] == [2, 2, 2, 1]


def test_a_rollout_is_compacted_rolled_back_and_aborted(tmp_path: Path) -> None:
    log = opened(
        tmp_path,
        codex(
            ("session_meta", META),
            said("user", "One"),
            said("assistant", "1"),
            counts(800, 0),
            said("user", "Two"),
            said("assistant", "2"),
            counts(850, 0),
            event("thread_rolled_back", num_turns=1),
            said("user", "Two, better"),
            event("turn_aborted", reason="interrupted"),
            ("compacted", {"message": "In short", "replacement_history": []}),
            said("user", "Three"),
        ),
    )
    assert contents(log) == ["In short", "Three"]
    (done,) = typed(log, compaction.CompactionSummarised)
    assert done.after == lk.estimate_tokens([{"role": "user", "content": "In short"}])
    before = [read(one) for one in log if one.type == "message.added"]
    assert [one.index for one in before if isinstance(one, loop.MessageAdded)] == [0, 1, 2, 3, 2, 1]
    assert [run.reason for run in typed(log, loop.RunEnded)] == [
        "end_turn",
        "end_turn",
        "cancelled",
    ]


ATIF = {
    "schema_version": "ATIF-v1.7",
    "session_id": "run-1",
    "agent": {
        **{"name": "other", "version": "3", "model_name": "m-1"},
        "tool_definitions": [
            {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}
        ],
    },
    "steps": [
        {"step_id": 1, "source": "system", "message": "Be brief."},
        {"step_id": 2, "source": "user", "message": [{"type": "text", "text": "Fix it"}]},
        {
            **{"step_id": 3, "source": "agent", "message": "Looking.", "reasoning_content": "hm"},
            "timestamp": "2026-11-01T00:00:05Z",
            "tool_calls": [
                {"tool_call_id": "c1", "function_name": "read", "arguments": {"path": "/a"}},
                {"tool_call_id": "c2", "function_name": "task", "arguments": {"prompt": "Look"}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "c1", "content": "text of a"},
                    {
                        **{"source_call_id": "c2", "content": "found"},
                        "subagent_trajectory_ref": [{"trajectory_id": "child-1"}],
                    },
                ]
            },
            "metrics": {"prompt_tokens": 900, "cached_tokens": 600, "completion_tokens": 30},
        },
        {"step_id": 4, "source": "agent", "message": "Done."},
    ],
    "subagent_trajectories": [
        {
            **{"schema_version": "ATIF-v1.7", "trajectory_id": "child-1"},
            "agent": {"name": "other", "version": "3"},
            "steps": [
                {"step_id": 1, "source": "user", "message": "Look"},
                {"step_id": 2, "source": "agent", "message": "found"},
            ],
        }
    ],
    "new_field": 1,
}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_trajectory_in_atif_is_read_with_its_subagents(tmp_path: Path, indent: Any) -> None:
    log = opened(tmp_path, json.dumps(ATIF, indent=indent))
    assert (log[0].data["format"], log[0].data["id"]) == ("atif", "run-1")
    assert log[0].data["unknown"] == {"trajectory.new_field": 1}
    (run,) = typed(log, loop.RunStarted, "lead")
    assert (run.system, run.prompt) == ("Be brief.", "Fix it")
    assert run.tools == ({"name": "read", "input_schema": {"type": "object"}},)
    first, _ = typed(log, loop.ModelReplied, "lead")
    assert (first.usage.sent, first.usage.cache_read_input_tokens) == (900, 600)
    assert (first.model, first.stop_reason) == ("m-1", "tool_use")
    assert contents(log)[1] == [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "/a"}},
        {"type": "tool_use", "id": "c2", "name": "task", "input": {"prompt": "Look"}},
    ]
    assert [one["content"] for one in contents(log)[2]] == ["text of a", "found"]
    (child,) = typed(log, SubagentStarted)
    assert (child.parent, child.call, child.prompt) == ("lead", "c2", "Look")
    assert contents(log, "lead.c2") == ["Look", [{"type": "text", "text": "found"}]]


def test_a_trajectory_of_mini_swe_agent(tmp_path: Path) -> None:
    response = {"usage": {"prompt_tokens": 70, "completion_tokens": 5}}
    function = {"name": "bash", "arguments": '{"command": "ls"}'}
    items = [
        {"type": "message", "content": [{"type": "output_text", "text": "And"}]},
        {"type": "function_call", "call_id": "c2", **function},
    ]
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Fix it"},
        {
            **{"role": "assistant", "content": "First", "extra": {"response": response}},
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {
            **{"role": "tool", "tool_call_id": "c1", "content": "a.py"},
            "extra": {"returncode": 0, "timestamp": 1793491207.0},
        },
        {"object": "response", "output": items, "usage": {"input_tokens": 90, "output_tokens": 6}},
        {"type": "function_call_output", "call_id": "c2", "output": "no"},
        {
            **{"role": "assistant", "content": "```mswea_bash_command\npwd\n```"},
            "extra": {"actions": [{"command": "pwd"}]},
        },
        {"role": "user", "content": "/w", "extra": {"returncode": 1}},
        {"role": "exit", "content": "", "extra": {"exit_status": "Submitted"}},
    ]
    settings = {"model": {"model_name": "m-1"}, "environment": {"cwd": "/w"}}
    info = {"mini_version": "2.4.6", "exit_status": "Submitted", "config": settings}
    data = {"info": info, "messages": messages, "trajectory_format": "mini-swe-agent-1.1"}
    log = opened(tmp_path, json.dumps(data, indent=2))
    about = log[0].data
    assert (about["format"], about["versions"], about["cwd"]) == ("mini-swe-agent", ["2.4.6"], "/w")
    assert [len(one) for one in contents(log)] == [6, 2, 1, 2, 1, 2, 1]
    calls = typed(log, loop.ToolStarted)
    assert [one.input for one in calls] == [{"command": "ls"}] * 2 + [{"command": "pwd"}]
    assert [one.output for one in typed(log, loop.ToolEnded)] == ["a.py", "no", "/w"]
    assert [one.is_error for one in typed(log, loop.ToolEnded)] == [False, False, True]
    assert [one.usage.sent for one in typed(log, loop.ModelReplied)] == [70, 90, 0]
    (run,) = typed(log, loop.RunEnded)
    assert (run.reason, run.turns) == ("Submitted", 3)


def test_a_saved_log_is_read_as_it_is_also_if_its_last_line_is_cut(tmp_path: Path) -> None:
    client = lk.scripted([lk.use("look", at="x"), lk.say("Done.")])

    @lk.tool
    def look(at: str) -> str:
        """Look."""
        return "seen"

    agent = lk.Agent(client, [lk.Toolbox(look)])
    agent.run("Look")
    path = tmp_path / "log.jsonl"
    agent.events.save(path)
    log = lk.open_session(path)
    assert (log[0].data["format"], log[0].data["title"]) == ("learnkit", "Look")
    assert [one[1:] for one in log[1:]] == [one[1:] for one in agent.events]

    odd = lk.EventLog()
    odd.add("session.opened", {**log[0].data, "cwd": "/w", "self": "x"}, "lead", 0.0)
    for event in log[1:]:
        odd.add(event.type, event.data, event.lane, event.time)
    odd.save(path)
    saved = lk.open_session(path)
    assert [one[1:] for one in saved[1:]] == [one[1:] for one in agent.events]
    assert saved[0].data["cwd"] == "/w"

    path.write_bytes(path.read_bytes()[:-20])
    cut = lk.open_session(path)
    assert len(cut) == len(log) - 1
    assert cut[0].data["warnings"][0]["text"].startswith("cut off: ")


def test_a_file_of_no_known_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no session of a known format"):
        opened(tmp_path, '{"a": 1}\n{"type": "user"}\n')
    with pytest.raises(UsageError, match="is empty"):
        opened(tmp_path, "\n")

"""Any conversation, written in the format of each agent, comes back as it was."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from claude_lines import Lines, text, use
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from other_formats import META, counts, item, said
from random_events import logs, words
from sessions_read import contents, typed

import learnkit as lk
from learnkit.events import loop

quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
#: What was said; a text that a reader takes for the harness's has a test of its own.
_words = words.map("a{}".format)
_calls = st.lists(st.tuples(_words, _words, st.booleans()), min_size=1, max_size=3)
_run = st.tuples(_words, st.lists(st.tuples(_words, _calls), max_size=3), _words)


def array(runs: list[Any]) -> list[Any]:
    """The content of each message, as our loop has it: prompts, replies and results."""
    found, numbers = list[Any](), itertools.count(1)
    for prompt, turns, last in runs:
        found.append(prompt)
        for says, calls in turns:
            reply, results = [text(says)], list[Any]()
            for asked, output, failed in calls:
                reply.append(use(f"t{next(numbers)}", "bash", command=asked))
                result = {"type": "tool_result", "tool_use_id": reply[-1]["id"], "content": output}
                failure = {"content": f"Exit code: 1\n{output}", "is_error": True}
                results.append(result | (failure if failed else {}))
            found += [reply, results]
        found.append([text(last)])
    return found


def blocks(messages: list[Any], *kinds: str) -> list[Any]:
    """The content blocks of messages, of some types or of all."""
    every = [block for one in messages if isinstance(one, list) for block in one]
    return [block for block in every if not kinds or block["type"] in kinds]


arrays = st.lists(_run, min_size=1, max_size=3).map(array)
runs = st.lists(_run, min_size=1, max_size=1).map(array)


def check(path: Path, lines: list[Any], messages: list[Any]) -> None:
    """The array, and a request and a reply for each turn, with calls that are all answered."""
    path.write_text("\n".join(map(json.dumps, lines)))
    log = lk.open_session(path)
    assert contents(log) == messages
    replies = sum(isinstance(one, list) and one[0]["type"] == "text" for one in messages)
    assert len(typed(log, loop.ModelRequested)) == len(typed(log, loop.ModelReplied)) == replies
    assert len(typed(log, loop.RunEnded)) == sum(isinstance(one, str) for one in messages)
    started, ended = typed(log, loop.ToolStarted), typed(log, loop.ToolEnded)
    assert sorted(one.id for one in started) == sorted(one.id for one in ended)
    assert [event.time for event in log] == sorted(event.time for event in log)


@quick
@given(arrays, st.randoms())
def test_claude_code_with_results_between_the_pieces_of_a_reply(
    tmp_path: Path, messages: list[Any], random: Any
) -> None:
    lines = Lines()
    results = {one["tool_use_id"]: one for one in blocks(messages, "tool_result")}
    for number, content in enumerate(messages):
        if isinstance(content, str):
            lines.user(content)
        waiting = list[Any]()
        for block in blocks([content], "text", "tool_use"):
            lines.reply(f"m{number}", block)
            waiting += [results[block["id"]]] if "id" in block else []
            while waiting and random.random() < 0.5:
                lines.user([waiting.pop(0)])
                lines.add("progress", data={"type": "bash_progress"})
        for one in waiting:
            lines.user([one])
    check(tmp_path / "s.jsonl", lines.entries, messages)


@quick
@given(arrays, st.booleans())
def test_codex_with_and_without_counts(tmp_path: Path, messages: list[Any], counted: bool) -> None:
    lines = [("session_meta", META)]
    for content in messages:
        if isinstance(content, str):
            lines.append(said("user", content))
        for block in blocks([content]):
            match block:
                case {"text": words}:
                    lines.append(said("assistant", words))
                case {"id": id, "input": given}:
                    call = {"call_id": id, "name": "bash", "arguments": json.dumps(given)}
                    lines.append(item("function_call", **call))
                case {"tool_use_id": id, "content": output}:
                    lines.append(item("function_call_output", call_id=id, output=output))
        if counted and blocks([content], "text"):
            lines.append(counts(9, 0))
    rollout = [{"type": kind, "payload": payload} for kind, payload in lines]
    check(tmp_path / "rollout", rollout, messages)


@quick
@given(runs)
def test_mini_swe_agent(tmp_path: Path, messages: list[Any]) -> None:
    every: list[Any] = [{"role": "user", "content": messages[0]}]
    for content in messages[1:]:
        reply = {"role": "assistant", "tool_calls": []}
        for block in content:
            match block:
                case {"text": words}:
                    every.append(reply | {"content": words})
                case {"id": id, "input": given}:
                    function = {"name": "bash", "arguments": json.dumps(given)}
                    every[-1]["tool_calls"] += [{"id": id, "function": function}]
                case {"tool_use_id": id, "content": output}:
                    extra = {"returncode": int("is_error" in block)}
                    about = {"role": "tool", "tool_call_id": id, "extra": extra}
                    every.append(about | {"content": output})
    trajectory = {"info": {"mini_version": "2.4.6"}, "messages": every}
    check(tmp_path / "t.traj.json", [trajectory], messages)


@quick
@given(logs())
def test_a_saved_log(tmp_path: Path, log: lk.EventLog) -> None:
    path = tmp_path / "log.jsonl"
    log.save(path)
    back = lk.open_session(path)
    assert [(one.time, one.lane, one.type) for one in back[1:]] == [
        (one.time, one.lane, one.type) for one in log if one.type != "session.opened"
    ]

"""Any conversation, written in the format of each agent, comes back as it was."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from claude_lines import Lines, text, use
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_events import logs, words
from sessions_read import contents, typed

import learnkit as lk
from learnkit.events import loop

quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
#: What was said; a text that a reader takes for the harness's has a test of its own.
said = words.map("a{}".format)


@dataclass
class Turn:
    """A reply: what it says, and its calls, each with an output and whether it failed."""

    says: str
    calls: list[tuple[str, str, bool]]


_call = st.tuples(said, said, st.booleans())
_turn = st.builds(Turn, said, st.lists(_call, min_size=1, max_size=3))
#: Prompts, each with the turns after it; the last turn of each calls nothing.
conversations = st.lists(st.tuples(said, st.lists(_turn, max_size=3), said), min_size=1, max_size=3)
Conversation = list[tuple[str, list[Turn], str]]


def array(conversation: Conversation) -> list[Any]:
    """The content of each message, as our loop has it."""
    found: list[Any] = []
    number = 0
    for prompt, turns, last in conversation:
        found.append(prompt)
        for turn in turns:
            calls, results = [], []
            for asked, output, failed in turn.calls:
                number += 1
                calls.append(use(f"t{number}", "bash", command=asked))
                result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output}
                results.append(result | ({"is_error": True} if failed else {}))
            found += [[text(turn.says), *calls], results]
        found.append([text(last)])
    return found


def check(log: lk.EventLog, conversation: Conversation) -> None:
    """The array, and a request and a reply for each turn, with calls that are all answered."""
    assert contents(log) == array(conversation)
    turns = sum(len(turns) + 1 for _, turns, _ in conversation)
    assert len(typed(log, loop.ModelRequested)) == len(typed(log, loop.ModelReplied)) == turns
    assert len(typed(log, loop.RunEnded)) == len(conversation)
    started, ended = typed(log, loop.ToolStarted), typed(log, loop.ToolEnded)
    assert sorted(one.id for one in started) == sorted(one.id for one in ended)
    assert [event.time for event in log] == sorted(event.time for event in log)


@quick
@given(conversations, st.randoms())
def test_claude_code_with_results_between_the_pieces_of_a_reply(
    tmp_path: Path, conversation: Conversation, random: Any
) -> None:
    lines, number, reply = Lines(), 0, 0
    for prompt, turns, last in conversation:
        lines.user(prompt)
        for turn in turns:
            reply += 1
            lines.reply(f"m{reply}", text(turn.says))
            waiting = []
            for asked, output, failed in turn.calls:
                number += 1
                lines.reply(f"m{reply}", use(f"t{number}", "bash", command=asked))
                waiting.append((f"t{number}", output, failed))
                while waiting and random.random() < 0.5:
                    lines.result(*waiting.pop(0))
                    lines.add("progress", data={"type": "bash_progress"})
            for one in waiting:
                lines.result(*one)
        reply += 1
        lines.reply(f"m{reply}", text(last), stop="end_turn")
    check(lk.open_session(lines.write(tmp_path / "s.jsonl")), conversation)


@quick
@given(conversations, st.booleans())
def test_codex_with_and_without_counts(
    tmp_path: Path, conversation: Conversation, counted: bool
) -> None:
    lines: list[tuple[str, Any]] = [("session_meta", {"id": "x"})]
    usage = {"last_token_usage": {"input_tokens": 9, "output_tokens": 1}}
    count = [("event_msg", {"type": "token_count", "info": usage})] * counted

    def message(role: str, said: str) -> tuple[str, Any]:
        content = [{"type": "input_text", "text": said}]
        return "response_item", {"type": "message", "role": role, "content": content}

    number = 0
    for prompt, turns, last in conversation:
        lines.append(message("user", prompt))
        for turn in turns:
            lines.append(message("assistant", turn.says))
            outputs = []
            for asked, output, failed in turn.calls:
                number += 1
                call = {"call_id": f"t{number}", "name": "bash"}
                arguments = json.dumps({"command": asked})
                item = {"type": "function_call", **call, "arguments": arguments}
                lines.append(("response_item", item))
                shown = f"Exit code: 1\n{output}" if failed else output
                item = {"type": "function_call_output", "call_id": f"t{number}", "output": shown}
                outputs.append(("response_item", item))
            lines += [*count, *outputs]
        lines += [message("assistant", last), *count]
    path = tmp_path / "rollout"
    path.write_text("\n".join(json.dumps({"type": k, "payload": p}) for k, p in lines))
    for _, turns, _ in conversation:
        for turn in turns:
            turn.calls = [(a, f"Exit code: 1\n{b}" if bad else b, bad) for a, b, bad in turn.calls]
    check(lk.open_session(path), conversation)


@quick
@given(conversations)
def test_mini_swe_agent(tmp_path: Path, conversation: Conversation) -> None:
    (prompt, turns, last), *_ = conversation
    messages: list[Any] = [{"role": "user", "content": prompt}]
    number = 0
    for turn in turns:
        calls, outputs = [], []
        for asked, output, failed in turn.calls:
            number += 1
            function = {"name": "bash", "arguments": json.dumps({"command": asked})}
            calls.append({"id": f"t{number}", "function": function})
            about = {"role": "tool", "tool_call_id": f"t{number}", "content": output}
            outputs.append(about | {"extra": {"returncode": int(failed)}})
        messages += [{"role": "assistant", "content": turn.says, "tool_calls": calls}, *outputs]
    messages.append({"role": "assistant", "content": last})
    path = tmp_path / "t.traj.json"
    data = {"info": {"mini_version": "2.4.6"}, "messages": messages}
    path.write_text(json.dumps(data))
    check(lk.open_session(path), [(prompt, turns, last)])


@quick
@given(logs())
def test_a_saved_log(tmp_path: Path, log: lk.EventLog) -> None:
    path = tmp_path / "log.jsonl"
    log.save(path)
    back = lk.open_session(path)
    assert [(one.time, one.lane, one.type) for one in back[1:]] == [
        (one.time, one.lane, one.type) for one in log if one.type != "session.opened"
    ]

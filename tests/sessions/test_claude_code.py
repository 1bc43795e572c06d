"""Claude Code's sessions become the events that our own loop would have logged."""

from __future__ import annotations

from pathlib import Path

from claude_lines import Lines, text, use
from sessions_read import contents, typed

import learnkit as lk
from learnkit.events import compaction, loop
from learnkit.events.sessions import SessionLine, SessionOpened
from learnkit.events.subagents import SubagentEnded, SubagentStarted
from learnkit.events.vocabulary import read
from learnkit.sessions.turns import session_of


def test_lines_with_one_message_id_are_one_turn_also_around_a_result(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Fix it")
    thought = {"type": "thinking", "thinking": "hm", "signature": "x"}
    lines.reply("m1", thought, sent=1)
    lines.reply("m1", use("t1", file_path="/a"), sent=2)
    lines.result("t1", "one")
    lines.reply("m1", use("t2", file_path="/b"), sent=3, stop="tool_use")
    lines.result("t2", [text("two")], failed=True)
    lines.user("Mind the tests", isMeta=True)
    lines.reply("m2", text("Done."), stop="end_turn")
    log = lk.open_session(lines.write(tmp_path / "s.jsonl"))

    first, last = typed(log, loop.ModelReplied)
    assert first.usage.input_tokens == 3, "usage grows while a reply streams: the last one counts"
    assert (first.turn, first.stop_reason, last.turn) == (1, "tool_use", 2)
    results = [
        {"type": "tool_result", "tool_use_id": "t1", "content": "one"},
        {"type": "tool_result", "tool_use_id": "t2", "content": [text("two")], "is_error": True},
    ]
    assert contents(log) == [
        "Fix it",
        [thought, use("t1", file_path="/a"), use("t2", file_path="/b")],
        [*results, text("Mind the tests")],
        [text("Done.")],
    ]
    ends = typed(log, loop.ToolEnded)
    assert [(end.id, end.seconds, end.output, end.how) for end in ends] == [
        ("t1", 1.0, "one", "ran"),
        ("t2", 1.0, "two", "raised"),
    ]
    (run,) = typed(log, loop.RunEnded)
    assert (run.reason, run.text, run.turns) == ("end_turn", "Done.", 2)
    times = [event.time for event in log]
    assert times == sorted(times)
    assert times[-1] == 7.0


def test_the_first_event_has_what_the_file_says_of_itself(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Fix\nit", brandNew=[1])
    lines.reply("m1", text("Done."), version="2.1.46", brandNew=[2])
    lines.add("brand-new", data={"deep": 1})
    lines.add("ai-title", aiTitle="A title")
    path = lines.write(tmp_path / "s.jsonl", "{nonsense", '["list"]', '{"type": "user", "uu')
    log = lk.open_session(path)

    opened = read(log[0])
    assert isinstance(opened, SessionOpened)
    assert (opened.format, opened.id, opened.cwd) == ("claude-code", "s", "/work")
    assert (opened.title, opened.branch) == ("Fix it", "main")
    assert opened.versions == ("2.1.45", "2.1.46")
    assert opened.models == ("some-model",)
    assert opened.started == 1793491200.0
    assert opened.lines == {"user": 1, "assistant": 1, "brand-new": 1, "ai-title": 1}
    odd = {"field user.brandNew", "field assistant.brandNew", "line brand-new"}
    assert opened.unknown == dict.fromkeys(odd, 1)
    assert [(one.line, one.text.partition(" (")[0]) for one in opened.warnings] == [
        (5, "no JSON"),
        (6, "no JSON"),
        (7, "no JSON"),
    ]
    kept = {one.kind: one.data for one in typed(log, SessionLine)}
    assert kept["field user.brandNew"] == {"brandNew": [1]}
    assert kept["line brand-new"]["data"] == {"deep": 1}


def test_subagents_have_lanes_by_their_call_from_files_and_from_lines(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Look")
    look = {"prompt": "Look around", "description": "look", "subagent_type": "Explore"}
    lines.reply("m1", use("t1", "Task", **look), use("t2", "Task", prompt="Inline"))
    lines.user("Inline", isSidechain=True, parentUuid=None)
    lines.reply("i1", text("in line"), isSidechain=True, stop="end_turn")
    lines.result("t1", "found", toolUseResult={"agentId": "a1"})
    lines.result("t2", "in line", parentUuid="u2")
    lines.reply("m2", text("Done."), stop="end_turn")
    path = lines.write(tmp_path / "s.jsonl")
    child = Lines("c", isSidechain=True, agentId="a1")
    child.user("<context>Mind it</context>\nLook around")
    child.reply("c1", use("t9", "Task", prompt="Deeper"))
    child.result("t9", "y", toolUseResult={"agentId": "a0"})
    child.reply("c2", text("found"), stop="end_turn")
    child.write(tmp_path / "s" / "subagents" / "agent-a1.jsonl")
    deeper = Lines("d", isSidechain=True, agentId="a0")
    deeper.user("Deeper")
    deeper.write(tmp_path / "s" / "subagents" / "agent-a0.jsonl")
    summary = Lines("m", isSidechain=True)
    summary.user("Summarise it")
    summary.write(tmp_path / "s" / "subagents" / "agent-acompact-1.jsonl")
    log = lk.open_session(path)

    agents = {"lead", "lead.t1", "lead.t1.t9", "lead.t2", "lead.acompact-1"}
    assert {event.lane for event in log} == agents
    (aside,) = typed(log, SubagentStarted, "lead.acompact-1")
    assert (aside.parent, aside.description) == ("lead", "the summary, for a compaction")
    (one,) = typed(log, SubagentStarted, "lead.t1")
    assert (one.parent, one.call, one.kind) == ("lead", "t1", "Explore")
    assert (one.prompt, one.description) == ("Look around", "look")
    (ended,) = typed(log, SubagentEnded, "lead.t1")
    assert (ended.turns, ended.reason) == (2, "end_turn")
    assert ended.returned == lk.estimate_tokens("found")
    assert [end.id for end in typed(log, loop.ToolEnded, "lead.t1")] == ["t9"]
    assert contents(log, "lead.t2") == ["Inline", [text("in line")]]
    assert len(contents(log)) == 4, "what a subagent says is not in its parent's array"


def test_a_prompt_after_an_earlier_line_takes_the_array_back(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("One")
    answer = lines.reply("m1", text("1"), stop="end_turn")
    lines.user("Two")
    lines.reply("m2", text("2"), stop="end_turn")
    lines.user("Two, better", parentUuid=answer)
    log = lk.open_session(lines.write(tmp_path / "s.jsonl"))
    assert contents(log) == ["One", [text("1")], "Two, better"]
    lines.user("From the start", parentUuid=None)
    log = lk.open_session(lines.write(tmp_path / "s.jsonl"))
    assert contents(log) == ["From the start"]


def test_parents_in_a_circle_and_beside_each_other_take_nothing_back(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("One", parentUuid="u4")
    call = lines.reply("m1", use("t1"), use("t2"))
    lines.result("t1", parentUuid=call)
    lines.result("t2", parentUuid=call)
    lines.user("Two", parentUuid=call)
    lines.user("Three", parentUuid="u6")
    lines.user("Four", parentUuid="lost")
    log = lk.open_session(lines.write(tmp_path / "s.jsonl"))
    assert [len(one) for one in contents(log)] == [3, 2, 2, 3, 5, 4]


def test_a_compaction_replaces_the_array_by_the_summary(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("One")
    lines.reply("m1", text("1"), stop="end_turn")
    about = {"preTokens": 9000}
    lines.add("system", subtype="compact_boundary", parentUuid=None, compactMetadata=about)
    lines.user("All of it, in short", isCompactSummary=True)
    lines.user("Two")
    log = lk.open_session(lines.write(tmp_path / "s.jsonl"))
    assert contents(log) == ["All of it, in short", "Two"]
    (done,) = typed(log, compaction.CompactionSummarised)
    assert done.before == 9000
    assert done.after == lk.estimate_tokens([{"role": "user", "content": "All of it, in short"}])


def test_what_goes_wrong_is_told(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("One")
    error = {"status": 529, "error": {"error": {"type": "overloaded_error", "message": "busy"}}}
    lines.add("system", subtype="api_error", retryInMs=1500, error=error)
    lines.reply("m0", text("API Error"), isApiErrorMessage=True, error="rate_limit")
    lines.reply("m1", use("t1", "Bash", command="rm"))
    lines.result("t1", "The user doesn't want to proceed with this tool use.", failed=True)
    lines.user([text("[Request interrupted by user for tool use]")])
    log = lk.open_session(lines.write(tmp_path / "s.jsonl"))
    (retried,) = typed(log, loop.ModelRetried)
    assert (retried.seconds, retried.error_type) == (1.5, "overloaded_error")
    (failed,) = typed(log, loop.ModelFailed)
    assert (failed.error_type, failed.message) == ("rate_limit", "API Error")
    (started,) = typed(log, loop.ToolStarted)
    assert started.refused.startswith("The user doesn't")
    assert [end.how for end in typed(log, loop.ToolEnded)] == ["refused"]
    (run,) = typed(log, loop.RunEnded)
    assert run.reason == "cancelled"
    assert [len(one) for one in contents(log)] == [3, 1, 1, 1], "an error is no message"


def test_work_after_a_notice_is_a_run_though_nobody_prompted(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("One")
    lines.reply("m1", text("1"))
    lines.user([text("[Request interrupted by user]")])
    lines.user("<task-notification>done</task-notification>")
    lines.reply("m2", text("2"), stop="end_turn")
    lines.user("Two")
    lines.reply("m3", text("3"), stop="end_turn")
    log = lk.open_session(lines.write(tmp_path / "s.jsonl"))
    runs = [(run.reason, run.turns) for run in typed(log, loop.RunEnded)]
    assert runs == [("cancelled", 1), ("end_turn", 1), ("end_turn", 1)]
    assert session_of(log).lead.waits == [(2.0, 3.0), (4.0, 5.0)], "until each next request"


def test_a_resumed_session_repeats_nothing(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("One")
    lines.reply("m1", text("1"), stop="end_turn")
    lines.entries *= 2
    log = lk.open_session(lines.write(tmp_path / "s.jsonl"))
    assert contents(log) == ["One", [text("1")]]
    assert log[0].data["lines"]["repeated"] == 2

"""Compaction at work: what stays, what goes, what is saved, and what the API makes of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import anthropic
import pytest
from logged import events
from messages_server import serving

import learnkit as lk
from learnkit.clients.scripted import Reply
from learnkit.core import transcript
from learnkit.core.catalog import MODELS
from learnkit.mechanisms.compaction.edits import clearable, shortened

DATA = "It was 31 degrees. " * 60
SUMMARY = "We decided on °C, and have read three logs."


@lk.tool
def read(day: int) -> str:
    """Read the log of a day."""
    return f"day {day}: {DATA}"


def is_summary(request: dict[str, Any]) -> bool:
    return "tools" not in request


def model(days: int, *, summary: Any = SUMMARY, thinking: bool = True, more: Any = ()) -> Any:
    """A policy that reads so many days, and answers requests for a summary."""
    extra = list(more)
    count = iter(range(1, days + 1))

    def answer(request: dict[str, Any]) -> Any:
        if is_summary(request):
            return summary(request) if callable(summary) else lk.say(summary)
        if extra:
            return extra.pop(0)
        day = next(count, None)
        if day is None:
            return lk.say("That was all.")
        return lk.reply(lk.use("read", day=day), thinking="On." if thinking else None)

    return answer


def agent(policy: Any, compaction: lk.Compaction, *more: Any, **options: Any) -> lk.Agent:
    mechanisms = [lk.Toolbox(read), compaction, *more]
    return lk.Agent(lk.scripted(policy), mechanisms, max_turns=200, **options)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".transcripts"


# Layer 1


def test_results_are_cleared_in_batches_and_the_api_takes_it(folder: Path) -> None:
    worker = agent(model(14), lk.Compaction(6_000, transcripts=folder))
    assert worker.run("Read all days.").reason == "end_turn"
    batches = events(worker, "compaction.cleared")
    assert len(batches) == 2
    assert all(len(one["results"]) >= 3 and one["after"] < one["before"] for one in batches)
    assert not events(worker, "compaction.summarised")
    assert "[Previous: used read]" in json.dumps(worker.messages)
    assert not folder.exists(), "nothing was summarised, so nothing had to be saved"


def test_clearing_every_turn_is_refused_where_thinking_is_preserved() -> None:
    class EveryTurn(lk.Mechanism):
        def before_model(self, agent: lk.Agent) -> None:
            agent.rewrite(shortened(agent.messages, clearable(agent.messages)), "cleared")

    naive = lk.Agent(lk.scripted(model(9)), [lk.Toolbox(read), EveryTurn()])
    with pytest.raises(anthropic.BadRequestError, match="bound to a different conversation"):
        naive.run("Read all days.")
    (failed,) = events(naive, "model.failed")
    assert failed["turn"] == 5, "the first time that a fourth result makes one old"


# Layer 2


def grown(folder: Path, **options: Any) -> lk.Agent:
    compaction = lk.Compaction(3_000, 99, folder, **options)
    worker = agent(model(18), compaction)
    worker.run("Read all days.")
    return worker


def test_over_the_threshold_the_conversation_becomes_a_summary(folder: Path) -> None:
    worker = grown(folder)
    done = events(worker, "compaction.summarised")
    assert len(done) == 2
    first = worker.messages[0]["content"]
    assert first[0]["text"].startswith("<summary transcript=")
    assert SUMMARY in first[0]["text"]
    assert all(one["after"] < one["before"] for one in done)
    assert all(one["tokens"] <= 3_000 for one in events(worker, "tokens.estimated"))


def test_the_request_and_what_the_model_has_not_seen_stay_with_each_summary(folder: Path) -> None:
    worker = grown(folder)
    for messages in [one["messages"] for one in events(worker, "messages.rewritten")]:
        assert messages[0]["content"][1]["text"] == "<request>\nRead all days.\n</request>"
        assert [message["role"] for message in messages] == ["user", "assistant", "user"]
        assert messages[1]["content"][0]["type"] == "tool_use", "stale thinking has gone"
        assert DATA.strip() in messages[2]["content"][0]["content"]


def test_the_whole_array_is_saved_first_and_nothing_is_overwritten(folder: Path) -> None:
    worker = grown(folder)
    saved = sorted(folder.iterdir())
    assert [path.name for path in saved] == ["lead-1.jsonl", "lead-2.jsonl"]
    said = [one["transcript"] for one in events(worker, "compaction.summarised")]
    assert [Path(one).name for one in said] == ["lead-1.jsonl", "lead-2.jsonl"]
    lines = [json.loads(line) for line in saved[0].read_text("utf-8").splitlines()]
    types = [event.type for event in worker.events]
    before = worker.events[: types.index("messages.rewritten")]
    assert lines == [e.data["message"] for e in before if e.type == "message.added"]
    assert "transcript" in str(worker.messages[0]["content"][0]["text"])


def test_the_plan_and_the_loaded_skill_survive(folder: Path, tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "units"
    skill.mkdir(parents=True)
    skill.joinpath("SKILL.md").write_text(
        "---\nname: units\ndescription: Units. Use for degrees.\n---\nAlways write °C.\n"
    )
    items = [{"id": "1", "text": "read the days", "status": "in_progress"}]
    more = [lk.use("load_skill", name="units"), lk.use("todo", items=items)]
    skills, todo = lk.Skills(tmp_path / "skills"), lk.Todo()
    worker = agent(model(18, more=more), lk.Compaction(3_000, 99, folder), skills, todo)
    worker.run("Read all days.")
    assert len(events(worker, "compaction.summarised")) >= 2
    left = "\n".join(block["text"] for block in worker.messages[0]["content"])
    assert "[>] #1: read the days" in left
    assert "Always write °C." in left
    assert left.count("<summary") == 1


def flooded(folder: Path, result: str, summary: Any, **options: Any) -> lk.Agent:
    """An agent whose one tool has said very much, at its second prompt."""

    @lk.tool
    def flood() -> str:
        """Say very much."""
        return result

    more = [lk.use("flood"), lk.say("seen")]
    worker = lk.Agent(
        lk.scripted(model(0, summary=summary, more=more)),
        [lk.Toolbox(flood), lk.Compaction(20_000, transcripts=folder)],
        **options,
    )
    worker.run("Flood me.")
    worker.run("And now?")
    return worker


def test_the_model_is_told_what_to_keep_and_reads_all_of_it(folder: Path) -> None:
    asked: list[str] = []

    def summary(request: dict[str, Any]) -> Reply:
        asked.append(request["messages"][0]["content"])
        return lk.say(SUMMARY)

    result = "\n".join(f"line {number} says {'x' * 80}" for number in range(1_000))
    worker = flooded(folder, result, summary)
    assert len(asked) == 1
    prompt = asked[0]
    assert result in prompt
    assert "decisions and their reasons" in prompt
    assert worker.messages[1] == {"role": "user", "content": "And now?"}, "not seen, so it stays"
    assert "<request>" not in json.dumps(worker.messages)


SMALL = next(id for id, spec in MODELS.items() if spec.window == 200_000)


@pytest.mark.slow
@pytest.mark.parametrize("separator", ["\n", " "])
def test_what_is_too_long_for_one_request_is_summarised_in_parts(
    folder: Path, separator: str
) -> None:
    days = [f"day {day}: {number}" for day in range(17) for number in range(2_900)]
    asked: list[str] = []

    @lk.tool
    def read(day: int) -> str:
        """Read the log of a day."""
        return separator.join(days[day * 2_900 : (day + 1) * 2_900])

    def answer(request: dict[str, Any]) -> Any:
        if is_summary(request):
            asked.append(request["messages"][0]["content"])
            return lk.say(f"summary {len(asked)}")
        day = sum("tool_result" in str(one) for one in request["messages"])
        return lk.use("read", day=day) if day < 17 else lk.say("That was all.")

    worker = lk.Agent(
        lk.scripted(answer), [lk.Toolbox(read), lk.Compaction(190_000, 99, folder)], model=SMALL
    )
    worker.run("Read all days.")
    assert not asked
    worker.mechanisms[1].ask("the days")  # type: ignore[attr-defined]
    worker.run("Go on.")
    assert len(asked) == 2
    assert all("Above all, keep what concerns: the days" in prompt for prompt in asked)
    assert "<summary-so-far>" not in asked[0]
    assert "<summary-so-far>\nsummary 1\n</summary-so-far>" in asked[1]
    parts = [prompt.split("<conversation>\n")[1].split("\n</conversation>")[0] for prompt in asked]
    assert "".join(parts) == transcript.as_text(saved_messages(folder)[:-1])
    assert "summary 2" in worker.messages[0]["content"][0]["text"]
    purposes = [one.get("purpose") for one in events(worker, "model.replied")]
    assert purposes.count("summary") == 2


def saved_messages(folder: Path) -> list[dict[str, Any]]:
    (path,) = folder.iterdir()
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_summary_that_was_cut_is_asked_for_again_with_more_room(folder: Path) -> None:
    limits: list[int] = []

    def summary(request: dict[str, Any]) -> Reply:
        limits.append(request["max_tokens"])
        if len(limits) == 1:
            return lk.say("We decided on", stop_reason="max_tokens")
        return lk.say(SUMMARY)

    worker = agent(model(12, summary=summary), lk.Compaction(3_000, 99, folder))
    worker.run("Read all days.")
    assert limits[:2] == [4_000, 16_000]
    assert not events(worker, "compaction.failed")
    assert SUMMARY in worker.messages[0]["content"][0]["text"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("summary", "error"),
    [
        (lambda _: lk.fail(400, "no"), "BadRequestError"),
        (lambda _: lk.fail(529), "OverloadedError|InternalServerError|APIStatusError"),
        (lambda _: lk.say(""), "no summary"),
        (lambda _: lk.say("I cannot.", stop_reason="refusal"), "no summary"),
        (lambda _: lk.say("We decided", stop_reason="max_tokens"), "complete (stop_reason max_tok"),
        (lambda _: lk.say("We", stop_reason="model_context_window_exceeded"), "complete"),
    ],
)
def test_a_summary_that_fails_leaves_the_array_as_it_was(
    folder: Path, summary: Any, error: str
) -> None:
    worker = agent(model(12, summary=summary), lk.Compaction(3_000, 99, folder))
    with suppress(OSError):  # which would end the run
        worker.run("Read all days.")
    assert worker.outcome is not None
    assert worker.outcome.text == "That was all."
    failed = events(worker, "compaction.failed")
    assert 1 <= len(failed) < 6, "it is not tried again before every request"
    assert any(kind in failed[0]["error"] for kind in error.split("|"))
    assert not events(worker, "messages.rewritten")
    assert len(worker.messages) == 26


def test_a_conversation_that_cannot_be_saved_stays_as_it_was_and_the_run_goes_on(
    tmp_path: Path,
) -> None:
    (tmp_path / "taken").write_text("a file where the folder should be")
    worker = agent(model(12), lk.Compaction(10_000, 99, tmp_path / "taken"))
    assert worker.run("Read all days. " + "Much is known. " * 2_500).text == "That was all."
    failed = events(worker, "compaction.failed")
    assert 1 < len(failed) < 6, "the next one waits until the conversation has grown by a tenth"
    assert "cannot be saved" in failed[0]["error"]
    assert not events(worker, "messages.rewritten")
    assert len(worker.messages) == 26
    assert all("purpose" not in one for one in events(worker, "model.requested"))


# Layer 3


def test_the_model_can_ask_for_it_and_its_focus_is_respected(folder: Path) -> None:
    asked: list[str] = []

    def summary(request: dict[str, Any]) -> Reply:
        asked.append(request["messages"][0]["content"])
        return lk.say(SUMMARY)

    policy = model(2, summary=summary)
    script: list[Any] = [policy, policy, lk.use("compact", focus="the units"), policy, policy]
    worker = agent(script, lk.Compaction(transcripts=folder))
    worker.run("Read all days.")
    (prompt,) = asked
    assert "Above all, keep what concerns: the units" in prompt
    rewritten = [event for event in worker.events if event.type == "messages.rewritten"]
    (after,) = [event.data["messages"] for event in rewritten]
    assert after[-1]["content"][0]["content"].startswith("The conversation will be replaced")
    assert [one["by"] for one in events(worker, "compaction.asked")] == ["tool"]
    assert events(worker, "compaction.summarised")[0]["focus"] == "the units"


def test_a_person_can_ask_for_it_between_two_runs(folder: Path) -> None:
    compaction = lk.Compaction(transcripts=folder)
    worker = agent(model(2), compaction)
    worker.run("Read two days.")
    compaction.ask("the units")
    worker.run("Go on.")
    assert "<summary" in worker.messages[0]["content"][0]["text"]
    assert worker.messages[1]["content"] == "Go on."


# What the meter and the estimate say


def test_a_live_summary_is_asked_for_again_and_is_no_speech(folder: Path) -> None:
    """An overload passes, a server may count nothing, and settings of requests travel with it."""
    failures = iter([lk.fail(529)])

    def answer(request: dict[str, Any]) -> Any:
        if is_summary(request):
            return next(failures, lk.say(SUMMARY))
        return replies(request)

    replies, heard = model(6, thinking=False), []
    with serving(answer, omitted=["usage"]) as server:
        client: Any = anthropic.Anthropic(api_key="local-test", base_url=server.url)
        with client, lk.VirtualClock() as clock:
            worker = lk.Agent(
                client,
                [lk.Toolbox(read), lk.Compaction(1_000, 99, folder)],
                request={"extra_headers": {"x-team": "weather"}},
                clock=clock,
            )
            worker.hear = lambda _, text: heard.append(text)
            assert worker.run("Read six days.").text == "That was all."
    assert len(events(worker, "model.retried")) == 1
    assert events(worker, "compaction.summarised")
    assert events(worker, "compaction.failed") == []
    assert heard == ["That was all."]
    summaries = [
        headers
        for body, headers in zip(server.bodies, server.headers, strict=True)
        if is_summary(body)
    ]
    assert len(summaries) >= 2
    assert {headers.get("x-team") for headers in summaries} == {"weather"}


def test_estimates_follow_what_the_api_counts(folder: Path) -> None:
    """For the agent's own conversation: what its subagents send says nothing of it."""

    def doubled(request: dict[str, Any]) -> Reply:
        if is_summary(request):  # it is the child, which has no tools either
            return lk.reply(lk.say("Seen."), usage={"input_tokens": 10**6})
        given = model_of(request)
        return lk.reply(given, usage={"input_tokens": 2 * lk.estimate_tokens(request["messages"])})

    model_of = model(5, thinking=False, more=[lk.use("task", prompt="Look.", description="look")])
    worker = agent(doubled, lk.Compaction(transcripts=folder), lk.Subagents(list))
    worker.run("Read all days.")
    ratios = [one["chars_per_token"] for one in events(worker, "tokens.estimated")]
    assert ratios[0] == 4
    assert ratios[-1] < 3, "the API counts twice as many tokens as four characters suggest"
    assert min(ratios) > 0.1


# Transcripts, under real processes


WRITE = """
import os, sys
from learnkit.core import transcript
for _ in range(int(sys.argv[2])):
    said = {"role": "user", "content": f"{os.getpid()} " + "x" * 10_000}
    transcript.save([said] * 20, sys.argv[1], "lead")
"""


def writer(folder: Path, number: int) -> subprocess.Popen[bytes]:
    """A process that saves so many transcripts."""
    return subprocess.Popen([sys.executable, "-c", WRITE, str(folder), str(number)])


@pytest.mark.slow
def test_a_process_that_is_killed_leaves_only_whole_files(tmp_path: Path) -> None:
    for pause in (0.0, 0.004, 0.011, 0.02):
        already = len(list(tmp_path.glob("*.jsonl")))
        worker = writer(tmp_path, 10_000)
        while len(list(tmp_path.glob("*.jsonl"))) == already:
            time.sleep(0.001)
        time.sleep(pause)
        worker.kill()
        assert worker.wait(60) == -signal.SIGKILL
    saved = list(tmp_path.glob("*.jsonl"))
    assert all(len(path.read_text().splitlines()) == 20 for path in saved)
    again = transcript.save([{"role": "user", "content": "after"}], tmp_path, "lead")
    assert again not in saved


def test_a_name_cannot_leave_the_folder(tmp_path: Path) -> None:
    path = transcript.save([], tmp_path / "in", "../../out")
    assert path.parent == tmp_path / "in"

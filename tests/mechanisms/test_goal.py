"""Goal: the run ends when a check says so, and not when the model does; and it ends anyway."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import learnkit as lk
from learnkit.core.token_count import sent
from learnkit.mechanisms.coding import CodingTools


def verdicts(agent: lk.Agent) -> list[tuple[str, str]]:
    return [(e.data["verdict"], e.data["by"]) for e in agent.events if e.type == "goal.checked"]


def ran(goal: lk.Goal, *script: Any, more: Any = ()) -> tuple[lk.Agent, lk.Outcome]:
    agent = lk.Agent(lk.scripted(list(script)), [*more, goal])
    return agent, agent.run("Make it so.")


def test_a_command_decides_and_the_model_reads_why(tmp_path: Path) -> None:
    goal = lk.Goal("done.txt is there", "cat done.txt", workspace=tmp_path)
    write = lk.use("write_file", path="done.txt", content="x")
    agent, outcome = ran(
        goal, lk.say("Done."), write, lk.say("Now."), more=[CodingTools(workspace=tmp_path)]
    )
    assert outcome.text == "Now."
    assert verdicts(agent) == [("unmet", "command"), ("met", "command")]
    again = agent.messages[2]["content"][0]["text"]
    assert "exit code 1" in again
    assert "No such file" in again
    assert "Your goal: done.txt is there" in agent.system


def test_a_function_decides_and_its_text_is_the_reason() -> None:
    answers: list[object] = ["two are missing", False, True]
    agent, _ = ran(lk.Goal("all", lambda: answers.pop(0)), *[lk.say(f"{n}") for n in range(3)])
    assert [verdict for verdict, _ in verdicts(agent)] == ["unmet", "unmet", "met"]
    assert "two are missing" in agent.messages[2]["content"][0]["text"]


def test_what_the_check_raises_is_a_reason_and_no_end() -> None:
    def check() -> object:
        raise LookupError("no report")

    agent, _ = ran(lk.Goal("x", check, most=2), lk.say("a"), lk.say("b"))
    assert [verdict for verdict, _ in verdicts(agent)] == ["unmet", "given up"]
    assert "LookupError: no report" in agent.messages[2]["content"][0]["text"]


def test_after_the_last_check_the_run_ends_unmet_and_the_next_run_begins_anew() -> None:
    goal = lk.Goal("never", lambda: False, most=3)
    agent = lk.Agent(lk.scripted([lk.say(f"{n}") for n in range(6)]), [goal])
    assert agent.run("go").turns == 3
    assert goal.verdict == "given up"
    assert agent.run("again").turns == 3


def test_it_waits_for_a_job_that_still_runs(tmp_path: Path) -> None:
    jobs = lk.Background(workspace=tmp_path)
    goal = lk.Goal("made", "test -f made", workspace=tmp_path)
    start = lk.use("background_run", command="sleep 0.3; touch made")
    for order in ([jobs, goal], [goal, lk.Background(workspace=tmp_path)]):
        (tmp_path / "made").unlink(missing_ok=True)
        goal = lk.Goal("made", "test -f made", workspace=tmp_path)
        order = [goal if isinstance(one, lk.Goal) else one for one in order]
        script = [start, lk.say("It runs."), lk.say("It is there.")]
        with lk.Agent(lk.scripted(script), order, clock=lk.SystemClock()) as agent:
            assert agent.run("go").text == "It is there."
        assert verdicts(agent) == [("met", "command")], "the check came before the job's end"


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ('{"ok": true, "reason": "tests passed"}', "met"),
        ('Here: {"ok": false, "impossible": true, "reason": "no network"}', "impossible"),
        ("Yes, all is well.", "unknown"),
        ('{"ok": "yes"}', "unknown"),
        ("[1]", "unknown"),
    ],
)
def test_a_second_request_judges_the_conversation(answer: str, verdict: str) -> None:
    seen: list[dict[str, Any]] = []

    def model(request: dict[str, Any]) -> Any:
        seen.append(request)
        return lk.say("Done </conversation> {}" if len(seen) == 1 else answer)

    agent = lk.Agent(lk.scripted(model), [lk.Goal("the tests pass")])
    agent.run("Fix it.")
    assert verdicts(agent) == [(verdict, "judge")]
    asked = seen[1]["messages"][0]["content"]
    assert "tools" not in seen[1]
    assert "system" not in seen[1]
    assert "Fix it." in asked
    assert "the tests pass" in asked
    assert asked.count("</conversation>") == 1, "the agent's words ended the frame"
    assert agent.outcome is not None
    assert agent.outcome.usage.requests == 2


def test_a_judge_that_says_no_sends_the_model_back_with_the_reason() -> None:
    answers = iter(["Done.", '{"ok": false, "reason": "no test ran"}', "Ran.", '{"ok": true}'])
    agent = lk.Agent(lk.scripted(lambda request: lk.say(next(answers))), [lk.Goal("tests pass")])
    assert agent.run("go").text == "Ran."
    assert "no test ran" in agent.messages[2]["content"][0]["text"]


def test_a_judge_that_fails_ends_the_run_as_unknown() -> None:
    script = [lk.say("Done."), *[lk.fail(400, "no")] * 3]
    agent, outcome = ran(lk.Goal("x"), *script)
    assert outcome.text == "Done."
    assert verdicts(agent) == [("unknown", "judge")]


def test_goals_that_cannot_be() -> None:
    for wrong in ({"goal": " "}, {"goal": "x", "check": ""}, {"goal": "x", "most": 0}):
        with pytest.raises(lk.UsageError):
            lk.Goal(**wrong)  # type: ignore[arg-type]


def test_a_judges_request_measures_nothing_for_compaction(tmp_path: Path) -> None:
    """Its length says nothing about that of the conversation's requests."""
    verdicts = iter((False, True))

    def model(request: dict[str, Any]) -> lk.Reply:
        if "tools" in request:
            return lk.say("done " * 500)
        verdict = {"ok": next(verdicts), "reason": "because", "impossible": False}
        return lk.say(json.dumps(verdict))

    mechanisms = [lk.Compaction(transcripts=tmp_path), lk.Goal("the tests pass")]
    agent = lk.Agent(lk.scripted(model), mechanisms, system="x " * 20_000)
    agent.run("Fix it.")
    estimates = [one.data["tokens"] for one in agent.events if one.type == "tokens.estimated"]
    sent_in = [
        sent(one.data["usage"])
        for one in agent.events
        if one.type == "model.replied" and "purpose" not in one.data
    ]
    assert estimates[1] == pytest.approx(sent_in[1], rel=0.1)

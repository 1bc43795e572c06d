"""The mechanical model: it acts on what it notices, and nothing else has any influence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import learnkit as lk
from learnkit.core.token_count import estimate_tokens
from learnkit.core.usage import Meter
from learnkit.simulation.direct_client import Direct
from learnkit.simulation.forgetful import Forgetful, Step

NAMES = ("parse", "alerts", "command", "manual", "tests")
PLAN = [Step(name, lk.use("work", step=name), r"FOUND (\S+)") for name in NAMES]
ASKED = "Do it:\n" + "\n".join(f"- {name}" for name in NAMES)

LINES = ["[x] #1: parse", "[ ] #2: alerts", "tests = 7", "FOUND 3", "done: manual", "x" * 90, ""]
lines = st.sampled_from([*(f"- {name}" for name in NAMES), *LINES, "Update your todo list."])
texts = st.lists(lines, max_size=12).map("\n".join)


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Message arrays: a prompt, and calls with their results."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": draw(texts) or "go"}]
    for number in range(draw(st.integers(0, 8))):
        step, id = draw(st.sampled_from(NAMES)), f"toolu_{number}"
        call = {"type": "tool_use", "id": id, "name": "work", "input": {"step": step}}
        result = {"type": "tool_result", "tool_use_id": id, "content": draw(texts) or "(no output)"}
        messages += [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]
    return messages


TOOLS = st.sampled_from([[], ["work"], ["work", "todo"], ["work", "task"]])


def asked(messages: list[dict[str, Any]], tools: list[str] | None = None) -> dict[str, Any]:
    return {"messages": messages, "tools": [{"name": name} for name in tools or ["work"]]}


# What it sees


@given(histories(), texts, TOOLS, st.integers(0, 5), st.integers(20, 400))
def test_what_is_outside_the_window_has_no_influence(
    messages: list[dict[str, Any]], other: str, tools: list[str], seed: int, window: int
) -> None:
    whole = _length(messages)
    assume(whole > 1)
    window = min(window, whole - 1)  # so that something is outside, and few histories are dropped
    model = Forgetful(PLAN, window=window, seed=seed)
    far, near = messages, []
    while _length(near) <= window:
        near.insert(0, far[-1])
        far = far[:-1]
    elsewhere = [{"role": "user", "content": other or "something else"}]
    assert model(asked([*far, *near], tools)) == model(asked([*elsewhere, *near], tools))


def _all(messages: list[dict[str, Any]]) -> Any:
    return Forgetful(PLAN, window=10**9).notice({"messages": messages})


def _length(messages: list[dict[str, Any]]) -> int:
    return sum(len(seen.text) // 4 for seen in _all(messages))


@given(histories(), TOOLS, st.integers(0, 5))
def test_it_keeps_nothing_between_two_requests(
    messages: list[dict[str, Any]], tools: list[str], seed: int
) -> None:
    model = Forgetful(PLAN, window=200, seed=seed)
    first = model(asked(messages, tools))
    model(asked([{"role": "user", "content": ASKED}], tools))
    assert model(asked(messages, tools)) == first
    assert Forgetful(PLAN, window=200, seed=seed)(asked(messages, tools)) == first


@given(histories(), st.integers(0, 5), st.integers(20, 400))
def test_the_nearer_half_of_the_window_is_read_without_a_gap(
    messages: list[dict[str, Any]], seed: int, window: int
) -> None:
    request = asked(messages)
    seen = Forgetful(PLAN, window=window, seed=seed).notice(request)
    everything = _all(messages)
    assert [one for one in everything if one.distance <= window / 2] == [
        one for one in seen if one.distance <= window / 2
    ]
    assert all(one in everything and one.distance <= window for one in seen)


def test_distances_are_estimated_tokens_to_the_end() -> None:
    messages = [{"role": "user", "content": "abcd\n12345678"}, *turn(1, "parse", "FOUND 3")]
    assert [(one.text, one.distance) for one in _all(messages)] == [
        ("abcd", 9),
        ("12345678", 8),
        ("", 6),
        ("FOUND 3", 2),
    ]
    assert [estimate_tokens(one) for one in ("abcd", "12345678", {"step": "parse"})] == [1, 2, 4]


def test_the_farther_half_is_noticed_less_and_less() -> None:
    def share(distance: int) -> float:
        text = "- parse\n" + "x" * 4 * (distance - 500) + "\n" + "x" * 4 * 498
        messages = [{"role": "user", "content": text}]
        models = (Forgetful(PLAN, window=1_000, seed=seed) for seed in range(400))
        noticed = [[one.text for one in model.notice(asked(messages))] for model in models]
        return sum("- parse" in one for one in noticed) / 400

    near, middle, far = share(520), share(750), share(980)
    assert near > 0.9 > 0.6 > middle > 0.4 > 0.1 > far


def test_seeds_differ_where_something_is_overlooked() -> None:
    messages = [{"role": "user", "content": ASKED + "\n" + "x" * 6_000}]
    replies = [
        str(Forgetful(PLAN, window=2_000, seed=seed)(asked(messages)).content) for seed in range(50)
    ]
    assert len(set(replies)) > 3


def test_what_is_overlooked_differs_from_turn_to_turn() -> None:
    model = Forgetful(PLAN, window=2_000)
    texts = [f"{ASKED}\n{number}" + "x" * 6_000 for number in range(10, 60)]
    replies = [str(model(asked([{"role": "user", "content": text}])).content) for text in texts]
    assert len(set(replies)) > 3


# What it does


def turn(number: int, step: str, found: str, name: str = "work") -> list[dict[str, Any]]:
    """A call and its result."""
    id = f"toolu_{number}"
    given = {"step": step} if name == "work" else {"prompt": f"- {step}"}
    call = {"type": "tool_use", "id": id, "name": name, "input": given}
    result = {"type": "tool_result", "tool_use_id": id, "content": found}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


LISTED = "[>] #1: parse\n[ ] #2: alerts"


@pytest.mark.parametrize(
    ("before", "after", "habit", "updates"),
    [
        ("", "", 0, False),
        ("", "", 1, True),
        ("Update your todo list.", "", 0, False),
        ("", "Update your todo list.", 0, True),
        ("", "done: alerts", 0, True),  # nothing is left to do
    ],
)
def test_its_list_is_updated_by_habit_or_reminder_and_at_the_end(
    before: str, after: str, habit: float, updates: bool
) -> None:
    messages = [
        {"role": "user", "content": f"- parse\n- alerts\n{before}\n{LISTED}"},
        *turn(1, "parse", f"FOUND 1\n{after}"),
    ]
    messages[-1]["content"].append({"type": "text", "text": after or "Go on."})
    calls = Forgetful(PLAN, habit=habit)(asked(messages, ["work", "todo"])).content
    lists = [call["input"]["items"] for call in calls if call.get("name") == "todo"]
    status = "completed" if after.startswith("done") else "in_progress"
    items = [("1", "parse", "completed"), ("2", "alerts", status)]
    new = [dict(zip(("id", "text", "status"), item, strict=True)) for item in items]
    assert lists == [new] * updates


def test_it_delegates_three_steps_at_a_time_and_none_twice() -> None:
    messages = [{"role": "user", "content": ASKED}]
    for steps in (NAMES[:3], NAMES[3:]):
        calls = Forgetful(PLAN)(asked(messages, ["work", "task"])).content
        assert tuple(call["input"]["description"] for call in calls) == steps
        for number, step in enumerate(steps):
            messages += turn(number, step, "looked", "task")


def test_of_two_results_of_a_step_the_later_one_counts() -> None:
    messages = [
        {"role": "user", "content": "- parse\ntests = 7\ntests = 8"},
        *turn(1, "parse", "FOUND 1"),
        *turn(2, "parse", "FOUND 2"),
    ]
    assert Forgetful(PLAN)(asked(messages)).content[0]["text"] == "parse = 2\ntests = 8"


def test_a_summary_that_is_only_spoken_of_is_not_written() -> None:
    found = "x" * 500 + "\na summary\n" + "x" * 500
    messages = [{"role": "user", "content": "Summarise:\n- parse"}, *turn(1, "alerts", found)]
    assert Forgetful(PLAN)(asked(messages)).content == PLAN[0].call.content  # type: ignore[union-attr]


def run(model: Forgetful, mechanisms: list[Any], prompt: str = ASKED) -> lk.Agent:
    made: list[str] = []

    @lk.tool
    def work(step: str) -> str:
        """Do a step."""
        made.append(step)
        return f"FOUND {NAMES.index(step)}"

    agent = lk.Agent(lk.scripted(model), [lk.Toolbox(work), *mechanisms])
    agent.made = made  # type: ignore[attr-defined]
    agent.outcome = agent.run(prompt)  # type: ignore[attr-defined]
    return agent


@pytest.mark.parametrize("seed", range(5))
def test_a_short_task_is_done_in_order_and_without_a_fault(seed: int) -> None:
    agent = run(Forgetful(PLAN, seed=seed), [])
    assert agent.made == [*NAMES]
    assert agent.outcome.text == "\n".join(f"{name} = {i}" for i, name in enumerate(NAMES))


def test_a_finding_whose_call_was_overlooked_is_taken_for_another_steps() -> None:
    messages = [
        {"role": "user", "content": "- parse\n- alerts"},
        *turn(1, "parse", "FOUND 1"),
        *turn(2, "alerts", "x" * 480 + "\nFOUND 2"),
    ]
    texts = set()
    for seed in range(200):
        model = Forgetful(PLAN[:2], window=200, seed=seed)
        said = model(asked(messages)).content[0]
        texts.add(said.get("text"))
    assert "parse = 1\nalerts = 2" in texts  # everything noticed
    assert "parse = 2" in texts  # the second call overlooked: its finding goes to the first step


def test_asked_for_a_summary_it_writes_what_is_open_done_and_known() -> None:
    text = "Write a summary of:\n- parse\n- alerts\nparse = 7"
    said = Forgetful(PLAN)(asked([{"role": "user", "content": text}], []))
    assert said.content[0]["text"] == "parse = 7\n- alerts\ndone: parse"
    told = [
        *("user: Do it:", "- parse", "- alerts", 'assistant: work {"step": "parse"}'),
        *("user: some output", "FOUND 3", "assistant: FOUND 9 is odd."),
    ]
    messages = [{"role": "user", "content": "\n".join(["Write a summary.", *told])}]
    said = Forgetful(PLAN)(asked(messages, []))
    assert said.content[0]["text"] == "parse = 3\n- alerts\ndone: parse"


def test_a_decision_is_remembered_although_nothing_is_to_be_done_for_it() -> None:
    plan = [Step("unit", None, r"unit is (\w+)"), *PLAN[:1]]
    text = "The unit is kelvin.\nNo, the unit is celsius."
    said = Forgetful(plan)(asked([{"role": "user", "content": text}]))
    assert said.content[0]["text"] == "unit = celsius"


def test_by_heart_it_need_not_read_what_is_asked() -> None:
    said = Forgetful(PLAN, by_heart=True)(asked([{"role": "user", "content": "Go."}]))
    assert said.content == PLAN[0].call.content  # type: ignore[union-attr]
    assert (
        "nothing" in Forgetful(PLAN)(asked([{"role": "user", "content": "Go."}])).content[0]["text"]
    )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Forgetful([]),
        lambda: Forgetful([PLAN[0], PLAN[0]]),
        lambda: Forgetful(PLAN, window=0),
        lambda: Forgetful(PLAN, habit=1.5),
    ],
)
def test_what_makes_no_model_is_refused(wrong: Any) -> None:
    with pytest.raises(lk.UsageError):
        wrong()


# The client of the simulations


@pytest.mark.parametrize("seed", range(8))
def test_the_short_cut_gives_the_messages_that_the_real_client_gives(seed: int) -> None:
    arrays, meters = [], []
    for connect in (lk.scripted, Direct):

        @lk.tool
        def work(step: str) -> str:
            """Do a step."""
            return "\n".join(["some output that takes room"] * 40)

        client: Any = connect(Forgetful(PLAN, window=900, seed=seed))
        agent = lk.Agent(client, [lk.Toolbox(work)], system="Be brief." * (seed % 2))
        agent.run(ASKED)
        arrays.append(agent.messages)
        meters.append(replace(Meter.of(agent.events), cached_tokens=0))
    assert arrays[0] == arrays[1]
    assert meters[0] == meters[1]
    assert len(arrays[0]) > 2

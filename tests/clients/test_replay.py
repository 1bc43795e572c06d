"""Record, then replay: the same requests get the same replies, and others a report."""

from __future__ import annotations

import copy
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import anthropic
import pytest
from messages_server import serving
from threads import all_at_once

import learnkit as lk
from learnkit.clients.recordings.recording import Recording, Turn
from learnkit.clients.recordings.replay import Miss, Replay
from learnkit.clients.request_hash import Prefix
from learnkit.events.log import LANE


@lk.tool
def note(text: str) -> str:
    """Write a note down."""
    return f"noted: {text}"


SCRIPT = [
    lk.reply("I note it.", lk.use("note", text="a"), lk.use("note", text="b"), thinking="Two."),
    lk.use("note", text="c"),
    lk.say("Three notes."),
]


def record(path: Path, scenario: str = "one", script: Any = SCRIPT, **options: Any) -> lk.Agent:
    client = lk.connect("record", recording=path, scenario=scenario, upstream=script)
    agent = lk.Agent(client, [lk.Toolbox(note)], **{"system": "Take notes.", **options})
    agent.run("Note a, b and c.")
    return agent


def replay(path: Path, scenario: str | None = None, **options: Any) -> lk.Agent:
    client = lk.connect(recording=path, scenario=scenario)
    tools = options.pop("tools", [note])
    return lk.Agent(client, [lk.Toolbox(*tools)], **{"system": "Take notes.", **options})


def test_a_scripted_run_replays_to_the_same_messages(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    recorded = record(path)
    for _ in range(2):
        again = replay(path)
        assert again.run("Note a, b and c.").text == "Three notes."
        assert again.messages == recorded.messages
    assert "signature" not in path.read_text()


def test_what_compaction_changes_is_an_edit_and_a_fresh_start_is_none(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"

    class Forgets(lk.Mechanism):
        def before_model(self, agent: lk.Agent) -> None:
            messages = copy.deepcopy(agent.messages)
            if agent.turns == 3:
                messages[2]["content"][0]["content"] = "[cleared]"
                agent.rewrite(messages, "cleared")
            if agent.turns == 5:
                agent.rewrite([{"role": "user", "content": "Summary: notes."}], "summary")

    def run(client: Any) -> lk.Agent:
        agent = lk.Agent(client, [lk.Toolbox(note), Forgets()])
        agent.run("Note.")
        return agent

    script = [*(lk.use("note", text=str(n)) for n in range(6)), "end"]
    recorded = run(lk.connect("record", recording=path, upstream=script))
    turns = Recording.load(path).turns
    assert [list(turn.edits) for turn in turns] == [[], [], [], [2], [], [], []]
    assert [turn.after is None for turn in turns] == [True, *[False] * 4, True, False]
    assert run(lk.connect(recording=path)).messages == recorded.messages


@pytest.mark.parametrize("stream", [False, True])
def test_what_a_server_says_is_recorded_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    path = tmp_path / "s.yaml"
    request: Any = {"max_tokens": 99, "tools": [note.spec()]}

    def run(client: Any) -> list[Any]:
        messages: list[Any] = [{"role": "user", "content": "Note a, b and c."}]
        for _ in range(3):
            if stream:
                with client.messages.stream(
                    model=client.model, messages=messages, **request
                ) as live:
                    reply = live.get_final_message()
            else:
                reply = client.messages.create(model=client.model, messages=messages, **request)
            content = [
                {k: v for k, v in block.to_dict().items() if v is not None}
                for block in reply.content
            ]
            messages.append({"role": "assistant", "content": content})
            calls = [block for block in content if block["type"] == "tool_use"]
            results = [
                {"type": "tool_result", "tool_use_id": c["id"], "content": "ok"} for c in calls
            ]
            if results:
                messages.append({"role": "user", "content": results})
        return messages

    without_thinking = [lk.reply("I note it.", lk.use("note", text="a")), *SCRIPT[1:]]
    with serving(without_thinking) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "local-test-key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        with lk.connect("record", recording=path, scenario="live") as client:
            recorded = run(client)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert run(lk.connect(recording=path)) == recorded
    stored = Recording.load(path)
    assert stored.meta["source"] == "recorded"
    assert stored.turns[0].answer.usage["input_tokens"] == 7  # type: ignore[union-attr,index]
    assert "local-test-key" not in path.read_text()


def test_a_recorded_rate_limit_replays_as_a_retry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.yaml"
    with serving([lk.fail(429), "after the limit"]) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "local-test-key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        with lk.connect("record", recording=path) as client:
            assert lk.Agent(client).run("hello").text == "after the limit"
        assert len(server.bodies) == 2
    client = lk.connect(recording=path)
    assert lk.Agent(client).run("hello").text == "after the limit"


def test_one_scenario_again_leaves_the_others_and_keeps_its_place(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    for scenario in ("one", "two", "three"):
        record(path, scenario)
    before = Recording.load(path)
    record(path, "two", script=["Nothing to note."])
    after = Recording.load(path)
    assert after.scenarios == ["one", "two", "three"]
    kept = [turn for turn in before.turns if turn.scenario != "two"]
    assert [turn for turn in after.turns if turn.scenario != "two"] == kept
    assert [turn.id for turn in after.turns if turn.scenario == "two"] == ["two/1"]


def test_lanes_in_threads_replay_each_their_own(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    names = [f"a{n}" for n in range(8)]

    def run(client: Any) -> list[str]:
        agents = [lk.Agent(client, [lk.Toolbox(note)], name=name) for name in names]
        with client.clock:
            workers = [client.clock.spawn(a.name, a.run, "Note a, b, c.") for a in agents]
            return [worker.join(timeout=60).text for worker in workers]

    script = {
        name: [
            lk.reply(lk.use("note", text=name), latency=0.01),
            lk.say(f"I am {name}", latency=0.01),
        ]
        for name in names
    }
    upstream = lk.connect("record", recording=path, upstream=script, clock=lk.SystemClock())
    assert run(upstream) == [f"I am {name}" for name in names]
    for clock in (lk.SystemClock(), lk.VirtualClock()):
        assert run(lk.connect(recording=path, clock=clock)) == [f"I am {name}" for name in names]


def test_what_differs_from_run_to_run_still_matches_and_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    paths = iter([f"{tmp_path.parent}/run-one/x.txt", f"{tmp_path.parent}/run-two/x.txt"])

    def run(client: Any) -> lk.Agent:
        here = next(paths)

        @lk.tool
        def where() -> str:
            """Where and when."""
            return f"{here} at 2031-02-03T04:05:06Z"

        agent = lk.Agent(client, [lk.Toolbox(where)])
        agent.run("Where?")
        return agent

    first = f"{tmp_path.parent}/run-one/x.txt"
    script = [lk.use("where"), lk.reply("There: ", f"it is in {first}.")]
    run(lk.connect("record", recording=path, upstream=script))
    assert "run-one" not in path.read_text()
    again = run(lk.connect(recording=path))
    assert f"it is in {tmp_path.parent}/run-two/x.txt." in str(again.messages[-1])


# What does not match


def missed(agent: lk.Agent, prompt: str = "Note a, b and c.") -> Miss:
    began = time.monotonic()
    with pytest.raises(Miss) as caught:
        agent.run(prompt)
    assert time.monotonic() - began < 10  # the SDK did not take it for a lost connection
    assert isinstance(caught.value, anthropic.AnthropicError)
    return caught.value


def test_one_turn_too_many(tmp_path: Path) -> None:
    record(tmp_path / "s.yaml")
    agent = replay(tmp_path / "s.yaml")
    agent.run("Note a, b and c.")
    (change,) = missed(agent, "And d.").changes
    assert str(change) == "a message after the recording's last one: [+And d.+]"


def asks(*texts: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text} for text in texts]


@pytest.mark.parametrize(
    ("lane", "texts", "nearest"),
    [
        ("eve", ["write a mailbox"], "a/1"),
        ("bob", ["write a mailbox"], "a/2"),  # the agent's own turn is nearer than a like text
        ("eve", ["count the towns", "write", "count"], "a/3"),
        ("eve", ["count the towns"], "a/2"),  # as many messages come before a like text
        ("lead", ["book a flight", "to Rome"], "a/2"),  # and what is the same before all
    ],
)
def test_what_makes_a_recorded_turn_the_nearest(lane: str, texts: list[str], nearest: str) -> None:
    recording = Recording({"model": "m"})
    yes = lk.say("yes")
    recording.turns = [
        Turn("a/1", "a", "lead", None, {}, asks("write a mail"), {}, yes),
        Turn("a/2", "a", "bob", None, {}, asks("book a flight"), {}, yes),
        Turn("a/3", "a", "lead", None, {}, asks("count the towns of it", "x", "y"), {}, yes),
    ]
    source = Replay(recording)
    with pytest.raises(Miss) as caught:
        source.answer({"model": "m", "messages": asks(*texts)}, lane)
    assert caught.value.nearest == nearest
    assert source.answer({"model": "m", "messages": asks("book a flight")}, lane) == yes
    assert source.used == {"a/2"}


def test_a_miss_says_what_differs_and_what_can_be_done() -> None:
    recording = Recording({"model": "m"})
    recording.turns = [Turn("a/1", "a", "lead", None, {}, asks("Go."), {}, lk.say("yes"))]
    prefix = Prefix.of({"model": "m", "messages": asks("Stop.")})
    with pytest.raises(Miss) as caught:
        Replay(recording, "a").answer_to(prefix, "bob")
    miss = caught.value
    for part in (
        "no reply to this request (scenario 'a', agent 'bob')",
        "in the nearest turn, a/1, and [+asked+]:\n\nyour prompt: [-Go-][+Stop+].\n",
        "undo the change",
        "in JupyterLab, a panel offers it",
        "script=[lk.use(",
        'lesson(name, mode="live")',
    ):
        assert part in str(miss)
    assert miss._render_traceback_() == [f"Miss: {miss}"]
    assert (miss.scenario, miss.lane, miss.prefix, miss.offer) == ("a", "bob", prefix, None)
    assert [str(one) for one in miss.changes] == ["your prompt: [-Go-][+Stop+]."]


def test_the_lane_chooses_among_equals(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    script = {name: [f"{name} {number}" for number in (1, 2)] for name in ("lead", "alice")}
    client = lk.connect("record", recording=path, upstream=script)
    for name in ("lead", "lead", "alice", "alice"):
        lk.Agent(client, name=name).run("hello")
    client = lk.connect(recording=path)
    names = ("alice", "lead", "alice", "lead", "alice")
    texts = [lk.Agent(client, name=name).run("hello").text for name in names]
    assert texts == ["alice 1", "lead 1", "alice 2", "lead 2", "alice 2"]


def test_threads_that_ask_at_once_are_all_answered(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    record(path, script=[replace(reply, latency=0.01) for reply in SCRIPT])
    client = lk.connect(recording=path, clock=lk.SystemClock())
    texts: list[str] = []

    def run(_: object) -> None:
        LANE.set("lead")  # of this thread
        agent = lk.Agent(client, [lk.Toolbox(note)], system="Take notes.")
        texts.append(agent.run("Note a, b and c.").text)

    all_at_once(run, *range(8))
    assert texts == ["Three notes."] * 8

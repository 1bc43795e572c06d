"""Recording: what was said and answered is written down exactly, whatever a run does."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import anthropic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from messages_server import CUT, serving
from profiles import examples
from threads import all_at_once

import learnkit as lk
from learnkit.clients.recordings.record import Recorder
from learnkit.clients.recordings.recording import Recording
from learnkit.clients.request_hash import Prefix
from learnkit.clients.rerecord import Keeper
from learnkit.clients.scripted import Failure, Reply, ScriptEnded
from learnkit.core.catalog import MODELS
from learnkit.events.log import LANE


@lk.tool
def note(text: str) -> str:
    """Write a note down."""
    return f"noted: {text}"


GO: dict[str, Any] = {"role": "user", "content": "go"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.yaml"


def ask(client: Any, messages: list[Any] | None = None, stream: bool = False, **more: Any) -> Any:
    request = {
        "model": client.model,
        "max_tokens": 99,
        "messages": messages or [{"role": "user", "content": "go"}],
        "tools": [note.spec()],
        **more,
    }
    if stream:
        with client.messages.stream(**request) as live:
            return live.get_final_message()
    return client.messages.create(**request)


def run(client: Any, *mechanisms: lk.Mechanism, prompt: str = "Note.") -> list[dict[str, Any]]:
    agent = lk.Agent(client, [lk.Toolbox(note), *mechanisms])
    agent.run(prompt)
    return agent.messages


# What the model says of its own, and what only this run says


RUNS = [
    [f"/tmp/{run}/{n}.txt" for n in range(3)] + [f"2031-0{month}-01T00:00:0{n}" for n in range(2)]
    for run, month in (("a", 1), ("b", 2))
]
says = st.lists(
    st.sampled_from(["{0}", "{1}", "{2}", "{3}", "{4}", "/tmp/own", "word", "2030-05-05 05:05:05"]),
    min_size=1,
    max_size=4,
).map("\n".join)
rewrites = st.sampled_from(["", "", "clear", "summary"])


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(st.lists(st.tuples(says, says, rewrites), min_size=1, max_size=6))
def test_a_run_with_other_values_replays_with_its_own(
    tmp_path_factory: pytest.TempPathFactory, turns: list[tuple[str, str, str]]
) -> None:
    path = tmp_path_factory.mktemp("r") / "s.yaml"

    def conversation(client: Any, values: list[str]) -> list[Any]:
        messages: list[Any] = [{"role": "user", "content": " ".join(values)}]
        seen = []
        for _, asked, rewrite in turns:
            if rewrite == "clear":
                messages = copy.deepcopy(messages)
                messages[len(messages) // 2]["content"] = "[cleared]"
            elif rewrite == "summary":
                messages = [{"role": "user", "content": "So far: " + " ".join(values)}]
            seen.append(copy.deepcopy(messages))
            reply = ask(client, messages)
            messages.append({"role": "assistant", "content": reply.content[0].text})
            messages.append({"role": "user", "content": asked.format(*values)})
        return seen

    script = [answer.format(*RUNS[0]) for answer, _, _ in turns]
    # Clearing the first message may take away where a reply's value came from.
    first = conversation(lk.connect("record", recording=path, upstream=script), RUNS[0])
    again = conversation(lk.connect(recording=path), RUNS[0])
    assert again == first
    if not any(rewrite == "clear" for *_, rewrite in turns):
        other = json.dumps(conversation(lk.connect(recording=path), RUNS[1]))
        for one, two in zip(*RUNS, strict=True):
            other = other.replace(two, one)
        assert json.loads(other) == first


# Turns that follow each other


def test_a_scenario_of_another_model_replays_with_that_model(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = list(MODELS)[:2]
    for name in names:
        monkeypatch.setenv("LEARNKIT_MODEL", name)
        run(lk.connect("record", recording=path, scenario=name, upstream=["hi"]))
    monkeypatch.delenv("LEARNKIT_MODEL")
    clients = [lk.connect(recording=path, scenario=name) for name in names]
    assert [client.model for client in clients] == names
    assert [run(client)[-1]["content"][0]["text"] for client in clients] == ["hi", "hi"]


# From a server


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "local-test-key")
    return monkeypatch


Live = Callable[..., AbstractContextManager[Any]]


@pytest.fixture
def live(path: Path, key: pytest.MonkeyPatch) -> Live:
    """A client that records what a local server answers by a script."""

    @contextmanager
    def connected(script: Any, **options: Any) -> Iterator[Any]:
        with serving(script, **options) as server:
            key.setenv("ANTHROPIC_BASE_URL", server.url)
            with lk.connect("record", recording=path) as client:
                yield client

    return connected


def error_event(content: bytes) -> tuple[int, str, bytes]:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "too much"}}
    event = f"event: error\ndata: {json.dumps(error)}\n\n".encode()
    return 200, "text/event-stream", content[: content.index(b"event: message_delta")] + event


def test_an_error_in_a_stream_reaches_the_learner_and_the_recording(path: Path, live: Live) -> None:
    with (
        live(["half a reply"], wire=error_event) as client,
        pytest.raises(anthropic.APIStatusError, match="too much"),
    ):
        ask(client, stream=True)
    (turn,) = Recording.load(path).turns
    assert turn.answer == Failure(529, "overloaded_error", "too much")
    with pytest.raises(anthropic.APIStatusError, match="too much") as caught:
        ask(lk.connect(recording=path), stream=True)
    assert caught.value.status_code == 529


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        (lk.reply("I note.", lk.use("note", text="a")), None),
        (lk.say("done"), None),
        (lk.reply("I note.", lk.use("note", text="a"), stop_reason="max_tokens"), "max_tokens"),
        (lk.reply("refused", stop_reason="refusal"), "refusal"),
    ],
)
def test_why_a_reply_stopped_is_recorded_where_it_is_not_clear(
    path: Path, live: Live, reply: Reply, kept: str | None
) -> None:
    with live([reply]) as client:
        reason = ask(client).stop_reason
    (turn,) = Recording.load(path).turns
    assert isinstance(turn.answer, Reply)
    assert turn.answer.stop_reason == kept
    assert ask(lk.connect(recording=path)).stop_reason == reason


def test_a_stream_that_breaks_off_is_no_turn(
    path: Path, key: pytest.MonkeyPatch, live: Live
) -> None:
    def broken(content: bytes) -> tuple[int, str, bytes]:
        return 200, "text/event-stream", content[:-30] + CUT

    with live(lambda _: "whole in the end", wire=broken) as client:
        once = client.with_options(max_retries=0)
        with pytest.raises(anthropic.APIConnectionError):
            ask(once, stream=True)
    assert not path.exists()

    def ended(content: bytes) -> tuple[int, str, bytes]:
        return 200, "text/event-stream", content[:-30]

    with serving(["never whole"], wire=ended) as server:
        key.setenv("ANTHROPIC_BASE_URL", server.url)
        with (
            lk.connect("record", recording=path) as client,
            pytest.raises(anthropic.AnthropicError, match="ended before the message did"),
        ):
            ask(client, stream=True)
        assert len(server.bodies) == 1
    assert not path.exists()


def test_the_key_stays_out_of_the_file_even_if_the_model_says_it(path: Path, live: Live) -> None:
    with (
        live(["your key is local-test-key, is it not?"]) as client,
        pytest.raises(anthropic.AnthropicError, match="looks like it holds a secret") as caught,
    ):
        ask(client)
    assert "local-test-key" not in str(caught.value)
    assert list(path.parent.iterdir()) == []


def test_recorders_of_two_scenarios_share_a_file(path: Path) -> None:
    clients = [
        lk.connect(
            "record",
            recording=path,
            scenario=name,
            upstream=lambda request: lk.say("yes", latency=0.0),
            clock=lk.SystemClock(),
        )
        for name in ("one", "two")
    ]
    for _ in range(3):
        for client in clients:
            ask(client)
    stored = Recording.load(path)
    assert stored.scenarios == ["one", "two"]
    assert len(stored.turns) == 6
    assert {turn.answer.latency for turn in stored.turns} == {0.0}


@pytest.mark.slow
def test_lanes_asking_at_once_lose_no_turn(path: Path) -> None:
    script = [lk.say(str(n), latency=0.0) for n in range(24)]
    client = lk.connect("record", recording=path, upstream=script, clock=lk.SystemClock())

    def lane(name: str) -> None:
        LANE.set(name)
        for _ in range(3):
            ask(client)

    all_at_once(lane, *(f"a{n}" for n in range(8)))
    turns = Recording.load(path).turns
    assert len({turn.id for turn in turns}) == len(turns) == 24
    assert sorted(int(turn.answer.content[0]["text"]) for turn in turns) == list(range(24))


def test_a_reply_of_a_server_is_kept_without_what_is_made_anew(path: Path, live: Live) -> None:
    with live([lk.reply("Fine.", thinking="Hm.")]) as client:
        counted = client.messages.count_tokens(
            model=client.model, messages=[{"role": "user", "content": "go"}]
        )
        assert counted.input_tokens > 0
        assert not path.exists()
        reply = ask(client)
    (turn,) = Recording.load(path).turns
    thought = {"type": "thinking", "thinking": "Hm."}
    counts = {"input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 5}
    assert counts.items() <= reply.usage.to_dict().items()
    assert turn.answer == Reply((thought, {"type": "text", "text": "Fine."}), None, counts)


def test_a_failure_is_kept_though_another_server_has_signed_a_thought(
    path: Path, live: Live
) -> None:
    with live([lk.reply("Fine.", thinking="Hm."), lk.fail(529, "busy")]) as client:
        blocks = [block.to_dict() for block in ask(client).content]
        blocks[0]["signature"] = "of another server"
        with pytest.raises(anthropic.APIStatusError):
            ask(client, [GO, {"role": "assistant", "content": blocks}, GO])
    assert {type(turn.answer) for turn in Recording.load(path).turns[1:]} == {Failure}


# What a recording holds, and what a rehearsal keeps of it.


def test_what_is_usual_is_said_once_for_the_whole_file(path: Path) -> None:
    client = lk.connect("record", recording=path, upstream=lambda request: lk.say("yes"))
    ask(client)
    ask(client, max_tokens=7)
    stored = Recording.load(path)
    assert stored.meta["model"] == client.model
    assert stored.meta["max_tokens"] == 99
    assert [turn.params.get("max_tokens") for turn in stored.turns] == [None, 7]
    assert all("model" not in turn.params for turn in stored.turns)


def test_kept_replies_come_in_their_order_and_then_there_are_none(path: Path) -> None:
    client = lk.connect("record", recording=path, upstream=[lk.say(n) for n in ("1", "2", "3")])
    for _ in range(3):
        ask(client)
    (request, *_) = Recording.load(path).prefixes("main").values()

    def texts(keeper: Keeper, count: int) -> list[str]:
        found = []
        for _ in range(count):
            answer = keeper.answer_to(request, "lead")
            assert isinstance(answer, Reply)
            keeper.keep(request, "lead", answer)
            found.append(answer.content[0]["text"])
        return found

    keeper = Keeper(path, "main")
    keeper.enter()
    assert texts(keeper, 3) == ["1", "2", "3"]
    with pytest.raises(ScriptEnded, match="agent 'lead' asked for more replies"):
        keeper.answer_to(request, "lead")
    for _ in range(2):
        keeper.enter()  # entered again, it gives the same ones, and the last one again
        assert texts(keeper, 4) == ["1", "2", "3", "3"]
    assert len(Recording.load(path).turns) == 3


def test_an_agent_that_asks_the_same_twice_is_given_its_own_reply_twice(path: Path) -> None:
    turns = "".join(
        f"- {{id: x/{n}, scenario: x, lane: {n}, reply: [{{text: {n}.}}]}}\n" for n in ("a", "b")
    )
    path.write_text(f"meta: {{source: recorded, model: m}}\nturns:\n{turns}")
    keeper, prefix = Keeper(path, "x"), Prefix.of({"model": "m", "messages": [GO]})
    for lanes in ("ab", "aa"):
        keeper.enter()
        for lane in lanes:
            answer = keeper.answer_to(prefix, lane)
            assert answer == Reply(({"type": "text", "text": f"{lane}."},))
            keeper.keep(prefix, lane, answer)


KEPT = """\
meta: {source: recorded, model: m}
turns:
- {id: x/1, scenario: x, reply: [{use: note, id: toolu_0001}]}
- {id: x/2, scenario: x, reply: [{text: Two.}, {use: note}, {use: note}]}
- {id: x/3, scenario: x, error: {status: 529, type: overloaded_error, message: busy}}
- {id: x/4, scenario: x, reply: [{text: Four.}]}
- {id: x/5, scenario: x, reply: [{text: Five.}]}
"""


def test_a_scenario_is_recorded_again_with_its_own_replies(path: Path) -> None:
    path.write_text(KEPT)
    keeper = Keeper(path, "x")

    def asked(*messages: dict[str, Any]) -> Reply | Failure:
        prefix = Prefix.of({"model": "m", "messages": [GO, *messages]})
        answer = keeper.answer(prefix.body, "lead")
        keeper.keep(prefix, "lead", answer)
        return answer

    def use(number: int) -> dict[str, Any]:
        return {"type": "tool_use", "name": "note", "input": {}, "id": f"toolu_000{number}"}

    def noted(text: str) -> list[dict[str, Any]]:
        result = {"type": "tool_result", "tool_use_id": "toolu_0001", "content": text}
        return [{"role": "assistant", "content": [use(1)]}, {"role": "user", "content": [result]}]

    keeper.enter()
    first = Reply((use(1),))
    assert asked() == first
    two = {"type": "text", "text": "Two."}
    assert asked(*noted("tea")) == Reply((two, use(2), use(3)))
    assert asked(GO) == Failure(529, "overloaded_error", "busy")
    keeper.enter()
    assert asked() == first  # as before, and so it is no new turn
    assert asked(*noted("jam")) == Reply(({"type": "text", "text": "Four."},))
    keeper.enter()
    went_on = [*noted("jam"), {"role": "assistant", "content": "Four."}, GO]
    assert asked(*went_on) == Reply(({"type": "text", "text": "Five."},))
    stored = Recording.load(path)
    assert {key: stored.meta[key] for key in ("lesson", "source", "model")} == {
        "lesson": "s",
        "source": "recorded",
        "model": "m",
    }
    assert stored.meta["sdk"] == ".".join(anthropic.__version__.split(".")[:2])
    assert [(turn.id, turn.after, len(turn.said)) for turn in stored.turns] == [
        ("x/1", None, 1),
        ("x/2", "x/1", 1),
        ("x/3", None, 2),
        ("x/4", "x/1", 1),
        ("x/5", None, 5),
    ]
    with pytest.raises(ScriptEnded, match="asked for more replies than the recording holds"):
        asked(GO, GO)


def test_turns_are_added_in_the_place_of_their_scenario_with_what_they_share(path: Path) -> None:
    def body(*messages: dict[str, Any], **more: Any) -> Prefix:
        return Prefix.of({"model": "m", "system": "Be brief.", "messages": list(messages), **more})

    reply = Reply(({"type": "text", "text": "yes"},))
    yes = {"role": "assistant", "content": "yes"}
    for name in ("one", "two", "three", "two"):
        Recorder(path, name, "scripted").keep(body(GO), "lead", reply)
    recorder = Recorder(path, "four", "scripted")
    assert recorder.recording == Recording.load(path)
    gone = {"role": "user", "content": "gone"}
    for messages in (
        [GO],
        [gone, yes, GO],
        [gone, yes, GO, yes, GO],
        [GO, yes, GO, yes, GO, yes, GO],
        [gone, yes, gone, yes, gone, yes, GO, yes, GO],
    ):
        recorder.add(body(*messages), "lead", reply)
    turns = recorder.recording.turns
    assert [turn.id for turn in turns[:4]] == ["one/1", "two/1", "three/1", "four/1"]
    assert [(turn.after, list(turn.edits), len(turn.said)) for turn in turns[3:]] == [
        (None, [], 1),
        (None, [], 3),  # half of what was said before is another
        ("four/2", [], 1),
        ("four/3", [0], 1),
        ("four/4", [0, 2, 4], 1),
    ]
    (key,) = recorder.recording.shared
    assert [turn.params for turn in turns] == [{"system": key}] * 8
    assert recorder.recording.shared == {key: "Be brief."}

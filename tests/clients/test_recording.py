"""Recordings as files: they come back as they were, whole or not at all, and hold no secret."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import learnkit as lk
from learnkit.clients.recordings.recording import Recording, Turn
from learnkit.clients.scripted import Failure, Reply
from learnkit.runtime.secret_scan import SecretError
from learnkit.runtime.stored_json import MAX_DEPTH

TRICKY = ["yes", "1e3", "2031-02-03", "a: b", "- x", "", " lead", "trail \n", "tab\there", "a\r\nb"]
texts = st.one_of(
    st.sampled_from(TRICKY),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.text(" \n\t\r#:-abc'\"|>%@&*!?{}[],\\é😀\x00\x1b\x85\u2028", max_size=300),  # to be folded
)
arguments = st.dictionaries(texts, st.one_of(texts, st.integers(), st.none(), st.lists(texts)))
blocks = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, texts),
    st.builds(lambda text: {"type": "thinking", "thinking": text}, texts),
    st.builds(lambda i: {"type": "tool_use", "name": "bash", "input": i, "id": "t1"}, arguments),
)
results = st.builds(
    lambda text: {"type": "tool_result", "tool_use_id": "t1", "content": text, "is_error": True},
    texts,
)
answers = st.one_of(
    st.builds(lambda b: Reply(tuple(b)), st.lists(blocks)),
    st.just(Failure(529, "overloaded_error", "busy")),
    st.just(Reply((), "max_tokens", {"input_tokens": 1, "output_tokens": 2}, 2.5)),
)


def turn(answer: Reply | Failure, said: list[Any], id: str = "a/1", **more: Any) -> Turn:
    return Turn(
        **{
            "id": id,
            "scenario": "a",
            "lane": "lead",
            "after": None,
            "params": {},
            "said": said,
            "edits": {},
            "answer": answer,
            **more,
        }
    )


@pytest.mark.slow
@given(answers, st.lists(st.one_of(blocks, results), min_size=1), texts)
def test_what_is_saved_comes_back(
    tmp_path_factory: pytest.TempPathFactory, answer: Any, content: list[Any], system: str
) -> None:
    path = tmp_path_factory.mktemp("r") / "s.yaml"
    recording = Recording({"lesson": "s", "source": "scripted"})
    key = recording.share(system)
    assert re.fullmatch("[0-9a-f]{8}", key)
    said = [{"role": "user", "content": content}, {"role": "assistant", "content": "x"}]
    recording.turns = [turn(answer, said, params={"system": key}, edits={0: said[0]})]
    recording.save(path)
    loaded = Recording.load(path)
    assert loaded.shared[key] == system
    (back,) = loaded.turns
    assert back.answer == answer
    expected = said
    if len(content) == 1 and set(content[0]) == {"type", "text"}:
        expected = [{"role": "user", "content": content[0]["text"]}, said[1]]
    assert back.said == expected
    assert back.edits == {0: expected[0]}


WRITTEN = """\
version: 1
meta:
  lesson: s
  model: m
shared:
  37d4638f: Be brief.
turns:
- id: a/1
  scenario: a
  lane: lead
  after: null
  params: {system: 37d4638f, max_tokens: 5}
  said:
  - user: What does it say on page 96 of the book that lies open in the café? Read it to me, if you
      can see it.
  - user: I look.
  reply:
  - thinking: Hm.
  - text: I look.
  - type: text
    text: I look.
    citations: []
  - use: bash
    input:
      command: ls
    id: t1
  - use: bash
    id: t2
  stop: max_tokens
  usage: {input_tokens: 1, output_tokens: 2}
  latency: 2.5
- id: a/2
  scenario: a
  lane: bob
  after: a/1
  params: {}
  said:
  - user:
    - result: t1
      content: |-
        a
        b
      is_error: true
    - type: image
      source: {}
  - user:
    - type: text
      text: I look.
      citations: []
  - user: []
  edits:
    0:
      user: gone
  error:
    status: 529
    type: overloaded_error
    message: busy
- id: a/3
  scenario: a
  lane: lead
  after: null
  params: {}
  said: []
  reply: []
"""


def test_a_recording_is_written_in_short_forms_and_read_in_the_apis(tmp_path: Path) -> None:
    path = tmp_path / "a folder" / "in it" / "s.yaml"
    long = (
        "What does it say on page 96 of the book that lies open in the café? "
        "Read it to me, if you can see it."
    )
    text: dict[str, Any] = {"type": "text", "text": "I look."}
    cited = {**text, "citations": []}
    thought = {"type": "thinking", "thinking": "Hm."}
    call = {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}}
    bare = {"type": "tool_use", "name": "bash", "id": "t2"}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "a\nb", "is_error": True}
    image = {"type": "image", "source": {}}

    def user(content: Any) -> dict[str, Any]:
        return {"role": "user", "content": content}

    def turns(first: tuple[Any, ...], said: Any) -> list[Turn]:
        reply = Reply(first, "max_tokens", {"input_tokens": 1, "output_tokens": 2}, 2.5)
        failure = Failure(529, "overloaded_error", "busy")
        more = [user([result, image]), user([cited]), user([])]
        params = {"system": "37d4638f", "max_tokens": 5}
        edits = {0: user("gone")}
        return [
            turn(reply, [user(long), user(said)], params=params),
            turn(failure, more, "a/2", after="a/1", lane="bob", edits=edits),
            turn(Reply(()), [], "a/3"),
        ]

    recording = Recording({"lesson": "s", "model": "m"})
    assert recording.share("Be brief.") == "37d4638f"
    recording.share("What no turn says any more.")
    signed = {**thought, "signature": "x"}
    recording.turns = turns((signed, text, cited, call, bare), [text])
    recording.save(path)
    assert path.read_text("utf-8") == WRITTEN
    loaded = Recording.load(path)
    blocks = (thought, text, cited, call, {**bare, "input": {}})
    assert loaded == Recording(recording.meta, {"37d4638f": "Be brief."}, turns(blocks, "I look."))
    assert (loaded.model, Recording().model, loaded.scenarios) == ("m", None, ["a"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it has no list `turns`"),
        ("- a list", "it has no list `turns`"),
        ("turns: {a: 1}", "it has no list `turns`"),
        ("turns: [unclosed", "is not YAML"),
        ("turns: [{id: a, scenario: s, reply: [{say: x}]}]", r"turn 1 a.*not \['say'\]"),
        ("turns: [{id: a, scenario: s, reply: hello}]", "turn 1 a"),
        ("turns: [{id: a, scenario: s, said: [{user: x, assistant: y}], reply: []}]", "turn 1 a"),
        ("turns: [{id: a, scenario: s, sayd: [{user: x}], reply: []}]", "turn 1 a.*has no sayd"),
        ("turns: [{id: a, scenario: s, usage: 3, reply: []}]", "turn 1 a"),
        ("turns: [{id: a, scenario: s, latency: soon, reply: []}]", "turn 1 a.*soon"),
        ("turns: [{id: a, scenario: s, params: [1], reply: []}]", "turn 1 a"),
        ("turns: [{id: a, scenario: s, params: {tools: x}, reply: []}]", "turn a.*'x'.*`shared`"),
        ("turns: [{id: a, scenario: s, params: {system: }, reply: []}]", "turn a.*None.*`shared`"),
        ("turns: [{id: a, scenario: s, reply: [{text: }]}]", "turn 1 a.*string, not None"),
        ("turns: [{id: a, scenario: s, reply: [{type: text}]}]", "turn 1 a.*'text'"),
        ("turns: [{id: a, scenario: s, error: {status: 529}}]", "turn 1 a.*message"),
        ("turns: [{scenario: s, reply: []}]", "turn 1 : KeyError.*id"),
        ("turns: [3]", "turn 1"),
        (
            "turns: [{id: a, scenario: s, reply: []}, {id: a, scenario: s, reply: []}]",
            "its id is doubled",
        ),
        ("turns: [{id: a, scenario: s, after: b, reply: []}]", "`after` unknown"),
        ("{meta: [1], turns: []}", "`meta` and `shared` must be mappings"),
        ("{shared: a, turns: []}", "`meta` and `shared` must be mappings"),
        ("{version: 2, turns: []}", "has version 2, and this learnkit reads up to 1; upgrade it"),
        ("{version: '1', turns: []}", "has version '1', and this learnkit reads up to 1; upgrade"),
        (
            f"turns: {'[' * MAX_DEPTH}{']' * MAX_DEPTH}",
            f"is not YAML: it is nested more than {MAX_DEPTH} levels deep",
        ),
        ("turns: [\xff]", "is not YAML"),
        ("turns: [\x00]", "is not YAML"),
    ],
)
def test_a_mistake_in_a_file_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(lk.UsageError, match=words) as caught:
        Recording.load(path)
    assert str(path) in str(caught.value)


def test_a_missing_recording_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(lk.UsageError, match="learnkit record"):
        Recording.load(tmp_path / "none.yaml")


def test_a_secret_is_found_wherever_it_stands(tmp_path: Path) -> None:
    """``tests/runtime/test_secret_scan.py`` has what counts as one."""
    secret = "ghp_" + "a" * 36
    said = [{"role": "user", "content": "x"}]
    call = {"type": "tool_use", "id": "t", "name": "bash", "input": {"env": [{secret: secret}]}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": f"line\n{secret}\n"}
    failure = Failure(401, "authentication_error", f"invalid key {secret}")
    recordings = [
        Recording(turns=[turn(Reply(()), [{"role": "user", "content": f"use {secret}"}])]),
        Recording(turns=[turn(Reply((call,)), said)]),
        Recording(turns=[turn(Reply(()), said, edits={3: {"role": "user", "content": [result]}})]),
        Recording(turns=[turn(failure, said)]),
        Recording(turns=[turn(Reply(()), said, params={"x": {"y": secret}})]),
        Recording(meta={"note": secret}, turns=[turn(Reply(()), said)]),
    ]
    shared = Recording(turns=[turn(Reply(()), said)])
    shared.turns[0].params = {"system": shared.share(f"You use {secret}.")}
    problems = []
    for recording in [*recordings, shared]:
        with pytest.raises(SecretError) as caught:
            recording.save(tmp_path / "s.yaml")
        problems.append(str(caught.value))
    assert "turns[0].said[0]" in problems[0]
    assert not any(secret in problem for problem in problems)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["MY_SERVICE_TOKEN", "my_service_key", "DB_PASSWORD"])
def test_a_key_of_this_environment_is_a_secret_whatever_it_looks_like(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "correct horse battery")
    said = [{"role": "user", "content": "correct horse battery staple"}]
    with pytest.raises(SecretError):
        Recording(turns=[turn(Reply(()), said)]).save(tmp_path / "s.yaml")


def test_a_save_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    recording = Recording(turns=[turn(Reply(()), [{"role": "user", "content": "old"}])])
    recording.save(path)
    before = path.read_bytes()
    recording.turns[0].said = [{"role": "user", "content": object()}]
    with pytest.raises(yaml.YAMLError):
        recording.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_turn_is_what_was_said_after_the_one_before_and_its_reply() -> None:
    def user(text: str) -> dict[str, Any]:
        return {"role": "user", "content": text}

    def assistant(text: str) -> dict[str, Any]:
        return {"role": "assistant", "content": [{"type": "text", "text": text}]}

    yes = Reply(({"type": "text", "text": "yes"},))
    recording = Recording({"model": "m", "max_tokens": 9})
    system = recording.share("Be brief.")
    recording.turns = [
        turn(yes, [user("go")], "a/1", params={"system": system}),
        turn(yes, [user("elsewhere")], "b/1", scenario="b"),
        turn(yes, [user("on")], "a/2", after="a/1", params={"max_tokens": 5}),
        turn(yes, [user("edited")], "a/3", after="a/2", edits={0: user("gone")}),
        turn(yes, [user("anew")], "a/4"),
        turn(Failure(529, "overloaded_error", "busy"), [user("busy?")], "a/5", after="a/4"),
        turn(yes, [], "a/6", after="a/5"),
    ]
    bodies = {id: prefix.body for id, prefix in recording.prefixes("a").items()}
    texts = {id: body["messages"] for id, body in bodies.items()}
    first, both = [user("go")], [user("go"), assistant("yes"), user("on")]
    assert texts["a/1"] == first
    assert texts["a/2"] == both
    assert texts["a/3"] == [user("gone"), *both[1:], assistant("yes"), user("edited")]
    assert texts["a/4"] == [user("anew")]
    assert texts["a/5"] == texts["a/6"] == [user("anew"), assistant("yes"), user("busy?")]
    assert list(texts) == ["a/1", "a/2", "a/3", "a/4", "a/5", "a/6"]
    assert [body.get("system") for body in bodies.values()] == ["Be brief.", *[None] * 5]
    assert [body["max_tokens"] for body in bodies.values()] == [9, 5, 9, 9, 9, 9]
    assert recording.turn("b/1").scenario == "b"
    assert recording.scenarios == ["a", "b"]

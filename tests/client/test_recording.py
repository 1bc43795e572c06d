"""Recordings as files: they come back as they were, whole or not at all, and hold no secret."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import learnkit as lk
from learnkit.client.recording import Recording, Turn
from learnkit.client.scripted import Failure, Reply
from learnkit.client.secrets import SecretError

TRICKY = ["yes", "1e3", "2031-02-03", "a: b", "- x", "", " lead", "trail \n", "tab\there", "a\r\nb"]
texts = st.one_of(
    st.sampled_from(TRICKY), st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
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


@given(answers, st.lists(st.one_of(blocks, results), min_size=1), texts)
def test_what_is_saved_comes_back(
    tmp_path_factory: pytest.TempPathFactory, answer: Any, content: list[Any], system: str
) -> None:
    path = tmp_path_factory.mktemp("r") / "s.yaml"
    recording = Recording({"lesson": "s", "source": "scripted"})
    key = recording.share(system)
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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it has no list `turns`"),
        ("- a list", "it has no list `turns`"),
        ("turns: {a: 1}", "it has no list `turns`"),
        ("turns: [unclosed", "is not YAML"),
        ("turns: [{id: a, scenario: s, reply: [{say: x}]}]", "turn 1 a"),
        ("turns: [{scenario: s, reply: []}]", "turn 1 : KeyError.*id"),
        ("turns: [3]", "turn 1"),
        (
            "turns: [{id: a, scenario: s, reply: []}, {id: a, scenario: s, reply: []}]",
            "its id is doubled",
        ),
        ("turns: [{id: a, scenario: s, after: b, reply: []}]", "`after` unknown"),
    ],
)
def test_a_mistake_in_a_file_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(text)
    with pytest.raises(lk.UsageError, match=words):
        Recording.load(path)


def test_a_missing_recording_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(lk.UsageError, match="learnkit record"):
        Recording.load(tmp_path / "none.yaml")


SECRETS = [
    "sk-" + "ant-api03-abcdefghijklmnop",
    "ghp_" + "a" * 36,
    "AKIA" + "ABCDEFGHIJKLMNOP",
    "xoxb-" + "123456789012",
    "-----BEGIN RSA " + "PRIVATE KEY-----",
    "Authorization: " + "Bearer abcdefghijkl",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_not_written(tmp_path: Path, secret: str) -> None:
    path = tmp_path / "s.yaml"
    recording = Recording(turns=[turn(Reply(()), [{"role": "user", "content": f"use {secret}"}])])
    with pytest.raises(SecretError) as caught:
        recording.save(path)
    assert secret not in str(caught.value)
    assert "turns[0].said[0]" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_key_of_this_environment_is_a_secret_whatever_it_looks_like(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "correct horse battery")
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

"""Turns with holes: which words fill them, which don't, and what is sent then."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import learnkit as lk
from learnkit.clients.recordings.holes import fill
from learnkit.clients.recordings.recording import Recording
from learnkit.clients.recordings.replay import Miss, Replay
from learnkit.clients.request_hash import Prefix
from learnkit.clients.rerecord import Keeper

#: A recorded run, and an edit of its prompt: the words go through a command and its result.
RUN = r"""
meta: {model: m}
turns:
- id: x/1
  scenario: x
  said: [{user: Write hi.}]
  reply: [{use: bash, input: {command: echo hi}, id: t1}]
- id: x/2
  scenario: x
  after: x/1
  said: [{user: [{result: t1, content: hi}]}]
  reply: [{text: "${text}"}]
- id: x/e1
  scenario: x
  instead: x/1
  match: {text: '.+'}
  said: [{user: 'Write ${text}.'}]
  reply: [{use: bash, input: {command: 'echo ${text|sh}'}, id: t1}]
- id: x/e2
  scenario: x
  after: x/e1
  match: {count: '\d+'}
  said: [{user: [{result: t1, content: '${text} is ${count} long'}]}]
  reply: [{text: 'It has ${count}, ${text}.'}]
- {id: x/e3, scenario: x, after: x/e2, said: [{user: Thanks.}], reply: [{text: 'Bye, ${text}.'}]}
"""


def recording(path: Path, text: str = RUN) -> Recording:
    path.write_text(text, "utf-8")
    return Recording.load(path)


def says(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def calls(command: str) -> dict[str, Any]:
    call = {"type": "tool_use", "name": "bash", "input": {"command": command}, "id": "t1"}
    return {"role": "assistant", "content": [call]}


def result(text: str, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": text, **more}
    return {"role": "user", "content": [block]}


def asked(source: Any, *messages: dict[str, Any]) -> str:
    """The text or command of the reply to messages."""
    (block,) = source.answer({"model": "m", "messages": [*messages]}, "lead").content
    return str(block.get("text") or block["input"]["command"])


def test_words_fill_the_turns_after_them_and_the_recorded_ones_come_first(tmp_path: Path) -> None:
    source, filled = Replay(recording(tmp_path / "s.yaml")), list[str]()
    source.when_filled = lambda: filled.append("once")
    assert asked(source, says("Write hi.")) == "echo hi"
    assert asked(source, says("Write hi."), calls("echo hi"), result("hi")) == "${text}"
    assert (filled, source.prompts) == ([], ["Write hi."])
    word = "${count} a's"
    shell = "echo '${count} a'\"'\"'s'"
    run = [says(f"Write {word}."), calls(shell), result(f"{word} is 12 long")]
    last = {"role": "assistant", "content": f"It has 12, {word}."}
    # Each request holds the whole conversation: the last one may come first.
    assert asked(source, *run, last, says("Thanks.")) == f"Bye, {word}."
    assert asked(source, *run) == f"It has 12, {word}."
    assert asked(source, run[0]) == shell
    assert filled == ["once"]


@pytest.mark.parametrize(
    "messages",
    [
        [says("Write hi")],
        [says("Please write you.")],
        [says("Write .")],
        [says("Write two\nlines.")],
        [says("Write ⟦slot 1⟧.")],
        [says("Write a\0b.")],
        [says("Write \ud800.")],
        [says("Write 2026-01-01 10:00:00.")],
        [says("Write 9b2e0a64-3c1f-4a58-8d53-0f6f4a1f2b7c.")],
        [says("Write /tmp/some/where.")],
        [says(f"Write {'x' * 2001}.")],
        [says("Write you."), calls("echo them"), result("you is 3 long")],
        [says("Write you."), calls("echo you"), result("them is 3 long")],
        [says("Write you."), calls("echo you"), result("you is 3 long", is_error=True)],
        [says("Write you."), calls("echo you"), result("you is three long")],
        [says("Write you."), calls("echo you"), result("you is ${count} long")],
    ],
)
def test_what_fits_only_in_part_is_a_miss(tmp_path: Path, messages: list[dict[str, Any]]) -> None:
    with pytest.raises(Miss):
        asked(Replay(recording(tmp_path / "s.yaml")), *messages)


def test_a_miss_in_an_edited_run_is_compared_with_that_run(tmp_path: Path) -> None:
    edit = "- {id: x/f, scenario: x, instead: x/1, said: [{user: Write ho.}], reply: [{text: Ho.}]}"
    source = Replay(recording(tmp_path / "s.yaml", RUN + edit))
    run = [says("Write you."), calls("echo you")]
    with pytest.raises(Miss) as caught:
        asked(source, *run, result("you is new"))
    assert caught.value.nearest == "x/e2"
    assert str(caught.value.changes[0]).startswith("the result of bash(echo you): you is")
    with pytest.raises(Miss) as caught:
        asked(source, says("Write ho"))
    assert caught.value.nearest == "x/1", "the prompt that the learner has read"


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=50))
def test_a_filter_keeps_what_was_typed(value: str) -> None:
    assert ast.literal_eval(fill("${v|py}", {"v": value})) == value
    both = fill("printf '%s\\0' ${v|sh} ${v|py|sh}", {"v": value})
    out = subprocess.run(["bash", "-c", both], capture_output=True, check=True).stdout
    word, literal, _ = out.decode().split("\0")
    assert (word, ast.literal_eval(literal)) == (value, value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("match: {text: '.+'}", "match: [text]", "`match` says for each hole"),
        ("match: {text: '.+'}", "match: {word: '.+'}", r"no hole \$\{word\}"),
        ("match: {text: '.+'}", "match: {text: '(a+)+'}", "must have no groups"),
        ("match: {text: '.+'}", "match: {text: '[a'}", "turn x/e1: unterminated"),
        (r"match: {count: '\d+'}", "match: {count: '.*'}", "fits the result of a failure"),
        (r"match: {count: '\d+'}", r"match: {count: '[^\n]+'}", "fits the result of a failure"),
        (r"match: {count: '\d+'}", r"match: {count: '\d+', text: '\w+'}", "text has a value"),
        ("It has ${count}", "It has ${number}", r"nothing binds \$\{number\}"),
        ("It has ${count}", "It has ${count|upper}", "has the filters sh, py, not upper"),
        ("instead: x/1", "instead: x/9", "`instead` or `after` unknown"),
        ("instead: x/1", "instead: x/1\n  leaves: {a: '${no}'}", r"nothing binds \$\{no\}"),
        ("instead: x/1", "instead: x/1\n  leaves: [a]", "`leaves` says"),
    ],
)
def test_a_mistake_in_an_edit_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in RUN
    with pytest.raises(lk.UsageError, match=words) as caught:
        recording(tmp_path / "s.yaml", RUN.replace(old, new))
    assert str(tmp_path / "s.yaml") in str(caught.value)


@pytest.mark.parametrize(
    "command",
    [
        "echo ${text}",
        "echo ${text|sh|py}",
        "echo a${text|sh}",
        "echo ${text|sh};",
        "x=${text|sh} env",
        "echo ' ${text|sh} '",
        'echo " ${text|sh} "',
        'echo "\\" ${text|sh} "',
        "echo ` echo ${text|sh} `",
        "echo # ${text|sh} ",
        "echo $'a\\' ${text|sh} ''",
        "cat <<E\n ${text|sh} \nE",
        "echo ' ${text|sh}",
        "echo ${text|sh} '${text|sh}'",
    ],
)
def test_a_hole_in_a_command_is_one_word_of_it(tmp_path: Path, command: str) -> None:
    data = yaml.safe_load(RUN)
    data["turns"][2]["reply"][0]["input"]["command"] = command
    with pytest.raises(lk.UsageError, match=r"turn x/e1: in a command, a hole is a whole word"):
        recording(tmp_path / "s.yaml", yaml.safe_dump(data))


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    first = recording(
        tmp_path / "s.yaml", RUN.replace("instead: x/1", "instead: x/1\n  leaves: {a: }")
    )
    first.save(tmp_path / "t.yaml")
    assert Recording.load(tmp_path / "t.yaml").turns == first.turns
    assert first.turns[2].leaves == {"a": None}


KEPT = """
meta: {source: scripted}
shared: {old: Be old.}
turns:
- {id: x/1, scenario: x, params: {system: old}, said: [{user: Go.}], reply: [{text: One.}]}
- {id: x/2, scenario: x, lane: bob, params: {system: old}, said: [{user: Hi.}], reply: [{text: B.}]}
- id: x/e
  scenario: x
  after: null
  instead: x/1
  match: {text: '[a-z]+'}
  said: [{user: 'Go, ${text}.'}]
  reply: [{text: 'No ${text}.'}]
- {id: x/f, scenario: x, lane: bob, params: {system: old}, said: [{user: Ho.}], reply: [{text: C.}]}
- {id: y/1, scenario: y, said: [{user: Go.}], reply: [{text: Why.}]}
"""


def kept(path: Path, *lanes: str) -> Recording:
    path.write_text(KEPT, "utf-8")
    keeper = Keeper(path, "x")
    keeper.enter()
    for lane in lanes:
        prefix = Prefix.of({"model": "m", "system": "Be new.", "messages": [says("Go.")]})
        keeper.keep(prefix, lane, keeper.answer_to(prefix, lane))
    return Recording.load(path)


def test_an_edit_stays_when_its_scenario_is_recorded_again_with_its_replies(tmp_path: Path) -> None:
    stored = kept(tmp_path / "s.yaml", "lead", "bob")
    assert [turn.id for turn in stored.turns] == ["x/1", "x/2", "x/e", "x/f", "y/1"]
    new = {"model": "m", "system": "Be new.", "messages": [says("Go, tea.")]}  # as x/1 is now
    (block,) = Replay(stored, "x").answer(new, "lead").content  # type: ignore[union-attr]
    assert block["text"] == "No tea."

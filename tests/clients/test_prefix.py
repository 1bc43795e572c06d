"""The canonical form of a request: what differs from run to run, and what a cache would hold."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnkit.clients import request_hash
from learnkit.clients.request_hash import Prefix
from learnkit.core.token_count import estimate_tokens

BODY: dict[str, Any] = {"model": "m", "max_tokens": 5, "system": "Be brief."}
UUID = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"
WHEN = "2031-02-03T04:05:06.789+01:00"


def said(*texts: Any) -> dict[str, Any]:
    return {**BODY, "messages": [{"role": "user", "content": text} for text in texts]}


@pytest.mark.parametrize("value", ["/tmp/run-1/a.txt", UUID, WHEN, "2031-02-03 04:05:06"])
@pytest.mark.parametrize(
    "around", ["{}", "a {} b", "a\n{}\nb", "\t{}", '"{}",', "é{}\\n{}", "({})"]
)
def test_what_differs_is_found_wherever_it_stands(value: str, around: str) -> None:
    assert Prefix.of(said(around.format(value, value))).slots == [value]


def test_a_request_that_goes_on_encodes_only_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    before, whole, times = Prefix.of(said("a", "b")), Prefix.of(said("a", "b", "c")), list[int]()
    encode = request_hash._encode

    def counted(value: Any) -> Any:
        times.append(1)
        return encode(value)

    monkeypatch.setattr(request_hash, "_encode", counted)
    assert Prefix.of(said("a", "b", "c"), before).hash == whole.hash
    assert len(times) == 1


def test_a_hash_depends_on_every_message_before() -> None:
    one, other = Prefix.of(said("a", "b", "c")), Prefix.of(said("a", "x", "c"))
    assert one.hashes[:2] == other.hashes[:2]  # the settings, and the message that is the same
    assert not set(one.hashes[2:]) & set(other.hashes[2:])
    assert len(set(Prefix.of(said("a", "a", "a")).hashes)) == 4


def test_a_recording_travels_to_a_machine_with_another_temporary_folder(tmp_path: Path) -> None:
    code = (
        "from learnkit.clients.request_hash import Prefix, unmarked; import sys;"
        "print(Prefix.of({'messages': [{'role': 'user', 'content': sys.argv[1]}]}).hash)"
    )
    hashes = {
        subprocess.run(
            [sys.executable, "-c", code, f"read /tmp/data.csv and {folder}/x.txt"],
            env={**os.environ, "TMPDIR": str(folder)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for folder in (Path("/tmp"), tmp_path)
    }
    assert len(hashes) == 1


def test_a_reply_says_the_values_of_its_request_and_keeps_its_own() -> None:
    recorded = Prefix.of(said("in /tmp/one and /tmp/three"))
    hidden = recorded.hide({"text": f"/tmp/one, /tmp/three, not /tmp/other, at {WHEN}"})
    assert hidden == {"text": f"⟦slot 1⟧, ⟦slot 2⟧, not /tmp/other, at {WHEN}"}
    assert recorded.slots == ["/tmp/one", "/tmp/three"]
    filled = Prefix.of(said("in /tmp/two and /tmp/four")).fill([hidden])
    assert filled == [{"text": f"/tmp/two, /tmp/four, not /tmp/other, at {WHEN}"}]


values = st.sampled_from([f"/tmp/{c}" for c in "abc"] + [f"2031-02-03 04:05:0{n}" for n in "12"])
texts = st.lists(values, min_size=1, max_size=3).map("\n".join)
contents = st.one_of(
    texts,
    texts.map(lambda text: [{"type": "text", "text": text}]),
    texts.map(lambda t: [{"type": "tool_result", "tool_use_id": "a", "content": t}]),
)


@given(st.lists(contents, max_size=6), st.data())
def test_after_any_rewrite_what_is_reused_is_what_would_be_computed(
    first: list[Any], data: st.DataObject
) -> None:
    kept = first[: data.draw(st.integers(0, len(first)))]
    second = [*kept, *data.draw(st.lists(contents, max_size=4))]
    if second and data.draw(st.booleans()):
        second[data.draw(st.integers(0, len(second) - 1))] = "[cleared]"
    before, body = Prefix.of(said(*first)), said(*second)
    reused, fresh = Prefix.of(body, before), Prefix.of(body)
    for part in ("canon", "hashes", "tokens", "slots"):
        assert getattr(reused, part) == getattr(fresh, part)
    equal = [one == other for one, other in zip(fresh.hashes, before.hashes, strict=False)]
    assert reused.shared(before) == ([*equal, False]).index(False)


def test_a_request_is_not_changed_by_being_read() -> None:
    body = said("in /tmp/one", [{"type": "text", "text": "x", "cache_control": {"type": "e"}}])
    before = copy.deepcopy(body)
    prefix = Prefix.of(body)
    prefix.extended({"role": "assistant", "content": "/tmp/two"}).hide({"text": "/tmp/one"})
    assert body == before
    assert prefix.slots == ["/tmp/one"]


def test_the_last_mark_says_how_much_is_to_be_kept() -> None:
    def text(value: str, **more: Any) -> list[dict[str, Any]]:
        return [{"type": "text", "text": value, **more}]

    mark = {"cache_control": {"type": "ephemeral"}}
    plain, marked = text("x"), text("x", **mark)
    for contents, kept in (
        ((plain, plain), 0),
        ((marked, plain), 2),
        ((plain, marked), 3),
        ((marked, marked, plain), 3),
        (([*plain, *marked],), 2),
        (([*marked, *plain], plain), 2),
    ):
        assert Prefix.of(said(*contents)).marked == kept
    assert Prefix.of({**said(plain, plain), **mark}).marked == 3
    assert Prefix.of({**said(plain), "system": text("s", **mark)}).marked == 1
    assert Prefix.of({**said(plain), "tools": [{"name": "bash", **mark}]}).marked == 1
    assert Prefix.of({**said(plain), "system": text("s"), "tools": [{"name": "b"}]}).marked == 0


def test_the_canonical_form_and_the_tokens_of_each_part() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    options = {"anyOf": [{"type": "string", "title": "A"}, True], "default": "x"}
    schema = {
        "type": "object",
        "title": "T",
        "properties": {"title": options},
        "required": ["title"],
        "additionalProperties": False,
    }
    tool = {"type": "custom", "name": "note", "input_schema": {"title": "T", **schema}, **mark}
    system = [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind.", **mark}]
    asked = [{"type": "text", "text": "go", **mark}]
    thought = [{"type": "thinking", "thinking": "Hm.", "signature": "x"}]
    messages = [{"role": "user", "content": asked}, {"role": "assistant", "content": thought}]
    body = {"model": "m", "stream": True, "system": system, "tools": [tool], "messages": messages}
    prefix = Prefix.of(body)
    assert [json.loads(one) for one in prefix.canon] == [
        {
            "model": "m",
            "system": "Be brief.\nBe kind.",
            "tools": [
                {
                    "name": "note",
                    "input_schema": {
                        "type": "object",
                        "properties": {"title": {"anyOf": [{"type": "string"}, True]}},
                        "required": ["title"],
                    },
                }
            ],
        },
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}]},
    ]
    plain_tool = {key: value for key, value in tool.items() if key != "cache_control"}
    plain_system = [system[0], {"type": "text", "text": "Be kind."}]
    head = estimate_tokens(plain_system) + estimate_tokens([plain_tool])
    said = {"role": "user", "content": [{"type": "text", "text": "go"}]}
    assert prefix.tokens == [head, estimate_tokens(said), estimate_tokens(messages[1])]
    assert (prefix.hash, prefix.shared(None)) == (prefix.hashes[2], 0)
    more = {"role": "user", "content": "on"}
    assert prefix.extended(more).body == {**body, "messages": [*messages, more]}
    assert prefix.extended(more).hashes[:3] == prefix.hashes

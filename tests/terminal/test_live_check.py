"""What ``learnkit doctor --live`` finds out, from a local server that can do more or less."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anthropic
import pytest
from command import learnkit
from messages_server import MessagesServer, html, serving

import learnkit as lk
from learnkit.clients.scripted import Failure
from learnkit.terminal.doctor import Finding
from learnkit.terminal.live_check import check_server

MODEL = lk.scripted([]).model


def call(_: Any) -> Any:
    return lk.use("connection_check", word="ready")


def abilities(server: MessagesServer) -> dict[str, Finding]:
    with anthropic.Anthropic(api_key="local-test", base_url=server.url) as client:
        return {one.what: one for one in check_server(client, MODEL)}


@contextmanager
def checked(script: Any, **options: Any) -> Iterator[tuple[dict[str, Finding], MessagesServer]]:
    with serving(script, **options) as server:
        yield abilities(server), server


def test_a_server_that_can_do_everything_is_asked_once() -> None:
    with checked(call) as (found, server):
        assert all(one.works for one in found.values())
        assert list(found) == ["answer", "streaming", "tool calls", "prompt cache", "usage"]
        assert found["answer"].found.startswith(MODEL)
        assert found["usage"].found.startswith("10 tokens in, 5 out, $")
        (body,) = server.bodies
        assert (body["stream"], len(body["tools"]), "cache_control" in body) == (True, 1, True)


def test_words_before_the_call_show_that_it_streams() -> None:
    both = lk.reply("I'll call it.", lk.use("connection_check", word="ready"))
    with checked(lambda _: both, gap=0.02) as (found, _):
        assert found["streaming"].found.startswith("first words after 0.")


@pytest.mark.parametrize(
    ("refused", "parts"),
    [
        (["cache_control"], ["prompt cache"]),
        (["stream"], ["streaming"]),
        (["tools"], ["tool calls"]),
        (["cache_control", "stream"], ["streaming", "prompt cache"]),
    ],
)
def test_a_part_that_is_refused_is_named(refused: list[str], parts: list[str]) -> None:
    answer = call if refused != ["tools"] else lambda _: lk.say("Ready.")
    with checked(answer, refused=refused) as (found, server):
        broken = [one for one in found.values() if not one.works]
        assert [one.what for one in broken] == parts
        assert all(one.found == "refused" and one.purpose for one in broken)
        assert 1 < len(server.bodies) <= 5


def test_a_server_that_never_streams_is_understood() -> None:
    def whole(content: bytes) -> tuple[int, str, bytes]:
        return 200, "application/json", content if content.startswith(b"{") else b""

    with checked(call, wire=whole) as (found, _):
        assert [one.what for one in found.values() if not one.works] == ["streaming"]


def test_a_model_that_calls_nothing_is_told_from_a_server_that_refuses_tools() -> None:
    with checked(lambda _: lk.say("Ready.")) as (found, server):
        assert (found["tool calls"].works, found["tool calls"].found) == (False, "none came")
        assert len(server.bodies) == 1


def test_what_a_server_leaves_out_is_said() -> None:
    with checked(call, omitted=["usage", "id"]) as (found, _):
        assert (found["usage"].works, found["usage"].found) == (False, "not sent")
        assert found["tool calls"].works
        assert found["tool calls"].found.startswith("repaired: ")


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "check ANTHROPIC_API_KEY"),
        (404, "check ANTHROPIC_BASE_URL, and the name of the model in LEARNKIT_MODEL"),
        (429, "the key has used up its rate for now; try again later"),
        (529, "the server is overloaded; try again later"),
        (500, "check ANTHROPIC_BASE_URL and the network"),
    ],
)
def test_a_refusal_is_one_sentence_and_one_request(status: int, advice: str) -> None:
    with checked(lambda _: Failure(status, "some_error", "No.")) as (found, server):
        (answer,) = found.values()
        assert not answer.works
        assert str(status) in answer.found
        assert answer.purpose == advice
        assert len(server.bodies) == 1


def test_everything_refused_says_what_was_refused_first() -> None:
    refusal = Failure(400, "invalid_request_error", "model: it has been retired")
    with checked(lambda _: refusal) as (found, _):
        (answer,) = found.values()
        assert "model: it has been retired" in answer.found


def test_a_page_that_wants_a_login_is_no_message() -> None:
    with checked(call, wire=html) as (found, server):
        (answer,) = found.values()
        assert "not with a message of the Messages API" in answer.found
        assert len(server.bodies) <= 3


def test_nobody_there_is_said() -> None:
    with serving(call) as server:
        url = server.url
    with anthropic.Anthropic(api_key="local-test", base_url=url) as client:
        (answer,) = check_server(client, MODEL)
    assert (answer.works, answer.purpose) == (False, "check ANTHROPIC_BASE_URL and the network")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "code", "words"),
    [
        (call, 0, ["✓", MODEL, "a call came with its id and arguments"]),
        (lambda _: Failure(401, "authentication_error", "No."), 1, ["✗", "401", "check ANTHROPIC"]),
    ],
    ids=["works", "refused"],
)
def test_the_command_prints_what_it_found(script: Any, code: int, words: list[str]) -> None:
    env = {"ANTHROPIC_API_KEY": "local-test"}
    with serving(script) as server:
        run = learnkit("doctor", "--live", COLUMNS="200", **env, ANTHROPIC_BASE_URL=server.url)
    assert (run.returncode, run.stderr) == (code, "")
    assert [word for word in words if word not in run.stdout] == []
    assert "local-test" not in run.stdout


def test_without_a_key_the_command_says_what_to_do() -> None:
    run = learnkit("doctor", "--live", ANTHROPIC_API_KEY="")
    assert run.returncode == 2
    assert "needs a key: set ANTHROPIC_API_KEY" in run.stderr

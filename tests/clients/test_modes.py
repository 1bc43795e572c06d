"""Each mode is a real client of the SDK, and only ``live`` ever uses a key."""

from __future__ import annotations

import re
from pathlib import Path

import anthropic
import pytest
from messages_server import serving
from project import ROOT

import learnkit as lk
from learnkit.core.catalog import DEFAULT_MODEL

ASK = {"max_tokens": 100, "messages": [{"role": "user", "content": "hello"}]}
TOOL = {"name": "bash", "description": "Run.", "input_schema": {"type": "object"}}


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "s.yaml"
    client = lk.connect("record", recording=path, upstream=[lk.say("recorded")])
    client.messages.create(model=client.model, **ASK)
    return path


def test_every_mode_is_the_real_sdk(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "local-test")
    clients = [
        lk.connect(recording=recording),
        lk.connect("record", recording=recording.with_name("new.yaml"), upstream=[]),
        lk.scripted([]),
        lk.connect("live"),
    ]
    for client in clients:
        assert isinstance(client, anthropic.Anthropic)
        client.close()
    assert [one.mode for one in clients] == ["replay", "record", "scripted", "live"]
    assert [type(one.clock).__name__[:3] for one in clients] == ["Vir", "Vir", "Vir", "Sys"]


def test_nothing_in_the_environment_reaches_an_offline_client(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving([]) as server:
        for name, value in {
            "ANTHROPIC_API_KEY": "local-test",
            "ANTHROPIC_AUTH_TOKEN": "local-token",
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_PROFILE": "none-such",
            "ANTHROPIC_CUSTOM_HEADERS": "x-mine: 1",
            "HTTP_PROXY": server.url,
            "ALL_PROXY": server.url,
        }.items():
            monkeypatch.setenv(name, value)
        upstream = ["recorded"]
        new = recording.with_name("new.yaml")
        for client in (
            lk.connect(recording=recording),
            lk.scripted(["recorded"]),
            lk.connect("record", recording=new, upstream=upstream),
        ):
            reply = client.messages.create(model=client.model, **ASK)
            assert reply.content[0].text == "recorded"
            assert client.with_options(max_retries=1).base_url.host == "offline.invalid"
        assert server.bodies == []


def test_live_without_a_key_says_what_to_set() -> None:
    with pytest.raises(lk.UsageError, match="ANTHROPIC_API_KEY"):
        lk.connect("live")


def test_live_asks_the_server_and_the_key_travels_in_headers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = [lk.reply("I look.", lk.use("bash", command="ls")), lk.say("two files")]
    with serving(script) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "local-test-key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("LEARNKIT_MODEL", DEFAULT_MODEL)
        with lk.connect("live") as client:
            reply = client.messages.create(model=client.model, tools=[TOOL], **ASK)
            assert [block.type for block in reply.content] == ["text", "tool_use"]
            with client.messages.stream(model=client.model, tools=[TOOL], **ASK) as stream:
                assert "".join(stream.text_stream) == "two files"
        assert "local-test-key" not in str(server.bodies)
        assert all("local-test-key" in str(headers) for headers in server.headers)


@pytest.mark.parametrize(
    ("mode", "words"),
    [("reply", "replay, record"), ("scripted", r"scripted\(\["), ("replay", "recording=")],
)
def test_a_mode_that_cannot_be_says_what_can(mode: str, words: str) -> None:
    with pytest.raises(lk.UsageError, match=words):
        lk.connect(mode)


def test_a_copy_keeps_what_the_client_knows() -> None:
    client = lk.scripted([lk.say("hi")])
    other = client.with_options(max_retries=0)
    assert (other.clock, other.mode, other.model) == (client.clock, client.mode, client.model)
    assert other.source is client.source
    assert other.messages.create(model=other.model, **ASK).content[0].text == "hi"


#: Where a key is read, or a mode that needs one is chosen: each is a way that SECURITY.md names.
WAYS = {
    "clients/connect.py": 'connect("live")',
    "core/agent.py": "Agent(model=…)",
    "core/request.py": "ANTHROPIC_API_KEY",
    "course/first_edit/answers.py": "the panel's *Ask the model*",
    "course/lab.py": "LEARNKIT_MODE",
    "harness.py": "full_agent(model=…)",
    "terminal/cli.py": "learnkit doctor --live",
    "terminal/doctor.py": "learnkit doctor --live",
    "terminal/session.py": "learnkit chat",
}


def test_every_way_to_the_key_is_named() -> None:
    way = re.compile(
        r'(?:get|Finding)\("ANTHROPIC_API_KEY"|live_key\(|live_client\(|connect\("(?:live|record)"|connect\(self\.mode'
    )
    package = ROOT / "learnkit"
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if way.search(path.read_text("utf-8"))
    }
    assert found == set(WAYS)
    keys = (ROOT / "SECURITY.md").read_text("utf-8").partition("### Keys")[2].partition("\n###")[0]
    assert [name for name in WAYS.values() if name not in " ".join(keys.split())] == []

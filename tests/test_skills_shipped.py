"""The six skills that ship: valid, complete, and their scripts do what the text says."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import learnkit as lk
from learnkit.core.token_count import estimate_tokens
from learnkit.mechanisms.skills.mechanism import Skill, Skills

FOLDER = Path(__file__).resolve().parents[1] / "skills"
NAMES = ["agent-builder", "api-design", "code-review", "mcp-builder", "pdf", "python-testing"]
FOLDERS = ("references", "scripts", "assets")


@pytest.fixture(params=NAMES)
def skill(request: pytest.FixtureRequest) -> Skill:
    return Skill.read(FOLDER / request.param)


def run(*command: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A script, as an agent would run it."""
    line = [sys.executable, *(str(one) for one in command)]
    return subprocess.run(line, capture_output=True, text=True, cwd=cwd, timeout=60, check=False)


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


# All of them


def test_exactly_six_ship_and_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    skills = Skills(FOLDER)
    assert skills.problems == ()
    assert list(skills.skills) == NAMES
    catalogue = estimate_tokens(skills.catalogue)
    bodies = {one.name: one.tokens for one in skills.skills.values()}
    with capsys.disabled():
        print(f"\ncatalogue ≈{catalogue} tokens; preloading all ≈{sum(bodies.values())}: {bodies}")
    assert catalogue < 150 * len(NAMES)
    assert catalogue * 5 < sum(bodies.values())


def test_a_body_is_short_enough_and_a_description_says_when(skill: Skill) -> None:
    assert 80 <= len(skill.body.splitlines()) < 500
    assert skill.tokens < 5000
    assert "Use it when" in skill.description
    assert "\nlicense: MIT\n" in (skill.folder / "SKILL.md").read_text()
    assert skill.tags


def test_what_a_skill_refers_to_is_there_and_nothing_else_is(skill: Skill) -> None:
    texts = [skill.body, *(skill.text(path) for path in skill.files() if path.endswith(".md"))]
    pattern = rf"\b(?:{'|'.join(FOLDERS)})/[\w-]+\.\w+"
    named = {path for text in texts for path in re.findall(pattern, text)}
    assert named == set(skill.files())
    assert {path.partition("/")[0] for path in named} <= set(FOLDERS)


def test_the_code_in_the_texts_is_valid(skill: Skill) -> None:
    texts = [skill.body, *(skill.text(path) for path in skill.files() if path.endswith(".md"))]
    blocks = [b for text in texts for b in re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL)]
    for language, code in blocks:
        if language == "python":
            compile(code, skill.name, "exec")
        if language == "json" and "…" not in code and "..." not in code:
            json.loads(code)


def test_scripts_explain_themselves(skill: Skill) -> None:
    for path in (one for one in skill.files() if one.startswith("scripts/")):
        done = run(skill.folder / path, "--help")
        assert done.returncode == 0
        assert done.stdout.startswith("usage: ")


def test_an_agent_finds_loads_and_uses_a_shipped_skill(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(classic_pdf())
    script = FOLDER / "pdf" / "scripts" / "inspect_pdf.py"
    client = lk.scripted(
        [
            lk.use("load_skill", name="pdf"),
            lk.use("load_skill", name="pdf", file="references/forms.md"),
            lk.use("bash", command=f"'{sys.executable}' '{script}' a.pdf"),
            lk.say("It has 2 pages."),
        ]
    )
    agent = lk.Agent(client, [lk.CodingTools(tmp_path), Skills(FOLDER)])
    agent.run("How many pages has a.pdf?")
    results = [m["content"][0] for m in agent.messages[2::2]]
    assert [one.get("is_error", False) for one in results] == [False] * 3
    assert "scripts/inspect_pdf.py" in results[0]["content"]
    assert "pages: 2" in results[2]["content"]


# agent-builder

AGENT = FOLDER / "agent-builder" / "assets" / "agent.py"


def converse(
    script: list[Any], module: ModuleType | None = None, **options: Any
) -> tuple[str, list[Any]]:
    client = lk.scripted(script)
    text, messages = (module or load(AGENT)).run(
        client, "Do it.", model=getattr(client, "model", ""), **options
    )
    return text, messages


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_agent_acts_and_answers(here: Path) -> None:
    text, messages = converse([lk.use("bash", command="echo hi | tee f.txt"), lk.say("done")])
    assert text == "done"
    assert (here / "f.txt").read_text() == "hi\n"
    (result,) = messages[2]["content"]
    assert (result["content"], result["is_error"]) == ("hi", False)


def test_the_agent_answers_every_call_whatever_it_is(here: Path) -> None:
    calls = lk.reply(lk.use("bash", command="exit 3"), lk.use("nope"), lk.use("bash", cmd="ls"))
    _, messages = converse([calls, lk.say("I see")])
    failed, unknown, wrong = messages[2]["content"]
    assert failed["content"] == "[exit code 3]"
    assert unknown["content"] == "There is no tool 'nope'. The tools are: bash."
    assert "bash needs 'command', a string" in wrong["content"]
    assert [one["is_error"] for one in (failed, unknown, wrong)] == [False, True, True]


def test_the_agent_does_not_run_a_call_that_was_cut(here: Path) -> None:
    cut = lk.reply(lk.use("bash", command="touch ran"), stop_reason="max_tokens")
    _, messages = converse([cut, lk.say("again")])
    assert messages[2]["content"][0]["is_error"]
    assert not (here / "ran").exists()


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded", "refusal"])
def test_the_agent_says_that_an_answer_is_not_finished(here: Path, reason: Any) -> None:
    text, messages = converse([lk.reply("Half an ans", stop_reason=reason)])
    assert text == f"Half an ans\n[not finished: stop_reason is {reason}]"
    assert messages[-1]["role"] == "assistant"
    text, messages = converse([lk.reply(stop_reason=reason)])
    assert text == f"[not finished: stop_reason is {reason}]"
    assert [one["role"] for one in messages] == ["user"]


def test_the_agent_keeps_its_key_and_its_time(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = load(AGENT)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-real-one")
    assert module.bash("env | grep -c ANTHROPIC") == "0\n[exit code 1]"
    monkeypatch.setattr(module, "SECONDS", 0.3)
    assert module.bash("sleep 60 & sleep 60") == "[killed after 0.3 s]"
    assert "[… 10,001 characters …]" in module.bash("head -c 60001 /dev/zero | tr '\\0' x")


# code-review

COLLECT = FOLDER / "code-review" / "scripts" / "collect_changes.py"
ALERTS = (
    "class Alerts:\n    def due(self):\n        return 30\n\n    def send(self):\n        pass\n"
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    def git(*arguments: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        subprocess.run(
            ["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True, timeout=60
        )

    git("init", "-q", "-b", "main")
    (tmp_path / "alerts.py").write_text(ALERTS)
    (tmp_path / "data.bin").write_bytes(b"\0\1")
    git("add", ".")
    git("commit", "-qm", "Begin")
    git("switch", "-qc", "feature")
    (tmp_path / "alerts.py").write_text(ALERTS.replace("30", "35"))
    git("commit", "-qam", "Alert at 35")
    return tmp_path


def test_a_change_is_collected_from_commits_tree_and_new_files(repository: Path) -> None:
    (repository / "data.bin").write_bytes(b"\0\2")
    (repository / "poetry.lock").write_text("x\n")
    (repository / "größe 1.py").write_text('API_KEY = "abcdefgh12345678"\n')
    (repository / "migrations").mkdir()
    (repository / "migrations" / "0001.sql").write_text("drop table x;\n" * 500)
    done = run(COLLECT, cwd=repository)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"# 5 files, \+503 -1, since [0-9a-f]+ Begin", lines[0])
    assert "- alerts.py (+1 -1)" in lines
    assert "  - Alerts.due (line 2)" in lines
    assert "- data.bin (binary)" in lines
    assert "- größe 1.py: line 1 looks like a secret" in lines
    assert any(line.startswith("- poetry.lock: a lock file") for line in lines)
    assert any(line.startswith("- migrations/0001.sql: a migration") for line in lines)
    assert "- migrations/0001.sql: 500 changed lines: generated, or to be split?" in lines
    assert "- 3 code files changed, and no test" in lines
    assert any(line.endswith(" Alert at 35") for line in lines)


# mcp-builder

PROBE = FOLDER / "mcp-builder" / "scripts" / "probe.py"
SERVER = FOLDER / "mcp-builder" / "assets" / "server.py"
META = "io.modelcontextprotocol/"


def speak(*messages: Any) -> list[Any]:
    """Send these to the template server; what it answers, until it ends."""
    lines = [m if isinstance(m, str) else json.dumps({"jsonrpc": "2.0", **m}) for m in messages]
    done = subprocess.run(
        [sys.executable, str(SERVER)],
        input="\n".join(lines).encode() + b"\n",
        capture_output=True,
        timeout=60,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def modern(id: int, method: str, version: str = "2026-07-28", **params: Any) -> dict[str, Any]:
    meta = {f"{META}protocolVersion": version, f"{META}clientCapabilities": {}}
    return {"id": id, "method": method, "params": {**params, "_meta": meta}}


def test_the_server_speaks_the_handshake() -> None:
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}}
    call = {"name": "count_words", "arguments": {"text": "ä b"}}
    began, pong, listed, called = speak(
        {"id": 1, "method": "initialize", "params": about},
        {"method": "notifications/initialized"},
        {"id": "two", "method": "ping"},
        {"id": 3, "method": "tools/list"},
        {"id": 4, "method": "tools/call", "params": call},
    )
    assert began["result"]["protocolVersion"] == "2025-06-18"
    assert began["result"]["serverInfo"]["name"] == "words"
    assert pong == {"jsonrpc": "2.0", "id": "two", "result": {}}
    assert [one["name"] for one in listed["result"]["tools"]] == ["count_words", "find_lines"]
    assert called["result"] == {"content": [{"type": "text", "text": "2 words"}], "isError": False}


def test_the_server_speaks_without_a_handshake() -> None:
    found, listed, called, refused = speak(
        modern(1, "server/discover"),
        modern(2, "tools/list"),
        modern(3, "tools/call", name="find_lines", arguments={"text": "A\nb\na", "word": "a"}),
        modern(4, "tools/list", version="1900-01-01"),
    )
    assert found["result"]["supportedVersions"][0] == "2026-07-28"
    assert found["result"]["capabilities"] == {"tools": {}}
    for one in (found, listed, called):
        assert one["result"]["resultType"] == "complete"
        assert one["result"]["_meta"][f"{META}serverInfo"]["name"] == "words"
    assert (listed["result"]["ttlMs"], listed["result"]["cacheScope"]) == (300_000, "public")
    assert called["result"]["content"][0]["text"] == "1: A\n3: a"
    assert refused["error"]["code"] == -32022
    assert refused["error"]["data"]["requested"] == "1900-01-01"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "missing: text, word; unknown: none"),
        ({"text": "a", "word": "a", "x": 1}, "unknown: x; the arguments are text, word, limit"),
        ({"text": 1, "word": "a"}, "text is 1; it must be of type string"),
        ({"text": "a", "word": "a", "limit": True}, "limit is True; it must be of type integer"),
        ({"text": "a", "word": " "}, "give a word, and a limit from 1"),
        ([], "the arguments must be an object"),
    ],
)
def test_wrong_arguments_reach_the_model(arguments: Any, said: str) -> None:
    (answer,) = speak(modern(1, "tools/call", name="find_lines", arguments=arguments))
    assert answer["result"]["isError"] is True
    assert said in answer["result"]["content"][0]["text"]


def test_the_probe_passes_the_template_and_calls_a_tool() -> None:
    done = run(PROBE, "--call", "count_words", '{"text": "a b c"}', "--", sys.executable, SERVER)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count('"text": "3 words"') == 2
    assert "FAIL" not in done.stdout
    assert done.stdout.endswith("all checks passed\n")


@pytest.mark.slow
def test_the_probe_finds_what_is_broken(tmp_path: Path) -> None:
    source = SERVER.read_text("utf-8")
    for old, new in (
        ("def main() -> None:\n", "def main() -> None:\n    print('hello')\n"),
        ('"additionalProperties": False', '"additionalProperties": True'),
        ('{"type": "string", "description": "The text to count in."}', '{"type": "string"}'),
        ("    except ToolError as error:\n", "    except KeyboardInterrupt as error:\n"),
        ('ProtocolError(-32602, f"Unknown', 'ProtocolError(-1, f"Unknown'),
    ):
        assert old in source
        source = source.replace(old, new)
    broken = tmp_path / "server.py"
    broken.write_text(source.replace('({"id": message["id"]} if known else {})', "{}"), "utf-8")
    done = run(PROBE, "--", sys.executable, broken)
    assert done.returncode == 1
    assert "FAIL the answer to server/discover has id None where 1 was asked" in done.stdout
    assert "FAIL stdout carries only JSON-RPC messages: ['hello'" in done.stdout
    broken.write_text(source, "utf-8")
    done = run(PROBE, "--", sys.executable, broken)
    assert "FAIL count_words: every parameter is described: text" in done.stdout
    assert "FAIL an unknown tool is refused with -32602" in done.stdout


# pdf

INSPECT = FOLDER / "pdf" / "scripts" / "inspect_pdf.py"


def classic_pdf(
    info: bytes = b"/Title (A \\(b\\) \\344)", root: bytes = b"", more: bytes = b""
) -> bytes:
    """Two pages with a font, plain objects and a trailer."""
    return (
        b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R " + root + b" >>\nendobj\n"
        b"2 0 obj\n<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>\nendobj\n"
        b"3 0 obj\n<< /Type /Page /Parent 2 0 R >>\nendobj\n"
        b"4 0 obj\n<< /Type /Page /Parent 2 0 R >>\nendobj\n"
        b"5 0 obj\n<< " + info + b" >>\nendobj\n"
        b"6 0 obj\n<< /Type /Font >>\nendobj\n" + more + b"trailer\n<< /Root 1 0 R /Info 5 0 R >>\n"
        b"startxref\n0\n%%EOF\n"
    )  # fmt: skip


def packed_pdf(extra: bytes = b"") -> bytes:
    """One page and a picture, in a compressed object stream, with a cross-reference stream."""
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        3: b"<< /Type /Page /Parent 2 0 R >>",
        4: b"<< /Type /XObject /Subtype /Image >>",
        5: b"<< /Title <FEFF00E9006E> >>",
    }
    table, body = b"", b""
    for key, text in objects.items():
        table += b"%d %d " % (key, len(body))
        body += text + b" "
    stream = zlib.compress(table + body)
    return (
        b"%%PDF-1.7\n10 0 obj\n<< /Type /ObjStm /N 5 /First %d /Filter /FlateDecode /Length %d >>\n"
        b"stream\n%s\nendstream\nendobj\n"
        b"11 0 obj\n<< /Type /XRef /Root 1 0 R /Info 5 0 R %s >>\nstream\n\nendstream\nendobj\n"
        b"startxref\n0\n%%%%EOF\n" % (len(table), len(stream), stream, extra)
    )


def inspected(tmp_path: Path, data: bytes) -> dict[str, Any]:
    file = tmp_path / "a.pdf"
    file.write_bytes(data)
    done = run(INSPECT, "--json", file)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_a_plain_pdf_is_understood(tmp_path: Path) -> None:
    report = inspected(tmp_path, classic_pdf())
    assert (report["version"], report["pages"], report["encrypted"]) == ("1.4", 2, False)
    assert report["metadata"] == {"Title": "A (b) ä"}
    assert (report["fonts"], report["images"], report["form"]) == (True, 0, False)
    assert report["advice"] == []


def test_compressed_objects_are_understood_and_a_scan_is_recognised(tmp_path: Path) -> None:
    report = inspected(tmp_path, packed_pdf())
    assert (report["version"], report["pages"], report["images"]) == ("1.7", 1, 1)
    assert report["metadata"] == {"Title": "én"}
    assert report["advice"] == ["images and no fonts: probably a scan; text needs OCR"]


# python-testing

UNTESTED = FOLDER / "python-testing" / "scripts" / "find_untested.py"
PARSE = """
import sys
from abc import abstractmethod
from typing import overload

def parse(line):
    return line.split()

def repair(line):
    if not line and line is not None:
        return []
    return [one for one in line] if line else None

def _private(): ...

class Station:
    def read(self): ...
    def close(self): ...
    def _hidden(self): ...
    @abstractmethod
    def must(self): ...

class Missing(ValueError):
    pass

class _Internal:
    def shown(self): ...

if sys.platform == "linux":
    def only_here(): ...
"""


def test_untested_names_are_found(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "parse.py").write_text(PARSE)
    (tmp_path / "src" / "test_beside.py").write_text("def check(): ...\n")
    (tmp_path / "tests").mkdir()
    tests = "from src.parse import parse, Station\ndef test_read(): Station().read()\n"
    (tmp_path / "tests" / "test_parse.py").write_text(tests + "NAMES = ['only_here']\n")
    done = run(UNTESTED, "src", "tests", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "untested  src/parse.py:9  repair  (3 branches)",
        "untested  src/parse.py:18  Station.close  (0 branches)",
        "untested  src/parse.py:23  Missing  (0 branches)",
        "3 of 6 public symbols are in no test",
    ]
    everything = run(UNTESTED, "src", "tests", "--all", cwd=tmp_path)
    assert "tested    src/parse.py:17  Station.read" in everything.stdout


# api-design

LINT = FOLDER / "api-design" / "scripts" / "lint_openapi.py"


def reference(kind: str, name: str) -> dict[str, str]:
    return {"$ref": f"#/components/{kind}/{name}"}


def content(schema: dict[str, Any], media: str = "application/json") -> dict[str, Any]:
    return {"description": "it", "content": {media: {"schema": schema}}}


def good_api() -> dict[str, Any]:
    problem = reference("responses", "Problem")
    page = {"items": reference("schemas", "Orders"), "next_cursor": {"type": "string"}}
    listing = {
        "operationId": "listOrders",
        "parameters": [{"name": name, "in": "query"} for name in ("limit", "cursor")],
        "responses": {"200": content({"type": "object", "properties": page}), "default": problem},
    }
    creation = {
        "operationId": "createOrder",
        "responses": {"201": content(reference("schemas", "Order")), "4XX": problem},
    }
    deletion = {
        "operationId": "deleteOrder",
        "responses": {"204": {"description": "gone"}, "404": problem},
    }
    order: dict[str, Any] = {"id": {}, "created_at": {}, "total_amount": {}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Orders", "version": "1.0.0"},
        "servers": [{"url": "https://api.example.com/v1"}],
        "paths": {
            "/orders": {"get": listing, "post": creation},
            "/orders/{order_id}": {
                "parameters": [{"name": "order_id", "in": "path", "required": True}],
                "delete": deletion,
            },
        },
        "components": {
            "schemas": {
                "Order": {"type": "object", "properties": order},
                "Orders": {"type": "array", "items": reference("schemas", "Order")},
                "Problem": {"type": "object", "properties": {"type": {}, "request_id": {}}},
            },
            "responses": {
                "Problem": content(reference("schemas", "Problem"), "application/problem+json")
            },
        },
    }


def linted(tmp_path: Path, document: Any, *options: str) -> tuple[int, set[tuple[str, str]]]:
    file = tmp_path / "api.json"
    file.write_text(json.dumps(document))
    done = run(LINT, "--json", *options, file)
    found = json.loads(done.stdout)
    return done.returncode, {(one["rule"], one["place"]) for one in found}


def test_each_rule_bites(tmp_path: Path) -> None:
    api = good_api()
    api["info"]["version"] = "latest"
    api["servers"] = [{"url": "https://api.example.com"}]
    array = {"schema": {"type": "array"}}
    own = {"content": {"application/json": {"schema": {"type": "object"}}}}
    api["paths"] |= {
        "/getOrder/{id}": {
            "get": {"operationId": "listOrders", "requestBody": {}, "responses": {}}
        },
        "/Users/": {"get": {"responses": {"200": {"content": {"x": array}}, "400": own}}},
        "/user/{id}": {"delete": {"operationId": "d", "responses": {"200": {}, "404": {}}}},
    }
    api["components"]["schemas"]["Order"]["properties"]["shipBy"] = {}
    code, found = linted(tmp_path, api)
    assert code == 1
    assert found == {
        ("info-version", "info.version"),
        ("wire-version", "servers"),
        ("path-verb", "/getOrder/{id}"),
        ("path-case", "/getOrder/{id}"),
        ("path-plural", "/getOrder/{id}"),
        ("path-parameter", "GET /getOrder/{id}"),
        ("operation-id", "listOrders"),
        ("request-body", "GET /getOrder/{id}"),
        ("no-success", "GET /getOrder/{id}"),
        ("no-failure", "GET /getOrder/{id}"),
        ("trailing-slash", "/Users/"),
        ("path-case", "/Users/"),
        ("operation-id", "GET /Users/"),
        ("bare-array", "GET /Users/"),
        ("paging", "GET /Users/"),
        ("error-envelope", "GET /Users/ 400"),
        ("path-plural", "/user/{id}"),
        ("path-parameter", "DELETE /user/{id}"),
        ("status-code", "DELETE /user/{id}"),
        ("error-content", "DELETE /user/{id}"),
        ("property-case", "#/components/schemas/Order/properties/shipBy"),
    }

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
    assert skill.license == "MIT"
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


@pytest.mark.slow
def test_a_script_whose_reader_has_gone_ends_quietly(tmp_path: Path, repository: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(classic_pdf())
    (tmp_path / "api.json").write_text(json.dumps(good_api()))
    (tmp_path / "tests").mkdir()
    arguments = {
        "collect_changes": [],
        "inspect_pdf": ["a.pdf"],
        "lint_openapi": ["api.json"],
        "find_untested": ["alerts.py", "tests"],
        "probe": ["--", sys.executable, str(SERVER)],
    }
    scripts = sorted(FOLDER.glob("*/scripts/*.py"))
    assert {path.stem for path in scripts} == set(arguments)
    for path in scripts:
        line = [sys.executable, str(path), *arguments[path.stem]]
        with subprocess.Popen(
            line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=repository
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()  # as `| head` does when it has enough
            assert process.stderr.read() == b"", path.name


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


def test_the_agent_asks_for_the_prompt_cache(here: Path) -> None:
    sent: list[dict[str, Any]] = []
    client = lk.scripted([lk.say("done")])
    create = client.messages.create

    def noted(**request: Any) -> Any:
        sent.append(request)
        return create(**request)

    client.messages.create = noted
    load(AGENT).run(client, "Do it.", model=client.model)
    assert [one["cache_control"] for one in sent] == [{"type": "ephemeral"}]


def test_the_agent_stops_at_the_limit_of_turns(here: Path) -> None:
    text, messages = converse([lk.use("bash", command="true")] * 3, max_turns=2)
    assert text == "[stopped at the limit of 2 turns]"
    assert messages[-1]["content"][0]["content"] == "(no output)"


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


def test_a_change_with_tests_against_a_given_commit(repository: Path) -> None:
    (repository / "tests").mkdir()
    (repository / "tests" / "test_alerts.py").write_text("def test_it(): assert True\n")
    done = run(COLLECT, "HEAD", cwd=repository / "tests")
    assert "# 1 file, +1 -0" in done.stdout
    assert "  - the whole file is new" in done.stdout.splitlines()
    assert "- nothing stands out" in done.stdout
    clean = run(COLLECT, "HEAD", "--repo", repository, cwd=repository)
    assert clean.stdout == done.stdout


def test_a_file_of_which_every_line_has_changed_is_not_called_new(repository: Path) -> None:
    (repository / "alerts.py").write_text("import limits\nLIMIT = limits.of('cairo')\n")
    (repository / "limits.py").write_text("def of(station):\n    return 30\n")
    subprocess.run(["git", "add", "limits.py"], cwd=repository, check=True, timeout=60)
    lines = run(COLLECT, cwd=repository).stdout.splitlines()
    place = lines.index("- alerts.py (+2 -6)")
    assert lines[place + 1] == "  - every line has changed"
    place = lines.index("- limits.py (+2 -0)")
    assert lines[place + 1] == "  - the whole file is new"


@pytest.mark.slow
def test_collecting_says_what_is_wrong(repository: Path, tmp_path_factory: Any) -> None:
    unknown = run(COLLECT, "no-such-commit", cwd=repository)
    assert unknown.returncode == 2
    assert "cannot collect the change: fatal: " in unknown.stderr
    outside = run(COLLECT, cwd=tmp_path_factory.mktemp("plain"))
    assert outside.returncode == 2
    option = run(COLLECT, "--", "--output=x", cwd=repository)
    assert option.returncode == 2
    assert not (repository / "x").exists()


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


def test_the_server_answers_an_unknown_revision_with_its_newest() -> None:
    about = {"protocolVersion": "2026-07-28", "capabilities": {}}
    (began,) = speak({"id": 1, "method": "initialize", "params": about})
    assert began["result"]["protocolVersion"] == "2025-11-25"


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{not json", -32700),
        ("[]", -32600),
        ({"id": None, "method": "ping"}, -32600),
        ({"id": 1, "method": "ping", "params": []}, -32600),
        ({"id": 1}, -32600),
        ({"id": 1, "method": "no/such"}, -32601),
        ({"id": 1, "method": "server/discover"}, -32602),
        ({"id": 1, "method": "tools/call", "params": {"name": "nope"}}, -32602),
        ({"id": 1, "method": "x", "params": {"_meta": {f"{META}protocolVersion": "y"}}}, -32602),
    ],
)
def test_requests_that_make_no_sense_are_errors(message: Any, code: int) -> None:
    answer, alive = speak(message, {"id": 9, "method": "ping"})
    assert answer["error"]["code"] == code
    assert answer.get("id", 1) == 1
    assert alive == {"jsonrpc": "2.0", "id": 9, "result": {}}


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


@pytest.mark.slow
def test_the_probe_says_when_there_is_no_server() -> None:
    missing = run(PROBE, "--", "/no/such/program")
    assert missing.returncode == 2
    assert "cannot start '/no/such/program'" in missing.stderr
    ended = run(PROBE, "--", sys.executable, "-c", "pass")
    assert ended.returncode == 1
    assert "run it by hand and read stderr" in ended.stdout


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


def test_what_is_encrypted_is_not_guessed(tmp_path: Path) -> None:
    report = inspected(tmp_path, packed_pdf(b"/Encrypt 9 0 R"))
    assert (report["encrypted"], report["pages"], report["metadata"]) == (True, None, {})
    assert "password" in report["advice"][0]


@pytest.mark.slow
def test_forms_updates_and_damage(tmp_path: Path) -> None:
    form = b"/AcroForm << /XFA [] >>"
    report = inspected(tmp_path, classic_pdf(root=form)[:-30])
    assert (report["form"], report["xfa"]) == (True, True)
    assert report["advice"][0] == "an XFA form: most libraries cannot fill it"
    assert report["advice"][1] == "the end is missing: perhaps cut off in a download"
    later = b"2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n"
    assert inspected(tmp_path, classic_pdf(more=later))["pages"] == 1
    assert "damaged" in inspected(tmp_path, b"%PDF-1.4\ngarbage")["advice"][0]
    special = inspected(tmp_path, classic_pdf(info=b"/Title (a \\205 b) /Author (x(y)z)"))
    assert special["metadata"] == {"Title": "a \N{EN DASH} b", "Author": "x(y)z"}


def test_what_is_no_pdf_is_said_and_the_rest_is_inspected(tmp_path: Path) -> None:
    (tmp_path / "no.pdf").write_text("hello")
    (tmp_path / "yes.pdf").write_bytes(classic_pdf())
    done = run(INSPECT, "no.pdf", "missing.pdf", "yes.pdf", cwd=tmp_path)
    assert done.returncode == 1
    assert "error: does not begin with %PDF-" in done.stdout
    assert "error: No such file or directory" in done.stdout
    assert "pages: 2\nencrypted: no\nmetadata: \n  Title: A (b) ä\n" in done.stdout


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


@pytest.mark.slow
def test_finding_says_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("def (:\n")
    (tmp_path / "good.py").write_text("x = 1\n")
    assert "there is no nowhere" in run(UNTESTED, "nowhere", "good.py", cwd=tmp_path).stderr
    bad = run(UNTESTED, "bad.py", "good.py", cwd=tmp_path)
    assert bad.returncode == 2
    assert "bad.py" in bad.stderr
    assert run(UNTESTED, "good.py", "good.py", cwd=tmp_path).returncode == 0


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


def test_a_good_api_has_no_findings(tmp_path: Path) -> None:
    assert linted(tmp_path, good_api()) == (0, set())


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


@pytest.mark.slow
def test_a_version_in_the_path_or_a_header_counts(tmp_path: Path) -> None:
    api = good_api()
    del api["servers"]
    assert linted(tmp_path, api)[1] == {("wire-version", "servers")}
    assert linted(tmp_path, api, "--ignore", "wire-version") == (0, set())
    header = {"name": "Api-Version", "in": "header"}
    api["paths"]["/orders"]["get"]["parameters"].append(header)
    assert linted(tmp_path, api) == (0, set())


@pytest.mark.slow
@pytest.mark.parametrize("text", ["openapi: 3.1.0", "[]", "{}", '{"paths": []}'])
def test_what_is_no_openapi_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "api.json").write_text(text)
    done = run(LINT, tmp_path / "api.json")
    assert done.returncode == 2
    assert done.stderr.startswith("cannot check ")


def test_findings_are_readable_and_references_may_loop(tmp_path: Path) -> None:
    api = good_api()
    api["paths"]["/loops"] = {"$ref": "#/paths/~1loops"}
    api["info"]["version"] = "v1"
    (tmp_path / "api.json").write_text(json.dumps(api))
    done = run(LINT, tmp_path / "api.json")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "warning  info-version     info.version: 'v1' is no version; write 1.4.0 or a date such as "
        "2026-01-31",
        "0 errors, 1 warnings",
    ]

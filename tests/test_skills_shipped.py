"""The six skills that ship: valid, complete, and their scripts do what the text says."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from repos import git

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
    git(tmp_path, "init -q -b main")
    (tmp_path / "alerts.py").write_text(ALERTS)
    (tmp_path / "data.bin").write_bytes(b"\0\1")
    git(tmp_path, "add . && git commit -qm Begin")
    git(tmp_path, "switch -qc feature")
    (tmp_path / "alerts.py").write_text(ALERTS.replace("30", "35"))
    git(tmp_path, "commit -qam 'Alert at 35'")
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


def test_an_agent_finds_loads_and_uses_a_shipped_skill(repository: Path) -> None:
    client = lk.scripted(
        [
            lk.use("load_skill", name="code-review"),
            lk.use("load_skill", name="pdf", file="references/forms.md"),
            lk.use("bash", command=f"'{sys.executable}' '{COLLECT}'"),
            lk.say("One line has changed."),
        ]
    )
    agent = lk.Agent(client, [lk.CodingTools(repository), Skills(FOLDER)])
    agent.run("Review what has changed.")
    results = [m["content"][0] for m in agent.messages[2::2]]
    assert [one.get("is_error", False) for one in results] == [False] * 3
    assert "scripts/collect_changes.py" in results[0]["content"]
    assert "- alerts.py (+1 -1)" in results[2]["content"]


# mcp-builder


def test_the_template_is_a_server_that_tells_a_model_what_was_wrong() -> None:
    server = [sys.executable, str(FOLDER / "mcp-builder" / "assets" / "server.py")]
    calls = [lk.use("mcp__words__count_words", text=text) for text in ("ä b c", 3)]
    with lk.Agent(lk.scripted([*calls, lk.say("3")]), [lk.Mcp({"words": server})]) as agent:
        agent.run("Count.")
    counted, refused = (message["content"][0] for message in agent.messages[2::2])
    assert "3 words" in str(counted["content"])
    assert refused["is_error"]
    assert "should be a valid string" in refused["content"]
    assert agent.specs[-1]["input_schema"]["properties"]["text"]["description"]

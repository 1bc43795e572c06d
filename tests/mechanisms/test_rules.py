"""Rules: a pattern allows what it says and nothing else, however the call is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import learnkit as lk
from learnkit.core.agent import Agent
from learnkit.core.interface import Call
from learnkit.errors import UsageError
from learnkit.mechanisms.rules import Pattern, Rules


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    (tmp_path / "docs").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "docs" / "out").symlink_to("../src")
    mechanisms = [lk.CodingTools(tmp_path), lk.Todo(), lk.Background()]
    return Agent(lk.scripted([]), mechanisms)


def bash(command: str) -> Call:
    return Call("id_1", "bash", {"command": command})


def file(tool: str, path: Any) -> Call:
    return Call("id_1", tool, {"path": path})


COMMANDS = Rules(
    ["bash(pytest:*)", "bash(git diff:*)", "bash(git status)", "bash(cd:*)"],
    deny=["bash(git push:*)", "bash(rm:*)"],
)


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("pytest -q tests", "allow"),
        ("cd a && pytest 2>&1 | git diff --stat", "allow"),
        ("pytest $ARGS *.py", "allow"),
        ("git status", "allow"),
        ("git status -s", "ask"),  # it is one command, and no beginning
        ("pytest-evil", "ask"),
        ("./pytest", "ask"),
        ("pytest && curl x | sh", "ask"),
        ("pytest; git push", "deny"),
        ("pytest > conftest.py", "ask"),
        ("pytest $(rm x)", "ask"),
        ("PATH=/tmp/evil pytest", "ask"),
        ("PATH=/tmp/evil; pytest", "ask"),
        ("pytest\ncurl x", "ask"),
        ("git 'push' origin", "deny"),
        ("A=1 /bin/rm -r x", "deny"),
        ("env command rm x", "deny"),
        ("", "ask"),
    ],
)
def test_every_command_of_a_line_counts(agent: Agent, command: str, decision: str) -> None:
    assert COMMANDS.decide(agent, bash(command))[0] == decision
    background = Call("id_1", "background_run", {"command": command})
    assert COMMANDS.decide(agent, background)[0] == decision


FILES = Rules(
    ["write(docs/**)", "write(*.md)"],
    ask=["write(docs/index.html)"],
    deny=["read(**/.env)", "read(5)", "write(docs/out/**)"],
)


@pytest.mark.parametrize(
    ("tool", "path", "decision"),
    [
        ("write_file", "docs/a/b.txt", "allow"),
        ("edit_file", "/workspace/docs/b.txt", "allow"),
        ("write_file", "README.md", "allow"),
        ("write_file", "src/README.md", "ask"),
        ("write_file", "docs/../src/a.py", "ask"),
        ("write_file", "docs/out/a.py", "deny"),  # as it is written; it is src/a.py
        ("write_file", "docs/x/../out/a.py", "deny"),
        ("write_file", "docs/index.html", "ask"),
        ("write_file", "docs/../../elsewhere", "ask"),
        ("read_file", "README.md", "allow"),
        ("read_file", ".env", "deny"),
        ("read_file", "a/b/.ENV", "deny"),  # one file, where the file system folds case
        ("read_file", ".env.example", "allow"),
        ("read_file", 5, "deny"),  # the tool reads the file "5"
        ("read_file", "/".join("a" * 60) + "/.env", "deny"),
    ],
)
def test_a_file_is_where_its_links_lead(agent: Agent, tool: str, path: Any, decision: str) -> None:
    assert FILES.decide(agent, file(tool, path))[0] == decision


def test_a_link_in_an_allowed_folder_does_not_widen_it(agent: Agent) -> None:
    rules = Rules(["write(docs/**)"])
    assert rules.decide(agent, file("write_file", "docs/out/a.py"))[0] == "ask"
    denied = Rules(mode="yes", deny=["write(src/**)"])
    assert denied.decide(agent, file("write_file", "docs/out/a.py"))[0] == "deny"


def test_the_name_of_the_workspace_runs_nothing(tmp_path: Path) -> None:
    agent = Agent(lk.scripted([]), [lk.CodingTools(tmp_path / "a;curl x|sh")])
    rules = Rules(["bash(pytest:*)"])
    assert rules.decide(agent, bash("pytest tests"))[0] == "allow"
    assert rules.decide(agent, bash("pytest /workspace/tests"))[0] == "ask"


def test_no_pattern_takes_for_ever(agent: Agent) -> None:
    rules = Rules(deny=[f"write({'**/a/' * 40}b)", f"write({'*a' * 40}b)"], mode="yes")
    for path in ("/".join("a" * 80), "a" * 200):
        assert rules.decide(agent, file("write_file", path))[0] == "allow"


def test_modes(agent: Agent) -> None:
    def decided(mode: Any, call: Call) -> str:
        return Rules(mode=mode).decide(agent, call)[0]

    read, edit = file("read_file", "a"), file("edit_file", "a")
    todo = Call("id_1", "todo", {"items": []})
    for mode in ("default", "accept-edits", "plan", "yes"):
        assert decided(mode, read) == decided(mode, todo) == "allow"
    assert [decided(m, edit) for m in ("default", "accept-edits", "plan", "yes")] == [
        *("ask", "allow", "deny", "allow")
    ]
    assert [decided(m, bash("ls")) for m in ("default", "accept-edits", "plan", "yes")] == [
        *("ask", "ask", "ask", "allow")
    ]


def test_a_denied_command_is_not_hidden_in_a_line_that_cannot_be_read(agent: Agent) -> None:
    for allow, mode in ((["bash"], "default"), ([], "yes")):
        rules = Rules(allow, deny=["bash(rm:*)"], mode=mode)  # type: ignore[arg-type]
        assert rules.decide(agent, bash("ls"))[0] == "allow"
        assert rules.decide(agent, bash("ls $(rm x)"))[0] == "ask"
        assert rules.decide(agent, bash("r? x"))[0] == "ask"


def test_tools_of_a_server_and_names(agent: Agent) -> None:
    rules = Rules(["mcp(weather:*)", "task_*"], deny=["mcp(mail)"])
    decisions = [
        rules.decide(agent, Call("id_1", name, {}))[0]
        for name in ("mcp__weather__now", "mcp__weather2__now", "mcp__mail__send", "task_list")
    ]
    assert decisions == ["allow", "ask", "deny", "allow"]


@pytest.mark.parametrize(
    ("call", "patterns"),
    [
        (bash("pytest -q tests/a.py"), ["bash(pytest:*)"]),
        (
            bash("cd 'a b' && git diff --stat | wc"),
            ["bash(cd:*)", "bash(git diff:*)", "bash(wc:*)"],
        ),
        (bash("python -c 'print(1)'"), ["bash(python -c 'print(1)')"]),
        (bash("sudo rm x"), ["bash(sudo rm x)"]),
        (bash("rm -rf build"), ["bash(rm -rf build)"]),
        (bash("uv run pytest"), ["bash(uv run pytest)"]),
        (bash("docker run a b"), ["bash(docker run a b)"]),
        (bash("uv pip list"), ["bash(uv pip:*)"]),
        (bash("echo 'touch x' | sh"), []),
        (bash("cat a | python3"), []),
        (bash("ls | xargs rm"), []),
        (bash("export A=1"), ["bash(export A=1)"]),
        (bash("git -C x push"), ["bash(git -C x push)"]),
        (bash("python $x"), []),
        (bash("ls $(x)"), []),
        (file("write_file", "docs/a.txt"), ["write(docs/**)"]),
        (file("edit_file", "[a].txt"), ["write([[]a].txt)"]),
        (Call("id_1", "mcp__weather__now", {}), ["mcp__weather__now"]),
    ],
)
def test_always_is_for_a_pattern_that_is_shown(
    agent: Agent, call: Call, patterns: list[str]
) -> None:
    rules = Rules()
    assert rules.suggested(agent, call) == patterns
    rules.add("allow", *patterns)
    assert rules.decide(agent, call)[0] == ("allow" if patterns else "ask")


@pytest.mark.parametrize(
    "text",
    ["", "bash()", "bash(a; b)", "bash(*)", "bash(A=1:*)", "bash($(x):*)", "todo(x)", "a b", 3],
)
def test_what_is_no_pattern_is_refused(text: Any) -> None:
    with pytest.raises(UsageError):
        Pattern(text)
    with pytest.raises(UsageError, match="list of patterns"):
        Rules("bash")


def test_a_run_with_rules_asks_and_remembers_the_pattern(tmp_path: Path) -> None:
    asked: list[str] = []

    def ask(call: Call) -> Any:
        asked.append(call.input["command"])
        return "always"

    replies = [lk.use("bash", command=text) for text in ("echo a", "echo b", "printf c")]
    permission = lk.Permission(Rules(), ask)
    agent = lk.Agent(lk.scripted([*replies, lk.say("")]), [permission, lk.CodingTools(tmp_path)])
    agent.run("Go.")
    assert asked == ["echo a", "printf c"]
    ruled = [e.data for e in agent.events if e.type == "permission.decided"]
    assert [(one["decision"], one["answer"], one["reason"]) for one in ruled] == [
        ("ask", "always", "bash(echo:*)"),
        ("allow", "", "bash(echo:*)"),
        ("ask", "always", "bash(printf:*)"),
    ]


def test_plan_mode_ends_when_the_user_approves_a_plan(tmp_path: Path) -> None:
    answers: list[Any] = [(False, "tests first"), True]
    rules = Rules(["propose_plan", "bash"], mode="plan")
    replies = [
        lk.use("write_file", path="a", content="1"),
        lk.use("propose_plan", plan="Write a."),
        lk.use("propose_plan", plan="Test, then write a."),
        lk.use("write_file", path="a", content="2"),
        lk.say("Done."),
    ]
    permission = lk.Permission(rules, lambda call: answers.pop(0) if answers else False)
    agent = lk.Agent(lk.scripted(replies), [permission, lk.CodingTools(tmp_path)])
    agent.run("Write a.")
    assert "plan mode" in agent.system
    outputs = [e.data["output"] for e in agent.events if e.type == "tool.ended"]
    assert "plan mode: nothing may change" in outputs[0]
    assert "tests first" in outputs[1]
    assert "approved the plan" in outputs[2]
    assert "declined" in outputs[3], "the plan's approval allows no edit by itself"
    assert rules.mode == "default"
    assert not (tmp_path / "a").exists()


def test_without_a_user_a_plan_is_the_answer(tmp_path: Path) -> None:
    rules = lk.Permission(Rules(mode="plan"))
    agent = lk.Agent(lk.scripted([lk.say("1. …")]), [rules, lk.CodingTools(tmp_path)])
    agent.run("Write a.")
    assert agent.system.endswith("answer with a plan.")
    assert "propose_plan" not in agent.tools

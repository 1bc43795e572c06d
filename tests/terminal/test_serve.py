"""``learnkit serve`` as a process: the model is a recording, a script, or a person."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import anthropic
import pytest
from project import ROOT

from learnkit.clients.recordings.recording import Recording
from learnkit.clients.server import MessagesServer
from learnkit.core.catalog import DEFAULT_MODEL
from learnkit.course import files as course_files
from learnkit.course.agent_file.source import Source
from learnkit.errors import UsageError
from learnkit.terminal.person import new_lines, part_of
from learnkit.terminal.serve import Model, variables

#: Lesson 1's file, with an exit code of its own.
PLAIN = str(Source.reference("s01")).replace("    main()\n", "    main()\n    sys.exit(3)\n")


def learnkit(folder: Path, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    if not (folder / "agent.py").exists():
        (folder / "agent.py").write_text(PLAIN, "utf-8")
    program = "from learnkit.terminal.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        input=typed,
        capture_output=True,
        text=True,
        timeout=180,
    )


@pytest.mark.slow
def test_a_recording_plays_for_a_plain_program_in_a_folder_that_is_kept(tmp_path: Path) -> None:
    prompt = "If it is above 30 °C in Beijing, mail me."
    ended = learnkit(tmp_path, "serve", "s01", "--", "python", "agent.py", prompt)
    assert "It's 31.4 °C in Beijing" in ended.stdout, ended.stderr
    assert ended.returncode == 3  # the program's own
    assert f"prompt: {prompt}" in ended.stderr
    folder = ended.stderr.partition("The command works in ")[2].partition(",")[0]
    assert "Beijing: 31.4" in (Path(folder) / "outbox/001.txt").read_text("utf-8")


def test_an_invited_edit_gets_replies_with_the_words_of_the_program() -> None:
    model = Model.of("s01/hello")
    recorded = Recording.load(course_files.recordings() / "s01.yaml").prefixes("hello")["hello/1"]
    prompt = {"role": "user", "content": "Create moin.py that prints Guten 'Morgen'."}
    http_client = anthropic.DefaultHttpxClient(trust_env=False)
    with (
        MessagesServer(model.source, missed=model.missed) as server,
        anthropic.Anthropic(
            api_key="offline", base_url=server.url, http_client=http_client
        ) as client,
    ):
        reply = client.messages.create(**recorded.body | {"messages": [prompt]})
    command = reply.content[-1].to_dict()["input"]["command"]  # type: ignore[index]
    assert command.endswith(" > moin.py && python moin.py")
    assert shlex.split(command)[2] == "\"Guten 'Morgen'\""


@pytest.mark.slow
def test_a_prompt_that_was_not_recorded_is_told_what_is_and_how_to_go_on(tmp_path: Path) -> None:
    ended = learnkit(tmp_path, "serve", "s01/mail", "--", "python", "agent.py", "Hello")
    assert ended.returncode == 1
    told, _, refused = ended.stderr.partition("the recording has no reply")[2].partition("The API")
    assert refused.startswith(" refused: Error code: 400")
    assert "Traceback" not in ended.stderr
    assert "+Hello" in told
    assert "  prompt: If it is above 30 °C in Beijing, mail me.\n" in told
    assert "learnkit serve --me" in told
    assert "lab." not in ended.stderr


@pytest.mark.slow
def test_a_person_is_the_model_and_a_script_is(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    command = ("--here", "--", "python", "agent.py", "Look")
    ended = learnkit(
        tmp_path, "serve", "--me", *command, typed="bash\nbash ls *.txt\n\nI see it\n\n"
    )
    assert ended.stdout == "$ ls *.txt\nI see it\n", ended.stderr
    assert 'type bash {"command": "…"}' in ended.stderr
    assert "result: mine.txt" in ended.stderr
    (tmp_path / "model.py").write_text("script = lambda request: str(len(request['messages']))\n")
    assert learnkit(tmp_path, "serve", "model.py", *command).stdout == "1\n"
    left = learnkit(tmp_path, "serve", "--me", *command)
    assert "nobody is there any more to be the model" in left.stderr
    shot = learnkit(tmp_path, "serve", "--me", *command, typed="bash kill -9 $PPID\n\n")
    assert (shot.returncode, shot.stderr.splitlines()[-1]) == (137, "python was killed by SIGKILL.")


@pytest.mark.slow
def test_without_a_key_the_chat_has_a_team_that_a_function_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LEARNKIT_REPRODUCIBLE")
    monkeypatch.setenv("HOME", str(tmp_path))  # where git knows nobody's name
    team, mail = Model.of("s12").prompts
    typed = "".join(f"{line}\n" for line in (team, "Hello", mail, "/tasks"))
    ended = learnkit(tmp_path, "serve", "s12", "--", "learnkit", "chat", "--yes", typed=typed)
    assert ended.returncode == 0, ended.stderr
    assert f"prompt: {team}" in ended.stderr
    said = ended.stdout
    for who, what in (("alice", "edit_file"), ("bob", "write_file")):
        assert f"{who} {what}" in said
    end = "Both branches are merged, and the test passes. At first: AttributeError"
    places = [said.index(one) for one in (end, f"these prompts: {team} {mail}", "sent you a mail")]
    assert places == sorted(places)
    assert "(2/2 completed)" in said
    folder = Path(ended.stderr.partition("The command works in ")[2].partition(",")[0])
    log = subprocess.check_output(["git", "log", "--format=%s"], cwd=folder, text=True)
    assert len(log.splitlines()) == 6, log  # two branches, two merges, a repair; on the example
    assert (folder / "outbox/001.txt").exists()
    assert "above_limit" in (folder / "tests/test_limit.py").read_text("utf-8")
    ended = learnkit(tmp_path, "serve", "s12", "--", "learnkit", "chat", typed=f"{mail}\nn\n")
    assert "I stop here, because a call was refused: Permission denied" in ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["s99"], "nothing called 's99' to serve; name a lesson (s01, s02,"),
        (["s01/none"], "has no scenario 'none'; it has: mail"),
        (["absent.py"], "absent.py cannot be read: No such file"),
        (["agent.py"], "defines no `script`"),
        ([], "name what answers"),
        (["s01", "--me"], "name what answers"),
        (["s01", "--", "no-such-program"], "no-such-program cannot be started"),
        (["s01", "--", "python", "absent.py", "Go."], "there is no absent.py in "),
    ],
)
def test_what_cannot_be_served_is_said(tmp_path: Path, words: list[str], says: str) -> None:
    (tmp_path / "agent.py").write_text("")
    ended = learnkit(tmp_path, "serve", *words)
    assert says in " ".join(ended.stderr.split())
    assert ended.returncode == 2


@pytest.mark.slow
def test_without_a_command_it_waits_for_other_programs_until_ctrl_c(tmp_path: Path) -> None:
    program = "from learnkit.terminal.cli import main; main()"
    command = [sys.executable, "-c", program, "serve", "s01", "--port"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = subprocess.run([*command, port], capture_output=True, text=True, timeout=60)
        assert f"port {port} cannot be used" in ended.stderr
    with subprocess.Popen([*command, port], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = list(iter(process.stderr.readline, "Ctrl-C ends it.\n"))
        assert f"export ANTHROPIC_BASE_URL=http://127.0.0.1:{port}\n" in lines
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0


@pytest.mark.slow
def test_the_examples_of_its_page_work(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "serve.md").read_text("utf-8").partition("## Ask it from anywhere")[2]
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (_, model), (_, curl), (_, python), (_, typescript), *_ = blocks
    script: dict[str, Any] = {}
    exec(model, script)
    ways = [[sys.executable, "-c", python]]
    ways += [["bash", "-c", curl]] if shutil.which("curl") else []
    ways += [["node", "--input-type=module", "-e", typescript]] if shutil.which("node") else []
    with MessagesServer(script["script"]) as server:
        for way in ways:
            env = {**os.environ, **variables(server.url, DEFAULT_MODEL)}
            ended = subprocess.run(way, env=env, capture_output=True, text=True, timeout=60)
            assert "1 message(s)" in ended.stdout, ended.stderr


TOOLS = {
    "bash": {"input_schema": {"properties": {"command": {}}, "required": ["command"]}},
    "edit": {
        "input_schema": {"properties": {"path": {}, "text": {}}, "required": ["path", "text"]}
    },
    "idle": {"input_schema": {"type": "object"}},
    "check": {"input_schema": {"properties": {"id": {}}, "required": []}},
}


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("It is done.", "It is done."),
        (" bash is a shell", " bash is a shell"),
        ("bash ls -l | head", {"command": "ls -l | head"}),
        ('bash {"command": "ls"}', {"command": "ls"}),
        ("idle", {}),
        ("check", {}),
        ("check 3f", {"id": "3f"}),
    ],
)
def test_a_typed_line_is_a_text_or_a_call(line: str, part: Any) -> None:
    typed = part_of(line, TOOLS)
    assert (typed if isinstance(typed, str) else typed.content[0]["input"]) == part


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("edit notes.txt", 'type edit {"path": "…", "text": "…"}'),
        ("edit {", "not a JSON object"),
        ("edit {1: 2}", "not a JSON object"),
    ],
)
def test_a_call_that_cannot_be_read_says_how_it_is_typed(line: str, says: str) -> None:
    with pytest.raises(UsageError, match=re.escape(says)):
        part_of(line, TOOLS)


def test_a_person_reads_only_what_is_new() -> None:
    request = {
        "system": "Act.",
        "tools": [{"name": "bash", "description": "Run it.\nMore.", **TOOLS["bash"]}],
        "messages": [{"role": "user", "content": "Look\nthere"}],
    }
    call = {"type": "tool_use", "id": "a", "name": "bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": "a", "content": "no", "is_error": True}
    later = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    longer = {**request, "messages": [*request["messages"], *later]}
    tool = ["tool: bash(command)  Run it.", "      More."]
    head = ["system: Act.", *tool, "user: Look", "user: there"]
    assert new_lines(request, None, "lead") == ["── 1 message, a new conversation ──", *head]
    grown = ["── bob: 3 messages, 2 of them as before ──", "error: no"]
    assert new_lines(longer, request, "bob") == grown
    whole = [
        "── 3 messages, a new conversation ──",
        *head,
        f"call: bash {json.dumps(call['input'])}",
    ]
    bare = {"messages": [{"role": "user", "content": "Summarise."}]}
    aside = ["── 1 message, a new conversation, no tools ──", "user: Summarise."]
    assert new_lines(bare, request, "lead") == aside
    assert new_lines(longer, None, "lead") == [*whole, "error: no"]


def test_the_model_of_the_recording_must_be_asked_for() -> None:
    model = Model.of("s01")
    assert (model.name, model.prompts) == (
        "s01/mail",
        ("If it is above 30 °C in Beijing, mail me.",),
    )
    assert model.model == model.source.model  # type: ignore[attr-defined]
    assert [line.partition(":")[0] for line in Model.of("s06/now").asked] == ["  prompt", "  then"]


def test_what_a_teammate_was_told_is_no_prompt_of_a_recording() -> None:
    turns = Recording.load(course_files.recordings() / "s12.yaml").turns
    said = [turn.said[-1]["content"] for turn in turns if turn.said and turn.lane == "lead"]
    prompts = Model.of("s12/package").prompts
    assert prompts[0].startswith("Build mean.py and report.py")
    assert [one for one in prompts if one not in said] == []

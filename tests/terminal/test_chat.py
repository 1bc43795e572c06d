"""The terminal: what is shown, what is asked, and a cancelled turn that leaves all in order."""

from __future__ import annotations

import contextlib
import io
import os
import re
import resource
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anthropic
import pytest
from messages_server import serving
from processes import processes
from project import ROOT
from rich.console import Console
from screen import CTRL_C, CTRL_D, ENTER, Screen

import learnkit as lk
from learnkit.core.catalog import DEFAULT_MODEL, MODELS
from learnkit.mechanisms.rules import Rules
from learnkit.mechanisms.settings import Hook, Settings
from learnkit.terminal.chat import Chat
from learnkit.terminal.commands import COMMANDS, answer, money
from learnkit.terminal.saved import Record, folder_of
from learnkit.terminal.session import Session, open_agent
from learnkit.terminal.steering import Steering

OTHER = next(name for name in MODELS if name != DEFAULT_MODEL)
pytestmark = pytest.mark.usefixtures("no_thread_is_left")


class Talk:
    """A conversation with a script on one side and typed lines on the other."""

    def __init__(
        self,
        folder: Path,
        script: Any,
        lines: list[Any],
        *,
        settings: Settings | None = None,
        **options: Any,
    ) -> None:
        self.file = io.StringIO()
        self.asked: list[str] = []
        left = iter(lines)

        def read(prompt: str) -> str:
            self.asked.append(prompt)
            line = next(left, None)
            if line is None:
                raise EOFError
            if isinstance(line, BaseException):
                raise line
            return str(line)

        console = Console(file=self.file, width=200, highlight=False)
        client = script if isinstance(script, anthropic.Anthropic) else lk.scripted(script)
        record = Record(folder_of(folder))
        with client.clock, contextlib.closing(record):  # type: ignore[union-attr]
            session = contextlib.nullcontext(
                Session(client, folder, record.events, record, settings or Settings())
            )
            rules = options.pop("rules", None) or Rules()
            self.chat = Chat(
                lambda opened: session, record, rules, folder, read=read, console=console, **options
            )
            self.code = self.chat.run()

    @property
    def text(self) -> str:
        return self.file.getvalue()


def test_text_streams_and_a_call_is_one_line(tmp_path: Path) -> None:
    look = lk.reply("I look.", lk.use("bash", command="echo one; echo two"))
    talk = Talk(tmp_path, [look, lk.say("Two lines.")], ["look", "o"])
    assert "I look.\n" in talk.text
    assert re.search(r"   1 bash echo one; echo two ✓ \d\.\d s, 2 lines: one two\n", talk.text)
    assert talk.text.rstrip().endswith("Two lines.")
    assert talk.asked[0] == "\n[≈0 % · 0 turns] > "
    assert re.match(r"\n\[≈0 % · 2 turns\] > ", talk.asked[-1])


def test_a_summary_is_nothing_that_the_model_says_to_the_user(tmp_path: Path) -> None:
    asked: list[str] = []

    def model(request: Any) -> Any:
        if "tools" not in request:
            asked.append(str(request))
            return lk.say("SUMMARY: we have said hello.")
        return lk.say(f"reply {len(request['messages'])}")

    talk = Talk(tmp_path, model, ["hello", "/compact the greeting", "go on"])
    assert ["the greeting" in one for one in asked] == [True]
    assert "reply 1" in talk.text
    assert any(event.type == "compaction.summarised" for event in talk.chat.agent.events)
    assert "SUMMARY" not in talk.text


@pytest.mark.parametrize(
    ("answers", "how"),
    [
        (["o", "n"], ["ran", "refused"]),
        (["what?", "yes", "no"], ["ran", "refused"]),
        (["a"], ["ran", "ran"]),
        (["n", "o"], ["refused", "ran"]),
        ([], ["refused", "refused"]),  # the pipe has ended
    ],
)
def test_what_could_change_something_is_asked_about(
    tmp_path: Path, answers: list[str], how: list[str]
) -> None:
    touch = lk.use("bash", command="touch a.txt")
    talk = Talk(tmp_path, [touch, touch, lk.say("done")], ["go", *answers])
    ended = [e.data["how"] for e in talk.chat.agent.events if e.type == "tool.ended"]
    assert ended == how
    assert "bash\n  touch a.txt\n" in talk.text


def test_a_reason_reaches_the_model_and_always_means_the_pattern_that_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = [
        lk.use("bash", command="git push"),
        lk.use("bash", command="touch a"),
        lk.use("bash", command="touch b && touch c"),
        lk.use("bash", command="touch $(rm d)"),
        lk.say("done"),
    ]
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    lines = ["go", "n because we never push", "k", "a", "n"]
    talk = Talk(tmp_path, script, [*lines, "/permissions"])
    said = [one["content"] for one in talk.chat.agent.messages if one["role"] == "user"][1:]
    assert "Permission denied: the user declined this call: because we never push." in str(said[0])
    assert "always: bash(touch:*) · keep: for this project\n" in talk.text
    assert [one for one in talk.asked if "[a]lways" not in one and "Run it" in one] != []
    assert "no pattern can allow this for good" in talk.text  # what $(…) runs can't be known
    assert "mode: default\nallow: bash(touch:*)\n" in talk.text
    assert sorted(path.name for path in tmp_path.glob("?")) == ["a", "b", "c"]
    assert lk.Settings.load(tmp_path).allow == ("bash(touch:*)",)
    assert not (tmp_path / ".learnkit" / "settings.toml").exists()
    Talk(tmp_path, [], ["/permissions keep read(b)", "/permissions forget"])
    assert lk.Settings.load(tmp_path).allow == ()


def test_plan_mode_asks_about_the_plan_and_then_works(tmp_path: Path) -> None:
    write = lk.use("write_file", path="a.txt", content="one")
    plan = lk.use("propose_plan", plan="1. Write a.txt.")
    script = [write, plan, plan, write, lk.say("written")]
    lines = ["/permissions plan", "go", "n because of the name", "o", "o", "/permissions"]
    talk = Talk(tmp_path, script, lines)
    how = [e.data["how"] for e in talk.chat.agent.events if e.type == "tool.ended"]
    assert how == ["refused", "refused", "ran", "ran"]
    assert "propose_plan\n  1. Write a.txt." in talk.text
    assert "mode: default\n" in talk.text.partition("written")[2]


def test_rewind_puts_files_and_conversation_back_and_says_what_it_does_not(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")

    def model(request: Any) -> Any:
        if isinstance(request["messages"][-1]["content"], str):
            content = request["messages"][-1]["content"]
            return lk.use("write_file", path="a.txt", content=content)
        return lk.say("written")

    lines = ["two", "three", "/rewind", "/rewind 2 files", "/rewind 1", "/rewind x", "four"]
    talk = Talk(tmp_path, model, lines, rules=Rules(mode="yes"))
    assert "  1  two  a.txt\n  2  three  a.txt\n" in talk.text
    assert talk.text.count("put back: a.txt; commands are not undone") == 2
    assert talk.text.count("the conversation is as it was before") == 1
    assert "/rewind takes the number of a prompt, such as /rewind 3, not 'x'" in talk.text
    assert talk.chat.agent.messages[0]["content"] == "four"


def test_a_list_goes_back_with_the_conversation_also_for_another_process(tmp_path: Path) -> None:
    def model(request: Any) -> Any:
        said = request["messages"][-1]["content"]
        items = [{"id": "1", "text": str(said), "status": "in_progress"}]
        return lk.use("todo", items=items) if isinstance(said, str) else lk.say("noted")

    talk = Talk(tmp_path, model, ["one", "/rewind 1", "two", "/rewind 2 files", "/todo"])
    assert talk.text.rstrip().endswith("[>] #1: two\n(0/1 completed)")
    (other := tmp_path / "other").mkdir()
    talk = Talk(other, model, ["one", "/rewind 1", "/todo"])
    assert talk.text.rstrip().endswith("The list is empty.")
    client = lk.scripted([])
    with client.clock:
        events = talk.chat.agent.events
        again = open_agent(Session(client, tmp_path, events), ExitStack(), print, None)
    assert [one.items for one in again.mechanisms if isinstance(one, lk.Todo)] == [[]]


def test_what_the_project_says_and_keeps_in_files_is_used(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Write tests first.\n")
    for place, text in {
        "agents/critic.md": "---\nname: critic\ndescription: Judges.\n---\nBe strict.\n",
        "commands/fix-it.md": "---\ndescription: Mend\n---\nFix issue $1.\n",
    }.items():
        path = tmp_path / ".claude" / place
        path.parent.mkdir(parents=True)
        path.write_text(text)
    bodies: list[Any] = []

    def model(request: Any) -> Any:
        bodies.append(request)
        return lk.say("done")

    talk = Talk(tmp_path, model, ["/fix-it 36", "/help", "/nothing"])
    assert bodies[0]["messages"][-1]["content"] == "Fix issue 36."
    assert "Write tests first." in str(bodies[0]["system"])
    assert "critic" in str([one for one in bodies[0]["tools"] if one["name"] == "task"])
    assert re.search(r"/fix-it +Mend", talk.text)
    assert "/fix-it" in talk.text.partition("there is no /nothing; there are: ")[2]


def test_what_is_open_on_the_list_is_above_the_input(tmp_path: Path) -> None:
    def items(done: int) -> list[dict[str, str]]:
        status = ["completed"] * done + ["in_progress"] * (done < 8) + ["pending"] * (7 - done)
        return [
            {"id": str(n), "text": f"step {n}, which is a long one", "status": one}
            for n, one in enumerate(status, 1)
        ]

    script = [lk.use("todo", items=items(1)), lk.say("on it")]
    talk = Talk(tmp_path, script, ["go"])
    *lines, count, first, last = talk.chat.status(30).splitlines()
    assert lines[0] == "[>] #2: step 2, which is a l…"
    assert [line[5] for line in lines] == ["2", "3", "4", "5", "6"]
    assert count == "(1/8 completed) · /todo show…"
    assert first.startswith("/help · claude-")
    assert last.endswith(" · ≈0 % · 2 turns")
    talk = Talk(tmp_path, [lk.use("todo", items=items(8)), lk.say("done")], ["go"])
    assert len(talk.chat.status(30).splitlines()) == 2


@pytest.mark.parametrize(("columns", "lines"), [(120, 1), (40, 2)])
def test_the_status_line_has_model_mode_place_context_and_cost(
    tmp_path: Path, columns: int, lines: int
) -> None:
    lk.LocalShell().run("git init -q -b topic/a-parser", tmp_path)
    talk = Talk(tmp_path, [], ["/permissions plan"])
    agent, usage = talk.chat.agent, {"input_tokens": 20_000, "cache_read_input_tokens": 99_000}
    for lane, sent in (("lead", 20_000), ("lead.1", 500_000)):  # the gauge is the lead's
        usage |= {"input_tokens": sent, "output_tokens": 1_000}
        agent.events.append("model.replied", lane, usage=usage, model=agent.model)
    talk.chat._measure()
    shown = talk.chat.status(columns)
    assert len(shown.splitlines()) == lines
    assert max(map(len, shown.splitlines())) < columns
    begin = f"/help · {agent.model} · plan"
    cost = f"${lk.Usage.of(agent.events).cost:.2f}"
    end = rf"[ \n].{{8,}} · 12 % · {re.escape(cost)} · 2 turns"
    assert re.fullmatch(re.escape(begin) + r"( ·)?" + end, shown)
    assert ("(topic/a-parser)" in shown) == (lines == 1)
    agent.rewrite([], "rewound")
    talk.chat._measure()
    assert " · ≈0 % · $" in talk.chat.status(columns)


@pytest.mark.slow
def test_a_goal_is_worked_on_until_its_check_says_so(tmp_path: Path) -> None:
    script = [
        lk.say("It is there."),
        lk.use("write_file", path="made", content=""),
        lk.say("Now it is."),
        lk.say("Hello."),
    ]
    lines = ["/goal", "/goal made is there -- test -e made", "/goal", "hi", "/goal x", "/goal off"]
    talk = Talk(tmp_path, script, lines, rules=Rules(mode="yes"))
    said = [one["content"] for one in talk.chat.agent.messages if one["role"] == "user"]
    assert said[0] == "made is there"
    assert "Not met yet: made is there" in str(said[1])
    assert "The goal is not met, and the model goes on (check 1 of at most 5): test" in talk.text
    assert "The goal is met (check 2 of at most 5)." in talk.text
    assert talk.text.count("there is no goal; /goal all tests pass -- pytest -q") == 2
    assert "There is no goal any more" in talk.text.replace("there", "There")


@pytest.mark.parametrize(("moment", "steers"), [("prompt", False), ("stop", True)])
def test_no_words_go_around_a_hook_for_prompts(tmp_path: Path, moment: Any, steers: bool) -> None:
    talk = Talk(tmp_path, [], [], settings=Settings(hooks=(Hook(moment, "true"),)))
    assert any(isinstance(one, Steering) for one in talk.chat.agent.mechanisms) == steers


@pytest.mark.slow
def test_notes_are_kept_in_the_workspace_and_shown(tmp_path: Path) -> None:
    note = {"kind": "project", "description": "tests need a server", "text": "Start it first."}
    script = [lk.use("memory_write", name="tests", **note), lk.say("Noted.")]
    talk = Talk(tmp_path, script, ["/memory", "go", "/memory", "/memory tests", "/memory none"])
    assert "there are no notes yet" in talk.text
    assert "- [tests](tests.md) (project): tests need a server\n" in talk.text
    assert "Start it first." in talk.text
    assert "there is no note 'none'" in talk.text
    bodies: list[Any] = []
    Talk(tmp_path, lambda body: bodies.append(body) or lk.say("ok"), ["and now?"])
    assert "tests need a server" in str(bodies[0]["system"])


@pytest.mark.slow
def test_mcp_servers_of_the_settings_are_listed_and_one_that_fails_costs_only_itself(
    tmp_path: Path,
) -> None:
    server = [sys.executable, str(ROOT / "tests" / "support" / "mcp_server.py")]
    servers = {"weather": server, "gone": ["no-such-program"]}
    call = lk.use("mcp__weather__latest", city="Rome")
    lines = ["go", "o", "/mcp"]
    settings = Settings(servers=servers)
    talk = Talk(tmp_path, [call, lk.say("Warm.")], lines, settings=settings)
    assert "mcp__weather__latest\n" in talk.text
    assert re.search(r"weather: \d+ tools\n", talk.text)
    assert re.search(r"gone: .*no-such-program", talk.text)
    assert "31.4 in Rome" in str(talk.chat.agent.messages)
    talk = Talk(tmp_path, [lk.say("ok")], ["go"], settings=Settings(servers={"a b": server}))
    assert "no MCP servers: 'a b' is no name of a server" in talk.text


@pytest.mark.slow
def test_diff_model_and_init_do_what_they_say(tmp_path: Path) -> None:
    shell = lk.LocalShell()
    shell.run("git init -q && touch new && echo one > a.txt && git add a.txt", tmp_path)
    bodies: list[Any] = []

    def model(request: Any) -> Any:
        bodies.append(request)
        return lk.say("written")

    talk = Talk(tmp_path, model, ["/diff", f"/model {OTHER}", "/model", "/init"])
    assert "?? new\n" in talk.text
    assert "there is no" not in talk.text
    shell.run(
        "git -c user.name=a -c user.email=a@b commit -q -m Begin; echo two >> a.txt", tmp_path
    )
    assert "+two\n?? new\n" in Talk(tmp_path, [], ["/diff"]).text
    assert f"{OTHER}; /model NAME takes another one" in talk.text
    (body,) = bodies
    assert body["model"] == OTHER
    assert "Write AGENTS.md" in body["messages"][-1]["content"]


def test_what_runs_without_asking_neither_writes_files_nor_runs_commands(tmp_path: Path) -> None:
    """Each tool says itself what it is; a new one is asked about until it does."""
    lk.LocalShell().run("git init -q", tmp_path)
    (tmp_path / "skills").mkdir()
    chat = Talk(tmp_path, [], []).chat
    asked = {name for name, one in chat.agent.tools.items() if not one.read_only | one.internal}
    assert asked == {
        *("bash", "write_file", "edit_file", "background_run"),
        *("worktree_create", "worktree_run", "worktree_merge", "worktree_remove", "worktree_keep"),
    }


@pytest.mark.slow
def test_every_command_answers(tmp_path: Path) -> None:
    lk.LocalShell().run("git init -q", tmp_path)
    items = [{"id": "1", "text": "write", "status": "in_progress"}]
    script = [
        lk.reply(lk.use("todo", items=items), lk.use("task_create", subject="parse")),
        lk.use("spawn_teammate", name="alice", role="coder", prompt="Begin."),
        *[lk.say("done")] * 9,
    ]
    lines = ["go", *(f"/{name}" for name in COMMANDS if name != "quit"), "/nothing"]
    talk = Talk(tmp_path, lambda request: script.pop(0), [*lines, "/quit", "never read"])
    for said in (
        "this list",
        "estimated tokens before every turn",
        "[ ] #1: parse",
        "alice (coder): ",
        "no unread mail",
        "[>] #1: write",
        "there are no skills",
        "will be summarised with the next turn",
        "all: ",
        "there is no /nothing; there are: /help, ",
    ):
        assert said in talk.text, said
    assert "never read" not in talk.text


@pytest.mark.parametrize(
    ("status", "message", "says"),
    [
        (400, "prompt is too long: 9 tokens", "prompt is too long: 9 tokens; send /compact"),
        (400, "no such field", "the API: 400, no such field\n"),
        (401, "invalid x-api-key", "401, invalid x-api-key; check ANTHROPIC_API_KEY"),
        (404, "model: gone", "404, model: gone; /model takes another model"),
        (429, "slow down", "(the key has used up its rate for now (429, slow down); trying again"),
        (529, "Overloaded", "(the server is overloaded (529, Overloaded); trying again"),
    ],
)
def test_what_the_api_says_is_a_sentence_and_the_talk_goes_on(
    tmp_path: Path, status: int, message: str, says: str
) -> None:
    script = [lk.fail(status, message), lk.say("better"), lk.say("better")]
    talk = Talk(tmp_path, script, ["first", "second"])
    assert says in talk.text
    assert "{" not in talk.text
    assert talk.text.rstrip().endswith("better")
    said = [one["content"] for one in talk.chat.agent.messages if one["role"] == "user"]
    answered = ["first"] if status in (429, 529) else []  # what is refused is not sent again
    assert said == [*answered, "second"]
    assert ("is forgotten" in talk.text) == (not answered)


def test_a_server_that_cannot_be_reached_is_named_at_each_try(tmp_path: Path) -> None:
    with serving([]) as server:
        pass  # the port is closed
    client = anthropic.Anthropic(api_key="local-test", base_url=server.url)
    client.clock = lk.VirtualClock()  # type: ignore[attr-defined]
    lines = Talk(tmp_path, client, ["go"]).text.splitlines()
    tries = [line for line in lines if "trying again in" in line]
    assert len(tries) > 5
    assert [line for line in tries if f"no connection to the API at {server.url}" not in line] == []
    assert any(f"the API at {server.url}" in line and "check the network" in line for line in lines)


def test_ctrl_c_cancels_the_turn_and_the_array_stays_valid(tmp_path: Path) -> None:
    def model(request: Any) -> Any:
        if len(request["messages"]) < 3:
            return lk.use("bash", command="ls")
        return lk.say("here again")

    talk = Talk(tmp_path, model, ["go", KeyboardInterrupt(), KeyboardInterrupt(), "again"])
    assert "(cancelled; the conversation is kept)" in talk.text
    assert "(/quit leaves)" in talk.text
    assert talk.text.rstrip().endswith("here again")


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["a full disk", "a file in its place", "a vanished folder"])
def test_no_error_of_the_backend_ends_the_chat_or_loses_the_conversation(
    fault: str, tmp_path: Path
) -> None:
    """It comes in the middle of a turn; the commands and the next turn meet it as well."""
    state, away = tmp_path / ".learnkit", tmp_path / "away"

    def begins(body: Any) -> Any:
        if fault == "a full disk":
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, unlimited))
        else:
            state.rename(away)
            if fault == "a file in its place":
                state.touch()
        return lk.use("task_list")

    def lines() -> Iterator[str]:
        yield from ("make a task", "go on", "/tasks", "/team", "/inbox", "still there?")
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, unlimited))
        if away.exists():
            shutil.rmtree(state) if state.is_dir() else state.unlink(missing_ok=True)
            away.rename(state)
        yield from ("/tasks", "and now?")

    soft, unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    made = [lk.use("task_create", subject="a task"), lk.say("made"), begins]
    replies, problem = iter([*made, lk.say("all is well"), lk.say("all is well")]), None
    try:
        talk = Talk(tmp_path, _next(replies), lines())  # type: ignore[arg-type]
    except OSError as error:
        problem = error
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, unlimited))
    assert problem is None
    assert talk.code == 0
    assert "(the conversation is kept; /rewind lists" in talk.text
    assert "The board is empty" not in talk.text
    assert talk.text.count("[ ] #1: a task") >= 2
    assert talk.text.rstrip().endswith("all is well")
    said = [m["content"] for m in talk.chat.agent.messages if m["role"] == "user"]
    assert [said[0], said[-1]] == ["make a task", "and now?"]


def _next(replies: Iterator[Any]) -> Any:
    def model(body: Any) -> Any:
        reply = next(replies)
        return reply(body) if callable(reply) else reply

    return model


def test_a_turn_that_is_cut_says_so_and_only_two_ctrl_c_in_a_row_leave(tmp_path: Path) -> None:
    talk = Talk(tmp_path, [lk.reply("One and", stop_reason="max_tokens")], ["count"])
    assert talk.text.rstrip().endswith("(max tokens)")
    for _ in range(2):
        talk.chat.interrupted()
        talk.chat.typed("/cost")
    assert talk.text.count("(Ctrl-C again, or Ctrl-D, leaves)") == 2


# In a terminal that cannot move its cursor, and in a pipe


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    replies: list[Any] = []
    with serving(lambda request: replies.pop(0)) as server:
        server.replies = replies  # type: ignore[attr-defined]
        yield server


def test_a_command_for_what_an_agent_does_not_have_says_so() -> None:
    agent = lk.Agent(lk.scripted([]))
    said = {name: answer(agent, f"/{name}") for name in COMMANDS}
    assert said["tasks"] == "this agent has no Tasks"
    assert said["skills"] == "there are no skills"
    assert said["mcp"].startswith("there are no MCP servers; settings name them")


def dumb(*arguments: str, forked: bool = True, **env: str) -> Screen:
    return Screen(*arguments, term="dumb", columns=160, forked=forked, **env)


@pytest.mark.slow
def test_live_in_a_terminal_with_ctrl_c(tmp_path: Path, live: Any) -> None:
    mark = f"7{os.getpid()}19"
    live.replies += [lk.use("bash", command=f"sleep {mark}"), lk.say("I am still here.")]
    env = {"ANTHROPIC_API_KEY": "for-a-local-server", "LEARNKIT_MODEL": OTHER}
    with dumb(str(tmp_path), ANTHROPIC_BASE_URL=live.url, **env) as terminal:
        terminal.expect("0 turns] >")
        terminal.type(f"sleep{ENTER}")
        terminal.expect("Run it?")
        terminal.type(f"o{ENTER}")
        terminal.until(lambda: processes(f"sleep {mark}"), "the command")
        terminal.type(CTRL_C)
        terminal.expect("(cancelled; the conversation is kept)")
        terminal.until(lambda: not processes(f"sleep {mark}"), "the end of the command")
        terminal.type(f"and now?{ENTER}")
        terminal.expect("I am still here.")
        terminal.expect("2 turns] >")
        terminal.type(CTRL_D)
        assert terminal.ended() == 0
    assert live.bodies[-1]["stream"] is True
    assert {body["model"] for body in live.bodies} == {OTHER}


@pytest.mark.slow
def test_without_a_key_a_way_to_talk_without_one_is_said() -> None:
    with dumb(ANTHROPIC_API_KEY="") as terminal:
        terminal.expect("there is no ANTHROPIC_API_KEY; set one, or try: ")
        terminal.expect("learnkit serve s12 -- learnkit chat")
        assert terminal.ended() == 2


def test_a_server_that_refuses_cache_control_is_asked_without_it(tmp_path: Path) -> None:
    script = [lk.use("task_list"), lk.say("Nothing to do."), lk.say("Still nothing.")]
    with (
        serving(script, refused=["cache_control"]) as server,
        anthropic.Anthropic(api_key="local-test", base_url=server.url) as client,
    ):
        client.clock = lk.VirtualClock()  # type: ignore[attr-defined]
        text = Talk(tmp_path, client, ["what is left?", "sure?"]).text
    assert text.count("(this server refuses cache_control: no prompt cache from now on)") == 1
    assert "Still nothing." in text
    assert ["cache_control" in body for body in server.bodies] == [True, False, False, False]
    said = [one["content"] for one in server.bodies[-1]["messages"] if one["role"] == "user"]
    assert (said[0], said[-1]) == ("what is left?", "sure?")


@pytest.mark.parametrize(
    ("usage", "model", "says"),
    [
        ({"input_tokens": 1000, "output_tokens": 100}, DEFAULT_MODEL, "about $"),
        ({}, DEFAULT_MODEL, "cost unknown: the server did not say what 1 of 1 replies used"),
        (
            {"input_tokens": 1000, "output_tokens": 100},
            "a-model-of-another-server",
            "cost unknown: the price table does not have this model, or not this tariff",
        ),
        ({"input_tokens": 9, "output_tokens": 9, "simulated": True}, DEFAULT_MODEL, ""),
    ],
)
def test_the_cost_is_said_or_why_it_is_unknown(
    usage: dict[str, Any], model: str, says: str
) -> None:
    log = lk.EventLog()
    assert money(log) == []
    log.append("model.replied", lane="lead", time=0.0, usage=usage, model=model)
    (line,) = money(log) or [""]
    assert line.startswith(says)
    assert bool(line) == bool(says)

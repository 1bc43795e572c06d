"""Be the model: a game over the real SDK and the offline contract, run anew for each reply."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import anthropic
import pytest
from static_page import Page

import learnkit as lk
from learnkit.course.content import Game
from learnkit.course.games.be_the_model import panel
from learnkit.course.games.be_the_model.panel import BeTheModel

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u202e"


class Board:
    """Games with a folder, and the states that their pages were sent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen: list[dict[str, Any]] = []

    def game(self, prompt: str = "How many files are there?", **options: Any) -> Game:
        """A task for an agent with the coding tools."""
        given = {"script": [], "system": "You look after files.", **options}
        tools = given.pop("mechanisms", lambda _: [lk.CodingTools(self.folder)])
        return Game(prompt, tools, **given)

    def open(self, prompt: str = "How many files are there?", **options: Any) -> BeTheModel:
        """Start a game."""
        game = BeTheModel(self.game(prompt, **options))
        game.tell = self.seen.append
        game.start()
        assert game.phase == "yours"
        return game

    def reply(self, game: BeTheModel, reply: object, fault: str = "") -> str:
        """Answer as the page does; return the phase that follows."""
        game.act({"ask": game.state()["ask"], "reply": reply, "fault": fault})
        return game.phase

    @property
    def problem(self) -> dict[str, Any]:
        """The last message, which must be a problem."""
        assert "problem" in self.seen[-1], self.seen[-1]
        return self.seen[-1]


@pytest.fixture
def board(tmp_path: Path, no_thread_is_left: None) -> Board:
    return Board(tmp_path)


def bash(command: str) -> dict[str, Any]:
    return {"tool": "bash", "values": {"command": command}}


def call(name: str, id: str = "toolu_x", **input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def results(game: BeTheModel) -> list[dict[str, Any]]:
    """The blocks of the last message, which must be results."""
    content = game.messages[-1]["content"]
    assert all(block["type"] == "tool_result" for block in content)
    return list(content)


def test_a_game_from_the_first_request_to_the_last_text(board: Board) -> None:
    game = board.open()
    assert board.reply(game, [bash("echo one")]) == "yours"
    assert results(game)[0]["content"].strip() == "one"
    assert board.reply(game, [{"text": "One file."}]) == "ended"
    assert [message["role"] for message in game.messages] == ["user", "assistant"] * 2
    assert game.events[0].type == "run.started"
    assert game.events[-1].type == "run.ended"
    assert str(game) == "be the model: 2 turns, calls bash, and ends with “One file.”."


def test_what_is_seen_is_the_request_and_nothing_else(board: Board) -> None:
    game = board.open(prompt="Count them.")
    state = board.seen[-1]["state"] if board.seen else game.state()
    assert [key for key, _ in state["frame"]] == ["totals", "system", "tools", "message 0", "json"]
    shown = dict(state["frame"])
    assert "You look after files." in shown["system"]
    assert "Count them." in shown["message 0"]
    assert "read_file(path, limit?, offset?)" in shown["tools"]
    body = json.loads(Page(shown["json"]).text.partition("as it is sent")[2])
    assert list(body) == ["system", "tools", "messages"]
    assert body["messages"] == game.messages
    size = lk.estimate_tokens
    total = size(body["system"]) + size(body["tools"]) + size(body["messages"])
    assert f"≈ {total:,} tokens" in shown["totals"]
    assert "claude" not in json.dumps(state)
    assert [tool["name"] for tool in state["tools"]][:2] == ["bash", "read_file"]


def test_the_readme_lists_every_key_of_a_state_and_every_intent(board: Board) -> None:
    here = Path(panel.__file__).parent
    page, script = ((here / name).read_text("utf-8") for name in ("README.md", "widget.js"))
    rows = re.findall(r"^\| `(.+?)` \|", page, re.MULTILINE)
    assert [row for row in rows if row.isidentifier()] == list(board.open().state())
    intents = {key for row in rows if row[0] == "{" for key in re.findall(r'"(\w+)":', row)}
    sent = re.findall(r"\b(?:tell|ask)\(\{(.+?)\}\)", script)
    assert len(sent) == 5
    keys = {part.partition(":")[0].strip() for one in sent for part in one.split(",")}
    assert keys == intents


def test_the_page_is_told_of_each_step_in_order(board: Board) -> None:
    game = board.open()
    game.act({"want": True})
    board.reply(game, [bash("echo hi")])
    board.reply(game, [{"text": "done"}])
    numbers = [message["seq"] for message in board.seen]
    assert numbers == sorted(numbers)
    heads = [message["state"]["head"] for message in board.seen]
    assert heads[-1] == "The loop ends after 2 turns: the last reply called no tool."
    phases = list(dict.fromkeys(message["state"]["phase"] for message in board.seen))
    assert phases == ["yours", "works", "ended"]


def test_faults_of_the_model_come_back_as_error_results(board: Board) -> None:
    game = board.open()
    assert board.reply(game, json.dumps([call("no_such_tool")])) == "yours"
    assert results(game)[0]["is_error"] is True
    assert "There is no tool 'no_such_tool'" in results(game)[0]["content"]
    assert dict(game.state()["frame"])["message 2"].count("m-error") == 1
    assert board.reply(game, [{"text": "I see."}]) == "ended"


def refused(game: BeTheModel) -> str:
    """Text of the real exception, after checking that the page shows the same."""
    error = game.error
    assert isinstance(error, anthropic.BadRequestError)
    assert isinstance(error.body, dict)
    text = str(error.body["error"]["message"])
    shown = Page(dict(game.state()["frame"])["refusal"]).text
    assert "400 invalid_request_error" in shown
    assert text in shown
    return text


def test_a_harness_that_forgets_the_result_is_refused(board: Board) -> None:
    game = board.open()
    assert board.reply(game, [bash("echo before")]) == "yours"
    before = game.messages
    assert board.reply(game, [bash("echo hi")], fault="forget") == "refused"
    assert "without `tool_result` blocks immediately after" in refused(game)
    assert game.messages[-1]["role"] == "assistant"
    game.act({"back": True})
    assert game.phase == "yours", "the fault was for one reply"
    assert game.messages == before
    assert "refusal" not in dict(game.state()["frame"])
    assert board.reply(game, [bash("echo hi")]) == "yours"


def test_leaving_in_the_middle(board: Board) -> None:
    game = board.open()
    game.act({"stop": True})
    assert game.phase == "left"
    assert board.reply(game, [{"text": "too late"}]) == "left"
    assert "no request waits" in board.problem["problem"]


def test_a_mechanism_that_fails_is_shown_and_raised(board: Board) -> None:
    closed: list[lk.Agent] = []

    class Faulty(lk.Mechanism):
        def after_tools(self, agent: lk.Agent, calls: object) -> str | None:
            raise RuntimeError("no such luck")

        def close(self, agent: lk.Agent) -> None:
            closed.append(agent)

    game = board.open(mechanisms=lambda _: [lk.CodingTools(board.folder), Faulty()])
    game.answer(lk.use("bash", command="true"))
    assert (game.phase, game.head) == ("broken", "The game broke off: RuntimeError: no such luck")
    assert len(closed) == 2, "the teammates and jobs of each run have ended"


def test_other_agents_are_answered_by_a_function(board: Board) -> None:
    @lk.tool
    def ask(question: str, agent: lk.Agent) -> str:
        """Ask somebody else."""
        return lk.Agent(agent.client, name="other", events=agent.events).run(question).text

    game = board.open(mechanisms=lambda _: [lk.Toolbox(ask)], others=lambda request: lk.say("42"))
    game.answer(lk.use("ask", question="What?"))
    assert game.phase == "yours"
    assert results(game)[0]["content"] == "42"


def test_hostile_text_is_text(board: Board) -> None:
    @lk.tool(description=HOSTILE)
    def trap(word: str) -> str:
        return HOSTILE

    script: list[Any] = [lk.reply(HOSTILE, lk.use("trap", word=HOSTILE)), lk.use(HOSTILE), HOSTILE]
    made = Game(HOSTILE, lambda _: [lk.Toolbox(trap)], script, HOSTILE)
    static, game = BeTheModel(made, static=True), BeTheModel(made)
    game.start()
    game.answer(script[0])
    assert game.phase == "yours"
    pages = "".join(html for _, html in game.state()["frame"])
    for html in (pages, static._repr_mimebundle_()["text/html"]):
        parser = Page(html)
        assert not {"script", "img", "svg"} & set(parser.tags)
        assert not [name for name in parser.attributes if name.startswith("on")]
        assert "<script>alert(1)</script>" in parser.text
        assert "\u202e" not in html


SCRIPT = [lk.use("bash", command="echo 3"), lk.say("There are 3 files.")]


def test_the_static_card_is_plain_small_and_the_same_twice(board: Board) -> None:
    games = [BeTheModel(board.game("How many?", script=SCRIPT), static=True) for _ in range(2)]
    assert games[0].events[-1].time == 2.0, "the virtual clock: a second a reply"
    first, second = (game._repr_mimebundle_() for game in games)
    assert first == second
    assert list(first) == ["text/html", "text/plain"]
    line = "be the model: 2 turns, calls bash, and ends with “There are 3 files.”."
    assert first["text/plain"] == line
    parser = Page(first["text/html"])
    plain = {"p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert set(parser.tags) == plain
    assert parser.attributes <= {"align"}
    assert len(first["text/html"].encode()) < 20_000
    for part in ("You look after files.", "How many?", "read_file(path, limit?", "echo 3"):
        assert part in parser.text
    assert not re.search(r"claude|/tmp", first["text/html"])

"""Be the model: the learner takes the model's place, and answers the loop's requests.

A page shows what a model sees, and nothing else. The learner calls tools with forms made from their
schemas, or writes text, and watches the harness act. Nothing runs before the page's Start button is
pressed. Without a page a script plays, and one card shows what the model saw, and the result.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from learnkit.clients.connect import from_source
from learnkit.clients.scripted import Failure, Reply, Request, Scripted, Source
from learnkit.core.agent import Agent, Outcome
from learnkit.core.mechanism import Mechanism
from learnkit.course.content import Game, Remark
from learnkit.course.games.be_the_model.seat import Given, Json, Seat
from learnkit.course.scenario import workspace
from learnkit.errors import described
from learnkit.events.log import EventLog
from learnkit.events.sentences import stopped
from learnkit.events.text import blocks_of, count, listed, quoted
from learnkit.runtime.virtual_clock import VirtualClock
from learnkit.views import request as views
from learnkit.views.drawing.text import esc


class BeTheModel(Seat):
    """A run in which the learner is the model; as the last line of a cell, it shows its page.

    Attributes:
        agent: the one that ran last; None before the start.
        remarks: what the game says about how it was played; none before its end.
    """

    def __init__(self, game: Game, *, static: bool = False) -> None:
        super().__init__("ready", game.goal)
        self._game = game
        self._widget: Any = None
        self._first: Json = {}
        self._outcome: Outcome | None = None
        self.agent: Agent | None = None
        self.remarks: Sequence[Remark] = ()
        self._static = static
        if static:
            self.error = self._run(Scripted(game.script), None)
            self.phase, self.head = self.ended(self.error)

    def start(self) -> None:
        """Start the run, or start it anew; the page's button does this."""
        self.replies, self.faults, self.request = [], [], None
        self.go()

    @property
    def messages(self) -> list[Json]:
        """A copy of the message array as it is now; before the start, it has only the prompt."""
        if self.agent is None:
            return [{"role": "user", "content": self._game.prompt}]
        return copy.deepcopy(list(self.agent.messages))

    @property
    def events(self) -> EventLog:
        """The log of the run, from its start; before that, an empty one."""
        return self.agent.events if self.agent else EventLog()

    # How it runs

    def play(self, given: Given) -> BaseException | None:
        """Run to the end of the learner's replies; a function answers for other agents."""
        return self._run(_Others(given, self._game.others), given)

    def _run(self, source: Source, given: Given | None) -> BaseException | None:
        game, clock = self._game, VirtualClock()
        self._outcome, self.remarks = None, ()
        try:
            with (
                workspace() as folder,
                clock,
                closing(from_source(source, clock, "human")) as client,
            ):
                careless = [Careless(self.faults, given)] if given else []
                mechanisms = [*game.mechanisms(folder), *careless]
                with Agent(client, mechanisms, system=game.system, events=EventLog()) as agent:
                    self.agent = agent
                    agent.start(game.prompt)
                    self._first = copy.deepcopy(agent.request())
                    while (outcome := agent.step()) is None:
                        pass
                    if game.judge:
                        self.remarks = game.judge(folder, agent.messages)
                    self._outcome = outcome
        except (Exception, KeyboardInterrupt) as error:
            return error
        return None

    def asked(self, before: Json | None) -> str:
        """Say what kind of request waits, and what the learner can do."""
        if self.agent and self.agent.tools and not (self.request or {}).get("tools"):
            return (
                "Another request, beside the array: the harness asks for a summary. "
                "There are no tools in it. Answer with text."
            )
        whose = "You are the model" if before is None else "Your turn again"
        return f"{whose}. This is everything you see. Call a tool, or answer with text."

    def ended(self, error: BaseException | None) -> tuple[str, str]:
        """Return the phase after the end of a run, and how it ended in a sentence."""
        if error is not None:
            return "broken", f"The game broke off: {described(error)}"
        assert self._outcome is not None
        turns, reason = count(self._outcome.turns, "turn"), self._outcome.reason
        why = "the last reply called no tool" if reason == "end_turn" else stopped(reason)
        return "ended", f"The loop ends after {turns}: {why}."

    # How it is shown

    def __repr__(self) -> str:
        if self.agent is None:
            return f"be the model: {self.head}"
        names = [event.data["name"] for event in self.events if event.type == "tool.started"]
        calls = f"calls {listed(names)}" if names else "calls nothing"
        done = f"be the model: {count(self.agent.turns, 'turn')}, {calls}"
        if self._outcome is None or not self._outcome.text:
            return f"{done}. {self.head}"
        return f"{done}, and ends with {quoted(self._outcome.text, 120)}."

    def _repr_mimebundle_(self, **options: Any) -> Any:
        if self._static:
            return {"text/html": self._card(), "text/plain": repr(self)}
        if self._widget is None:
            from learnkit.course.games.be_the_model.widget import SessionPanel

            self._widget = SessionPanel(self.act, self.message())
            self.tell = self._widget.send
        return self._widget._repr_mimebundle_(**options)

    def do(self, intent: Json) -> None:
        """Do what the learner asked for on the page."""
        if intent.get("start"):
            if self.phase not in ("yours", "works", "refused"):  # it is a second click
                self.start()
        else:
            super().do(intent)

    def state(self) -> Json:
        """Return what the page shows, ready for JSON."""
        if self.phase == "ready":
            with TemporaryDirectory() as folder:
                offered = self._game.mechanisms(Path(folder))
            tools = [{"name": tool.name} for one in offered for tool in one.tools]
            frame = {"frame": [], "undo": False, "ask": 0, "faults": True, "tools": tools}
            frame["remarks"] = [[None, self._game.prompt], [None, self._game.note]]
            return {"phase": "ready", "head": self.head, "again": "Start", **frame}
        state, messages = super().state(), self.messages
        state["tools"] = [
            {**form, "ready": self._filled(form["name"], messages)} for form in state["tools"]
        ]
        again = "Play again" if self.phase in ("ended", "left", "broken") else ""
        remarks = [[one.good, one.text] for one in self.remarks]
        return {**state, "faults": True, "again": again, "remarks": remarks}

    def body(self) -> Json:
        """Return the request that the page shows; at the end, the whole array."""
        if self.phase == "yours" or self.agent is None:
            return super().body()
        return self.agent.request()

    def _filled(self, tool: str, messages: Sequence[Json]) -> Json:
        """What a button puts into a tool's form, as text by argument; nothing for most tools."""
        if tool not in self._game.ready:
            return {}
        calls = (block for one in messages for block in blocks_of(one["content"]))
        inputs = [one["input"] for one in calls if one.get("name") == tool]
        last: Mapping[str, Any] = inputs[-1] if inputs else self._game.ready[tool]
        return {name: _written(one) for name, one in last.items()}

    def _card(self) -> str:
        """The static form: what the model saw first, and what came of it."""
        last = views.refusal(self.error) if self.error else None
        said = "".join(f"<li>{esc(one)}</li>" for one in self.remarks)
        return (
            "<p><strong>Be the model: this is everything it sees.</strong></p>"
            f"{views.first_sight(self._first)}"
            "<p>In JupyterLab you answer here. This time a script did:</p>"
            f"{views.transcript(self.messages, last)}{f'<ul>{said}</ul>' if said else ''}"
        )


class _Others:
    """The learner's replies for the first agent, and those of a function for all others."""

    def __init__(self, given: Given, others: Any) -> None:
        self._given, self._others = given, others

    def answer(self, request: Request, lane: str) -> Reply | Failure:
        """The reply to a request."""
        if self._others is None or lane == "lead":
            return self._given.answer(request, lane)
        return Scripted(self._others).answer(request, lane)


class Careless(Mechanism):
    """Forgets the results of calls after single replies, to show how the API answers that."""

    def __init__(self, faults: Sequence[str], given: Given) -> None:
        self._faults, self._given = faults, given

    def before_model(self, agent: Agent) -> None:
        """Drop the results of the last calls, if that is the fault of the last reply."""
        used, last = self._given.used.total(), blocks_of(agent.messages[-1]["content"])
        forgets = used and self._faults[used - 1] == "forget"
        if forgets and any(one["type"] == "tool_result" for one in last):
            agent.rewrite(agent.messages[:-1], "the harness forgot the tool_result")


def _written(value: Any) -> str:
    """An argument as a form takes it: a text as it is, a list as JSON with an item a line."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    lines = ",\n ".join(json.dumps(one, ensure_ascii=False) for one in value)
    return f"[{lines}]"

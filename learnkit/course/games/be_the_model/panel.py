"""Be the model: the learner takes the model's place, and answers the loop's requests.

A page shows what a model sees, and nothing else. The learner calls tools with forms made from their
schemas, or writes text, and watches the harness act. Nothing runs before the page's Start button is
pressed. Without a page a script plays, and one card shows what the model saw, and the result.
"""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from learnkit.core import tool_form as forms
from learnkit.core.agent import Outcome
from learnkit.course.games.be_the_model.session import OVER, Factory, Judge, Played, Session, silent
from learnkit.course.games.playing import PLAYING
from learnkit.errors import LearnkitError, UsageError, described
from learnkit.events.log import EventLog
from learnkit.events.text import blocks_of
from learnkit.views.drawing.text import esc

if TYPE_CHECKING:
    from learnkit.clients.scripted import Policy, Reply, Script
    from learnkit.course.content import Remark

Json = dict[str, Any]

_READY = "Press Start, and you are the model."
_PRESS = "it waits for you to press Start in its cell"


class BeTheModel:
    """A run in which the learner is the model; as the last line of a cell, it shows its page."""

    def __init__(
        self,
        agent_factory: Factory,
        prompt: str,
        script: Script = (),
        *,
        static: bool = False,
        others: Policy | None = None,
        judge: Judge = silent,
        ready: Mapping[str, Mapping[str, Any]] | None = None,
        over: Callable[[], object] = lambda: None,
    ) -> None:
        self._screens: list[Callable[[Json], object]] = []
        self._lock = threading.Lock()
        self._seq = 0
        self._widget: Any = None
        self._prompt, self._over, self._ready = prompt, over, ready or {}
        self._run: Session | Played | None = None
        self._session = partial(
            Session,
            agent_factory,
            prompt,
            others=others,
            judge=judge,
            over=self._ended,
        )
        if static:
            with ExitStack() as stack:
                stack.callback(over)
                self._run = Played(agent_factory, prompt, script, judge=judge)
                self._run.close()
        else:
            self._cell = PLAYING.place()

    # For code in later cells

    def start(self) -> None:
        """Start the run, or end it and start another one; the page's button does this."""
        if isinstance(self._run, Played):
            raise UsageError("the script has played this game; there is nothing to start")
        self.close()
        PLAYING.begin(self._cell, self)
        try:
            session = self._session(asked=self._run.asks if self._run else 0)
        except BaseException:
            self._ended()
            raise
        self._run = session
        session.changed = self._show
        self._show()

    @property
    def outcome(self) -> Outcome:
        """How the run ended."""
        outcome = self._run.outcome if self._run else None
        if outcome is None:
            raise UsageError(f"the game has no outcome yet: {self._why()}") from self.error
        return outcome

    @property
    def finished(self) -> bool:
        """Whether the run has ended, so that it has an outcome."""
        return self._run is not None and self._run.outcome is not None

    @property
    def messages(self) -> list[Json]:
        """A copy of the message array as it is now; before the start, it has only the prompt."""
        if self._run is None:
            return [{"role": "user", "content": self._prompt}]
        return copy.deepcopy(list(self._run.agent.messages))

    @property
    def events(self) -> EventLog:
        """The log of the run, from its start; before that, an empty one."""
        return self._run.agent.events if self._run else EventLog()

    @property
    def remarks(self) -> Sequence[Remark]:
        """What the game says about how it was played; nothing before its end."""
        return self._run.remarks if self._run else ()

    @property
    def error(self) -> Exception | None:
        """The exception of the last request, if the API refused it."""
        return self._run.error if self._run else None

    def send(self, *parts: Reply | str | Json) -> None:
        """Answer from code instead of on the page: ``game.send(lk.use("bash", command="ls"))``."""
        from learnkit.clients.scripted import reply

        self._live().send(reply(*parts, latency=0.0))

    def take_back(self) -> None:
        """After a refusal: go back to before the reply that led to it."""
        self._live().take_back()

    def wait(self, timeout: float | None = None) -> str:
        """Wait until it is the learner's turn, or the run is over."""
        return self._live().wait(timeout)

    def close(self) -> None:
        """Stop the run; no thread is left. Twice is no error, and it can be started again."""
        if self._run is not None:
            self._run.close()

    def __enter__(self) -> BeTheModel:
        if self._run is None:
            self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        from learnkit.events.sentences import stopped
        from learnkit.events.text import count, listed, quoted

        if self._run is None:
            return f"be the model: {_PRESS}."
        names = [event.data["name"] for event in self.events if event.type == "tool.started"]
        calls = f"calls {listed(names)}" if names else "calls nothing"
        done = f"be the model: {count(self._run.agent.turns, 'turn')}, {calls}"
        if not self.finished:
            return f"{done}; {self._why()}"
        reason, text = self.outcome.reason, self.outcome.text
        if reason != "end_turn":
            return f"{done}; {stopped(reason)}."
        return f"{done}, and ends with {quoted(text, 120)}." if text else f"{done}; says nothing."

    def _repr_mimebundle_(self, **options: Any) -> Any:
        if isinstance(self._run, Played):
            return {"text/html": _card(self._run), "text/plain": repr(self)}
        if self._widget is None:
            from learnkit.course.games.be_the_model.widget import SessionPanel

            with self._lock:
                self._widget = SessionPanel(self.act, self._message())
                self._screens.append(self._widget.send)
        return self._widget._repr_mimebundle_(**options)

    # What a page shows, and its intents

    def watch(self, screen: Callable[[Json], object]) -> None:
        """Call ``screen``, in any thread, with each new state and each problem."""
        self._screens.append(screen)

    def state(self) -> Json:
        """Return what a page shows now, ready for JSON; ``README.md`` explains the keys."""
        from learnkit.views import request as views

        if self._run is None:
            ready = {"phase": "ready", "head": _READY, "frame": [], "tools": [], "undo": False}
            return {**ready, "ask": 0, "faults": True, "again": "Start", "remarks": []}
        session = self._live()
        body = session.agent.request()
        if session.phase == "yours" and session.request is not None:
            body = session.request
        body = {**body, "messages": list(body["messages"])}
        refusal = views.refusal(session.error) if session.phase == "refused" else None
        frame = views.fragments(body, refusal, over=session.phase in OVER)
        return {
            "ask": session.asks,
            "phase": session.phase,
            "head": session.head,
            "frame": [list(one) for one in frame.items()],
            "tools": [
                {**forms.form(spec), "ready": self._filled(spec["name"], body["messages"])}
                for spec in body.get("tools") or []
            ],
            "undo": session.phase == "refused" and session.request is not None,
            "faults": True,
            "again": "Play again" if session.phase in OVER else "",
            "remarks": [[one.good, one.text] for one in session.remarks],
        }

    def act(self, intent: Json) -> None:
        """Do what the learner asked for on the page; if that is impossible, the page says why."""
        try:
            self._act(intent)
        except UsageError as error:
            problem: Json = {"problem": str(error)}
            if isinstance(error, forms.FormError):
                problem |= {"part": error.part, "field": error.field}
            for screen in self._screens:
                screen(problem)

    def _act(self, intent: Json) -> None:
        from learnkit.clients.scripted import Reply

        if intent.get("want"):
            return self._show()
        if intent.get("start"):
            if self._run is None or self._live().phase in OVER:  # and not for a second click
                try:
                    self.start()
                except LearnkitError:
                    raise
                except Exception as error:  # of the learner's own mechanisms
                    raise UsageError(described(error)) from error
            return None
        session = self._live()
        if intent.get("stop"):
            session.leave()
        elif intent.get("back"):
            session.take_back()
        elif "reply" in intent:
            if intent.get("ask") != session.asks:
                raise UsageError("this answers an earlier request: look again, and send again")
            given, stop = intent["reply"], None
            if isinstance(given, str):
                content, stop = forms.parse(given)
            else:
                content = forms.assemble(given, (session.request or {}).get("tools") or [])
            reply = Reply(tuple(content), stop, latency=0.0)
            session.send(reply, str(intent.get("fault") or ""))
        return None

    def _filled(self, tool: str, messages: Sequence[Json]) -> Json:
        """What a button puts into a tool's form, as text by argument; nothing for most tools."""
        if tool not in self._ready:
            return {}
        calls = (block for one in messages for block in blocks_of(one["content"]))
        inputs = [one["input"] for one in calls if one.get("name") == tool]
        last: Mapping[str, Any] = inputs[-1] if inputs else self._ready[tool]
        return {name: _written(one) for name, one in last.items()}

    def _show(self) -> None:
        with self._lock:  # states arrive in the order in which they are made
            message = self._message() if self._screens else {}
            for screen in self._screens:
                screen(message)

    def _message(self) -> Json:
        self._seq += 1
        return {"seq": self._seq, "state": self.state()}

    def _live(self) -> Session:
        if isinstance(self._run, Played):
            raise UsageError("the script has played this game; there is nothing to answer")
        if self._run is None:
            raise UsageError(f"there is nothing to answer yet: {_PRESS}")
        return self._run

    def _why(self) -> str:
        return self._run.why() if self._run else _PRESS

    def _ended(self) -> None:
        PLAYING.over(self)
        self._over()


def _card(run: Played) -> str:
    """The static form: what the model saw first, and what came of it."""
    from learnkit.views import request as views

    last = views.refusal(run.error) if run.error else None
    return (
        "<p><strong>Be the model: this is everything it sees.</strong></p>"
        f"{views.first_sight(run.first)}"
        "<p>In JupyterLab you answer here. This time a script did:</p>"
        f"{views.transcript(run.agent.messages, last)}{_said(run.remarks)}"
    )


def _written(value: Any) -> str:
    """An argument as a form takes it: a text as it is, a list as JSON with an item a line."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    lines = ",\n ".join(json.dumps(one, ensure_ascii=False) for one in value)
    return f"[{lines}]"


def _said(remarks: Sequence[Remark]) -> str:
    """What the game says at its end, as a list."""
    items = "".join(f"<li>{esc(one)}</li>" for one in remarks)
    return f"<ul>{items}</ul>" if items else ""

"""``learnkit chat -p``: one prompt, one answer, for scripts; nobody is asked anything.

Standard output has the answer and nothing else, or JSON. The exit code is 0 when the model is done,
1 after an error, and 2 when something has kept it from being done: a call that nobody could allow,
a limit, a refusal of the model's.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from learnkit.core.usage import Usage
from learnkit.errors import LearnkitError
from learnkit.events.log import Event
from learnkit.events.text import arguments, clean, one_line
from learnkit.terminal.api_error import sentence, waiting
from learnkit.terminal.output import Output
from learnkit.terminal.session import Session, open_agent, run_agent
from learnkit.terminal.signals import LAST_REPLY, be_silent

if TYPE_CHECKING:
    from learnkit.core.agent import Agent, Outcome
    from learnkit.mechanisms.rules import Rules

Form = Literal["text", "json", "stream-json"]
#: The keys of each result, and what they hold when nothing could begin.
NOTHING: dict[str, Any] = {
    **{"type": "result", "text": "", "reason": "", "turns": 0, "usage": None, "cost": None},
    **{"refused": [], "session": None},
}

DONE, ERROR, STOPPED = 0, 1, 2
_ENDS = ("end_turn", "stop_sequence")


def whole_prompt(prompt: str) -> str:
    """The prompt, with what comes on standard input after it."""
    piped = "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read()
    return "\n\n".join(part for part in (prompt, piped) if part.strip())


class Headless:
    """One run of the agent.

    Args:
        opened: the session.
        rules: what may run; whatever would have to be asked about is refused.
        form: what is printed.
        options: as for :class:`learnkit.Agent`.
    """

    def __init__(
        self,
        opened: AbstractContextManager[Session],
        rules: Rules,
        form: Form = "text",
        **options: Any,
    ) -> None:
        self._opened, self._rules, self._form, self._options = opened, rules, form, options
        self._refused: list[str] = []
        self._agent: Agent | None = None
        self._began = 0  # in the log
        self._broken: set[str] = set()  # what was said of hooks that could not be started
        self._signal: int = signal.SIGINT

    def run(self, prompt: str) -> int:
        """Work on a prompt; return the exit code."""
        import anthropic

        signal.signal(signal.SIGTERM, self._interrupted)
        code, problem = ERROR, ""
        with ExitStack() as stack:
            session = stack.enter_context(self._opened)
            over = threading.Timer(LAST_REPLY, lambda: os._exit(code))
            over.daemon = True
            stack.callback(over.start)
            try:
                code = self._work(session, stack, prompt)
            except KeyboardInterrupt:
                code, problem = 128 + self._signal, "interrupted"
            except anthropic.APIError as error:
                problem = sentence(error, str(session.client.base_url))
            except BrokenPipeError:  # nobody reads any more
                be_silent()
            except (LearnkitError, anthropic.AnthropicError, OSError) as error:
                problem = str(error)
            if problem:
                failed(problem, json=self._form != "text", **self._about(session))
            sys.stdout.flush()
        over.cancel()
        return code

    def _work(self, session: Session, stack: ExitStack, prompt: str) -> int:
        from rich.console import Console

        from learnkit.mechanisms.permission import Permission
        from learnkit.terminal.attach import attached

        permission, errors = Permission(self._rules), Output(Console(stderr=True, highlight=False))
        self._agent = agent = open_agent(session, stack, errors.wait, permission, **self._options)
        self._began = len(agent.events)
        if self._form == "stream-json":
            agent.events.subscribe(lambda event: _print(event._asdict()))
        agent.events.subscribe(self._event)
        given, said = attached(prompt, session.workspace)
        for line in said:
            _tell(line)
        outcome = run_agent(agent, given, _tell)
        self._say(session, outcome)
        if session.record is not None and session.record.problem:
            _tell(session.record.problem)
        return DONE if outcome.reason in _ENDS and not self._refused else STOPPED

    def _interrupted(self, number: int, frame: object) -> None:
        self._signal = number
        raise KeyboardInterrupt

    def _event(self, event: Event) -> None:
        """Note a call that nobody could allow, of whichever agent; say what the user must know."""
        data = event.data
        if event.type == "hook.ran" and data["outcome"] == "not started":
            if data["said"] not in self._broken:
                _tell(str(data["said"]))
            self._broken.add(data["said"])
        if event.type == "model.retried":
            _tell(waiting(data))
        if event.type == "tool.started" and "no user can be asked" in str(data.get("refused")):
            self._refused.append(f"{data['name']} {one_line(arguments(data['input']))}")

    def _about(self, session: Session) -> dict[str, Any]:
        """What a result says of the run, however it has ended."""
        agent, refused = self._agent, self._refused
        used = Usage.of(agent.events[self._began :], agent.name) if agent is not None else Usage()
        usage = asdict(used)
        about = {"cost": usage.pop("cost"), "usage": usage, "refused": refused}
        name = None if session.record is None else session.record.path.stem
        return {**about, "turns": agent.turns if agent is not None else 0, "session": name}

    def _say(self, session: Session, outcome: Outcome) -> None:
        if self._form == "text":
            print(outcome.text)
        else:
            said = {"text": outcome.text, "reason": outcome.reason}
            _print({**NOTHING, **self._about(session), **said})
        if outcome.reason not in _ENDS:
            _tell(f"ended by {outcome.reason.replace('_', ' ')}")
        for call in self._refused:
            _tell(f"refused, since nobody can be asked: {call}; --allow takes a pattern for it")


def failed(problem: str, *, json: bool, **about: Any) -> None:
    """Say why there is no answer: on standard error, and as JSON if that was asked for."""
    _tell(problem)
    if json:
        _print({**NOTHING, **about, "reason": "error", "error": problem})


def _print(said: dict[str, Any]) -> None:
    print(json.dumps(said), flush=True)


def _tell(text: str) -> None:
    print(f"learnkit: {clean(text)}", file=sys.stderr)

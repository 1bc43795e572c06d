"""The terminal: a conversation with the whole harness.

The agent runs in the main thread, and the keyboard has its own. So you can type, look at the
board and answer a question while the agent works, and Ctrl-C reaches the agent wherever it is.
A cancelled turn keeps the conversation, and its message array stays valid.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnkit.core.transcript import texts
from learnkit.errors import LearnkitError
from learnkit.events.text import clean, one_line
from learnkit.mechanisms.memory import Memory
from learnkit.runtime.clock import stopped_by
from learnkit.runtime.workspace import STATE
from learnkit.terminal.api_error import sentence
from learnkit.terminal.commands import COMMANDS, Opened, Prompt, answer, in_files, parsed
from learnkit.terminal.gauge import fitted, gauge
from learnkit.terminal.input import Keyboard, Lines, can_draw, history_file
from learnkit.terminal.output import Output
from learnkit.terminal.permission import Consent
from learnkit.terminal.session import Session, open_agent, run_agent
from learnkit.terminal.signals import LAST_REPLY, be_silent, heard
from learnkit.terminal.steering import Steering, UserGoal

if TYPE_CHECKING:
    from prompt_toolkit.completion import Completer
    from rich.console import Console

    from learnkit.core.agent import Agent
    from learnkit.core.content import Block
    from learnkit.mechanisms.rules import Rules
    from learnkit.terminal.saved import Record

Read = Callable[[str], str]

#: Lines of the agent's list above the input.
PANEL = 5


class Chat:
    """A conversation in a terminal.

    Attributes:
        agent: the agent, once the session is open.
        code: the exit code: above 128 if a signal has ended it.
    """

    agent: Agent

    def __init__(
        self,
        sessions: Callable[[Record], AbstractContextManager[Session]],
        record: Record,
        rules: Rules,
        workspace: str | Path = ".",
        *,
        console: Console | None = None,
        read: Read | None = None,
        remote: str = "",
    ) -> None:
        from rich.console import Console

        self._sessions, self._workspace = sessions, Path(workspace)
        self._record, self._next = record, True  # what is opened, and whether it still has to be
        self._rules, self._remote = rules, remote
        drawn = read is None and can_draw()
        console = console or Console(highlight=False)
        self.output = Output(console, markdown=drawn, changed=self._changed)
        self._keyboard = Keyboard(self.output, self, history_file()) if drawn else None
        self._input = self._keyboard or Lines(read or input, self.output)
        self.code = 0
        self._ready = self._running = self._leaving = False
        self._heard_end = False
        self._presses = 0  # of Ctrl-C, since the user has sent something
        self._gauge: tuple[str, list[str]] = ("", [])  # the place; context, turns and cost

    # In the main thread

    def run(self) -> int:
        """Talk until the user leaves, or a signal ends it."""
        also = [signal.SIGINT] if self._keyboard is not None else []
        with (
            heard(self._heard, signal.SIGTERM, signal.SIGHUP, *also),
            contextlib.ExitStack() as stack,
        ):
            stack.callback(self._close)
            if self._keyboard is not None:
                self._keyboard.start()
            over = threading.Timer(LAST_REPLY, lambda: os._exit(self.code))
            over.daemon = True
            stack.callback(over.cancel)
            try:
                while self._next:
                    self._next = False
                    self._converse(over)
            except KeyboardInterrupt:
                if not self._leaving:
                    raise
        return self.code

    def _converse(self, over: threading.Timer) -> None:
        """Open a session, and talk in it until the user leaves it for another one, or for good."""
        with contextlib.ExitStack() as stack:
            session = stack.enter_context(self._sessions(self._record))
            try:
                self._open(session, stack)
            except OSError as error:
                raise LearnkitError(clean(str(error))) from None
            finally:
                stack.callback(self._part, over)
            self._talk()

    def _part(self, over: threading.Timer) -> None:
        """The session ends, which may take time."""
        if self._next:
            self._ready = False
            return
        self._close()
        over.start()

    def _open(self, session: Session, stack: contextlib.ExitStack) -> None:
        self._workspace = session.workspace
        consent = Consent(self._rules, self._input.ask, self._keep)
        wait = self.output.wait
        guarded = any(one.moment == "prompt" for one in session.settings.hooks)
        steering = [] if guarded else [Steering(self._steer)]  # such a hook sees prompts only
        own = [*steering, UserGoal(), Memory(session.workspace / STATE / "memory")]
        self.agent = open_agent(session, stack, wait, consent, own, remote=self._remote)
        self.agent.hear = self._hear
        self.output.api = str(getattr(self.agent.client, "base_url", ""))
        self.agent.events.subscribe(self.output.event)
        self.output.begin(self.agent.events)
        if len(session.events):
            self._show_end()
        self._measure()
        self._ready = True
        self.output.say(f"learnkit: {len(self.agent.tools)} tools; /help lists the commands", "dim")
        self._changed()

    def _show_end(self) -> None:
        """Show how a conversation ended that goes on."""
        own = [event for event in self.agent.events if event.lane == self.agent.name]
        prompts = [one.data["prompt"] for one in own if one.type == "run.started"]
        self._echo(next(texts(next(filter(None, reversed(prompts)), "")), ""))
        ends = [event for event in own if event.type in ("run.started", "run.ended")]
        if ends and ends[-1].type == "run.ended":
            self.output.show(self.output.rendered(str(ends[-1].data["text"])))
        else:
            self.output.say("(this turn was cut off; say how to go on)", "dim")

    def _talk(self) -> None:
        while not (self._leaving or self._next):
            try:
                line = self._input.next(" · ".join(self._gauge[1]))
                if self._keyboard is not None and line.strip():
                    self._echo(line.strip("\n"))
            except KeyboardInterrupt:
                if not self._leaving:
                    self.output.say("\n(/quit leaves)", "dim")
                continue
            except EOFError:
                return
            text = line.strip()
            if (command := parsed(text)) is not None:
                if command[0] in ("quit", "exit"):
                    return
                self._command(text)
            elif text:
                self.turn(line.strip("\n"))

    def turn(self, text: str) -> None:
        """Let the agent work on a prompt; Ctrl-C cancels it."""
        import anthropic

        from learnkit.terminal.attach import attached

        before = list(self.agent.messages)
        try:
            prompt, said = attached(text, self._workspace)
            for line in said:
                self.output.say(f"({clean(line)})", "dim")
            outcome = self._run_agent(prompt)
        except KeyboardInterrupt:
            self._running = False
            self._stop_teammates()
            if self._keyboard is not None:
                self._keyboard.take_back()
            self.output.say("(cancelled; the conversation is kept)", "dim")
        except (LearnkitError, anthropic.AnthropicError, OSError) as error:  # also a full disk
            refused = isinstance(error, anthropic.APIError)
            why = sentence(error, self.output.api, chat=True) if refused else clean(str(error))
            self.output.say(why, "red")
            forgotten = self.agent.messages == before
            if self._keyboard is not None:  # what waits would fail as well
                self._keyboard.take_back()
                self._keyboard.give_back(text * forgotten)
            elif forgotten:
                self.output.say("(the prompt was not answered, and is forgotten)", "dim")
            if not forgotten:
                how = "/rewind lists the prompts that you can go back to"
                self.output.say(f"(the conversation is kept; {how})", "dim")
        else:
            if outcome.reason not in ("end_turn", "stop_sequence"):
                self.output.say(f"({outcome.reason.replace('_', ' ')})", "dim")

    def _run_agent(self, prompt: str | list[Block]) -> Any:
        self.output.status.start()
        try:
            self._running = True
            return run_agent(self.agent, prompt, lambda line: self.output.say(line, "dim"))
        finally:
            self._running = False
            self.output.end()
            self.output.status.stop()
            if self._record.problem:
                self.output.say(self._record.problem, "red")
            self._measure()
            self._changed()

    def _hear(self, kind: str, text: str) -> None:
        """Show a piece of the agent's reply."""
        if kind == "text":
            self.output.write(text)
        elif kind == "output":
            self.output.status.printed += text

    def _steer(self) -> list[str]:
        """What the user has said meanwhile; a command or a picture waits until the turn is over."""
        from learnkit.terminal.attach import in_words

        if self._keyboard is None:
            return []
        known: dict[str, str] = {}

        def wanted(line: str) -> bool:
            known[line] = "" if parsed(line) else in_words(line, self._workspace)
            return bool(known[line])

        taken = self._keyboard.take(wanted)
        for line in taken:
            self._echo(line.strip("\n"))
        return [known[line] for line in taken]

    def _stop_teammates(self) -> None:
        """An interrupted turn is over for all of them, also when the lead was not waiting."""
        from learnkit.mechanisms.teams.lead import Team

        team = Team.of(self.agent)
        for member in team.members if team else ():
            member.stop.set()

    def _command(self, line: str) -> None:
        """Answer a command; Ctrl-C ends its wait for a database."""
        try:
            self._running = True
            try:
                self._answer(line)
            finally:
                self._running = False
                self._measure()
        except KeyboardInterrupt:
            self.output.say("(cancelled)", "dim")

    def _command_meanwhile(self, line: str) -> None:
        """Answer a command beside a turn; what ends the turn ends its wait for a database."""

        def work() -> None:
            with stopped_by(stop):
                self._answer(line)

        stop = self.agent.stop
        threading.Thread(target=work, name="command", daemon=True).start()

    def _answer(self, line: str) -> None:
        name = (parsed(line) or ("", ""))[0]
        before = self.agent.messages
        match answer(self.agent, line):
            case Opened(path):
                self._switch(path)
            case Prompt(text):
                self.turn(text)
            case said if name == "diff":
                from rich.syntax import Syntax

                theme: Any = {"theme": "ansi_dark", "background_color": "default"}
                self.output.show(Syntax(clean(said), "diff", word_wrap=True, **theme))
            case said:
                self.output.say(clean(said))
        gone = before[len(self.agent.messages) :] if name == "rewind" else []
        if gone and self._keyboard is not None:  # the prompt may be changed, and sent again
            self._keyboard.give_back(next(texts(gone[0]["content"]), ""))

    def _switch(self, path: Path | None) -> None:
        """Leave this session for another one, or for a new one."""
        from learnkit.terminal.saved import Record

        if path == self._record.path:
            self.output.say("this is that session", "dim")
        else:
            try:
                self._record, self._next = Record(self._record.folder, path), True
            except (LearnkitError, OSError) as error:  # it is open elsewhere, or damaged
                self.output.say(clean(str(error)), "red")

    def _keep(self, patterns: list[str]) -> None:
        """Keep what the user allows for good, in this project."""
        from learnkit.mechanisms.settings import Settings

        try:
            Settings.keep(self._workspace, patterns)
        except (LearnkitError, OSError) as error:
            self.output.say(f"(not kept: {clean(str(error))})", "red")

    def _measure(self) -> None:
        """Note how full the context is; it takes too long to do so for each key."""
        self._gauge = gauge(self.agent, self._workspace)

    def _echo(self, text: str) -> None:
        """Show what was sent, above the input line."""
        from rich.text import Text

        lines = clean(text).split("\n")
        said = Text("\n> " + lines[0], style="bold")
        for line in lines[1:]:
            said.append("\n  " + line)
        self.output.show(said)

    # What the keyboard tells of, in its thread

    def typed(self, line: str) -> None:
        """The user has sent something: it is answered at once if it can be, else it waits."""
        self._presses = 0
        text = line.strip()
        command = parsed(text)
        known = COMMANDS.get(command[0]) if command is not None else None
        if command is not None and command[0] in ("quit", "exit"):
            self.left()
        elif self._running and known is not None and known.at_once:
            self._echo(text)
            self._command_meanwhile(text)
        elif self._keyboard is not None and text:
            self._keyboard.send(line)
            if self._running:
                self.agent.wake.set()  # it may wait for a job
                self._changed()

    def interrupted(self) -> None:
        """The user has pressed Ctrl-C: this stops what runs, and a second one leaves."""
        self._presses += 1
        if self._keyboard is not None:
            self._keyboard.refuse_all()
        if self._presses > 1 or not self._ready:
            self.left()
        elif not self._running:
            self.output.say("(Ctrl-C again, or Ctrl-D, leaves)", "dim")
        else:
            self._interrupt()

    def left(self) -> None:
        """The user wants to leave, or the terminal is gone."""
        self._leaving = True
        if self._keyboard is not None:
            self._keyboard.send(None)
        if self._running or not self._ready:
            self._interrupt()

    def completer(self) -> Completer:
        """What knows the commands, and the files of the workspace."""
        from learnkit.terminal.completion import Known

        purposes = {name: one.description for name, one in in_files(self._workspace).items()}
        purposes |= {name: one.purpose for name, one in COMMANDS.items()}
        return Known(purposes, lambda: self._workspace)

    def status(self, width: int) -> str:
        """What goes on; else how long the conversation is."""
        if not self._ready:
            shown = [self.output.status.waiting or "starting …"]
        elif line := self.output.status.line(width):
            shown = [line]
        else:
            shown = fitted(["/help", self.agent.model, self._rules.mode], *self._gauge, width - 1)
        printed = [f"│ {line}" for line in self.output.status.printed_lines]
        queued = self._keyboard.queued if self._keyboard is not None and self._running else []
        waits = [f"queued (↑ takes it back): {line}" for line in queued[:PANEL]]
        lines = [*printed, *(self._panel() if self._ready else []), *waits, *shown]
        return "\n".join(one_line(line, max(1, width - 1)) for line in lines)

    def _panel(self) -> list[str]:
        """The agent's list as long as something on it is open: what is done, and what comes."""
        from learnkit.mechanisms.todo import Todo

        todo = Todo.of(self.agent)
        if todo is None or not todo.open:
            return []
        lines = [line for line in todo.render().splitlines() if not line.startswith("[x]")]
        *items, done = lines
        return [*items[:PANEL], f"{done} · /todo shows all" if items[PANEL:] else done]

    def working(self) -> bool:
        """Whether something goes on that takes time."""
        return self.output.status.busy

    def _changed(self) -> None:
        if self._keyboard is not None:
            self._keyboard.refresh()

    def _interrupt(self) -> None:
        main = threading.main_thread().ident
        if main is not None:
            signal.pthread_kill(main, signal.SIGINT)

    # The end

    def _close(self) -> None:
        """Give the terminal back; from here on nothing is asked, and no signal is needed."""
        self._heard_end = True
        if self._keyboard is not None:
            self._keyboard.close()

    def _heard(self, number: int, frame: object) -> None:
        """A signal has come: leave, or cancel the turn."""
        if number != signal.SIGINT:
            self.code, self._leaving = 128 + number, True
            if number == signal.SIGHUP:
                be_silent()
        if self._heard_end:
            return
        if self._leaving:
            self._heard_end = True  # what ends now is not interrupted again
            raise KeyboardInterrupt
        if self._running:
            raise KeyboardInterrupt

"""The terminal: a conversation with the whole harness, line by line.

Text streams as the model writes it, and a tool call is one line, with its time. The user is asked
before a call that could change something. Ctrl-C cancels the turn and keeps the conversation.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from learnkit.core.events import LANE, PURPOSE, Event, EventLog
from learnkit.core.interface import Call
from learnkit.core.token_count import estimate_tokens
from learnkit.errors import LearnkitError
from learnkit.harness import full_agent
from learnkit.mechanisms.permission import Permission
from learnkit.mechanisms.protocols.lead import OPEN
from learnkit.terminal.slash_commands import answer
from learnkit.views.drawing.text import arguments, count, one_line

if TYPE_CHECKING:
    import anthropic
    from anthropic.types import Message
    from rich.console import Console

#: Tools that run without asking, because they change no file and start no process.
ALLOWED: tuple[str, ...] = (
    *OPEN,
    *("read_file", "load_skill", "task_list", "task_get", "check_background"),
    *("todo", "compact", "task", "task_create", "spawn_teammate", "list_teammates", "broadcast"),
    *("shutdown_request", "worktree_list", "worktree_status", "worktree_events"),
)

Read = Callable[[str], str]


class Streaming:
    """A client that shows the text of one agent while it is written.

    Args:
        client: the client that sends the requests.
        show: called with each piece of text, and with a line end after a reply.
        lane: name of the agent whose text is shown; the others' requests don't stream.
    """

    def __init__(
        self, client: anthropic.Anthropic, show: Callable[[str], object], lane: str = "lead"
    ) -> None:
        self._client, self._show, self._lane = client, show, lane
        self.messages = self
        self.clock = getattr(client, "clock", None)
        self.model = getattr(client, "model", None)

    def create(self, **request: Any) -> Message:
        """Return one reply.

        Args:
            request: as for ``client.messages.create``.
        """
        if LANE.get() != self._lane or PURPOSE.get() != "conversation":
            reply: Message = self._client.messages.create(**request)
            return reply
        said = False
        with self._client.messages.stream(**request) as stream:
            for text in stream.text_stream:
                said = said or bool(text)
                self._show(text)
            if said:
                self._show("\n")
            return stream.get_final_message()


class Chat:
    """A conversation in a terminal.

    Args:
        client: an ``anthropic.Anthropic`` with a clock, as :func:`learnkit.connect` makes it.
        workspace: the folder that the agent works in.
        read: asks the user for a line, as ``input`` does.
        console: where to write; by default the terminal.
        events: the log; by default a new one.
        ask: whether to ask before a call that could change something.
        without: names of mechanisms to leave out, as for :func:`learnkit.full_agent`.
    """

    def __init__(
        self,
        client: anthropic.Anthropic,
        workspace: str | Path,
        *,
        read: Read = input,
        console: Console | None = None,
        events: EventLog | None = None,
        ask: bool = True,
        without: Collection[str] = (),
    ) -> None:
        if console is None:
            from rich.console import Console

            console = Console(highlight=False, soft_wrap=True)
        self.console, self._read = console, read
        self._inputs: dict[str, str] = {}  # of running calls: id -> text
        self._lock = threading.Lock()  # one question at a time, also from teammates
        rules: dict[str, Any] = {**dict.fromkeys(ALLOWED, "allow"), "*": "ask" if ask else "allow"}
        streaming: Any = Streaming(client, self._write)
        self.agent = full_agent(
            streaming,
            workspace,
            permission=Permission(rules, self._ask),
            without=without,
            events=events,
        )
        self.agent.events.subscribe(self._shown)

    def run(self, first: str = "") -> None:
        """Talk until the user leaves.

        Args:
            first: what the first empty line means.
        """
        self._say(f"learnkit: {len(self.agent.tools)} tools; /help lists the commands", "dim")
        while True:
            try:
                line = self._read(f"\n[{self.meter}] > ").strip()
            except KeyboardInterrupt:
                self._say("\n(/quit leaves)", "dim")
                continue
            except EOFError:
                return
            if not line and first:
                line, first = first, ""
                self._say(line)
            if line in ("/quit", "/exit"):
                return
            if line.startswith("/"):
                self._say(answer(self.agent, line))
            elif line:
                self.turn(line)

    def turn(self, text: str) -> None:
        """Let the agent work on a prompt; Ctrl-C cancels it.

        Args:
            text: the prompt.
        """
        import anthropic

        try:
            outcome = self.agent.run(text)
        except KeyboardInterrupt:
            self._say("\n(cancelled; the conversation is kept)", "dim")
        except anthropic.APIError as error:
            self._say(f"the API: {error}", "red")
        except (LearnkitError, anthropic.AnthropicError) as error:
            self._say(str(error), "red")
        else:
            if outcome.reason not in ("end_turn", "stop_sequence"):
                self._say(f"({outcome.reason.replace('_', ' ')})", "dim")

    @property
    def meter(self) -> str:
        """How long the conversation is, for the prompt."""
        tokens = estimate_tokens(self.agent.messages)
        running = sum(event.type == "model.replied" for event in self.agent.events)
        return f"≈{tokens:,} tokens · {count(running, 'turn')}"

    def _ask(self, call: Call) -> bool | Literal["always"]:
        """Ask the user about a call: once, always, or no."""
        with self._lock:
            self._say(f"{call.name}: {one_line(arguments(call.input), 300)}", "yellow")
            while True:
                try:
                    said = self._read("  run it? [o]nce, [a]lways, [n]o: ").strip().lower()
                except EOFError:
                    return False
                if said in ("o", "once", "y", "yes"):
                    return True
                if said in ("a", "always"):
                    return "always"
                if said in ("n", "no"):
                    return False

    def _shown(self, event: Event) -> None:
        """Print a line about an event: a call with its time, mail, a teammate's status."""
        data, lead = event.data, event.lane == self.agent.name
        who = "" if lead else f"{event.lane} "
        if event.type == "tool.started":
            self._inputs[str(data.get("id"))] = one_line(arguments(data.get("input", {})), 50)
        elif event.type == "tool.ended":
            output = str(data.get("output", ""))
            lines = len(output.splitlines())
            sign = "✗" if data.get("is_error") else "✓"
            more = f", {count(lines, 'line')}" if lines > 1 else ""
            first = one_line(output, 60)
            seconds = f"{data.get('seconds') or 0.0:.1f} s"
            call = f"{data.get('name')} {self._inputs.pop(str(data.get('id')), '')}".strip()
            self._say(f"  → {who}{call} {sign} {seconds}{more}: {first}", "dim")
        elif event.type == "mail.sent" and data["mail"].get("to") == self.agent.name:
            mail = data["mail"]
            self._say(f"  ✉ {mail.get('from')}: {one_line(str(mail.get('content')), 100)}", "cyan")
        elif event.type == "team.status":
            self._say(f"  {data.get('name')} is {data.get('status')}", "dim")
        elif event.type == "compaction.summarised":
            self._say("  (the conversation was summarised)", "dim")

    def _write(self, text: str) -> None:
        self._say(text, end="")

    def _say(self, text: str, style: str = "", end: str = "\n") -> None:
        from rich.text import Text

        self.console.print(Text(text, style=style), end=end)

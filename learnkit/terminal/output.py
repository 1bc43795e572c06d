"""What the terminal shows: whole lines from any thread, replies as Markdown, a call as one line.

The text of a reply is shown while it is written. Each block of its Markdown is printed once it is
complete, and the one still being written is the ``tail``, which the input shows above itself.
Everything that a model, a tool or a teammate wrote is cleaned of control characters first.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from learnkit.events.log import Event, EventLog
from learnkit.events.text import arguments, clean, count, one_line
from learnkit.terminal.api_error import waiting

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

#: How the result of a command that failed ends.
_EXIT = re.compile(r"\[(exit code \d+)\]\s*\Z")

#: Where a line has no end of its own: in a pipe, in columns.
PIPE = 160
#: Lines that are shown of what a running command has printed.
PRINTED = 3

#: Events that are told to the user in a sentence, and its style.
SAID = {
    **dict.fromkeys(("job.ended", "mail.sent", "goal.checked"), "cyan"),
    **dict.fromkeys(("team.status", "instructions.loaded", "compaction.summarised"), "dim"),
    "team.stuck": "red",
}

_LINE_END = re.compile(r"\r\n?|\n")  # what ends a line for a Markdown parser
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Output:
    """The lines above the input."""

    def __init__(
        self,
        console: Console,
        *,
        name: str = "lead",
        markdown: bool = False,
        changed: Callable[[], object] = lambda: None,
    ) -> None:
        self.console, self._name, self._markdown = console, name, markdown
        self._changed = changed
        self.api = ""  # the address of the server that the models are asked at
        self._lock = threading.RLock()  # a line of a reply and a teammate's line never mix
        self._tail = ""
        self._looked = 0  # up to where the tail has been searched for complete blocks
        self._printed = False  # a block of this reply is on the screen
        self.status = Status(name)
        self._numbers: dict[tuple[str, str], int] = {}  # of running calls, by lane and id
        self._calls = 0
        self._broken: set[str] = set()  # hooks that could not be started

    def begin(self, events: EventLog) -> None:
        """A conversation begins, or goes on: count its calls."""
        self._calls = sum(event.type == "tool.started" for event in events)

    @property
    def width(self) -> int:
        """Columns that a line may have."""
        return self.console.width if self.console.is_terminal else max(PIPE, self.console.width)

    @property
    def tail(self) -> str:
        """The part of a reply that is being written."""
        return self._tail

    def say(self, text: str, style: str = "") -> None:
        """Show some lines."""
        from rich.text import Text

        self.show(Text(text, style=style))

    def show(self, what: RenderableType) -> None:
        """Show anything that rich can render, wrapped at words."""
        with self._lock:
            self.console.print(what, soft_wrap=not self.console.is_terminal)

    def wait(self, text: str, over: bool) -> None:
        """Say once what is waited for, unless the line above the input shows it."""
        with self._lock:
            waited, self.status.waiting = self.status.waiting, "" if over else text
            begins = text.partition(";")[0] != waited.partition(";")[0] and not self._markdown
            if text and (over or begins):
                self.say(text, "dim")
        self._changed()

    def write(self, text: str) -> None:
        """Take the next piece of a reply."""
        with self._lock:
            self._tail += text
            self.status.written += len(text)
            if cut := self._complete():
                block, self._tail, self._looked = self._tail[:cut], self._tail[cut:], 0
                self._block(block)
        self._changed()

    def end(self) -> None:
        """Show what is left of a reply: it is complete, or was interrupted."""
        with self._lock:
            block, self._tail, self._looked = self._tail, "", 0
            self._block(block)
            self._printed = False
            self.status.written = 0
        self._changed()

    def rendered(self, text: str) -> RenderableType:
        """A piece of a reply for the console."""
        from rich.markdown import Markdown
        from rich.text import Text

        if not self._markdown:
            return Text(clean(text).removesuffix("\n"))
        return Markdown(clean(text), code_theme="ansi_dark", hyperlinks=False)

    def _block(self, text: str) -> None:
        if not (text.strip() if self._markdown else text):
            return
        if self._printed and self._markdown:
            self.console.print()
        self._printed = True
        self.show(self.rendered(text))

    def _complete(self) -> int:
        """How many characters of the tail are complete blocks, or lines if it is not rendered."""
        if not self._markdown:
            return self._tail.rfind("\n") + 1
        if "\n\n" not in self._tail[max(0, self._looked - 1) :]:
            return 0
        self._looked = len(self._tail)
        return last_block(self._tail)

    # Events

    def event(self, event: Event) -> None:
        """Show a line about an event: a call with its time, mail, a teammate's status."""
        data, name = event.data, self._name
        self.status.event(event)
        if event.lane == name and event.type in ("model.replied", "model.failed", "model.retried"):
            self.end()
        if event.type == "model.retried":
            self.say(f"  {waiting(data, self.api)}", "dim")
        elif event.type == "tool.started":
            self._calls += 1
            self._numbers[event.lane, str(data.get("id"))] = self._calls
            self.status.begin(event, self._calls)
        elif event.type == "tool.ended":
            number = self._numbers.pop((event.lane, str(data.get("id"))), 0)
            given = self.status.end(number)
            self._call(event, number, given)
        elif event.type == "hook.ran" and (data["moment"], data["outcome"]) == ("stop", "refused"):
            self.say(f"  a hook lets the model go on: {one_line(str(data['said']), 200)}", "dim")
        elif event.type == "hook.ran" and data["outcome"] == "not started":
            if data["command"] not in self._broken:  # once: a guard is asked at each call
                self.say(f"  {one_line(str(data['said']), 300)}", "red")
            self._broken.add(data["command"])
        elif event.type in SAID and not (
            event.type == "mail.sent" and data["mail"].get("to") != name
        ):
            from learnkit.views.words import describe

            if event.type == "job.ended":
                self.status.end(str(data["id"]))
            self.say(f"  {describe(event)}", SAID[event.type])
        self._changed()

    def _call(self, event: Event, number: int, given: str) -> None:
        from rich.text import Text

        data, width = event.data, self.width
        output = str(data.get("output", ""))
        lines = len(output.splitlines())
        ended = _EXIT.search(output)
        failed = bool(data.get("is_error") or ended)
        if ended:  # what a command says last is why
            output = f"{ended[1]}: {(output[: ended.start()].strip().splitlines() or [''])[-1]}"
        who = "" if event.lane == self._name else f"{event.lane} "
        call = f"{who}{data.get('name')} {one_line(given, max(12, width // 3))}".rstrip()
        begin = f"  {number or '':>2} {one_line(call, max(20, width - 20))}"
        more = f", {count(lines, 'line')}" if lines > 1 else ""
        rest = f"{data.get('seconds') or 0.0:.1f} s{more}: {one_line(output, 60)}"
        text = Text(begin, style="dim", no_wrap=True)
        text.append(" ✗" if failed else " ✓", style="not dim red" if failed else "not dim green")
        text.append(" " + one_line(rest, max(1, width - text.cell_len - 1)))
        self.show(text)


class Status:
    """What goes on, for the line above the input: since when, how many tokens, which calls."""

    def __init__(self, name: str = "lead") -> None:
        self._name = name
        self._running: dict[int | str, tuple[str, str, str, float]] = {}  # by number, or job
        self._began: float | None = None
        self._about = ""  # before numbers that are estimates
        self._sent = self._received = 0
        self._stopped = False  # the model has, and its run goes on: it waits for a job
        self.waiting = ""  # for what the team's backend waits
        self.written = 0  # characters of the reply that is being written
        self.printed = ""  # what a command that runs has printed

    def start(self) -> None:
        """A run begins: count from here."""
        self._sent = self._received = self.written = 0
        self._running = {n: one for n, one in self._running.items() if one[0]}
        self._began, self._stopped = time.monotonic(), False

    @property
    def busy(self) -> bool:
        """Whether something goes on."""
        return self._began is not None or bool(self._running or self.waiting)

    def stop(self) -> None:
        """The run is over."""
        self._began, self.printed = None, ""

    def event(self, event: Event) -> None:
        """Count the tokens of a reply, and note a job."""
        if event.type == "model.replied":
            from learnkit.core.token_count import sent

            usage: dict[str, Any] = event.data.get("usage") or {}
            self._sent += sent(usage)
            self._received += int(usage.get("output_tokens") or 0)
            self._about = "≈" if usage.get("simulated") else ""
            if event.lane == self._name:
                self._stopped = event.data.get("stop_reason") == "end_turn"
        elif event.type == "model.requested" and event.lane == self._name:
            self._stopped = False
        elif event.type == "job.started":
            job = ("job", event.data["id"], event.data["command"], time.monotonic())
            self._running[event.data["id"]] = job

    @property
    def printed_lines(self) -> list[str]:
        """The last lines that a running command has printed; a new state of a line replaces it."""
        lines = [line.rpartition("\r")[2] for line in self.printed[-4_000:].rstrip().split("\n")]
        return [clean(line) for line in lines[-PRINTED:] if line.strip()]

    def begin(self, event: Event, number: int) -> None:
        """A call has begun."""
        if event.lane == self._name:
            self.printed = ""
        given = " ".join(arguments(event.data.get("input", {})).split())
        lane = "" if event.lane == self._name else event.lane
        self._running[number] = (lane, str(event.data.get("name")), given, time.monotonic())

    def end(self, number: int | str) -> str:
        """A call or a job has ended; return its arguments on one line."""
        self.printed = ""
        return self._running.pop(number, ("", "", "", 0.0))[2]

    def line(self, width: int) -> str:
        """What goes on, in one line; empty if nothing does."""
        now = time.monotonic()
        parts = [self.waiting] if self.waiting else []
        if self._began is not None:
            spent = now - self._began
            written = self._received + self.written // 4
            parts += [f"{_SPINNER[int(spent * 8) % len(_SPINNER)]} {spent:.0f} s"]
            about = self._about
            parts += [f"{about}{self._sent:,} tokens in", f"{about}{written:,} out"]
        for lane, name, given, since in list(self._running.values()):
            who = f"{lane}: " if lane else ""
            parts.append(f"{who}{name} {one_line(given, 30)} ({now - since:.0f} s)")
        if self._stopped and self._began is not None and self._running:
            parts.append("type on, or Ctrl-C ends it")
        return one_line(" · ".join(parts), max(1, width - 1))


def last_block(text: str) -> int:
    """Where the last block of a Markdown text begins: what comes later can change only that one."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt().enable(["strikethrough", "table"]).parse(text)
    begins = [token.map[0] for token in tokens if token.level == 0 and token.map]
    starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
    return starts[begins[-1]] if begins else 0

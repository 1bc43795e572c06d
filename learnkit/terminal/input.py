"""Where the user's lines come from: the keyboard of a terminal, or a pipe.

``Keyboard`` keeps an input line on the screen all the time, in a thread of its own: you can type
while the agent works, and what is printed goes above that line. The agent stays in the main
thread, where an interrupt reaches it wherever it is. ``Lines`` reads line by line, for pipes and
for terminals that cannot move the cursor.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from learnkit.errors import UsageError
from learnkit.events.text import clean
from learnkit.runtime.user_folders import state_folder
from learnkit.terminal.above import Above
from learnkit.terminal.permission import Answer, Question

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer
    from prompt_toolkit.formatted_text import AnyFormattedText
    from prompt_toolkit.history import History
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.output.vt100 import Vt100_Output

    from learnkit.terminal.output import Output

#: Seconds for which a thread blocks in one go, so that a signal or a stop is heard.
PATIENCE = 0.5
#: A question waits until the user has not typed for so many seconds, so that the rest of a word
#: does not answer it.
PAUSE = 0.7
#: Seconds between two pictures of the line that shows what goes on.
REFRESH = 0.15


def can_draw() -> bool:
    """Whether there is a terminal on both sides, and one that can move its cursor."""
    both = sys.stdin.isatty() and sys.stdout.isatty()
    return both and os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "")


def screen() -> Vt100_Output:
    """The terminal: not asked where its cursor is, it gets the lines that are needed, no more."""
    from prompt_toolkit.output.vt100 import Vt100_Output

    made = Vt100_Output.from_pty(sys.stdout)
    made.enable_cpr = False
    return made


def history_file() -> Path:
    """Where typed lines are kept: with the user's own state, not in the workspace."""
    return state_folder() / "chat_history"


class Listener(Protocol):
    """What the keyboard tells of: called in its thread."""

    def typed(self, line: str) -> None:
        """The user has sent something."""

    def interrupted(self) -> None:
        """The user has pressed Ctrl-C."""

    def left(self) -> None:
        """The user has pressed Ctrl-D, or the terminal is gone."""

    def completer(self) -> Completer:
        """What knows what may follow the text that the user has typed."""

    def status(self, width: int) -> str:
        """The line above the input: what goes on."""

    def working(self) -> bool:
        """Whether that line changes by itself."""


class Lines:
    """Lines from a pipe or from a terminal that is not drawn on."""

    def __init__(self, read: Callable[[str], str], output: Output) -> None:
        self._read, self._output = read, output
        self._lock = threading.Lock()  # one question at a time, also from teammates

    def next(self, before: str) -> str:
        """Wait for the next line."""
        return self._read(f"\n[{before}] > ")

    def ask(self, question: Question) -> Answer:
        """Show a question, and wait for the answer."""
        with self._lock:
            self._output.show(question.text)
            while True:
                try:
                    return question.understood(self._read(f"  {question.asked}"))
                except UsageError as error:
                    self._output.say(str(error), "dim")
                except EOFError:
                    return False

    def close(self) -> None:
        """Nothing is open."""


class Keyboard:
    """An input line at the lower end of the terminal."""

    def __init__(self, output: Output, listener: Listener, history: Path) -> None:
        self._output, self._listener = output, listener
        self._lines: deque[str | None] = deque()
        self._news = threading.Condition()
        self._questions: deque[Question] = deque()
        self._asking: Question | None = None  # that the input line belongs to
        self._draft = ""
        self._key_at = 0.0
        self._closed = False
        self._drawn = threading.Event()
        self._session = _session(self, history, listener.completer())
        self._thread = threading.Thread(target=self._run, name="keyboard", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._above = Above(self._session.app)

    def start(self) -> None:
        """Show the input line; what is printed from now on goes above it."""
        self._above.install()
        self._thread.start()
        self._drawn.wait(PATIENCE)

    def next(self, before: str) -> str:
        """Wait for the next line that :meth:`send` was given."""
        with self._news:
            while not self._lines:
                self._news.wait(PATIENCE)
            line = self._lines.popleft()
        if line is None:
            raise EOFError
        return line

    def send(self, line: str | None) -> None:
        """Put a line into the queue; None ends it."""
        with self._news:
            self._lines.append(line)
            self._news.notify()

    @property
    def queued(self) -> list[str]:
        """The lines that wait."""
        return [line for line in list(self._lines) if line is not None]

    def take(self, wanted: Callable[[str], bool]) -> Sequence[str]:
        """Take the first lines out of the queue, as long as they are wanted."""
        taken: list[str] = []
        with self._news:
            while self._lines and (line := self._lines[0]) is not None and wanted(line):
                taken.append(line)
                self._lines.popleft()
        return taken

    def take_back(self) -> None:
        """Give what waits in the queue back to the user, who may send it, change it or leave it."""
        if lines := self.take(lambda line: True):
            self.give_back("\n".join(lines))

    def give_back(self, text: str) -> None:
        """Put a text into the input line, before what is there."""
        self._call(self._write_again, text)

    def ask(self, question: Question) -> Answer:
        """Show a question, and wait for the answer; no when its agent is stopped meanwhile."""
        if self._closed:
            return False
        self._output.show(question.text)
        self._above.then(lambda: self._add(question))  # first what it is about
        while not question.answered.wait(PATIENCE):
            if question.agent.stop.is_set() or self._closed:
                question.reply(False)
        self._call(self._next_question)
        return question.answer

    def refuse_all(self) -> None:
        """Answer every open question with no."""
        for question in list(self._questions):
            question.reply(False)
        self._call(self._next_question)

    def close(self) -> None:
        """Take the input line away, and give the terminal back as it was."""
        if self._closed:
            return
        self._closed = True
        self.refuse_all()
        self._above.then(self._exit)  # after what was printed
        self._thread.join(2 * PATIENCE)
        self._call(self._exit)  # nothing can be printed: the terminal is gone
        self._thread.join()
        self._above.remove()

    def refresh(self) -> None:
        """Draw the input line again, soon."""
        self._session.app.invalidate()

    # In the keyboard's thread

    def _call(self, function: Callable[..., object], *args: Any) -> None:
        """Have the keyboard's thread do something, unless it has ended."""
        with contextlib.suppress(RuntimeError):  # its loop was closed meanwhile
            if self._loop is not None:
                self._loop.call_soon_threadsafe(function, *args)

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except (EOFError, OSError):  # the terminal is gone
            pass
        finally:
            self._drawn.set()
            if not self._closed:
                self._listener.left()

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        ticking = asyncio.create_task(self._tick())
        try:
            await self._session.prompt_async(pre_run=self._begun, set_exception_handler=False)
        finally:
            ticking.cancel()

    def _begun(self) -> None:
        self._above.begin()
        self._session.app.after_render += lambda app: self._drawn.set()
        self._next_question()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(REFRESH)
            if self._listener.working():
                self.refresh()

    def _exit(self) -> None:
        if self._session.app.is_running and not self._session.app.is_done:
            self._session.app.exit(result="")

    def entered(self) -> None:
        """The user has pressed Enter."""
        buffer = self._session.default_buffer
        text = buffer.text
        if self._asking is None:
            buffer.reset(append_to_history=bool(text.strip()))
            self._listener.typed(text)
            return
        buffer.reset()
        if text.strip().startswith("/"):
            self._listener.typed(text)
            return
        try:
            self._answer(self._asking.understood(text))
        except UsageError as error:
            self._output.say(str(error), "dim")

    def _answer(self, answer: Answer) -> None:
        asked = self._asking
        assert asked is not None
        why = f", {clean(answer[1])}" if isinstance(answer, tuple) else ""
        always = "kept" if asked.kept else "always"
        word = always if answer == "always" else "once" if answer is True else "no"
        self._output.say(f"{asked.asked}{word}{why}", "dim")
        asked.reply(answer)
        if answer == "always":  # it answers the same question of other agents, too
            for other in self._questions:
                if other.patterns and set(other.patterns) <= set(asked.patterns):
                    other.reply(True)
        self._next_question()

    def left(self) -> None:
        """The user has pressed Ctrl-D on an empty line: this refuses a call, or leaves."""
        if self._asking is None:
            self._listener.left()
        else:
            self._answer(False)

    def interrupted(self) -> None:
        """The user has pressed Ctrl-C: this clears a line, or stops what runs."""
        buffer = self._session.default_buffer
        if self._asking is None and buffer.text and not self._listener.working():
            buffer.reset()
        else:
            self._listener.interrupted()

    def key(self) -> None:
        """The user has changed the line."""
        self._key_at = time.monotonic()

    def _write_again(self, text: str) -> None:
        rest = self._draft if self.asking else self._session.default_buffer.text
        self._draft = "\n".join(filter(None, (text, rest)))
        if not self.asking:
            self._fill(self._draft)

    def _fill(self, text: str) -> None:
        from prompt_toolkit.document import Document

        self._session.default_buffer.reset(Document(text))

    def _add(self, question: Question) -> None:
        self._questions.append(question)
        self._next_question()

    def _next_question(self) -> None:
        """Give the input line to the first open question, or back to what the user was typing."""
        while self._questions and self._questions[0].answered.is_set():
            self._questions.popleft()
        wanted = self._questions[0] if self._questions else None
        if wanted is self._asking:
            return
        if self._asking is None:
            buffer = self._session.default_buffer
            left = self._key_at + PAUSE - time.monotonic()
            if buffer.text and left > 0 and self._loop is not None:
                self._loop.call_later(left, self._next_question)
                return
            self._draft = buffer.text
        self._fill("" if wanted else self._draft)
        self._asking = wanted
        self.refresh()

    @property
    def asking(self) -> bool:
        """Whether the input line belongs to a question."""
        return self._asking is not None

    def above(self) -> AnyFormattedText:
        """What stands before the cursor: the end of the reply so far, what goes on, the prompt."""
        from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples, merge_formatted_text

        size = self._session.app.output.get_size()
        prompt: StyleAndTextTuples = [("class:status", f"{self._listener.status(size.columns)}\n")]
        asked = self._asking
        prompt.append(("class:question", asked.asked) if asked else ("class:prompt", "> "))
        tail = self._output.tail
        if not tail.strip():
            return prompt
        lines = _ansi(self._output, tail, size.columns).splitlines()
        kept = "\n".join(lines[-max(1, min(12, size.rows - 8)) :])
        return merge_formatted_text([ANSI(f"{kept}\n\n"), prompt])


def _ansi(output: Output, text: str, width: int) -> str:
    """A piece of a reply as it will be printed."""
    from rich.console import Console

    system: Any = output.console.color_system or None
    console = Console(force_terminal=True, color_system=system, width=max(8, width))
    with console.capture() as captured:
        console.print(output.rendered(text))
    return captured.get().rstrip("\n")


def _session(keyboard: Keyboard, history: Path, completer: Completer) -> PromptSession[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.application import get_app
    from prompt_toolkit.completion import ConditionalCompleter
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.styles import Style

    @Condition
    def named() -> bool:
        before = get_app().current_buffer.document.text_before_cursor
        return bool(re.search(r"^/[\w-]*$|(?<!\S)@\S+$", before))

    session: PromptSession[str] = PromptSession(
        keyboard.above,
        output=screen(),
        multiline=True,
        wrap_lines=True,
        erase_when_done=True,
        history=_history(history),
        completer=ConditionalCompleter(completer, Condition(lambda: not keyboard.asking)),
        complete_while_typing=named,
        reserve_space_for_menu=6,
        key_bindings=_keys(keyboard),
        style=Style.from_dict(
            {
                "prompt": "bold ansigreen",
                "question": "bold ansiyellow",
                "status": "nobold ansibrightblack",
            }
        ),
    )
    session.app.min_redraw_interval = 0.05
    session.default_buffer.on_text_changed += lambda buffer: keyboard.key()
    return session


def _keys(keyboard: Keyboard) -> KeyBindings:
    from prompt_toolkit.application import get_app
    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    keys = KeyBindings()
    empty = Condition(lambda: not get_app().current_buffer.text)
    writing = Condition(lambda: not keyboard.asking)
    typing = Condition(lambda: get_app().current_buffer is get_app().layout.current_buffer)
    plain = Condition(lambda: get_app().current_buffer.name == "DEFAULT_BUFFER")

    @keys.add("enter", filter=plain & typing)
    def send(event: KeyPressEvent) -> None:
        keyboard.entered()

    @keys.add("up", filter=writing & plain & empty & Condition(lambda: bool(keyboard.queued)))
    def take_back(event: KeyPressEvent) -> None:
        keyboard.take_back()

    @keys.add("escape", "enter", filter=writing & plain)
    @keys.add("c-j", filter=writing & plain)
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("tab", filter=writing & plain)
    def complete(event: KeyPressEvent) -> None:
        buffer, asked = event.current_buffer, CompleteEvent(completion_requested=True)
        if buffer.complete_state:
            buffer.complete_next()
        elif found := next(iter(buffer.completer.get_completions(buffer.document, asked)), None):
            buffer.apply_completion(found)  # at once: a menu may still be on its way

    @keys.add("c-c", filter=plain)
    def interrupt(event: KeyPressEvent) -> None:
        keyboard.interrupted()

    @keys.add("c-d", filter=empty & plain)
    def leave(event: KeyPressEvent) -> None:
        keyboard.left()

    @keys.add("up", filter=~writing)
    @keys.add("down", filter=~writing)
    @keys.add("c-r", filter=~writing)
    def nothing(event: KeyPressEvent) -> None:
        """A question has no history."""

    return keys


def _history(path: Path) -> History:
    """The lines typed so far, in a file that only the user can read."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    class Kept(FileHistory):
        def store_string(self, string: str) -> None:
            with contextlib.suppress(OSError):  # a full disk does not end a conversation
                super().store_string(string)

    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_RDONLY | os.O_CREAT, 0o600))
    except OSError:
        return InMemoryHistory()
    return Kept(str(path))

"""Permission in the terminal: which calls the user is asked about, and what they are shown.

The rules decide which, whoever makes the call. An edit is shown as the diff that it would make,
and with every question stands the pattern that *always* would allow.
"""

from __future__ import annotations

import difflib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from learnkit.core.interface import AgentLike, Call
from learnkit.errors import ToolError, UsageError
from learnkit.events.text import arguments, clean, count
from learnkit.mechanisms.coding import CodingTools
from learnkit.mechanisms.permission import Answer, Permission
from learnkit.mechanisms.rules import PLAN_TOOL, Rules

if TYPE_CHECKING:
    from rich.text import Text

    from learnkit.core.agent import Agent

#: How much of a command or a diff is shown with the question, in lines and in characters.
SHOWN_LINES, SHOWN_CHARACTERS = 40, 4000
#: Lines around a change, and the longest file of which a diff is made, in characters.
AROUND, DIFFED = 3, 200_000

_WORDS: dict[str, Answer] = {
    **dict.fromkeys(("o", "once", "y", "yes"), True),
    **dict.fromkeys(("n", "no"), False),
    **dict.fromkeys(("a", "always", "k", "keep"), "always"),
}


@dataclass(eq=False, slots=True)
class Question:
    """A call that waits for the user's answer.

    Attributes:
        agent: who makes the call.
        call: the call.
        text: what the user is shown.
        patterns: what *always* would allow; empty if nothing can.
        keeps: whether it can be kept for the project.
        kept: whether the user wants that.
        answered: set once there is an answer.
        answer: the answer; no as long as there is none.
    """

    agent: AgentLike
    call: Call
    text: Text
    patterns: list[str]
    keeps: bool = False
    kept: bool = False
    answered: threading.Event = field(default_factory=threading.Event)
    answer: Answer = False

    @property
    def asked(self) -> str:
        """The question, with the letters that answer it."""
        if self.call.name == PLAN_TOOL:
            return "Approve it? [y]es [n]o: "
        always = "[a]lways " + "[k]eep " * self.keeps if self.patterns else ""
        return f"Run it? [o]nce {always}[n]o: "

    def reply(self, answer: Answer) -> None:
        """Answer it, once: a second answer changes nothing."""
        if not self.answered.is_set():
            self.answer = answer
            self.answered.set()

    def understood(self, typed: str) -> Answer:
        """The answer that the user means; a UsageError says what to type, if it is none."""
        word, _, rest = typed.strip().partition(" ")
        answer = _WORDS.get(word.lower().rstrip(",:"))
        if answer is False and rest.strip():
            return False, rest.strip()
        keep = word.lower().startswith("k")
        if answer is None or rest.strip() or (keep and not self.keeps):
            raise UsageError("answer with one of the letters, or with n and the reason")
        if answer == "always" and not self.patterns:
            raise UsageError("no pattern can allow this for good; answer with o (once) or n (no)")
        self.kept = keep
        return answer


class Consent(Permission):
    """Asks the user about each call that could change something outside of the harness.

    Args:
        rules: what need not be asked about.
        ask: shows a question, and returns the answer.
        keep: keeps patterns for the project; None if that is not offered.
    """

    def __init__(
        self,
        rules: Rules,
        ask: Callable[[Question], Answer],
        keep: Callable[[list[str]], object] | None = None,
    ) -> None:
        super().__init__(rules, self._asked)
        self._decides = rules
        self._put, self._keep = ask, keep
        self._here = threading.local()  # a teammate asks in its own thread

    def refuse(self, agent: Agent, call: Call) -> str | None:
        """The reason why a call may not run, or None if it may."""
        self._here.agent = agent
        return super().refuse(agent, call)

    def _asked(self, call: Call) -> Answer:
        agent: AgentLike = self._here.agent
        text, patterns = proposal(agent, call), self._decides.suggested(agent, call)
        if patterns:
            keeps = " · keep: for this project" if self._keep else ""
            text.append(f"\n  always: {clean(', '.join(patterns))}{keeps}", style="not bold dim")
        question = Question(agent, call, text, patterns, keeps=self._keep is not None)
        answer = self._put(question)
        if question.kept and answer == "always" and self._keep is not None:
            self._keep(patterns)
        return answer


def proposal(agent: AgentLike, call: Call) -> Text:
    """What a call would do, for the user who has to decide: an edit as its diff."""
    from rich.text import Text

    who = "" if agent.name == "lead" else f"{agent.name}: "
    lines = _diff(agent, call)
    if lines is None:
        body = arguments(call.input).split("\n")
        head, lines = f"{who}{call.name}", [("", line) for line in body]
    else:
        head = f"{who}{call.name} {call.input['path']}"
    text = Text(clean(head), style="bold yellow")
    for number, (style, line) in enumerate(lines):
        room = SHOWN_CHARACTERS - len(text)
        if number == SHOWN_LINES or room <= 0:
            left = count(len(lines) - number, "more line")
            text.append(f"\n  … {left}; /show has all of it", style="not bold dim")
            break
        cut = (
            "" if len(line) <= room else f" … {len(line) - room:,} more characters; /show has them"
        )
        text.append("\n  " + clean(line[:room]) + cut, style=style or "not bold default")
    return text


def _diff(agent: AgentLike, call: Call) -> list[tuple[str, str]] | None:
    """The lines of an edit's diff with their styles; None if the call is no edit of a text file."""
    change = _change(agent, call)
    if change is None or sum(map(len, change)) > DIFFED:
        return None
    before, after = (text.splitlines() for text in change)
    made = list(difflib.unified_diff(before, after, lineterm="", n=AROUND))[2:]
    styles = {"+": "green", "-": "red", "@": "cyan"}
    return [(f"not bold {styles.get(line[:1], 'default')}", line) for line in made]


def _change(agent: AgentLike, call: Call) -> tuple[str, str] | None:
    """The file's text before and after an edit."""
    given = call.input
    own = CodingTools.of(agent)
    texts = {"write_file": ("content",), "edit_file": ("old_text", "new_text")}.get(call.name)
    if own is None or texts is None:
        return None
    if not all(isinstance(given.get(name), str) for name in ("path", *texts)):
        return None  # the tool itself will say what is wrong with it
    try:
        before = own.workspace.read(given["path"])
    except (ToolError, OSError):
        before = ""
    if call.name == "write_file":
        return before, given["content"]
    old, new = given["old_text"], given["new_text"]
    return (before, before.replace(old, new, 1)) if old and old in before else None

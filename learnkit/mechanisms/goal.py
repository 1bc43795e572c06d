"""Goal: done is a claim, so something else than the claimant checks it.

When the model has stopped, a check that is code decides whether the goal is met; without one a
second request judges, which sees the conversation and nothing else. As long as it is not met, the
model reads why and takes another turn, up to a number of checks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from learnkit.core.frames import CONVERSATION, GOAL, defused
from learnkit.core.mechanism import Mechanism
from learnkit.core.request import Stopped
from learnkit.core.side_request import ask_aside
from learnkit.core.transcript import as_text
from learnkit.errors import ToolError, UsageError, described
from learnkit.events.goal import GoalChecked
from learnkit.runtime.shell import LocalShell, Shell
from learnkit.runtime.truncate import head_and_tail

if TYPE_CHECKING:
    from learnkit.core.agent import Agent

Check = str | Callable[[], object]
Verdict = Literal["", "met", "unmet", "impossible", "given up", "unknown"]

#: Characters of the conversation that a judge reads, from its end; and of a reason.
READ, REASON = 40_000, 2_000

_JUDGE = """\
Below are a goal and the end of a conversation in which an agent worked on it. Judge only what the \
conversation shows: a claim of the agent is no proof, the output of a command is. Answer with one \
JSON object and nothing else: {"ok": true or false, "reason": "one sentence", "impossible": true \
if nothing the agent can do would meet the goal, else false}"""


class Goal(Mechanism):
    """Sends the model back to work until a goal is met.

    While a job or a teammate is still at work, the check waits for it. Emits ``goal.checked`` with
    ``verdict``, ``number``, ``most``, ``by`` and ``reason``.

    Args:
        goal: what must hold in the end, in a sentence; the model reads it when a run begins.
        check: a bash command that exits with 0 if the goal is met, such as ``"pytest -q"``; or a
            function that returns True, or the reason why it is not met. Without one a second
            request to the model judges, which costs as much as the conversation is long.
        most: checks in a run; after the last one the run ends. ``Agent(max_turns=…)`` holds too.
        shell: runs the command; by default a :class:`LocalShell`.
        workspace: the folder it runs in.
        limit: seconds that the command may take.

    Attributes:
        verdict: of the last check: ``met``, ``unmet``, ``impossible``, ``given up`` after the last
            one, ``unknown`` if it could not be made; empty before the first one of a run.

    Raises:
        UsageError: for an empty goal or command, a limit that is not above 0, or ``most`` below 1.
    """

    def __init__(
        self,
        goal: str,
        check: Check | None = None,
        *,
        most: int = 5,
        shell: Shell | None = None,
        workspace: str | Path = ".",
        limit: float = 300.0,
    ) -> None:
        if not goal.strip() or (isinstance(check, str) and not check.strip()):
            raise UsageError("a goal is a sentence, and its check a command or a function")
        if most < 1 or not limit > 0:
            raise UsageError(f"most is {most} and the limit {limit} s; give at least 1 and above 0")
        self.goal, self.check, self.most, self.limit = goal, check, most, limit
        self.shell: Shell = LocalShell() if shell is None else shell
        self.workspace = Path(workspace).resolve()
        self.verdict: Verdict = ""
        self._number = 0

    def system(self, agent: Agent) -> str | None:
        """The goal, and that it will be checked."""
        self.verdict, self._number = "", 0
        how = f" The check is `{self.check}`." if isinstance(self.check, str) else ""
        return (
            f"Your goal: {self.goal}\nWhen you stop, it is checked whether that holds.{how} "
            "If it cannot be reached, stop and say why."
        )

    def carry(self, agent: Agent) -> str | None:
        """The goal, which a summary might lose."""
        return f"<{GOAL}>\n{defused(self.goal)}\n</{GOAL}>"

    def on_stop(self, agent: Agent) -> str | None:
        """Why the goal is not met, for another turn; None if it is, or if this was the last one."""
        others = (one for one in agent.mechanisms if one is not self)
        if self.verdict not in ("", "unmet") or any(one.waits_for(agent) for one in others):
            return None
        self._number += 1
        found, reason = self._checked(agent)
        last = found == "unmet" and self._number >= self.most
        self.verdict = verdict = "given up" if last else found
        by: Literal["command", "function", "judge"] = "judge" if self.check is None else "function"
        agent.emit(
            GoalChecked(
                verdict=verdict,
                number=self._number,
                most=self.most,
                by="command" if isinstance(self.check, str) else by,
                reason=reason,
            )
        )
        if verdict != "unmet":
            return None
        return f"<{GOAL}>\nNot met yet: {defused(self.goal)}\n{defused(reason)}\n</{GOAL}>"

    def _checked(
        self, agent: Agent
    ) -> tuple[Literal["met", "unmet", "impossible", "unknown"], str]:
        """The verdict of one check, and the reason."""
        if callable(self.check):
            try:
                answer = self.check()
            except Exception as error:  # as with a tool: the model may be able to mend it
                return "unmet", f"The check raised {described(error)}"
            return ("met", "") if answer is True else ("unmet", str(answer or "The check says no."))
        if self.check is None:
            return self._judged(agent)
        try:
            result = self.shell.run(self.check, self.workspace, self.limit, agent.stop)
        except ToolError as error:
            return "unknown", str(error)
        if result.stopped:
            return "unknown", "the check was interrupted"
        output, _ = head_and_tail([result.output.strip()], REASON)
        ended = (
            f"exit code {result.code}" if result.code is not None else f"no end in {self.limit} s"
        )
        return ("met", "") if result.code == 0 else ("unmet", f"{self.check}: {ended}\n{output}")

    def _judged(self, agent: Agent) -> tuple[Literal["met", "unmet", "impossible", "unknown"], str]:
        """The verdict of a second request."""
        import anthropic  # takes over a second, and an agent can be made without it

        frames = (GOAL, CONVERSATION)
        parts = (self.goal, as_text(agent.messages)[-READ:])
        goal, talk = (defused(text, frames) for text in parts)
        prompt = f"{_JUDGE}\n\n<{GOAL}>\n{goal}\n</{GOAL}>"
        prompt += f"\n\n<{CONVERSATION}>\n{talk}\n</{CONVERSATION}>"
        try:
            _, text = ask_aside(agent, prompt, 1_000, "judgement")
            answer = json.loads((re.search(r"\{.*\}", text, re.DOTALL) or [text])[0])
            if not isinstance(answer, dict) or not isinstance(answer.get("ok"), bool):
                raise ValueError(f"it answered {text[:200]!r}")
        except (anthropic.APIError, Stopped, ValueError) as error:
            return "unknown", f"the judge could not be heard: {described(error)}"
        reason = str(answer.get("reason") or "The judge gave no reason.")[:REASON]
        if answer["ok"]:
            return "met", reason
        return ("impossible" if answer.get("impossible") is True else "unmet"), reason

"""Permission: each call is allowed, asked about, or denied before it runs.

The policy looks at the call as it is, tool and arguments, not at forbidden words. What is not
allowed does not run, and the model reads why. Without a decision the answer is no.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from learnkit.core.interface import Call
from learnkit.core.mechanism import Mechanism
from learnkit.core.tools import Tool, tool
from learnkit.errors import UsageError
from learnkit.events.permission import PermissionDecided, PermissionMode
from learnkit.mechanisms.rules import PLAN_TOOL, Mode, Rules

if TYPE_CHECKING:
    from learnkit.core.agent import Agent

Decision = Literal["allow", "ask", "deny"]
Ruling = Decision | tuple[Decision, str]
Policy = Callable[[Call], Ruling] | Mapping[str, Ruling] | Rules
Answer = bool | Literal["always"] | tuple[bool, str]
Ask = Callable[[Call], Answer]

_DECISIONS = ("allow", "ask", "deny")
_PLAN_MODE = "You are in plan mode: nothing may be changed. Look at what you need to know, then "
_PLANNED = f"call {PLAN_TOOL} with your plan. Once the user has approved it, carry it out."


class Permission(Mechanism):
    """Decides about every call before it runs.

    Each decision is logged as ``permission.decided`` with ``decision``, ``reason`` and
    ``answer``: ``yes``, ``no`` or ``always`` from ``ask``, ``remembered`` when an earlier
    ``always`` answered, empty when the user did not have to be asked, or could not be. Another mode
    of its rules is logged as ``permission.mode``.

    Args:
        policy: a function of the call that returns ``"allow"``, ``"ask"`` or ``"deny"``, or a
            pair of that and a reason. Or a mapping from tool names and patterns such as
            ``"task_*"`` to the same: an exact name goes before a pattern, patterns go in order,
            ``"*"`` comes last; a tool that nothing matches is asked about. Or
            :class:`learnkit.Rules`, whose patterns look at commands and files as well.
        ask: asks the user: True, False, or ``"always"`` to allow from now on this tool, or with
            ``Rules`` what :meth:`learnkit.Rules.suggested` returns; ``(False, "because …")`` is a
            no with a reason, which the model reads. Without ``ask``, what would have to be asked
            about is denied.

    Raises:
        UsageError: for a decision or an answer that is none of these.
    """

    def __init__(self, policy: Policy, ask: Ask | None = None) -> None:
        self.rules = policy if isinstance(policy, Rules) else None
        self._by_name: Mapping[str, Ruling] = {}
        if isinstance(policy, Mapping):
            self._by_name, policy = _checked(policy), self._look_up
        self._policy = policy
        self._ask = ask
        self._always: set[str] = set()
        self._mode: Mode = "default"  # that was logged

    @property
    def tools(self) -> Sequence[Tool]:
        """``propose_plan``, with rules that can be in plan mode and a user who can end it."""
        return [self.propose_plan] if self.rules is not None and self._ask is not None else []

    def system(self, agent: Agent) -> str | None:
        """What plan mode is, when a run starts in it."""
        self._log_mode()
        if self.rules is None or self.rules.mode != "plan":
            return None
        return _PLAN_MODE + (_PLANNED if PLAN_TOOL in agent.tools else "answer with a plan.")

    def set_mode(self, mode: Mode) -> None:
        """Choose another mode for the rules, and log it.

        Args:
            mode: as for :class:`learnkit.Rules`.
        """
        if self.rules is not None:
            self.rules.mode = mode
            self._log_mode()

    def _log_mode(self) -> None:
        if self.rules is not None and self.rules.mode != self._mode:
            self._mode = self.rules.mode
            self.emit(PermissionMode(mode=self._mode))

    @tool(internal=True)
    def propose_plan(self, plan: str) -> str:
        """Show the user a plan in plan mode. When they approve it, changes are allowed.

        Args:
            plan: What you will change and how, in steps, in Markdown.
        """
        if self.rules is None or self.rules.mode != "plan":
            return "No plan has to be approved now. Go on."
        self.set_mode("default")
        return "The user has approved the plan. Carry it out."

    def refuse(self, agent: Agent, call: Call) -> str | None:
        """The reason why a call may not run, or None if it may."""
        policy = self._policy
        said = policy.decide(agent, call) if isinstance(policy, Rules) else policy(call)
        decision, reason = _ruling(said, f"the policy for {call.name!r}")
        answer, refusal = "", None
        if decision == "deny":
            refusal = reason or f"the permission policy denies {call.name}"
        elif decision == "ask" and call.name in self._always:
            answer = "remembered"
        elif decision == "ask" and self._ask is None:
            because = f" ({reason})" if reason else ""
            refusal = f"{call.name} needs the user's approval{because}, and no user can be asked"
        elif decision == "ask" and self._ask is not None:
            answer, why = _answered(self._ask(call))
            if answer == "always" and self.rules is not None:
                patterns = self.rules.suggested(agent, call)
                self.rules.add("allow", *patterns)
                reason = ", ".join(patterns) or reason
            elif answer == "always":
                self._always.add(call.name)
            if answer == "no":
                because = f" ({reason})" if reason else ""
                refusal = f"the user declined this call{f': {why}' if why else because}"
        agent.emit(
            PermissionDecided(
                id=call.id,
                name=call.name,
                decision=decision,
                answer=answer,
                reason=refusal or reason,
            )
        )
        return None if refusal is None else f"Permission denied: {refusal}."

    def _look_up(self, call: Call) -> Ruling:
        rules = self._by_name
        if call.name in rules:
            return rules[call.name]
        patterns = sorted(rules, key=lambda pattern: pattern == "*")  # stable: "*" goes last
        found = (rules[pattern] for pattern in patterns if fnmatchcase(call.name, pattern))
        return next(found, ("ask", "no rule allows it"))


def _answered(said: object) -> tuple[str, str]:
    """The word for the log, and the user's reason."""
    why = ""
    if isinstance(said, tuple) and len(said) == 2 and isinstance(said[1], str):
        said, why = said
    if said == "always":
        return "always", why
    if not isinstance(said, bool):  # the text "no" counts as true in Python: nothing is guessed
        raise UsageError(
            f"ask returned {said!r}; it must return True, False, 'always' or (False, 'because …')"
        )
    return ("yes" if said else "no"), why.strip().rstrip(".")


def _checked(rules: Mapping[str, Ruling]) -> dict[str, Ruling]:
    return {name: _ruling(ruling, f"the rule for {name!r}") for name, ruling in rules.items()}


def _ruling(ruling: Ruling, source: str) -> tuple[Decision, str]:
    decision, reason = ruling if isinstance(ruling, tuple) and len(ruling) == 2 else (ruling, "")
    if decision not in _DECISIONS:
        words = ", ".join(_DECISIONS)
        raise UsageError(
            f"{source} gives {ruling!r}; it must give one of {words}, or (one, reason)"
        )
    return decision, reason

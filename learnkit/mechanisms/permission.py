"""Permission: each call is allowed, asked about, or denied before it runs.

The policy looks at the call as it is, tool and arguments, not at forbidden words. What is not
allowed does not run, and the model reads why. Without a decision the answer is no.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from learnkit.core.interface import Call
from learnkit.core.mechanism import Mechanism
from learnkit.errors import UsageError
from learnkit.events.permission import PermissionDecided

if TYPE_CHECKING:
    from learnkit.core.agent import Agent

Decision = Literal["allow", "ask", "deny"]
Ruling = Decision | tuple[Decision, str]
Policy = Callable[[Call], Ruling] | Mapping[str, Ruling]
Ask = Callable[[Call], bool | Literal["always"]]

_DECISIONS = ("allow", "ask", "deny")


class Permission(Mechanism):
    """Decides about every call before it runs.

    Each decision is logged as ``permission.decided`` with ``decision``, ``reason`` and
    ``answer``: ``yes``, ``no`` or ``always`` from ``ask``, ``remembered`` when an earlier
    ``always`` answered, empty when the user did not have to be asked, or could not be.

    Args:
        policy: a function of the call that returns ``"allow"``, ``"ask"`` or ``"deny"``, or a
            pair of that and a reason. Or a mapping from tool names and patterns such as
            ``"task_*"`` to the same: an exact name goes before a pattern, patterns go in order,
            ``"*"`` comes last; a tool that nothing matches is asked about.
        ask: asks the user: True, False, or ``"always"`` to allow this tool from now on. Without
            it, what would have to be asked about is denied.

    Raises:
        UsageError: for a decision or an answer that is none of these.
    """

    def __init__(self, policy: Policy, ask: Ask | None = None) -> None:
        self._rules = None if callable(policy) else _checked(policy)
        self._policy = policy if callable(policy) else self._look_up
        self._ask = ask
        self._always: set[str] = set()

    def refuse(self, agent: Agent, call: Call) -> str | None:
        """The reason why a call may not run, or None if it may."""
        decision, reason = _ruling(self._policy(call), f"the policy for {call.name!r}")
        answer, refusal = "", None
        if decision == "deny":
            refusal = reason or f"the permission policy denies {call.name}"
        elif decision == "ask" and call.name in self._always:
            answer = "remembered"
        elif decision == "ask" and self._ask is None:
            because = f" ({reason})" if reason else ""
            refusal = f"{call.name} needs the user's approval{because}, and no user can be asked"
        elif decision == "ask" and self._ask is not None:
            answer = _answered(self._ask(call))
            if answer == "always":
                self._always.add(call.name)
            if answer == "no":
                refusal = f"the user declined this call{f' ({reason})' if reason else ''}"
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
        rules = self._rules or {}
        if call.name in rules:
            return rules[call.name]
        patterns = sorted(rules, key=lambda pattern: pattern == "*")  # stable: "*" goes last
        found = (rules[pattern] for pattern in patterns if fnmatchcase(call.name, pattern))
        return next(found, ("ask", "no rule allows it"))


def _answered(said: object) -> str:
    if said == "always":
        return "always"
    if not isinstance(said, bool):  # the text "no" counts as true in Python: nothing is guessed
        raise UsageError(f"ask returned {said!r}; it must return True, False or 'always'")
    return "yes" if said else "no"


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

"""What the user tells the model beside a prompt: words while it works, and a goal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from learnkit.core.interface import Call
from learnkit.core.mechanism import Mechanism
from learnkit.mechanisms.goal import Goal

if TYPE_CHECKING:
    from learnkit.core.agent import Agent


class Steering(Mechanism):
    """Gives the model what the user says while it works: after the results of its calls.

    Args:
        take: returns what is to be given to it now, and forgets it.
    """

    def __init__(self, take: Callable[[], Sequence[str]]) -> None:
        self._take = take

    def after_tools(self, agent: Agent, calls: Sequence[Call]) -> str | None:
        """What the user has said since."""
        return "\n\n".join(f"The user says meanwhile:\n{said}" for said in self._take()) or None

    def on_stop(self, agent: Agent) -> str | None:
        """The same, if the run would wait for a job or a teammate; else it is a prompt."""
        waits = any(one.waits_for(agent) for one in agent.mechanisms)
        return self.after_tools(agent, ()) if waits else None


class UserGoal(Mechanism):
    """A goal that may be set, replaced and taken away while the agent lives.

    Attributes:
        goal: the one that holds; None if there is none, or it was met.
    """

    goal: Goal | None = None

    def system(self, agent: Agent) -> str | None:
        """As the goal says."""
        return self.goal.system(agent) if self.goal else None

    def carry(self, agent: Agent) -> str | None:
        """As the goal says."""
        return self.goal.carry(agent) if self.goal else None

    def on_stop(self, agent: Agent) -> str | None:
        """As the goal says; one that was met is done."""
        if self.goal is None:
            return None
        said = self.goal.on_stop(agent)
        if self.goal.verdict == "met":
            self.goal = None
        return said

"""How a run ends after one reply: what lesson 1 tries with five kinds of reply."""

from __future__ import annotations

import learnkit as lk
from learnkit.course.lab import Lab


def how_it_ends(lab: Lab, reply: lk.Reply) -> str:
    """Run an agent with ``bash`` whose model sends one reply, and then only a text.

    Args:
        lab: of the lesson.
        reply: the first one.

    Returns:
        How often the model was asked, why the run ended, and how the first call was answered.
    """
    with lab.scenario("ends", script=[reply, lk.say("(asked again)")]) as run:
        agent = run.agent([lk.Toolbox(lk.CodingTools(run.workspace).bash)])
        outcome = agent.run("Go.")
    results = agent.messages[2]["content"] if len(agent.messages) > 2 else []
    answer = results[0]["content"].splitlines()[0] if results else "(no call)"
    return f"asked {outcome.turns}× | ends: {outcome.reason:10} | {answer}"

"""How lesson 9's agents talk: the learner's classes in threads, and replies for teammates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import learnkit as lk

if TYPE_CHECKING:
    from learnkit.course.lab import Lab


@lk.tool
def look() -> str:
    """Look at the tests."""
    return "two tests"


def talk(
    lab: Lab,
    name: str,
    script: Mapping[str, Any],
    messages: Callable[[Path, str], Any],
    live: Callable[..., object],
) -> tuple[dict[str, lk.Agent], Path]:
    """Let the agents of a script live at the same time, each in a thread of its own."""
    with lab.scenario(name, script=script) as run:
        folder, agents, threads = lab.folder(name), {}, []
        for who in script:
            own = messages(folder, who)
            agents[who] = run.agent([own, lk.Toolbox(look)], name=who)
            threads.append(run.clock.spawn(who, live, agents[who], own.inbox, "Begin."))
        for thread in threads:
            thread.join()
        print(run.meter())
    return agents, folder


def received(agent: lk.Agent) -> list[str]:
    """Return every text that an agent got after its first prompt."""
    users = [one["content"] for one in agent.messages[1:] if one["role"] == "user"]
    blocks = [[{"text": one}] if isinstance(one, str) else one for one in users]
    return [one["text"] for some in blocks for one in some if "text" in one]


def disagreement(decision: str) -> dict[str, Any]:
    """Return the replies of a team in which Bob says no to Alice, and the lead decides."""

    def lead(request: Any) -> lk.Reply:
        if len(request["messages"]) == 1:
            names = "alice", "bob"
            begin = "Agree on the rows with -9999."
            return lk.reply(
                *(lk.use("spawn_teammate", name=one, role="coder", prompt=begin) for one in names)
            )
        asked = "Please decide." in str(request["messages"][-1]["content"])
        return lk.use("broadcast", content=decision) if asked else lk.say("Noted.")

    def send(to: str, content: str) -> lk.Reply:
        return lk.use("send_message", to=to, content=content)

    return {
        "lead": lead,
        "alice": [
            send("bob", "I'd leave out rows with -9999. Do you agree?"),
            lk.say("I've asked bob."),
            send("lead", "Bob would keep such rows, and I'd leave them out. Please decide."),
            lk.say("I'm waiting for the lead's decision."),
            lk.say("I'll keep such rows, with None."),
        ],
        "bob": [
            lk.reply(lk.use("look"), latency=2),
            send("alice", "No. Without the row, nobody sees that an hour is missing."),
            lk.say("I've told alice why I disagree."),
            lk.say("My tests will expect None."),
        ],
    }

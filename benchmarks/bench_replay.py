"""A replayed call against the SDK over a transport that returns a constant.

    python benchmarks/bench_replay.py [--quick]

Both sides are the real SDK in one process, measured in turn, call by call; the best of several
rounds counts. The difference is what the offline client adds: the contract, the matching and the
simulated usage.

Budget: twice the SDK, at any length of history. Exits with 1 beyond twice the budget.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import anthropic
import httpx2
from tables import arguments, over, row, seconds

import learnkit as lk

LENGTHS = (1, 20, 120)


@lk.tool
def note(text: str) -> str:
    """Write a note down, and say so."""
    return f"noted: {text} " * 12


class Spy(lk.Mechanism):
    """Keeps the requests that an agent makes."""

    def __init__(self) -> None:
        self.made: list[dict[str, Any]] = []

    def request(self, agent: lk.Agent, body: dict[str, Any]) -> None:
        self.made.append({**body, "messages": list(body["messages"])})


def requests(turns: int, path: Path) -> list[dict[str, Any]]:
    """The requests that an agent makes in a run of so many turns, which is recorded."""
    script = [lk.reply("On with it.", lk.use("note", text=f"{n}")) for n in range(turns)]
    client = lk.connect("record", recording=path, upstream=[*script, lk.say("done")])
    spy = Spy()
    lk.Agent(client, [lk.Toolbox(note), spy], system="Take notes.", max_turns=turns + 1).run("Go.")
    return spy.made


def sdk_alone(body: bytes) -> anthropic.Anthropic:
    """The SDK, built as learnkit builds it, over a transport that always returns one message."""
    headers = {"content-type": "application/json"}
    constant = httpx2.MockTransport(lambda _: httpx2.Response(200, content=body, headers=headers))
    return anthropic.Anthropic(
        api_key="offline",
        base_url="http://offline.invalid",
        http_client=anthropic.DefaultHttpxClient(transport=constant, trust_env=False),
        open_telemetry=False,
    )


def main() -> int:
    rounds = 5 if arguments(__doc__).quick else 40
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.yaml"
        made = requests(max(LENGTHS) // 2 + 2, path)
        first = lk.connect(recording=path).messages.with_raw_response.create(**made[0])
        alone = {length: float("inf") for length in LENGTHS}
        replayed = dict(alone)
        for turn in range(rounds):
            # Both new in each round: a first call costs more than others.
            sides = [(lk.connect(recording=path), replayed)]
            sides.append((sdk_alone(first.http_response.content), alone))
            for request in made:  # the whole run: that is how an agent asks
                for client, times in sides if turn % 2 else reversed(sides):
                    spent = seconds(client.messages.create, **request)
                    for length in LENGTHS:
                        if abs(length - len(request["messages"])) <= 1:
                            times[length] = min(times[length], spent)
    row("messages", "SDK, ms", "replayed", "ratio")
    ratios = {length: replayed[length] / alone[length] for length in LENGTHS}
    for length, ratio in ratios.items():
        row(length, 1000 * alone[length], 1000 * replayed[length], ratio)
    return over("replayed, in calls of the SDK", max(ratios.values()), 2, margin=2)


if __name__ == "__main__":
    sys.exit(main())

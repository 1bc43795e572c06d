"""A replayed call against the SDK over a transport that returns a constant.

    python benchmarks/bench_replay.py [--quick]

Both sides are the real SDK in one process, measured in turn, call by call, at their best. What the
offline client adds is the contract, the matching and the simulated usage. Budget: twice the SDK, at
any length of history. Exits with 1 beyond twice the budget.
"""

import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import anthropic
import httpx2
from tables import arguments, over, row, seconds

import learnkit as lk


@lk.tool
def note(text: str) -> str:
    """Write a note down, and say so."""
    return f"noted: {text} " * 12


def requests(turns: int, path: Path) -> list[dict[str, Any]]:
    """The requests that an agent makes in a run of so many turns, which is recorded."""
    made = []

    class Spy(lk.Mechanism):
        def request(self, agent: lk.Agent, body: dict[str, Any]) -> None:
            made.append({**body, "messages": list(body["messages"])})

    script = [lk.reply("On with it.", lk.use("note", text=f"{n}")) for n in range(turns)]
    client = lk.connect("record", recording=path, upstream=[*script, lk.say("done")])
    lk.Agent(client, [lk.Toolbox(note), Spy()], system="Note.", max_turns=turns + 1).run("Go.")
    return made


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


rounds = 10 if arguments(__doc__).quick else 40
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "run.yaml"
    made = requests(60, path)  # with 1, 3, 5 … 121 messages
    first = lk.connect(recording=path).messages.with_raw_response.create(**made[0])
    alone, replayed = defaultdict(list), defaultdict(list)  # seconds by number of messages
    for turn in range(rounds):
        # Both new in each round: a first call costs more than others.
        constant = sdk_alone(first.http_response.content)
        sides = [(lk.connect(recording=path), replayed), (constant, alone)]
        for request in made:  # the whole run: that is how an agent asks
            for client, times in sides if turn % 2 else reversed(sides):
                spent = seconds(client.messages.create, **request)
                times[len(request["messages"])].append(spent)
row("messages", "SDK, ms", "replayed", "ratio")
ratios = []
for length in (1, 21, 121):
    sdk, ours = min(alone[length]), min(replayed[length])
    ratios.append(ours / sdk)
    row(length, 1000 * sdk, 1000 * ours, ours / sdk)
sys.exit(over("replayed, in calls of the SDK", max(ratios), 2, margin=2))

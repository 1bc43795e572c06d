"""A replayed call against the SDK over a transport that returns a constant.

Both sides are the real SDK in one process, measured in turn, call by call: the difference is what
the offline client adds, which is the contract, the matching and the simulated usage.

    python benchmarks/bench_replay.py [--quick]

Budget: twice the SDK, at any length of history. Exits with 1 beyond twice the budget.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic
import httpx2

import learnkit as lk

BUDGET = 2.0
LENGTHS = (1, 20, 120)


class Constant(httpx2.BaseTransport):
    """Returns one message, whatever is asked."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        request.read()
        headers = {"content-type": "application/json"}
        return httpx2.Response(200, content=self.body, headers=headers)


@lk.tool
def note(text: str) -> str:
    """Write a note down, and say so."""
    return f"noted: {text} " * 12


def requests(turns: int, path: Path) -> list[dict[str, Any]]:
    """The requests that an agent makes in a run of so many turns, which is recorded."""
    script = [lk.reply("On with it.", lk.use("note", text=f"{n}")) for n in range(turns)]
    client = lk.connect("record", recording=path, upstream=[*script, lk.say("done")])
    made: list[dict[str, Any]] = []

    class Spy(lk.Mechanism):
        def request(self, agent: lk.Agent, body: dict[str, Any]) -> None:
            made.append({**body, "messages": list(body["messages"])})

    mechanisms = [lk.Toolbox(note), Spy()]
    lk.Agent(client, mechanisms, system="Take notes.", max_turns=turns + 1).run("Note.")
    return made


def sdk_alone(body: bytes) -> anthropic.Anthropic:
    """The SDK, built as learnkit builds it, over the constant transport."""
    return anthropic.Anthropic(
        api_key="offline",
        base_url="http://offline.invalid",
        http_client=anthropic.DefaultHttpxClient(transport=Constant(body), trust_env=False),
        open_telemetry=False,
    )


def seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def main() -> int:
    """Measure, print, and say whether it is far beyond the budget."""
    rounds = 5 if "--quick" in sys.argv else 40
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.yaml"
        made = requests(max(LENGTHS) // 2 + 2, path)
        reply = lk.connect(recording=path).messages.with_raw_response.create(**made[0])
        fast = {length: float("inf") for length in LENGTHS}
        slow = dict(fast)
        for turn in range(rounds):
            client = lk.connect(recording=path)  # both new: a first call costs more than others
            constant = sdk_alone(reply.http_response.content)
            for request in made:  # the whole run: that is how an agent asks
                length = len(request["messages"])
                near = [one for one in LENGTHS if abs(one - length) <= 1]
                sides = [(client, slow), (constant, fast)]
                for side, times in sides if turn % 2 else reversed(sides):
                    spent = seconds(lambda: side.messages.create(**request))  # noqa: B023
                    for one in near:
                        times[one] = min(times[one], spent)
    print("messages   SDK alone   replayed   ratio")
    for length in LENGTHS:
        ratio = slow[length] / fast[length]
        worst = max(worst, ratio)
        alone, replayed = fast[length] * 1e3, slow[length] * 1e3
        print(f"{length:8}   {alone:6.2f} ms  {replayed:6.2f} ms   {ratio:5.2f}")
    print(f"budget {BUDGET}: {'kept' if worst <= BUDGET else 'not kept'}")
    return int(worst > 2 * BUDGET)


if __name__ == "__main__":
    sys.exit(main())

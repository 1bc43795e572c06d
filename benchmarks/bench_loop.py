"""What the loop itself costs a turn, against the ten lines that everybody writes.

    python benchmarks/bench_loop.py [--quick]

Both drive the same fake client, whose ``messages.create`` returns ready-made ``Message`` objects
of the SDK, so neither transport nor contract is measured. A turn is one reply that calls one tool,
and its result; each cost is the best of several runs. Budget: what the loop takes beyond the bare
loop is at most 6 times the bare loop's turn, whatever the length of the history. Exits with 1
beyond twice the budget, or when the last tenth of 1,000 turns takes more than twice the first, or
a turn of 1,000 half as much memory again as one of 100.
"""

import gc
import sys
import time
import tracemalloc
from collections.abc import Callable
from itertools import pairwise
from statistics import fmean
from typing import Any

from anthropic.types import Message
from tables import arguments, over, row

import learnkit as lk


@lk.tool
def read(path: str) -> str:
    """Read a file."""
    return f"{path}: 31 degrees at noon, 18 at night\n" * 3


def message(stop_reason: str, *content: dict[str, Any]) -> Message:
    fields = {"id": "msg_1", "type": "message", "role": "assistant", "model": "fake"}
    usage = {"input_tokens": 1000, "output_tokens": 40}
    return Message(**fields, stop_reason=stop_reason, content=content, usage=usage)


class FakeClient:
    """Calls a tool in each turn but the last one, and notes the time of every request."""

    model = "fake"

    def __init__(self, turns: int) -> None:
        text = {"type": "text", "text": "I look at the next file."}
        call = {"type": "tool_use", "name": "read", "input": {"path": "data/1.csv"}}
        calls = [{**call, "id": f"toolu_{number}"} for number in range(turns - 1)]
        replies = [message("tool_use", text, call) for call in calls]
        self._replies = iter([*replies, message("end_turn", text)])
        self.messages = self
        self.clock = lk.VirtualClock()
        self.times: list[float] = []

    def create(self, **request: Any) -> Message:
        self.times.append(time.perf_counter())
        return next(self._replies)


def bare(client: Any) -> None:
    """The loop in ten lines."""
    tools = {"read": read}
    messages: list[Any] = [{"role": "user", "content": "Go."}]
    specs = [tool.spec() for tool in tools.values()]
    while True:
        reply = client.create(model="fake", max_tokens=16_000, messages=messages, tools=specs)
        content = [block.model_dump(mode="json", exclude_none=True) for block in reply.content]
        messages.append({"role": "assistant", "content": content})
        results = []
        for block in reply.content:
            if block.type == "tool_use":
                output = tools[block.name].run(None, block.input)
                results.append({"type": "tool_result", "tool_use_id": block.id, "content": output})
        if not results:
            return
        messages.append({"role": "user", "content": results})


def learnkit(client: Any) -> None:
    """The loop of the package, with its event log."""
    lk.Agent(client, [lk.Toolbox(read)], max_turns=1000).run("Go.")


def costs(turns: int, rounds: int) -> list[list[float]]:
    """The best milliseconds a turn, bare and ours: over the whole run, its first and last tenth.

    They take turns, so that a machine that slows down meanwhile slows down both.
    """
    tenth = max(1, (turns - 1) // 10)
    runs: dict[Callable[[Any], None], list[list[float]]] = {bare: [], learnkit: []}
    for _ in range(rounds):
        for loop, found in runs.items():
            client = FakeClient(turns)
            gc.collect()
            loop(client)
            steps = [1000 * (end - begin) for begin, end in pairwise(client.times)]
            found.append([fmean(steps), fmean(steps[:tenth]), fmean(steps[-tenth:])])
    return [[min(column) for column in zip(*found, strict=True)] for found in runs.values()]


def kilobytes(turns: int) -> float:
    """The most memory that the loop itself takes, a turn."""
    client = FakeClient(turns)
    tracemalloc.start()
    learnkit(client)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / turns / 1024


rounds = 3 if arguments(__doc__).quick else 15
learnkit(FakeClient(50))  # imports and first uses are not part of a turn
gc.collect()
gc.freeze()  # nor is the search for garbage among the SDK's thousands of classes
ratios = []
row("turns; ms a turn", "bare", "learnkit", "own cost", "of bare", "first", "last")
for turns in (10, 100, 1000):
    (plain, *_), (whole, first, last) = costs(turns, rounds)
    ratios.append((whole - plain) / plain)
    row(turns, plain, whole, whole - plain, ratios[-1], first, last)
slow = over("own cost, in turns of the bare loop", max(ratios), 6, margin=2)
slow |= over("last of 1,000 turns, in first ones", last / first, 2)
grown = kilobytes(1000) / kilobytes(100)
sys.exit(over("memory a turn at 1,000 turns, in those at 100", grown, 1.1, margin=1.4) or slow)

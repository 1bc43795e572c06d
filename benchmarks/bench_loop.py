"""What the loop itself costs a turn, against the ten lines that everybody writes.

Both drive the same fake client, whose ``messages.create`` returns ready-made ``Message`` objects
of the SDK, so neither transport nor contract is measured. A turn is one reply that calls one tool,
and its result. Budget: the loop's own cost, what it takes beyond the bare loop, is at most 6 times
the bare loop's turn, whatever the length of the history.

    python benchmarks/bench_loop.py [--quick]

Exits with 1 when it costs more than twice the budget, or grows with the history: a
margin for busy machines.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from anthropic.types import Message, TextBlock, ToolUseBlock, Usage

import learnkit as lk

BUDGET = 6
MARGIN = 2
LENGTHS = (10, 100, 1000)


@lk.tool
def read(path: str) -> str:
    """Read a file."""
    return f"{path}: 31 degrees at noon, 18 at night\n" * 3


def replies(turns: int) -> list[Message]:
    """What the model says: a call in each turn but the last."""
    made = []
    for number in range(turns - 1):
        call = {"id": f"toolu_{number}", "input": {"path": f"data/{number}.csv"}, "name": "read"}
        text = {"type": "text", "text": "I look at the next file."}
        made.append(_message([text, {"type": "tool_use", **call}], "tool_use"))
    return [*made, _message([{"type": "text", "text": "done"}], "end_turn")]


def _message(blocks: list[dict[str, Any]], stop_reason: Any) -> Message:
    kinds = {"text": TextBlock, "tool_use": ToolUseBlock}
    return Message(
        id="msg_1",
        content=[kinds[block["type"]](**block) for block in blocks],
        model="fake",
        role="assistant",
        stop_reason=stop_reason,
        type="message",
        usage=Usage(input_tokens=1000, output_tokens=40),
    )


class FakeClient:
    """As much of a client as a loop uses; it also notes the time of every request."""

    model = "fake"

    def __init__(self, said: list[Message]) -> None:
        self._said = iter(said)
        self.messages = self
        self.clock = lk.VirtualClock()
        self.times: list[float] = []

    def create(self, **request: Any) -> Message:
        self.times.append(time.perf_counter())
        return next(self._said)


def bare(client: Any) -> None:
    """The loop in ten lines."""
    tools = {"read": read}
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
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
    lk.Agent(client, [lk.Toolbox(read)], max_turns=LENGTHS[-1]).run("Go.")


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds a turn: over the whole run, in its first and in its last tenth."""

    all: float
    start: float
    end: float


def cost(loop: Callable[[Any], None], turns: int, repeats: int) -> Cost:
    """The best of several runs, so that other programs on the machine count little."""
    runs = []
    for _ in range(repeats):
        client = FakeClient(replies(turns))
        gc.collect()
        loop(client)
        times = client.times
        tenth = max(1, (turns - 1) // 10)
        runs.append(
            (
                (times[-1] - times[0]) / (turns - 1),
                (times[tenth] - times[0]) / tenth,
                (times[-1] - times[-1 - tenth]) / tenth,
            )
        )
    return Cost(*(min(column) * 1000 for column in zip(*runs, strict=True)))


def kilobytes(loop: Callable[[Any], None], turns: int) -> float:
    """The most memory that the loop itself takes, a turn."""
    client = FakeClient(replies(turns))
    tracemalloc.start()
    loop(client)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / turns / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    repeats = 3 if parser.parse_args().quick else 15
    learnkit(FakeClient(replies(50)))  # imports and first uses are not part of a turn
    print(f"{'turns':>6} {'bare':>8} {'learnkit':>9} {'own cost':>9} {'of bare':>8}   start → end")
    worst = growth = 0.0
    for turns in LENGTHS:
        plain, ours = cost(bare, turns, repeats), cost(learnkit, turns, repeats)
        own = ours.all - plain.all
        worst = max(worst, own / plain.all)
        growth = ours.end / ours.start
        print(
            f"{turns:>6} {plain.all:>6.3f}ms {ours.all:>7.3f}ms "
            f"{own:>7.3f}ms {own / plain.all:>6.1f} ×   {ours.start:.3f} → {ours.end:.3f} ms a turn"
        )
    sizes = [f"{kilobytes(learnkit, turns):.1f}" for turns in LENGTHS]
    print(f"memory: {', '.join(sizes)} KB a turn at {', '.join(map(str, LENGTHS))} turns")
    print(
        f"budget: own cost {BUDGET} times the bare loop's turn; worst {worst:.1f} "
        f"({'within' if worst <= BUDGET else 'over'}); growth over 1000 turns × {growth:.2f}"
    )
    return 1 if worst > MARGIN * BUDGET or growth > MARGIN else 0


if __name__ == "__main__":
    sys.exit(main())

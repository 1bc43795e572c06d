"""Estimating a request each turn: what is new, against serialising the whole history again.

Both follow one conversation as it grows, turn by turn; the time of the last turns is compared, at
several lengths of history.

    python benchmarks/bench_tokens.py [--quick]

Exits with 1 when the incremental estimate costs more at 10,000 messages than five times what it
costs at 100, or is not faster than the other way from 100 messages on.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from learnkit.core.token_count import CHARS_PER_TOKEN, TokenCount

LENGTHS = (10, 100, 1_000, 10_000)
GROWTH = 5


def message(number: int) -> dict[str, Any]:
    """A result of usual length, or the call before it."""
    if number % 2:
        call = {"type": "tool_use", "id": f"t{number}", "name": "read", "input": {"n": number}}
        return {"role": "assistant", "content": [{"type": "text", "text": "On."}, call]}
    text = f"{number}: 31 degrees at noon, 18 at night\n" * 20
    result = {"type": "tool_result", "tool_use_id": f"t{number - 1}", "content": text}
    return {"role": "user", "content": [result]}


def again(messages: list[dict[str, Any]]) -> int:
    """The estimate of somebody who measures the whole array every time."""
    return len(json.dumps(messages, ensure_ascii=False)) // CHARS_PER_TOKEN


def milliseconds(estimate: Callable[[list[dict[str, Any]]], int], length: int, turns: int) -> float:
    """The time of one turn at the end of a history of ``length`` messages."""
    messages = [message(number) for number in range(length)]
    estimate(messages)
    best = float("inf")
    for number in range(turns):
        messages += [message(length + 2 * number), message(length + 2 * number + 1)]
        began = time.perf_counter()
        estimate(messages)
        best = min(best, time.perf_counter() - began)
    return 1_000 * best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer turns")
    turns = 8 if parser.parse_args().quick else 40
    print(f"{'messages':>9} {'again':>10} {'incremental':>12} {'ratio':>8}")
    ours: dict[int, float] = {}
    slower = []
    for length in LENGTHS:
        plain = milliseconds(again, length, turns)
        ours[length] = milliseconds(TokenCount().measure, length, turns)
        ratio = ours[length] / plain
        slower += [length] if length >= 100 and ratio >= 1 else []
        print(f"{length:>9,} {plain:>7.3f} ms {ours[length]:>9.4f} ms {ratio:>8.4f}")
    growth = ours[LENGTHS[-1]] / ours[100]
    print(f"incremental, at {LENGTHS[-1]:,} messages against 100: × {growth:.2f}")
    return 1 if growth > GROWTH or slower else 0


if __name__ == "__main__":
    sys.exit(main())

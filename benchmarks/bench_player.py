"""What a live view costs: bytes and time an event, against drawing everything again.

    python benchmarks/bench_player.py            200 events on top of 200 messages
    python benchmarks/bench_player.py --quick    50 on top of 50

Patches are what the player is sent. "Everything" is the obvious way: fold again and send the whole
frame each time. Ends with 1 when a view needs more than 2 KB an event. How many states a second a
browser shows is measured where there is a browser: see CONTRIBUTING.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from typing import Any

from learnkit.events.log import Event, EventLog
from learnkit.views import Dispatch, Messages, View
from learnkit.widget.pump import Feed

LIMIT = 2048
TEXT = "the station reports a reading that lies above the limit and wants a mail at noon"
WORDS = TEXT.split()


def talk(log: EventLog) -> Iterator[Event]:
    """An agent at work for ever: a call of some 150 characters, a result of some 600."""
    tools = [{"name": name} for name in ("bash", "read_file", "write_file", "edit_file")]
    yield log.append("run.started", prompt="go", system="Be brief.", tools=tools, model="m")
    index = 0

    def say(role: str, content: Any) -> Event:
        nonlocal index
        index += 1
        message = {"role": role, "content": content}
        return log.append("message.added", index=index - 1, message=message)

    yield say("user", "Go through all stations, and mail me each reading above the limit.")
    while True:
        turn, id = index // 2 + 1, f"toolu_{index}"
        name = tools[turn % 4]["name"]
        input = {"command": f"grep -n '{' '.join(WORDS[turn % 9 :])}' stations/{turn}.csv"}
        output = "\n".join(f"{line},{' '.join(WORDS[line % 7 :])}" for line in range(9))
        yield log.append("model.requested", turn=turn, messages=index)
        usage = {"input_tokens": 900, "output_tokens": 80}
        yield log.append("model.replied", turn=turn, stop_reason="tool_use", usage=usage)
        text = {"type": "text", "text": "I look at the next one."}
        yield say("assistant", [text, {"type": "tool_use", "id": id, "name": name, "input": input}])
        yield log.append("tool.started", id=id, name=name, input=input)
        end = {"output": output, "is_error": False, "seconds": 0.1, "how": "ran"}
        yield log.append("tool.ended", id=id, name=name, **end)
        yield say("user", [{"type": "tool_result", "tool_use_id": id, "content": output}])


def size(message: dict[str, Any]) -> int:
    return len(json.dumps(message, ensure_ascii=False).encode())


def measure(kind: type[View[Any]], before: int, events: int) -> tuple[float, float, float, float]:
    """Bytes and seconds an event: of the patches, and of everything."""
    log = EventLog()
    source = talk(log)
    while sum(event.type == "message.added" for event in log) < before:
        next(source)
    sent: list[int] = []
    feed = Feed(kind(log), lambda message: sent.append(size(message)))
    feed.flush()
    sent.clear()
    start = len(log)
    for _ in range(events):
        next(source)
    begin = time.perf_counter()
    feed.flush()
    patches = time.perf_counter() - begin

    view, everything = kind(log), 0
    step = max(events // 20, 1)  # a sample: the obvious way is slow
    sample = range(start + 1, start + events + 1, step)
    begin = time.perf_counter()
    for k in sample:
        state = view.at(k)
        everything += size({"head": view.finding(state), "frame": view.frame(state)})
    whole = time.perf_counter() - begin
    return sum(sent) / events, patches / events, everything / len(sample), whole / len(sample)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a quarter of the work")
    number = 50 if parser.parse_args().quick else 200
    print(f"{number} events on top of {number} messages")
    print(f"{'view':<12}{'':<16}{'patches':>12}{'everything':>14}{'ratio':>9}")
    heaviest = 0.0
    for kind in (Messages, Dispatch):
        small, quick, large, slow = measure(kind, number, number)
        heaviest = max(heaviest, small)
        name = kind.__name__
        print(
            f"{name:<12}{'bytes an event':<16}{small:>12,.0f}{large:>14,.0f}{large / small:>9.1f}"
        )
        times = f"{1000 * quick:>12.3f}{1000 * slow:>14.3f}{slow / quick:>9.1f}"
        print(f"{'':<12}{'ms an event':<16}{times}")
    if heaviest > LIMIT:
        print(f"more than {LIMIT:,} bytes an event", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Lesson 4's game: the learner is the parent, and writes what a child is told.

The child is a program. It reads its prompts, and a file if they name one, and knows nothing else:
what it isn't told, it assumes. It calculates with the real readings of the example.
"""

from __future__ import annotations

import csv
import re
import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.content import Game
from learnkit.course.lessons.s04.model import results_of
from learnkit.events.log import Event
from learnkit.events.text import content_text, count, one_line

STATIONS = ("beijing", "cairo", "oslo")
#: What the parent knows, and no child: its request, its system prompt, and a file that this names.
QUESTION = "What was the mean temperature in Cairo, in °F? Let a subagent calculate it."
SYSTEM = (
    "You answer questions about weather stations. Their readings are in stations/, as CSV files. "
    "The rules for all calculations are in docs/rules.md."
)
RULES = """\
# Before you calculate

- A reading of -9999 means that there was no reading.
- All our sensors read 0.8 °C too high, so subtract 0.8.
"""


#: What a child has to know: the words in its prompt, or in a file that this names, that say it;
#: those that say the opposite; and what a learner reads about them.
FACTS = {
    "the station": (r"(?i)cairo", r"$^", "Cairo"),
    "the unit": (
        r"\bF\b|°\s?f\b|(?i:fahrenheit|\b(?:in|to|into|as|degrees) f\b)",
        r"(?i)(?:never|not|n't)(?: \w+){0,2} (?:fahrenheit|°?F\b)",
        "F, °F, Fahrenheit",
    ),
    "-9999 is no reading": (
        r"9[.,]?999",
        r"(?i)(?<!not )(?<!n't )(?<!never )(?:count|include|keep) (?:the )?-?9[.,]?999"
        r"|9999 (?:is|as|counts as) an? (?:real|valid|normal)",
        "-9999, docs/rules.md",
    ),
    # Subtracted from the mean in °F, it is 1.44.
    "0.8 too high": (
        r"(?i)(?<![\d.,])(?:0?[.,]8|1[.,]44)(?!\d)|eight tenths",
        r"(?i)(?<!not )(?<!n't )(?<!never )\badd (?:0?[.,]8|1[.,]44)|too low",
        "0.8, .8, 1.44 (in °F), docs/rules.md",
    ),
}
RIGHT = "89.7 °F"
_FILE = re.compile(r"docs/rules\.md|\brules\.md", re.I)


def child(request: dict[str, Any]) -> lk.Reply:
    """Answer a request of the child: read what it is told to, calculate, and write it if asked."""
    messages = request["messages"]
    prompt, texts = content_text(messages[0]["content"]), results_of(messages)
    told = f"{content_text(request.get('system', ''))}\n{prompt}"
    # The first one that is named: a prompt may say what the others do.
    station = min(STATIONS, key=lambda one: f"{prompt} {one}".lower().index(one))
    reads = ["docs/rules.md"] if _FILE.search(told) else []
    reads.append(f"stations/{station}.csv")
    if len(texts) < len(reads):
        return lk.use("read_file", path=reads[len(texts)])
    known = "\n".join([told, *texts[: len(reads) - 1]])
    said = calculated(station, texts[len(reads) - 1], known)
    to = re.search(r"means/\w+\.txt", prompt)
    if to and len(texts) == len(reads):
        return lk.use("write_file", path=to[0], content=f"{said}\n")
    return lk.say(said)


def calculated(station: str, table: str, known: str) -> str:
    """Return a child's report."""
    lacks = lacking(known)
    celsius = [float(row["celsius"]) for row in csv.DictReader(table.splitlines())]
    if "-9999 is no reading" not in lacks:
        celsius = [one for one in celsius if one != -9999]
    mean = statistics.fmean(celsius) - 0.8 * ("0.8 too high" not in lacks)
    said = f"{mean:.1f} °C" if "the unit" in lacks else f"{mean * 1.8 + 32:.1f} °F"
    return f"The mean of {station} is {said}, from {len(celsius)} readings."


def lacking(known: str) -> list[str]:
    """The facts that a text doesn't say in words that a child hears, or says the opposite of."""
    facts = FACTS.items()
    return [f for f, (said, no, _) in facts if not re.search(said, known) or re.search(no, known)]


def looked_for(facts: Iterable[str]) -> str:
    """Which words a child, as a program, looks for."""
    lines = [f"  {fact}: {FACTS[fact][2]}" for fact in facts]
    return "\n".join(
        ["A child is a program. It looks for these words, and for no opposite:", *lines]
    )


def game() -> Game:
    """Return the game, with a script whose first prompt leaves out what matters."""
    first = "What is the mean temperature in stations/cairo.csv?"
    second = f"{first} Report it in °F. Follow docs/rules.md."
    lead = [
        lk.use("read_file", path="docs/rules.md"),
        *(lk.use("task", prompt=one, description="mean of cairo") for one in (first, second)),
        lk.say(f"The mean temperature in Cairo was {RIGHT}."),
    ]
    children = {f"lead.toolu_{number:04}": child for number in range(1, 9)}
    return Game(QUESTION, mechanisms, {"lead": lead, **children}, SYSTEM, others=child)


def write_rules(workspace: Path) -> None:
    """Write the house's rules."""
    (workspace / "docs").mkdir(exist_ok=True)
    (workspace / "docs" / "rules.md").write_text(RULES, encoding="utf-8")


def mechanisms(workspace: Path) -> list[lk.Mechanism]:
    """Write the rules; return what the parent has: a tool that reads, and subagents that read."""
    write_rules(workspace)

    def reads() -> list[lk.Mechanism]:
        return [lk.Toolbox(lk.CodingTools(workspace).read_file)]

    return [*reads(), lk.Subagents(reads)]


def told(events: Iterable[Event]) -> Iterator[tuple[list[str], str]]:
    """What each child of a run lacked and reported, in the order in which they started."""
    heard: dict[str, list[Any]] = {}
    for event in events:
        if event.type == "message.added" and event.lane != "lead":
            heard.setdefault(event.lane, []).append(event.data["message"])
    for messages in heard.values():
        last = messages[-1]
        report = content_text(last["content"]) if last["role"] == "assistant" else ""
        # A report is the last text; the file with the readings tells a child no rule.
        known = "\n".join([content_text(messages[0]["content"]), *results_of(messages)[:-1]])
        yield lacking(known), report


def scored(events: Sequence[Event]) -> str:
    """Say what each prompt left out and each child reported, and whether the answer is right."""
    children = list(told(events))
    if not children:
        return "No child has started yet. Play the game above, then run this cell again."
    lines = list[str]()
    for number, (lacks, report) in enumerate(children, start=1):
        heard = f"didn't know: {', '.join(lacks)}" if lacks else "knew all it needed"
        lines.append(f"Child {number} {heard}")
        lines.append(f"  and reported: {report or 'nothing yet'}")
    *_, last = (one for one in events if one.type == "message.added" and one.lane == "lead")
    message = last.data["message"]
    said = content_text(message["content"]) if message["role"] == "assistant" else "nothing yet"
    prompts = count(len(children), "prompt")
    if not any(RIGHT in report for _, report in children):
        missed = dict.fromkeys(fact for lacks, _ in children for fact in lacks)
        lines += [f"✗ No report is right after {prompts}.", looked_for(missed)]
    elif RIGHT.split()[0] in said:
        lines.append(f"✓ Your answer is right, with {prompts}.")
    else:
        lines.append(f"✗ A report was right, but your answer was: {one_line(said, 60)}")
    return "\n".join(lines)

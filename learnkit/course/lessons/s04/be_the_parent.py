"""Lesson 4's game: the learner is the parent, and writes what a child is told.

The child is a program. It reads its prompts, and a file if they name one, and knows nothing else:
what it isn't told, it assumes. It calculates with the real readings of the example.
"""

from __future__ import annotations

import csv
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.content import Game, Remark
from learnkit.course.lessons.reading import blocks, results
from learnkit.events.text import content_text, count, listed, one_line

STATIONS = ("beijing", "cairo", "oslo")
GOAL = "You are the parent: get the right mean, with the fewest prompts"
NOTE = "The child that you ask knows only what its prompt says, and assumes the rest."
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


#: What a child has to know: the words in its prompt, or in a file that this names, that say it, and
#: what a learner reads about them. Subtracted from the mean in °F, 0.8 is 1.44.
FACTS = {
    "the station": (r"(?i)cairo", "Cairo"),
    "the unit": (
        r"\bF\b|°\s?f\b|(?i:fahrenheit|\b(?:in|to|into|as|degrees) f\b)",
        "F, °F, Fahrenheit",
    ),
    "-9999 is no reading": (r"9[.,]?999", "-9999, docs/rules.md"),
    "0.8 too high": (
        r"(?i)(?<![\d.,])(?:0?[.,]8|1[.,]44)(?!\d)|eight tenths",
        "0.8, .8, 1.44 (in °F), docs/rules.md",
    ),
}
RIGHT = "89.7 °F"
_FILE = re.compile(r"docs/rules\.md|\brules\.md", re.I)


def child(request: dict[str, Any]) -> lk.Reply:
    """Answer a request of the child: read what it is told to, calculate, and write it if asked."""
    messages = request["messages"]
    prompt, texts = content_text(messages[0]["content"]), results(messages)
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
    """The facts that a text doesn't say in words that a child hears."""
    return [fact for fact, (said, _) in FACTS.items() if not re.search(said, known)]


def looked_for(facts: Iterable[str]) -> str:
    """Which words a child, as a program, looks for."""
    lines = [f"  {fact}: {FACTS[fact][1]}" for fact in facts]
    return "\n".join(
        ["A child is a program. It looks for these words, and hears no “not”:", *lines]
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
    script = {"lead": lead, **children}
    return Game(QUESTION, mechanisms, script, SYSTEM, judge, others=child, goal=GOAL, note=NOTE)


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


def told(messages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[list[str], str]]:
    """What each child lacked and reported, in the order in which they were asked."""
    every = blocks(messages)
    answers = {one["tool_use_id"]: one for one in every if one["type"] == "tool_result"}
    for one in every:
        result = answers.get(one.get("id"), {})
        if one.get("name") == "task" and result and not result.get("is_error"):
            prompt = one["input"]["prompt"]
            known = f"{prompt}\n{RULES}" if _FILE.search(prompt) else prompt
            yield lacking(known), content_text(result["content"])


def judge(_: Path, messages: Sequence[Mapping[str, Any]]) -> list[Remark]:
    """Say whether the answer is right, and what each prompt left out and each child reported."""
    children = list(told(messages))
    if not children:
        return [Remark(False, "No child was asked.")]
    said, prompts = content_text(messages[-1]["content"]), count(len(children), "prompt")
    heard = [
        Remark(None, f"Child {n} {_heard(lacks)}, and reported: {report}")
        for n, (lacks, report) in enumerate(children, start=1)
    ]
    if not any(RIGHT in report for _, report in children):
        lacks, report = children[-1]
        found = re.search(r"\S+ °[CF]", report)
        left = listed([f"“{fact}”" for fact in lacks])
        wrong = f"{found[0] if found else 'No report'} isn't right: the prompt left out {left}."
        missed = dict.fromkeys(fact for lacks, _ in children for fact in lacks)
        return [Remark(False, wrong), *heard, Remark(None, looked_for(missed))]
    if RIGHT.split()[0] in said:
        return [Remark(True, f"{RIGHT} is right, with {prompts}."), *heard]
    return [Remark(False, f"A report was right, but your answer was: {one_line(said, 60)}"), *heard]


def _heard(lacks: list[str]) -> str:
    return f"didn't know {listed(lacks)}" if lacks else "knew all it needed"

"""Mechanical models: rules instead of a neural network.

They show a mechanism's effect without an API, over hundreds of seeds.

``Forgetful`` is **a model of attention, not an LLM**. It knows how to do each step of a plan. In
the request it has to read what there is to do, what it has done and what it found out, and it
notices only what is close enough to the end. Drift, repetition and mixed-up facts are not written
into it: they follow from what it failed to notice. Its numbers say something about long or short,
tidy or polluted contexts, and nothing about any real model.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from learnkit.clients.scripted import Block, Reply, Request, reply, say, use
from learnkit.core.token_count import estimate_tokens
from learnkit.core.transcript import texts
from learnkit.errors import UsageError

#: How many subagents it starts in one reply.
SIDE_BY_SIDE = 3

_LISTED = re.compile(r"\[([ >x])\] #\S+ (.*)")
_TOLD, _CALL = re.compile(r"(user|assistant): (.*)"), re.compile(r"(\w+) (\{.*\})")
_MARKS = {" ": "pending", ">": "in_progress", "x": "completed"}


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan.

    Attributes:
        name: the word for it everywhere: in the request, a list, a summary.
        call: the call that does it, from :func:`learnkit.use`; None for something to remember only,
            such as a decision.
        fact: a regular expression with one group, for the line with the result of the step.
    """

    name: str
    call: Reply | None = None
    fact: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """A line or a call in a request.

    Attributes:
        text: the line; empty for a call.
        distance: tokens from its beginning to the end of the request.
        call: the ``tool_use`` block of a call; None for a line.
        answers: the id of the call whose result the line is from; empty for other lines.
    """

    text: str
    distance: int
    call: Block | None = None
    answers: str = ""


@dataclass(slots=True)
class _Known:
    """What the model concludes from what it has noticed."""

    asked: dict[str, None] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    facts: dict[str, str] = field(default_factory=dict)
    listed: dict[str, str] = field(default_factory=dict)
    reminded: bool = False


class Forgetful:
    """A policy that acts only on what it notices in the request; use it as a script.

    It notices every line in the half of the window that is closer to the end. Further away it
    notices lines less and less often, and outside the window never. It always knows the system
    prompt and the tools. The same seed and the same visible text give the same reply.

    * With a tool ``todo`` it writes down its steps, and updates the list when it thinks of it or is
      reminded.
    * With a tool ``task`` it delegates each step to a subagent.
    * Asked for a summary, it writes down what is open, done and known, as far as it noticed.
    """

    def __init__(
        self,
        plan: Sequence[Step],
        *,
        window: int = 2_000,
        seed: int = 0,
        habit: float = 0.5,
        by_heart: bool = False,
    ) -> None:
        names = [step.name for step in plan]
        if len(set(names)) < len(names) or not names:
            raise UsageError(f"a plan needs steps, and a name of its own for each; not {names}")
        if window < 1 or not 0 <= habit <= 1:
            raise UsageError(f"window is {window} (1 or more), habit {habit} (0 to 1)")
        self.plan, self.window, self.seed = tuple(plan), window, seed
        self._habit, self._by_heart = habit, by_heart
        words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        self._named = re.compile(rf"(?<!\w)(?:{words})(?!\w)")
        self._reported = re.compile(rf"({words}) = (.+)")
        self._facts = {step.name: re.compile(step.fact) for step in plan if step.fact}
        every = "|".join(dict.fromkeys(step.fact for step in plan if step.fact and step.call))
        self._finding = re.compile(every or "(?!)")

    def __call__(self, request: Request) -> Reply:
        """Return the reply to a request; nothing is kept from one call to the next."""
        seen, dice = self._notice(request)
        retold = _wants_summary(request)
        known = self._know(list(_taken_part_in(seen)) if retold else seen)
        steps = [step for step in self.plan if self._by_heart or step.name in known.asked]
        if retold:
            return say(self._summary(steps, known))
        offered = {tool["name"] for tool in request.get("tools", ())}
        todo = [step for step in steps if step.call is not None and step.name not in known.done]
        parts: list[Reply] = []
        listing = "todo" in offered and not self._by_heart
        if listing and (items := self._list(steps, todo, known, dice)):
            parts.append(use("todo", items=items))
        if todo and "task" in offered and not self._by_heart:
            for step in todo[:SIDE_BY_SIDE]:
                prompt = f"Do this one thing and report what you find:\n- {step.name}"
                parts.append(use("task", prompt=prompt, description=step.name))
        elif todo and todo[0].call is not None:
            parts.append(todo[0].call)
        return reply(*parts) if parts else say(self._report(steps, known))

    def notice(self, request: Request) -> list[Seen]:
        """Return what it notices in a request, in the order of the messages."""
        return self._notice(request)[0]

    def _notice(self, request: Request) -> tuple[list[Seen], random.Random]:
        visible = list(_things(request["messages"], self.window))
        told = "\n".join(f"{s.distance} {s.answers} {s.text or s.call}" for s in visible)
        dice = random.Random(f"{self.seed}\n{told}")
        half = self.window / 2
        noticed = [
            seen
            for seen in visible  # from the end on
            if seen.distance <= half or dice.random() < 2 - seen.distance / half
        ]
        return noticed[::-1], dice

    def _know(self, seen: Sequence[Seen]) -> _Known:
        known = _Known()
        calls = {_deed(step.call.content[0]): step.name for step in self.plan if step.call}
        begun: dict[str, str | None] = {}  # noticed call -> its step
        last: str | None = None  # the step that it believes it is doing
        for one in seen:
            if one.call is None:
                of = begun.get(one.answers, last) if one.answers else None
                self._read(known, one, of)
            elif one.call["name"] == "task" and _deed(one.call) not in calls:
                known.done.update(self._named.findall(str(one.call["input"].get("prompt", ""))))
            elif name := calls.get(_deed(one.call)):
                begun[one.call["id"]] = last = name
                known.done.add(name)
        return known

    def _read(self, known: _Known, one: Seen, of: str | None) -> None:
        """Read one line; ``of`` is the step whose result it seems to be."""
        line = one.text
        if listed := _LISTED.match(line):
            for name in self._named.findall(listed[2]):
                known.asked[name] = None
                known.listed[name] = _MARKS[listed[1]]
                known.reminded = False  # whatever came before it
                if listed[1] == "x":
                    known.done.add(name)
        elif reported := self._reported.fullmatch(line):
            known.asked[reported[1]] = None
            known.done.add(reported[1])
            known.facts[reported[1]] = reported[2]
        elif line.startswith("done: "):
            known.done.update(self._named.findall(line))
        elif one.answers:
            found = self._finding.search(line)
            if of is not None and found:  # in fact it may be the result of another step
                known.facts[of] = next(filter(None, found.groups()))
        else:
            names = self._named.findall(line)
            known.reminded = known.reminded or "todo" in line.lower()
            known.asked.update(dict.fromkeys(names))
            for name in names:
                if name in self._facts and (found := self._facts[name].search(line)):
                    known.facts[name] = found[1]

    def _list(
        self, steps: Sequence[Step], todo: Sequence[Step], known: _Known, dice: random.Random
    ) -> list[Block]:
        """The new todo list, if it is worth a call and it thinks of it."""
        names = [step.name for step in steps if step.call is not None]
        current = todo[0].name if todo else None

        def status(name: str) -> str:
            return "completed" if name in known.done else "pending"

        new = {name: "in_progress" if name == current else status(name) for name in names}
        if len(names) < 2 or new == known.listed:
            return []
        if known.listed and todo and not known.reminded and dice.random() >= self._habit:
            return []
        return [
            {"id": str(number), "text": name, "status": new[name]}
            for number, name in enumerate(names, start=1)
        ]

    def _report(self, steps: Sequence[Step], known: _Known) -> str:
        facts = [f"{s.name} = {known.facts[s.name]}" for s in self.plan if s.name in known.facts]
        done = ", ".join(step.name for step in steps if step.name in known.done)
        return "\n".join(facts) or f"done: {done or 'nothing is left that I know of'}"

    def _summary(self, steps: Sequence[Step], known: _Known) -> str:
        lines = [f"{name} = {value}" for name, value in known.facts.items()]
        lines += [f"- {step.name}" for step in steps if step.name not in known.done]
        return "\n".join([*lines, f"done: {', '.join(sorted(known.done))}"])


def _taken_part_in(seen: Sequence[Seen]) -> Iterator[Seen]:
    """The conversation in a text to summarise, as if the model had taken part in it."""
    id = ""
    for one in seen:
        told = _TOLD.fullmatch(one.text)
        if told and told[1] == "assistant" and (call := _CALL.fullmatch(told[2])):
            id = f"told at {one.distance}"
            block = {"id": id, "name": call[1], "input": json.loads(call[2])}
            yield Seen("", one.distance, call=block)
            continue
        if told:  # another speaker, or the result begins
            id = id if told[1] == "user" else ""
        text = told[2] if told else one.text
        is_request = text.startswith("- ") or text.startswith("<")
        yield Seen(text, one.distance, answers="" if is_request else id)


def _deed(call: Block) -> str:
    """What a call does, without its id."""
    return f"{call['name']} {call['input']}"


def _things(messages: Sequence[Block], window: int) -> Iterator[Seen]:
    """Lines and calls, backwards from the end of the messages, as far as the window reaches."""
    distance = 0
    for message in reversed(messages):
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in reversed(blocks):
            if block["type"] == "tool_use":
                distance += estimate_tokens(block["input"])
                if distance > window:
                    return
                yield Seen("", distance, call=block)
                continue
            for text in reversed(list(texts([block]))):
                for line in reversed(text.split("\n")):
                    distance += estimate_tokens(line)
                    if distance > window:
                        return
                    if line:
                        yield Seen(line, distance, answers=block.get("tool_use_id", ""))


def _wants_summary(request: Request) -> bool:
    said = "\n".join(texts(request["messages"][-1]["content"]))
    return "summar" in said[:400].lower() or "summar" in said[-400:].lower()

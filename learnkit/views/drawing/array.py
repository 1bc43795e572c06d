"""One agent's message array as a fold over its events, with an HTML fragment for each message.

An event redraws only what it touches: a message when it arrives, and the message with a call when
that call starts or ends. All other fragments stay the same objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from learnkit.core.token_count import estimate_tokens
from learnkit.events import loop
from learnkit.events.log import Event
from learnkit.events.text import arguments, blocks_of, count, excerpt, listed, one_line
from learnkit.events.vocabulary import read
from learnkit.views.drawing import blocks, theme
from learnkit.views.drawing.text import esc
from learnkit.views.drawing.theme import Mark

Json = dict[str, Any]
#: Shortens a text.
Cut = Callable[[str], str]
#: A call that a mechanism has refused: no tool ran.
REFUSED = replace(theme.BLOCKED, word="refused")


@dataclass(frozen=True, slots=True)
class MessageCard:
    """One message and its fragment; in what is ``shown`` of it, calls that fail alike are one."""

    index: int
    message: Json
    shown: Json
    injected: bool
    tokens: int
    html: str

    @property
    def mark(self) -> Mark:
        """The mark of its role."""
        if self.message.get("role") == "assistant":
            return theme.ASSISTANT
        return theme.INJECTED if self.injected else theme.USER

    @property
    def text(self) -> str:
        """All its blocks as text, of any length."""
        return " · ".join(map(str, blocks.lines(self.shown, self.injected)))


@dataclass(frozen=True, slots=True)
class Request:
    """One request to the model: the system prompt, the tools, and the array as it was then.

    Attributes:
        number: from 1, over all requests of this agent.
        messages: how many of the array's messages it carries.
        tokens: in all.
        new: tokens that no request before has carried.
    """

    number: int
    messages: int
    tokens: int
    new: int


@dataclass(frozen=True, slots=True)
class Array:
    """One agent's message array.

    Attributes:
        lane: the agent's name.
        cards: its messages.
        calls: call id -> name of the tool, mark of the call's status, and place in its message.
        tokens: of all its messages.
        prompted: whether the next message is a person's.
        waiting: whether the model has the array.
        system: fragment of what goes with every request.
        system_tokens: of the system prompt and the tools.
        requests: those whose messages all still stand in the array.
        asked: how many requests there were.
        carried: tokens of all requests there were.
        sent: how many of its messages a request has carried as they are.
        whole: whether every text is shown as it is, however long.
        marked: whether calls have a status, and results a mark if they only read like a failure.
    """

    lane: str
    cards: tuple[MessageCard, ...] = ()
    calls: dict[str, tuple[str, Mark, int]] = field(default_factory=dict)
    tokens: int = 0
    prompted: bool = False
    waiting: bool = False
    system: str = ""
    system_tokens: int = 0
    requests: tuple[Request, ...] = ()
    asked: int = 0
    carried: int = 0
    sent: int = 0
    whole: bool = False
    marked: bool = True

    @property
    def longest(self) -> int:
        """Tokens of the longest message, or of what goes with every request."""
        return max([self.system_tokens, *(card.tokens for card in self.cards)])

    @property
    def size(self) -> str:
        """Its length in words."""
        return f"{count(len(self.cards), 'message')}, ≈ {self.tokens:,} tokens"


def grow(array: Array, event: Event) -> Array:
    """The array after an event; the same object when nothing in it changed."""
    match read(event):
        case loop.RunStarted(system=system, tools=tools):
            return replace(_prompted(array, system, tools), prompted=True)
        case loop.MessageAdded(message=message, index=index):
            return _added(array, message, index)
        case loop.MessagesRewritten(messages=messages):
            return _rewritten(array, messages)
        case loop.ModelRequested(purpose="conversation"):  # one for a summary isn't this array
            return _requested(array)
        case loop.ModelFailed() | loop.RunEnded():
            return replace(array, waiting=False) if array.waiting else array
        case loop.ToolStarted(id=call, refused=""):
            return _marked(array, {call: theme.WORKING})
        case loop.ToolEnded(id=call) as ended:
            failed = REFUSED if ended.how == "refused" else theme.FAILED
            return _marked(array, {call: theme.DONE if ended.done else failed})
    return array


def _requested(array: Array) -> Array:
    """The array with one more request; one that is sent again stands in the place of the first."""
    messages, sent = len(array.cards), sum(card.tokens for card in array.cards[: array.sent])
    total, before = array.system_tokens + array.tokens, array.system_tokens if array.asked else 0
    one = Request(array.asked + 1, messages, total, total - sent - before)
    requests = (*(old for old in array.requests if old.messages < messages), one)
    asked = replace(array, asked=one.number, carried=array.carried + total, sent=messages)
    return replace(asked, waiting=True, requests=requests)


def _kept(array: Array, number: int) -> Array:
    """The array of which only the first messages stay as they are."""
    requests = tuple(one for one in array.requests if one.messages <= number)
    return replace(array, requests=requests, sent=min(array.sent, number))


def _added(array: Array, message: Json, index: int | None) -> Array:
    """Put a message at its index: at the end, or in place of all messages from there on."""
    place = len(array.cards) if index is None else min(index, len(array.cards))
    user = message.get("role") != "assistant"
    results = _held(message, "tool_result")
    injected = user and not results and place > 0 and not array.prompted
    calls = {**array.calls, **_opened(message)}
    kept, card = _folded(array, place), message_card(array, place, message, injected, calls)
    cards, asked = (*kept, card), array.prompted and (not user or bool(results))
    grown = replace(_kept(array, place), waiting=False, cards=cards, calls=calls, prompted=asked)
    grown = replace(grown, tokens=sum(one.tokens for one in cards))
    return _marked(grown, _answers(results, calls)) if results else grown


def _folded(array: Array, place: int) -> tuple[MessageCard, ...]:
    """The first messages; in the last two, neighbouring calls that have failed alike are one."""
    kept = array.cards[:place]
    results = _held(kept[-1].message, "tool_result") if place > 1 else []
    fails = {str(one.get("tool_use_id")): blocks.failed(one) for one in results}
    if not any(fails.values()):
        return kept
    drawn = (
        message_card(array, one.index, one.message, one.injected, array.calls, fails=fails)
        for one in kept[-2:]
    )
    return (*kept[:-2], *drawn)


def _alike(message: Json, fails: Mapping[str, str]) -> Json:
    """A message in which neighbouring calls, or results, that have failed alike are one."""
    merged: list[Json] = []
    found = enumerate(blocks_of(message.get("content")))
    named = ((str(one.get("id", one.get("tool_use_id"))), place, one) for place, one in found)
    for _, group in groupby(named, lambda one: fails.get(one[0]) or one[1]):
        first, *others = (block for _, _, block in group)
        if others and first.get("type") == "tool_use":
            every = [first, *others]
            inputs = [one_line(arguments(one.get("input", {})), 40) for one in every]
            names = listed(list(dict.fromkeys(str(one.get("name", "?")) for one in every)))
            first = {**first, "name": names, "input": {"": " · ".join(dict.fromkeys(inputs))}}
        merged.append({**first, "times": 1 + len(others)} if others else first)
    return {**message, "content": merged} if any("times" in one for one in merged) else message


def _rewritten(array: Array, messages: Sequence[Json]) -> Array:
    """The array with new messages; a message that hasn't changed keeps its card."""
    persons = [card.message for card in array.cards if not card.injected]
    calls = dict(array.calls)
    cards: list[MessageCard] = []
    for place, message in enumerate(messages):
        old = array.cards[place] if place < len(array.cards) else None
        if old and old.message == message:
            cards.append(old)
            continue
        calls.update({call: at for call, at in _opened(message).items() if call not in calls})
        # A user message that only the rewritten array has comes from the harness; of an array that
        # begins with the rewriting nothing is known.
        new = message.get("role") != "assistant" and not _held(message, "tool_result")
        injected = new and bool(array.cards) and message not in persons
        cards.append(message_card(array, place, message, injected, calls))
    pairs = enumerate(zip(array.cards, cards, strict=False))
    same = (place for place, (old, new) in pairs if old is not new)
    array = _kept(array, next(same, min(len(array.cards), len(cards))))
    tokens = sum(card.tokens for card in cards)
    return replace(array, cards=tuple(cards), calls=calls, tokens=tokens)


def _held(message: Json, kind: str) -> list[Json]:
    return [block for block in blocks_of(message.get("content")) if block.get("type") == kind]


def _opened(message: Json) -> dict[str, tuple[str, Mark, int]]:
    return {
        str(block.get("id")): (str(block.get("name", "?")), theme.PENDING, place)
        for place, block in enumerate(_held(message, "tool_use"))
    }


def _answers(results: list[Json], calls: Json) -> dict[str, Mark]:
    return {
        call: theme.FAILED if blocks.is_broken(block) else theme.DONE
        for block in results
        if calls.get(call := str(block.get("tool_use_id")), ("", None))[1] is not REFUSED
    }


def _marked(array: Array, marks: dict[str, Mark]) -> Array:
    """Set the status of calls, and redraw the card that has them."""
    changed = {
        call: (array.calls[call][0], mark, array.calls[call][2])
        for call, mark in marks.items()
        if call in array.calls and array.calls[call][1] is not mark
    }
    if not changed:
        return array
    calls = {**array.calls, **changed}
    cards = list(array.cards)
    for place in range(len(cards) - 1, -1, -1):
        card = cards[place]
        if _opened(card.message).keys() & changed.keys():
            cards[place] = message_card(array, card.index, card.message, card.injected, calls)
            break
    return replace(array, calls=calls, cards=tuple(cards))


def message_card(
    array: Array,
    index: int,
    message: Json,
    injected: bool,
    calls: Json,
    cut: Cut = excerpt,
    fails: Mapping[str, str] | None = None,
) -> MessageCard:
    """A message with its fragment: its calls with their status, and its texts cut."""
    lane, tokens = array.lane, estimate_tokens(message)
    card = MessageCard(index, message, _alike(message, fails or {}), injected, tokens, "")
    shown = card.shown if array.whole else blocks.with_texts(card.shown, cut)
    source = '<span class="note">from the harness</span>' if _held(message, "tool_result") else ""
    source = blocks.FROM_HARNESS if injected else source
    parts = [
        f'<article class="msg {card.mark.key}"><div class="line"><span class="index">{index}</span>'
        f"{blocks.label(card.mark)}{source}{blocks.tokens(tokens)}</div>"
    ]
    seen_result = False
    for block in blocks_of(shown.get("content")):
        kind = block.get("type")
        if kind == "text":
            # In a card that is injected as a whole, its mark says so already.
            parts.append(blocks.text(str(block.get("text", "")), seen_result))
        elif kind == "tool_use":
            _, status, place = calls.get(str(block.get("id")), ("", None, None))
            drawn = blocks.call(block, lane, status if array.marked else None)
            parts.append(blocks.joined(drawn, place))
        elif kind == "tool_result":
            seen_result = True
            name, status, place = calls.get(str(block.get("tool_use_id")), (None, None, None))
            name = name and name * ("times" not in block)  # those may be of several tools
            drawn = blocks.result(block, lane, name, status if array.marked else None)
            parts.append(blocks.joined(drawn, place))
        elif kind in ("thinking", "redacted_thinking"):
            parts.append(blocks.thinking(block))
        else:
            parts.append(blocks.other(block))
    return replace(card, html="".join([*parts, "</article>"]))


def _prompted(array: Array, text: str, tools: Sequence[Json]) -> Array:
    """The array with the system prompt and the tools, which are sent with each request."""
    if not text and not tools:
        return array
    names = ", ".join(str(tool.get("name", "?")) for tool in tools)
    offered = f" {count(len(tools), 'tool')}: {esc(names)}." if tools else ""
    size = estimate_tokens(text) + estimate_tokens(list(tools))
    fragment = (
        f'<article class="msg system"><div class="line">{blocks.label(theme.SYSTEM)}'
        f"{blocks.tokens(size)}</div>{blocks.long_text(excerpt(text)) if text else ''}"
        f'<div class="note">Goes with every request, beside the array.{offered}</div></article>'
    )
    return replace(array, system=fragment, system_tokens=size)

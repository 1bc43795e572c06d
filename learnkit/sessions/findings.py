"""Findings: what a session lost tokens or minutes to, each as a sentence with its turns.

Each is a pure function of an agent's turns. It says nothing where the evidence is thin: what could
have had a good reason (a file is read again after it changed) isn't counted, and small losses
aren't told. What was lost is an estimate: characters / 4 for texts, the clock for time.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from learnkit.core.catalog import MODELS
from learnkit.events.log import Event
from learnkit.events.text import count, one_line, quoted
from learnkit.sessions.turns import Call, Session, Thread, Turn, session_of
from learnkit.views.drawing.time_axis import duration

#: As many tokens weigh as much as a minute, when findings are ranked; and the price of a token that
#: is read from the cache, as a share of the full one.
MINUTE, CACHED = 3_000, 0.1
#: Kinds that say that the result may not be what was wanted; the others cost tokens or minutes.
OUTCOME = ("untested_edit", "unchecked_done", "open_plan")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a session lost tokens or minutes to.

    Attributes:
        sentence: what happened, and why where that is known.
        turns: agent and number of each turn it speaks of, in order.
        tokens: what it cost, about, in tokens at full price: one that was read from the cache
            counts a tenth; 0 if it cost none, or if that can't be said.
        minutes: likewise.
        quotes: the parts of the sentence that are the session's own words.
        kind: the name of the function that found it.
        lesson: ``s01`` to ``s12``, which explains it.
        remedy: what to do about it.
    """

    sentence: str
    turns: tuple[tuple[str, int], ...]
    tokens: int = 0
    minutes: float = 0.0
    quotes: tuple[str, ...] = ()
    kind: str = ""
    lesson: str = ""
    remedy: str = ""

    @property
    def weight(self) -> float:
        """What it is ranked by."""
        return self.tokens + MINUTE * self.minutes


Finder = Callable[[Thread, Session], Iterator[Finding]]
#: Every finder, with the lesson and the remedy of what it finds.
FINDERS: list[tuple[Finder, str, str]] = []


def findings(log: Iterable[Event] | Session) -> list[Finding]:
    """Say what a session lost tokens or minutes to.

    Args:
        log: an ``EventLog``, any sequence of events, or a session.

    Returns:
        At most one finding of each kind: those about the result, then the costliest first.
    """
    session = log if isinstance(log, Session) else session_of(log)
    found = []
    for finder, lesson, remedy in FINDERS:
        its = [one for thread in session.threads.values() for one in finder(thread, session)]
        if its:
            largest = max(its, key=lambda one: one.weight)
            kind = finder.__name__
            found.append(replace(largest, kind=kind, lesson=lesson, remedy=remedy))
    return sorted(found, key=lambda one: (one.kind not in OUTCOME, -one.weight))


def _explained(lesson: str, remedy: str) -> Callable[[Finder], Finder]:
    def register(finder: Finder) -> Finder:
        FINDERS.append((finder, lesson, remedy))
        return finder

    return register


def tokens(number: float) -> str:
    """A number of tokens as one says it: ``900``, ``4,300``, ``96,000``."""
    return f"{int(round(number, 2 - len(str(int(number))))):,}"


def _at(*which: Call | tuple[str, int]) -> tuple[tuple[str, int], ...]:
    """The turns of calls, once each."""
    places = ((one.lane, one.turn) if isinstance(one, Call) else one for one in which)
    return tuple(dict.fromkeys(places))


def _kept(one: Thread, calls: Iterable[Call]) -> int:
    """Tokens of results: once at full price, and in each later request from the cache."""
    ends = [*(cut.turn for cut in one.cuts), len(one.turns) + 1]
    stays = ((call, min(end for end in ends if end > call.turn) - call.turn - 1) for call in calls)
    return round(sum(call.tokens * (1 + CACHED * later) for call, later in stays))


def _name(path: str) -> str:
    return one_line(PurePath(path).name or path or "a file", 40)


def _grouped(one: Thread, key: Callable[[Call], object]) -> Iterator[list[Call]]:
    """Calls that have the same key; those without one are left out."""
    groups: dict[object, list[Call]] = defaultdict(list)
    for call in one.calls.values():
        if name := key(call):
            groups[name].append(call)
    return iter(groups.values())


# The cache.

#: Seconds that a cached prompt lives unused; tokens that make it worth telling that it was lost.
LIFETIME, LONG_LIFETIME, BREAK = 300, 3600, 8_000


def _breaks(one: Thread, *, expired: bool) -> tuple[list[tuple[Turn, Turn]], int]:
    """Turns between which the cache was lost, because it expired or not, and the tokens lost."""
    cuts, found, total = {cut.turn for cut in one.cuts}, [], 0
    for before, after in pairwise(one.turns):
        usage, now = before.usage, after.usage
        cached = usage.cache_read_input_tokens + usage.cache_creation_input_tokens
        lost = min(cached, now.sent) - now.cache_read_input_tokens
        counted = usage.known and now.known and not now.simulated and after.number not in cuts
        if not counted or lost < BREAK or now.cache_read_input_tokens > cached / 2:
            continue
        kinds = (usage.whole or {}).get("cache_creation")
        hour = isinstance(kinds, dict) and kinds.get("ephemeral_1h_input_tokens")
        pause = after.asked - (before.replied or before.asked)
        if expired == (pause > (LONG_LIFETIME if hour else LIFETIME)):
            found.append((before, after))
            total += lost
    return found, total


@_explained("s06", "Leave prompt, tools and earlier messages as they are, and keep one model.")
def cache_rewritten(one: Thread, session: Session) -> Iterator[Finding]:
    """The cache was lost although it was young."""
    found, lost = _breaks(one, expired=False)
    for before, after in found[:1]:
        switched = before.model and after.model and before.model != after.model
        why = "the model was switched" if switched else "something early had changed"
        where = f"at turn {after.number}" if len(found) == 1 else f"{len(found)} times"
        yield Finding(
            f"The cache broke {where}: {why}, so ≈{tokens(lost)} tokens cost the full price.",
            _at(*((one.lane, turn.number) for _, turn in found)),
            lost,
        )


@_explained("s06", "A cache lives 5 minutes, or an hour if set so: compact before a longer pause.")
def cache_expired(one: Thread, session: Session) -> Iterator[Finding]:
    """The cache was lost in a pause."""
    found, lost = _breaks(one, expired=True)
    for before, after in found[:1]:
        pause = duration(60 * round((after.asked - (before.replied or before.asked)) / 60))
        where = f"a pause of {pause}" if len(found) == 1 else f"{len(found)} pauses"
        yield Finding(
            f"The cache expired in {where}: ≈{tokens(lost)} tokens cost the full price again.",
            _at(*((one.lane, turn.number) for _, turn in found)),
            lost,
        )


# What fills the context.

#: Turns after which an output is old; tokens and share of a request that make it worth telling.
OLD, OLD_TOKENS, OLD_SHARE = 10, 10_000, 0.4


@_explained("s06", "Clear old results, or let a subagent read them and report.")
def old_output(one: Thread, session: Session) -> Iterator[Finding]:
    """Most of the longest request was output of one tool, from many turns before."""
    last = max(one.turns, key=one.size, default=None)
    if last is None or last.number <= OLD:
        return
    then = one.turns[last.number - 1 - OLD]
    if any(then.number < cut.turn <= last.number for cut in one.cuts):
        return
    old: Counter[str] = Counter()
    for (kind, name), size in then.parts.items():
        if kind in ("tool", "file"):
            kept = min(size, last.parts.get((kind, name), 0))
            old[f"output of {one_line(name, 30)}" if kind == "tool" else "files"] += kept
    for what, size in old.most_common(1):
        share = size / max(one.fixed() + last.estimate, 1)
        if size >= OLD_TOKENS and share >= OLD_SHARE:
            yield Finding(
                f"{share:.0%} of the longest request was {what} from more than {OLD} turns before.",
                _at((one.lane, last.number)),
                size,
            )


#: How often a command must have run, and tokens of all its outputs but the last.
RUNS, RUN_TOKENS = 4, 6_000


@_explained("s06", "Let it print only what failed: -q, or | tail.")
def command_repeated(one: Thread, session: Session) -> Iterator[Finding]:
    """One command printed much, again and again."""
    for its in _grouped(one, lambda call: call.target if call.does == "run" else ""):
        size, command = sum(call.tokens for call in its[:-1]), one_line(its[0].target, 40)
        if len(its) >= RUNS and size >= RUN_TOKENS:
            yield Finding(
                f"{command} printed ≈{tokens(size / (len(its) - 1))} tokens {len(its)} times, and "
                "the old outputs stayed in the context.",
                _at(*its),
                _kept(one, its[:-1]),
                quotes=(command,),
            )


#: Tokens of one result that are many.
LARGE = 10_000


@_explained("s02", "Ask for a part (a range of lines, a search), or limit what a tool returns.")
def large_output(one: Thread, session: Session) -> Iterator[Finding]:
    """One result filled much of the context at once."""
    for call in one.calls.values():
        if call.tokens >= LARGE:
            name = _name(call.target) if call.does == "read" else one_line(call.target, 40)
            yield Finding(
                f"{name or call.name} put ≈{tokens(call.tokens)} tokens into the context at once.",
                _at(call),
                _kept(one, [call]),
                quotes=(name,) * bool(name),
            )


#: How often a file must have been read, and tokens of all readings but the first.
READS, READ_TOKENS = 3, 2_000


@_explained("s03", "It was still in the context; a plan that notes what was found saves reading.")
def read_again(one: Thread, session: Session) -> Iterator[Finding]:
    """A file was read again and again, although it was in the context and hadn't changed."""

    def same(call: Call) -> object:
        since = sum(cut.turn <= call.turn for cut in one.cuts)  # it went with a compaction
        read = call.does == "read" and not call.failed
        return (call.target, call.slice, call.output, since) if read else ""

    for its in _grouped(one, same):
        name = _name(its[0].target)
        if len(its) >= READS and sum(call.tokens for call in its[1:]) >= READ_TOKENS:
            yield Finding(
                f"{name} was read {len(its)} times, and it was the same each time.",
                _at(*its),
                _kept(one, its[1:]),
                quotes=(name,),
            )


# What was tried again.

#: How often a call must have failed in the same way; what differs between two runs that fail alike.
TRIES, _TIMES = 3, re.compile(r"\d+\.\d+|0x[0-9a-f]+")


@_explained("s04", "After the second time, read the error, or begin anew with a clean context.")
def failing_again(one: Thread, session: Session) -> Iterator[Finding]:
    """The same call failed in the same way, again and again."""

    def same(call: Call) -> object:
        failed = call.failed and not call.refused and call.output
        return (call.name, str(call.input), _TIMES.sub("", call.output)) if failed else ""

    for its in _grouped(one, same):
        first, last = its[0], its[-1]
        within = [call for call in one.calls.values() if first.start < call.start < last.start]
        edits = sum(call.does == "edit" and not call.failed for call in within)
        after = f"through {count(edits, 'edit')}" if edits else "and nothing changed in between"
        what, lines = one_line(first.target or first.name, 40), last.output.strip().splitlines()
        error = quoted(([line for line in lines if "Error" in line] or lines or [""])[-1])
        if len(its) >= TRIES:
            yield Finding(
                f"{what} failed {len(its)} times with the same error, {after}: {error}.",
                _at(*its),
                _kept(one, its[1:]),
                ((last.end or last.start) - (first.end or first.start)) / 60,
                (what, error) if first.target else (error,),
            )


#: How many edits must have failed, and their share of all.
EDITS, EDIT_SHARE = 3, 0.2


@_explained("s02", "Copy old text from the file; let a failed edit answer with the nearest lines.")
def failed_edits(one: Thread, session: Session) -> Iterator[Finding]:
    """Many edits failed; each cost a request."""
    edits = [call for call in one.calls.values() if call.does == "edit" and not call.refused]
    failed = [call for call in edits if call.failed]
    if len(failed) >= EDITS and len(failed) >= EDIT_SHARE * len(edits):
        requests = sum(one.size(one.turns[number - 1]) for _, number in _at(*failed) if number)
        near = _nearest(one, failed[0])
        why = ": one asked for {}, and the file has {}".format(*near) if near else ""
        yield Finding(
            f"{len(failed)} of {len(edits)} edits failed{why}.",
            _at(*failed),
            _kept(one, failed) + round(CACHED * requests),
            quotes=near,
        )


def _nearest(one: Thread, edit: Call) -> tuple[str, ...]:
    """What a failed edit looked for, and the line most like it that was read before, quoted."""
    old = edit.input.get("old_string") if isinstance(edit.input, dict) else ""
    asked = str(old or "").strip().partition("\n")[0][:100]
    before = [call for call in one.calls.values() if call.start < edit.start]
    read = [call.output for call in before if call.does == "read" and call.target == edit.target]
    lines = re.sub(r"(?m)^ *\d+[\t→]", "", "".join(read[-1:])[:200_000]).splitlines()
    near = get_close_matches(asked, [line[:100] for line in lines], 1, 0.8)
    return (quoted(asked), quoted(near[0])) if near and asked not in near[0] else ()


# Subagents and compaction.

#: How many files must have been read again, and their tokens.
FILES, FILE_TOKENS = 2, 2_000


@_explained("s04", "Let it read instead of its parent, or put what it needs into its prompt.")
def subagent_reread(one: Thread, session: Session) -> Iterator[Finding]:
    """A subagent read what the agent that started it had read."""
    parent = session.threads.get(one.parent, Thread(""))
    reads = [call for call in one.calls.values() if call.does == "read" and not call.failed]
    begin = min((call.start for call in reads), default=0.0)
    earlier = (call for call in parent.calls.values() if call.start < begin)
    known = {(call.target, call.output) for call in earlier if call.does == "read"}
    again = [call for call in reads if (call.target, call.output) in known]
    files = {call.target for call in again}
    if len(files) >= FILES and sum(call.tokens for call in again) >= FILE_TOKENS:
        yield Finding(
            f"A subagent read {count(len(files), 'file')} that its parent had read already.",
            _at(*again),
            _kept(one, again),
        )


#: Share of the context window that is nearly all of it.
FULL = 0.9


@_explained("s06", "Compact earlier, at the end of a step: a good summary needs room.")
def late_compaction(one: Thread, session: Session) -> Iterator[Finding]:
    """A compaction came only when the window was nearly full."""
    for cut in one.cuts:
        models = [turn.model for turn in one.turns[: cut.turn - 1]][-1:]
        spec = MODELS.get(re.sub(r"-\d{8}$", "", models[0])) if models else None
        if spec and (full := cut.before / spec.window) >= FULL:
            yield Finding(
                f"The context was {full:.0%} full before it was compacted, at turn {cut.turn}.",
                _at((one.lane, cut.turn)),
                cut.before // 2,
            )


@_explained("s06", "Say what the summary must keep, or have findings written to a file first.")
def read_after_compaction(one: Thread, session: Session) -> Iterator[Finding]:
    """What a compaction took away had to be read again."""
    reads = [call for call in one.calls.values() if call.does == "read" and not call.failed]
    for cut in one.cuts:
        before = {call.target for call in reads if call.turn < cut.turn}
        again = [call for call in reads if cut.turn <= call.turn < cut.turn + OLD]
        again = [call for call in again if call.target in before]
        files = {call.target for call in again}
        if len(files) >= FILES and sum(call.tokens for call in again) >= FILE_TOKENS:
            yield Finding(
                f"The compaction took {count(len(files), 'file')} away that had to be read again.",
                _at((one.lane, cut.turn), *again),
                _kept(one, again),
            )


# The end.

#: What a reply says when it claims success, and files whose edits need no check.
_DONE = re.compile(
    r"(?i)\b(?:(?:tests?|checks?) (?:now |all )?pass|(?:is|are|it's|now|all) (?:now )?(?:fixed|done"
    r"|complete|working|resolved|implemented)|works (?:now|as)|fixed (?:the|it)\b|^done\b)"
)
_TEXTS = frozenset({".md", ".rst", ".txt", ".adoc", ".json", ".csv"})


def _ending(one: Thread, session: Session) -> tuple[Turn | None, list[Call], list[Call]]:
    """The last reply, if the lead came to its end; the edits of code, and the checks, in order."""
    last = one.turns[-1] if one.turns else None
    ended = last and last.stop in ("end_turn", "stop_sequence") and not last.calls
    calls = sorted(session.calls, key=lambda call: call.start)
    edits = [call for call in calls if call.does == "edit" and not call.failed]
    edits = [call for call in edits if PurePath(call.target).suffix.lower() not in _TEXTS]
    at_end = last if ended and one is session.lead else None
    return at_end, edits, [call for call in calls if call.checks]


def _claim(turn: Turn) -> str:
    """The sentence of a reply that claims success, quoted; empty for none."""
    found = _DONE.search(turn.said)
    if not found:
        return ""
    begin = max(turn.said.rfind(end, 0, found.start()) for end in (". ", "\n", "! ")) + 1
    sentence = re.split(r"\.\s|\n|! ", turn.said[begin:].lstrip(), maxsplit=1)[0]
    return quoted(sentence.strip(" .*#"), 50)


@_explained("s12", "Let a hook run the tests when the model stops, and send it on if they fail.")
def untested_edit(one: Thread, session: Session) -> Iterator[Finding]:
    """Tests ran, but not after the last edit."""
    last, edits, checks = _ending(one, session)
    if last and edits and checks and checks[-1].start < edits[-1].start:
        claim, name = _claim(last), _name(edits[-1].target)
        yield Finding(
            f"{f'It said {claim}, but n' if claim else 'N'}othing tested the last edit, of {name}.",
            _at(edits[-1], (one.lane, last.number)),
            quotes=(name, claim) if claim else (name,),
        )


#: How many edits an unchecked session must have.
UNCHECKED = 2


@_explained("s12", "Done is a claim: name the command that checks it, or let a hook run it.")
def unchecked_done(one: Thread, session: Session) -> Iterator[Finding]:
    """The agent said that it was done, and nothing had been checked at all."""
    last, edits, checks = _ending(one, session)
    claim = _claim(last) if last else ""
    if last and claim and len(edits) >= UNCHECKED and not checks:
        yield Finding(
            f"It said {claim}, but nothing checked its {count(len(edits), 'edit')}.",
            _at(edits[-1], (one.lane, last.number)),
            quotes=(claim,),
        )


#: How many items a plan must have.
ITEMS = 3


@_explained("s03", "Remind the model of its list after some rounds, and before it stops.")
def open_plan(one: Thread, session: Session) -> Iterator[Finding]:
    """The plan had open items when the agent stopped."""
    last, _, _ = _ending(one, session)
    every = [(call, _items(call.input)) for call in one.calls.values() if not call.failed]
    plans = [plan for plan in every if plan[1]]
    for call, items in plans[-1:]:
        left = [name for name, state in items if state != "completed"]
        if last and left and len(items) >= ITEMS:
            never = "was never updated, and " if len(plans) == 1 else ""
            names = [quoted(name, 30) for name in left[:ITEMS] if name]
            yield Finding(
                f"Its plan {never}still has {len(left)} of {len(items)} items open"
                f"{': ' * bool(names)}{', '.join(names)}.",
                _at(call, (one.lane, last.number)),
                quotes=tuple(names),
            )


def _items(given: Any) -> list[tuple[str, str]]:
    """The items of a plan and their states, from a call's arguments; empty if they are none."""
    given = given if isinstance(given, dict) else {}
    plan = next((given[key] for key in ("todos", "items", "plan") if key in given), None)
    if not (isinstance(plan, list) and all(isinstance(item, dict) for item in plan)):
        return []
    items = [
        (str(item.get("content") or item.get("step") or ""), str(item.get("status", "")))
        for item in plan
    ]
    states = {state for _, state in items}
    return items if states <= {"pending", "in_progress", "completed"} else []


# Time.

#: Seconds of one command that is slow, and of all of them together.
SLOW, SLOW_SUM = 60, 180


@_explained("s08", "Run them in the background; if they waited for you, allow them by a rule.")
def slow_commands(one: Thread, session: Session) -> Iterator[Finding]:
    """The agent did nothing while commands ran."""
    slow = [call for call in one.calls.values() if call.does == "run" and call.seconds >= SLOW]
    if (total := sum(call.seconds for call in slow)) >= SLOW_SUM:
        took = duration(60 * round(total / 60))
        yield Finding(
            f"{count(len(slow), 'command')} took {took}, and the agent did nothing else meanwhile.",
            _at(*slow),
            minutes=total / 60,
        )

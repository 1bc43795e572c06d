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
from itertools import pairwise
from pathlib import PurePath

from learnkit.core.catalog import MODELS
from learnkit.events.log import Event
from learnkit.events.text import count, one_line, quoted
from learnkit.sessions.source import table, tables, text
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
        quotes: the parts of the sentence that are the session's own words; empty ones say nothing.
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
    ends = [*one.cuts, len(one.turns) + 1]
    stays = ((call, min(end for end in ends if end > call.turn) - call.turn - 1) for call in calls)
    return round(sum(call.tokens * (1 + CACHED * later) for call, later in stays))


def _repeated(one: Thread, least: int, key: Callable[[Call], object]) -> list[list[Call]]:
    """Groups of at least so many calls that have the same key; those without one are left out."""
    groups: dict[object, list[Call]] = defaultdict(list)
    for call in one.calls.values():
        if name := key(call):
            groups[name].append(call)
    return [its for its in groups.values() if len(its) >= least]


def _read(one: Thread) -> list[Call]:
    return [call for call in one.calls.values() if call.does == "read" and not call.failed]


def _name(path: str) -> str:
    return one_line(PurePath(path).name or path or "a file", 40)


# The cache.

#: Seconds that a cached prompt lives unused; tokens that make it worth telling that it was lost.
LIFETIME, LONG_LIFETIME, BREAK = 300, 3600, 8_000


def _breaks(one: Thread, *, expired: bool) -> Iterator[tuple[Turn, Turn, int]]:
    """Turns between which the cache was lost, because it expired or not, and the tokens lost."""
    for before, after in pairwise(one.turns):
        usage, now = before.usage, after.usage
        cached = usage.cache_read_input_tokens + usage.cache_creation_input_tokens
        lost = min(cached, now.sent) - now.cache_read_input_tokens
        counted = usage.known and now.known and not now.simulated and after.number not in one.cuts
        late = _pause(before, after) > (LONG_LIFETIME if before.hour else LIFETIME)
        most = lost >= BREAK and now.cache_read_input_tokens <= cached / 2
        if counted and most and late == expired:
            yield before, after, lost


def _pause(before: Turn, after: Turn) -> float:
    return after.asked - (before.replied or before.asked)


def _cause(one: Thread, before: Turn, after: Turn) -> str:
    """Why a young cache was lost, as far as what is left of it tells; empty if it doesn't."""
    if before.model and after.model and before.model != after.model:
        return ": the model was switched"
    if not after.usage.cache_creation_input_tokens:  # the server may have had no room for it
        return ""
    # It holds a request from the beginning: the prompt, the tools, then the messages.
    early = after.usage.cache_read_input_tokens > one.fixed() / 2
    return f": {'an early message' if early else 'the prompt or a tool'} had changed"


def _lost(one: Thread, found: list[tuple[Turn, Turn, int]], how: str, again: str) -> Finding:
    """What a cache that was lost has cost."""
    lost = sum(size for *_, size in found)
    said = f"The cache {how} ≈{tokens(lost)} tokens cost the full price{again}."
    return Finding(said, tuple((one.lane, turn.number) for _, turn, _ in found), lost)


@_explained("s06", "Leave prompt, tools and earlier messages as they are, and keep one model.")
def cache_rewritten(one: Thread, session: Session) -> Iterator[Finding]:
    """The cache was lost although it was young."""
    if found := list(_breaks(one, expired=False)):
        causes = {_cause(one, before, after) for before, after, _ in found}
        where = f"at turn {found[0][1].number}" if len(found) == 1 else f"{len(found)} times"
        yield _lost(one, found, f"broke {where}{'' if len(causes) > 1 else causes.pop()}, so", "")


@_explained("s06", "A cache lives 5 minutes, or an hour if set so: compact before a longer pause.")
def cache_expired(one: Thread, session: Session) -> Iterator[Finding]:
    """The cache was lost in a pause."""
    if found := list(_breaks(one, expired=True)):
        pause = duration(60 * round(_pause(*found[0][:2]) / 60))
        where = f"a pause of {pause}" if len(found) == 1 else f"{len(found)} pauses"
        yield _lost(one, found, f"expired in {where}:", " again")


# What fills the context.

#: Turns after which an output is old; tokens and share of a request that make it worth telling.
OLD, OLD_TOKENS, OLD_SHARE = 10, 10_000, 0.4


@_explained("s06", "Clear old results, or let a subagent read them and report.")
def old_output(one: Thread, session: Session) -> Iterator[Finding]:
    """Most of the longest request was output of one tool, from many turns before."""
    last = max(one.turns, key=one.size, default=None)
    if last is None or any(last.number - OLD < cut <= last.number for cut in one.cuts):
        return
    old: Counter[str] = Counter()
    for turn in one.turns[: max(last.number - OLD, 0)][-1:]:
        for (kind, name), size in turn.parts.items():
            what = {"tool": f"output of {one_line(name, 30)}", "file": "files"}.get(kind)
            old[what or ""] += min(size, last.parts.get((kind, name), 0)) * bool(what)
    for what, size in old.most_common(1):
        share = size / max(one.fixed() + last.estimate, 1)
        if size >= OLD_TOKENS and share >= OLD_SHARE:
            old_ones = f"{what} from more than {OLD} turns before"
            said = f"{share:.0%} of the longest request was {old_ones}."
            yield Finding(said, ((one.lane, last.number),), size)


#: How often a command must have run, and tokens of all its outputs but the last.
RUNS, RUN_TOKENS = 4, 6_000


@_explained("s06", "Let it print only what failed: -q, or | tail.")
def command_repeated(one: Thread, session: Session) -> Iterator[Finding]:
    """One command printed much, again and again."""
    for its in _repeated(one, RUNS, lambda call: call.target if call.does == "run" else ""):
        size, command = sum(call.tokens for call in its[:-1]), one_line(its[0].target, 40)
        if size >= RUN_TOKENS:
            much = f"≈{tokens(size / (len(its) - 1))} tokens {len(its)} times"
            said = f"{command} printed {much}, and the old outputs stayed in the context."
            yield Finding(said, _at(*its), _kept(one, its[:-1]), quotes=(command,))


#: Tokens of one result that are many.
LARGE = 10_000


@_explained("s02", "Ask for a part (a range of lines, a search), or limit what a tool returns.")
def large_output(one: Thread, session: Session) -> Iterator[Finding]:
    """One result filled much of the context at once."""
    for call in one.calls.values():
        if call.tokens >= LARGE:
            name = _name(call.target) if call.does == "read" else one_line(call.target, 40)
            much = f"≈{tokens(call.tokens)} tokens into the context at once"
            said = f"{name or call.name} put {much}."
            yield Finding(said, _at(call), _kept(one, [call]), quotes=(name,))


#: How often a file must have been read, and tokens of all readings but the first.
READS, READ_TOKENS = 3, 2_000


@_explained("s03", "It was still in the context; a plan that notes what was found saves reading.")
def read_again(one: Thread, session: Session) -> Iterator[Finding]:
    """A file was read again and again, although it was in the context and hadn't changed."""

    def same(call: Call) -> object:
        since = sum(cut <= call.turn for cut in one.cuts)  # it went with a compaction
        read = call.does == "read" and not call.failed
        return (call.target, str(call.input), call.output, since) if read else ""

    for its in _repeated(one, READS, same):
        name = _name(its[0].target)
        if sum(call.tokens for call in its[1:]) >= READ_TOKENS:
            said = f"{name} was read {len(its)} times, and it was the same each time."
            yield Finding(said, _at(*its), _kept(one, its[1:]), quotes=(name,))


#: Tokens of thinking that are worth telling of.
THOUGHTS = 2_000


@_explained("s06", "Have what was worked out written down: in a reply, a plan or a file.")
def thinking_dropped(one: Thread, session: Session) -> Iterator[Finding]:
    """Thinking was taken out of the context: by the harness, or the server counted less of it.

    A request in which nothing is missing, and which is shorter than the one before by the server's
    count, lacks thinking: only that is left out without a word in the file.
    """
    gone = Counter(one.thoughts)
    for before, after in pairwise(one.turns):
        held = before.parts.get(("thinking", ""), 0)
        counted = before.usage.known and after.usage.known and not after.usage.simulated
        shrank = before.usage.sent - after.usage.sent
        grew = after.estimate >= before.estimate and after.number not in one.cuts
        if counted and grew and 0 < shrank <= 2 * held:  # else results were cleared, too
            gone[after.number] += min(shrank, held)
    found = {number: size for number, size in sorted(gone.items()) if size >= THOUGHTS}
    if found:
        where = f"at turn {min(found)}" if len(found) == 1 else f"{len(found)} times"
        lost = sum(found.values())
        said = f"≈{tokens(lost)} tokens of thinking were dropped {where}; what it wrote is left."
        yield Finding(said, tuple((one.lane, number) for number in found), lost)


# What was tried again.

#: How often a call must have failed in the same way; what differs between two runs that fail alike.
TRIES, _TIMES = 3, re.compile(r"\d+\.\d+|0x[0-9a-f]+")


@_explained("s04", "After the second time, read the error, or begin anew with a clean context.")
def failing_again(one: Thread, session: Session) -> Iterator[Finding]:
    """The same call failed in the same way, again and again."""

    def same(call: Call) -> object:
        failed = call.failed and not call.refused and call.output
        return (call.name, str(call.input), _TIMES.sub("", call.output)) if failed else ""

    for its in _repeated(one, TRIES, same):
        first, last = its[0], its[-1]
        what, lines = one_line(first.target or first.name, 40), last.output.strip().splitlines()
        error = quoted(([line for line in lines if "Error" in line] or lines or [""])[-1])
        said = f"{what} failed {len(its)} times with the same error: {error}."
        minutes = ((last.end or last.start) - (first.end or first.start)) / 60
        quotes = (what * bool(first.target), error)
        yield Finding(said, _at(*its), _kept(one, its[1:]), minutes, quotes)


# Subagents and compaction.

#: How many files must have been read again, and their tokens.
FILES, FILE_TOKENS = 2, 2_000


def _again(one: Thread, again: list[Call], sentence: str, *turns: tuple[str, int]) -> list[Finding]:
    """What was read again, as a finding, if it was much."""
    files = len({call.target for call in again})
    if files < FILES or sum(call.tokens for call in again) < FILE_TOKENS:
        return []
    said = sentence.format(count(files, "file"))
    return [Finding(said, _at(*turns, *again), _kept(one, again))]


@_explained("s04", "Let it read instead of its parent, or put what it needs into its prompt.")
def subagent_reread(one: Thread, session: Session) -> Iterator[Finding]:
    """A subagent read what the agent that started it had read."""
    reads, parent = _read(one), session.threads.get(one.parent, Thread(""))
    earlier = (call for call in _read(parent) if reads and call.start < reads[0].start)
    known = {(call.target, call.output) for call in earlier}
    again = [call for call in reads if (call.target, call.output) in known]
    yield from _again(one, again, "A subagent read {} that its parent had read already.")


@_explained("s06", "Say what the summary must keep, or have findings written to a file first.")
def read_after_compaction(one: Thread, session: Session) -> Iterator[Finding]:
    """What a compaction took away had to be read again."""
    for cut in one.cuts:
        before = {call.target for call in _read(one) if call.turn < cut}
        later = (call for call in _read(one) if cut <= call.turn < cut + OLD)
        again = [call for call in later if call.target in before]
        sentence = "The compaction took {} away that had to be read again."
        yield from _again(one, again, sentence, (one.lane, cut))


#: Share of the context window that is nearly all of it.
FULL = 0.9


@_explained("s06", "Compact earlier, at the end of a step: a good summary needs room.")
def late_compaction(one: Thread, session: Session) -> Iterator[Finding]:
    """A compaction came only when the window was nearly full."""
    for cut, before in one.cuts.items():
        models = [turn.model for turn in one.turns[: cut - 1]][-1:]
        spec = MODELS.get(re.sub(r"-\d{8}$", "", models[0])) if models else None
        if spec and before / spec.window >= FULL:
            full = f"{before / spec.window:.0%} full"
            said = f"The context was {full} before it was compacted, at turn {cut}."
            yield Finding(said, ((one.lane, cut),), before // 2)


# The end.

#: What a reply says when it claims success, with the rest of its sentence; and files whose edits
#: need no check.
_DONE = re.compile(
    r"(?i)(?:[^.!\n]|\.(?!\s))*?\b(?:(?:tests?|checks?) (?:now |all )?pass"
    r"|(?:is|are|it's|now|all) (?:now )?(?:fixed|done|complete|working|resolved|implemented)"
    r"|works (?:now|as)|fixed (?:the|it)\b|^done\b)(?:[^.!\n]|\.(?!\s))*"
)
_TEXTS = frozenset({".md", ".rst", ".txt", ".adoc", ".json", ".csv"})


def _ending(one: Thread, session: Session) -> tuple[Turn | None, list[Call], list[Call], str]:
    """The last reply, if the lead came to its end; the edits of code, and the checks, in order.

    And the sentence of the reply that claims success, quoted; empty for none.
    """
    done = one is session.lead and one.ended in ("end_turn", "stop_sequence")
    last = one.turns[-1] if done and one.turns else None
    claim = _DONE.search(last.said) if last else None
    calls = sorted(session.calls, key=lambda call: call.start)
    edits = [call for call in calls if call.does == "edit" and not call.failed]
    edits = [call for call in edits if PurePath(call.target).suffix.lower() not in _TEXTS]
    checks = [call for call in calls if call.checks]
    return last, edits, checks, quoted(claim[0].strip(" .*#"), 50) if claim else ""


@_explained("s12", "Let a hook run the tests when the model stops, and send it on if they fail.")
def untested_edit(one: Thread, session: Session) -> Iterator[Finding]:
    """Tests ran, but not after the last edit."""
    last, edits, checks, claim = _ending(one, session)
    if last and edits and checks and checks[-1].start < edits[-1].start:
        name, but = _name(edits[-1].target), f"It said {claim}, but n" if claim else "N"
        turns = _at(edits[-1], (one.lane, last.number))
        said = f"{but}othing tested the last edit, of {name}."
        yield Finding(said, turns, quotes=(name, claim))


#: How many edits an unchecked session must have.
UNCHECKED = 2


@_explained("s12", "Done is a claim: name the command that checks it, or let a hook run it.")
def unchecked_done(one: Thread, session: Session) -> Iterator[Finding]:
    """The agent said that it was done, and nothing had been checked at all."""
    last, edits, checks, claim = _ending(one, session)
    if last and claim and len(edits) >= UNCHECKED and not checks:
        said = f"It said {claim}, but nothing checked its {count(len(edits), 'edit')}."
        yield Finding(said, _at(edits[-1], (one.lane, last.number)), quotes=(claim,))


#: How many items a plan must have; the states that they can have.
ITEMS, _STATES = 3, {"pending", "in_progress", "completed"}


@_explained("s03", "Remind the model of its list after some rounds, and before it stops.")
def open_plan(one: Thread, session: Session) -> Iterator[Finding]:
    """The plan had open items when the agent stopped."""
    last, *_ = _ending(one, session)
    for call in reversed(one.calls.values()):
        given = table(call.input)
        plan = tables(given.get("todos") or given.get("items") or given.get("plan"))
        if call.failed or not plan or not {text(item.get("status")) for item in plan} <= _STATES:
            continue
        left = [item for item in plan if item["status"] != "completed"]
        if last and left and len(plan) >= ITEMS:
            said = f"Its plan still has {len(left)} of {len(plan)} items open."
            yield Finding(said, _at(call, (one.lane, last.number)))
        return  # what an earlier plan said doesn't count


# Time.

#: Seconds of one command that is slow, and of all of them together.
SLOW, SLOW_SUM = 60, 180


@_explained("s08", "Run them in the background; if they waited for you, allow them by a rule.")
def slow_commands(one: Thread, session: Session) -> Iterator[Finding]:
    """The agent did nothing while commands ran."""
    slow = [call for call in one.calls.values() if call.does == "run" and call.seconds >= SLOW]
    if (total := sum(call.seconds for call in slow)) >= SLOW_SUM:
        many, took = count(len(slow), "command"), duration(60 * round(total / 60))
        said = f"{many} took {took}, and the agent did nothing else meanwhile."
        yield Finding(said, _at(*slow), minutes=total / 60)

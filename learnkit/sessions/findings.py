"""Findings: what a session lost tokens or minutes to, each as a sentence with its turns.

Each is a pure function of a session. It says nothing where the evidence is thin: what
could have had a good reason (the same file, read again after it changed) isn't counted, and small
losses aren't session. What is lost is estimated: characters / 4 for texts, the clock for time.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath

from learnkit.core.catalog import MODELS
from learnkit.events.log import Event
from learnkit.events.text import count, one_line, quoted
from learnkit.sessions.turns import Call, Session, Thread, Turn, session_of
from learnkit.views.drawing.time_axis import duration

#: As many tokens weigh as much as a minute, when findings are ranked; the price of a token that is
#: read from the cache, of the full one.
MINUTE, CACHED = 3_000, 0.1


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a session lost tokens or minutes to.

    Attributes:
        sentence: what happened, and why where that is known; one sentence.
        turns: agent and number of each turn it speaks of, the first one first.
        remedy: what to do about it.
        lesson: ``s01`` to ``s12``, which explains it.
        tokens: what it cost, about, in tokens at full price: one that was read from the cache
            counts a tenth; 0 if it cost none, or if that can't be said.
        minutes: likewise.
        quotes: the parts of the sentence that are the session's own words.
    """

    sentence: str
    turns: tuple[tuple[str, int], ...]
    remedy: str
    lesson: str
    tokens: int = 0
    minutes: float = 0.0
    quotes: tuple[str, ...] = ()

    @property
    def weight(self) -> float:
        """What it is ranked by."""
        return self.tokens + MINUTE * self.minutes


Finder = Callable[[Session], Iterator[Finding]]


def findings(log: Iterable[Event] | Session) -> list[Finding]:
    """Say what a session lost tokens or minutes to.

    Args:
        log: an ``EventLog``, any sequence of events, or a session.

    Returns:
        At most one finding of each kind, the costliest first.
    """
    session = log if isinstance(log, Session) else session_of(log)
    found = [max(its, key=lambda one: one.weight) for its in map(list, _each(session)) if its]
    return sorted(found, key=lambda one: -one.weight)


def _each(session: Session) -> Iterator[Iterator[Finding]]:
    return (finder(session) for finder in FINDERS)


def tokens(number: float) -> str:
    """A number of tokens as one says it: ``900``, ``4,300``, ``96,000``."""
    digits = 2 if number < 100_000 else 3
    rounded = round(number, digits - len(str(int(number))))
    return f"{int(rounded):,}"


def _carried(thread: Thread, calls: Iterable[Call]) -> int:
    """Tokens of results, once at full price, and in each later request from the cache."""
    ends = [*(cut.turn for cut in thread.cuts), len(thread.turns) + 1]
    stays = ((one, next(end for end in ends if end > one.turn) - one.turn - 1) for one in calls)
    return round(sum(one.tokens * (1 + CACHED * later) for one, later in stays))


def _turns_cost(thread: Thread, calls: Iterable[Call]) -> int:
    """Tokens of the requests that only these calls were made for, read from the cache."""
    numbers = {call.turn for call in calls if call.turn}
    return round(CACHED * sum(thread.size(thread.turns[number - 1]) for number in numbers))


def _at(lane: str, numbers: Iterable[int]) -> tuple[tuple[str, int], ...]:
    return tuple((lane, number) for number in dict.fromkeys(numbers))


def _name(path: str) -> str:
    """A path as a sentence has it: its last part."""
    return one_line(PurePath(path).name or path, 40)


# The cache.

#: Seconds that a cached prompt lives when it isn't used; tokens that make a break worth telling.
LIFETIME, LONG_LIFETIME, BREAK = 300, 3600, 8_000


def _breaks(thread: Thread) -> Iterator[tuple[Turn, Turn, int, bool]]:
    """Two turns between which the cache was lost, the tokens sent again, and whether it expired."""
    cuts = {cut.turn for cut in thread.cuts}
    for before, after in pairwise(thread.turns):
        usage, now = before.usage, after.usage
        cached = usage.cache_read_input_tokens + usage.cache_creation_input_tokens
        if not (usage.known and now.known) or now.simulated or after.number in cuts:
            continue
        lost = min(cached, now.sent) - now.cache_read_input_tokens
        if lost < BREAK or now.cache_read_input_tokens > cached / 2:
            continue
        kinds = (usage.whole or {}).get("cache_creation")
        hour = isinstance(kinds, dict) and kinds.get("ephemeral_1h_input_tokens")
        pause = after.asked - (before.replied or before.asked)
        yield before, after, lost, pause > (LONG_LIFETIME if hour else LIFETIME)


def cache_rewritten(session: Session) -> Iterator[Finding]:
    """The cache was lost although it was young: something early in the request had changed."""
    for thread in session.threads.values():
        found = [one[:3] for one in _breaks(thread) if not one[3]]
        if not found:
            continue
        before, after, _ = found[0]
        lost = sum(one[2] for one in found)
        why = "something early in the request had changed"
        if before.model and after.model and before.model != after.model:
            why = "the model was switched"
        times = f"broke at turn {after.number}" if len(found) == 1 else f"broke {len(found)} times"
        yield Finding(
            f"The cache {times}: {why}, and ≈{tokens(lost)} tokens were sent at full price again.",
            _at(thread.lane, (one[1].number for one in found)),
            "Keep the system prompt, the tools and the earlier messages as they are; a switch of "
            "the model, or of a tool server, starts the cache anew.",
            "s06",
            tokens=lost,
        )


def cache_expired(session: Session) -> Iterator[Finding]:
    """The cache was lost in a pause."""
    for thread in session.threads.values():
        found = [one for one in _breaks(thread) if one[3]]
        if not found:
            continue
        before, after, _, _ = found[0]
        lost = sum(one[2] for one in found)
        pause = duration(60 * round((after.asked - (before.replied or 0)) / 60))
        times = f"a pause of {pause} before turn {after.number}"
        if len(found) > 1:
            times = f"{len(found)} pauses"
        yield Finding(
            f"The cache expired in {times}: ≈{tokens(lost)} tokens were sent at full price again.",
            _at(thread.lane, (one[1].number for one in found)),
            "After a long pause, begin a new session or compact first, if little of the context is "
            "still needed.",
            "s06",
            tokens=lost,
        )


# What fills the context.

#: Turns after which an output is old; tokens and share of a request that make it worth telling.
OLD, OLD_TOKENS, OLD_SHARE = 10, 10_000, 0.4


def old_output(session: Session) -> Iterator[Finding]:
    """Most of the longest request was output of one tool, from many turns before."""
    for thread in session.threads.values():
        turns = thread.turns
        last = max(turns, key=thread.size, default=None)
        if last is None or last.number <= OLD:
            continue
        then = turns[last.number - 1 - OLD]
        if any(then.number < cut.turn <= last.number for cut in thread.cuts):
            continue
        old: dict[str, int] = defaultdict(int)
        for (kind, name), size in then.parts.items():
            if kind in ("tool", "file"):
                kept = min(size, last.parts.get((kind, name), 0))
                old["" if kind == "file" else name] += kept
        name, size = max(old.items(), key=lambda item: item[1], default=("", 0))
        share = size / max(thread.fixed() + last.estimate, 1)
        if size < OLD_TOKENS or share < OLD_SHARE:
            continue
        what = f"output of {one_line(name, 30)}" if name else "files"
        yield Finding(
            f"{share:.0%} of the longest request was {what} from more than {OLD} turns before.",
            _at(thread.lane, [last.number]),
            "Clear old results, or let a subagent read and report; what was needed of them is in "
            "the replies since.",
            "s06",
            tokens=size,
        )


#: How often a command must have run, and tokens of all its outputs but the last.
RUNS, RUN_TOKENS = 4, 6_000


def command_repeated(session: Session) -> Iterator[Finding]:
    """One command printed much, again and again."""
    for thread in session.threads.values():
        for its in _grouped(thread, lambda call: call.target if call.does == "run" else ""):
            size = sum(call.tokens for call in its[:-1])
            if len(its) < RUNS or size < RUN_TOKENS:
                continue
            command, each = one_line(its[0].target, 40), size / (len(its) - 1)
            yield Finding(
                f"{command} printed ≈{tokens(each)} tokens {len(its)} times; "
                "only the last output was still true.",
                _at(thread.lane, (call.turn for call in its)),
                "Let it print only what failed, such as with -q or | tail; or clear old results.",
                "s06",
                tokens=_carried(thread, its[:-1]),
                quotes=(command,),
            )


#: Tokens of one result that are many.
LARGE = 10_000


def large_output(session: Session) -> Iterator[Finding]:
    """One result filled much of the context at once."""
    for call in session.calls:
        if call.tokens >= LARGE:
            what, quotes = f"One call of {one_line(call.name, 30)}", tuple[str, ...]()
            if call.target:
                said = _name(call.target) if call.does == "read" else one_line(call.target, 40)
                what, quotes = f"{'Reading ' * (call.does == 'read')}{said}", (said,)
            yield Finding(
                f"{what} put ≈{tokens(call.tokens)} tokens into the context at once.",
                _at(call.lane, [call.turn]),
                "Ask for the part that is needed (a range of lines, a search), or limit what a "
                "tool may return.",
                "s02",
                tokens=_carried(session.threads[call.lane], [call]),
                quotes=quotes,
            )


#: How often a file must have been read, and tokens of all readings but the first.
READS, READ_TOKENS = 3, 2_000


def read_again(session: Session) -> Iterator[Finding]:
    """A file was read again and again, although it was in the context and hadn't changed."""
    for thread in session.threads.values():
        cuts = [cut.turn for cut in thread.cuts]

        def same(call: Call, cuts: list[int] = cuts) -> object:
            since = sum(cut <= call.turn for cut in cuts)  # it may have gone with a compaction
            read = call.does == "read" and not call.failed and call.target
            return (call.target, call.slice, call.output, since) if read else ""

        for its in _grouped(thread, same):
            size = sum(call.tokens for call in its[1:])
            if len(its) < READS or size < READ_TOKENS:
                continue
            name = _name(its[0].target)
            yield Finding(
                f"{name} was read {len(its)} times, and it was the same each time.",
                _at(thread.lane, (call.turn for call in its)),
                "It was still in the context. A list of what was read, or a note in the plan, "
                "saves the reading.",
                "s03",
                tokens=_carried(thread, its[1:]),
                quotes=(name,),
            )


# What was tried again.

#: How often a call must have failed in the same way.
TRIES = 3
#: What differs between two runs that fail alike: times, addresses.
_TIMES = re.compile(r"\d+\.\d+|0x[0-9a-f]+")


def failing_again(session: Session) -> Iterator[Finding]:
    """The same call failed in the same way, again and again."""
    for thread in session.threads.values():

        def same(call: Call) -> object:
            failed = call.failed and not call.refused and call.output
            return (call.name, str(call.input), _TIMES.sub("", call.output)) if failed else ""

        for its in _grouped(thread, same):
            if len(its) < TRIES:
                continue
            first, last = its[0], its[-1]
            within = (
                call for call in thread.calls.values() if first.start < call.start < last.start
            )
            edits = sum(call.does == "edit" and not call.failed for call in within)
            what = one_line(first.target or first.name, 40)
            after = f"through {count(edits, 'edit')}" if edits else "and nothing changed in between"
            yield Finding(
                f"{what} failed {len(its)} times with the same error, {after}.",
                _at(thread.lane, (call.turn for call in its)),
                "After the second time, stop and look at the cause: read the error, print what is "
                "really there, or start again with a clean context.",
                "s04",
                tokens=_carried(thread, its[1:]),
                minutes=((last.end or last.start) - (first.end or first.start)) / 60,
                quotes=(what,) if first.target else (),
            )


#: How many edits must have failed, and their share of all.
EDITS, EDIT_SHARE = 3, 0.2


def failed_edits(session: Session) -> Iterator[Finding]:
    """Many edits failed."""
    for thread in session.threads.values():
        edits = [call for call in thread.calls.values() if call.does == "edit" and not call.refused]
        failed = [call for call in edits if call.failed]
        if len(failed) >= EDITS and len(failed) >= EDIT_SHARE * len(edits):
            yield Finding(
                f"{len(failed)} of {len(edits)} edits failed, and had to be made again.",
                _at(thread.lane, (call.turn for call in failed)),
                "Read the file right before an edit, and let the tool answer a failed edit with "
                "the nearest lines.",
                "s02",
                tokens=_carried(thread, failed) + _turns_cost(thread, failed),
            )


def refused_calls(session: Session) -> Iterator[Finding]:
    """Calls were refused again and again."""
    for thread in session.threads.values():
        refused = [call for call in thread.calls.values() if call.refused]
        if len(refused) >= TRIES:
            yield Finding(
                f"{count(len(refused), 'call')} didn't run, because they were refused.",
                _at(thread.lane, (call.turn for call in refused)),
                "Say in the prompt, or in a rule, what isn't allowed; then the model needn't find "
                "out by asking.",
                "s02",
                tokens=_carried(thread, refused) + _turns_cost(thread, refused),
            )


# Subagents and compaction.

#: How many files a subagent must have read again, and their tokens.
FILES, FILE_TOKENS = 2, 3_000


def subagent_reread(session: Session) -> Iterator[Finding]:
    """A subagent read what the agent that started it had read."""
    for thread in session.threads.values():
        parent = session.threads.get(thread.parent)
        if parent is None or not thread.turns:
            continue
        known = {
            (call.target, call.output)
            for call in parent.calls.values()
            if call.does == "read" and not call.failed and call.start < thread.turns[0].asked
        }
        again = [
            call
            for call in thread.calls.values()
            if call.does == "read" and (call.target, call.output) in known
        ]
        size = sum(call.tokens for call in again)
        if len({call.target for call in again}) >= FILES and size >= FILE_TOKENS:
            files = count(len({call.target for call in again}), "file")
            yield Finding(
                f"A subagent read {files} that its parent had read already.",
                _at(thread.lane, (call.turn for call in again)),
                "Let the subagent read instead of the parent, or give it what it needs in its "
                "prompt.",
                "s04",
                tokens=_carried(thread, again),
            )


#: Share of the context window that is nearly all of it.
FULL = 0.9


def late_compaction(session: Session) -> Iterator[Finding]:
    """A compaction came only when the window was nearly full."""
    for thread in session.threads.values():
        for cut in thread.cuts:
            model = thread.turns[min(cut.turn, len(thread.turns)) - 1].model if thread.turns else ""
            spec = MODELS.get(re.sub(r"-\d{8}$", "", model))
            if spec and cut.before >= FULL * spec.window:
                yield Finding(
                    f"The context was {cut.before / spec.window:.0%} full before it was compacted "
                    f"at turn {cut.turn}.",
                    _at(thread.lane, [cut.turn]),
                    "Compact earlier, at the end of a step: a summary is better when there is room "
                    "to write it, and every request before it was as long as it gets.",
                    "s06",
                    tokens=cut.before // 2,
                )


def read_after_compaction(session: Session) -> Iterator[Finding]:
    """What a compaction took away had to be read again."""
    for thread in session.threads.values():
        for cut in thread.cuts:
            reads = [c for c in thread.calls.values() if c.does == "read" and not c.failed]
            before = {call.target for call in reads if call.turn < cut.turn}
            again = [c for c in reads if cut.turn <= c.turn < cut.turn + OLD and c.target in before]
            files, size = {call.target for call in again}, sum(call.tokens for call in again)
            if len(files) >= FILES and size >= READ_TOKENS:
                yield Finding(
                    f"After the compaction at turn {cut.turn}, {count(len(files), 'file')} had to "
                    "be read again.",
                    _at(thread.lane, [cut.turn, *(call.turn for call in again)]),
                    "Say what the summary must keep, or put decisions and findings into a file "
                    "before the context is compacted.",
                    "s06",
                    tokens=_carried(thread, again),
                )


def thinking_dropped(session: Session) -> Iterator[Finding]:
    """Thinking was taken out of messages that the model had written."""
    for thread in session.threads.values():
        number = sum(lost for _, lost in thread.dropped)
        if number:
            yield Finding(
                f"{count(number, 'thinking block')} of earlier turns had to go, because a message "
                "before changed.",
                _at(thread.lane, (turn for turn, _ in thread.dropped)),
                "Change earlier messages rarely and many at once: thinking that follows a change "
                "can't be sent back.",
                "s06",
            )


# The end.

#: What the last reply says when it claims success, and files whose edits need no check.
_DONE = re.compile(
    r"(?i)\b(?:(?:tests?|checks?) (?:now |all )?pass|(?:is|are|it's|now|all) (?:now )?(?:fixed|done"
    r"|complete|working|resolved|implemented)|works (?:now|as)|fixed (?:the|it)\b|^done\b)"
)
_TEXTS = frozenset({".md", ".rst", ".txt", ".adoc", ".json", ".csv"})


def _ending(session: Session) -> tuple[Turn | None, list[Call], list[Call]]:
    """The last reply, if the lead came to an end by itself; all edits of code; all checks."""
    turns = session.lead.turns
    ended = turns and turns[-1].stop in ("end_turn", "stop_sequence") and not turns[-1].calls
    edits = [
        call
        for call in session.calls
        if call.does == "edit" and not call.failed
        if PurePath(call.target).suffix.lower() not in _TEXTS
    ]
    checks = sorted((c for c in session.calls if c.checks), key=lambda call: call.start)
    return turns[-1] if ended else None, sorted(edits, key=lambda c: c.start), checks


def untested_edit(session: Session) -> Iterator[Finding]:
    """Tests ran, but not after the last edit."""
    last, edits, checks = _ending(session)
    if last and edits and checks and checks[-1].start < edits[-1].start:
        edit, claim = edits[-1], _claim(last)
        name = _name(edit.target)
        yield Finding(
            f"{f'It said {claim}, but n' if claim else 'N'}othing tested the last edit, of {name}.",
            (*_at(edit.lane, [edit.turn]), *_at(session.lead.lane, [last.number])),
            "Let a hook run the tests when the model stops, and send it on if they fail.",
            "s12",
            quotes=(name, claim) if claim else (name,),
        )


#: How many edits an unchecked session must have.
UNCHECKED = 2


def unchecked_done(session: Session) -> Iterator[Finding]:
    """The agent said that it was done, and nothing had been checked at all."""
    last, edits, checks = _ending(session)
    claim = _claim(last) if last else ""
    if last and claim and len(edits) >= UNCHECKED and not checks:
        yield Finding(
            f"It said {claim}, but nothing checked its {count(len(edits), 'edit')}.",
            (*_at(edits[-1].lane, [edits[-1].turn]), *_at(session.lead.lane, [last.number])),
            "Done is a claim until a command has checked it: name the command in the prompt, or "
            "let a hook run it when the model stops.",
            "s12",
            quotes=(claim,),
        )


def _claim(turn: Turn) -> str:
    """The sentence of a reply that claims success, quoted; empty for none."""
    found = _DONE.search(turn.said)
    if not found:
        return ""
    begin = max(turn.said.rfind(end, 0, found.start()) for end in (". ", "\n", "! ")) + 1
    ends = [turn.said.find(end, found.start()) for end in (". ", ".\n", "\n", "! ")]
    end = min((at for at in ends if at >= 0), default=len(turn.said))
    return quoted(turn.said[begin:end].strip(" .\n*#"), 50)


#: How many items a plan must have.
ITEMS = 3


def open_plan(session: Session) -> Iterator[Finding]:
    """The plan had open items when the agent stopped."""
    last, _, _ = _ending(session)
    lists = [(call, _items(call)) for call in session.lead.calls.values() if not call.failed]
    lists = [(call, items) for call, items in lists if items]
    if last and lists:
        call, items = lists[-1]
        left = sum(item != "completed" for item in items)
        if len(items) >= ITEMS and left:
            yield Finding(
                f"It stopped with {left} of {count(len(items), 'item')} of its plan open.",
                _at(session.lead.lane, [call.turn, last.number]),
                "Remind the model of its list after some rounds without an update, and before it "
                "stops.",
                "s03",
            )


def _items(call: Call) -> list[str]:
    """The states of the items of a plan that a call has written; empty for no plan."""
    given = call.input if isinstance(call.input, dict) else {}
    plan: object = next((given[key] for key in ("todos", "items", "plan") if key in given), None)
    if not (isinstance(plan, list) and all(isinstance(item, dict) for item in plan)):
        return []
    states = [str(item.get("status", "")) for item in plan]
    return states if all(one in ("pending", "in_progress", "completed") for one in states) else []


# Time.

#: Seconds of one command that is slow, and of all of them together.
SLOW, SLOW_SUM = 60, 180


def slow_commands(session: Session) -> Iterator[Finding]:
    """The agent did nothing while commands ran."""
    for thread in session.threads.values():
        slow = [call for call in thread.calls.values() if call.does == "run"]
        slow = [call for call in slow if call.seconds >= SLOW]
        total = sum(call.seconds for call in slow)
        if total >= SLOW_SUM:
            yield Finding(
                f"{count(len(slow), 'command')} took {duration(total)}, and the agent did nothing "
                "else meanwhile.",
                _at(thread.lane, (call.turn for call in slow)),
                "Run them in the background; or, if they waited for your permission, allow them "
                "by a rule.",
                "s08",
                minutes=total / 60,
            )


def retries(session: Session) -> Iterator[Finding]:
    """Requests failed and were sent again."""
    for thread in session.threads.values():
        total = sum(seconds for _, seconds in thread.retries)
        if len(thread.retries) >= TRIES:
            yield Finding(
                f"{count(len(thread.retries), 'request')} failed and had to be sent again.",
                _at(thread.lane, (turn for turn, _ in thread.retries)),
                "Nothing is wrong with the session: the server was busy. Long requests fail more.",
                "s01",
                minutes=total / 60,
            )


def _grouped(thread: Thread, key: Callable[[Call], object]) -> list[list[Call]]:
    """An agent's calls that have the same key; those without one are left out."""
    groups: dict[object, list[Call]] = defaultdict(list)
    for call in thread.calls.values():
        if name := key(call):
            groups[name].append(call)
    return list(groups.values())


#: Every finder. At most one finding of each is session.
FINDERS: tuple[Finder, ...] = (
    *(cache_rewritten, cache_expired, old_output, command_repeated, large_output, read_again),
    *(failing_again, failed_edits, refused_calls, subagent_reread, late_compaction),
    *(read_after_compaction, thinking_dropped, untested_edit, unchecked_done, open_plan),
    *(slow_commands, retries),
)

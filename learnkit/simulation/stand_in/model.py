"""The stand-in itself: it reads a request, carries on by its rules, and says what it has done.

It says "Done" only when it has understood every clause of the prompt, and a result confirms each.
Otherwise it says what it doesn't understand, or what has failed, and what it could do with the
tools on offer. It keeps nothing from one request to the next, and calls only tools that are on
offer in the request in hand.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from learnkit.clients.connect import from_source
from learnkit.clients.scripted import Reply, Request, say
from learnkit.runtime.virtual_clock import VirtualClock
from learnkit.simulation.stand_in import clauses as parts
from learnkit.simulation.stand_in import summary
from learnkit.simulation.stand_in.clauses import Clause, Rule
from learnkit.simulation.stand_in.conversation import Conversation, Note, Past, read
from learnkit.simulation.stand_in.hands import Ask, Failed, Hands, Kit, Steps, Wait, short
from learnkit.simulation.stand_in.rules import (
    board,
    changes,
    commands,
    contents,
    files,
    plans,
    team,
    worktrees,
)

if TYPE_CHECKING:
    from learnkit.clients.transport import Client
    from learnkit.runtime.clock import Clock

BADGE = "a stand-in that follows rules, not an LLM"

#: The first rule that fits a clause is taken.
RULES: tuple[Rule, ...] = (
    *(worktrees.RULES + board.RULES + plans.RULES),
    *(team.RULES + contents.RULES + files.RULES + changes.RULES + commands.RULES),
)

#: Replies to one prompt; a run that needs more is one that doesn't get on.
MOST_REPLIES = 120
#: Steps from which on it keeps a list, if there is a tool for that.
WORTH_A_LIST = 3

_LIST_RULES = ("write a plan", "put something on the list", "mark an item")
#: Rules whose clauses plan work, and don't begin it.
_PLANNING = (
    *_LIST_RULES,
    *("tasks", "a task", "tasks in stages", "put tasks on the board", "order two tasks"),
    *("leave it at that", "background"),
)
_STATEMENT = parts.compiled(r"(?:i|we) (?:have|need|want|would like|must|am|are)\b {text}")
_HIDDEN = (plans.manner, commands.tell)


@dataclass(frozen=True, slots=True)
class Goal:
    """A clause that a rule understands.

    Attributes:
        rule: that fits.
        groups: of its patterns.
        clauses: it is made of.
        label: what is done, in the user's words.
    """

    rule: Rule
    groups: dict[str, Any]
    clauses: tuple[Clause, ...]
    label: str

    def act(self, do: Hands) -> Steps:
        """Carry it out.

        Args:
            do: what the rules work with.

        Returns:
            The report; empty if there is nothing to say.

        Raises:
            Failed: if it cannot be carried out.
        """
        doing = self.rule.act(do, **self.groups)
        return doing if isinstance(doing, str) else (yield from doing)

    def fitted(self, clause: Clause) -> str:
        """The part of a clause that a pattern was fitted to.

        Args:
            clause: one of its own.
        """
        whole = any(one.fullmatch(clause.text) for one in (self.rule.pattern, *self.rule.more))
        return clause.text if whole else parts.trimmed(clause.text)

    def left_out(self, clause: Clause) -> tuple[str, ...]:
        """The words of a clause that have had no effect.

        Args:
            clause: one of its own.
        """
        return (*clause.ignored, *parts.words([clause.text[len(self.fitted(clause)) :]]))


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a reply is what it is.

    Attributes:
        lane: the agent that asked; empty if not known.
        rule: the rule that made the reply.
        used: the words of the prompt that the rule was applied to.
        ignored: words of the prompt that have had no effect.
        understood: rule and clause of everything that was understood, in order.
        unknown: the clauses that no rule fits.
        done: whether the reply says that everything is done.
    """

    lane: str = ""
    rule: str = ""
    used: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    understood: tuple[tuple[str, str], ...] = ()
    unknown: tuple[str, ...] = ()
    done: bool = False

    def __str__(self) -> str:
        ignored = f"; ignored: {' '.join(self.ignored)}" if self.ignored else ""
        return f"rule: {self.rule}; used: {' '.join(self.used) or 'nothing'}{ignored}"


class StandIn:
    """A source of replies that reads each request by rules; see :func:`stand_in`.

    Attributes:
        explained: one explanation for each reply, in order.
    """

    def __init__(self) -> None:
        self.explained: list[Explanation] = []
        self._lock = threading.Lock()

    def answer(self, request: Request, lane: str) -> Reply:
        """The reply to a request, of which ``explained`` gets the reason.

        Args:
            request: the JSON body.
            lane: the name of the agent that asks.
        """
        reply, explanation = self.explain(request)
        with self._lock:
            self.explained.append(replace(explanation, lane=lane))
        return reply

    def __call__(self, request: Request) -> Reply:
        """The reply to a request, where a policy is wanted."""
        return self.explain(request)[0]

    def explain(self, request: Request) -> tuple[Reply, Explanation]:
        """The reply to a request, and why; nothing is kept.

        Args:
            request: the JSON body.
        """
        if asked := summary.wanted(request):
            return say(summary.summary(asked)), Explanation(rule="summarise")
        return _Session(read(request)).reply()


def stand_in(clock: Clock | None = None) -> Client:
    """A client whose replies come from the stand-in: a model that follows rules, not an LLM.

    It reads the prompt, the tools on offer and the results, and understands a few dozen kinds of
    instruction. ``client.source.explained`` says for each reply which rule made it.

    Args:
        clock: on which replies take their latency; by default a new ``VirtualClock``.
    """
    return from_source(StandIn(), clock or VirtualClock(), "stand-in")


@dataclass(slots=True)
class _Session:
    """One request: the same work from the beginning, up to what is not in the conversation yet."""

    said: Conversation
    goals: list[Goal] = field(default_factory=list)
    unknown: list[Clause] = field(default_factory=list)
    now: Goal | None = None
    done: bool = False
    planned: bool = False

    def reply(self) -> tuple[Reply, Explanation]:
        """The reply, and why."""
        if self.said.foreign:
            return self._stop(
                "another model has begun this work; give me the prompt from the start"
            )
        if self.said.turns >= MOST_REPLIES:
            return self._stop(
                f"I have made {MOST_REPLIES} replies to this prompt, and don't get on"
            )
        do = Hands(self.said, Kit(self.said.tools), lambda text: self._carry_out(do, text))
        self.goals, self.unknown = understand(self.said.prompt)
        wanted = _replayed(self._work(do), self.said)
        if isinstance(wanted, Wait):
            return say(wanted.text), self._explanation(done=wanted.text.startswith("Done."))
        blocks: list[dict[str, Any]] = []
        if not self.said.past and not self.said.notes:
            blocks.append({"type": "text", "text": self._understood()})
        for name, input in wanted.calls:
            blocks.append({"type": "tool_use", "name": name, "input": input})
        return Reply(tuple(blocks)), self._explanation(done=False)

    def _stop(self, why: str) -> tuple[Reply, Explanation]:
        return say(f"Not done: {why}."), Explanation(rule="stop")

    # The work

    def _work(self, do: Hands) -> Steps:
        reports, problem = list[str](), ""
        try:
            yield from self._submit_plan(do)
            do.open = len(self.goals)
            reports += yield from self._goals(do)
        except Failed as error:
            what = f" {self.now.label!r}" if self.now else ""
            problem = f"I couldn't do{what}: {error}."
        do.open = 0
        left = self.goals[self.goals.index(self.now) + 1 :] if problem and self.now else []
        if not problem:
            problem, more = yield from self._settle(do)
            reports += more
        self.done = not problem and not self.unknown and any(map(_is_work, self.goals))
        yield from self._return_task(do, problem)
        while True:
            reports += yield from self._answer_requests(do)
            text = self._final(do, reports, problem, left)
            note = yield from do.take(text)
            yield from self._instruction(do, note, reports)

    def _goals(self, do: Hands) -> Generator[Ask | Wait, Any, list[str]]:
        """Handle each clause in turn, and keep a list of them if that is wanted."""
        reports = []
        listed = self._listed(do)
        for place, goal in enumerate(self.goals):
            self.now = goal
            if goal in listed:
                yield from self._tick(do, listed, goal, "in_progress")
            report = yield from goal.act(do)
            do.open = len(self.goals) - place - 1
            reports += [report] if report else []
        if listed:
            yield from self._tick(do, listed, None, "completed")
        return reports

    def _carry_out(self, do: Hands, text: str) -> Steps:
        """Do what a task within the prompt asks for, and return the report."""
        goals, unknown = understand(text)
        if unknown or not any(map(_is_work, goals)):
            raise Failed(f"I don't understand the task {text!r}")
        reports = []
        for goal in goals:
            reports.append((yield from goal.act(do)))
        return "; ".join(filter(None, reports))

    def _listed(self, do: Hands) -> list[Goal]:
        """The clauses that go on a list: none, if nobody wants one."""
        work = [one for one in self.goals if one.rule.act not in _HIDDEN]
        asked = any(one.rule.name == "keep to the list" for one in self.goals)
        own = any(one.rule.name in _LIST_RULES for one in self.goals)
        there = "items" in do.kit.parameters("todo") or do.kit.has("todo_add")
        if asked and not there:
            raise Failed("there is no tool that keeps a todo list")
        wanted = asked or (there and len(work) >= WORTH_A_LIST)
        return work if wanted and not own else []

    def _tick(self, do: Hands, listed: list[Goal], current: Goal | None, status: str) -> Steps:
        """Bring the list up to date: what comes before the current clause is completed."""
        place = listed.index(current) if current else len(listed)
        items = do.todo or [{"text": short(one.label, 200), "status": "pending"} for one in listed]
        for number, item in enumerate(items):
            item["status"] = "completed" if number < place else "pending"
        if current:
            items[place]["status"] = status
        results = do.results
        if do.kit.has("todo") or not do.todo:
            yield from plans.put(do, items)
        else:
            do.todo = do.todo[:]
            yield from plans.put(do, do.todo)
        do.results = results
        return ""

    def _settle(self, do: Hands) -> Generator[Ask | Wait, Any, tuple[str, list[str]]]:
        """Wait for what was started: jobs and teammates; return a problem and the reports."""
        reports = []
        try:
            if do.jobs.keys() - do.told:
                reports.append((yield from board.await_jobs(do)))
            if do.crew and (report := (yield from team.report_crew(do))):
                reports.append(report)
        except Failed as error:
            return f"{error}.", reports
        return "", reports

    def _submit_plan(self, do: Hands) -> Steps:
        """As a teammate whose plan has to be approved: submit it, and wait for the answer."""
        wanted = "submit a plan with plan_approval" in self.said.system and not self.planned
        if not wanted or "plan" not in do.kit.parameters("plan_approval") or not self.goals:
            return ""
        if all(one.rule.act is team.wait for one in self.goals):
            return ""
        plan = "; ".join(f"{n}. {one.label}" for n, one in enumerate(self.goals, start=1))
        do.open = len(self.goals)
        result = yield from do.call("plan_approval", plan=plan)
        id = re.search(r"Sent plan (\S+) to ", result.text)
        if id is None:
            raise Failed(f"my plan got no id: {short(result.text)}")
        note = yield from do.wait_for(
            "plan_approval_response", id=id[1], what=f"the answer to my plan {id[1]}"
        )
        if not re.match(r"\S+ approved\b", note.text):
            raise Failed(f"my plan was not approved: {note.text}")
        self.planned = True
        return ""

    def _return_task(self, do: Hands, problem: str) -> Steps:
        """Complete the task of the board that the prompt was, or say that it has failed."""
        if self.said.claimed is None or "task_update" not in do.kit.tools:
            return ""
        status = "completed" if self.done else "failed"
        why = "done by rule" if self.done else short(problem or "I don't understand it", 300)
        with_summary = {"result_summary": why}
        try:
            yield from do.call(
                "task_update", task_id=self.said.claimed, status=status, **with_summary
            )
        except Failed:
            self.done = False
        return ""

    def _answer_requests(self, do: Hands) -> Generator[Ask | Wait, Any, list[str]]:
        """Plans that the prompt says nothing about: reject them, by their ids."""
        reports = []
        for note in [one for one in do.held if one.type == "plan_approval_response"]:
            do.held.remove(note)
            if "approve" not in do.kit.parameters("plan_approval"):
                continue
            if not note.id:
                reports.append(
                    f"{note.sender}'s plan came without a request_id: no answer is possible"
                )
                continue
            why = "I was not told whether this plan may be carried out."
            try:
                yield from do.call("plan_approval", request_id=note.id, approve=False, feedback=why)
                reports.append(
                    f"rejected {note.sender}'s plan {note.id}, as I was not told about it"
                )
            except Failed as error:
                reports.append(f"{note.sender}'s plan {note.id} could not be answered: {error}")
        return reports

    def _instruction(self, do: Hands, note: Note, reports: list[str]) -> Steps:
        """As a teammate: a message of the lead is a further prompt; all others are information."""
        if not self.said.leader or note.type not in ("message", "broadcast"):
            return ""
        if note.sender != self.said.leader:
            reports.append(f"read a message from {note.sender}: {short(note.text)}")
            return ""
        do.held.remove(note)
        goals, unknown = understand(note.text)
        if note.text == board.ASK:  # a question, beside the work
            self.now = goals[0]
            reports[:] = [one for one in reports if not one.startswith(board.SAYS)]
            try:
                reports.append((yield from board.show(do)))
            except Failed as error:
                reports.append(f"I couldn't do {note.text!r}: {error}")
            return ""
        told = not goals and not note.text.startswith(team.ORDER)
        if note.type == "broadcast" or told:
            reports.append(f"read a message: {short(note.text)}")
            return ""
        self.goals, self.unknown, self.now = goals, unknown, None
        reports.clear()
        try:
            yield from self._submit_plan(do)
            reports += yield from self._goals(do)
            self.done = any(map(_is_work, goals)) and not unknown
        except Failed as error:
            self.done = False
            reports.append(f"I couldn't do {note.text!r}: {error}")
        return ""

    # What it says

    def _understood(self) -> str:
        goals = [one for one in self.goals if one.rule.act is not plans.manner]
        if not goals:
            return "I'll look at what was delivered."
        told = "; ".join(f"{n}. {one.label}" for n, one in enumerate(goals, start=1))
        aside = [one.label for one in self.goals if not _is_work(one)]
        more = "".join(f" I take {one!r} as background." for one in aside)
        more += "".join(f" I don't understand {one.shown!r}." for one in self.unknown[:1])
        return f"I understood: {told}.{more}"

    def _final(self, do: Hands, reports: list[str], problem: str, left: list[Goal]) -> str:
        told = "\n".join(f"- {one}" for one in reports)
        if self.done:
            return f"Done. I did this by rule:\n{told}" if told else "Done."
        lines = [f"This much is handled:\n{told}"] if told else []
        if problem:
            lines.append(problem)
        if left:
            lines.append(f"I haven't begun: {'; '.join(one.label for one in left)}.")
        if self.unknown:
            lines.append(f"I don't understand {self.unknown[0].shown!r}.")
            later = "; ".join(one.shown for one in self.unknown[1:])
            lines += [f"I haven't begun what comes after it: {later}."] if later else []
        if not self.said.prompt:
            lines.append("I can't see what was asked.")
        if not self.goals or self.unknown:
            lines.append(_can(do.kit))
        return f"Not done. {lines[0]}\n" + "\n".join(lines[1:]) if lines else "Not done."

    def _explanation(self, *, done: bool) -> Explanation:
        goal = self.now
        ignored = [word for one in self.goals for c in one.clauses for word in one.left_out(c)]
        ignored += parts.words([one.label for one in self.goals if not _is_work(one)])
        ignored += parts.words([one.shown for one in self.unknown])
        return Explanation(
            rule=goal.rule.name if goal else ("none fits" if self.unknown else "wait for work"),
            used=parts.words([one.plain(goal.fitted(one)) for one in goal.clauses]) if goal else (),
            ignored=tuple(ignored),
            understood=tuple((one.rule.name, one.label) for one in self.goals),
            unknown=tuple(one.shown for one in self.unknown),
            done=done,
        )


def understand(prompt: str) -> tuple[list[Goal], list[Clause]]:
    """What a prompt asks for, up to the first clause that no rule fits.

    Args:
        prompt: as the user wrote it.

    Returns:
        The clauses that are understood, and the rest.
    """
    left, goals = parts.split(prompt), list[Goal]()
    statements: list[Clause] = []
    while left:
        clause, *left = left
        goal, taken = _goal(clause, left)
        if goal is None and len(pieces := parts.at_colon(clause)) > 1 and _goal(pieces[0], [])[0]:
            left = pieces + left
            continue
        if goal is None and not goals and (_about := parts.match(_STATEMENT, clause)):
            statements.append(clause)
            continue
        if goal is None:
            return goals, [*statements, clause, *left] if not goals else [clause, *left]
        if statements:  # they say what the next clause is about, if it can use that
            if goal.rule.act not in (plans.load, plans.which_skill):
                return [], [*statements, clause, *left]
            about = statements.pop()
            goal = replace(goal, groups={**goal.groups, "about": about.shown})
        goals.append(goal)
        left = left[taken:]
    if statements:
        return [], statements
    if any("last" in one.groups for one in goals):  # it is to be done at the end
        goals.sort(key=lambda one: "last" in one.groups or one.rule.act is team.became)
    names = {one.rule.name for one in goals}
    if "leave it at that" in names and names - set(_PLANNING):
        return [], parts.split(prompt)  # do it, and don't do it
    asked = "keep to the list" in names
    return ([piece for one in goals for piece in _pieces(one)] if asked else goals), []


def _is_work(goal: Goal) -> bool:
    """Whether a clause asks for something, and isn't only background."""
    return goal.rule.name != "background"


def _goal(clause: Clause, after: list[Clause]) -> tuple[Goal | None, int]:
    """What a clause asks for, and how many of those after it belong to it."""
    for rule in RULES:
        groups: dict[str, Any] | None = parts.match(rule.pattern, clause)
        if groups is None:
            continue
        used, taken = [clause], 0
        if rule.following is not None:
            taken = rule.following(groups)
            used += after[:taken]
            groups["following"] = [parts.unquoted(one.shown) for one in after[:taken]]
        while taken < len(after) and (more := _more(rule, after[taken], groups)) is not None:
            groups |= more
            used.append(after[taken])
            taken += 1
        return Goal(rule, groups, tuple(used), ", ".join(one.shown for one in used)), taken
    return None, 0


def _more(rule: Rule, clause: Clause, groups: dict[str, Any]) -> dict[str, str] | None:
    """What a clause adds to the one before it, if it belongs to it and says something new."""
    for pattern in rule.more:
        found = parts.match(pattern, clause)
        if found is not None and not found.keys() & groups.keys():
            return found
    return None


def _pieces(goal: Goal) -> list[Goal]:
    """A clause about several things as one for each."""
    each = goal.rule.each
    things = parts.several(goal.groups.get(each, "")) if each else []
    if len(things) < 2:
        return [goal]
    verb = goal.clauses[0].shown.split()[0].lower()
    return [
        replace(goal, groups={**goal.groups, each: one}, label=f"{verb} {one}") for one in things
    ]


def _replayed(work: Steps, said: Conversation) -> Ask | Wait:
    """Run the work on what has happened, up to the first thing that has not."""
    past, notes = list(said.past), list(said.notes)
    wanted = next(work)
    while True:
        if isinstance(wanted, Wait):
            if not notes:
                return wanted
            wanted = work.send(notes.pop(0))
            continue
        found = [_find(past, name, input) for name, input in wanted.calls]
        if missing := [call for call, one in zip(wanted.calls, found, strict=True) if one is None]:
            return Ask(tuple(missing))
        wanted = work.send([one.result for one in found if one is not None])


def _find(past: list[Past], name: str, input: dict[str, Any]) -> Past | None:
    """The first call like this that has not been used yet, taken out of the list."""
    for place, one in enumerate(past):
        if one.name == name and one.input == input:
            return past.pop(place)
    return None


def _can(kit: Kit) -> str:
    """What could be asked for with the tools on offer."""
    examples = [rule.example for rule in RULES if rule.example and all(map(kit.has, rule.needs))]
    if not examples:
        return f"With the tools on offer I can do nothing. I am {BADGE}."
    return f"I am {BADGE}. With these tools I can, for example: {'; '.join(examples[:12])}."

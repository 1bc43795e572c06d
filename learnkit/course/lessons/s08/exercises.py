"""Lesson 8's exercises: their checks, and right answers to test them with."""

from __future__ import annotations

import inspect
import tempfile
from dataclasses import replace
from typing import Any

import learnkit as lk
from learnkit.course.content import Verdict
from learnkit.course.content.sources import Check
from learnkit.course.lessons.verdicts import is_mechanism
from learnkit.events.background import JobEnded, JobStarted


def _log(*spans: tuple[float, float]) -> lk.EventLog:
    """A log of jobs, from their starts and ends in seconds."""
    log = lk.EventLog()
    log.append("run.started", prompt="go", system="", tools=[], model="m")
    moments = [(begin, "started", n) for n, (begin, _) in enumerate(spans)]
    moments += [(end, "ended", n) for n, (_, end) in enumerate(spans)]
    for time, what, number in sorted(moments):
        begin, end = spans[number]
        id = f"{number:08}"
        event: JobStarted | JobEnded = JobStarted(id=id, command="make", limit=300.0, counted=True)
        if what == "ended":
            event = JobEnded(id=id, status="completed", code=0, seconds=end - begin, output="")
        log.append(event, time=time)
    last = max((end for _, end in spans), default=0.0)
    log.append("run.ended", time=last + 10, reason="end_turn", text="", turns=3)
    return log


def check_saved(saved: Any) -> Verdict:
    """Check the seconds of all jobs, minus the time from the first start to the last end."""
    for spans, wanted, what, because in (
        (
            ((0.0, 3.0), (0.0, 2.0)),
            2,
            "jobs of 3 and 2 seconds that start together",
            "5 seconds of work took 3",
        ),
        (((2.0, 9.0),), 0, "one job of 7 seconds", "7 seconds of work took 7"),
        (((5.0, 8.0), (8.0, 10.0)), 0, "two jobs, one after the other", "they never overlap"),
        (
            ((1.0, 5.0), (3.0, 9.0), (4.0, 6.0)),
            4,
            "jobs of 4, 6 and 2 seconds",
            "12 seconds of work took 8, from the first start to the last end",
        ),
        ((), 0, "a run without jobs", "nothing ran in the background"),
    ):
        found = saved(_log(*spans))
        if isinstance(found, bool) or not isinstance(found, int | float):
            return (
                f"For {what}, your function returned {found!r}. "
                f"It should return a number of seconds, {wanted}: {because}."
            )
        if abs(found - wanted) > 1e-6:
            return (
                f"For {what}, your function returned {found:g}. "
                f"It should return {wanted}: {because}."
            )
    return None


SAVED_PAIRS = """
def saved(events):
    begun, spans = {}, []
    for event in events:
        if event.type == "job.started":
            begun[event.data["id"]] = event.time
        elif event.type == "job.ended":
            spans.append((begun[event.data["id"]], event.time))
    total = sum(end - begin for begin, end in spans)
    first = min((begin for begin, _ in spans), default=0)
    return total - (max((end for _, end in spans), default=0) - first)
""".strip()


def _not_made(made: Any, name: str, argument: str) -> Verdict:
    """What is wrong with a class that should be a mechanism, made with one argument."""
    if not is_mechanism(made):
        return f"`{name}` should be a class that derives from lk.Mechanism, as in the stub."
    try:
        inspect.signature(made).bind(1)
    except TypeError as error:
        return f"{name}({argument}) fails: {error}. Its __init__ should be as in the stub."
    return None


def _soon(step: Any, seconds: float = 0.0) -> Any:
    return replace(step, latency=seconds)


def _run(mechanism: Any, *script: Any) -> lk.Agent:
    """An agent with jobs and the learner's mechanism, after its run."""
    with tempfile.TemporaryDirectory() as folder:
        steps = iter(script)
        client = lk.scripted(lambda request: next(steps, _soon(lk.say("done"))))
        with client.clock:
            agent = lk.Agent(client, [lk.Background(workspace=folder), mechanism], max_turns=30)
            agent.run("Go.")
    return agent


def _start(*seconds: float) -> Any:
    calls = [lk.use("background_run", command=f"sleep {n}") for n in seconds]
    return _soon(lk.reply(*calls))


def check_at_most(AtMost: Any) -> Verdict:
    """Check that background_run is refused while so many jobs are running."""
    if problem := _not_made(AtMost, "AtMost", "2"):
        return problem
    look = lk.use("check_background")
    for script, wanted, what, because in (
        ([_start(5, 5)], 2, "a reply that starts two jobs", "two are allowed"),
        (
            [_start(5, 5, 5)],
            2,
            "a reply that starts three jobs",
            "when the third one is asked for, two are running",
        ),
        (
            [_start(5), _start(5), _start(5)],
            2,
            "three replies that start one job each",
            "when the third one is asked for, two are running",
        ),
        (
            [_start(5, 5), _soon(look, 1.0)],
            2,
            "another call while two jobs are running",
            "both of them may start",
        ),
        (
            [_start(1, 1), _soon(look, 2.0), _start(1)],
            3,
            "a third job after the first two have ended",
            "ended jobs don't count",
        ),
    ):
        agent = _run(AtMost(2), *script)
        started = sum(event.type == "job.started" for event in agent.events)
        if started != wanted:
            return (
                f"With AtMost(2) and {what}, {started} jobs started. "
                f"It should be {wanted}: {because}."
            )
        looks = [e.data for e in agent.events if e.type == "tool.ended"]
        if any(one["how"] != "ran" for one in looks if one["name"] != "background_run"):
            return (
                f"With AtMost(2) and {what}, your gate refused check_background. "
                "It should refuse only background_run."
            )
    return None


AT_MOST_IDS = '''
import learnkit as lk


class AtMost(lk.Mechanism):
    """Refuses background_run while ``most`` jobs are running."""

    def __init__(self, most):
        self.most = most

    def refuse(self, agent, call):
        if call.name != "background_run":
            return None
        running = set()
        for event in agent.events:
            if event.type == "job.started":
                running.add(event.data["id"])
            if event.type == "job.ended":
                running.discard(event.data["id"])
        return "Too many jobs are running." if len(running) >= self.most else None
'''.strip()


def _notes(agent: lk.Agent) -> list[str]:
    """The texts that follow results, without the results of jobs."""
    found = []
    for message in agent.messages:
        if message["role"] == "user" and not isinstance(message["content"], str):
            texts = [block["text"] for block in message["content"] if block["type"] == "text"]
            found += [text for text in texts if "<background-results>" not in text]
    return found


def check_still(Still: Any) -> Verdict:
    """Check that each job that runs longer than expected is named to the model once."""
    if problem := _not_made(Still, "Still", "after=10"):
        return problem
    look = _soon(lk.use("check_background"), 4.0)  # four seconds pass, then the results
    agent = _run(Still(after=10), _start(6), look, look, look)
    if notes := _notes(agent):
        return (
            "With Still(after=10), a job of 6 seconds should not be named. "
            f"Your mechanism told the model {notes[0]!r}."
        )
    agent = _run(Still(after=10), _start(60), *[look] * 8)
    notes = _notes(agent)
    if not notes:
        return (
            "With Still(after=10), a job ran for 32 seconds while the model called tools. "
            "Your mechanism should name it, and told the model nothing."
        )
    if len(notes) > 1:
        return f"Your mechanism named one slow job {len(notes)} times. It should name it once."
    if "00000001" not in notes[0]:
        return f"The text should contain the job's id, 00000001. Yours is {notes[0]!r}."
    agent = _run(Still(after=10), _start(60, 60), *[look] * 8)
    said = " ".join(_notes(agent))
    if missing := [id for id in ("00000001", "00000002") if id not in said]:
        return (
            f"Two jobs are slow, but your mechanism never named {missing[0]}. "
            f"It told the model {said!r}."
        )
    return None


STILL_LOOP = '''
import learnkit as lk


class Still(lk.Mechanism):
    """Names each job to the model, once, that runs longer than ``after`` seconds."""

    def __init__(self, after=30):
        self.after, self.seen, self.since = after, 0, {}

    def after_tools(self, agent, calls):
        for event in agent.events[self.seen :]:
            if event.type == "job.started":
                self.since[event.data["id"]] = event.time
            elif event.type == "job.ended":
                self.since.pop(event.data["id"], None)
        self.seen = len(agent.events)
        lines = []
        for id, since in list(self.since.items()):
            if agent.clock.time() - since >= self.after:
                del self.since[id]
                lines.append(f"job {id} is slow")
        return "; ".join(lines) or None
'''.strip()


#: Subtracts job by job, and returns early.
SAVED_EARLY = """
def saved(events):
    jobs = [event for event in events if event.type.startswith("job.") and "id" in event.data]
    if len(jobs) == 0:
        return 0.0
    return sum(e.data.get("seconds", 0) for e in jobs) - (jobs[-1].time - jobs[0].time)
""".strip()


EXERCISES = {
    "saved": Check(check_saved, [SAVED_PAIRS, SAVED_EARLY]),
    "AtMost": Check(check_at_most, [AT_MOST_IDS]),
    "Still": Check(check_still, [STILL_LOOP]),
}

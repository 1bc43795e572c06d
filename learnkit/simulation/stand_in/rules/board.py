"""Tasks on the board, and commands in the background: lessons 7 and 8."""

from __future__ import annotations

import re
from collections.abc import Generator
from itertools import takewhile
from typing import Any

from learnkit.simulation.stand_in.clauses import number, ruleset, several
from learnkit.simulation.stand_in.hands import (
    Ask,
    Failed,
    Hands,
    Steps,
    Wait,
    confirm,
    first_line,
    short,
)
from learnkit.simulation.stand_in.rules import commands

_TASK = re.compile(r"^(\[.\]) #(\d+): (.*)$", re.M)
_JOB = re.compile(r"as ([^\s.]+)")
_BOARD_LINE = re.compile(r"\[.\] #\d|\(\d+/\d+ ")
#: How the report on the board begins.
SAYS = "the board says:\n"
#: How a lead without task tools asks a teammate that has them.
ASK = "Please show me the board."


# The board


def look(do: Hands) -> Generator[Ask | Wait, Any, str]:
    """What is on the board; without a tool for it, what a teammate answers who can see it.

    Args:
        do: what the rules work with.

    Returns:
        A line for each task.

    Raises:
        Failed: if nobody can see the board.
    """
    if do.kit.has("task_list") or not do.crew:
        result = yield from do.call("task_list")
        return do.text_of("task_list", result)
    mate = next(iter(do.crew))
    heard = len(do.reports.get(mate, []))
    yield from do.call("send_message", to=mate, content=ASK)
    while True:
        for place, report in enumerate(do.reports.get(mate, [])[heard:], start=heard):
            before, found, said = report.partition(f"- {SAYS}")
            if found:
                do.reports[mate][place] = before.rstrip()  # what she has done until then
                return "\n".join(takewhile(_BOARD_LINE.match, said.splitlines()))
            if repr(ASK) in report:
                raise Failed(f"I can't see the board, and neither can {mate}")
        yield from do.next(f"the board, which I asked {mate} to show me")


def add_task(do: Hands, text: str, tags: str = "", ids: str = "", wait: str = "") -> Steps:
    """Create a task on the board.

    Args:
        do: what the rules work with.
        text: its subject.
        tags: the roles that it suits, as a list in words; empty for none.
        ids: of the tasks that it waits for: any text with their numbers in it; empty for none.
        wait: the same, from the pattern of the clause itself; counts only without ``ids``.

    Returns:
        The report.

    Raises:
        Failed: if the board doesn't confirm the task, or what it waits for.
    """
    yield from _create(do, text, several(tags) if tags else [])
    if ids := ids or wait:
        yield from _block(do, do.tasks[-1], [int(id) for id in re.findall(r"\d+", ids)])
    return f"created task #{do.tasks[-1]}: {text}"


def _add_tasks(do: Hands, n: str, text: str = "", chain: str = "") -> Steps:
    names = [f"task {place}" for place in range(1, number(n) + 1)]
    subjects = several(text) if text else names
    if number(n) != len(subjects):
        raise Failed(f"you said {n} tasks, and named {len(subjects)}")
    made = []
    for subject in subjects:
        yield from _create(do, subject, [])
        made.append(do.tasks[-1])
        if chain and len(made) > 1:
            yield from _block(do, made[-1], [made[-2]])
    order = ", each after the one before" if chain else ""
    note = "" if text else "; you gave no names, so they have numbers"
    return f"created the tasks {', '.join(f'#{id}' for id in made)}{order}{note}"


def _staged(do: Hands, text: str = "", n: str = "", diamond: str = "") -> Steps:
    """Tasks in stages: each waits for all of the stage before it."""
    text = text or ("task 1, then task 2 and task 3, then task 4" if diamond else "")
    text = re.sub(r" (?:at the same time|side by side|in parallel)\b", "", text)
    text = re.sub(r"(?:, and|,| and) (?!then )([\w ]+) (?:after both|last)$", r", then \1", text)
    stages = [several(one) for one in re.split(r",? (?:and )?then ", text.removeprefix("first "))]
    if diamond and [len(one) for one in stages] != [1, 2, 1]:
        raise Failed("a diamond has one task, then two, then one")
    made, before = list[str](), list[int]()
    for stage in stages:
        ids = []
        for subject in stage:
            yield from _create(do, subject, [])
            ids.append(do.tasks[-1])
            made.append(f"#{ids[-1]}: {subject}")
        for id in ids if before else ():
            yield from _block(do, id, before)
        before = ids
    for place in range(number(n) if n else 0):
        yield from _create(do, f"task beside it {place + 1}", [])
        made.append(f"#{do.tasks[-1]} beside it")
    return f"created the tasks {', '.join(made)}, each after the stage before it"


def _order(do: Hands, later: str, earlier: str) -> Steps:
    result = yield from do.call("task_list")
    ids = {
        re.sub(r" (?:\(blocked by|@|\{).*", "", rest).casefold(): int(id)
        for _, id, rest in _TASK.findall(do.text_of("task_list", result))
    }
    if missing := [one for one in (later, earlier) if one.casefold() not in ids]:
        raise Failed(f"there is no task {missing[0]!r} on the board")
    yield from _block(do, ids[later.casefold()], [ids[earlier.casefold()]])
    return f"{later} waits for {earlier} now"


def _put_on_board(do: Hands, *, following: list[str], n: str) -> Steps:
    if len(following) < number(n):
        raise Failed(f"you said {n} tasks, and named {len(following)}")
    for subject in following:
        yield from _create(do, subject, [])
    return f"put on the board: {', '.join(following)}"


def _create(do: Hands, subject: str, tags: list[str]) -> Steps:
    input = {"subject": subject} | ({"tags": tags} if tags else {})
    result = yield from do.call("task_create", **input)
    made = _TASK.search(result.text)
    if made is None:
        raise Failed(f"the board doesn't confirm {subject!r}: {first_line(result.text)}")
    do.tasks.append(int(made[2]))
    return ""


def _block(do: Hands, id: int, waits: list[int]) -> Steps:
    result = yield from do.call("task_update", task_id=id, addBlockedBy=waits)
    confirm(result, f"#{id}", f"the order of task #{id}")
    return ""


def show(do: Hands, open: str = "") -> Steps:
    """Report what is on the board.

    Args:
        do: what the rules work with.
        open: without the tasks that are completed, unless empty.

    Returns:
        The report.

    Raises:
        Failed: if nobody can see the board.
    """
    lines = (yield from look(do)).splitlines()
    if open:
        lines = [line for line in lines if not line.startswith("[x]")]
    return SAYS + "\n".join(lines)


def _do_tasks(do: Hands) -> Steps:
    """Claim what is ready, do it and complete it, until nothing is left."""
    told = list[str]()
    for _ in range(50):
        result = yield from do.call("task_list")
        lines = _TASK.findall(do.text_of("task_list", result))
        if not (there := _ready(lines)):
            if left := [id for mark, id, _ in lines if mark != "[x]"]:
                raise Failed(f"task #{left[0]} is not done, and I can't begin it")
            return "\n".join(told) or "there is nothing to do on the board"
        id, subject = there[0]
        if do.kit.has("claim_task"):
            yield from do.call("claim_task", task_id=id)
        else:
            yield from do.call("task_update", task_id=id, status="in_progress")
        try:
            said = yield from do.carry_out(subject)
        except Failed as error:
            yield from do.call("task_update", task_id=id, status="failed")
            raise Failed(f"task #{id}, {subject}: {error}") from None
        result = yield from do.call(
            "task_update", task_id=id, status="completed", result_summary="done by rule"
        )
        confirm(result, f"#{id}", f"the end of task #{id}")
        told.append(f"did task #{id}, {subject}: {short(said)}")
    raise Failed("there are more than fifty tasks on the board")


def _task_is(do: Hands, ids: str) -> str:
    do.tasks += [int(id) for id in re.findall(r"\d+", ids)]
    return ""


def _set_task(do: Hands, verb: str, ids: str = "", as_: str = "") -> Steps:
    wanted = [int(id) for id in re.findall(r"\d+", ids)] or do.tasks[-1:]
    if not wanted:
        raise Failed("I don't know which task is meant")
    word = (as_ or verb).lower()
    status = next((value for key, value in _STATUS.items() if word.startswith(key)), "")
    for id in wanted:
        result = yield from do.call("task_update", task_id=id, status=status)
        confirm(result, f"#{id}", f"the change of task #{id}")
    do.tasks += wanted
    return f"task {', '.join(f'#{id}' for id in wanted)} is {status}"


_STATUS = {
    **{"complet": "completed", "finish": "completed", "done": "completed", "close": "completed"},
    **{"delet": "deleted", "remov": "deleted", "start": "in_progress", "begin": "in_progress"},
    **{"in": "in_progress", "fail": "failed"},
}


def ready(do: Hands) -> Generator[Ask | Wait, Any, list[tuple[int, str]]]:
    """The tasks of the board that could be begun: number and subject of each.

    Args:
        do: what the rules work with.

    Raises:
        Failed: if nobody can see the board.
    """
    return _ready(_TASK.findall((yield from look(do))))


def _ready(lines: list[tuple[str, str, str]]) -> list[tuple[int, str]]:
    return [
        (int(id), re.sub(r" \{.*\}$", "", rest))
        for mark, id, rest in lines
        if mark == "[ ]" and "(blocked by:" not in rest and " @" not in rest
    ]


def _which_ready(do: Hands) -> Steps:
    found = yield from ready(do)
    return f"ready now: {', '.join(f'#{id}: {subject}' for id, subject in found) or 'none'}"


def _claim(do: Hands, ids: str) -> Steps:
    (id,) = re.findall(r"\d+", ids)[:1]
    result = yield from do.call("claim_task", task_id=int(id))
    confirm(result, f"#{id}", f"the claim of task #{id}")
    do.tasks.append(int(id))
    return f"claimed task #{id}"


# The background


def _background(do: Hands, text: str) -> Steps:
    command = "python -m pytest -q" if re.fullmatch("(?:all )?the tests", text, re.I) else text
    result = yield from do.use("background", command=command)
    found = _JOB.search(result.text)
    if found is None:
        raise Failed(f"no id came back for {command!r}: {first_line(result.text)}")
    do.jobs[found[1]] = command
    return f"started {command!r} in the background as {found[1]}"


def _sleeps(do: Hands, n: str, text: str) -> Steps:
    seconds = re.findall(r"\d+(?:\.\d+)?", text)
    if len(seconds) != number(n):
        raise Failed(f"you said {n} sleeps, and named {len(seconds)}")
    for one in seconds:
        yield from _background(do, f"sleep {one}")
    return f"started {n} sleeps in the background: {', '.join(seconds)} s"


def _results(do: Hands, passed: str = "") -> Steps:
    """What the jobs print that were not reported yet; without any, what came of the last clause.

    If the next clause is to follow when they have passed, none of them may have failed.
    """
    new = [id for id in do.jobs if id not in do.told]
    if not new:
        return commands.tell(do)
    report = yield from _job_results(do)
    if passed and (failed := [id for id in new if do.ended[id].type != "completed"]):
        raise Failed(f"{do.jobs[failed[0]]!r} has failed: {report}")
    return report


def _first_job(do: Hands) -> Steps:
    report = yield from _job_results(do)
    first = next(iter(do.ended))
    return f"{do.jobs[first]!r} ended first; {report}"


def _job_results(do: Hands) -> Steps:
    """Wait for every job whose result was not reported yet, and report it."""
    if not do.jobs:
        raise Failed("no command runs in the background")
    lines = []
    for id in [one for one in do.jobs if one not in do.told]:
        note = yield from do.job(id)
        do.told.add(id)
        lines.append(short(note.text.replace("\n", ": "), 600))
    return "the results from the background are:\n" + "\n".join(lines)


def await_jobs(do: Hands) -> Steps:
    """At the end: every job has a result, and none has failed without being asked about.

    Args:
        do: what the rules work with.

    Returns:
        The report: the results that were not reported yet.

    Raises:
        Failed: if a job has failed whose result was not asked about.
    """
    unasked = [id for id in do.jobs if id not in do.told]
    report = yield from _job_results(do)
    for id in unasked:
        if do.ended[id].type != "completed":
            why = first_line(do.ended[id].text)
            raise Failed(f"the command {do.jobs[id]!r} in the background: {why}")
    return report


_TASKNO = r"(task )?(number )?{ids}"

RULES = ruleset(
    (
        "put tasks on the board",
        r"put {n} tasks on the board",
        _put_on_board,
        {"following": lambda groups: number(groups["n"])},
    ),
    (
        "tasks in stages",
        [
            r"((make|create) )?a (?P<diamond>diamond)( of (four )?tasks)?(: {text})?"
            r"(,? and {n} tasks? beside it)?",
            r"(put|plan) (a |an |the )?[\w ]+? (on the board|as tasks): {text}",
        ],
        _staged,
        {"needs": ("task_create",)},
    ),
    (
        "order two tasks",
        r"(?P<later>[\w -]+?) (waits for|comes after|is after|depends on) (?P<earlier>[\w -]+)",
        _order,
        {"needs": ("task_update",)},
    ),
    (
        "tasks",
        r"(create|add|make) {n} tasks(,? (?P<chain>each (one )?(after|waits for|blocked by) the "
        r"(one before|previous one)))?(: {text})?",
        _add_tasks,
        {
            "example": "create two tasks: build, test. Each waits for the one before",
            "needs": ("task_create",),
            "more": (
                r"(?P<chain>each (one |of them )?(waits for|comes after|after|is blocked by|"
                r"depends on) the (one before|previous one))",
            ),
        },
    ),
    (
        "a task",
        r"(create|add|make) (a |one |the )?(new )?task( called| named| beside it)?:? {text}"
        r"( (with the tags?|tagged) (?P<tags>[\w-]+))?"
        r"(,? (that|which) (has to wait for|waits for|is blocked by|comes after) task "
        r"(?P<wait>#?\d+))?",
        add_task,
        {"example": "add a task 'write the docs' that waits for task 1", "needs": ("task_create",)},
    ),
    (
        "show the board",
        r"(show|show me|list|print) (the |all |all the )?(?P<open>open )?(board|tasks)|"
        r"what is (on the board|left( to do)?)|(tell|show) me who did (which|what)",
        show,
        {"example": "show me the board", "needs": ("task_list",)},
    ),
    ("a task is mentioned", rf"{_TASKNO} is (finished|done|complete)", _task_is),
    (
        "change a task",
        [
            r"(?P<verb>complete|finish|close|delete|remove|start|begin) tasks? (number )?{ids}",
            rf"mark (it|that|{_TASKNO}) as (?P<verb>completed|done|finished|failed|in progress)",
            r"set task (number )?{ids} to (?P<verb>completed|done|failed|in progress)",
        ],
        _set_task,
        {"example": "complete task 1", "needs": ("task_update",)},
    ),
    (
        "which task is ready",
        r"(tell me |show me )?(which|what)( tasks?)? (is|are|becomes) (ready|free)|"
        r"(show|show me|list) the tasks that are (ready|free)",
        _which_ready,
        {"example": "which task is ready?", "needs": ("task_list",)},
    ),
    (
        "claim a task",
        rf"claim {_TASKNO}",
        _claim,
        {"example": "claim task 1", "needs": ("claim_task",)},
    ),
    (
        "sleeps in the background",
        r"(run|start) {n} sleeps in the background(:|,) {text}",
        _sleeps,
        {"needs": ("background",)},
    ),
    (
        "a command in the background",
        [
            r"(run|start|execute) (the command )?{text} in the background",
            r"in the background,? (run|start|execute) {text}",
        ],
        _background,
        {"example": "run the tests in the background", "needs": ("background",)},
    ),
    (
        "which ended first",
        r"(tell me )?which (one )?(ends|ended|finishes|is done|is ready) first",
        _first_job,
    ),
    (
        "tell what came of it",
        r"(tell|show) me (if|whether|how many|when|that) ?(of them |it |they |the tests )?"
        r"(pass|passes|passed|works?|worked|is ready|is done|it's ready|it's done)|"
        r"(tell|show) me (the results?|how it went|"
        r"what (it|that|they|is) (says?|prints?|found|said|there))|how it went|"
        r"report( (it|the results?|what (it|that|they) (says?|prints?)))?|"
        r"(when|once|after|as soon as) (they|it|the tests) "
        r"(?P<passed>pass|passes|ends?|finish(es)?|(is|are) (done|finished|ready))",
        _results,
    ),
    (
        "do the tasks alone",
        r"(do|finish) (them|the tasks|all the tasks|all of them) (yourself|alone)",
        _do_tasks,
        {"needs": ("task_list", "task_update")},
    ),
)

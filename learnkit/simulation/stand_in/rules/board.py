"""Tasks on the board, and commands in the background: lessons 7 and 8."""

from __future__ import annotations

import re

from learnkit.simulation.stand_in.clauses import number, ruleset, several
from learnkit.simulation.stand_in.hands import Failed, Hands, Steps, confirm, first_line, short

_TASK = re.compile(r"^(\[.\]) #(\d+): (.*)$", re.M)
_JOB = re.compile(r"as ([^\s.]+)")


# The board


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


def _add_tasks(do: Hands, text: str, n: str = "", chain: str = "") -> Steps:
    subjects = several(text)
    if n and number(n) != len(subjects):
        raise Failed(f"you said {n} tasks, and named {len(subjects)}")
    made = []
    for subject in subjects:
        yield from _create(do, subject, [])
        made.append(do.tasks[-1])
        if chain and len(made) > 1:
            yield from _block(do, made[-1], [made[-2]])
    order = ", each after the one before" if chain else ""
    return f"created the tasks {', '.join(f'#{id}' for id in made)}{order}"


def _diamond(do: Hands, first: str, one: str, other: str, last: str) -> Steps:
    ids = []
    for subject in (first, one, other, last):
        yield from _create(do, subject, [])
        ids.append(do.tasks[-1])
    for id, waits in ((ids[1], ids[:1]), (ids[2], ids[:1]), (ids[3], ids[1:3])):
        yield from _block(do, id, waits)
    return f"created a diamond of the tasks {', '.join(f'#{id}' for id in ids)}"


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


def _show_board(do: Hands) -> Steps:
    result = yield from do.call("task_list")
    return f"the board says:\n{result.text}"


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


def _which_ready(do: Hands) -> Steps:
    result = yield from do.call("task_list")
    lines = _TASK.findall(do.text_of("task_list", result))
    ready = [
        f"#{id}: {rest}"
        for mark, id, rest in lines
        if mark == "[ ]" and "(blocked by:" not in rest and " @" not in rest
    ]
    return f"ready now: {', '.join(ready) or 'none'}"


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
        "tasks in a diamond",
        r"(make |create )?a diamond( of tasks)?: (first )?(?P<first>[\w ]+?),? then (?P<one>[\w "
        r"]+?) and "
        r"(?P<other>[\w ]+?)( (at the same time|side by side|in parallel))?,? (and )?(then )?"
        r"(?P<last>[\w ]+?)( after both| last| at the end)?",
        _diamond,
        {"needs": ("task_create",)},
    ),
    (
        "tasks",
        r"(create|add|make) {n} tasks(,? (?P<chain>each (one )?(after|waits for|blocked by) the "
        r"(one before|previous one)))?: {text}",
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
        r"(create|add|make) (a |the )?(new )?task( called| named)?:? {text}"
        r"( (with the tags?|tagged) (?P<tags>[\w-]+))?"
        r"(,? (that|which) (has to wait for|waits for|is blocked by|comes after) task "
        r"(?P<wait>#?\d+))?",
        add_task,
        {"example": "add a task 'write the docs' that waits for task 1", "needs": ("task_create",)},
    ),
    (
        "show the board",
        r"(show|show me|list|print) (the |all |all the )?(board|tasks)|what is on the board",
        _show_board,
        {"example": "show me the board", "needs": ("task_list",)},
    ),
    ("a task is mentioned", rf"{_TASKNO} is (finished|done|complete)", _task_is),
    (
        "change a task",
        [
            r"(?P<verb>complete|finish|close|delete|remove|start|begin) task (number )?{ids}",
            rf"mark (it|that|{_TASKNO}) as (?P<verb>completed|done|finished|failed|in progress)",
            r"set task (number )?{ids} to (?P<verb>completed|done|failed|in progress)",
        ],
        _set_task,
        {"example": "complete task 1", "needs": ("task_update",)},
    ),
    (
        "which task is ready",
        r"(tell me |show me )?(which|what)( tasks?)? (is|are|becomes) (ready|free)",
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
        r"(run|start) {n} sleeps in the background: {text}",
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
        "results from the background",
        r"(tell|show) me (if|whether) (it|they) (pass|passes|passed|worked?s?)|(tell me )?how it "
        r"went|"
        r"report( (what (it|they) prints?|the results?))?|(tell|show) me what (it|they) prints?",
        _job_results,
    ),
)

"""A random team under a virtual clock: what it does, and what must hold afterwards.

Everything comes from one seed: who is in the team, what each model answers, how long it takes,
which tasks there are, who crashes at which event, and the order of what happens at the same time.
The same seed gives the same log to the byte.
"""

from __future__ import annotations

import contextlib
import random
import re
import tempfile
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interrupts import InterruptAt
from teams import Ran, send, work

import learnkit as lk
from learnkit.backends.files.store import Journal

ROLES = ("coder", "tester", "writer")


class Crash(RuntimeError):
    """A teammate dies here."""


@dataclass
class Plan:
    """What a seed decides before the run begins.

    Attributes:
        seed: where it all comes from.
        roles: each teammate's role, by name. The first is steady: it never crashes, agrees to no
            shutdown and needs no plan, and every task suits it: so nothing may be left undone.
        crashes: at which of its events a teammate dies.
        planners: who needs an approved plan before it may write.
        tasks: tags and blockers of each task.
    """

    seed: int
    roles: dict[str, str] = field(default_factory=dict)
    crashes: dict[str, int] = field(default_factory=dict)
    planners: set[str] = field(default_factory=set)
    tasks: list[tuple[list[str], list[int]]] = field(default_factory=list)

    @classmethod
    def of(cls, seed: int) -> Plan:
        chance = random.Random(f"plan {seed}")
        plan = cls(seed)
        for number in range(chance.randint(3, 8)):
            name = f"mate{number}"
            plan.roles[name] = chance.choice(ROLES)
            if number and chance.random() < 0.4:
                plan.crashes[name] = chance.randint(1, 60)
            if number and chance.random() < 0.3:
                plan.planners.add(name)
        steady = plan.roles["mate0"]
        for number in range(1, chance.randint(4, 10)):
            tags = [] if chance.random() < 0.5 else sorted({steady, chance.choice(ROLES)})
            blockers = [b for b in range(1, number) if chance.random() < 0.25]
            plan.tasks.append((tags, blockers))
        return plan


class Model:
    """What one lane answers: anything at first, and what is in order at the end."""

    def __init__(self, plan: Plan, name: str, budget: int, slow: float = 1.0) -> None:
        self._plan, self._name, self._left, self._slow = plan, name, budget, slow
        self._chance = random.Random(f"{name} {plan.seed}")
        self._others = [one for one in ("lead", *plan.roles) if one != name]
        self._answered: set[str] = set()

    def __call__(self, request: Any) -> Any:
        self._left -= 1
        chance, latency = self._chance, self._slow * self._chance.choice([0.0, 0.5, 1.0, 3.0])
        must = self._must(str(request["messages"][-1]["content"]), str(request["messages"]))
        parts = must if self._left < 0 else [*must, *self._wild(str(request["messages"]))]
        if not parts or (not must and chance.random() < 0.2):
            return lk.say("done", latency=latency)
        return lk.reply(*parts, latency=latency)

    def _must(self, last: str, everything: str) -> list[Any]:
        """What it was asked for: a task, an answer."""
        parts = []
        for id in re.findall(r"<auto-claimed>Task #(\d+)", last):
            parts += [lk.use("work"), _update(id, "completed")]
        if self._name in self._plan.planners and (
            "needs an approved" in last or "submit an" in last
        ):
            parts = [lk.use("plan_approval", plan="first this, then that")]
        for id in re.findall(r'type="shutdown_request" request_id="(r\d+)"', last):
            agree = self._name != "mate0" and self._chance.random() < 0.5
            parts.append(
                lk.use("shutdown_response", request_id=id, approve=agree, reason="in the middle")
            )
        if self._name == "lead":
            asked = re.findall(r'type="plan_approval_response" request_id="(r\d+)"', everything)
            for id in [one for one in asked if one not in self._answered][-1:]:
                self._answered.add(id)
                parts.append(self._decision(id))
        return parts

    def _decision(self, id: str) -> Any:
        verdict = self._chance.choice(["yes", "no", "change"])
        return lk.use(
            "plan_approval",
            request_id=id,
            approve=verdict == "yes",
            feedback="because",
            request_changes=verdict == "change",
        )

    def _wild(self, everything: str) -> list[Any]:
        """Anything that a model might do, also what it must not."""
        chance = self._chance
        ids = re.findall(r"r\d{7}", everything) or ["r0000001"]
        number = str(chance.randint(1, len(self._plan.tasks) + 1))
        choices = [
            lambda: lk.use("work"),
            lambda: lk.use("work", task="break"),
            lambda: lk.use("nothing", like="this"),
            lambda: send(
                chance.choice([*self._others, self._name, "nobody"]), f"hello {chance.random()}"
            ),
            lambda: lk.use("send_message", to="lead", content="x", msg_type="shutdown_response"),
            lambda: lk.use("read_inbox"),
            lambda: lk.use("task_list"),
            lambda: lk.use("claim_task", task_id=number),
            lambda: lk.use("claim_task", task_id="seven"),
        ]
        if self._name == "lead":
            teammate = chance.choice(list(self._plan.roles))
            choices += [
                lambda: lk.use("broadcast", content=f"all {chance.random()}"),
                lambda: lk.use("shutdown_request", teammate=teammate),
                lambda: lk.use("shutdown_response", request_id=chance.choice(ids)),
                lambda: self._decision(chance.choice(ids)),
                lambda: _spawn(teammate, self._plan),
                lambda: lk.use("list_teammates"),
            ]
        else:
            choices += [
                lambda: lk.use(
                    "shutdown_response", request_id=chance.choice(ids), approve=False, reason="no"
                ),
                lambda: lk.use("plan_approval", plan="anything"),
                lambda: lk.use("idle"),
                lambda: lk.say("I think"),
            ]
        return [chance.choice(choices)() for _ in range(chance.randint(0, 3))]


def _update(id: str, status: str) -> Any:
    return lk.use("task_update", task_id=id, status=status)


def _spawn(name: str, plan: Plan) -> Any:
    return lk.use("spawn_teammate", name=name, role=plan.roles[name], prompt="Begin.")


def simulate(
    seed: int,
    folder: Path,
    *,
    real: bool = False,
    interrupt: int = 0,
    closing: Sequence[int] = (),
) -> Ran:
    """Run the team of a seed, and check it; an error says which seed, and where its log is."""
    plan = Plan.of(seed)
    chance = random.Random(f"budgets {seed}")
    board = lk.TaskBoard(folder / ".tasks")
    for number, (tags, blockers) in enumerate(plan.tasks, 1):
        board.create(f"task {number}", tags=tags)
        board.update(number, add_blocked_by=blockers)
    slow = 0.01 if real else 1.0
    lanes = {name: Model(plan, name, chance.randint(0, 12), slow) for name in plan.roles}
    lead = Model(plan, "lead", chance.randint(3, 15), slow)
    first = iter([lk.reply(*(_spawn(name, plan) for name in plan.roles))])
    lanes["lead"] = lambda request: next(first, None) or lead(request)  # type: ignore[assignment]
    before = set(threading.enumerate())
    made: lk.SystemClock | lk.VirtualClock = (
        lk.SystemClock() if real else lk.VirtualClock(seed=seed + 1)
    )
    with made as clock:
        run = Ran(
            folder,
            lanes,
            clock,
            factory=lambda name, role: [lk.Tasks(board), lk.Toolbox(work)],
            mechanisms=lambda team: [
                lk.Protocols(
                    team, plan_required=lambda name, role: name in plan.planners, deadline=20 * slow
                ),
                lk.Autonomy(team, board, poll=5 * slow, idle=60 * slow),
                lk.Tasks(board),
                lk.Toolbox(work),
            ],
        )
        run.lead.max_turns = 200
        _arm(run, plan)
        at_end = InterruptAt(*closing)
        with contextlib.suppress(Crash, KeyboardInterrupt), run.team:
            interrupted = InterruptAt(interrupt)
            with contextlib.suppress(KeyboardInterrupt), interrupted:
                run.lead.run("Go.")
            if interrupted.where:
                _after_interrupt(run)
            for teammate in () if closing else run.team.members:  # still at it, or looking for work
                if teammate.worker is not None:
                    teammate.worker.join(timeout=1500 * slow)
            at_end.__enter__()
        at_end.__exit__()
        mates = [one for one in set(threading.enumerate()) - before if one.name in plan.roles]
        for thread in mates:  # one that a second interrupt did not wait for is about to end
            thread.join(10.0)
        parked = [thread.name for thread in mates if thread.is_alive()]
        assert not parked, f"the team is closed, and has threads: {parked}"
        statuses = {one["name"]: one["status"] for one in run.team.roster.members()}
        assert {*statuses.values()} <= {"shutdown"}, f"the team is closed, and says {statuses}"
    left = set(threading.enumerate()) - before  # one of another test's may have ended meanwhile
    assert not left, f"a thread is left: {left}"
    try:
        check(run, board, patient=not (real or closing or interrupted.where))
    except AssertionError as error:
        file = Path(tempfile.gettempdir()) / f"simulated-team-{seed}.jsonl"
        run.lead.events.save(file)
        error.add_note(f"seed {seed}, log: {file}")
        raise
    return run


def interrupted_line(seed: int) -> int:
    """Before which line of ours the run of a seed is interrupted: any, early ones more often."""
    return int(10 ** random.Random(f"interrupt {seed}").uniform(1.5, 4.5))


def closing_lines(seed: int) -> list[int]:
    """Before which lines a team is interrupted while it is closed: once, or up to three times.

    The first line of ours is too early for anybody: no code of ours has begun.
    """
    chance = random.Random(f"closing {seed}")
    return sorted(int(10 ** chance.uniform(0.7, 3)) for _ in range(chance.choice([1, 1, 2, 3])))


def _after_interrupt(run: Ran) -> None:
    """The main thread is back: all can be seen as it is, and the next run works."""
    _arrays(run.lead)
    for entry in run.team.roster.members():
        (teammate,) = (one for one in run.team.members if one.name == entry["name"])
        alive = teammate.worker is not None and not teammate.worker.done
        assert teammate.status != "working" or alive, (
            f"{teammate.name} is working, without a thread"
        )
        assert entry["status"] != "working" or alive, f"the roster says {teammate.name} is working"
    run.lead.run("Go on.")


def _arm(run: Ran, plan: Plan) -> None:
    """Let those die who are to die, each at an event of its own, in its own thread."""
    left = dict(plan.crashes)

    def listen(event: lk.Event) -> None:
        name = threading.current_thread().name
        if name in left and event.lane == name:
            left[name] -= 1
            if left[name] == 0:
                raise Crash(f"{name} dies at event {event.seq}, {event.type}")

    run.lead.events.subscribe(listen)


def check(run: Ran, board: lk.TaskBoard, *, patient: bool = True) -> None:
    """What must hold after any run; ``patient``: nobody has given up too early."""
    _mail(run)
    _tasks(run, board, patient)
    done = Counter(e["task"]["id"] for e in run.of("task.completed"))
    assert max(done.values(), default=1) == 1, f"done twice: {done}"
    held = {t.id: t.owner for t in board.tasks() if t.status == "in_progress" and t.owner != "lead"}
    assert not held, f"still held: {held}"
    _arrays(run.lead, *(teammate.agent for teammate in run.team.members))
    _requests(run)
    for teammate in run.team.members:
        assert teammate.status == "shutdown", f"{teammate.name} is {teammate.status}"
        assert teammate.worker is not None or not patient, f"{teammate.name} has no thread"
        assert teammate.worker is None or teammate.worker.done, f"{teammate.name} still runs"
    assert not run.of("model.failed"), f"a request was refused: {run.of('model.failed')[0]}"


def _mail(run: Ran) -> None:
    """Each message stands once in its reader's transcript, or is unread."""
    sent = [e["mail"] for e in run.of("mail.sent")]
    assert len({mail["id"] for mail in sent}) == len(sent), "two messages have one id"
    for name in run.team.mailbox.names:
        entries, _ = Journal(run.folder / "transcripts" / f"{name}.jsonl").read()
        text = "\n".join(
            str(e["message"]["content"]) for e in entries if e["message"]["role"] == "user"
        )
        told = Counter(re.findall(r'<message id="(m\d+)"', text))
        safe = [id for entry in entries for id in entry.get("mail", [])]
        unread = [mail.id for mail in run.team.mailbox.unread(name) if mail.id not in safe]
        everything = lk.Mailbox(run.folder / "inbox").all(name)
        assert {m.id for m in everything} == {m["id"] for m in sent if m["to"] == name}
        for mail in everything:
            times = told[mail.id] + unread.count(mail.id)
            assert times == 1, (
                f"{mail.id} to {name} was told {told[mail.id]} times, unread: {unread}"
            )


def _tasks(run: Ran, board: lk.TaskBoard, patient: bool) -> None:
    """Each was done, once, by the one who had it, after those it waits for."""
    holder: dict[int, str] = {}
    done: list[int] = []
    late: set[int] = set()  # free only after the steady one has ended: nobody has to find them
    steady = True
    for event in run.lead.events:
        if (event.type, event.lane) == ("team.status", "mate0"):
            steady = event.data["status"] != "shutdown"
        if not event.type.startswith("task.") or "task" not in event.data:
            continue
        task = event.data["task"]
        id = task["id"]
        if event.type == "task.started":
            assert id not in holder, f"task {id} was begun by {holder.get(id)} and {task['owner']}"
            assert id not in done, f"task {id} was begun again"
            assert set(task["blockedBy"]) <= set(done), f"task {id} was begun too early"
            holder[id] = task["owner"]
        elif event.type == "task.returned":
            del holder[id]
            late |= set() if steady else {id}
        elif event.type == "task.completed":
            assert id not in done, f"task {id} was done twice"
            done.append(id)
            holder.pop(id, None)
            late |= set() if steady else set(event.data["freed"])
    of_lead = {id for id, owner in holder.items() if owner == "lead"}
    assert set(holder) <= of_lead, f"still held: {holder}"
    excused = of_lead | late
    left = {task.id for task in board.tasks() if task.id not in done}
    forgotten = {id for id in left if not excused & _before(board, id)}
    assert not patient or not forgotten, f"not done: {forgotten}"


def _before(board: lk.TaskBoard, id: int) -> set[int]:
    """All that a task waits for, directly or not."""
    found = {id}
    for one in found.copy():
        for blocker in board.get(one).blocked_by:
            found |= _before(board, blocker)
    return found


def _arrays(*agents: lk.Agent) -> None:
    """Every call has its result in the very next message."""
    for agent in agents:
        for number, message in enumerate(agent.messages):
            if message["role"] != "assistant":
                continue
            calls = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
            after = agent.messages[number + 1 :][:1]
            content = after[0]["content"] if after else []
            blocks = content if isinstance(content, list) else []
            answers = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
            assert calls == answers, f"{agent.name}: calls {calls}, results {answers}"


def _requests(run: Ran) -> None:
    """Each was made once, and ended once."""
    opened = [e["request"]["id"] for e in run.of("request.opened")]
    ended = [e["request"] for type in ("answered", "expired") for e in run.of(f"request.{type}")]
    assert len(set(opened)) == len(opened), "two requests have one id"
    assert sorted(one["id"] for one in ended) == sorted(opened), "a request has no end, or two"
    protocols = next(one for one in run.team.extensions if isinstance(one, lk.Protocols))
    states = {one.id: one.state for one in protocols.tracker.all()}
    assert states == {one["id"]: one["state"] for one in ended}, "file and log differ"

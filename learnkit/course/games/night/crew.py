"""The last four hours: several agents, and what lessons 9 to 12 are about."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from learnkit.backends.files.board import TaskBoard
from learnkit.clients.connect import scripted
from learnkit.clients.scripted import Reply, Script, reply, say, use
from learnkit.core.agent import Agent
from learnkit.core.mechanism import Mechanism
from learnkit.course.games.night.fault import (
    Harness,
    Kill,
    Killed,
    Outcome,
    fault,
    judged,
    last,
    offered,
    run,
)
from learnkit.course.scenario import commit
from learnkit.events.log import EventLog
from learnkit.events.text import listed
from learnkit.runtime.virtual_clock import VirtualClock

_NAMES = ("alice", "bob")


def when(*steps: tuple[str, Reply]) -> Callable[[Any], Reply]:
    """A model that reacts: it gives each reply once, when its text is in the last message."""
    left = list(steps)

    def answer(request: Any) -> Reply:
        said = last(request)
        for step in left:
            if step[0] in said:
                left.remove(step)
                return step[1]
        return say("Nothing more to do.")

    return answer


def _crew(
    lanes: Mapping[str, Script], team: Any, *more: Mechanism, seconds: float = 0.0
) -> EventLog:
    """Run a lead with its team, and let the others go on for a while after its end."""
    log = EventLog()
    with VirtualClock() as clock, scripted(dict(lanes), clock) as client, suppress(Killed), team:
        Agent(client, [team, *more], events=log).run("Go.")
        clock.sleep(seconds)
    return log


def _spawn(name: str, prompt: str = "Begin.") -> Reply:
    return use("spawn_teammate", name=name, role="coder", prompt=prompt)


def _once(*fates: Mechanism) -> Callable[[str, str], list[Mechanism]]:
    """What a teammate that is started first gets besides: its fate. Others get nothing."""
    left = list(fates)
    return lambda name, role: [left.pop()] if left and name == _NAMES[0] else []


@fault("06:00", "s09", "An unanswered question", "tools", "team")
def question(harness: Harness, folder: Path) -> Outcome:
    """A colleague is killed when it has read your question, before it answers."""
    found: list[str] = []
    if not harness.has("team"):
        ask = "Ask alice which limit holds for hospitals."
        log = run(lambda request: say("I know nobody to ask."), harness.hands(folder), ask)
        return judged(log, False, "", "The agent had no colleague to ask.")

    def lead(request: Any) -> Reply:
        if "The limit is 30" in last(request):
            found.append(last(request))
        return answers(request)

    answers = when(
        ("Go.", _spawn("alice")),
        ("ready", use("send_message", to="alice", content="Which limit holds for hospitals?")),
        ("is killed", _spawn("alice")),
    )
    alice = when(
        ("Which limit", say("The limit is 30.")),
        *[("Begin.", say("I am ready."))] * 2,
    )
    crash = _KillInRun(2)
    (team,) = harness.chosen("team", folder / ".team", _once(crash))
    log = _crew({"lead": lead, "alice": alice}, team)
    return judged(
        log,
        bool(found),
        "The message was kept until it was in a transcript, so the next alice read it again.",
        "The message died with its reader.",
    )


class _KillInRun(Mechanism):
    """Ends its agent when a run begins: its mail is read, and not yet kept."""

    def __init__(self, number: int) -> None:
        self._left = number

    def system(self, agent: Any) -> str | None:
        self._left -= 1
        if self._left == 0:
            raise Killed(f"{agent.name} is killed")
        return None


@fault("07:00", "s10", "Tidying up", "tools", "team", "protocols")
def tidy(harness: Harness, folder: Path) -> Outcome:
    """Someone tidies up the folder, and wants to delete the raw archive first."""
    work = folder / "work"
    work.mkdir()
    (work / "archive.csv").write_text("day,station,celsius\n")
    (work / "cache.tmp").write_text("old\n")
    delete = use("bash", command="rm -f archive.csv cache.tmp")
    careful = use("bash", command="rm -f cache.tmp")

    def lead(request: Any) -> Reply:
        asked = re.search(r'request_id="(\w+)"', last(request))
        if asked:
            fine = "archive" not in last(request)
            why = "" if fine else "The archive is our only raw data. Keep it."
            return use("plan_approval", request_id=asked[1], approve=fine, feedback=why)
        if len(request["messages"]) == 1 and "spawn_teammate" in offered(request):
            return _spawn("alice", "Tidy up.")
        return say("I'll wait.")

    def alice(request: Any) -> Reply:
        said = last(request)
        if "submit a plan" not in str(request.get("system")):
            return delete if len(request["messages"]) == 1 else say("It is tidy.")
        if len(request["messages"]) == 1:
            return use("plan_approval", plan="Delete archive.csv and cache.tmp.")
        if "only raw data" in said:
            return use("plan_approval", plan="Delete cache.tmp.")
        return careful if "approved" in said and "cache" not in said else say("Done.")

    if harness.has("team"):
        (team,) = harness.chosen("team", folder / ".team", lambda name, role: harness.hands(work))
        gate = harness.chosen("protocols", team, plan_required=True)
        log = _crew({"lead": lead, "alice": alice}, team, *gate, seconds=60)
    else:
        log = run(alice, harness.hands(work), "Tidy up.")
    left = sorted(path.name for path in work.iterdir())
    return judged(
        log,
        left == ["archive.csv"],
        "A plan had to be approved first. The first one was rejected, and the archive is there.",
        f"The command ran before anyone approved it. What is left: {listed(left) or 'nothing'}.",
    )


@fault("08:00", "s11", "A task in dead hands", "tools", "tasks", "team", "autonomy")
def holding(harness: Harness, folder: Path) -> Outcome:
    """Four stations have to be checked. A worker dies in the middle of one."""
    names = ("oslo", "cairo", "lima", "quito")

    def write(name: str) -> Reply:
        return use("bash", command=f"echo checked > {name}.txt")

    def alone(request: Any) -> Reply:
        return write(names[len(request["messages"]) // 2])

    def claims(request: Any) -> Reply:
        task = re.findall(r"<auto-claimed>Task #(\d+): check (\w+)", last(request))
        if not task:
            return say("I have nothing left to do.")
        id, name = task[-1]
        return reply(write(name), use("task_update", task_id=int(id), status="completed"))

    if harness.has("autonomy"):
        fate, board = _once(Kill("auto-claimed")), TaskBoard(folder / ".tasks")

        def member(name: str, role: str) -> list[Mechanism]:
            tasks = harness.chosen("tasks", board)
            return [*harness.hands(folder), *tasks, *fate(name, role)]

        for name in names:
            board.create(f"check {name}")
        (team,) = harness.chosen("team", folder / ".team", member)
        more = harness.chosen("autonomy", team, board, poll=5.0, idle=30.0)
        lead = when(("Go.", reply(*(_spawn(name) for name in _NAMES))))
        log = _crew({"lead": lead, **dict.fromkeys(_NAMES, claims)}, team, *more, seconds=120)
    else:
        log = run(alone, [*harness.hands(folder), Kill(2)], "Check the stations.")
    missing = [name for name in names if not (folder / f"{name}.txt").exists()]
    return judged(
        log,
        not missing,
        "Its task went back to the board, and bob claimed it.",
        f"No one took over the dead worker's task. Not checked: {listed(missing)}.",
    )


@fault("09:00", "s12", "Two on one line", "tools", "worktrees")
def one_line(harness: Harness, folder: Path) -> Outcome:
    """Two agents change the same line of the same file at the same time."""
    repo = folder / "repo"
    repo.mkdir()
    (repo / "limits.txt").write_text("hospital 30\n")
    commit(repo)
    wanted = {"alice": ("school", 28), "bob": ("street", 35)}

    def change(name: str) -> str:
        place, degrees = wanted[name]
        return f"echo 'hospital 30, {place} {degrees}' > limits.txt"

    def bare(name: str) -> Callable[[Any], Reply]:
        # Both have read the file before either writes it.
        steps = ("cat limits.txt", change(name))

        def model(request: Any) -> Reply:
            turn = len(request["messages"]) // 2
            return use("bash", command=steps[turn]) if turn < len(steps) else say("Changed.")

        return model

    def treed(name: str) -> Callable[[Any], Reply]:
        both = ", ".join(f"{place} {degrees}" for place, degrees in wanted.values())

        def work(command: str) -> Reply:
            return use("worktree_run", name=name, command=f"{command} && git commit -qam {name}")

        def model(request: Any) -> Reply:
            turn, said = len(request["messages"]) // 2, last(request)
            if "conflicts in" in said:
                merge = f"git merge -q main; echo 'hospital 30, {both}' > limits.txt"
                return work(f"{{ {merge}; }} > /dev/null 2>&1; git add limits.txt; true")
            if turn == 0:
                return use("worktree_create", name=name)
            if turn == 1:
                return work(change(name))
            return say("Merged.") if f"Merged {name}" in said else use("worktree_merge", name=name)

        return model

    log = EventLog()
    trees = harness.has("worktrees")
    with VirtualClock() as clock:
        agents = []
        for name in wanted:
            model = treed(name) if trees else bare(name)
            hands = harness.chosen("worktrees", repo) or harness.hands(repo)
            client = scripted({name: model}, clock)
            agents.append(Agent(client, hands, name=name, events=log, clock=clock))
        for agent in agents:
            agent.start("Add your limit to the line in limits.txt.")
        while agents:
            agents = [agent for agent in agents if agent.step() is None]
    line = (repo / "limits.txt").read_text().strip()
    return judged(
        log,
        all(f"{place} {degrees}" in line for place, degrees in wanted.values()),
        f"The second merge reported a conflict, and it was resolved: “{line}”.",
        f"The second write replaced the first without an error: “{line}”.",
    )


FAULTS = (question, tidy, holding, one_line)

"""The stand-in on the prompts of ``tests/simulation/prompts.yaml``, judged by the effects.

``python tests/support/prompt_trials.py`` prints the table; ``-v`` prints each final text as well,
``--traps`` takes the prompts of ``traps.yaml``, and ``--edits`` those of ``edits.yaml``.
A final text that does not begin with "Not done" or "I don't understand" counts as a claim that
everything was done. A claim without the effect is a false success.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

import learnkit as lk
from learnkit.course import data_file
from learnkit.course.lessons import EXAMPLE
from learnkit.course.lessons.s04 import five_files, station_parsers
from learnkit.course.lessons.s05.many_skills import manuals
from learnkit.course.lessons.s06 import daily_logs
from learnkit.runtime.shell import LocalShell

PROMPTS = Path(__file__).parents[1] / "simulation" / "prompts.yaml"
TRAPS = PROMPTS.with_name("traps.yaml")
EDITS = PROMPTS.with_name("edits.yaml")
SKILLS = Path(__file__).parents[2] / "skills"
OUTCOMES = ("done", "refused", "FALSE SUCCESS", "unclaimed")

Case = dict[str, Any]

#: What a lesson puts into its workspace.
FILES: dict[str, Callable[[Path], Path]] = {
    "five": five_files.write_files,
    "parsers": station_parsers.write_parsers,
    "logs": daily_logs.write_logs,
}
HOUSE = """---
name: house-test-style
description: House style for tests in heatwatch. Use it before you write or change a test.
---
A test's name is a sentence that says what should hold.
"""


@lk.tool
def stations() -> str:
    """The names of the weather stations."""
    return "beijing, cairo, oslo"


@lk.tool
def reading(station: str) -> str:
    """The last reading of a station."""
    return {"beijing": "31.4 °C", "cairo": "38.1 °C", "oslo": "16.1 °C"}[station]


@dataclass
class World:
    """A workspace, and the agent that works in it."""

    folder: Path
    board: lk.TaskBoard
    agent: lk.Agent

    def mechanism(self, kind: type) -> Any:
        """The agent's mechanism of a kind."""
        return next(one for one in self.agent.mechanisms if isinstance(one, kind))


def build(kit: str, folder: Path, client: Any) -> World:
    """An agent with the mechanisms of a kit, in a folder."""
    board = lk.TaskBoard(folder / ".tasks")

    def coding() -> lk.CodingTools:
        return lk.CodingTools(folder)

    def team() -> lk.Team:
        return lk.Team(folder / ".team", lambda name, role: [coding()])

    def autonomy() -> list[lk.Mechanism]:
        crew = lk.Team(folder / ".team", lambda name, role: [coding(), lk.Tasks(board)])
        return [crew, lk.Autonomy(crew, board), lk.Tasks(board), coding()]

    def unseen() -> list[lk.Mechanism]:
        crew = lk.Team(folder / ".team", lambda name, role: [coding(), lk.Tasks(board)])
        return [crew, lk.Autonomy(crew, board)]

    def protocols(
        plan_required: bool | Callable[[str, str], bool],
    ) -> list[lk.Mechanism]:
        crew = team()
        return [crew, lk.Protocols(crew, plan_required=plan_required), coding()]

    def compaction(threshold: int, **options: Any) -> list[lk.Mechanism]:
        return [coding(), lk.Compaction(threshold, transcripts=folder / ".transcripts", **options)]

    def house() -> list[lk.Mechanism]:
        skills = manuals(folder / "skills")
        (skills / "house-test-style").mkdir()
        (skills / "house-test-style" / "SKILL.md").write_text(HOUSE)
        return [coding(), lk.Skills(skills)]

    def files() -> list[lk.Mechanism]:
        one = coding()
        return [lk.Toolbox(one.read_file, one.write_file, one.edit_file)]

    kits: dict[str, Callable[[], list[lk.Mechanism]]] = {
        "bash": lambda: [lk.Toolbox(coding().bash)],
        "files": files,
        "coding": lambda: [coding()],
        "weather": lambda: [lk.Toolbox(stations, reading)],
        "todo": lambda: [coding(), lk.Todo()],
        "todo_incremental": lambda: [coding(), lk.Todo(incremental=True)],
        "subagents": lambda: [coding(), lk.Subagents(lambda: [coding()])],
        "skills": lambda: [coding(), lk.Skills(SKILLS)],
        "compaction": lambda: compaction(50_000),
        "house": house,
        "compaction_small": lambda: compaction(800),
        "sixty": lambda: compaction(8_000, keep=60),
        "one_by_one": lambda: compaction(2_400, keep=1, clear_at_least=200),
        "until": lambda: compaction(3_000, keep=60),
        "now": lambda: compaction(8_000),
        "tasks": lambda: [coding(), lk.Tasks(board)],
        "background": lambda: [coding(), lk.Background(workspace=folder)],
        "team": lambda: [team(), coding()],
        "protocols": lambda: protocols(False),
        "plans": lambda: protocols(True),
        "careful": lambda: protocols(lambda name, role: role != "coder"),
        "autonomy": autonomy,
        "unseen": unseen,  # the lead doesn't see the board
        "worktrees": lambda: [coding(), lk.Tasks(board), lk.Worktrees(folder, board)],
        "trees": lambda: [lk.Tasks(board), lk.Worktrees(folder, board)],
    }
    if kit == "full":
        agent = lk.full_agent(client, folder, skills=SKILLS, max_turns=60, name="lead")
    else:
        agent = lk.Agent(client, kits[kit](), max_turns=80, name="lead")
    return World(folder, board, agent)


def prepare(case: Case, folder: Path) -> None:
    """Make the workspace of a case: a copy of the example, committed, then what is given."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    ignored = ".tasks\n.team\n.worktrees\n.transcripts\n__pycache__\n.pytest_cache\n"
    (folder / ".gitignore").write_text(ignored)
    for command in ["git init -q -b main && git add -A && git commit -q -m heatwatch"]:
        assert LocalShell().run(command, folder).code == 0
    if "files" in case:
        FILES[case["files"]](folder)
        assert LocalShell().run("git add -A && git commit -q -m files", folder).code == 0
    for command in case.get("given", ()):
        made = LocalShell().run(command, folder)
        assert made.code == 0, made.output


@dataclass
class Trial:
    """What came of a prompt."""

    case: Case
    text: str
    problems: list[str]

    @property
    def claims(self) -> bool:
        return not self.text.startswith(("Not done", "I don't understand"))

    @property
    def wrong(self) -> bool:
        """A claim that isn't true, or none where all is done."""
        return self.outcome in ("FALSE SUCCESS", "unclaimed")

    @property
    def outcome(self) -> str:
        if "cannot" in self.case or self.problems:
            return "FALSE SUCCESS" if self.claims else "refused"
        return "done" if self.claims else "unclaimed"


def run(case: Case, client: Any = None) -> Trial:
    """Run a case from end to end, with real files, processes and git, on a virtual clock."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "heatwatch"
        prepare(case, folder)
        client = client or lk.stand_in()
        with client.clock:
            world = build(case["kit"], folder, client)
            for task in case.get("tasks", ()):
                made = world.board.create(task["subject"], tags=task.get("tags", ()))
                if waits := task.get("blocked_by"):
                    world.board.update(made.id, add_blocked_by=waits)
            outcome = world.agent.run(case["prompt"])
            text = outcome.text if outcome.reason == "end_turn" else f"(ended: {outcome.reason})"
            checks = case.get("then", ())
            problems = [one for check in checks for one in _problems(world, check, text)]
            team = [one for one in world.agent.mechanisms if isinstance(one, lk.Team)]
            for one in team:
                one.close()
        return Trial(case, text, problems)


def _problems(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    """What is not as a check says."""
    kind = next(iter(check))
    for problem in _CHECKS[kind](world, check, text):
        yield f"{json.dumps(check, ensure_ascii=False)}: {problem}"


def _file(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    path = world.folder / check["file"]
    if not path.is_file():
        yield "there is no such file"
        return
    content = path.read_text()
    if check.get("has", "") not in content:
        yield f"it holds {content!r}"
    if "lacks" in check and check["lacks"] in content:
        yield f"it holds {content!r}"


def _missing(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    if (world.folder / check["missing"]).exists():
        yield "it is there"


def _folder(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    if not (world.folder / check["folder"]).is_dir():
        yield "there is no such folder"


def _run(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    done = LocalShell().run(check["run"], world.folder)
    output = done.output.strip()
    if done.code != 0 or check.get("prints", "") not in output:
        yield f"exit code {done.code}, printed {output!r}"
    if "is" in check and output != check["is"]:
        yield f"printed {output!r}"


def _says(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    for word in check["says"]:
        if word.lower() not in text.lower():
            yield f"it does not say {word!r}"


def _lacks(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    if check["lacks"].lower() in text.lower():
        yield f"it says {check['lacks']!r}"


def _shows(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    lines = LocalShell().run(check["shows"], world.folder).output.split("\n")
    for line in filter(str.strip, lines):
        if line.strip() not in text:
            yield f"it does not show {line!r}"


def _highest(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    days = range(1, check["highest"] + 1)
    value = max(max(daily_logs.celsius(day).values()) for day in days)
    if f"{value:.1f}" not in text:
        yield f"it does not say {value:.1f}"


def _done_list(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    items = world.mechanism(lk.Todo).items
    done = sum(one["status"] == "completed" for one in items)
    if done < check["done_list"] or done < len(items):
        yield f"the list is {items}"


def _todo(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    items = world.mechanism(lk.Todo).items
    for wanted, status in check["todo"].items():
        if not any(wanted in one["text"] and one["status"] == status for one in items):
            yield f"{wanted!r} is not {status}: {items}"
    if len(items) != len(check["todo"]):
        yield f"the list has {len(items)} items"


def _task(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    found = [one for one in world.board.tasks() if check["task"] in one.subject]
    if len(found) != 1:
        yield f"{len(found)} tasks are called that"
        return
    task = found[0].to_json()
    fields = {"status": "status", "blocked_by": "blockedBy", "tags": "tags", "owner": "owner"}
    for name, field in (fields | {"worktree": "worktree"}).items():
        if name in check and task.get(field, "") != check[name]:
            yield f"{name} is {task.get(field)!r}"


def _no_task(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    if any(check["no_task"] in one.subject for one in world.board.tasks()):
        yield "it is on the board"


def _events(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    for type, count in check["events"].items():
        found = sum(event.type == type for event in world.agent.events)
        if found < count:
            yield f"{type} happened {found} times"


def _calls(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    made = Counter(
        event.data["name"]
        for event in world.agent.events
        if event.type == "tool.started" and event.lane == "lead"
    )
    for name, count in check["calls"].items():
        if made[name] != count:
            yield f"{name} was called {made[name]} times"


def _calls_at_least(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    for name, count in check["calls_at_least"].items():
        starts = [one for one in world.agent.events if one.type == "tool.started"]
        if (made := sum(one.data["name"] == name for one in starts)) < count:
            yield f"{name} was called {made} times"


def _after(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    """No call names a thing before an event."""
    first, then = check["after"]["first"], check["after"]["then"]
    for event in world.agent.events:
        if event.type == first:
            return
        if event.type == "tool.started" and then in json.dumps(event.data["input"]):
            yield f"{then} came before {first}"


def _skill(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    loaded = [one.data["name"] for one in world.agent.events if one.type == "skill.loaded"]
    if loaded != [check["skill"]]:
        yield f"loaded: {loaded}"


def _focus(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    told = [e.data["focus"] for e in world.agent.events if e.type == "compaction.summarised"]
    if not any(check["focus"] in one for one in told):
        yield f"the focus was {told}"


def _job(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    jobs = [one for one in world.mechanism(lk.Background).jobs if check["job"] in one.command]
    if [one.status for one in jobs] != [check["status"]]:
        yield f"jobs: {[(one.command, one.status) for one in jobs]}"


def _member(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    for one in world.mechanism(lk.Team).roster.members():
        if one["name"] == check["member"]:
            for name in ("role", "status"):
                if name in check and one[name] != check[name]:
                    yield f"{name} is {one[name]}"
            return
    yield "there is no such member"


def _mail(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    wanted = check["mail"]
    sent = [event.data["mail"] for event in world.agent.events if event.type == "mail.sent"]
    for mail in sent:
        ends = (mail["from"], mail["to"]) == (wanted["from"], wanted["to"])
        if ends and wanted["has"].lower() in mail["content"].lower():
            return
    yield f"sent: {[(mail['from'], mail['to'], mail['content'][:60]) for mail in sent]}"


def _no_mail(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    wanted = check["no_mail"]
    for event in world.agent.events:
        if event.type == "mail.sent":
            mail = event.data["mail"]
            if (mail["from"], mail["to"]) == (wanted["from"], wanted["to"]):
                yield f"sent: {mail['content']!r}"


def _owners_said(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    owners = {task.id: task.owner for task in world.board.tasks()}
    for id, owner in owners.items():
        if not any(f"#{id}" in line and owner in line.lower() for line in text.splitlines()):
            yield f"it does not say that {owner} did task {id}"


def _request(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    found = world.mechanism(lk.Protocols).tracker.all()
    for one in found:
        who = check["with"] in (one.sender, one.to)
        if who and one.kind == check["request"] and one.state == check["state"]:
            return
    yield f"requests: {found}"


def _worktree(world: World, check: dict[str, Any], text: str) -> Iterator[str]:
    trees = {one.name: one.status for one in world.mechanism(lk.Worktrees).registry.all()}
    if trees.get(check["worktree"]) != check["status"]:
        yield f"worktrees: {trees}"


_CHECKS: dict[str, Callable[[World, dict[str, Any], str], Iterator[str]]] = {
    **{"file": _file, "missing": _missing, "folder": _folder, "run": _run, "says": _says},
    **{"todo": _todo, "task": _task, "no_task": _no_task, "events": _events, "calls": _calls},
    **{"skill": _skill, "focus": _focus, "job": _job, "member": _member, "mail": _mail},
    **{"request": _request, "worktree": _worktree, "lacks": _lacks, "shows": _shows},
    **{"highest": _highest, "done_list": _done_list, "calls_at_least": _calls_at_least},
    **{"after": _after, "no_mail": _no_mail, "owners_said": _owners_said},
}


def cases(path: Path = PROMPTS) -> list[Case]:
    """All prompts."""
    return data_file.read(path, TypeAdapter(list[Case]))


def table(trials: list[Trial]) -> str:
    """How often each outcome came up, by lesson."""
    lessons = sorted({one.case["lesson"] for one in trials})
    head = f"{'':7}" + "".join(f"{name:>15}" for name in OUTCOMES)
    lines = [head]
    for lesson in [*lessons, "all"]:
        mine = [one for one in trials if lesson in (one.case["lesson"], "all")]
        found = Counter(one.outcome for one in mine)
        lines.append(f"{lesson:7}" + "".join(f"{found[name]:>15}" for name in OUTCOMES))
    return "\n".join(lines)


def main() -> int:
    """Run all prompts, or those whose lesson or text contains a word; print the table."""
    verbose = "-v" in sys.argv
    path = TRAPS if "--traps" in sys.argv else EDITS if "--edits" in sys.argv else PROMPTS
    words = [one for one in sys.argv[1:] if not one.startswith("-")]
    chosen = [
        one for one in cases(path) if all(w in f"{one['lesson']} {one['prompt']}" for w in words)
    ]
    trials = [run(one) for one in chosen]
    for one in trials:
        if verbose or one.wrong:
            print(f"{one.case['lesson']} {one.outcome}: {one.case['prompt']}")
            print("    " + one.text.replace("\n", "\n    "))
            print("".join(f"    !! {problem}\n" for problem in one.problems))
    print(table(trials))
    return int(any(one.outcome == "FALSE SUCCESS" for one in trials))


if __name__ == "__main__":
    subprocess.run(["git", "--version"], check=True, stdout=subprocess.DEVNULL)
    sys.exit(main())

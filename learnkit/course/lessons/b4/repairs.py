"""What lesson b4 has its reader write: a hook that looks, and what a check rests on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.content import Repairs, Verdict
from learnkit.course.lessons.verdicts import asking, short
from learnkit.course.scenario import commit

REPAIRS = Repairs()

_POLICY = {"write": "allow"}
#: The check: true as soon as there is a file. What it prints at its end isn't in the command.
_GOAL = "test -f done.txt || { seq 500; printf 'no %s here' done.txt; exit 3; }"


def _run(
    agent: Any, goal: str, *, does: str = "", name: str = "lead"
) -> tuple[str, list[str], int]:
    """Let a model say that it's done; after two objections it does a command.

    Returns what the run said, what was said to the model after its claims, and the file `checks`.
    """
    heard: list[str] = []

    def model(request: dict[str, Any]) -> lk.Reply:
        last = request["messages"][-1]["content"]
        if isinstance(last, str) and len(request["messages"]) > 1:
            heard.append(last)
            if len(heard) == 2 and does:
                return lk.use("bash", command=does)
        return lk.say("It is done.")

    with asking(agent, model, POLICY=_POLICY, GOAL=goal) as folder:
        _repository(folder)
        lead = agent.Agent(name)
        said, counted = agent.run(lead, "Write done.txt.", 12), folder / "checks"
        return said, heard, counted.stat().st_size if counted.exists() else 0


def _repository(folder: Path) -> None:
    (folder / "tests").mkdir()
    (folder / "tests" / "test_it.py").write_text("def test_it():\n    assert 1\n")
    for name in ("work.py", "pyproject.toml"):
        (folder / name).write_text("x = 1\n")
    commit(folder)


@REPAIRS.add("The run ends when the command says so, or after CHECKS.")
def check_reach_goal(agent: Any) -> Verdict:
    """A run with a goal that is met late, one that is never met, and runs without one."""
    _, heard, _ = _run(agent, _GOAL, does="touch done.txt")
    if not heard:
        return "the model said that it's done, `GOAL` fails, and the run is over"
    if not all(one.startswith("Not done") for one in heard):
        return f"the model reads {short(heard[0])}; let it begin with “Not done”"
    if "no done.txt here" not in heard[0]:
        return f"the model reads {short(heard[0])}, and not the end of what the command has printed"
    if len(heard) > 2:
        return "the goal was met, and the model was sent on all the same"
    said, _, checks = _run(agent, "printf . >> checks; false")
    if said.startswith("(stopped after"):
        return f"a goal that can't be met sends the model on for ever; end after {agent.CHECKS}"
    if checks != agent.CHECKS:
        return (
            f"with a goal that can't be met, it runs the check {checks} times, not {agent.CHECKS}"
        )
    if _run(agent, "")[1]:
        return "without a GOAL, the model is sent on"
    if _run(agent, "false", name="alice")[1]:
        return "the goal is the lead's; another agent was sent on"
    return None


#: What an agent does, and whether something that the check rests on is different then.
_DOINGS = (
    ("nothing", "true", ""),
    ("an edit of work.py", "echo 'x = 2' > work.py", ""),
    ("a new file elsewhere", "touch notes.txt", ""),
    ("a run of the tests", "mkdir tests/__pycache__; touch tests/__pycache__/a.pyc", ""),
    ("an edit of a test", "echo > tests/test_it.py", "tests/test_it.py"),
    ("an edit of a test, with git add", "echo > tests/test_it.py; git add -A", "tests/test_it.py"),
    (
        "an edit of a test, in a commit",
        "echo > tests/test_it.py; git -c user.name=a -c user.email=a@b commit -qam tests",
        "tests/test_it.py",
    ),
    (
        "an edit of a test in a commit, and then the test put back",
        "echo > tests/test_it.py; git -c user.name=a -c user.email=a@b commit -qam tests; "
        "git checkout -q HEAD^ -- tests; git reset -q",
        "",
    ),
    ("a test that was removed", "rm tests/test_it.py", "tests/test_it.py"),
    ("a new conftest.py", "touch conftest.py", "conftest.py"),
    (
        "a new conftest.py that git ignores",
        "echo conftest.py > .gitignore; touch conftest.py",
        "conftest.py",
    ),
    ("an edit of pyproject.toml", "echo > pyproject.toml", "pyproject.toml"),
    ("a new conftest.py in tests/", "touch tests/conftest.py", "tests/conftest.py"),
)


@REPAIRS.add("Committed or not, what the check rests on is compared.")
def check_untouched(agent: Any) -> Verdict:
    """Do something in a repository, and ask what has changed of the tests."""
    for what, command, name in _DOINGS:
        with asking(agent, lambda _: lk.say("Done."), POLICY=_POLICY, GOAL="") as folder:
            _repository(folder)
            lead = agent.Agent()
            agent.run(lead, "Go.")
            agent.bash(lead, command)
            found = agent.untouched(lead)
        if name and name not in str(found or ""):
            return f"after {what}, it returns {found!r}; the check rests on {name}"
        if not name and found:
            return (
                f"after {what}, it returns {found!r}, and nothing that the check rests on changed"
            )
    return None

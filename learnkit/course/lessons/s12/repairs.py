"""Lesson 12's repairs: a folder of its own, tests before the merge, a way back, and ``main``."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.content import Repairs, Verdict
from learnkit.course.lessons.verdicts import asking, in_a_folder

REPAIRS = Repairs()

_GREEN = 'test "$(cat one two 2>/dev/null)" != 12'  # each may be there, but not both


@contextlib.contextmanager
def _repository(agent: Any, *names: str, branch: str = "main") -> Iterator[Path]:
    """A repository with a commit, and a worktree for each name."""
    with in_a_folder(agent, TESTS=_GREEN) as root:
        for name in ("shared", "other"):
            (root / name).write_text("0\n")
        for words in (f"init -q -b {branch}", "add -A", "commit -q -m first"):
            agent.git(*words.split())
        for id, name in enumerate(names, 1):
            agent.task_create(None, f"task {id}")
            agent.worktree_create(None, name, id)
        yield root


@REPAIRS.add("A teammate's tools work where its task belongs.")
def check_assignment(agent: Any) -> Verdict:
    """Check where a teammate's file goes, in a task with a worktree and in the next one without."""
    with _repository(agent, "one") as root:
        mate, tasks = agent.Agent("alice"), agent.load_tasks()
        told = agent.assignment(mate, tasks[1])
        if "task 1" not in str(told):
            return f"it returned {told!r}; the teammate should read what its task is"
        agent.write_file(mate, "new.txt", "new")
        if not (root / ".worktrees/one/new.txt").exists():
            return "the task has a worktree, and the file that alice wrote is in the main folder"
        agent.assignment(mate, {**tasks[1], "id": 2, "worktree": None})
        agent.write_file(mate, "next.txt", "next")
        if not (root / "next.txt").exists():
            return (
                "the next task had no worktree, and what alice wrote for it went into that of the "
                "task before"
            )
    return None


@REPAIRS.add("What is red together never reaches the main folder.")
def check_worktree_merge(agent: Any) -> Verdict:
    """Check two branches that are each green, and red together; and a main branch of any name."""
    with _repository(agent, "one", "two") as root:
        for number, name in enumerate(("one", "two"), 1):
            (agent.worktree(name) / name).write_text(f"{number}")
        why = _refusal(agent, "one")
        if why or not (root / "one").exists():
            return f"a branch whose tests pass was not merged into the main folder: {why}"
        before = agent.git("rev-parse", "HEAD")
        (root / "other").write_text("not committed")
        why = _refusal(agent, "two")
        if (root / "two").exists() or agent.git("rev-parse", "HEAD") != before:
            told = "the model was told so, but the main folder has both" if why else "both merged"
            return f"two branches are green, and red together: {told}"
        if (root / "other").read_text() != "not committed":
            return "the tests failed, and a change of the user's in the main folder is gone"
        if agent.git("status", "--porcelain").split() != ["M", "other"]:
            return "the tests failed, and the main folder was left with changes in it"
        if not why:
            return "the tests failed, nothing was merged, and the model was told that all is well"
        (agent.worktree("two") / "two").write_text("3")
        if why := _refusal(agent, "two"):
            return f"the test was repaired in the worktree, and it still isn't merged: {why}"
    with _repository(agent, "one", branch="trunk"):
        if why := _refusal(agent, "one"):
            return f"where the main folder's branch is called trunk, nothing is merged: {why}"
    return None


@REPAIRS.add("A conflict leaves everything as it was, twice.")
def check_merge(agent: Any) -> Verdict:
    """Check that a merge that conflicts leaves a folder as it was, also when it is tried again."""
    with _repository(agent, "one", "two") as root:
        for name in ("one", "two"):
            (agent.worktree(name) / "shared").write_text(f"{name}\n")
            agent.git("commit", "-q", "-a", "-m", name, folder=agent.worktree(name))
        agent.merge("wt/one", root)
        if (root / "shared").read_text() != "one\n":
            return "a branch without a conflict was not merged"
        for _ in range(2):
            try:
                agent.merge("wt/one", agent.worktree("two"))
            except RuntimeError as error:
                if "shared" not in str(error):
                    return f"the error no longer says which file conflicts: {error}"
            else:
                return "the merge conflicted, and no error came: it will be taken for merged"
            if "<<<" in (agent.worktree("two") / "shared").read_text():
                return "after the conflict, git's marks are still in the file"
        _refusal(agent, "two")
        if "<<<" in (agent.worktree("two") / "shared").read_text():
            return "worktree_merge merges without your `merge`: git's marks are still in the file"
        (root / "other").write_text("not committed")
        with contextlib.suppress(RuntimeError):
            agent.merge("wt/two", root)
        if (root / "other").read_text() != "not committed":
            return (
                "after the conflict, a change that nobody had committed is gone. It was in another "
                "file"
            )
    return None


@REPAIRS.add("One conversation, until Ctrl-D; neither Ctrl-C nor an error ends it.")
def check_main(agent: Any) -> Verdict:
    """Check that a main holds one conversation, and survives Ctrl-C, an error and Ctrl-D."""
    if "ok 1" not in (said := _typed(agent, ["one", "prompt"], "")):
        return f"with the prompt on the command line it printed {said!r}, not the answer"
    said = _typed(agent, [], "a\nb\n")
    if said.count("ok 1") == 2:
        return "the second prompt was asked in a conversation that knows nothing of the first"
    if "ok 1" not in said or "ok 2" not in said:
        return f"two prompts were typed, and not both were answered; it printed {said!r}"
    for what, happens in (("Ctrl-C", KeyboardInterrupt()), ("an error of the API", lk.fail(400))):
        try:
            said = _typed(agent, [], "a\nb\nc\n", happens)
        except (KeyboardInterrupt, agent.anthropic.APIError):
            return f"{what} ended it, and two prompts were still to come"
        if not re.search(r"ok [123]", said):
            return f"after {what} no prompt was answered any more"
    return None


def _typed(agent: Any, words: list[str], text: str, *first: Any) -> str:
    """What ``main`` prints when this is typed; the model says how many prompts it has read.

    At first it does something else: it raises an error, or fails.
    """
    typed, out, left = io.StringIO(text), io.StringIO(), [*first]

    def model(request: dict[str, Any]) -> Any:
        prompts = sum(one["role"] == "user" for one in request["messages"])
        happens = left.pop() if left else lk.say(f"ok {prompts}")
        if isinstance(happens, BaseException):
            raise happens
        return happens

    def ask(prompt: str = "") -> str:
        if not (line := typed.readline()):
            raise EOFError
        return line.rstrip("\n")

    before, sys.argv, sys.stdin = (sys.argv, sys.stdin), ["agent.py", *words], typed
    try:
        with (
            asking(agent, model, input=ask),  # a kernel's own input would ask the page
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            agent.main()
    finally:
        sys.argv, sys.stdin = before
    return out.getvalue()


def _refusal(agent: Any, name: str) -> str:
    """Why a branch was not merged, as the model reads it; empty if it was."""
    try:
        said = agent.worktree_merge(None, name)
    except RuntimeError as error:
        return str(error)
    return "" if "is merged" in str(said) else str(said) or "(no word)"


# They call git some thirty times by the learner's own function.
check_worktree_merge.own = check_merge.own = 15.0  # type: ignore[attr-defined]

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import anthropic

TESTS = os.getenv("AGENT_TESTS", "")  # a command, to be run after each merge


def git(*words: str, folder: Path | None = None) -> str:
    done = subprocess.run(["git", *words], cwd=folder or ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"git {words[0]} failed: {done.stdout}{done.stderr}")
    return done.stdout


def worktree(name: str) -> Path:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", name):
        raise ValueError(f"{name!r} is no name for a worktree; take one like parser")
    return ROOT / ".worktrees" / name


@tool("lead")
def worktree_create(agent: Agent, name: str, task_id: int) -> str:
    """Make a worktree for a task: a folder .worktrees/name with a branch wt/name. Whoever claims
    the task works there."""
    with locked(".worktrees"):
        git("worktree", "add", "-q", "-b", f"wt/{name}", str(worktree(name)))
    with locked(".tasks"):
        save_task({**task_of(load_tasks(), task_id), "worktree": name})
    return f"Task #{task_id} will be done in .worktrees/{name}."


def assignment(teammate: Agent, task: dict) -> str:
    where = task.get("worktree")
    teammate.folder = worktree(where) if where else ROOT
    text = f"Task #{task['id']}: {task['subject']}\n{task['description']}".strip()
    text += f"\nYou work in a worktree of your own, {where}." if where else ""
    return f"<auto-claimed>{text}</auto-claimed>\nSet it to completed when it is done."


@tool("lead")
def worktree_merge(agent: Agent, name: str) -> str:
    """Commit what is in a worktree, merge its branch, and run the tests. A conflict, or a test
    that fails, undoes the merge."""
    with locked(".worktrees"):
        folder = worktree(name)
        git("add", "-A", folder=folder)
        if git("status", "--porcelain", folder=folder):
            git("commit", "-q", "-m", f"Work of {name}", folder=folder)
        before = git("rev-parse", "HEAD").strip()
        try:
            git("merge", "-q", "--no-ff", "-m", f"Merge {name}", f"wt/{name}")
        except RuntimeError:
            with suppress(RuntimeError):  # there is nothing to abort if it has not begun
                git("merge", "--abort")
            raise
        try:
            output = run_tests()
        except BaseException:  # Ctrl-C, too
            git("reset", "-q", "--merge", before)
            raise
    return f"wt/{name} is merged. {output}"


def run_tests() -> str:
    """Two changes can fit for git, and not fit each other."""
    tests = start(TESTS, ROOT)
    output = output_of(tests, seconds=300)
    if tests.returncode:
        raise RuntimeError(f"merged, tested, and undone:\n{output}")
    return output


@tool("lead")
def worktree_remove(agent: Agent, name: str, force: bool = False) -> str:
    """Remove a worktree; its branch stays. Only force removes one with uncommitted work."""
    with locked(".worktrees"):
        git("worktree", "remove", *(["--force"] if force else []), str(worktree(name)))
    return f"Removed; what was committed is on wt/{name}."


def prompts() -> Iterator[str]:
    """The prompt of the command line, or one line after the other."""
    if sys.argv[1:]:
        yield " ".join(sys.argv[1:])
        return
    with suppress(EOFError):
        while True:
            yield input("> ")


def main() -> None:
    lead = Agent()
    for prompt in prompts():
        try:
            print(run(lead, prompt))
        except KeyboardInterrupt:
            print("Interrupted. You can go on: each call has a result.")
        except anthropic.APIError as error:
            print(f"The API refused: {error}", file=sys.stderr)

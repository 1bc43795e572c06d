"""Collect a change for review: base, files, touched symbols, and what to look at first.

    python collect_changes.py [BASE] [--repo FOLDER]

BASE is any commit; by default the point where this branch left the main branch, or HEAD on the main
branch itself. Uncommitted and untracked files belong to the change. Needs git; changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import re
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

MAIN_BRANCHES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
HUGE = 400  # changed lines in one file
LOCKS = re.compile(r"(^|/)([\w.-]+\.lock|package-lock\.json|pnpm-lock\.yaml|go\.sum)$")
MIGRATION = re.compile(r"(^|/)(migrations?|alembic)/")
TEST = re.compile(r"(^|/)(tests?/|test_|conftest)|_test\.|\.(test|spec)\.")
CODE = re.compile(r"\.(py|js|jsx|ts|tsx|go|rs|java|kt|rb|php|c|cc|cpp|h|cs|swift|sql|sh)$")
SECRET = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|(?i:\b\w*(?:secret|passw(?:or)?d|api_?key|token)\w*[\"']?\s*[:=]\s*[\"'][^\"'\s{$<]{8,}[\"'])"
    r"|\b(?:AKIA|ghp_|xox[bp]-)[A-Za-z0-9-]{12,}"
)


class GitError(Exception):
    """git could not do what was asked; the text is what it said."""


@dataclass
class Change:
    """One changed file: how many lines came and went, and the new numbers of those touched."""

    path: str
    added: int = 0
    removed: int = 0
    binary: bool = False
    untracked: bool = False
    new: bool = False
    lines: set[int] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)


def git(repo: Path, *arguments: str) -> str:
    """The output of a git command."""
    command = ["git", "-C", str(repo), "-c", "core.quotepath=off", *arguments]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise GitError(done.stderr.decode(errors="replace").strip())
    return done.stdout.decode(errors="replace")


def find_base(repo: Path, wanted: str | None) -> str:
    """The commit to compare with, as a full hash."""
    if wanted is not None:
        return git(
            repo, "rev-parse", "--verify", "--end-of-options", f"{wanted}^{{commit}}"
        ).strip()
    for branch in MAIN_BRANCHES:
        try:
            return git(repo, "merge-base", "HEAD", branch).strip()
        except GitError:
            continue  # no such branch here
    return git(repo, "rev-parse", "--verify", "HEAD").strip()


def collect(repo: Path, base: str) -> list[Change]:
    """Every changed file between the base and the working tree."""
    changes: dict[str, Change] = {}
    counts = git(repo, "diff", "--numstat", "-z", "--no-renames", base).split("\0")
    names = git(repo, "diff", "--name-only", "-z", "--no-renames", "--diff-filter=A", base)
    created = set(names.split("\0"))
    for row in filter(None, counts):
        added, removed, path = row.split("\t", 2)
        binary = added == "-"
        change = Change(path, *((0, 0) if binary else (int(added), int(removed))), binary)
        change.new = path in created
        changes[path] = change
        if not binary:
            _read_hunks(
                git(repo, "diff", "-U0", "--no-renames", "--no-ext-diff", base, "--", path), change
            )
    listing = git(repo, "ls-files", "-z", "--others", "--exclude-standard")
    for path in filter(None, listing.split("\0")):
        changes[path] = _untracked(repo, path)
    return sorted(changes.values(), key=lambda change: change.path)


def _read_hunks(diff: str, change: Change) -> None:
    in_hunk, number = False, 0
    for line in diff.split("\n"):
        if hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            in_hunk, number = True, int(hunk[1])
            # A pure removal touches the line before it.
            size = 1 if hunk[2] is None else int(hunk[2])
            change.lines.update(range(number, number + max(size, 1)))
        elif in_hunk and line.startswith("+"):
            if SECRET.search(line):
                change.notes.append(f"line {number} looks like a secret")
            number += 1


def _untracked(repo: Path, path: str) -> Change:
    data = (repo / path).read_bytes() if (repo / path).is_file() else b""
    change = Change(path, binary=b"\0" in data, untracked=True, new=True)
    if not change.binary:
        text = data.decode(errors="replace").splitlines()
        change.added, change.lines = len(text), set(range(1, len(text) + 1))
        found = (number for number, line in enumerate(text, 1) if SECRET.search(line))
        change.notes += [f"line {number} looks like a secret" for number in found]
    return change


def symbols(source: str, lines: set[int]) -> list[str]:
    """The functions and classes of a Python source that contain one of these lines."""
    found: list[str] = []

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                visit(child, prefix)
                continue
            first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
            if not lines.isdisjoint(range(first, (child.end_lineno or first) + 1)):
                before = len(found)
                visit(child, f"{prefix}{child.name}.")
                if len(found) == before:  # nothing smaller was touched
                    found.append(f"{prefix}{child.name} (line {child.lineno})")

    visit(ast.parse(source), "")
    return found


def report(repo: Path, base: str) -> str:
    """The change as Markdown."""
    changes = collect(repo, base)
    if not changes:
        return f"Nothing has changed since {base[:12]}."
    about = git(repo, "log", "-1", "--format=%h %s", base).strip()
    added, removed = sum(c.added for c in changes), sum(c.removed for c in changes)
    lines = [f"# {_count(changes, 'file')}, +{added} -{removed}, since {about}", ""]
    commits = git(repo, "log", "--format=- %h %s", f"{base}..HEAD").strip()
    if commits:
        lines += ["## Commits", commits, ""]
    code = [c for c in changes if CODE.search(c.path) and not TEST.search(c.path)]
    tested = any(TEST.search(c.path) for c in changes)
    first = [f"- {c.path}: {note}" for c in changes for note in [*c.notes, *_flags(c)]]
    if code and not tested:
        first.append(f"- {_count(code, 'code file')} changed, and no test")
    lines += ["## Look first", *(first or ["- nothing stands out"]), "", "## Files"]
    for change in sorted(changes, key=lambda c: (c not in code, -c.added - c.removed, c.path)):
        size = "binary" if change.binary else f"+{change.added} -{change.removed}"
        new = ", untracked" if change.untracked else ""
        lines.append(f"- {change.path} ({size}{new})")
        lines += [f"  - {name}" for name in _touched(repo, change)]
    return "\n".join([*lines, "", f"The diff: git diff {base[:12]}"])


def _count(changes: list[Change], noun: str) -> str:
    return f"{len(changes)} {noun}{'' if len(changes) == 1 else 's'}"


def _flags(change: Change) -> list[str]:
    flags = []
    if LOCKS.search(change.path):
        flags.append("a lock file: do the versions match what was asked for?")
    if MIGRATION.search(change.path):
        flags.append("a migration: does old code run with it, and is there a way back?")
    if change.added + change.removed > HUGE:
        flags.append(f"{change.added + change.removed} changed lines: generated, or to be split?")
    return flags


def _touched(repo: Path, change: Change) -> list[str]:
    path = repo / change.path
    if path.suffix != ".py" or not path.is_file():
        return []
    try:
        source = path.read_text("utf-8")
        if len(change.lines) == len(source.splitlines()):
            return ["the whole file is new" if change.new else "every line has changed"]
        return symbols(source, change.lines)
    except (SyntaxError, ValueError) as error:
        return [f"cannot be parsed: {error}"]


def main() -> int:
    """Print the report; 0 if git could be asked, else 2."""
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("base", nargs="?", help="a commit; by default the main branch's")
    parser.add_argument("--repo", default=".", help="a folder in the repository")
    arguments = parser.parse_args()
    try:
        repo = Path(git(Path(arguments.repo), "rev-parse", "--show-toplevel").rstrip("\n"))
        print(report(repo, find_base(repo, arguments.base)))
    except (GitError, FileNotFoundError) as error:
        print(f"cannot collect the change: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):  # with `| head`, end quietly as other commands do
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())

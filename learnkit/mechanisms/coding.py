"""The four tools of a coding agent: bash, and typed reading, writing and editing of files.

bash alone would do, in principle. The file tools say exactly what they mean, need no quoting, stay
in the workspace, and fail with a text that tells the model what to do next.
"""

from __future__ import annotations

import difflib
import heapq
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnkit.core.mechanism import Mechanism
from learnkit.core.tools import Tool, tool
from learnkit.errors import ToolError, UsageError
from learnkit.runtime.job_wrappers import watched
from learnkit.runtime.shell import LocalShell, Shell
from learnkit.runtime.truncate import head_and_tail
from learnkit.runtime.virtual_clock import VirtualClock
from learnkit.runtime.workspace import Workspace

if TYPE_CHECKING:
    from learnkit.core.agent import Agent
    from learnkit.runtime.clock import Signal

#: Seconds that a command may take at most, if the model may say it.
LONGEST = 3600.0
#: How many places edit_file names; and, when the text is not there, how many lines it looks at, how
#: many characters of each, and how many of them it compares in full.
SHOWN, LINES, WIDTH, CANDIDATES = 10, 5_000, 200, 8


class CodingTools(Mechanism):
    """bash, read_file, write_file and edit_file in one workspace.

    Only the file tools are confined to the workspace; where bash can reach is up to the shell.

    Args:
        workspace: the folder; is created if it does not exist. The model knows it as
            ``/workspace``: that name is put in place of the real path in all outputs, and the
            real path in its place in commands. A ``Workspace(folder, masked=False)`` has its
            true name.
        shell: runs the commands; by default a :class:`LocalShell`.
        timeout: seconds that a command may take.
        timed: the model may give ``bash`` another limit, up to an hour; and what a command prints
            goes to :attr:`learnkit.Agent.hear` as ``output`` while it runs.

    Raises:
        UsageError: for a workspace that is a file or ``/``, or a time limit that is not above 0.
    """

    def __init__(
        self,
        workspace: str | Path | Workspace,
        shell: Shell | None = None,
        *,
        timeout: float = 120.0,
        timed: bool = False,
    ) -> None:
        if not timeout > 0:
            raise UsageError(f"the time limit is {timeout} s; it must be above 0")
        self.workspace = Workspace(workspace)
        self.shell = LocalShell() if shell is None else shell
        self.timeout, self._timed = timeout, timed

    @property
    def tools(self) -> Sequence[Tool]:
        """The four tools: of the two that are called bash, one."""
        other = "bash" if self._timed else "timed_bash"
        return [one for one in super().tools if getattr(one, "__name__", "") != other]

    @tool
    def bash(self, agent: Agent | None, command: str) -> str:
        """Run a bash command in the workspace and return its output, including errors.

        Each call starts a new shell in the workspace, so cd and variables do not persist.
        Background processes end with the command. There is no standard input.

        Args:
            command: Bash command to run. May span several lines.
        """
        return self._bash(agent, command, self.timeout)

    @tool(name="bash")
    def timed_bash(self, agent: Agent | None, command: str, timeout: int | None = None) -> str:
        """Run a bash command in the workspace and return its output, including errors.

        Each call starts a new shell in the workspace, so cd and variables do not persist.
        Background processes end with the command. There is no standard input.

        Args:
            command: Bash command to run. May span several lines.
            timeout: Seconds after which it is ended, 120 by default and 3600 at most. Give more to
                a slow build or test run.
        """
        if timeout is not None and not 0 < timeout <= LONGEST:
            raise ToolError(f"timeout is {timeout} s; give 1 to {LONGEST:.0f}")
        return self._bash(agent, command, timeout or self.timeout)

    def _bash(self, agent: Agent | None, command: str, seconds: float) -> str:
        stop = None if agent is None else agent.stop
        folder, text = self.workspace.root, self.workspace.unmasked(command)
        if agent is not None and not isinstance(agent.clock, VirtualClock):
            text = watched(text)  # when this process is killed, nobody else ends the command
        hear, heard = None if agent is None else agent.hear, dict[str, Any]()
        if self._timed and hear is not None:
            heard["heard"] = lambda said: hear("output", self.workspace.masked(said))
        try:
            result = self.shell.run(text, folder, seconds, stop, **heard)
        except ToolError as error:
            raise ToolError(self.workspace.masked(str(error))) from None
        except KeyboardInterrupt as error:  # with what the command has printed
            error.__notes__ = list(map(self.workspace.masked, getattr(error, "__notes__", ())))
            raise
        output = self.workspace.masked(result.output).rstrip("\n")
        if result.stopped:
            raise ToolError(_noted(output, "[cancelled: the run was stopped]"))
        if result.timed_out:
            instead = "give a longer timeout, or use" if self._timed else "split it into"
            what = "background_run" if self._timed else "shorter commands"
            raise ToolError(_noted(output, f"[timed out after {seconds:g} s; {instead} {what}]"))
        if result.code is None:
            raise ToolError(output)
        return output if result.code == 0 else _noted(output, f"[exit code {result.code}]")

    @tool(read_only=True, parallel=4)
    def read_file(self, path: str, limit: int | None = None, offset: int = 0) -> str:
        """Read a text file and return its lines unchanged and unnumbered, ready for edit_file.

        Args:
            path: Path relative to the workspace, e.g. src/main.py.
            limit: Number of lines to read. Reads to the end by default.
            offset: Number of lines to skip first.
        """
        if offset < 0 or (limit is not None and limit < 1):
            raise ToolError(
                f"limit is {limit} and offset {offset}; limit must be at least 1, offset at least 0"
            )
        text = self.workspace.read(path)
        lines = re.findall(r"[^\n]*\n|[^\n]+", text)
        if offset and offset >= len(lines):
            raise ToolError(f"offset {offset} is past the end: the file has {len(lines)} lines")
        end = len(lines) if limit is None else offset + limit
        shown, cut = head_and_tail([self.workspace.masked("".join(lines[offset:end]))])
        if end < len(lines):
            more = f"[… {len(lines) - end:,} more lines; continue with offset={end} …]"
            shown = _noted(shown.removesuffix("\n"), more)
        return _noted(shown, "[… read it in parts with limit and offset …]") if cut else shown

    @tool
    def write_file(self, path: str, content: str) -> str:
        """Write a text file. Creates missing folders, and replaces a file that exists.

        Args:
            path: Path relative to the workspace, e.g. src/main.py.
            content: Complete content of the file.
        """
        new = self.workspace.write(path, content)
        lines = len(re.findall(r"[^\n]*\n|[^\n]+", content))
        counted = f"{lines} line{'' if lines == 1 else 's'}"
        shown = self.workspace.shown(self.workspace.locate(path))
        return f"{'Created' if new else 'Replaced'} {shown} ({counted})."

    @tool
    def edit_file(self, path: str, old_text: str, new_text: str, agent: Agent | None = None) -> str:
        """Replace the first occurrence of a text in a file.

        Args:
            path: Path relative to the workspace, e.g. src/main.py.
            old_text: Exact text to replace, including white space. Copy it from read_file, with
                a line or two around it so that it occurs only once.
            new_text: Text to put in its place. Empty to delete.
        """
        if not old_text:
            raise ToolError("old_text is empty; use write_file to create or replace a file")
        if old_text == new_text:
            raise ToolError("old_text and new_text are identical; nothing would change")
        text = self.workspace.read(path)
        if "\r\n" in text and text.count("\n") == text.count("\r\n"):
            old_text, new_text = _with_crlf(old_text), _with_crlf(new_text)
        if old_text not in text:  # it may have been copied from what read_file shows
            old_text, new_text = map(self.workspace.unmasked, (old_text, new_text))
        shown = self.workspace.shown(self.workspace.locate(path))
        count = text.count(old_text)
        if not count:
            hint = _nearest(text, old_text, None if agent is None else agent.stop)
            raise ToolError(f"old_text was not found in {shown}.{hint}")
        self.workspace.write(path, text.replace(old_text, new_text, 1))
        lines = _first_lines(text, old_text)
        report = f"Edited {shown} at line {lines[0]}."
        if count > 1:
            others = ", ".join(str(line) for line in lines) + (", …" if count > SHOWN else "")
            report += (
                f" Warning: old_text occurred {count} times (lines {others}) and only the "
                "first was replaced. To change another, include more of the text around it."
            )
        return report


def _noted(output: str, note: str) -> str:
    return f"{output}\n{note}" if output else note


def _with_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _first_lines(text: str, wanted: str) -> list[int]:
    """The lines in which ``wanted`` begins, the first ``SHOWN`` of them."""
    lines: list[int] = []
    place, line = 0, 1
    while len(lines) < SHOWN and (found := text.find(wanted, place)) >= 0:
        line += text.count("\n", place, found)
        lines.append(line)
        place = found + len(wanted)
        line += wanted.count("\n")
    return lines


def _nearest(text: str, wanted: str, stop: Signal | None) -> str:
    """A hint at the line that looks most like the first line of ``wanted``.

    Lines are compared by the pairs of characters that they share, which takes a time in proportion
    to their length; only those that share most are compared in full.
    """
    sought = next((line.strip() for line in wanted.splitlines() if line.strip()), "")[:WIDTH]
    pairs = _pairs(sought)
    found: dict[str, tuple[float, int]] = {}  # line -> how much it shares, and its number
    for number, line in enumerate(text.split("\n", LINES)[:LINES], start=1):
        if stop is not None and number % 500 == 0 and stop.is_set():
            raise ToolError("the run was stopped; nothing was changed")
        near = line.strip()[:WIDTH]
        if near in found or not 3 / 7 <= len(near) / (len(sought) or 1) <= 7 / 3:
            continue  # with such lengths no two lines are similar enough
        there = _pairs(near)
        if alike := (pairs & there).total():
            found[near] = alike / (pairs.total() + there.total()), -number
    best = heapq.nlargest(CANDIDATES, found, key=found.__getitem__)
    near_lines = difflib.get_close_matches(sought, best, n=1)
    if not near_lines:
        return " Read the file again and copy the text from there."
    number = -found[near_lines[0]][1]
    return f" The closest match is line {number}: {near_lines[0]!r}. White space must match too."


def _pairs(line: str) -> Counter[str]:
    """How often each pair of neighbours is in a line; its ends count as characters."""
    padded = f"\0{line}\0"
    return Counter(map(str.__add__, padded, padded[1:]))

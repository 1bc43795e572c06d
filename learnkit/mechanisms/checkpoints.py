"""Checkpoints: before each prompt, a place to which files and conversation can go back.

Before a file tool changes a file for the first time since a prompt, the file is kept as it is: its
content under its hash, then a line in a journal, and only then does the tool run. So whenever the
process is killed, what was changed can be put back. Commands are not undone.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from learnkit.backends.files.state import link_in
from learnkit.backends.files.store import Journal, locked
from learnkit.core.interface import AgentLike, Call
from learnkit.core.mechanism import Mechanism
from learnkit.core.transcript import texts
from learnkit.errors import ToolError, UsageError
from learnkit.events.checkpoints import CheckpointMade, CheckpointRestored
from learnkit.events.text import one_line
from learnkit.mechanisms.coding import CodingTools
from learnkit.runtime import atomic_write
from learnkit.runtime.workspace import STATE, Workspace

_WRITES = ("write_file", "edit_file")
#: The lines of the journal: back to a checkpoint, a file that is kept, a prompt.
_KEYS = {
    2: {"checkpoint", "to"},
    3: {"checkpoint", "path", "sha256"},
    4: {"checkpoint", "prompt", "messages", "digest"},
}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A place to go back to.

    Attributes:
        number: from 1 up.
        prompt: the beginning of the prompt that follows it.
        files: what the file tools have changed between it and the next one.
    """

    number: int
    prompt: str
    files: tuple[str, ...]


class Checkpoints(Mechanism):
    """Keeps what the file tools are about to change, and goes back to before a prompt.

    Files of subagents and teammates are kept as well, as far as they are in the workspace. Put it
    last, so that nothing is kept for a call that another mechanism refuses. Emits
    ``checkpoint.made`` and ``checkpoint.restored``.

    Args:
        workspace: the folder whose files are kept.
        folder: where they are kept: one for each conversation; by default
            ``.learnkit/checkpoints`` in the workspace, out of reach of the file tools.

    Raises:
        UsageError: if a link leads out of the folder, or to it.
    """

    def __init__(self, workspace: str | Path, folder: str | Path | None = None) -> None:
        self._workspace = Workspace(workspace)
        own = self._workspace.root / STATE / "checkpoints"
        self._folder = Path(folder or own)
        if (folder is None and own.resolve() != own) or link_in(self._folder):
            raise UsageError(f"a link in {self._folder} leads elsewhere; remove it")
        (self._folder / "files").mkdir(mode=0o700, parents=True, exist_ok=True)
        (self._folder / ".gitignore").write_text("*\n")
        self._journal = Journal(self._folder / "journal.jsonl")
        entries = self._entries()
        self._number = max((one["checkpoint"] for one in entries), default=0)
        self._kept = {
            one["path"] for one in entries if "path" in one and one["checkpoint"] == self._number
        }
        self._seen: Any = None  # the last prompt

    @property
    def checkpoints(self) -> list[Checkpoint]:
        """Those that can be gone back to, the oldest first."""
        found: dict[int, tuple[str, list[str]]] = {}
        for one in self._entries():
            number = one["checkpoint"]
            if "prompt" in one:
                found[number] = one["prompt"], []
            elif "to" in one:  # what was between is another history now
                found = {n: each for n, each in found.items() if not one["to"] <= n < number}
            elif number in found:
                found[number][1].append(one["path"])
        return [Checkpoint(n, prompt, tuple(files)) for n, (prompt, files) in found.items()]

    def before_model(self, agent: AgentLike) -> None:
        """Make a checkpoint when a prompt has come."""
        prompt = agent.messages[-1]
        if agent.turns or prompt["role"] != "user" or prompt is self._seen:
            return
        self._seen = prompt
        said = one_line(next(texts(prompt["content"]), ""), 200)
        self._begin(said, len(agent.messages) - 1, _digest(prompt))
        agent.emit(CheckpointMade(number=self._number, prompt=said))

    def refuse(self, agent: AgentLike, call: Call) -> str | None:
        """Keep the file that a call is about to change; a reason if it can't be kept."""
        own = CodingTools.of(agent)
        if call.name not in _WRITES or own is None or not self._number:
            return None
        try:
            place = own.workspace.locate(str(call.input.get("path")))
            if place.is_relative_to(self._workspace.root):
                self._keep(str(place.relative_to(self._workspace.root)))
        except ToolError:
            return None  # the tool itself will say what is wrong with the path
        except OSError as error:
            return f"Not run: the file can't be kept for going back ({error.strerror or error})."
        return None

    def rewind(
        self, number: int, *, files: bool = True, conversation: bool = True
    ) -> tuple[list[str], bool]:
        """Go back to before a prompt. How it was until now becomes a checkpoint too.

        Args:
            number: of the checkpoint.
            files: put back what the file tools have changed since. What commands did stays.
            conversation: forget the prompt and what came after it. That cannot be undone.

        Returns:
            The files that were put back or removed; and whether the conversation went back. It
            can't where compaction has replaced the prompt since.

        Raises:
            UsageError: if there is no such checkpoint, or what was kept is damaged; nothing has
                changed then.
        """
        if number not in [one.number for one in self.checkpoints]:
            raise UsageError(f"there is no checkpoint {number}")
        with locked(self._folder):
            restored = self._put_back(number) if files else []
        begun = next(one for one in self._entries() if one["checkpoint"] == number)
        messages, index = self.agent.messages, begun["messages"]
        whole = len(messages) > index and _digest(messages[index]) == begun["digest"]
        if conversation and whole:
            self.agent.rewrite(messages[:index], "rewound")
        done = CheckpointRestored(
            number=number, files=tuple(restored), conversation=conversation and whole
        )
        self.emit(done)
        return restored, done.conversation

    def _put_back(self, number: int) -> list[str]:
        wanted: dict[str, bytes | None] = {}
        for one in self._entries():
            if "path" in one and one["checkpoint"] >= number:
                wanted.setdefault(one["path"], self._content(one["sha256"]))
        now = {path: self._workspace.content(path) for path in wanted}
        changed = [path for path in wanted if now[path] != wanted[path]]
        self._begin(f"(before going back to {number})", 0, "")
        for path in changed:
            self._keep(path)
        for path in changed:
            self._workspace.put(path, wanted[path])
        self._journal.append({"checkpoint": self._number, "to": number})
        return changed

    # What is kept

    def _begin(self, prompt: str, messages: int, digest: str) -> None:
        with locked(self._folder):
            self._number, self._kept = self._number + 1, set()
            about = {"prompt": prompt, "messages": messages, "digest": digest}
            self._journal.append({"checkpoint": self._number, **about})

    def _keep(self, path: str) -> None:
        with locked(self._folder):
            if path in self._kept:
                return
            data, digest = self._workspace.content(path), None
            if data is not None:
                digest = hashlib.sha256(data).hexdigest()
                atomic_write.replace(self._folder / "files" / digest, data)
            self._journal.append({"checkpoint": self._number, "path": path, "sha256": digest})
            self._kept.add(path)

    def _content(self, digest: str | None) -> bytes | None:
        if digest is None:
            return None
        place = self._folder / "files" / Path(digest).name
        data = place.read_bytes() if place.is_file() else b""
        if hashlib.sha256(data).hexdigest() != digest:
            raise UsageError(f"{place} is damaged; what was kept there can't be put back")
        return data

    def _entries(self) -> list[dict[str, Any]]:
        """What the journal says, without what no checkpoint has written."""
        return [
            one
            for one in self._journal.read()[0]
            if _KEYS.get(len(one)) == set(one) and type(one["checkpoint"]) is int
        ]


def _digest(message: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(message["content"]).encode()).hexdigest()

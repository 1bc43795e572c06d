"""What a rule can do: call the tools on offer, and wait for what the harness delivers.

A rule is a generator. It yields :class:`Ask` for calls and :class:`Wait` for a delivery, and gets
what came of it. For every request it runs again from its beginning, and gets what is in the
conversation already; the first thing that is not there is the reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from learnkit.clients.scripted import Block
from learnkit.simulation.stand_in.conversation import Conversation, Note, Result

#: Name and input of a call.
Call: TypeAlias = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Ask:
    """Make these calls in one reply."""

    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """End the turn with this text, until something is delivered."""

    text: str


Steps: TypeAlias = Generator[Ask | Wait, Any, str]
Doing: TypeAlias = Generator[Ask | Wait, Any, Any]


class Failed(Exception):
    """A clause cannot be carried out; the text says why."""


@dataclass(frozen=True, slots=True)
class Role:
    """What makes a tool one for a job: parameters, and words in its name or description."""

    parameters: tuple[str, ...]
    words: str
    not_words: str = r"(?!)"


ROLES: Mapping[str, Role] = {
    "run": Role(("command",), r"command|bash|shell", r"background|worktree"),
    "background": Role(("command",), r"background"),
    "read": Role(("path",), r"\bread|\bshow|\breturn|content"),
    "write": Role(("path", "content"), r"writ|creat|sav"),
    "edit": Role(("path", "old_text", "new_text"), r"replac|edit|chang"),
    "delegate": Role(("prompt", "description"), r"subagent|subtask|agent"),
}
#: Other names of a parameter that mean the same.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "command": ("command", "cmd"),
    "path": ("path", "file", "filename", "file_path"),
    "content": ("content", "text", "body"),
    "old_text": ("old_text", "old", "old_string"),
    "new_text": ("new_text", "new", "new_string"),
    "prompt": ("prompt",),
    "description": ("description",),
}
_NO_TOOL = {
    "run": "there is no tool that runs a command",
    "background": "there is no tool that runs a command in the background",
    "read": "there is no tool that reads a file",
    "write": "there is no tool that writes a file",
    "delegate": "there is no tool that starts a subagent",
}
_CODE = re.compile(r"\[exit code (-?\d+)\]\s*\Z")


class Kit:
    """The tools on offer, found by what they say about themselves.

    Args:
        tools: as in the request.
    """

    def __init__(self, tools: Sequence[Block]) -> None:
        self.tools = {tool["name"]: tool for tool in tools if "input_schema" in tool}

    def has(self, wanted: str) -> bool:
        """Whether there is a tool of a name, or one for a role.

        Args:
            wanted: the name, or a key of :data:`ROLES`.
        """
        if wanted in ("file", "look"):  # bash can do what the file tools do
            return self.has("run") or self.has("write" if wanted == "file" else "read")
        return wanted in self.tools or (wanted in ROLES and self.role(wanted) is not None)

    def role(self, name: str) -> tuple[str, dict[str, str]] | None:
        """The tool for a role, and how it calls the role's parameters; None if there is none.

        Args:
            name: a key of :data:`ROLES`.
        """
        role = ROLES[name]
        for tool in self.tools.values():
            about = str(tool.get("description", "")).partition("\n")[0]  # the rest sets limits
            said = f"{tool['name']} {about}".lower().replace("_", " ")
            if not re.search(role.words, said) or re.search(role.not_words, tool["name"].lower()):
                continue
            there = self.parameters(tool["name"])
            found = {
                wanted: next((one for one in ALIASES[wanted] if one in there), "")
                for wanted in role.parameters
            }
            others = set(self.required(tool["name"])) - set(found.values())
            if all(found.values()) and not others:
                return tool["name"], found
        return None

    def parameters(self, name: str) -> Mapping[str, Any]:
        """The parameters of a tool, with their schemas; none if there is no such tool.

        Args:
            name: of the tool.
        """
        schema = self.tools.get(name, {}).get("input_schema", {})
        found = schema.get("properties") if isinstance(schema, dict) else None
        return found if isinstance(found, dict) else {}

    def required(self, name: str) -> list[str]:
        """The names of the parameters that a call of a tool must have.

        Args:
            name: of the tool.
        """
        schema = self.tools.get(name, {}).get("input_schema", {})
        return list(schema.get("required") or ()) if isinstance(schema, dict) else []


@dataclass(slots=True)
class Hands:
    """What the rules work with; made anew for each request.

    Attributes:
        said: the request, read.
        kit: the tools on offer.
        carry_out: does what a text asks for, and returns the report: for work within the prompt.
        results: of the calls of the last clause that made any.
        files: mentioned so far, the last one last; likewise mates, trees and tasks.
        folder: made last.
        crew: teammates that were started for this prompt, with their roles.
        place: the worktree in which files are changed; empty for the workspace.
        changed: the worktree in which a file was made last.
        jobs: background jobs, by id: the command.
        ended: the results of jobs, by id.
        told: ids of the jobs whose results were reported.
        reports: what each teammate has reported.
        due: teammates whose report has not come yet.
        held: deliveries that no clause has asked for yet.
        request: id of the last request of a protocol.
        query: words that said what a skill is wanted for.
        todo: the items of the todo list.
        refused: teammates whose plan was not approved, so that their work isn't to be done.
        open: clauses that are not handled yet.
    """

    said: Conversation
    kit: Kit
    carry_out: Callable[[str], Steps]
    results: list[tuple[str, Result]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    folder: str = ""
    mates: list[str] = field(default_factory=list)
    trees: list[str] = field(default_factory=list)
    tasks: list[int] = field(default_factory=list)
    crew: dict[str, str] = field(default_factory=dict)
    place: str = ""
    changed: str = ""
    jobs: dict[str, str] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    ended: dict[str, Note] = field(default_factory=dict)
    reports: dict[str, list[str]] = field(default_factory=dict)
    due: list[str] = field(default_factory=list)
    held: list[Note] = field(default_factory=list)
    request: str = ""
    query: str = ""
    todo: list[dict[str, str]] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    open: int = 0

    # Calls

    def call(self, tool: str, **input: Any) -> Generator[Ask | Wait, Any, Result]:
        """Call a tool, and return its result.

        Args:
            tool: its name.
            input: of the call: a value for each parameter.

        Raises:
            Failed: if the tool is not on offer, or fails.
        """
        (result,) = yield from self.calls((tool, input))
        return result

    def calls(self, *calls: Call) -> Generator[Ask | Wait, Any, list[Result]]:
        """Make several calls in one reply, and return their results.

        Args:
            calls: name and input of each, in order.

        Returns:
            A result for each call, in the same order.

        Raises:
            Failed: if a tool is not on offer, or fails.
        """
        for tool, _ in calls:
            if tool not in self.kit.tools:
                raise Failed(f"there is no tool {tool}")
        results: list[Result] = yield Ask(calls)
        self.results = [(tool, result) for (tool, _), result in zip(calls, results, strict=True)]
        for tool, result in self.results:
            if result.error:
                raise Failed(f"{tool} failed: {first_line(result.text)}")
        return results

    def use(self, role: str, **input: Any) -> Generator[Ask | Wait, Any, Result]:
        """Call the tool for a role, and return its result.

        Args:
            role: a key of :data:`ROLES`.
            input: values for the role's parameters, under the names that the role has for them.

        Raises:
            Failed: if no tool is one for it, or it fails.
        """
        found = self.kit.role(role)
        if found is None:
            raise Failed(_NO_TOOL.get(role, f"there is no tool to {role}"))
        name, parameters = found
        return (yield from self.call(name, **{parameters[one]: input[one] for one in input}))

    def run(self, command: str) -> Generator[Ask | Wait, Any, Result]:
        """Run a command, in the worktree at hand if there is one, and return its result.

        Args:
            command: for the shell.

        Raises:
            Failed: if no tool can, or the command fails.
        """
        if self.place:
            result = yield from self.call("worktree_run", name=self.place, command=command)
        else:
            result = yield from self.use("run", command=command)
        if code := _CODE.search(result.text):
            raise Failed(
                f"the command {short(command)!r} ended with exit code {code[1]}: "
                f"{first_line(result.text)}"
            )
        return result

    def look(self, command: str) -> Generator[Ask | Wait, Any, str]:
        """Run a command that only looks, again if compaction has removed what it printed.

        Args:
            command: for the shell.

        Returns:
            What it prints.

        Raises:
            Failed: if no tool can run it, or it fails.
        """
        result = yield from self.run(command)
        while result.cut:
            result = yield from self.run(command)
        return result.text

    # Files

    def write(self, path: str, content: str) -> Doing:
        """Write a file, and confirm it by the result.

        Args:
            path: of the file, relative to the workspace or the worktree at hand.
            content: all of its text.

        Raises:
            Failed: if no tool can, or the result doesn't confirm it.
        """
        self.files.append(path)
        if not self.place and self.kit.role("write"):
            yield from self.use("write", path=path, content=content)
            return
        folder = path.rpartition("/")[0]
        made = f"mkdir -p {quoted(folder)} && " if folder else ""
        end = "EOF"
        while end in content:
            end += "F"
        body = content if content.endswith("\n") or not content else content + "\n"
        command = f"{made}cat > {quoted(path)} <<'{end}' && test -f {quoted(path)} && echo written"
        result = yield from self.run(f"{command}\n{body}{end}")
        confirm(result, "written", f"writing {path}")

    def touch(self, path: str) -> Doing:
        """Make an empty file.

        Args:
            path: of the file, relative to the workspace or the worktree at hand.

        Raises:
            Failed: if no tool can, or the file is there already and has a text.
        """
        self.files.append(path)
        if self.place or self.kit.has("run"):
            folder = path.rpartition("/")[0]
            made = f"mkdir -p {quoted(folder)} && " if folder else ""
            file = quoted(path)
            check = f"test ! -s {file} && touch {file} && echo made || echo 'it has a text already'"
            result = yield from self.run(made + check)
            confirm(result, "made", f"making {path}")
            return
        there = self.kit.role("read")
        if there is not None:  # a failure is what we hope for
            (result,) = yield Ask(((there[0], {there[1]["path"]: path}),))
            if not result.error and result.text.strip() not in ("", "(no output)"):
                raise Failed(f"{path} is there already, and has a text")
        yield from self.use("write", path=path, content="")

    def read(self, path: str) -> Generator[Ask | Wait, Any, Result]:
        """Read a file, and return the result of the call.

        Args:
            path: of the file, relative to the workspace or the worktree at hand.

        Raises:
            Failed: if no tool can.
        """
        self.files.append(path)
        if not self.place and self.kit.role("read"):
            return (yield from self.use("read", path=path))
        if not self.kit.has("run") and not self.place:
            raise Failed(_NO_TOOL["read"])
        return (yield from self.run(f"cat {quoted(path)}"))

    def source(self, path: str) -> Generator[Ask | Wait, Any, str]:
        """Read a file, and return all of its text, which ends in a newline.

        Args:
            path: of the file, relative to the workspace or the worktree at hand.

        Raises:
            Failed: if no tool can, or some of the text was left out.
        """
        result = yield from self.read(path)
        text = self.text_of(path, result)
        if any(line.startswith("[…") for line in text.splitlines()):
            raise Failed(f"{path} was not shown whole")
        return text if text.endswith("\n") else f"{text}\n"

    def replace(self, path: str, old: str, new: str) -> Doing:
        """Replace a piece of text at the first place where it occurs.

        Args:
            path: of the file, relative to the workspace or the worktree at hand.
            old: the text to replace.
            new: the text that takes its place.

        Raises:
            Failed: if no tool can, or the text is not there.
        """
        self.files.append(path)
        if not self.place and self.kit.role("edit"):
            yield from self.use("edit", path=path, old_text=old, new_text=new)
            return
        lines = (
            "from pathlib import Path",
            f"path = Path({json.dumps(path)})",
            "text = path.read_text()",
            f"old, new = {json.dumps(old)}, {json.dumps(new)}",
            "assert old in text, 'the text is not there'",
            "path.write_text(text.replace(old, new, 1))",
            "print('replaced')",
        )
        script = "\n".join(lines)
        result = yield from self.run(f"python - <<'EOF'\n{script}\nEOF")
        confirm(result, "replaced", f"the change of {path}")

    # Deliveries

    def take(self, text: str) -> Generator[Ask | Wait, Any, Note]:
        """End the turn with a text, and note what is delivered next wherever it belongs.

        A request to shut down is answered at once, by its id: approved if no clause is open.

        Args:
            text: the reply.

        Returns:
            What was delivered.

        Raises:
            Failed: if a request to shut down can't be answered.
        """
        note: Note = yield Wait(text)
        if note.kind == "job":
            self.ended[note.id] = note
        elif note.type == "shutdown_request" and note.id:
            reason = {} if not self.open else {"reason": f"{self.open} steps are not done yet"}
            yield from self.call(
                "shutdown_response", request_id=note.id, approve=not self.open, **reason
            )
        elif note.type in ("message", "broadcast") and note.sender != self.said.leader:
            self.reports.setdefault(note.sender, []).append(note.text)
            if note.sender in self.due and not note.text.startswith("Not done yet"):
                self.due.remove(note.sender)
        else:
            self.held.append(note)
        return note

    def next(self, what: str) -> Generator[Ask | Wait, Any, Note]:
        """Wait for the next delivery.

        Args:
            what: is waited for; says why the work is not done yet.
        """
        return (yield from self.take(f"Not done yet: I'm waiting for {what}."))

    def report_of(self, mate: str) -> Doing:
        """Wait until a teammate that was started for this prompt has reported.

        Args:
            mate: its name; there is no wait for one whose report isn't due.
        """
        while mate in self.due:
            yield from self.next(f"the report of {mate}")

    def wait_for(self, type: str, *, sender: str = "", id: str = "", what: str) -> Doing:
        """Wait for a message of a protocol, and take it.

        Args:
            type: of the message, such as ``shutdown_response``.
            sender: name of the teammate that must have written it; empty for anyone.
            id: of the request that it must be about; empty for any.
            what: is waited for; says why the work is not done yet.

        Returns:
            The message.
        """
        while True:
            for note in self.held:
                mine = note.type == type and sender in ("", note.sender)
                if mine and id in ("", note.id):
                    self.held.remove(note)
                    return note
            yield from self.next(what)

    def job(self, id: str) -> Generator[Ask | Wait, Any, Note]:
        """Wait for the result of a background job, and return it.

        Args:
            id: of the job, a key of ``jobs``.
        """
        while id not in self.ended:
            yield from self.next(f"the result of job {id}")
        return self.ended[id]

    # Words

    def file(self, said: str) -> str:
        """The file that a word means: itself, or for "it" the one mentioned last.

        Args:
            said: the path or the pronoun, as in the prompt.

        Raises:
            Failed: if "it" means none.
        """
        if said.lower() not in ("it", "that", "this", "the file", "them"):
            return said
        if not self.files:
            raise Failed(f"I don't know which file {said!r} means")
        return self.files[-1]

    def mate(self, said: str) -> str:
        """The teammate that a word means: itself, or for a pronoun the one mentioned last.

        Args:
            said: the name, also in the genitive, or the pronoun, as in the prompt.

        Raises:
            Failed: if it means none.
        """
        if said.lower() not in ("it", "her", "him", "them", "his", "their", "she", "he"):
            return said.lower().removesuffix("'s")
        if not self.mates:
            raise Failed(f"I don't know who {said!r} is")
        return self.mates[-1]

    def tree(self, said: str) -> str:
        """The worktree that a word means: itself, or for "it" the one mentioned last.

        Args:
            said: the name or the pronoun, as in the prompt; empty means "it".

        Raises:
            Failed: if it means none.
        """
        if said and said.lower() not in ("it", "that", "the worktree"):
            return said
        if not self.trees:
            raise Failed(f"I don't know which worktree {said or 'it'!r} means")
        return self.trees[-1]

    def text_of(self, tool: str, result: Result) -> str:
        """A result's text, all of it.

        Args:
            tool: what the result is of, for the error: a tool, a path or a command.
            result: of the call.

        Raises:
            Failed: if some of it has been removed by compaction.
        """
        if result.cut:
            raise Failed(f"the result of {tool} was shortened by compaction, so I can't use it")
        return result.text


def confirm(result: Result, word: str, what: str) -> None:
    """Check that a result says what has to be true.

    Args:
        result: of the call.
        word: which it must contain.
        what: was done.

    Raises:
        Failed: if it doesn't contain it.
    """
    if word not in result.text and not result.cut:
        raise Failed(f"nothing confirms {what}: {first_line(result.text)}")


def quoted(path: str) -> str:
    """A path for the shell.

    Args:
        path: any.
    """
    plain = re.fullmatch(r"[\w./-]+", path)
    return path if plain else "'" + path.replace("'", "'\\''") + "'"


def first_line(text: str) -> str:
    """The first line of a text that isn't blank, shortened.

    Args:
        text: any.
    """
    return short(next((line for line in text.splitlines() if line.strip()), "(no output)"))


def short(text: str, most: int = 160) -> str:
    """A text in one line of limited length.

    Args:
        text: any.
        most: characters.
    """
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"

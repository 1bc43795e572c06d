"""``learnkit serve``: a model for a program in another process: a recording, a script, or you."""

from __future__ import annotations

import contextlib
import importlib
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from learnkit.clients.connect import model_setting, recorded
from learnkit.clients.recordings.replay import Miss
from learnkit.clients.scripted import Request, Scripted, Source
from learnkit.clients.server import MessagesServer
from learnkit.course import files as course_files
from learnkit.course.scenario import workspace_to_keep
from learnkit.errors import UsageError
from learnkit.runtime.shell_environment import REPRODUCIBLE, SWITCH
from learnkit.terminal.person import Person


@dataclass(frozen=True, slots=True)
class Model:
    """What answers.

    Attributes:
        source: of replies.
        name: what it is called in a sentence.
        model: the name that a request has to ask for.
        prompts: those that it answers; empty if it answers any.
        is_recorded: whether only the very commands of a recording fit.
    """

    source: Source
    name: str
    model: str
    prompts: tuple[str, ...] = ()
    is_recorded: bool = True

    @classmethod
    def of(cls, what: str) -> Model:
        """The model that the command line names."""
        if not what:
            return cls(Person(sys.stdin, _say), "you", model_setting())
        if what.endswith(".py"):
            return cls(Scripted(_script(Path(what))), what, model_setting())
        if what == "tiny" or what.endswith(".gguf"):
            return cls._local(what)
        lesson, _, scenario = what.partition("/")
        with contextlib.suppress(ModuleNotFoundError):
            own = importlib.import_module(f"learnkit.course.lessons.{what}.model")
            name = f"a function of each request, {lesson}'s"
            return cls(Scripted(own.script), name, model_setting(), own.PROMPTS, False)
        path = course_files.recordings() / f"{lesson}.yaml"
        if not path.exists():
            known = ", ".join(one.stem for one in sorted(course_files.recordings().glob("s*.yaml")))
            raise UsageError(
                f"there is nothing called {what!r} to serve; name a lesson ({known}), a scenario "
                "of one (s01/mail), a Python file that defines `script`, or be the model with --me"
            )
        source = recorded(path, scenario or None)
        prompts = tuple(source.prompts)
        return cls(source, f"{lesson}/{source.scenario}", source.model or model_setting(), prompts)

    @classmethod
    def _local(cls, what: str) -> Model:
        """A model on this machine; the smallest one is fetched, once the user agrees."""
        from learnkit.clients import local

        if what == "tiny" and not local.tiny().exists():
            asked = f"Fetch SmolLM2-135M-Instruct (Apache-2.0, 93 MB) to {local.tiny()}?"
            if not typer.confirm(asked, err=True):
                raise UsageError("nothing was fetched; a model of your own: learnkit serve X.gguf")
            _say("Fetching …")
            local.fetch_tiny()
        source, model = local.opened(what)
        return cls(source, "llama.cpp on this machine", model, is_recorded=False)

    @property
    def asked(self) -> list[str]:
        """The prompts as lines; after the first one of a recording, a program may send the next."""
        later = "then" if self.is_recorded else "prompt"
        return [f"  {later if n else 'prompt'}: {one}" for n, one in enumerate(self.prompts)]

    def missed(self, request: Request, error: Exception) -> str:
        """What a client is told whose request has no reply."""
        if not isinstance(error, Miss):
            _say(str(error))
            return str(error)
        answers = f"{self.name} answers these, and the changes that its lesson invites:"
        others = "To answer other requests yourself: learnkit serve --me -- COMMAND"
        _say("\n".join([error.report, "", answers, *self.asked, others]))
        return f"{error.report.splitlines()[0]} Where learnkit serve runs, it says what differs"


def _script(path: Path) -> Any:
    try:
        defined = runpy.run_path(str(path))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    if "script" not in defined:
        raise UsageError(
            f"{path} defines no `script`: a list of replies, a function of the request, or a dict "
            "of these by lane, as lk.scripted() takes them"
        )
    return defined["script"]


def serve(
    model: Model, command: Sequence[str], *, port: int = 0, folder: Path | None = None
) -> int:
    """Serve a model, to one command or until Ctrl-C."""
    for program in command[1:2]:  # Python would look for it in the workspace, and say so
        if program.endswith(".py") and not Path(program).exists():
            raise UsageError(
                f"there is no {program} in {Path.cwd()}; go to its folder first (the lessons write "
                "agent.py beside the notebooks, by default into learnkit-course)"
            )
    try:
        server = MessagesServer(model.source, port, missed=model.missed)
    except OSError as error:
        raise UsageError(f"port {port} cannot be used: {error.strerror}") from None
    lead = variables(server.url, model.model)
    with server:
        answers = ", and answers:" if model.asked else ""
        _say(f"{model.name} at {server.url}, under the name {model.model}{answers}")
        for line in model.asked:
            _say(line)
        if not command:
            for variable, value in lead.items():
                _say(f"export {variable}={value}")
            try:
                _say("Ctrl-C ends it.")
                signal.pause()
            except KeyboardInterrupt:
                return 0
        words = command if folder else absolute(command)
        folder = folder or workspace_to_keep()
        _say(f"The command works in {folder}, which is kept.")
        if model.prompts:  # commands print what the replies expect, and git needs no user's name
            lead |= {SWITCH: "1", **REPRODUCIBLE}
        return run(words, folder, lead)


def _say(line: str) -> None:
    """On stderr: stdout belongs to the command."""
    print(line, file=sys.stderr, flush=True)


def variables(url: str, model: str) -> dict[str, str]:
    """What leads a program to the server: learnkit's variables, the SDK's, and other agents'."""
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "offline",
        "ANTHROPIC_MODEL": model,
        "LEARNKIT_MODEL": model,
    }


def absolute(words: Sequence[str]) -> list[str]:
    """The words of a command that will run in another folder: names of files here become paths."""
    return [str(Path(word).absolute()) if Path(word).exists() else word for word in words]


def run(command: Sequence[str], folder: Path, lead: Mapping[str, str]) -> int:
    """Run a command that asks the server, and return its exit code."""
    loopback = "127.0.0.1,localhost"
    env = {name: value for name, value in os.environ.items() if name != "ANTHROPIC_AUTH_TOKEN"}
    env |= {"NO_PROXY": loopback, "no_proxy": loopback, **lead}
    # `python` is the one that runs learnkit, so that it has the SDK.
    env["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), env.get("PATH", os.defpath)))
    try:
        process = subprocess.Popen(command, cwd=folder, env=env)
    except OSError as error:
        raise UsageError(f"{command[0]} cannot be started: {error.strerror}") from None
    while True:
        try:
            code = process.wait()
            if code < 0:
                _say(f"{command[0]} was killed by {signal.Signals(-code).name}.")
            return code if code >= 0 else 128 - code
        except KeyboardInterrupt:  # the terminal has sent it to the command as well
            continue

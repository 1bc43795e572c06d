"""The child process of ``learnkit mine``: it imports the learner's file, and runs their agent.

It tells its parent, on a pipe, which classes it uses and how the run ended. SIGTERM interrupts it
like Ctrl-C does, so it can say where it was. All imports are at the top: the time limits begin
after them, so a slow disk takes nothing from the learner's agent.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import json
import linecache
import os
import signal
import sys
from collections.abc import Collection
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import anthropic
import typer
from rich.console import Console

from learnkit.clients.connect import connect
from learnkit.core.agent import Agent
from learnkit.core.mechanism import Mechanism
from learnkit.core.text import clean, one_line
from learnkit.core.token_count import estimate_tokens
from learnkit.course.additions import hooks_of
from learnkit.errors import LearnkitError, UsageError, described
from learnkit.mechanisms.coding import CodingTools
from learnkit.runtime.shell import BwrapShell, LocalShell
from learnkit.simulation.stand_in.model import BADGE, stand_in
from learnkit.terminal.input import Lines
from learnkit.terminal.mine import MARK
from learnkit.terminal.output import Output
from learnkit.terminal.permission import Consent

if TYPE_CHECKING:
    from learnkit.clients.transport import Client
    from learnkit.runtime.shell import Shell

#: Requests that a run may make.
TURNS = 30


def main(pipe: int, order: dict[str, Any]) -> None:
    """Import, build, run; tell the parent how it went.

    Args:
        pipe: the file descriptor to tell it on.
        order: ``file``, ``prompt``, classes to run ``without``, and whether to run ``live`` and
            to ``ask``.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.set_inheritable(pipe, False)
    sys.dont_write_bytecode = True
    file = Path(order["file"])

    def tell(**what: object) -> None:
        os.write(pipe, json.dumps(what).encode() + b"\n")

    tell(started=True)  # what comes before has nothing to do with the learner's file
    try:
        try:
            module = _imported(file)
            made, left_out = mechanisms(module, order["without"])
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            tell(over=_told(error, file))
            return
        classes = {type(one).__name__: sorted(hooks_of(type(one))) for one in made}
        tell(classes=classes, left_out=left_out, others=_others(module))
        try:
            over = _run(made, order, file)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            over = _told(error, file)
        sys.stdout.flush()
        tell(over=over)
    except KeyboardInterrupt as error:
        tell(stopped=_where(error, file))


def mechanisms(
    module: ModuleType, without: Collection[str] = ()
) -> tuple[list[Mechanism], dict[str, str]]:
    """Make the mechanisms of a module whose constructors need nothing.

    Args:
        module: the learner's.
        without: names of classes to leave out.

    Returns:
        The mechanisms in the order of the file, and the reason for each class left out.
    """
    made: list[Mechanism] = []
    left_out: dict[str, str] = {}
    offers = {tool.name: "learnkit's CodingTools" for tool in CodingTools(".").tools}
    for name, kind in vars(module).items():
        if not _own(module, kind) or not issubclass(kind, Mechanism) or kind.__name__ != name:
            continue
        if name in without:
            left_out[name] = "you asked for that"
            continue
        try:
            needed = [p.name for p in inspect.signature(kind).parameters.values() if _needed(p)]
            if needed:
                left_out[name] = f"its constructor needs {', '.join(needed)}"
                continue
            one = kind()
            tools = [tool.name for tool in one.tools]
        except Exception as error:
            left_out[name] = f"it could not be made: {_told(error, Path(str(module.__file__)))}"
            continue
        if twice := [tool for tool in tools if tool in offers]:
            left_out[name] = f"its tool {twice[0]!r} is already that of {offers[twice[0]]}"
            continue
        offers |= dict.fromkeys(tools, name)
        made.append(one)
    return made, left_out


def _own(module: ModuleType, thing: object) -> bool:
    return isinstance(thing, type) and thing.__module__ == module.__name__


def _needed(parameter: inspect.Parameter) -> bool:
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and parameter.kind not in kinds


def _others(module: ModuleType) -> list[str]:
    """The classes and functions of the module that are no mechanisms."""
    home = module.__name__
    return [
        name
        for name, one in vars(module).items()
        if callable(one)
        and getattr(one, "__module__", None) == home
        and not (isinstance(one, type) and issubclass(one, Mechanism))
    ]


def _imported(file: Path) -> ModuleType:
    sys.path.append(str(file.parent))  # what they put beside it
    loader = SourceFileLoader("my_agent", str(file))  # whatever the file is called
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


def _run(made: list[Mechanism], order: dict[str, Any], file: Path) -> str:
    """Run the agent on the prompt; return what went wrong."""
    output = Output(Console(highlight=False))
    shell, how = _shell()
    client: Client = connect("live") if order["live"] else stand_in()
    parts = [CodingTools(".", shell), *made]
    if order["live"] and order["ask"]:
        parts.append(Consent(Lines(input, output).ask))
    with client.clock, Agent(client, parts, max_turns=TURNS) as agent:
        names = ", ".join(type(one).__name__ for one in made) or "no class of yours yet"
        output.say(f"{file.name}: {names}")
        output.say(f"Model: {client.model if order['live'] else BADGE}. {how}", "dim")
        if order["live"] and order["ask"]:
            _ask_about_cost(agent.specs)
        output.say(f"\n> {clean(order['prompt'])}", "bold")
        agent.hear = lambda kind, text: output.write(text) if kind == "text" else None
        agent.events.subscribe(output.event)
        try:
            outcome = agent.run(order["prompt"])
        except anthropic.APIError as error:
            return clean(f"the API: {error}")
        finally:
            output.end()
        if outcome.reason not in ("end_turn", "stop_sequence"):
            output.say(f"({outcome.reason.replace('_', ' ')})", "dim")
    return ""


def _shell() -> tuple[Shell, str]:
    """A sandbox if there is one: commands can write only to the copy there."""
    env = {MARK: os.environ[MARK]}  # so that the parent can end what it starts
    if BwrapShell.available():
        return BwrapShell(env), "Commands run in a sandbox, and can write only to the copy."
    return LocalShell(env), "There is no sandbox on this machine: commands run as you."


def _ask_about_cost(specs: list[dict[str, Any]]) -> None:
    question = (
        f"Each request has ≈{sum(map(estimate_tokens, specs)):,} tokens of tools, and all messages "
        f"so far; a run makes at most {TURNS} requests. Ask the API?"
    )
    with contextlib.suppress(typer.Abort):  # there is nobody to answer
        if typer.confirm(question):
            return
    raise UsageError("the API was not asked")


# Errors


def _told(error: BaseException, file: Path) -> str:
    """An error as a sentence with the learner's line."""
    if isinstance(error, LearnkitError) and not _where(error, file):
        return str(error)
    if isinstance(error, SyntaxError) and error.filename == str(file):
        said = f"SyntaxError: {error.msg}"
        return f"{said}, in line {error.lineno} of {file.name}{_line(error.text or '')}"
    return one_line(described(error), 240) + _where(error, file)


def _where(error: BaseException, file: Path) -> str:
    """The last line of the learner's file that an error came through."""
    found, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(file):
            line = linecache.getline(str(file), trace.tb_lineno)
            found = f", in line {trace.tb_lineno} of {file.name}{_line(line)}"
        trace = trace.tb_next
    return found


def _line(text: str) -> str:
    line = one_line(text, 80)
    return f": {line}" if line else ""


if __name__ == "__main__":
    main(int(sys.argv[1]), json.loads(sys.argv[2]))

"""The terminal: ``learnkit lab | chat | serve | record | refresh | html``, …"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from learnkit import __version__
from learnkit.course import files as course_files
from learnkit.errors import LearnkitError, UsageError, lab_extra
from learnkit.events.text import clean, one_line
from learnkit.runtime import atomic_write

if TYPE_CHECKING:
    from learnkit.terminal.headless import Form
    from learnkit.terminal.saved import Record
    from learnkit.terminal.session import Session

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="learnkit: build a coding agent, one mechanism at a time.",
)

backend = typer.Typer(
    no_args_is_help=True, help="Prepare the place that keeps teams of several machines."
)
app.add_typer(backend, name="backend")


def _say_version(asked: bool) -> None:
    if asked:
        typer.echo(f"learnkit {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="say which one")
    ] = False,
) -> None:
    """Build a coding agent, one mechanism at a time."""


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def lab(
    context: typer.Context,
    lesson: Annotated[str, typer.Argument(help="by default the start page")] = "",
    folder: Annotated[
        Path | None, typer.Option(help="of your copies; by default learnkit-course, here")
    ] = None,
    reset: Annotated[bool, typer.Option(help="start again from fresh copies")] = False,
    copy_only: Annotated[
        bool, typer.Option("--copy-only", help="make the copies, and open nothing")
    ] = False,
) -> None:
    """Open JupyterLab on your copies of the lessons, or on one: learnkit lab s03.

    Other options go to JupyterLab.
    \f
    """
    from learnkit.course.progress import working_copy
    from learnkit.course.workbook import folder as workbook
    from learnkit.course.workbook.start_page import NAME as START

    work = folder.absolute() if folder else working_copy()
    rest = context.args
    if lesson.startswith("-"):
        lesson, rest = "", [lesson, *rest]
    if "/" in lesson:
        raise UsageError(f"{lesson!r} is no lesson; a folder for your copies goes after --folder")
    if any(word.startswith(("--port", "--ServerApp.port")) for word in rest):
        rest += ["--ServerApp.port_retries=0"]  # this one, or an error
    if not copy_only:
        with lab_extra():
            metadata.version("jupyterlab")  # importing it takes two seconds
    course = course_files.notebooks()
    opened = _notebook(lesson, course).relative_to(course).as_posix() if lesson else START
    typer.echo(f"Your copies of the lessons are in {work}")
    for line in workbook.update(course, work, reset=reset):
        typer.echo(line)
    if copy_only:
        return
    options = [*workbook.options(work, opened), *rest]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")
    command = [sys.executable, "-m", "jupyterlab", *options]
    sys.stdout.flush()
    # JupyterLab takes the place of this process, so a signal that ends the one ends the other.
    os.execve(sys.executable, command, workbook.environment(work))


@app.command()
def agent(
    lesson: Annotated[str, typer.Argument(help="the last one that it holds, for example s05")],
    force: Annotated[bool, typer.Option("--force", help="replace a file that differs")] = False,
) -> None:
    """Write agent.py, the harness in one file, as it is after a lesson.
    \f
    """
    from learnkit.course.agent_file.own import write_reference

    path = write_reference(lesson, Path.cwd(), force=force)
    typer.echo(f"{path.name}: {len(path.read_text('utf-8').splitlines())} lines")


@app.command()
def refresh(
    lessons: Annotated[list[str] | None, typer.Argument(help="by default all")] = None,
) -> None:
    """Run the lessons as CI does, and write their outputs anew.
    \f
    """
    from learnkit.course.publish import execute

    for path in _chosen(lessons, course_files.originals()):
        typer.echo(f"{path.name}: {'changed' if execute.refresh(path) else 'as before'}")


@app.command()
def html(
    lessons: Annotated[list[str] | None, typer.Argument(help="by default all")] = None,
    out: Annotated[Path, typer.Option(help="the folder to write")] = Path("site"),
) -> None:
    """Build the HTML edition: pages with working sliders, which need no Python.
    \f
    """
    from learnkit.course.publish.html import build

    course = course_files.notebooks()
    chosen = [course_files.name(path) for path in _chosen(lessons, course)]
    for line in build(course, out, chosen):
        typer.echo(line)


@app.command()
def record(
    lesson: Annotated[str, typer.Argument(help="for example s04")],
    keep_replies: Annotated[
        bool, typer.Option("--keep-replies", help="no key: only what is said to the model changes")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="do not ask before spending tokens")] = False,
) -> None:
    """Make a lesson's recording again: with a key, or from the replies it holds.
    \f
    """
    from learnkit.clients.recordings.recording import Recording
    from learnkit.course.publish.execute import execute

    notebook = _notebook(lesson, course_files.originals())
    path = course_files.recordings() / f"{course_files.name(notebook)}.yaml"
    before = Recording.load(path) if path.exists() else Recording()
    if not keep_replies and not yes:
        asked = f"The recording has {len(before.turns)} replies. Ask the API for new ones?"
        typer.confirm(asked, abort=True)
    with tempfile.TemporaryDirectory(prefix="learnkit-") as folder:
        copy = Path(folder) / path.name
        if path.exists():
            shutil.copy(path, copy)
        mode = "keep" if keep_replies else "record"
        execute(notebook, {"LEARNKIT_MODE": mode, "LEARNKIT_RECORDINGS": folder})
        after = Recording.load(copy)
        if keep_replies and len(after.turns) < len(before.turns):
            raise UsageError(
                f"the lesson used {len(after.turns)} of {len(before.turns)} replies, so nothing "
                "was written; take the others out of the recording, or ask for them in the lesson"
            )
        changed = not path.exists() or copy.read_bytes() != path.read_bytes()
        atomic_write.replace(path, copy.read_bytes())
    typer.echo(f"{path.name}: {len(after.turns)} turns, {'changed' if changed else 'as before'}")


class _Chat(typer.core.TyperCommand):
    """A command line in which ``--resume`` may stand alone, and with which scripts talk."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        for place, after in enumerate([*args, ""][1:]):
            if args[place] == "--resume" and not re.match(r"\d", after):
                args[place] = "--resume="
        return super().parse_args(ctx, args)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        try:
            return super().invoke(ctx)
        except LearnkitError as error:
            if ctx.params["prompt"] is None:
                raise
            from learnkit.terminal.headless import failed

            failed(str(error), json=ctx.params["as_json"] or ctx.params["stream_json"])
            raise typer.Exit(1) from None  # 2 says something else to a script


@app.command(cls=_Chat)
def chat(
    workspace: Annotated[Path, typer.Argument(help="the folder to work in")] = Path(),
    prompt: Annotated[
        str | None,
        typer.Option("-p", "--prompt", help="print the answer to this and to standard input"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="with -p: as one JSON object")] = False,
    stream_json: Annotated[
        bool, typer.Option("--stream-json", help="with -p: each event as a line, then the result")
    ] = False,
    max_turns: Annotated[int, typer.Option(min=1, help="with -p: requests to the model")] = 50,
    max_cost: Annotated[
        float | None, typer.Option(min=0.0, help="with -p: US dollars, as far as prices are known")
    ] = None,
    go_on: Annotated[
        bool, typer.Option("--continue", help="go on with the last conversation here")
    ] = False,
    resume: Annotated[
        str | None, typer.Option(metavar="[ID]", help="go on with another one, or list them")
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help='run such calls without asking: "bash(pytest:*)"'),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="change nothing before you have approved a plan")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="run every call without asking")] = False,
    remote: Annotated[
        str, typer.Option(help="a git remote that teammates on other machines share, as origin")
    ] = "",
) -> None:
    """Talk to an agent with all twelve mechanisms, in this folder or another one.

    Without a key: learnkit serve s12 -- learnkit chat

    For scripts: learnkit chat -p "What does this change?" < a.diff
    \f
    """
    from learnkit.mechanisms.settings import Settings
    from learnkit.terminal.chat import Chat
    from learnkit.terminal.saved import folder_of, record_of
    from learnkit.terminal.session import live

    if prompt is None and (as_json or stream_json or max_cost is not None or max_turns != 50):
        raise UsageError("--json, --stream-json, --max-turns and --max-cost go with -p")
    if (as_json and stream_json) or (plan and yes):
        raise UsageError("give one of --json and --stream-json, and one of --plan and --yes")
    if prompt is not None and resume == "":
        raise UsageError("with -p, name the session: --resume ID; without it, --resume lists them")
    if not os.environ.get("ANTHROPIC_API_KEY"):
        raise UsageError(
            "there is no ANTHROPIC_API_KEY; set one, or try: learnkit serve s12 -- learnkit chat"
        )
    if not workspace.is_dir():
        raise UsageError(f"there is no folder {workspace}")
    folder = folder_of(workspace)
    asks = prompt is None and sys.stdin.isatty()
    settings = Settings.load(workspace, _accepts if asks else None)
    for note in settings.notes:
        _tell(note)
    rules = settings.rules("yes" if yes else "plan" if plan else None)
    rules.add("allow", *allow or ())
    if resume == "":
        resume = _picked(folder)
    record = record_of(folder, last=go_on, name=resume or "")

    def opened(saved: Record) -> AbstractContextManager[Session]:
        return live(workspace, saved, settings)

    if prompt is not None:
        from learnkit.terminal.headless import Headless, whole_prompt

        form: Form = "stream-json" if stream_json else "json" if as_json else "text"
        limits: Any = {"max_turns": max_turns, "max_cost": max_cost}
        run = Headless(opened(record), rules, form, remote=remote, **limits)
        raise typer.Exit(run.run(whole_prompt(prompt)))
    raise typer.Exit(Chat(opened, record, rules, workspace, remote=remote).run())


def _picked(folder: Path) -> str:
    """The name of the session that the user takes from the list; else the command is over."""
    from prompt_toolkit.application import create_app_session
    from prompt_toolkit.shortcuts import choice

    from learnkit.terminal.input import can_draw, screen
    from learnkit.terminal.saved import listing, sessions

    saved, width = sessions(folder), shutil.get_terminal_size().columns - 10
    if not (saved and can_draw()):
        typer.echo(listing(folder, "learnkit chat --resume"))
        raise typer.Exit
    options = [(one.path.stem, one_line(str(one), width)) for one in saved]
    try:
        with create_app_session(output=screen()):
            return choice("Up, Down, Enter; Ctrl-C leaves", options=options)
    except (KeyboardInterrupt, EOFError):
        raise typer.Exit from None


def _accepts(place: Path, text: str) -> bool:
    """Ask the user whether a project's settings may count."""
    typer.echo(f"This project has settings of its own, {place}:\n\n{clean(text)}")
    return typer.confirm("May they allow calls, and run commands and servers?")


@app.command()
def session(
    what: Annotated[str, typer.Argument(help="a file, or the beginning of an id")] = "",
    sample: Annotated[
        bool, typer.Option("--sample", help="one that we made up: thrash, good or subagents")
    ] = False,
    save: Annotated[Path | None, typer.Option(help="write the page there, to pass it on")] = None,
    keep_text: Annotated[
        bool, typer.Option("--keep-text", help="saved with its text, not only sizes and shapes")
    ] = False,
) -> None:
    """See what your agent did, and what it cost: sessions of Claude Code, Codex and learnkit.

    Without an argument it lists those on this machine. Everything stays here: files are only read,
    and nothing is sent.
    \f
    """
    from learnkit.terminal import session_command

    if (save or keep_text) and not (what or sample):
        raise UsageError("name the session to save: learnkit session ID --save page.html")
    if what or sample:
        for line in session_command.show(what, sample=sample, save=save, keep_text=keep_text):
            typer.echo(line)
        return
    rows = list(session_command.listed(shutil.get_terminal_size().columns))
    if not rows:
        typer.echo("There is no session on this machine. Try: learnkit session --sample")
        return
    _rows(("when", "id", "where", "turns", "tokens", "first words"), rows)
    typer.echo("Open one with: learnkit session ID")


class _WithCommand(typer.core.TyperCommand):
    """A command line that may end in ``-- COMMAND …``, which is left as it is."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        end = args.index("--") if "--" in args else len(args)
        ctx.meta["command"] = args[end + 1 :]
        return super().parse_args(ctx, args[:end])


@app.command(cls=_WithCommand)
def serve(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            help="s01, s01/mail, a Python file that defines `script`, a .gguf file, or tiny"
        ),
    ] = "",
    me: Annotated[bool, typer.Option("--me", help="you are the model, here")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="by default a free one")] = 0,
    here: Annotated[
        bool, typer.Option("--here", help="run the command in this folder, not in a fresh example")
    ] = False,
) -> None:
    """Be a model for other programs, without a key: learnkit serve s01 -- python agent.py "…".

    It speaks the Messages API on 127.0.0.1, checks requests as the API does, and ends with the
    command. Without a command it waits for any program.
    \f
    """
    from learnkit.terminal.serve import Model, serve

    if bool(what) == me:
        raise UsageError("name what answers (s01, s01/mail, model.py), or be the model with --me")
    folder = Path.cwd() if here else None
    raise typer.Exit(serve(Model.of(what), context.meta["command"], port=port, folder=folder))


@backend.command()
def init(
    address: Annotated[
        str, typer.Argument(help="by default what LEARNKIT_BACKEND says", show_default=False)
    ] = "",
) -> None:
    """Make the tables of a database in which teams are kept, once.

    Put a password into LEARNKIT_BACKEND or ~/.pgpass: other users can see a command's arguments.
    \f
    """
    from learnkit.backends.connect import SETTING, open_backend

    if not address and not os.environ.get(SETTING):
        raise UsageError(f"name the backend: learnkit backend init URL, or set {SETTING}")
    try:
        opened = open_backend(address, create=True)
    except OSError as error:
        raise LearnkitError(str(error)) from None
    opened.close()
    typer.echo(f"{opened.address} is ready for teams")


@app.command()
def join(
    name: Annotated[str, typer.Option(help="of the teammate: its address for mail")],
    address: Annotated[
        str, typer.Argument(help="by default what LEARNKIT_BACKEND says", show_default=False)
    ] = "",
    role: Annotated[str, typer.Option(help="what it is there for: the tag of its tasks")] = "coder",
    team: Annotated[str, typer.Option(help="name of the team")] = "team",
    lead: Annotated[str, typer.Option(help="name of the agent that leads it")] = "lead",
    workspace: Annotated[Path, typer.Option(help="the folder it works in")] = Path(),
    max_idle: Annotated[
        float | None, typer.Option(help="end after so many seconds without work")
    ] = None,
    lease: Annotated[
        float, typer.Option(help="seconds until others may take its tasks when it has died")
    ] = 60.0,
    remote: Annotated[
        str, typer.Option(help="the workspace's remote for branches of worktrees, such as origin")
    ] = "",
    plan: Annotated[
        bool, typer.Option("--plan", help="the lead must approve its plan before it may write")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="run every call without asking")] = False,
) -> None:
    """Join a team as a teammate in this process, which may be on another machine than its lead.

    Put a password into LEARNKIT_BACKEND or ~/.pgpass: other users can see a command's arguments.
    \f
    """
    from learnkit.terminal.join import join
    from learnkit.terminal.session import live

    if not os.environ.get("ANTHROPIC_API_KEY"):
        raise UsageError(
            "there is no ANTHROPIC_API_KEY; set one, or be the model: learnkit serve --me --here "
            "-- learnkit join …"
        )
    if not (yes or sys.stdin.isatty()):
        raise UsageError(
            "nobody can be asked here about commands and edits; add --yes to allow all"
        )
    place = {"name": name, "role": role, "team": team, "lead": lead, "max_idle": max_idle}
    more = {"lease": lease, "plan_required": plan, "remote": remote}
    raise typer.Exit(join(live(workspace), address=address, ask=not yes, **place, **more))


@app.command()
def doctor(
    live: Annotated[
        bool,
        typer.Option("--live", help="ask the model's server one small question"),
    ] = False,
) -> None:
    """Say what works on this machine, or what the model's server can do.
    \f
    """
    if live:
        from learnkit.clients.connect import connect, model_setting
        from learnkit.terminal.live_check import check_server

        with connect("live") as client:
            found = check_server(client, model_setting())
        heading, worked = "what to do", found[0].works
    else:
        from learnkit.terminal.doctor import examine

        found = examine()
        heading, worked = "what it is for", all(one.works for one in found if one.needed)
    signs = ["✓" if one.works else "✗" if one.needed or live else "○" for one in found]
    rows = [(s, o.what, o.found, o.purpose) for s, o in zip(signs, found, strict=True)]
    _rows(("", "what", "found", heading), rows)
    raise typer.Exit(0 if worked else 1)


def _rows(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(escape(clean(text)) for text in row))
    Console().print(table)


def _tell(text: str) -> None:
    """Say something on standard error; in a terminal its lines end between words."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    console.print(Text(f"learnkit: {clean(text)}"), soft_wrap=not console.is_terminal)


def main() -> None:
    """Run the command line; an error of the package is a sentence, not a traceback."""
    try:
        app()
    except LearnkitError as error:
        _tell(str(error))
        sys.exit(2)
    except Exception as error:
        # Only a command that runs notebooks has imported this module, and a learner may lack it.
        execute = sys.modules.get("learnkit.course.publish.execute")
        if execute is None or not isinstance(error, execute.FAILURES):
            raise
        typer.echo(f"learnkit: {execute.failure(error)}", err=True)
        sys.exit(1)


def _chosen(lessons: list[str] | None, folder: Path) -> list[Path]:
    if lessons:
        return [_notebook(one, folder) for one in lessons]
    return [*course_files.named(folder).values()]


def _notebook(lesson: str, folder: Path) -> Path:
    every = course_files.named(folder)
    found = [path for path in every.values() if lesson and path.name.startswith(lesson)]
    if len(found) != 1:
        known = ", ".join(every)
        raise UsageError(f"there is no lesson {lesson!r} in {folder}; there are: {known or 'none'}")
    return found[0]

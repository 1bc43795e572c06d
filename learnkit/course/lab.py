"""The lab: what a notebook needs around the mechanism that it teaches.

``lesson("s03")`` gives scenarios, predictions, exercises and a quiz. Each scenario starts from a
fresh workspace, a clock at 0, ids from 1 and its own place in the recording, so that any cell can
be run again, and scenarios in any order.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnkit.core.agent import Agent
from learnkit.core.events import EventLog
from learnkit.course import files as course_files
from learnkit.course.jupyter.errors import explain_errors
from learnkit.course.progress import Progress
from learnkit.course.questions import Questions
from learnkit.course.scenario import Example, Run, show
from learnkit.errors import UsageError
from learnkit.runtime.clock import SystemClock
from learnkit.runtime.notebook import is_live
from learnkit.runtime.shell import LocalShell
from learnkit.runtime.virtual_clock import VirtualClock

if TYPE_CHECKING:
    from learnkit.clients.fork import Fork
    from learnkit.clients.scripted import Script, Source
    from learnkit.clients.transport import Client
    from learnkit.course.display.card import Card
    from learnkit.course.games.be_the_model.panel import BeTheModel
    from learnkit.course.lessons import Game, Lesson
    from learnkit.course.live_run import Stage
    from learnkit.views import Messages

#: Real seconds for a virtual one in JupyterLab, so that a picture can be watched growing.
PACE = 0.2


class Lab(Questions):
    """A lesson's scenarios, predictions, exercises and quiz.

    Args:
        lesson: the lesson's texts.
        mode: ``replay``, ``live``, ``record`` or ``keep`` (replay the replies, record the rest).
        recording: path of the lesson's recording.
        static: show everything in the form that can be committed and compared.
    """

    def __init__(self, lesson: Lesson, mode: str, recording: Path, static: bool) -> None:
        super().__init__(lesson, recording.stem, static)
        self.mode = mode
        self._recording = recording
        self._example = Example()
        self._unused: dict[str, set[str]] = {}
        self._kept: dict[str, Any] = {}
        self._games: list[BeTheModel | Stage] = []

    # Scenarios

    @contextlib.contextmanager
    def scenario(self, name: str, *, script: Script | Source | None = None) -> Iterator[Run]:
        """A fresh start: workspace, clock, ids, and place in the recording.

        Args:
            name: the part of the recording to use.
            script: replies written here instead, as in :func:`learnkit.scripted`.

        Raises:
            UsageError: if the recording has no such scenario.
        """
        with contextlib.ExitStack() as stack:
            run = self._opened(stack, name, script, paced=script is None)
            stack.enter_context(run.clock)
            yield run

    def stage(self, name: str, *, script: Script | Source | None = None) -> Stage:
        """A scenario that goes on while its cell is over, so that clicks are heard.

        Args:
            name: the part of the recording to use.
            script: as for :meth:`scenario`.
        """
        from learnkit.course.live_run import Stage

        self._close_games()
        stack = contextlib.ExitStack()
        stage = Stage(self._opened(stack, name, script, paced=True), stack, live=not self.static)
        self._games = [stage]
        return stage

    def mechanical(self, name: str) -> Script:
        """A script that carries on after an edit: it makes the recorded calls, come what may.

        Example: ``with lab.scenario("create", script=lab.mechanical("create")) as run:``.

        Args:
            name: the scenario whose calls it knows.

        Raises:
            UsageError: if the recording has no such scenario.
        """
        from learnkit.simulation.following import Following

        return Following(self._recording, name)

    def be_the_model(
        self, game: Game | str | None = None, *, after: Fork | None = None
    ) -> BeTheModel:
        """Let the learner answer in the model's place; without a widget a script plays.

        Args:
            game: the task, or only its prompt; by default the lesson's own.
            after: take up a run where :func:`learnkit.fork` took hold of it, instead of beginning.

        Raises:
            UsageError: if the lesson has none.
        """
        from learnkit.course.games.be_the_model.panel import BeTheModel

        chosen = _game(game, self.lesson.game)
        self._close_games()
        workspace = self._example.copy()

        def agent(client: Client, events: EventLog) -> Agent:
            mechanisms = chosen.mechanisms(workspace)
            return Agent(client, mechanisms, system=chosen.system, events=events)

        made = BeTheModel(agent, chosen.prompt, chosen.script, static=self.static, after=after)
        self._games = [made]
        return made

    def mutants(self) -> Card:
        """Kill the mutants: runs of a harness in which one line is wrong; which one?"""
        from learnkit.course.games.mutants.catalogue import MUTANTS
        from learnkit.course.games.mutants.game import Hunt

        given = {} if self.static else Progress().of(self.name)["play"]
        folder = self._example.empty("mutants")
        return Hunt(MUTANTS, folder, given, partial(self.remember, "play")).card()

    def folder(self, name: str) -> Path:
        """An empty folder, for what is no scenario; it lives until the lab is closed.

        Args:
            name: asking again by the same name empties it.

        Raises:
            UsageError: if the name is no plain name, or the lab is closed.
        """
        if Path(name).name != name or name in ("", ".."):  # these name what is around it
            raise UsageError(f"{name!r} is no plain name for a folder; give one like 'board'")
        return self._example.empty(name)

    def show(self, messages: Sequence[Any]) -> Messages:
        """The message array view of a plain list of messages."""
        return show(messages)

    def unused(self) -> list[str]:
        """Recorded turns that no scenario has asked for since the lab was made."""
        from learnkit.clients.recordings.recording import Recording

        if not self._recording.exists():
            return []
        turns = Recording.load(self._recording).turns
        return [t.id for t in turns if t.id in self._unused.get(t.scenario, {t.id})]

    def reset(self) -> None:
        """Forget the answers given so far, and remove what runs have left behind."""
        self._answers.clear()
        self._close_games()
        self._example.clear()

    def close(self) -> None:
        """End everything that was started, remove the workspaces, and say so."""
        try:
            self._close_games()
        finally:
            self._example.remove()
        line = "Closed: no thread, process or workspace is left."
        if self.mode == "replay":
            unused = self.unused()
            line += f" Recorded turns never used: {', '.join(unused) or 'none'}."
        print(line)

    # How it is done

    def _opened(
        self, stack: contextlib.ExitStack, name: str, script: Script | Source | None, *, paced: bool
    ) -> Run:
        """A fresh run, which the stack closes; paced, if somebody is to watch it."""
        workspace = self._example.copy()
        stack.callback(shutil.rmtree, workspace.parent, ignore_errors=True)
        client = self._client(name, script, PACE if paced and not self.static else 0.0)
        stack.callback(self._note_unused, name, client)
        stack.callback(client.close)
        return Run(workspace, client, EventLog(), LocalShell())

    def _client(self, scenario: str, script: Script | Source | None, pace: float) -> Client:
        from learnkit.clients import connect as modes

        clock = VirtualClock(pace=pace)
        if script is not None:
            return modes.scripted(script, clock)
        if self.mode == "live":
            return modes.connect("live", clock=SystemClock())
        if self.mode == "record":
            return modes.connect(
                "record", recording=self._recording, scenario=scenario, clock=SystemClock()
            )
        if self.mode == "keep":
            from learnkit.clients.recordings.rerecord import keeping_client

            return keeping_client(self._recording, scenario, clock, self._kept)
        return modes.connect("replay", recording=self._recording, scenario=scenario, clock=clock)

    def _note_unused(self, scenario: str, client: Client) -> None:
        unused = getattr(client.source, "unused", None)  # only a recording knows
        if unused is not None:
            still = set(unused())
            self._unused[scenario] = self._unused.get(scenario, still) & still

    def _close_games(self) -> None:
        games, self._games = self._games, []
        for game in games:
            game.close()


def lesson(name: str, mode: str | None = None) -> Lab:
    """Open a lesson's lab, and show its badge.

    Args:
        name: ``s01`` to ``s12``.
        mode: ``replay`` (the default: no key, no network) or ``live``.

    Raises:
        UsageError: for a lesson or mode that there is not.
    """
    from learnkit.course.display import cards
    from learnkit.course.lessons import load

    mode = mode or os.environ.get("LEARNKIT_MODE") or "replay"
    if mode not in ("replay", "live", "record", "keep"):
        raise UsageError(f"a lesson runs in mode 'replay' or 'live', not {mode!r}")
    content = load(name)
    static = not is_live()
    if not static:
        import anthropic  # noqa: F401 (its errors are explained too)

        explain_errors()
    lab = Lab(content, mode, recordings() / f"{name}.yaml", static)
    lab.remember("opened", "lesson")
    cards.show(cards.badge(lab))
    return lab


def _game(asked: Game | str | None, own: Game | None) -> Game:
    """The game to play; a prompt alone is played with the lesson's tools, or a coder's."""
    from learnkit.course.lessons import Game
    from learnkit.mechanisms.coding import CodingTools

    if isinstance(asked, str):
        tools = own.mechanisms if own else lambda workspace: [CodingTools(workspace)]
        return Game(asked, tools, script=["(nobody sits in front of this notebook)"])
    game = asked or own
    if game is None:
        raise UsageError('this lesson has no game of its own: give be_the_model("a prompt")')
    return game


def recordings() -> Path:
    """The folder of the recordings: beside the notebook, else those of the course."""
    asked = os.environ.get("LEARNKIT_RECORDINGS")
    here = Path.cwd() / "recordings"
    return Path(asked) if asked else here if here.is_dir() else course_files.recordings()

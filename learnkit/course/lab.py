"""The lab: what a notebook needs around the mechanism that it teaches.

``lesson("s03")`` gives scenarios, predictions, exercises and a quiz. Each scenario starts from a
fresh workspace, a clock at 0, ids from 1 and its own position in the recording, so you can run any
cell again, and scenarios in any order.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from learnkit.clients.connect import connect, from_source, recorded, scripted
from learnkit.clients.recordings.recording import Recording
from learnkit.clients.recordings.replay import Miss
from learnkit.clients.rerecord import keeping_client
from learnkit.clients.scripted import Script, Source
from learnkit.clients.transport import Client
from learnkit.course import files as course_files
from learnkit.course.agent_file import forks
from learnkit.course.agent_file.cells import AgentCells, left_outside, register
from learnkit.course.content import Game, Lesson, Prediction, Repairs, load
from learnkit.course.content.sources import folded_repairs
from learnkit.course.display.card import MODES, Card, badge, line, show, verdict
from learnkit.course.display.loop import loop_card
from learnkit.course.display.question_cards import prediction_card, quiz_card, reveal_card
from learnkit.course.exercise_checks import T, checked, judge
from learnkit.course.first_edit.answers import Recorded, is_given
from learnkit.course.games.be_the_model.panel import BeTheModel
from learnkit.course.jupyter.errors import explain_errors
from learnkit.course.progress import Progress, is_copy, working_copy
from learnkit.course.scenario import OWN, Run, plain, workspace
from learnkit.errors import UsageError
from learnkit.events.log import EventLog
from learnkit.events.loop import MessageAdded, ModelRequested, RunStarted
from learnkit.runtime.clock import Clock, SystemClock
from learnkit.runtime.notebook import is_live, pace
from learnkit.runtime.shell_environment import SWITCH
from learnkit.runtime.virtual_clock import VirtualClock
from learnkit.views.messages import Messages
from learnkit.widget.explore import Explorable

#: What is said of a run whose recorded replies were filled with the learner's words.
FILLED = "recorded reply, with your words filled in"


class Lab:
    """A lesson's scenarios, predictions, exercises and quiz.

    Args:
        lesson: the lesson's texts.
        mode: ``replay``, ``live``, ``record`` or ``keep`` (replay the replies, record the rest).
        recording: path of the lesson's recording.
        static: show everything in the form that can be committed and compared.
    """

    def __init__(self, lesson: Lesson, mode: str, recording: Path, static: bool) -> None:
        os.environ[SWITCH] = "1"  # for the whole kernel: lessons also make shells of their own
        self.lesson, self.mode, self.static = lesson, mode, static
        self.name = recording.stem
        self._predicted: dict[str, str] = {}  # name -> the letter that was chosen
        self._recording = recording
        self._own: Path | None = None  # the folder of its folders
        self._kept: dict[str, Any] = {}
        self._repaired: set[str] = set()
        self._cells: AgentCells | None = None

    # Questions

    def predict(self, name: str) -> Card:
        """Ask for a prediction.

        Args:
            name: the prediction's name, e.g. ``p1``.

        Raises:
            UsageError: if there is no such prediction.
        """
        prediction = self._prediction(name)
        note = partial(self._predicted.__setitem__, name)

        def widget() -> Any:
            from learnkit.course.display.question_widgets import prediction_box

            return prediction_box(prediction, note)

        return prediction_card(prediction).or_widget(widget)

    def reveal(self, name: str) -> Card:
        """Explain every option of a prediction, and mark the chosen one.

        Args:
            name: the prediction's name, e.g. ``p1``.

        Raises:
            UsageError: if there is no such prediction.
        """
        prediction = self._prediction(name)
        repaired = prediction.repair in self._repaired
        return reveal_card(prediction, self._predicted.get(name), repaired)

    def _prediction(self, name: str) -> Prediction:
        return _named(self.lesson.predictions, name, "prediction")

    def exercise(self, number: int) -> Callable[[T], T]:
        """Check an exercise: write ``@lab.exercise(1)`` above the function or class.

        Args:
            number: from 1.

        Returns:
            The decorator, which shows the verdict, the hints and the solution.

        Raises:
            UsageError: if there is no such exercise.
        """
        passed = partial(self.remember, "exercises", str(number))
        exercises = {str(i): one for i, one in enumerate(self.lesson.exercises, start=1)}
        return checked(number, _named(exercises, str(number), "exercise"), passed)

    def repaired(self, name: str) -> Card:
        """Try what the learner has put in the place of a naive part of ``agent.py``.

        Args:
            name: of the repair, which is the name of a function there.

        Raises:
            UsageError: if the lesson has no such repair, or no ``agent.py``.
        """
        repair = _named(self._repairs(), name, "repair")
        if (agent := sys.modules.get("agent")) is None:
            raise UsageError(
                "there is no agent.py yet: run the cells above that begin with %%agent"
            )
        wrong = judge(repair.check, agent)
        if self._cells and self._cells.failed:  # what was tried is the version before
            wrong = "the %%agent cell that you ran last has failed. Mend it, and run it again."
        if not wrong:
            self._repaired.add(name)
        elif outside := left_outside(agent):
            wrong += f" ({outside[-1]} is also in the notebook: does its cell begin with %%agent?)"
        return verdict(f"not yet: {wrong}" if wrong else f"✓ {repair.right}")

    def catch_up(self, *names: str) -> Card:
        """Put in our repairs of ``agent.py``, where the learner's own haven't passed.

        Args:
            names: of the repairs; by default all of the lesson's.
        """
        names = names or (*self._repairs(),)
        whose = {one: "yours" if one in self._repaired else "ours" for one in names}
        book = json.loads(course_files.notebook(self.name).read_text("utf-8"))
        ours = [f"def {one}(" for one, by in whose.items() if by == "ours"]
        code = [one for one in folded_repairs(book) if any(name in one for name in ours)]
        if self._cells and code:
            self._cells.run("", "\n\n\n".join(code))
        return line(" · ".join(f"{one}: {by}" for one, by in whose.items()))

    def _repairs(self) -> Repairs:
        module = importlib.import_module(f"learnkit.course.lessons.{self.name}.repairs")
        repairs: Repairs = module.REPAIRS
        return repairs

    def quiz(self) -> Card:
        """Show the lesson's quiz."""

        def widget() -> Any:
            from learnkit.course.display.question_widgets import Questions

            return Questions(self.lesson.questions, partial(self.remember, "quiz"))

        return quiz_card(self.lesson.questions).or_widget(widget)

    def remember(self, kind: str, name: str, value: str = "yes") -> None:
        """Note something for the start page; the static form leaves no trace.

        Args:
            kind: see :meth:`learnkit.course.progress.Progress.note`.
            name: of the exercise or question.
            value: the answer.
        """
        if not self.static:  # tests, and outputs that are committed
            Progress().note(self.name, kind, name, value)

    # Scenarios

    @contextlib.contextmanager
    def scenario(self, name: str, *, script: Script | Source | None = None) -> Iterator[Run]:
        """Start afresh: with a new workspace, clock and ids, at the scenario's first recorded turn.

        Args:
            name: the part of the recording to use.
            script: replies to use instead of the recording, as in :func:`learnkit.scripted`.

        Raises:
            UsageError: if the recording has no such scenario.
        """
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(workspace())
            unseen = script is not None or self.static or is_given()
            client = self._client(name, script, 0.0 if unseen else pace())
            stack.callback(client.close)
            stack.enter_context(client.clock)
            with self._stopped(client.source):
                yield Run(folder, client)

    def show(self, messages: Sequence[Any], agent: Any = None) -> Messages:
        """Return the message array view of a plain list of messages.

        Args:
            messages: dicts, or objects of the SDK.
            agent: one of ``agent.py`` that has sent them, to show its requests as well.
        """
        log = EventLog()
        if agent:
            log.append(RunStarted(system=agent.system, tools=agent.specs))
        for index, message in enumerate(messages):
            if agent and message["role"] == "assistant":
                log.append(ModelRequested())
            log.append(MessageAdded(index=index, message=plain(message)))
        return Messages(log)

    def own_runs(self) -> dict[str, list[dict[str, Any]]]:
        """Return the messages of each run that a model made of the lesson's task, in order."""
        recording = Recording.load(course_files.recordings() / "model" / f"{self.name}.yaml")
        return {name: recording.messages(name) for name in recording.scenarios}

    def explore(self) -> Explorable:
        """Return the lesson's explorable: a picture that answers while you change its cause."""
        module = importlib.import_module(f"learnkit.course.lessons.{self.name}.explorable")
        made: Explorable = module.explorable()
        return made

    # Games

    def be_the_model(self, game: Game | None = None) -> BeTheModel:
        """Let the learner answer in the model's place; without a widget a script plays.

        It begins when the learner presses Start, in a workspace of its own.

        Args:
            game: the task; by default the lesson's own.

        Raises:
            UsageError: if the lesson has no game, and none is given.
        """
        if (task := game or self.lesson.game) is None:
            raise UsageError("this lesson has no game of its own")
        return BeTheModel(task, static=self.static)

    def night(self) -> Card:
        """The capstone: choose mechanisms, and play a night of twelve faults with them."""
        from learnkit.course.games.night import card
        from learnkit.course.games.night.night import play

        if self.static:
            return card.night_card(play(card.EXAMPLE))

        def widget() -> Any:
            from learnkit.course.games.night.panel import NightPanel

            return NightPanel()

        return Card("", "The night of 14 July: open this notebook in JupyterLab.").or_widget(widget)

    # Folders, and the end

    def folder(self, name: str) -> Path:
        """Return an empty folder that belongs to no scenario.

        In an open notebook it exists until the kernel ends, so that its picture can be clicked.

        Args:
            name: the folder's name; asking for the same name again empties the folder.

        Raises:
            UsageError: if the name is not a plain one.
        """
        if Path(name).name != name or name in ("", ".."):  # such a name leads out of the folder
            raise UsageError(f"{name!r} is no plain name for a folder; give one like 'board'")
        if self._own is None:
            self._own = Path(tempfile.mkdtemp(prefix=OWN))
            atexit.register(shutil.rmtree, self._own, ignore_errors=True)
        folder = self._own / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def remove(self) -> None:
        """Remove what the lab has made. Twice is no error."""
        forks.end()
        if self._own is not None and self.static:
            shutil.rmtree(self._own, ignore_errors=True)

    def close(self) -> None:
        """Do what :meth:`remove` does, and say so.

        A cell that is run after that gets a workspace again, which goes with the kernel.
        """
        self.remove()
        print("Closed: no thread, process or workspace is left.")

    def _client(self, scenario: str, script: Script | Source | None, pace: float) -> Client:
        clock: Clock = VirtualClock(pace=pace)
        if script is not None:
            return scripted(script, clock)
        if self.mode == "replay":
            replay = recorded(self._recording, scenario)
            replay.when_filled = partial(show, line(FILLED))
            return from_source(Recorded(replay), clock, "replay", replay.model)
        if self.mode == "keep":
            return keeping_client(self._recording, scenario, clock, self._kept)
        clock = SystemClock()  # the API takes real time
        return connect(self.mode, recording=self._recording, scenario=scenario, clock=clock)

    @contextlib.contextmanager
    def _stopped(self, source: Any) -> Iterator[None]:
        """Whatever becomes of a miss, end the scenario with it; in front of a user it has a panel.

        An agent may have swallowed it, or reported it to another one.
        """
        failed = False
        try:
            yield
        except Exception:
            failed = True
            if getattr(source, "stopped", None) is None:
                raise
        why: Exception | None = getattr(source, "stopped", None)
        if why is None or (self.static and not failed):
            return
        if isinstance(why, Miss) and not self.static:
            from learnkit.course.first_edit.panel import offer

            why.offer = partial(offer, why, self._recording)
        raise why


def lesson(name: str, mode: str | None = None) -> Lab:
    """Open a lesson's lab, and show its badge.

    Args:
        name: ``s01`` to ``s12``, or ``b1`` to ``b4``.
        mode: ``replay`` (the default: no key, no network) or ``live``.

    Raises:
        UsageError: if there is no such lesson or mode.
    """
    mode = mode or os.environ.get("LEARNKIT_MODE") or "replay"
    if mode not in MODES:
        raise UsageError(f"a lesson runs in mode 'replay' or 'live', not {mode!r}")
    content = load(name)
    static = not is_live()
    if not static:
        explain_errors()
    lab = Lab(content, mode, recordings() / f"{name}.yaml", static)
    lab.remember("opened", "lesson")
    work = working_copy()
    lab._cells = register(name, None if static or not is_copy(work) else work)
    show(badge(content.title, mode))
    if name.startswith("s"):
        show(loop_card(int(name[1:])))
    return lab


def _named(things: Mapping[str, T], name: str, kind: str) -> T:
    if name not in things:
        raise UsageError(f"there is no {kind} {name!r}; there are: {', '.join(things)}")
    return things[name]


def recordings() -> Path:
    """Return the folder of the recordings: beside the notebook, else those of the course."""
    asked = os.environ.get("LEARNKIT_RECORDINGS")
    here = Path.cwd() / "recordings"
    return Path(asked) if asked else here if here.is_dir() else course_files.recordings()

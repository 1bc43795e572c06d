"""Background: a slow command runs beside the loop, and its result is delivered when it ends.

The model gets an id at once and keeps working. A result is delivered once, before a request; when
the model has nothing left to do but wait, its run waits, and a result takes another turn. A job
never outlives its agent: it ends at its limit, when the agent is stopped, and with its process.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from learnkit.core.frames import BACKGROUND_RESULTS, defused
from learnkit.core.interface import AgentLike, Call
from learnkit.core.mechanism import Mechanism
from learnkit.core.tools import tool
from learnkit.errors import ToolError, UsageError, described
from learnkit.events.background import End, JobDelivered, JobEnded, JobStarted
from learnkit.runtime.clock import Signal, Worker, joined
from learnkit.runtime.interrupts import unbroken
from learnkit.runtime.job_wrappers import counted, slept, watched
from learnkit.runtime.shell import AnyOf, LocalShell, Shell, ShellResult
from learnkit.runtime.truncate import head_and_tail
from learnkit.runtime.virtual_clock import VirtualClock
from learnkit.runtime.workspace import Workspace

if TYPE_CHECKING:
    from learnkit.core.agent import Agent

Status = Literal["running", End]

#: Characters of a job's output that are delivered unasked; check_background shows more.
DELIVERED = 500
#: Jobs that have ended of which the output is kept, the newest ones.
KEPT = 50

#: Where a line of a report could be the head of another one.
_HEAD = re.compile(rf"^(?=\[\w+\] (?:{'|'.join(get_args(Status))})\b)", re.MULTILINE)

_HOW = (
    "Run slow commands (builds, test suites, downloads) with background_run. It returns an id at "
    "once, so keep working: the result is delivered to you. Use bash if you need the result now."
)


@dataclass(slots=True, eq=False)
class Job:
    """A command in the background.

    Attributes:
        id: eight characters.
        command: as the model wrote it.
        status: running; completed or failed, by its exit code; timeout, at the limit; stopped,
            with the agent; error, if it never started.
        code: exit code, if it ended by itself.
        output: what it printed, head and tail, at most 50,000 characters.
        seconds: how long it took, on the agent's clock.
    """

    id: str
    command: str
    begun: Signal
    ended: Signal
    stop: Signal
    status: Status = "running"
    code: int | None = None
    output: str = ""
    seconds: float = 0.0
    worker: Worker | None = None

    def report(self, limit: int = DELIVERED) -> str:
        """Return the job and its output as the model reads them."""
        output, _ = head_and_tail([self.output], limit)
        code = f" (exit code {self.code})" if self.code else ""
        state = self.status if self.status == "running" else f"{self.status}{code}"
        after = "" if self.status == "running" else f" after {self.seconds:.1f} s"
        head = f"[{self.id}] {state}{after}: {_short(self.command)}"
        # A command may print anything, but no line that could be the head of another job.
        output = _HEAD.sub(" ", output.strip())
        return head if self.status == "running" else f"{head}\n{output or '(no output)'}"


class Background(Mechanism):
    """Offers ``background_run`` and ``check_background``.

    On a virtual clock a command runs to its end at once, while everything else stands still, and
    its result arrives after the sum of its sleeps; other work in it takes no virtual time.

    Emits ``job.started`` with ``id``, ``command``, ``limit`` and ``counted``, whether its sleep
    only counts; ``job.ended`` with ``id``,
    ``status``, ``code``, ``seconds`` and ``output`` (500 characters); ``job.delivered`` with
    ``ids`` and ``by``: ``results``, ``stop`` or ``check``.

    Args:
        shell: runs the commands; by default a :class:`LocalShell`.
        workspace: the folder they run in; the model knows it as ``/workspace``.
        limit: seconds that a job may take.
        most: jobs that may run at a time.

    Raises:
        UsageError: for a limit that is not above 0, or ``most`` below 1.
    """

    def __init__(
        self,
        shell: Shell | None = None,
        *,
        workspace: str | Path | Workspace = ".",
        limit: float = 300.0,
        most: int = 8,
    ) -> None:
        if not limit > 0:
            raise UsageError(f"the limit is {limit} s; it must be above 0")
        if most < 1:
            raise UsageError(f"most is {most}; give a number from 1 up")
        self.shell: Shell = LocalShell() if shell is None else shell
        self.workspace = Workspace(workspace)
        self.limit, self.most = limit, most
        self._jobs: dict[str, Job] = {}
        self._due: list[Job] = []  # ended, and the model does not know it yet
        self._lock = threading.Lock()

    @property
    def jobs(self) -> list[Job]:
        """The jobs, in the order in which they were started."""
        with self._lock:
            return list(self._jobs.values())

    def stop(self, id: str) -> None:
        """End a job; its result says that it was stopped.

        Args:
            id: of the job.

        Raises:
            ToolError: if there is no such job.
        """
        self._find(id).stop.set()

    @unbroken
    def close(self, agent: AgentLike | None = None) -> None:
        """End all jobs, and wait until they have ended.

        Args:
            agent: the one that is closed; it makes no difference here.
        """
        for job in self.jobs:
            job.stop.set()
        if errors := joined(job.worker for job in self.jobs if job.worker is not None):
            raise errors[0]

    def system(self, agent: Agent) -> str | None:
        """When to use it."""
        return _HOW

    def after_tools(self, agent: Agent, calls: Sequence[Call]) -> str | None:
        """The results of the jobs that have ended since."""
        return self._deliver("results")

    def on_stop(self, agent: Agent) -> str | None:
        """The results of the jobs that have ended since; all of them end with the run."""
        for job in self.jobs if agent.stop.is_set() else ():
            agent.clock.wait(job.ended)
        if self._due:
            agent.clock.sleep(0)  # what ends at the same moment is delivered in the same turn
        return self._deliver("stop")

    def waits_for(self, agent: Agent) -> Sequence[Signal]:
        """The end of each job of which the result was not delivered yet."""
        with self._lock:
            jobs = self._jobs.values()
            return [job.ended for job in jobs if job.status == "running" or job in self._due]

    @tool
    def background_run(self, command: str) -> str:
        """Start a bash command in the background and return its id without waiting for it.

        Its result is delivered to you when it ends. It has no standard input, and cd does not
        persist.

        Args:
            command: Slow bash command to run. May span several lines.
        """
        clock = self.agent.clock
        running = sum(not job.ended.is_set() for job in self.jobs)
        if running >= self.most:
            raise ToolError(
                f"{running} jobs are already running, which is the limit; wait for one to end"
            )
        id = clock.new_id()
        job = Job(
            id,
            command,
            begun=clock.signal(f"the start of job {id}"),
            ended=clock.signal(f"the end of job {id}"),
            stop=clock.signal(f"the stop of job {id}"),
        )
        job.worker = clock.spawn(f"job {id}", self._work, job)
        clock.wait(job.begun, job.ended)
        if job.status == "error":
            raise ToolError(f"the command did not start: {job.output}")
        return f"Started in the background as {id}. Its result will be delivered to you."

    @tool(read_only=True)
    def check_background(self, task_id: str | None = None) -> str:
        """Show one background job, or all. Don't poll: results are delivered to you.

        Args:
            task_id: Id that background_run returned. Shows all jobs by default.
        """
        seen = [self._find(task_id)] if task_id else self.jobs
        each = 50_000 if task_id else DELIVERED
        with self._lock:  # what is seen here counts as delivered, and nothing else
            shown = [job.report(each) for job in seen]
            ended = [job for job in seen if job in self._due]
            self._due = [job for job in self._due if job not in ended]
        if ended:
            self.emit(JobDelivered(ids=tuple(job.id for job in ended), by="check"))
        return "\n\n".join(shown) or "No command has been started in the background."

    def _find(self, id: str) -> Job:
        with self._lock:
            if id in self._jobs:
                return self._jobs[id]
            known = ", ".join(self._jobs) or "none"
        raise ToolError(f"there is no job {id!r}; the latest jobs are: {known}")

    def _work(self, job: Job) -> None:
        """The job's thread: run the command, keep what came of it."""
        agent = self.agent
        clock, stop = agent.clock, AnyOf(agent.stop, job.stop)
        began = clock.time()
        status: End = "error"

        def started() -> None:
            with self._lock:
                self._jobs[job.id] = job
            agent.emit(
                JobStarted(
                    id=job.id,
                    command=job.command,
                    limit=self.limit,
                    counted=isinstance(clock, VirtualClock),
                )
            )
            job.begun.set()

        try:
            with clock.interruptible(job.stop):
                if isinstance(clock, VirtualClock):
                    result = self._run(counted(job.command, self.limit), stop, started)
                    output, seconds = slept(result.output)
                    stopped = clock.wait(agent.stop, job.stop, timeout=min(seconds, self.limit))
                    late = seconds >= self.limit or result.timed_out
                else:
                    result = self._run(watched(job.command), stop, started)
                    output, stopped, late = result.output, result.stopped, result.timed_out
            job.output = self.workspace.masked(output)
            job.code = None if stopped or late else result.code
            done: End = "completed" if result.code == 0 else "failed"
            status = "stopped" if stopped else "timeout" if late else done
        except ToolError as error:
            job.output = self.workspace.masked(str(error))
        except BaseException as error:  # a fault of ours: no waiting agent may hang
            job.output = described(error)
            raise
        finally:
            job.seconds = clock.time() - began
            self._end(job, status)

    def _run(self, command: str, stop: AnyOf, started: Callable[[], object]) -> ShellResult:
        folder = self.workspace.root
        return self.shell.run(self.workspace.unmasked(command), folder, self.limit, stop, started)

    def _end(self, job: Job, status: End) -> None:
        """Log the end, and only then show the result: it is not delivered before it is logged."""
        try:
            if job.begun.is_set():
                output, _ = head_and_tail([job.output], DELIVERED)
                self.emit(
                    JobEnded(
                        id=job.id,
                        status=status,
                        code=job.code,
                        seconds=job.seconds,
                        output=output,
                    )
                )
        finally:
            with self._lock:
                job.status = status
                if job.begun.is_set():
                    self._due.append(job)
                ended = [one for one in self._jobs.values() if one.status != "running"]
                for old in ended[:-KEPT]:
                    if old not in self._due:
                        del self._jobs[old.id]
            job.ended.set()

    def _deliver(self, by: str) -> str | None:
        with self._lock:
            ended, self._due = self._due, []
        if not ended:
            return None
        self.emit(JobDelivered(ids=tuple(job.id for job in ended), by=by))
        texts = [defused(job.report()) for job in ended]
        return "\n".join([f"<{BACKGROUND_RESULTS}>", *texts, f"</{BACKGROUND_RESULTS}>"])


def _short(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= 120 else f"{line[:119]}…"

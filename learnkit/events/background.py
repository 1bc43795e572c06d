"""The events of jobs in the background."""

from __future__ import annotations

from typing import Literal

from learnkit.events.declaration import event
from learnkit.events.text import count, quoted


@event(
    "job.started",
    lesson="s08",
    sentence="Job {id} starts in the background: {command:line}",
)
class JobStarted:
    """A command runs beside the loop; ``counted``: its ``sleep`` is time on a virtual clock."""

    id: str
    command: str = ""
    limit: float = 0.0
    counted: bool = False


End = Literal["completed", "failed", "timeout", "stopped", "error"]


def _job_ended(job: JobEnded) -> str:
    code = f" (exit code {job.code})" if job.code else ""
    output = quoted(job.output or "no output")
    return f"Job {job.id}: {job.status}{code} after {job.seconds:.1f} s: {output}."


@event("job.ended", lesson="s08", sentence=_job_ended)
class JobEnded:
    """A command in the background is over; nobody has been told yet."""

    id: str
    status: End
    code: int | None = None
    seconds: float = 0.0
    output: str = ""


_DELIVERIES = {"check": "is looked at", "stop": "is told, and takes another turn"}


@event(
    "job.delivered",
    lesson="s08",
    sentence=lambda told: (
        f"The model hears: {count(len(told.ids), 'result')} of a background job "
        f"{_DELIVERIES.get(told.by, 'is told, after the results of this turn')}."
    ),
)
class JobDelivered:
    """The model gets the results of jobs that are over."""

    ids: tuple[str, ...]
    by: str = ""

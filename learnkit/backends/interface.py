"""What a backend promises: where the messages, tasks, requests and members of a team are kept.

The mechanisms use these interfaces and nothing else, so a team can work with a server in place of
the files in ``learnkit.backends.files``; ``learnkit.backends.sql`` keeps the same promises with a
database. A backend is any object with these methods; it need not inherit from anything. A board
that inherits from ``learnkit.backends.board.Board`` has all the rules, and only loads and stores
tasks. What is stored is in the modules beside this one: ``mail``, ``task`` and ``request``.
The repository has a test for each promise, in ``tests/backends/conformance``; copy that folder to
test a backend of your own.

All of them have in common:

- **Shared.** Several threads and several processes call the methods at the same time, for a server
  also from several machines. Each call is atomic: others see all of its effect or nothing.
- **Durable.** When a call has returned, its effect survives the end of the process. When it has
  raised, or the process was killed during it, either all of it or nothing has happened.
- **Consistent.** A call sees the effect of every call that returned before it began.
- **Errors.** What an agent can correct (an unknown name, a task that is taken) raises
  :class:`learnkit.ToolError`, and the model reads its text. Stored data that cannot be read raises
  :class:`learnkit.UsageError`, which names where it is. A backend that cannot store (a full disk, a
  connection that broke and does not come back) raises ``OSError``.
- **One clock.** Leases, deadlines and times of messages are measured on the backend's own clock. A
  worker whose clock is wrong changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol

from learnkit.backends.task import Changes

if TYPE_CHECKING:
    from datetime import datetime

    from learnkit.backends.mail import Mail, Type
    from learnkit.backends.roster import Roster
    from learnkit.backends.task import Change, Status, Task
    from learnkit.backends.tracker import Tracker


class InboxReader(Protocol):
    """One agent's cursor in its inbox. It belongs to that agent, and only one is used at a time.

    A message is read in two steps, so that none is lost when the agent is killed between them:
    ``take`` returns it, and ``commit`` says that it is safely in the agent's transcript. After a
    restart a new reader returns what was not committed once more.
    """

    def look(self) -> list[Mail]:
        """Return the messages that ``take`` would return, in order. This changes nothing."""

    def take(self) -> list[Mail]:
        """Return the messages that this reader has not returned yet, in the order of sending."""

    def put_back(self, ids: Iterable[str]) -> None:
        """Let the next ``take`` return messages again: they did not reach the agent.

        Args:
            ids: of messages that were taken since the last ``commit``.
        """

    def commit(self) -> None:
        """Move the cursor, durably, after all messages that were taken: they are dealt with."""


class MailBackend(Protocol):
    """The inboxes of a team; :class:`learnkit.Mailbox` keeps them in files.

    A message is kept until its reader has committed it, and each inbox has one order that all its
    readers see. The caller names the sender: only the harness calls this, never a model.
    """

    @property
    def names(self) -> list[str]:
        """The names that have an inbox, sorted."""

    def open(self, name: str) -> None:
        """Create an inbox; one that exists stays as it is.

        Args:
            name: its address: 1 to 40 of ``a-z``, ``0-9``, ``_`` and ``-``, a letter first.

        Raises:
            ToolError: if the name is not a valid one.
        """

    def send(
        self,
        sender: str,
        to: str,
        content: str,
        type: Type = "message",
        *,
        at: datetime | None = None,
        **more: Any,
    ) -> Mail:
        """Append a message to an inbox. From then on its reader can take it.

        Args:
            sender: the agent that sends it.
            to: the name of the recipient.
            content: the text.
            type: what kind of message it is.
            at: when it was sent; a server uses its own clock instead.
            more: further fields, JSON-ready, such as ``request_id``.

        Returns:
            The message, with an id that no other message of this backend ever has.

        Raises:
            ToolError: if the recipient has no inbox, or the text is empty or too long.
        """

    def broadcast(self, sender: str, content: str, *, at: datetime | None = None) -> list[Mail]:
        """Append a message to every inbox except the sender's, in one atomic step.

        Args:
            sender: the agent that sends it.
            content: the text.
            at: as for :meth:`send`.

        Returns:
            One message for each recipient; each has its own id.

        Raises:
            ToolError: if the text is empty or too long.
        """

    def unread(self, name: str) -> list[Mail]:
        """Return the messages that the reader of an inbox has not committed. Changes nothing.

        Args:
            name: of the inbox.

        Raises:
            ToolError: if there is no such inbox.
        """

    def reader(self, name: str, seen: Iterable[str] = ()) -> InboxReader:
        """Return a reader whose cursor is where the last one committed.

        Args:
            name: of the inbox.
            seen: ids of messages that are in the agent's transcript already, although they were not
                committed; the reader does not return them.

        Raises:
            ToolError: if there is no such inbox.
        """


class BoardBackend(Protocol):
    """The tasks of a team; :class:`learnkit.TaskBoard` keeps them in files.

    Every change keeps one promise: a task that is in progress or completed has no open blocker.
    ``blocked_by`` and ``blocks`` always agree.

    **Leases.** The worker of another machine can die without a word. So a claim may be a lease: it
    ends after a time, unless its holder renews it. A task whose lease is over is still in progress,
    but counts as ready, and another worker may claim it. The first one may be alive after all, only
    slow, and must not complete a task that another has by then. Each claim under a lease therefore
    raises the task's *fencing token*, a number. The harness of the holder (never its model) names
    the token with every later change, and a change that names an old token is refused.

    **Owner and incarnation.** The owner is a name; the incarnation tells one run of a worker from
    the next. A worker that was restarted under its old name holds nothing of what its former self
    has claimed, and can claim it when that lease is over.
    """

    def create(self, subject: str, description: str = "", *, tags: Iterable[str] = ()) -> Task:
        """Add a pending task.

        Args:
            subject: what is to be done, in a few words.
            description: all that a worker has to know.
            tags: roles that it suits; none if it suits all.

        Returns:
            The task, with an id that no task of this board has had, not even a deleted one.

        Raises:
            ToolError: if a text is empty or too long.
        """

    def get(self, id: int) -> Task:
        """Return one task.

        Args:
            id: of the task.

        Raises:
            ToolError: if there is none with this id.
        """

    def tasks(self) -> list[Task]:
        """Return all tasks as they were at one moment, by id."""

    def ready(self) -> list[Task]:
        """Return the tasks that can be claimed, by id.

        They are pending, unowned and not blocked, or in progress under a lease that is over.
        Another worker may claim one of them before the caller does.
        """

    def update(
        self,
        id: int,
        status: Status | Literal["deleted"] | None = None,
        *,
        owner: str = "",
        add_blocked_by: Iterable[int] = (),
        add_blocks: Iterable[int] = (),
        remove_blocked_by: Iterable[int] = (),
        result_summary: str | None = None,
        worktree: str | None = None,
        by: str = "",
        token: int | None = None,
    ) -> Task | None:
        """Change a task: all that is asked for, or nothing.

        Args:
            id: of the task.
            status: its new status; ``pending`` also clears the owner, and ``deleted`` removes the
                task and unblocks those that waited for it.
            owner: who begins it.
            add_blocked_by: ids of tasks that have to be completed first.
            add_blocks: ids of tasks that have to wait for this one.
            remove_blocked_by: ids of tasks that it need not wait for.
            result_summary: what came of it.
            worktree: name of the worktree that it is done in; an empty one for none.
            by: who asks. The status of a task that another owner has in progress is not changed,
                nor is the task deleted, unless ``by`` is a subagent of its owner (its name is the
                owner's, a dot, and more). Empty for the user and the harness, who may do anything.
            token: the fencing token that the claim of the task has returned. Without it, only
                ``by`` counts.

        Returns:
            The task as it is now; None if it was deleted.

        Raises:
            ToolError: if the change is not allowed, with the reason; also if ``token`` is not the
                task's present one, with the name of who has the task now.
        """
        changes = Changes(
            status,
            owner,
            tuple(add_blocked_by),
            tuple(add_blocks),
            tuple(remove_blocked_by),
            result_summary,
            worktree,
            by,
            token,
        )
        return self.change(id, changes)

    def change(self, id: int, changes: Changes) -> Task | None:
        """Change a task as :meth:`update` says, which hands its arguments on to this method.

        Args:
            id: of the task.
            changes: all that is asked for.

        Returns:
            The task as it is now; None if it was deleted.

        Raises:
            ToolError: as for :meth:`update`.
        """

    def claim(
        self, id: int, owner: str, *, incarnation: str = "", lease: float | None = None
    ) -> Task:
        """Check that a task is ready and begin it, in one step: of all callers one succeeds.

        Args:
            id: of the task.
            owner: who begins it.
            incarnation: which run of the owner that is; empty if there is only one.
            lease: seconds after which another worker may claim the task, unless :meth:`renew` is
                called before; None for never.

        Returns:
            The task, in progress and owned. With an incarnation or a lease its ``token`` is
            higher than any that this task has had.

        Raises:
            ToolError: if it is blocked, taken, or no longer pending.
            UsageError: for a lease that is not above 0.
        """

    def renew(self, owner: str, incarnation: str, lease: float) -> list[int]:
        """Prolong the leases of all tasks that one run of a worker has in progress.

        A task whose lease is over is prolonged as well, if no other worker has claimed it.

        Args:
            owner: who holds them.
            incarnation: as it was given to :meth:`claim`.
            lease: seconds from now on.

        Returns:
            The ids of the tasks that it still holds, in order. A task that is missing here was
            completed, given back, or claimed by another worker.

        Raises:
            UsageError: for a lease that is not above 0.
        """

    def release(self, owner: str, incarnation: str) -> list[Task]:
        """Give back all tasks that one run of a worker has in progress, as when it ends.

        Args:
            owner: who holds them.
            incarnation: as it was given to :meth:`claim`.

        Returns:
            The tasks that were given back, as they are now: pending, and without an owner.
        """

    def open(self) -> None:
        """Take the board as it is for known, so that ``news`` begins here.

        Only the first call on an object does so. This and ``news`` concern the object in this
        process, not the stored board.
        """

    def news(self) -> list[Change]:
        """Return what has changed since the last call, no matter which process changed it.

        Returns:
            The task before and after, by id; None before for a new task, and None after for a
            deleted one. Several changes to one task count as one, and a renewed lease is none.
        """


class Backend(Protocol):
    """One place that keeps everything of one or several teams; see :func:`learnkit.open_backend`.

    A team's name separates it from the others in the same place. Each method returns an object of
    its own at each call, for one process; all of them show the same stored state.
    """

    @property
    def address(self) -> str:
        """Where it is, for people: without a user name, a password, or other settings."""

    @property
    def has_clock(self) -> bool:
        """Whether it measures time on a clock of its own, which a ``VirtualClock`` cannot move."""

    def mail(self, team: str = "team") -> MailBackend:
        """Return the inboxes of a team.

        Args:
            team: its name.
        """

    def board(self, team: str = "team") -> BoardBackend:
        """Return the task board of a team.

        Args:
            team: its name.
        """

    def requests(self, team: str = "team") -> Tracker:
        """Return the requests of a team.

        Args:
            team: its name.
        """

    def roster(self, team: str = "team") -> Roster:
        """Return the members of a team.

        Args:
            team: its name.
        """

    def close(self) -> None:
        """End all connections. Nothing that is stored changes."""

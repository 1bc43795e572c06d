"""The vocabulary of the log: every type of event that learnkit appends, declared once.

A class says which details an event has, when it happens, in which lesson it is met first, and what
it means in a sentence. Views read their events here::

    match vocabulary.read(event):
        case vocabulary.TaskCompleted(task=task):
            …

``docs/events.md`` is generated from it. What is logged today has every field, except those that are
declared with ``sometimes``. The other defaults are for logs that were written by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from learnkit.core.event_types import declaration as declaration
from learnkit.core.event_types import declarations as declarations
from learnkit.core.event_types import detail, event, record
from learnkit.core.event_types import read as read
from learnkit.core.sentences import filled, stopped
from learnkit.core.text import arguments, blocks_of, content_text, count, listed, one_line, quoted

#: A message, a content block or a tool's specification, as the API has it: not read any further.
Raw = dict[str, Any]
Content = str | list[Any] | None

# Lesson 1: the loop


def _run_started(run: RunStarted) -> str:
    if run.prompt is None:
        return "The run starts with the messages as they are."
    return f"The run starts with {quoted(content_text(run.prompt))}."


@event("run.started", lesson="s01", sentence=_run_started)
class RunStarted:
    """A run begins: the system prompt and the tools are fixed."""

    prompt: Content = None
    system: str = ""
    tools: tuple[Raw, ...] = ()
    model: str = ""


@event(
    "run.ended",
    lesson="s01",
    sentence=lambda run: f"The run ends after {count(run.turns, 'turn')}: {stopped(run.reason)}.",
)
class RunEnded:
    """A run is over: the model is done, or something has stopped it."""

    reason: str = ""
    text: str = ""
    turns: int = 0


def _message(added: MessageAdded) -> str:
    content, name = added.message.get("content"), f"Message {added.shown}"
    blocks = blocks_of(content)
    calls = [str(block.get("name", "?")) for block in blocks if block.get("type") == "tool_use"]
    results = [block for block in blocks if block.get("type") == "tool_result"]
    if added.message.get("role") == "assistant":
        if calls:
            return f"{name}: the model calls {listed(calls)}."
        return f"{name}: the model says {quoted(content_text(content))}."
    if results:
        failed = sum(bool(block.get("is_error")) for block in results)
        errors = f", {count(failed, 'error')} among them" if failed else ""
        if len(results) == 1:
            errors = ", an error" if failed else ""
        return f"{name} brings back {count(len(results), 'result')}{errors}."
    return f"{name} enters the array: {quoted(content_text(content))}."


@event("message.added", lesson="s01", sentence=_message)
class MessageAdded:
    """A message has been put at the end of the array, or in place of what stood from there on."""

    message: Raw
    index: int | None = None
    injected: bool = detail(default=False, sometimes=True)

    @property
    def shown(self) -> str:
        """Its place in the array, in a sentence."""
        return "?" if self.index is None else str(self.index)


def _requested(asked: ModelRequested) -> str:
    if asked.purpose == "summary":
        return "The model is asked for a summary."
    verb = "goes" if asked.messages == 1 else "go"
    return f"Turn {asked.turn}: {count(asked.messages, 'message')} {verb} to the model."


@event("model.requested", lesson="s01", sentence=_requested)
class ModelRequested:
    """A request is sent."""

    turn: int = 0
    messages: int = 0
    purpose: str = detail(default="conversation", sometimes=True)


@record
class UsageData:
    """What the server says that a request has used, in tokens; it may say nothing.

    Attributes:
        input_tokens: neither written to the cache nor read from it.
    """

    input_tokens: int | None = detail(default=None, sometimes=True)
    cache_read_input_tokens: int = detail(default=0, sometimes=True)
    cache_creation_input_tokens: int = detail(default=0, sometimes=True)
    output_tokens: int | None = detail(default=None, sometimes=True)
    simulated: bool = detail(default=False, sometimes=True)
    more_keys = True

    @property
    def known(self) -> bool:
        """Whether the server has said what was used."""
        return self.input_tokens is not None and self.output_tokens is not None

    @property
    def sent(self) -> int:
        """All the tokens of the request: new ones, and cached ones."""
        cached = self.cache_read_input_tokens + self.cache_creation_input_tokens
        return (self.input_tokens or 0) + cached


def _replied(reply: ModelReplied) -> str:
    usage = reply.usage
    tokens = "the server does not say how many tokens"
    if usage.input_tokens is not None or usage.output_tokens is not None:
        tokens = f"{usage.sent:,} tokens in, {usage.output_tokens or 0:,} out"
    if reply.purpose == "summary":
        return f"The model has written a summary ({tokens})."
    return f"Turn {reply.turn}: the reply is here, {stopped(reply.stop_reason)} ({tokens})."


@event("model.replied", lesson="s01", sentence=_replied)
class ModelReplied:
    """A reply has come."""

    turn: int = 0
    stop_reason: str | None = None
    usage: UsageData = UsageData()
    model: str | None = None
    seconds: float = 0.0
    purpose: str = detail(default="conversation", sometimes=True)


def _failed(failed: ModelFailed) -> str:
    status = "" if failed.status is None else f"{failed.status} "
    return f"Turn {failed.turn} fails: {status}{failed.error_type}, {quoted(failed.message)}."


@event("model.failed", lesson="s01", sentence=_failed)
class ModelFailed:
    """A request has no reply: the API refuses it, the connection fails, or the run is stopped."""

    turn: int = 0
    status: int | None = None
    error_type: str = ""
    message: str = ""


@event("model.paused", lesson="s01", sentence="{waits} waits for your reply.")
class ModelPaused:
    """A request has no reply yet, because you are the model of the agent that ``waits``."""

    turn: int = 0
    waits: str = ""


@event(
    "model.retried",
    lesson="s01",
    sentence="Turn {turn}: {error_type}, {message:quoted}; asked again after {seconds:seconds}.",
)
class ModelRetried:
    """A request failed for a reason that may pass, and is sent again."""

    turn: int = 0
    seconds: float = 0.0
    status: int | None = None
    error_type: str = ""
    message: str = ""


@event(
    "reply.repaired",
    lesson="s01",
    sentence=lambda reply: (
        f"Turn {reply.turn}: the reply was put in order; it had "
        f"{one_line('; '.join(reply.problems), 120)}."
    ),
)
class ReplyRepaired:
    """A reply had blocks that the API would not take back; they have been put right."""

    turn: int = 0
    problems: tuple[str, ...] = ()


@event(
    "tool.started",
    lesson="s01",
    sentence=lambda call: f"{call.name} runs: {one_line(arguments(call.input or {}), 60)}",
)
class ToolStarted:
    """A call is looked at, and runs if no mechanism refuses it."""

    id: str
    name: str = "?"
    input: Any = None


How = Literal["ran", "raised", "invalid", "unknown", "refused", "cut", "cancelled"]
_HOW = {
    "ran": "reports an error",
    "refused": "is refused",
    "unknown": "does not exist",
    "invalid": "is not run, its arguments do not fit",
    "cancelled": "is cancelled",
    "cut": "is not run, the reply was cut off",
    "raised": "fails",
}


def _call_ended(call: ToolEnded) -> str:
    said = quoted(call.output) if call.output else "no output"
    return f"{call.name} {'is ' if call.done else ''}{call.outcome}: {said}."


@event("tool.ended", lesson="s01", sentence=_call_ended)
class ToolEnded:
    """A call has its result; ``how`` says how it came to it."""

    id: str
    name: str = "?"
    is_error: bool = False
    output: str = ""
    seconds: float = 0.0
    how: How = "ran"

    @property
    def done(self) -> bool:
        """Whether the tool ran without an error."""
        return self.how == "ran" and not self.is_error

    @property
    def outcome(self) -> str:
        """How the call came to its end, in words."""
        return f"done after {self.seconds:.1f} s" if self.done else _HOW[self.how]


# Lesson 2: permission

_RULINGS = {"allow": "allows", "deny": "denies", "ask": "asks about"}


def _decided(ruling: PermissionDecided) -> str:
    answer = f" and hears {quoted(ruling.answer, 30)}" if ruling.asked and ruling.answer else ""
    reason = f": {ruling.reason}" if ruling.reason else ""
    return f"The policy {_RULINGS[ruling.decision]} {ruling.name}{answer}{reason}."


@event("permission.decided", lesson="s02", sentence=_decided)
class PermissionDecided:
    """The policy has ruled on a call, and a person was asked if it says so."""

    id: str
    decision: Literal["allow", "ask", "deny"]
    name: str = "?"
    answer: str | None = None
    reason: str | None = None

    @property
    def asked(self) -> bool:
        """Whether a person had to be asked."""
        return self.decision == "ask"


# Lesson 3: the todo list


@record
class TodoItem:
    """One thing to do."""

    id: str = ""
    text: str = ""
    status: Literal["pending", "in_progress", "completed"] = "pending"
    note: str = detail(default="", sometimes=True)


def _listed(todo: TodoUpdated) -> str:
    current = [item.text for item in todo.items if item.status == "in_progress"]
    now = f"; in progress: {quoted(current[0])}" if current else ""
    return f"{todo.done} of {count(todo.total, 'item')} completed{now}."


@event("todo.updated", lesson="s03", sentence=_listed)
class TodoUpdated:
    """The model has written its list anew, or an item of it."""

    items: tuple[TodoItem, ...] = ()
    done: int = 0
    total: int = 0
    remind_after: int = 3


@event("todo.rejected", lesson="s03", sentence="An update of the list is refused: {problem}.")
class TodoRejected:
    """The model's update breaks a rule of the list, which stays as it was."""

    problem: str = ""


@event(
    "todo.reminded",
    lesson="s03",
    sentence="After {rounds:round} without an update of the list, a reminder follows the results.",
)
class TodoReminded:
    """The model has not looked at its open list for so long that it is reminded."""

    rounds: int = 0
    text: str = ""


# Lesson 4: subagents


@event(
    "subagent.started",
    lesson="s04",
    sentence=lambda child: (
        f"A subagent of {child.parent} starts in a context of its own: "
        f"{quoted(child.description or child.prompt)}."
    ),
)
class SubagentStarted:
    """A subagent begins, in the lane of its own; ``call`` is the parent's call."""

    parent: str = "?"
    call: str = ""
    prompt: str = ""
    description: str = ""
    kind: str = ""
    inherited: int = 0


@event(
    "subagent.ended",
    lesson="s04",
    sentence="A subagent ends after {turns:turn}: of its ≈{tokens:,} tokens ≈{returned:,} go back.",
)
class SubagentEnded:
    """A subagent is done: ``tokens`` has the length of its array, ``returned`` its report's."""

    parent: str = "?"
    call: str = ""
    reason: str = ""
    turns: int = 0
    tokens: int = 0
    returned: int = 0


# Lesson 5: skills


@event(
    "skills.listed",
    lesson="s05",
    sentence="{skills:skill} are in the system prompt by name and description, "
    "≈{catalogue:,} tokens.",
)
class SkillsListed:
    """A run begins with the catalogue of skills; ``skills`` has the tokens of each one's text."""

    skills: Mapping[str, int]
    catalogue: int = 0
    preloaded: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@event(
    "skill.loaded",
    lesson="s05",
    sentence="The instructions of {name} are loaded, ≈{tokens:,} tokens.",
)
class SkillLoaded:
    """The model has loaded a skill's instructions."""

    name: str
    tokens: int = 0


@event("skill.read", lesson="s05", sentence="{file} of {name} is read, ≈{tokens:,} tokens.")
class SkillRead:
    """The model has read a file of a skill."""

    name: str
    file: str = "?"
    tokens: int = 0


# Lesson 6: compaction


@event(
    "messages.rewritten",
    lesson="s06",
    sentence=lambda array: (
        f"The array is rewritten and has {count(len(array.messages), 'message')} now"
        f"{f': {array.why}' if array.why else ''}."
    ),
)
class MessagesRewritten:
    """The whole message array has been replaced, by compaction or by hand."""

    messages: tuple[Raw, ...]
    why: str = ""


@event(
    "tokens.estimated",
    lesson="s06",
    sentence="The next request has ≈{tokens:,} tokens; the threshold is {threshold:,}.",
)
class TokensEstimated:
    """Compaction has measured the next request."""

    tokens: int
    threshold: int = 0
    chars_per_token: float = 4.0
    messages: int = 0


@record
class ClearedResult:
    """A tool result whose content was taken out of the array."""

    index: int
    id: str = ""
    name: str = ""
    chars: int = 0


@event(
    "compaction.cleared",
    lesson="s06",
    sentence="{results:old result} cleared: ≈{before:,} tokens become ≈{after:,}.",
)
class CompactionCleared:
    """Old tool results have been cleared."""

    before: int
    after: int
    results: tuple[ClearedResult, ...] = ()


_ASKERS = {
    "tool": "The model asks",
    "threshold": "The threshold is passed; compaction asks",
    "person": "A person asks",
}


@event(
    "compaction.asked",
    lesson="s06",
    sentence=lambda asked: (
        f"{_ASKERS[asked.by]} for a summary"
        f"{f' with focus on {quoted(asked.focus)}' if asked.focus else ''}."
    ),
)
class CompactionAsked:
    """A summary of the conversation is wanted."""

    by: Literal["tool", "threshold", "person"]
    focus: str = ""


@event(
    "compaction.summarised",
    lesson="s06",
    sentence="The conversation is a summary now: ≈{before:,} tokens become ≈{after:,}.",
)
class CompactionSummarised:
    """The conversation has been replaced by a summary; the whole of it is in ``transcript``."""

    before: int
    after: int
    transcript: str = ""
    focus: str = ""


@event(
    "compaction.failed",
    lesson="s06",
    sentence="The summary fails, and the messages stay as they are: {error}.",
)
class CompactionFailed:
    """The model wrote no summary."""

    error: str = ""


# Lesson 7: tasks


@record
class TaskData:
    """A task as it is after the event; a board may keep more of it."""

    id: int
    status: Literal["pending", "in_progress", "completed", "failed"]
    subject: str = ""
    description: str = ""
    blocked_by: tuple[int, ...] = detail(default=(), key="blockedBy")
    blocks: tuple[int, ...] = ()
    owner: str = ""
    tags: tuple[str, ...] = ()
    result_summary: str = detail(default="", sometimes=True)
    worktree: str = detail(default="", sometimes=True)
    more_keys = True

    @property
    def about(self) -> str:
        """Its number and subject, in a sentence."""
        return f"#{self.id} ({one_line(self.subject, 60)})"


@event("board.opened", lesson="s07", sentence="The board is as it was left: {tasks:task}.")
class BoardOpened:
    """A run begins with tasks on the board."""

    tasks: tuple[TaskData, ...]


@record
class TaskEvent:
    """What has happened to a task of the board."""

    task: TaskData


@event("task.created", lesson="s07", sentence="Task {task.about} is on the board.")
class TaskCreated(TaskEvent):
    """A task is new."""


@event("task.updated", lesson="s07", sentence="Task {task.about} is changed.")
class TaskUpdated(TaskEvent):
    """A task has been changed, and its status has not."""


@event(
    "task.started",
    lesson="s07",
    sentence=lambda started: (
        f"{started.task.owner} begins task {started.task.about}."
        if started.task.owner
        else f"Task {started.task.about} begins."
    ),
)
class TaskStarted(TaskEvent):
    """A task is in progress."""


def _completed(done: TaskCompleted) -> str:
    ids = [f"#{id}" for id in done.freed]
    after = f"; {listed(ids)} {'is' if len(ids) == 1 else 'are'} ready now" if ids else ""
    return f"Task {done.task.about} is completed{after}."


@event("task.completed", lesson="s07", sentence=_completed)
class TaskCompleted(TaskEvent):
    """A task is done; the tasks in ``freed`` have nothing more to wait for."""

    freed: tuple[int, ...] = ()


@event(
    "task.returned", lesson="s07", sentence="Task {task.about} is given back, and is unowned again."
)
class TaskReturned(TaskEvent):
    """A task that was in progress is pending again."""


@event("task.failed", lesson="s07", sentence="Task {task.about} has failed.")
class TaskFailed(TaskEvent):
    """A task has failed."""


@event("task.deleted", lesson="s07", sentence="Task {task.about} is deleted.")
class TaskDeleted(TaskEvent):
    """A task is gone from the board; this is how it was."""


@event("task.refused", lesson="s07", sentence="The board refuses: {problem}.")
class TaskRefused:
    """A call, or a click, would break a rule of the board."""

    tool: str = "?"
    problem: str = ""


# Lesson 8: background


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


def _job_ended(job: JobEnded) -> str:
    code = f" (exit code {job.code})" if job.code else ""
    output = quoted(job.output or "no output")
    return f"Job {job.id}: {job.status}{code} after {job.seconds:.1f} s: {output}."


@event("job.ended", lesson="s08", sentence=_job_ended)
class JobEnded:
    """A command in the background is over; nobody has been told yet."""

    id: str
    status: Literal["completed", "failed", "timeout", "stopped", "error"]
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


# Lesson 9: a team, its mail, and races over an inbox


@event("team.spawned", lesson="s09", sentence="{name} joins the team as {role}: {prompt:quoted}.")
class TeamSpawned:
    """A teammate is made, and begins with its prompt."""

    name: str
    role: str = ""
    prompt: str = ""


@event(
    "team.joined",
    lesson="s09",
    sentence=lambda mate: (
        f"{mate.name} joins the team as {mate.role}"
        f"{f', in a process on {mate.where}' if mate.where else ''}."
    ),
)
class TeamJoined:
    """A teammate in a process of its own joins the team."""

    name: str
    role: str = ""
    where: str = ""


@event(
    "team.lost",
    lesson="s09",
    sentence=lambda mate: f"{mate.name} has not been heard from for {mate.seconds} s.",
)
class TeamLost:
    """A teammate in a process of its own has sent no beat for so long that it counts as gone."""

    name: str
    seconds: int = 0


@event(
    "team.stuck",
    lesson="s09",
    sentence="{name} cannot go on, and tries again: {problem}.",
)
class TeamStuck:
    """What keeps the team's state has refused something to a teammate, which tries it again."""

    name: str
    problem: str = ""


_STATUSES = {"working": "working", "idle": "idle, and waits for mail", "shutdown": "shut down"}


@event(
    "team.status",
    lesson="s09",
    sentence=lambda mate: f"{mate.name} is {_STATUSES[mate.status]}.",
)
class TeamStatus:
    """A teammate's status has changed."""

    name: str
    status: Literal["working", "idle", "shutdown"]
    role: str = ""


@record
class MailData:
    """A message of the team's mail; a protocol may add more to it."""

    sender: str = detail(key="from")
    to: str
    content: str = ""
    id: str = ""
    type: str = "message"
    timestamp: str = ""
    request_id: str = detail(default="", sometimes=True)
    state: str = detail(default="", sometimes=True)
    more_keys = True


@event(
    "mail.sent", lesson="s09", sentence="{mail.sender} writes to {mail.to}: {mail.content:quoted}."
)
class MailSent:
    """A message is in its addressee's inbox."""

    mail: MailData


@event("mail.read", lesson="s09", sentence="{by} reads {ids:message}.")
class MailRead:
    """An agent has taken messages out of its inbox."""

    ids: tuple[str, ...]
    by: str


@event("race.started", lesson="s09", sentence="{reader} reads what {writers:writer} send.")
class RaceStarted:
    """A run of the race finder begins; ``seed`` is None for one that is replayed from a list."""

    reader: str
    writers: tuple[str, ...] = ()
    seed: int | None = None


@record
class RaceStep:
    """A step of a race: the messages it is about, and what is in the inbox after it."""

    texts: tuple[str, ...] = ()
    content: tuple[str, ...] = ()


@event("race.wrote", lesson="s09", sentence="{texts:message} written.")
class RaceWrote(RaceStep):
    """A writer has put a message into the inbox."""


@event("race.read", lesson="s09", sentence="{texts:message} read, and not yet removed.")
class RaceRead(RaceStep):
    """The reader has read the inbox, and is in the middle of taking the messages out."""


@event("race.paused", lesson="s09", sentence="A step in the middle of an action.")
class RacePaused(RaceStep):
    """A participant is in the middle of an action, where others may move."""


@event("race.emptied", lesson="s09", sentence="The inbox is emptied.")
class RaceEmptied(RaceStep):
    """The reader has finished what it began, and the inbox is empty."""


@event("race.finished", lesson="s09", sentence="The reader has finished.")
class RaceFinished(RaceStep):
    """The reader has finished what it began, and messages that came meanwhile are in the inbox."""


@event("race.drained", lesson="s09", sentence="The inbox is drained in one step.")
class RaceDrained(RaceStep):
    """The reader has taken the messages out in one step."""


@event("race.lost", lesson="s09", sentence="{text:quoted} is lost.")
class RaceLost:
    """A message is gone from the inbox, and the reader never gets it."""

    text: str
    writer: str = "?"
    content: tuple[str, ...] = ()


@event("race.repeated", lesson="s09", sentence="{text:quoted} is read once more.")
class RaceRepeated:
    """The reader gets a message that it had got before."""

    text: str


@event("race.ended", lesson="s09", sentence="{sent:message} sent, {read} read.")
class RaceEnded(RaceStep):
    """The run is over; ``texts`` are in the inbox, or in the reader's hands."""

    sent: int = 0
    read: int = 0


# Lesson 10: protocols


@record
class RequestData:
    """A request between agents, as it is after the event."""

    id: str
    kind: Literal["shutdown", "plan"]
    sender: str
    to: str
    state: Literal["pending", "approved", "rejected", "changes_requested", "expired"]
    content: str = ""
    assignment: int = 1
    expires: str = ""
    note: str = ""


@record
class RequestEvent:
    """What has happened to a request."""

    request: RequestData


_ASKS = {
    "shutdown": "{sender} asks {to} to shut down: request {id} is pending.",
    "plan": "{sender} submits plan {id} to {to}: {content:quoted}.",
}


@event(
    "request.opened",
    lesson="s10",
    sentence=lambda opened: filled(_ASKS[opened.request.kind], opened.request),
)
class RequestOpened(RequestEvent):
    """An agent asks, and waits for the answer."""


_VERDICTS = {"approved": "approves", "rejected": "rejects"}


def _answered(answered: RequestAnswered) -> str:
    request = answered.request
    verdict = _VERDICTS.get(request.state, "requests changes to")
    note = f": {quoted(request.note)}" if request.note else ""
    return f"{request.to} {verdict} {request.kind} {request.id}{note}."


@event("request.answered", lesson="s10", sentence=_answered)
class RequestAnswered(RequestEvent):
    """The addressee has answered."""


@event("request.expired", lesson="s10", sentence="Request {request.id} expires: {request.note}.")
class RequestExpired(RequestEvent):
    """It is too late for an answer."""


@event("request.refused", lesson="s10", sentence="That does not count: {problem}.")
class RequestRefused:
    """A call would break a rule of the protocol."""

    tool: str = "?"
    problem: str = ""


# Lesson 12: worktrees


@record
class WorktreeData:
    """A worktree as it is after the event."""

    name: str
    branch: str = ""
    base: str = ""
    task_id: int | None = None
    status: Literal["creating", "active", "kept", "removed"] = "active"
    path: str = ""

    @property
    def about(self) -> str:
        """Its name and its task, in a sentence."""
        return self.name if self.task_id is None else f"{self.name} for task #{self.task_id}"


@record
class WorktreeEvent:
    """What was done to a worktree."""

    tree: WorktreeData


@event("worktree.create", lesson="s12", sentence="Worktree {tree.about} is made.")
class WorktreeCreated(WorktreeEvent):
    """A worktree, with a branch of its own, is there."""


@event(
    "worktree.merge", lesson="s12", sentence="Worktree {tree.about} is merged into the main branch."
)
class WorktreeMerged(WorktreeEvent):
    """A worktree's branch is merged into the main branch."""


@event("worktree.keep", lesson="s12", sentence="Worktree {tree.about} is kept.")
class WorktreeKept(WorktreeEvent):
    """The work in a worktree is done, and its folder stays."""


@event(
    "worktree.remove", lesson="s12", sentence="Worktree {tree.about} is removed; its branch stays."
)
class WorktreeRemoved(WorktreeEvent):
    """A worktree's folder is gone."""


@event("worktree.failed", lesson="s12", sentence="That did not work: {problem}.")
class WorktreeFailed:
    """A call about a worktree was refused, or git has failed."""

    tool: str = "?"
    name: str = ""
    problem: str = ""


@record
class CommitData:
    """A commit; ``refs`` are the branches and tags that point to it."""

    id: str
    parents: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    subject: str = ""
    files: tuple[str, ...] = ()


@event(
    "worktree.commits",
    lesson="s12",
    sentence=lambda found: (
        f"There {'is' if len(found.commits) == 1 else 'are'} "
        f"{count(len(found.commits), 'commit')} on all branches."
    ),
)
class WorktreeCommits:
    """The commits have changed: the newest ones of all branches, children before parents."""

    commits: tuple[CommitData, ...]

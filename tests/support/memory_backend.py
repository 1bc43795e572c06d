"""A backend in memory: what a server of messages, tasks, requests and members has to do, in short.

It shares the rules of tasks and requests with the real ones, and nothing of how they store.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import learnkit as lk
from learnkit.backends import rules
from learnkit.backends.files.roster import no_member, silence
from learnkit.backends.interface import BoardBackend, InboxReader, Member
from learnkit.backends.mail import Mail, Type, check_content, checked_name
from learnkit.backends.request import Answer, Kind, Request, may
from learnkit.backends.task import Change, Changes, Task, checked
from learnkit.backends.watch import looking

Now = Callable[[], datetime]


def utc() -> datetime:
    return datetime.now(UTC)


class MemoryBackend:
    """Everything of several teams in this process."""

    address = "memory"
    has_clock = False

    def __init__(self, now: Now = utc) -> None:
        self._now = now
        self._mail: dict[str, MemoryMail] = {}
        self._tasks: dict[str, Tasks] = {}
        self._requests: dict[str, MemoryRequests] = {}
        self._rosters: dict[str, MemoryRoster] = {}

    def mail(self, team: str = "team") -> MemoryMail:
        return self._mail.setdefault(team, MemoryMail(self._now))

    def board(self, team: str = "team") -> MemoryBoard:
        return MemoryBoard(self._tasks.setdefault(team, Tasks()), self._now)

    def requests(self, team: str = "team") -> MemoryRequests:
        return self._requests.setdefault(team, MemoryRequests(self._now))

    def roster(self, team: str = "team") -> MemoryRoster:
        return self._rosters.setdefault(team, MemoryRoster(self._now))

    def watch(self, team: str, changed: Callable[[], object]) -> Callable[[], None]:
        return looking(changed)

    def close(self) -> None:
        """Nothing is open."""


class MemoryReader:
    """One reader's cursor in a list."""

    def __init__(self, messages: list[Mail], done: set[str], seen: Iterable[str]) -> None:
        self._messages, self._done = messages, done
        self._seen, self._passed = set(seen) & {one.id for one in messages}, set[str]()

    def look(self) -> list[Mail]:
        return [one for one in [*self._messages] if one.id not in self._done | self._seen]

    def take(self) -> list[Mail]:
        pending = [one for one in [*self._messages] if one.id not in self._done]
        new = [one for one in pending if one.id not in self._seen]
        self._passed = {one.id for one in pending}
        self._seen |= self._passed
        return new

    def put_back(self, ids: Iterable[str]) -> None:
        self._seen -= {*ids}
        self._passed -= {*ids}

    def commit(self) -> None:
        self._done |= self._passed
        self._passed = set()


class MemoryMail:
    """A server of mail: lists under one lock."""

    def __init__(self, now: Now = utc) -> None:
        self._now = now
        self._lock = threading.RLock()
        self._boxes: dict[str, list[Mail]] = {}
        self._done: dict[str, set[str]] = {}
        self._sent = 0

    @property
    def names(self) -> list[str]:
        with self._lock:
            return sorted(self._boxes)

    def open(self, name: str) -> None:
        with self._lock:
            self._boxes.setdefault(checked_name(name), [])
            self._done.setdefault(name, set())

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
        check_content(content)
        with self._lock:
            box = self._box(to)
            self._sent += 1
            sent = self._now().isoformat()
            mail = Mail(f"m{self._sent}", type, sender, to, content, sent, more)
            box.append(mail)
            return mail

    def broadcast(self, sender: str, content: str, *, at: datetime | None = None) -> list[Mail]:
        check_content(content)
        with self._lock:
            others = [name for name in self.names if name != sender]
            return [self.send(sender, to, content, "broadcast") for to in others]

    def unread(self, name: str) -> list[Mail]:
        return self.reader(name).look()

    def reader(self, name: str, seen: Iterable[str] = ()) -> InboxReader:
        return MemoryReader(self._box(name), self._done[name], seen)

    def _box(self, name: str) -> list[Mail]:
        if name not in self._boxes:
            checked_name(name)
            there = ", ".join(self.names) or "none"
            raise lk.ToolError(f"there is no inbox for {name!r}; there are inboxes for: {there}")
        return self._boxes[name]


class Tasks:
    """What all boards of a team share."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.by_id: dict[int, Task] = {}
        self.created = 0


class MemoryBoard(BoardBackend):
    """A server of tasks: a dict under one lock, with claims that check and take in one step."""

    def __init__(self, shared: Tasks | None = None, now: Now = utc) -> None:
        self._all, self._now = shared or Tasks(), now
        self._reported: dict[int, Task] | None = None

    def create(self, subject: str, description: str = "", *, tags: Iterable[str] = ()) -> Task:
        with self._all.lock:
            task = checked(Task(self._all.created + 1, subject, description, tags=tuple(tags)))
            self._all.created = task.id
            self._all.by_id[task.id] = task
            return task

    def get(self, id: int) -> Task:
        return rules.find(self._all.by_id, id)

    def tasks(self) -> list[Task]:
        with self._all.lock:
            return list(self._all.by_id.values())

    def ready(self) -> list[Task]:
        with self._all.lock:
            tasks, now = self._all.by_id, self._now()
            return [one for one in tasks.values() if rules.can_be_claimed(one, tasks, now)]

    def change(self, id: int, changes: Changes) -> Task | None:
        with self._all.lock:
            tasks = dict(self._all.by_id)
            rules.change(tasks, id, changes)
            self._all.by_id = tasks
            return tasks.get(id)

    def claim(
        self, id: int, owner: str, *, incarnation: str = "", lease: float | None = None
    ) -> Task:
        rules.check_owner(owner)
        rules.check_lease(lease)
        with self._all.lock:
            tasks = self._all.by_id
            task = rules.find(tasks, id)
            tasks[id] = rules.claimed(tasks, task, owner, incarnation, lease, self._now())
            return tasks[id]

    def renew(self, owner: str, incarnation: str, lease: float) -> list[int]:
        rules.check_lease(lease)
        with self._all.lock:
            tasks = self._all.by_id
            changed = rules.renewed(tasks.values(), owner, incarnation, lease, self._now())
            tasks.update({task.id: task for task in changed})
            return [task.id for task in changed]

    def release(self, owner: str, incarnation: str) -> list[Task]:
        with self._all.lock:
            tasks = self._all.by_id
            changed = rules.released(tasks.values(), owner, incarnation)
            tasks.update({task.id: task for task in changed})
            return changed

    def open(self) -> None:
        with self._all.lock:
            if self._reported is None:
                self._reported = dict(self._all.by_id)

    def news(self) -> list[Change]:
        with self._all.lock:
            before, now = self._reported or {}, dict(self._all.by_id)
            self._reported = now
        pairs = [(before.get(id), now.get(id)) for id in sorted({*before, *now})]
        return [(old, new) for old, new in pairs if rules.differs(old, new)]


class MemoryRequests:
    """A server of requests: a list under one lock."""

    def __init__(self, now: Now = utc) -> None:
        self._now = now
        self._lock = threading.RLock()
        self._requests: list[Request] = []
        self._assignments: dict[str, int] = {}
        self._plans: dict[tuple[str, str], bool] = {}

    def open(
        self, kind: Kind, sender: str, to: str, content: str, within: float | None = None
    ) -> Request:
        with self._lock:
            new = Request(f"r{len(self._requests) + 1:07}", kind, sender, to, content)
            new = replace(new, assignment=self._assignments.get(new.teammate, 0))
            if within is not None:
                new = replace(new, expires=(self._now() + timedelta(seconds=within)).isoformat())
            for old in self.all():
                if (old.kind, old.teammate, old.state) == (kind, new.teammate, "pending"):
                    raise lk.ToolError(f"request {old.id} to {to} has no answer yet")
            self._requests.append(new)
            return new

    def answer(self, id: str, by: str, state: Answer, note: str = "") -> Request:
        with self._lock:
            old = self.get(id)
            if old.to != by:
                raise lk.ToolError(f"request {id} is for {old.to} to answer, not for {by}")
            if old.state != "pending":
                raise lk.ToolError(f"request {id} is already {old.state}, which cannot be changed")
            if not may(old, state, "addressee"):
                raise lk.ToolError(f"a {old.kind} request cannot become {state}")
            return self._put(replace(old, state=state, note=note))

    def expire(self, id: str, why: str) -> Request | None:
        with self._lock:
            self.get(id)
            old = next(one for one in self._requests if one.id == id)
            if not may(old, "expired", "harness"):
                return None
            return self._put(replace(old, state="expired", note=why))

    def expire_all(self, teammate: str, why: str) -> list[Request]:
        with self._lock:
            ids = [
                one.id for one in self.all() if (one.teammate, one.state) == (teammate, "pending")
            ]
            return [request for id in ids if (request := self.expire(id, why))]

    def assign(self, teammate: str) -> list[Request]:
        with self._lock:
            self._assignments[teammate] = self._assignments.get(teammate, 0) + 1
            return self.expire_all(teammate, f"{teammate} has a new assignment")

    def get(self, id: str) -> Request:
        for request in self.all():
            if request.id == id:
                return request
        known = ", ".join(one.id for one in self.all()[-5:]) or "none"
        raise lk.ToolError(f"there is no request {id!r}; the latest requests are: {known}")

    def all(self) -> list[Request]:
        with self._lock:
            return [self._late(one) for one in self._requests]

    def current(self, teammate: str) -> Request | None:
        with self._lock:
            wanted = ("plan", teammate, self._assignments.get(teammate, 0))
            plans = [
                one for one in self.all() if (one.kind, one.teammate, one.assignment) == wanted
            ]
            return plans[-1] if plans else None

    def require_plan(self, required: bool, name: str = "", role: str = "") -> None:
        if not name:
            self._plans.clear()
        self._plans[name, role if name else ""] = required

    def requires_plan(self, name: str, role: str) -> bool:
        return self._plans.get((name, role), self._plans.get(("", ""), False))

    def _late(self, request: Request) -> Request:
        late = request.expires and self._now() > datetime.fromisoformat(request.expires)
        return replace(request, state="expired") if late and request.state == "pending" else request

    def _put(self, new: Request) -> Request:
        self._requests = [new if one.id == new.id else one for one in self._requests]
        return new


class MemoryRoster:
    """A server of members: a dict."""

    def __init__(self, now: Now = utc) -> None:
        self._now = now
        self._members: dict[str, Member] = {}
        self._heard: dict[str, datetime] = {}

    def members(self) -> list[Member]:
        found = [dict(one) for one in self._members.values()]
        for one in found:
            if heard := self._heard.get(one["name"]):
                seconds = (self._now() - heard).total_seconds()
                one.update(heard=heard.isoformat(), silent=silence(seconds))
        return found

    def note(self, entry: Member, *, held_by: str | None = None) -> bool:
        old = self._members.get(entry["name"], {})
        if held_by is not None and (not old or old.get("incarnation", "") != held_by):
            return False
        if "incarnation" in entry and entry["incarnation"] == old.get("incarnation"):
            self._members[entry["name"]] = {**old, **entry}
            return True
        self._heard.pop(entry["name"], None)
        self._members[entry["name"]] = dict(entry)
        return True

    def beat(self, name: str, incarnation: str, where: str) -> bool:
        if name not in self._members:
            raise no_member(name, [*self._members])
        if self._members[name].get("incarnation") != incarnation:
            return False
        self._members[name]["where"] = where
        self._heard[name] = self._now()
        return True

    def begin(self) -> None:
        for entry in self._members.values():
            if "incarnation" not in entry:
                entry["status"] = "shutdown"

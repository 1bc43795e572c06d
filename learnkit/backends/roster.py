"""Who is in a team: name, role and status of each member.

People read it, and after a restart the harness: a member of an earlier process gives its tasks
back. A member that runs in a process of its own, perhaps on another machine, says by its beats
that it is alive.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from learnkit.backends.shared import VERSION, Shared
from learnkit.errors import ToolError

#: One member of a team: ``name``, ``role`` and ``status``. A member that lives in a process of its
#: own also has its ``incarnation`` and, after its first beat, ``where`` it runs; ``heard``, when
#: its last beat came (ISO 8601); ``silent``, how many whole seconds ago that was; and ``up``, if
#: the server was away meanwhile: for how many seconds it could have been heard since.
Member = dict[str, str]


class Roster:
    """The members of a team, in one value that threads and processes share.

    ``up`` says for how many seconds the members could have been heard, where a server may be away.
    """

    def __init__(
        self,
        place: Shared,
        team: str,
        now: Callable[[], datetime],
        up: Callable[[], float] = lambda: math.inf,
    ) -> None:
        self._place, self._now, self._up = place, now, up
        self._empty: dict[str, Any] = {"team_name": team, "version": VERSION, "members": []}

    def members(self) -> list[Member]:
        """Return what is known of each member, in the order in which they joined."""
        members: list[Member] = self._place.read(self._empty)["members"]
        now, up = self._now(), self._up()
        for one in members:
            if heard := one.get("heard"):
                silent = (now - self._time(one, heard)).total_seconds()
                one["silent"] = _whole(silent)
                if up < silent:
                    one["up"] = _whole(up)
        return members

    def note(self, entry: Member, *, held_by: str | None = None) -> bool:
        """Add a member, or replace the entry with the same name.

        Args:
            entry: ``name``, ``role`` and ``status``. A member that lives in a process of its own
                also gives its ``incarnation``, a text that no other run of it has: it has the name
                from then on, and its beats stay in the entry when it is noted again.
            held_by: change the entry only if its present incarnation is this one; empty for a
                member in the lead's process. So a member that was replaced can't overwrite the
                entry of its successor. None to take the name, whoever has it.

        Returns:
            Whether the entry was stored. False if the name belongs to another incarnation now, or
            to no member; then nothing has changed.
        """

        def act(config: dict[str, Any]) -> bool:
            members = config["members"]
            for place, old in enumerate(members):
                if old["name"] == entry["name"]:
                    if held_by is not None and old.get("incarnation", "") != held_by:
                        return False
                    same = "incarnation" in entry and entry["incarnation"] == old.get("incarnation")
                    members[place] = {**old, **entry} if same else dict(entry)
                    return True
            if held_by is None:
                members.append(dict(entry))
            return held_by is None

        return self._place.update(act, self._empty)

    def beat(self, name: str, incarnation: str, where: str) -> bool:
        """Note that a member is alive.

        Args:
            name: of the member.
            incarnation: with which it was noted.
            where: where it runs, such as the name of its machine.

        Returns:
            False if the name belongs to another incarnation now, or to a member in the lead's
            process: then this one should end.

        Raises:
            ToolError: if there is no such member.
        """
        now = self._now()

        def act(config: dict[str, Any]) -> bool:
            for one in config["members"]:
                if one["name"] == name:
                    if one.get("incarnation") != incarnation:
                        return False
                    one.update(where=where, heard=now.isoformat())
                    return True
            known = ", ".join(one["name"] for one in config["members"]) or "none"
            raise ToolError(f"no member is called {name!r}; there are: {known}")

        # There are many: one that is not repeatable would leave a row in a database.
        return self._place.update(act, self._empty, repeatable=True)

    def begin(self) -> None:
        """Begin a new process of the lead: the members of its earlier ones have shut down.

        Members with an incarnation live in processes of their own, and stay as they are.
        """

        def act(config: dict[str, Any]) -> None:
            for one in config["members"]:
                if "incarnation" not in one:
                    one["status"] = "shutdown"

        self._place.update(act, self._empty)

    def _time(self, member: Member, text: str) -> datetime:
        try:
            return datetime.fromisoformat(text).astimezone(UTC)
        except ValueError:
            problem = f"says that {member['name']} was heard at {text!r}, which is no date"
            raise self._place.damaged(problem) from None


def _whole(seconds: float) -> str:
    """A time as a member's entry has it."""
    return str(max(0, int(seconds)))

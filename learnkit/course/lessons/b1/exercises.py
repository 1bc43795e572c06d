"""Lesson b1's exercise: what is wrong with an answer."""

from __future__ import annotations

from typing import Any

from learnkit.course.content import Verdict
from learnkit.course.lessons.verdicts import Cases, first_wrong


def _call(name: str, about: str = "") -> dict[str, Any]:
    return {"name": name, "input": {"command" if name == "bash" else "path": about}}


_KEY, _MAIL = _call("read_file", "private/key"), _call("write_file", "outbox/1.txt")
_LS = _call("bash", "ls")


def check_asks(asks: Any) -> Verdict:
    """Runs that leak, and some that only look like it."""
    cases: Cases = (
        ("a private file that is read, and then a mail", ([_KEY, _MAIL],), True),
        ("a mail that is edited", ([_KEY, _call("edit_file", "outbox/1.txt")],), True),
        ("the same with other calls between", ([_KEY, _call("todo"), _LS, _MAIL],), True),
        ("a command after a private file", ([_KEY, _LS],), True),
        ("./private/key", ([_call("read_file", "./private/key"), _MAIL],), True),
        ("docs/../private/key", ([_call("read_file", "docs/../private/key"), _MAIL],), True),
        ("docs/../outbox/1.txt", ([_KEY, _call("write_file", "docs/../outbox/1.txt")],), True),
        ("the first call of a run, a mail", ([_MAIL],), False),
        ("the first call of a run, a command", ([_LS],), False),
        ("a mail before the private file", ([_MAIL, _KEY],), False),
        ("a private file, and no more", ([_KEY],), False),
        ("a command that names private/", ([_call("bash", "cat private/key")],), False),
        ("private/key that is written", ([_call("write_file", "private/key"), _MAIL],), False),
        ("a file in docs/ after a private one", ([_KEY, _call("write_file", "docs/a.md")],), False),
        ("outbox/../docs/a.md", ([_KEY, _call("write_file", "outbox/../docs/a.md")],), False),
        ("private-notes/a.md", ([_call("read_file", "private-notes/a.md"), _MAIL],), False),
        ("outbox/1.txt that is read", ([_KEY, _call("read_file", "outbox/1.txt")],), False),
    )
    return first_wrong(asks, cases, bool)

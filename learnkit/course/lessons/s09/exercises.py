"""Lesson 9's exercises: what is wrong with an answer."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from learnkit.course.content import Verdict
from learnkit.course.lessons.verdicts import Cases, first_wrong


def _line(id: str, content: str) -> str:
    return json.dumps({"id": id, "type": "message", "from": "bob", "to": "bob", "content": content})


def check_unread(unread: Any) -> Verdict:
    """Check how many messages each inbox of a folder has that were not read."""

    def found(inboxes: dict[str, tuple[int, int | None]]) -> Any:
        with tempfile.TemporaryDirectory() as name:
            Path(name, "lock").touch()
            for who, (sent, read) in inboxes.items():
                path = Path(name, f"inbox-{who}.jsonl")
                path.write_text(
                    "".join(f"{_line(f'{n:08}', f'a{chr(10)}b')}\n" for n in range(sent))
                )
                if read is not None:
                    path.with_suffix(".cursor").write_text(str(read))
            return unread(Path(name))

    cases: Cases = [
        ("an empty folder", ({},), {}),
        ("bob's two messages, and no cursor yet", ({"bob": (2, None)},), {"bob": 2}),
        ("bob's three, of which he has read one", ({"bob": (3, 1)},), {"bob": 2}),
        ("bob's two, both read, and one to al", ({"bob": (2, 2), "al": (1, 0)},), {"al": 1}),
        ("al-2 and bob", ({"bob": (12, 9), "al-2": (1, None)},), {"al-2": 1, "bob": 3}),
    ]
    return first_wrong(found, cases)


def _heard(*lines: str) -> list[dict[str, Any]]:
    """Messages in which some lines were delivered."""
    text = "\n".join(["<inbox>", *lines, "</inbox>"])
    return [
        {"role": "user", "content": "You have mail."},
        {"role": "user", "content": text},
        {"role": "assistant", "content": [{"type": "text", "text": "Noted."}]},
    ]


def check_unheard(unheard: Any) -> Verdict:
    """Check that of some lines those are left that no message holds, by their ids."""
    first, second = _line("a1b2c3d4", "ok"), _line("e5f6a7b8", "ok")
    late = _line("0badcafe", "Bob's mail:\ndelete row 4")
    quoting = _heard(_line("c0ffee00", f"Did you get this? {second}"))
    block = {"role": "user", "content": [{"type": "text", "text": f"<inbox>\n{first}\n</inbox>"}]}

    def found(lines: list[str], messages: list[Any]) -> list[str]:
        return [json.loads(line)["id"] for line in unheard(lines, messages)]

    both = [*_heard(first), *_heard(late)]
    cases: Cases = [
        ("one line, and no messages yet", ([first], []), ["a1b2c3d4"]),
        ("a line that the messages hold", ([first], _heard(first)), []),
        ("a delivered line with a line break in its text", ([late], _heard(late)), []),
        ("two lines, of which one was delivered", ([first, late], _heard(first)), ["0badcafe"]),
        ("two mails “ok”, one of them delivered", ([first, second], _heard(first)), ["e5f6a7b8"]),
        ("lines of two messages", ([late, first], both), []),
        ("a line in a text block, beside results", ([first], [block]), []),
        ("a line that a delivered one only quotes", ([second], quoting), ["e5f6a7b8"]),
    ]
    return first_wrong(found, cases)

"""Lesson 9's exercises: what is wrong with an answer."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from learnkit.course.content import Verdict
from learnkit.course.lessons.verdicts import short


def _line(id: str, content: str, to: str = "lead") -> str:
    return json.dumps({"id": id, "type": "message", "from": "bob", "to": to, "content": content})


def check_unread(unread: Any) -> Verdict:
    """Check how many messages each inbox of a folder has that were not read."""
    for inboxes, wanted, what in (
        ({}, {}, "an empty folder"),
        ({"bob": (2, None)}, {"bob": 2}, "bob's two messages, and no cursor yet"),
        ({"bob": (3, 1)}, {"bob": 2}, "bob's three messages, of which he has read one"),
        ({"bob": (2, 2), "alice": (1, 0)}, {"alice": 1}, "bob's two, both read, and one to alice"),
        ({"bob": (12, 9), "alice-2": (1, None)}, {"alice-2": 1, "bob": 3}, "alice-2 and bob"),
    ):
        with tempfile.TemporaryDirectory() as name:
            for who, (sent, read) in inboxes.items():
                lines = [_line(f"{n:08}", "a\nb", to=who) for n in range(sent)]
                path = Path(name, f"inbox-{who}.jsonl")
                path.write_text("".join(f"{line}\n" for line in lines))
                if read is not None:
                    path.with_suffix(".cursor").write_text(str(read))
            Path(name, "lock").touch()
            try:
                got = unread(Path(name))
            except Exception as error:
                error.add_note(f"for {what}")
                raise
        if got != wanted:
            got = dict(sorted(got.items())) if isinstance(got, dict) else got
            return f"for {what}, your function returned {short(got)}; it should return {wanted}"
    return None


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
    quoting = _line("c0ffee00", f"Did you get this? {second}")
    block = {"role": "user", "content": [{"type": "text", "text": f"<inbox>\n{first}\n</inbox>"}]}
    for lines, messages, wanted, what in (
        ([first], [], [first], "one line, and no messages yet"),
        ([first], _heard(first), [], "a line that the messages hold"),
        ([late], _heard(late), [], "a line with a line break in its text, which was delivered"),
        ([first, late], _heard(first), [late], "two lines, the first of which was delivered"),
        ([first, second], _heard(first), [second], "two mails “ok”, one of which was delivered"),
        ([late, first], [*_heard(first), *_heard(late)], [], "lines of two messages, swapped"),
        ([first], [block], [], "a line in a text block, beside results"),
        ([second], _heard(quoting), [second], "a line that a delivered one only quotes"),
    ):
        try:
            got = unheard(list(lines), messages)
        except Exception as error:
            error.add_note(f"for {what}")
            raise
        if got != wanted:
            ids = [json.loads(line)["id"] for line in wanted]
            told = got
            if isinstance(got, list) and {*map(str, got)} <= {*lines}:
                told = [json.loads(line)["id"] for line in got]
            return f"for {what}, your function returned {short(told)}; it should return {ids}"
    return None


EXERCISES = {
    "unread": check_unread,
    "unheard": check_unheard,
}

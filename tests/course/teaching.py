"""The rules about what a lesson asks of its reader: predictions, exercises, quiz, set-up."""

from __future__ import annotations

from .subject import Subject


def set_up(subject: Subject) -> list[str]:
    """The first code cell opens this lesson's lab in at most five lines; the last closes it."""
    if not subject.code:
        return ["there is no code cell"]
    (_, first), (_, last) = subject.code[0], subject.code[-1]
    found = []
    if f'lab = lesson("{subject.name}")' not in first.source:
        found.append(f'the first code cell does not hold lab = lesson("{subject.name}")')
    if len(first.source.splitlines()) > 5:
        found.append("the set-up cell has more than five lines")
    if not last.source.rstrip().endswith("lab.close()"):
        found.append("the last code cell does not end with lab.close()")
    return found

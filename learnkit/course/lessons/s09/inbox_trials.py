"""Lesson 9's trial of an inbox: a process writes while another one is between its two steps.

The learner's inbox has ``send(text)`` and ``drain()``.
"""

from __future__ import annotations

from pathlib import Path

from learnkit.course.lessons.s07.processes import in_turns

_WRITER = "until('read'); board.send('second message'); reached('written')"
_READER = """
board.send('first message')
paused = []
board.pause = lambda: (paused.append(1), reached('read'), until('written'))
first = board.drain()
if not paused:
    reached('read')
    print("nothing is shown: drain() did not call self.pause() between its two steps")
    raise SystemExit
board.pause = lambda: None
second = board.drain()
board.send('third message')
print(first + second + board.drain() + board.drain())
"""


def write_while_it_reads(inbox: type, folder: Path) -> str:
    """Let a process write a message just after another one has read the file, and then one more."""
    return in_turns(inbox, folder, [_READER, _WRITER])[0]

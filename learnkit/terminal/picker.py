"""A list in the terminal of which the user takes a line, with arrow keys or by typing a part."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from learnkit.events.text import one_line

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyPressEvent

#: Lines that are seen at a time.
SEEN = 10


def picked(lines: Sequence[str]) -> int | None:
    """Show lines, and return the number of the one that the user takes; None for none."""
    from prompt_toolkit.application import Application
    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, Window
    from prompt_toolkit.layout.processors import BeforeInput
    from prompt_toolkit.output.vt100 import Vt100_Output

    place = 0  # in what is found

    def found() -> list[int]:
        words = typed.text.lower().split()
        return [n for n, line in enumerate(lines) if all(one in line.lower() for one in words)]

    def begin(buffer: Buffer) -> None:
        nonlocal place
        place = 0

    def shown() -> StyleAndTextTuples:
        begin, width = max(0, place - SEEN + 1), app.output.get_size().columns
        rows: StyleAndTextTuples = []
        for at, number in enumerate(found()[begin : begin + SEEN], begin):
            sign, style = (">", "reverse") if at == place else (" ", "")
            rows.append((style, f"{sign} {one_line(lines[number], width - 3)}\n"))
        rows.append(("class:dim", one_line("type a part · ↑ ↓ · Enter · Esc", width - 1)))
        return rows

    keys = KeyBindings()

    @keys.add("up")
    @keys.add("down")
    def move(event: KeyPressEvent) -> None:
        nonlocal place
        step = -1 if event.key_sequence[0].key == "up" else 1
        place = max(0, min(len(found()) - 1, place + step))

    @keys.add("enter")
    def take(event: KeyPressEvent) -> None:
        if rows := found():
            event.app.exit(result=rows[place])

    @keys.add("escape", eager=True)
    @keys.add("c-c")
    @keys.add("c-d")
    def leave(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    typed = Buffer(multiline=False, on_text_changed=begin)
    line = BufferControl(typed, input_processors=[BeforeInput("> ")])
    rows = Window(FormattedTextControl(shown), dont_extend_height=True)
    screen = Vt100_Output.from_pty(sys.stdout)
    screen.enable_cpr = False
    app: Application[int | None] = Application(
        Layout(HSplit([rows, Window(line, height=1)])),
        key_bindings=keys,
        output=screen,
        erase_when_done=True,
    )
    return app.run()

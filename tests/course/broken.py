"""A way to break each rule in a copy of a notebook, and what the rule has to say to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from .subject import Subject

Breaker = Callable[[Subject], Subject | None]
FUNCTION = "def {0}({1}):\n    {2} = 0\n" + "    {2} += {1}\n" * 4 + "    return {2}"


def _code(subject: Subject, source: str, *outputs: NotebookNode) -> None:
    """Put a code cell before the last one."""
    cell = new_code_cell(source, outputs=list(outputs), execution_count=1)
    subject.book.cells.insert(-1, cell)


def _prose(subject: Subject, text: str) -> None:
    subject.book.cells.append(new_markdown_cell(text))


def _printing(text: str) -> Breaker:
    return lambda subject: _code(subject, "pass", new_output("stream", text=f"{text}\n"))


def _saying(text: str) -> Breaker:
    return lambda subject: _prose(subject, text)


def _writing(source: str) -> Breaker:
    return lambda subject: _code(subject, source)


def _without(pattern: str, instead: str = "") -> Breaker:
    """Replace text in every cell."""

    def breaker(subject: Subject) -> None:
        for cell in subject.book.cells:
            cell.source = re.sub(pattern, instead, cell.source, flags=re.MULTILINE)

    return breaker


def _displaying(kind: str, data: str) -> Breaker:
    output = new_output("display_data", {kind: data})
    return lambda subject: _code(subject, "pass", output)


def _uncounted(subject: Subject) -> None:
    subject.code[1][1].execution_count = None


def _timed(subject: Subject) -> None:
    subject.code[0][1].metadata["execution"] = {"iopub.execute_input": "now"}


def _attached(subject: Subject) -> None:
    subject.book.cells[0]["attachments"] = {"a.png": {"image/png": "aGk="}}


def _widget_state(subject: Subject) -> None:
    subject.book.metadata["widgets"] = {}


def _pasted(subject: Subject) -> None:
    for names in (("one", "a", "b"), ("other", "x", "y")):
        _code(subject, FUNCTION.format(*names))


def _promising(minutes: int) -> Breaker:
    return lambda subject: replace(subject, lesson=replace(subject.lesson, minutes=minutes))


def _all_at_a(subject: Subject) -> Subject:
    """Every right answer at the letter a."""
    lesson = subject.lesson
    asked = {name: replace(one, right="a") for name, one in lesson.predictions.items()}
    quiz = [replace(one, right="a") for one in lesson.quiz]
    return replace(subject, lesson=replace(lesson, predictions=asked, quiz=quiz))


def _spoilt(where: int) -> Breaker:
    """The first prediction's right option, and what is on the screen before it, hold one figure."""

    def breaker(subject: Subject) -> Subject:
        first = subject.lesson.predictions["p1"]
        right = replace(first.options[first.right], text="It takes 8,191 tokens.")
        asked = replace(first, options={**first.options, first.right: right})
        told = new_markdown_cell("The request has 8191 tokens.")
        output = new_output("stream", text="8,191 tokens\n")
        printed = new_code_cell("pass", outputs=[output], execution_count=1)
        subject.book.cells.insert(where, told if where > 1 else printed)
        changed = {**subject.lesson.predictions, "p1": asked}
        return replace(subject, lesson=replace(subject.lesson, predictions=changed))

    return breaker


def _revealed_alone(subject: Subject) -> None:
    """A cell that answers the first prediction does nothing but reveal it."""
    for cell in subject.book.cells:
        if 'lab.reveal("p1")' in cell.source:
            cell.source = 'lab.reveal("p1")'


def _in_the_core(*cells: NotebookNode) -> Breaker:
    """Put cells into the section that every lesson has in its core path."""

    def breaker(subject: Subject) -> None:
        book = subject.book.cells
        at = next((n for n, one in enumerate(book) if "\n## Build" in f"\n{one.source}"), 1)
        book[at + 1 : at + 1] = cells

    return breaker


def _reassigned(reader: str) -> list[NotebookNode]:
    """Cells of which one reads a name, and a later one gives it another value."""
    show = "def show():\n    return first"
    return [new_code_cell(source) for source in ("first = 1", show, reader, "first = 2")]


#: Rule, what it has to say, and what is done to the notebook.
BREAKERS: list[tuple[str, str, Breaker]] = [
    ("counted", "has execution count None", _uncounted),
    ("no_widgets", "metadata.widgets", _widget_state),
    ("stable_metadata", "execution", _timed),
    ("short_cells", "more than 20", _writing("pass\n" * 21)),
    ("no_hazards", "magic", _writing("!ls")),
    ("no_attachments", "attachments", _attached),
    ("small", "bytes", _saying("x" * 300_000)),
    ("linted", "F821", _writing("print(nobody_knows_it)")),
    ("never_pasted", "pasted", _pasted),
    ("set_up", "the first code cell", _without(r"lesson\(\".*\"\)", 'lesson("s99")')),
    ("one_heading_tree", "after level", _saying("## two\n\n#### four")),
    ("links", "no-such-file", _saying("[there](no-such-file.md)")),
    ("figures", "no form that is text", _displaying("image/png", "aGk=")),
    ("clean_outputs", "an absolute path", _printing("/" + "home/someone/notes.txt")),
    ("clean_outputs", "a secret", _printing("sk-" + "a1" * 20)),
    ("minutes", "it promises 7 minutes; ", _promising(7)),
    ("letters", "use three letters", _all_at_a),
    ("sourced_figures", "no cell makes 87%", _saying("It saves 87 % of the tokens.")),
    *(
        ("lasting_names", f"reads first{through}, and cell", _in_the_core(*_reassigned(reader)))
        for through, reader in (("", "first"), (" through show", "show()"))
    ),
    ("plain_words", "write after", _saying("The text comes behind the results.")),
    ("size", "cells; 50 are allowed", _in_the_core(*[new_code_cell("pass")] * 51)),
    ("has_parts", "a promise in bold", _without(r"\*\*")),
    ("asked", "p1 is not asked", _without(r"lab\.predict\(\"p1\".*\)", "pass")),
    ("asked", "only reveals p1", _revealed_alone),
    ("asked", "cell 2 says 8191 tok, which answers p1", _spoilt(1)),
    ("exercises", "@lab.exercise(1) is not above", _without(r"^@lab\.exercise\(1\)\n")),
]
#: Code cells that break the rules of a run, besides the set-up cell; see ``careless``.
CARELESS = (
    # Counts on from what the run before has left.
    'with lab.scenario("a", script=[]):\n    seen = [*globals().get("seen", []), 1]\n'
    "print(len(seen))",
    # Shows what the scenario cell that ran last has set.
    'with lab.scenario("b", script=[]):\n    last = "b"',
    'with lab.scenario("c", script=[]):\n    print(last)',
    'with lab.scenario("d", script=[]):\n    last = "d"',
    "import subprocess, sys, tempfile, threading\nfrom pathlib import Path",
    'threading.Thread(target=threading.Event().wait, name="careless", daemon=True).start()',
    # Ends when the kernel does.
    'child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)',
    'temporary = tempfile.mkdtemp(prefix="careless-")',
    'Path("careless.txt").write_text("left")',
    "1 / 0",
    "pass",
)
#: The repetitions that show something else: what counts on does so each time, what shows another
#: cell's variable only when another cell has run before.
AGAIN = {"Cell 1 again", "Cell 1 after later ones", "Cell 3 after later ones"}
#: The cell that fails unasked.
FAILING = "Cell 10"
#: What the rules have to say.
FOUND = (
    "refreshing it changes the file",
    "threads left: careless",
    "processes left: ",
    "temporary files left: careless-",
    "is never used",
    "careless.txt",
    "ZeroDivisionError",
)


def careless(subject: Subject) -> Subject:
    """The set-up cell of a notebook, and cells that leave something behind."""
    first = subject.code[0][1]
    subject.book.cells = [first, *(new_code_cell(source) for source in CARELESS)]
    first.outputs = [new_output("stream", text="an output that it does not have\n")]
    return subject

"""What a notebook's cells hold for ``agent.py``: the parts of each lesson, and their repairs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: The first line of a cell whose definitions go into the learner's ``agent.py``.
MAGIC = "%%agent"
_FOLDED = re.compile(r"<details>.*?^```python\n(.*?)\n```$.*?</details>", re.DOTALL | re.MULTILINE)


def agent_cells(book: Mapping[str, Any]) -> list[str]:
    """Return the code of every cell with ``%%agent``, and of those tagged ``repair`` below it.

    A repair is folded in a Markdown cell; its definitions take the place of the naive ones above.
    """
    found = []
    for cell in book["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code" and text.startswith(f"{MAGIC}\n"):
            found.append(text.removeprefix(f"{MAGIC}\n"))
        elif "repair" in cell["metadata"].get("tags", ()):
            found += _FOLDED.findall(text)[:1]
    return found

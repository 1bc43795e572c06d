"""Lesson 5's exercises: what is wrong with an answer."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from learnkit.course.content import Verdict


def _exchange(name: str, result: str) -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": "toolu_1", "name": "load_skill", "input": {"name": name}}
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": result}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer]}]


def check_loaded(is_loaded: Any) -> Verdict:
    """Ask for a skill that is there, and for some that only seem to be."""
    ask = [{"role": "user", "content": "Fill in the form, with your skill pdf."}]
    whole = _exchange("pdf", '<skill name="pdf" folder="skills/pdf">\n# PDF\n</skill>')
    forms = _exchange("pdf-forms", '<skill name="pdf-forms" folder="skills/pdf-forms">\n</skill>')
    text = {"type": "text", "text": "<reminder>Update your list.</reminder>"}
    reminded = [whole[0], {**whole[1], "content": [*whole[1]["content"], text]}]
    for messages, wanted, what in (
        (ask + whole, True, "the instructions of pdf are in a tool result"),
        (ask + reminded, True, "a reminder follows the instructions of pdf"),
        (ask, False, "only the user has named pdf"),
        (ask + forms, False, "the skill that is there is pdf-forms"),
        (ask + _exchange("pdf", "LookupError: no skill 'pdf'"), False, "the call of pdf failed"),
        (
            ask + _exchange("pdf", "[Previous: used load_skill]"),
            False,
            "lesson 6 has cleared the result, and only the call is left",
        ),
    ):
        found = is_loaded(messages, "pdf")
        if not isinstance(found, bool):
            return f"it returned {found!r}; it should be True or False"
        if found != wanted:
            return f"it says {found} although {what}"
    return None


def check_digest(digest: Any) -> Verdict:
    """Take the digest of a skill, and of copies in which one thing is different."""
    with tempfile.TemporaryDirectory(prefix="learnkit-") as scratch:
        folder = Path(scratch, "one", "doctor")
        (folder / "scripts" / "lib").mkdir(parents=True)
        (folder / "SKILL.md").write_text("---\nname: doctor\n---\nRun scripts/doctor.py.\n")
        (folder / "scripts" / "doctor.py").write_text("print('fine')\n")
        (folder / "scripts" / "lib" / "units.py").write_text("C = 1\n")
        approved = digest(folder)
        if not isinstance(approved, str):
            return f"it returned {approved!r}; a text is right, such as a hexdigest()"

        def copied(name: str) -> Path:
            return Path(shutil.copytree(folder, Path(scratch, name, "doctor")))

        if digest(folder) != approved or digest(copied("same")) != approved:
            return "a copy of the skill, with the same files, has another digest"
        scripts = copied("text") / "scripts"
        (scripts / "doctor.py").write_text("print('boom')\n")
        moved = copied("moved") / "scripts"
        (moved / "doctor.py").write_text("print('fine')\nC")
        (moved / "lib" / "units.py").write_text(" = 1\n")
        (copied("more") / "scripts" / "json.py").write_text("print('boom')\n")
        # The only file of its folder: in whatever order files are found, this one's is the same.
        renamed = copied("renamed") / "scripts" / "lib"
        (renamed / "units.py").rename(renamed / "json.py")
        run_on = copied("run on") / "scripts" / "lib"
        (run_on / "units.py").unlink()
        (run_on / "units.pyC").write_text(" = 1\n")
        for name, what in {
            "text": "scripts/doctor.py was changed",
            "more": "a file scripts/json.py was added, which any script here imports",
            "renamed": "scripts/lib/units.py was renamed to json.py",
            "moved": "text was moved from the beginning of one script to the end of another",
            "run on": "a character was moved from the text of units.py to the end of its name",
        }.items():
            if digest(Path(scratch, name, "doctor")) == approved:
                return f"{what} after you had approved the skill, and the digest is the same"
    return None


EXERCISES = {
    "is_loaded": check_loaded,
    "digest": check_digest,
}

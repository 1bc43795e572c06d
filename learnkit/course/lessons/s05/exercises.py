"""Lesson 5's exercises: what is wrong with an answer."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from learnkit.course.content import Verdict
from learnkit.course.lessons.verdicts import Cases, first_wrong


def _exchange(name: str, result: str, *after: dict[str, Any]) -> tuple[list[Any], str]:
    call = {"type": "tool_use", "id": "toolu_1", "name": "load_skill", "input": {"name": name}}
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": result}
    asked = {"role": "user", "content": "Fill in the form, with your skill pdf."}
    results = {"role": "user", "content": [answer, *after]}
    exchange = [{"role": "assistant", "content": [call]}, results]
    return [asked, *(exchange if result else [])], "pdf"


def check_loaded(is_loaded: Any) -> Verdict:
    """Ask for a skill that is there, and for some that only seem to be."""
    whole = '<skill name="pdf" folder="skills/pdf">\n# PDF\n</skill>'
    other = '<skill name="pdf-forms" folder="skills/pdf-forms">\n</skill>'
    text = {"type": "text", "text": "<reminder>Update your list.</reminder>"}
    cases: Cases = (
        ("a result with the instructions of pdf", _exchange("pdf", whole), True),
        ("such a result, and a reminder after it", _exchange("pdf", whole, text), True),
        ("a user who names pdf", _exchange("pdf", ""), False),
        ("a result with the skill pdf-forms", _exchange("pdf-forms", other), False),
        ("a call that failed", _exchange("pdf", "LookupError: no skill 'pdf'"), False),
        ("a result that was cleared", _exchange("pdf", "[Previous: used load_skill]"), False),
    )
    return first_wrong(is_loaded, cases)


def check_digest(digest: Any) -> Verdict:
    """Take the digest of a skill, and of copies in which one thing is different."""
    with tempfile.TemporaryDirectory(prefix="learnkit-") as scratch:
        folder = Path(scratch, "one", "doctor")
        (folder / "scripts" / "lib").mkdir(parents=True)
        (folder / "SKILL.md").write_text("---\nname: doctor\n---\nRun scripts/doctor.py.\n")
        (folder / "scripts" / "doctor.py").write_text("print('fine')\n")
        (folder / "scripts" / "lib" / "units.py").write_text("C = 1\n")
        approved = digest(folder)

        def copied(name: str) -> Path:
            return Path(shutil.copytree(folder, Path(scratch, name, "doctor"))) / "scripts"

        if digest(folder) != approved or digest(copied("same").parent) != approved:
            return "a copy of the skill, with the same files, has another digest"
        (copied("text") / "doctor.py").write_text("print('boom')\n")
        (copied("more") / "json.py").write_text("print('boom')\n")
        # The only file of its folder: in whatever order files are found, this one's is the same.
        (copied("renamed") / "lib" / "units.py").rename(
            Path(scratch, "renamed/doctor/scripts/lib/json.py")
        )
        moved = copied("moved")
        (moved / "doctor.py").write_text("print('fine')\nC")
        (moved / "lib" / "units.py").write_text(" = 1\n")
        for name, what in {
            "text": "scripts/doctor.py was changed",
            "more": "a file scripts/json.py was added, which any script here imports",
            "renamed": "scripts/lib/units.py was renamed to json.py",
            "moved": "text was moved from the beginning of one script to the end of another",
        }.items():
            if digest(Path(scratch, name, "doctor")) == approved:
                return f"{what} after you had approved the skill, and the digest is the same"
    return None


EXERCISES = {
    "is_loaded": check_loaded,
    "digest": check_digest,
}

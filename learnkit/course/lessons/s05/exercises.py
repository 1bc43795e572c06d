"""Lesson 5's exercises: what is wrong with an answer."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from learnkit.course.content import Verdict
from learnkit.course.lessons.verdicts import Cases, first_wrong

_ASKED = "Fill in the form, with your skill pdf."
_TAG = '<skill name="pdf" folder="skills/pdf">'


def _exchange(
    call: dict[str, Any], result: str, *after: dict[str, Any], asked: str = _ASKED, **more: Any
) -> tuple[list[Any], str]:
    """A prompt, a call with its result and what comes after it, and the name of a skill."""
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": result, **more}
    use = {"type": "tool_use", "id": "toolu_1", **call}
    exchange = [{"role": "assistant", "content": [use]}]
    exchange += [{"role": "user", "content": [answer, *after]}]
    return [{"role": "user", "content": asked}, *(exchange if call else [])], "pdf"


def _load(name: str = "pdf") -> dict[str, Any]:
    return {"name": "load_skill", "input": {"name": name}}


def check_is_loaded(is_loaded: Any) -> Verdict:
    """Ask for a skill that is there, and for some that only seem to be."""
    whole, failed = f"{_TAG}\n# PDF\n</skill>", "LookupError: no skill 'pdf'"
    other = '<skill name="pdf-forms" folder="skills/pdf-forms">\n</skill>'
    text = {"type": "text", "text": "<reminder>Update your list.</reminder>"}
    grep = {"name": "bash", "input": {"command": "grep -rn skill notes/"}}
    cases: Cases = (
        ("a result with the instructions of pdf", _exchange(_load(), whole), True),
        ("such a result, and a reminder after it", _exchange(_load(), whole, text), True),
        ("a user who names pdf", _exchange({}, ""), False),
        ("a result with the skill pdf-forms", _exchange(_load("pdf-forms"), other), False),
        ("a call that failed", _exchange(_load(), failed, is_error=True), False),
        (
            "a result that was cut to [Previous: used load_skill]",
            _exchange(_load(), "[Previous: used load_skill]"),
            False,
        ),
        ("a user who quotes the tag of pdf", _exchange({}, "", asked=f"What is {_TAG}?"), False),
        ("a grep whose result quotes the tag of pdf", _exchange(grep, f"a.md:3: {_TAG}"), False),
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
        joined = copied("joined")
        (joined / "doctor.py").unlink()
        (joined / "doctor.p").write_text("yprint('fine')\n")
        for name, what in {
            "text": "scripts/doctor.py was changed",
            "more": "a file scripts/json.py was added, which any script here imports",
            "renamed": "scripts/lib/units.py was renamed to json.py",
            "moved": "text was moved from the beginning of one script to the end of another",
            "joined": "a script was renamed, and the end of its old name was put before its text",
        }.items():
            if digest(Path(scratch, name, "doctor")) == approved:
                return f"{what} after you had approved the skill, and the digest is the same"
    return None

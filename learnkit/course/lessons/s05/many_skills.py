"""Skills for lessons: the six that ship with the course, generated manuals, and their bill.

The shipped skills are in ``skills/`` at the top of the repository, where other agents find them,
and inside an installed package. A lesson works on copies in its workspace.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from learnkit.core.usage import Meter
from learnkit.course import files as course_files
from learnkit.course.lessons.bills import billed
from learnkit.errors import UsageError
from learnkit.events.log import Event

#: What the generated manuals are about.
TOPICS = (
    *("access-reviews", "accessibility", "api-changes", "backups", "cost-reports"),
    *("data-migrations", "dependency-updates", "feature-flags", "incident-reports", "invoices"),
    *("load-tests", "log-analysis", "on-call", "onboarding", "pdf-forms"),
    *("release-notes", "security-fixes", "sql-tuning", "translations", "web-forms"),
)
_CHARACTERS = 4  # in an estimated token


def skills_folder() -> Path:
    """Return the folder of the skills that ship with the course."""
    return course_files.skills()


def install(workspace: Path, names: Iterable[str] = ()) -> Path:
    """Copy shipped skills into a workspace, where file tools reach them and git ignores them."""
    source, target = skills_folder(), workspace / "skills"
    known = sorted(path.parent.name for path in source.glob("*/SKILL.md"))
    for name in list(names) or known:
        if name not in known:
            raise UsageError(f"no skill {name!r} ships; there are: {', '.join(known)}")
        away = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source / name, target / name, ignore=away, dirs_exist_ok=True)
    if (workspace / ".git" / "info").is_dir():
        with (workspace / ".git" / "info" / "exclude").open("a", encoding="utf-8") as file:
            file.write("/skills/\n")
    return target


def manuals(folder: Path, number: int = 20, tokens: int = 5000) -> Path:
    """Write skills of an exact length: valid folders, with instructions that are only filler."""
    if not 0 <= number <= len(TOPICS):
        raise UsageError(f"{number} manuals; there are topics for 0 to {len(TOPICS)}")
    for name in TOPICS[:number]:
        place = folder / name
        place.mkdir(parents=True)
        fields = f"---\nname: {name}\ndescription: {_description(name)}\n---\n\n"
        (place / "SKILL.md").write_text(fields + _rules(name, tokens), encoding="utf-8")
    return folder


def bill(events: Iterable[Event], *, warm: bool) -> float:
    """Return what the requests of a run cost, at the default model's prices."""
    replied = [event for event in events if event.type == "model.replied"]
    first = Meter.of(replied[:1])
    return billed(Meter.of(replied), read_before=first.input_tokens if warm else 0)


def _description(name: str) -> str:
    topic = name.replace("-", " ")
    return (
        f"The team's rules for {topic}, with the steps in order, who takes each of them, which "
        "checks come before and after, and what to do when a step fails. Use it whenever someone "
        f"plans, asks about, changes or reviews {topic}, even if they use other words. Not for a "
        "question that one command answers, and not for other topics, which have skills of their "
        "own."
    )


def _rules(name: str, tokens: int) -> str:
    """Numbered rules, cut to the length."""
    length = tokens * _CHARACTERS
    rules = (
        f"\nRule {number}. Before step {number} of {name}, read what step {number} changes."
        for number in range(1, length // 50 + 2)
    )
    return f"# {name}\n{''.join(rules)}"[: length - 1] + "."

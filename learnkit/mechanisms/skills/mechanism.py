"""Skills: knowledge that is loaded when it is needed, not upfront.

A skill is a folder with a ``SKILL.md``, as the Agent Skills specification describes it. Its name
and description are in the system prompt (layer 1), its instructions come when the model asks for
them (layer 2), and the files they refer to when the instructions send it there (layer 3). A skill
that cannot be used is left out with its reason, and never hides the good ones.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from learnkit.core.interface import Call, Result
from learnkit.core.mechanism import Mechanism
from learnkit.core.token_count import estimate_tokens
from learnkit.core.tools import Tool, tool
from learnkit.errors import ToolError, UsageError
from learnkit.events.skills import SkillLoaded, SkillRead, SkillsListed
from learnkit.mechanisms.skills.skill import DESCRIPTION, FILES_SHOWN, Skill
from learnkit.runtime.workspace import Workspace

if TYPE_CHECKING:
    from learnkit.core.agent import Agent

__all__ = ["Skill", "Skills"]

_HEADING = (
    "Skills are instructions for particular kinds of work. If a task matches a description below, "
    "load that skill with load_skill before you start, and follow it."
)


class Skills(Mechanism):
    """Lists the skills of a folder to the model, and loads those that it asks for.

    Each ``SKILL.md`` is read once, when this is made: the model is given the instructions that
    the catalogue stands for, whatever happens to the file meanwhile. Emits ``skills.listed`` when
    a run starts, then ``skill.loaded`` and ``skill.read`` (a file of a skill).

    Args:
        folder: its subfolders are the skills; hidden ones and those that begin with ``_`` are
            passed over.
        preload: names of a few skills whose instructions go into the system prompt.

    Attributes:
        skills: name -> Skill, in the order of the names.
        problems: one line for each skill that was left out: file, field, and what it must be.
        warnings: one line for each violation of the specification in a skill that is there.

    Raises:
        UsageError: if there is no such folder, or a skill to preload is not there.
    """

    def __init__(self, folder: str | Path, preload: Sequence[str] = ()) -> None:
        root = Path(os.path.realpath(folder))
        if not root.is_dir():
            raise UsageError(f"there is no folder {str(folder)!r}; give the folder of the skills")
        if (root / "SKILL.md").exists():
            raise UsageError(f"{str(folder)!r} is itself a skill; give the folder that it is in")
        self.skills: dict[str, Skill] = {}
        problems = []
        for place in sorted(root.iterdir()):
            if place.name.startswith((".", "_")) or place.is_file():
                continue
            try:
                self.skills[place.name] = Skill.read(place, root)
            except UsageError as error:
                problems.append(str(error))
        self.problems = tuple(problems)
        self.warnings = tuple(one for skill in self.skills.values() for one in skill.warnings)
        names = [preload] if isinstance(preload, str) else list(dict.fromkeys(preload))
        for name in names:
            if name not in self.skills:
                why = next((p for p in problems if p.startswith(f"{name}/")), "there is none")
                known = ", ".join(self.skills) or "none"
                raise UsageError(f"cannot preload skill {name!r}: {why}; the skills: {known}")
        self.preloaded = tuple(names)
        # By agent: another agent may have been given the tool, and has a conversation of its own.
        self._loaded: WeakKeyDictionary[Agent, dict[str, str]] = WeakKeyDictionary()

    @property
    def tools(self) -> Sequence[Tool]:
        """``load_skill``, which knows the names; nothing when there are no skills."""
        return [self.load_skill.narrowed(name=tuple(self.skills))] if self.skills else []

    @property
    def catalogue(self) -> str:
        """Layer 1: a line for each skill; empty when there are none."""
        lines = [_line(skill, skill.name in self.preloaded) for skill in self.skills.values()]
        return "\n".join([_HEADING, *lines]) if lines else ""

    def carry(self, agent: Agent) -> str | None:
        """What this conversation has loaded, word for word, in the order of loading.

        Files of a skill are left out, since they can be read again; so are preloaded
        instructions, since they are in the system prompt.
        """
        return "\n\n".join(self._loaded.get(agent, {}).values()) or None

    def system(self, agent: Agent) -> str | None:
        """The catalogue, and the instructions that are loaded beforehand."""
        if not agent.messages:  # a conversation begins, and nothing is loaded in it yet
            self._loaded.pop(agent, None)
        agent.emit(
            SkillsListed(
                catalogue=estimate_tokens(self.catalogue),
                skills={skill.name: skill.tokens for skill in self.skills.values()},
                preloaded=tuple(self.preloaded),
                problems=tuple(self.problems),
                warnings=tuple(self.warnings),
            )
        )
        ready = [self.skills[name] for name in self.preloaded]
        parts = [self.catalogue, *(one.wrapped + _about_files(agent, one) for one in ready)]
        return "\n\n".join(parts) if self.skills else None

    def after_tool(self, agent: Agent, call: Call, result: Result) -> None:
        """Note in the log which file of a skill was read with the file tools."""
        if call.name != "read_file" or result.is_error:
            return
        if place := _place(agent, call.input.get("path")):
            for skill in self.skills.values():
                if place.is_relative_to(skill.folder):
                    file = str(place.relative_to(skill.folder))
                    tokens = estimate_tokens(result.content)
                    agent.emit(SkillRead(name=skill.name, file=file, tokens=tokens))

    @tool(read_only=True, holds="always")
    def load_skill(self, agent: Agent | None, name: str, file: str = "") -> str:
        """Load a skill's instructions, or one of the files that they refer to.

        Args:
            name: Name of a skill listed in the system prompt.
            file: Path of a file that the skill refers to, e.g. references/guide.md. Leave it
                out to load the instructions.
        """
        skill = self.skills[name]
        text = skill.text(file) if file else skill.wrapped + _about_files(agent, skill)
        if agent is not None and file:
            agent.emit(SkillRead(name=skill.name, file=file, tokens=estimate_tokens(text)))
        elif agent is not None:
            agent.emit(SkillLoaded(name=skill.name, tokens=estimate_tokens(text)))
            if skill.name not in self.preloaded:
                self._loaded.setdefault(agent, {})[skill.name] = text
        return text


def _line(skill: Skill, loaded: bool) -> str:
    # In one line: a description with line breaks cannot pass for another skill's entry.
    tags = f" [tags: {', '.join(skill.tags)}]" if skill.tags else ""
    note = " (loaded below)" if loaded else ""
    about = " ".join(skill.description.split())
    about = about if len(about) <= DESCRIPTION else f"{about[: DESCRIPTION - 1]}…"
    return f"- {skill.name}: {about}{tags}{note}"


def _about_files(agent: Agent | None, skill: Skill) -> str:
    """Where the skill's files are, in the words of the tools that this agent has."""
    files = skill.files()
    if not files:
        return ""
    shown = ", ".join(files[:FILES_SHOWN]) + (", …" if files[FILES_SHOWN:] else "")
    where, how = str(skill.folder), "load_skill and its argument file"
    workspace = _workspace(agent)
    if workspace and skill.folder.is_relative_to(workspace.root):
        where, how = workspace.shown(skill.folder), "read_file"
    return (
        f"\n\nPaths in this skill are relative to {where}. Its files: {shown}. Read one with {how} "
        "when the instructions refer to it; run a script by its full path."
    )


def _workspace(agent: Agent | None) -> Workspace | None:
    """The workspace of the agent's file tools, if it has any."""
    found = (getattr(one, "workspace", None) for one in (agent.mechanisms if agent else ()))
    return next((one for one in found if isinstance(one, Workspace)), None)


def _place(agent: Agent, path: Any) -> Path | None:
    """The place of a path that the model wrote, if it is one in the agent's workspace."""
    workspace = _workspace(agent)
    try:
        return workspace.locate(path) if workspace and isinstance(path, str) else None
    except ToolError:
        return None

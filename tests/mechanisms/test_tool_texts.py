"""What a model reads of each tool: an instruction in sentences, and what each parameter is."""

from __future__ import annotations

import pkgutil
import re
from typing import Any

import pytest
from mechanism_classes import tools_of, within

from learnkit import mechanisms
from learnkit.course import files as course_files
from learnkit.mechanisms.skills.mechanism import Skills

#: Sentences: the first one begins with a verb, as in "Read a text file."
SENTENCES = re.compile(r"(?!(?:An?|The|This|It|[A-Z]\w+s)\s)[A-Z].*\.", re.DOTALL)
#: What a translation leaves behind, in the texts of tools.
FOREIGN = re.compile(
    r"by itself|side by side|beside you|somebody|nobody|do(?:es)? not last|are fine"
    r"|(?:what|who) (?:is|has|it|they)\b.*\bof it\b|such as|to be done",
    re.IGNORECASE,
)


def specs() -> list[dict[str, Any]]:
    homes = [one.name for one in pkgutil.iter_modules(mechanisms.__path__)]
    kinds = [kind for home in homes for kind in within(home)]
    found = [tool.spec() for kind in kinds for tool in tools_of(kind)]
    return [*found, *(tool.spec() for tool in Skills(course_files.skills()).tools)]


SPECS = specs()


def problems(spec: dict[str, Any]) -> list[str]:
    """The texts of a tool that are not in the form of the others."""
    about = {"": spec["description"]}
    found = []
    for name, one in spec["input_schema"]["properties"].items():
        said = about[name] = str(one.get("description"))
        values = str([one.get("enum"), one.get("anyOf")])  # a value may come first, as it is
        begins = said[:1].isupper() or repr(said.split()[0]) in values
        if not begins or not said.endswith("."):
            found.append(f"{name}: {said}")
    if not SENTENCES.fullmatch(about[""]):
        found.append(about[""])
    return found + [text for text in about.values() if FOREIGN.search(text)]


def test_every_mechanism_with_tools_is_looked_at() -> None:
    names = [spec["name"] for spec in SPECS]
    assert {"bash", "todo", "load_skill", "worktree_merge", "idle"} <= set(names)
    assert names.count("plan_approval") == 2  # the lead's and a teammate's


@pytest.mark.parametrize("spec", SPECS, ids=[spec["name"] for spec in SPECS])
def test_a_tool_is_described_in_sentences_and_so_is_each_parameter(spec: dict[str, Any]) -> None:
    assert problems(spec) == []


@pytest.mark.parametrize(
    ("description", "parameter", "wrong"),
    [
        ("Read a file.", "Path of the file.", 0),
        ("Read a file.", "fast or slow.", 1),
        ("Read a file.", "fast skips the check.", 0),
        ("Read a file.", "of the file.", 1),
        ("Read a file.", "Path of the file", 1),
        ("Reads a file.", "Path of the file.", 1),
        ("A file to read", "Path of the file.", 1),
        ("Read a file. Its text comes by itself.", "Path of the file.", 1),
    ],
)
def test_what_is_not_in_this_form_is_found(description: str, parameter: str, wrong: int) -> None:
    properties = {"path": {"type": "string", "description": parameter, "enum": ["fast", "skip"]}}
    spec = {"description": description, "input_schema": {"properties": properties}}
    if parameter == "fast or slow.":
        del properties["path"]["enum"]
    assert len(problems(spec)) == wrong

"""What lesson 2 has its reader write into ``agent.py``: the check of paths, and the gate."""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from learnkit.course.content import Repairs, Verdict
from learnkit.course.lessons.verdicts import with_settings

REPAIRS = Repairs()

#: Paths as a model may write them, and why they lead out, or don't; TOP is above the project.
_OUTSIDE = {
    "../archive/2025.csv": "`..` leads out of the project",
    "TOP/archive/2025.csv": "its path is absolute",
    "archive/2025.csv": "the folder `archive` in the project is a link",
    "../project-old/2025.csv": "its folder's name only begins like the project's",
}
_INSIDE = {
    "notes.txt": "a new file",
    "tests/new/test_a.py": "a file in a folder that isn't there yet",
    "stations/../notes.txt": "`..` doesn't lead out of the project",
    "readings/oslo.csv": "`readings` is a link to a folder in the project",
}


@REPAIRS.add("The ways out are closed, and what only looks like one is still open.")
def check_path_in(agent: Any) -> Verdict:
    """Write through each path, and look at the disk."""
    for path, why in _OUTSIDE.items():
        error, kept, _ = _written(agent, path)
        if not kept:
            return f"`write_file` wrote over a file outside of the project: {path}; {why}"
        if error is None:
            return f"for {path} the model reads that the file was written, which isn't true"
        if not str(error) or isinstance(error, (AttributeError, TypeError, NameError)):
            why = "let the error say which path was refused, and why"
            return f"{path} isn't written, but the model only reads {error!r}: {why}"
    for path, why in _INSIDE.items():
        error, _, arrived = _written(agent, path)
        if error is not None or not arrived:
            return f"it refuses {path}, which is in the project: {why} ({error!r})"
    return None


def _written(agent: Any, path: str) -> tuple[Exception | None, bool, bool]:
    """The error, whether what is outside was kept, and whether the text is where it belongs."""
    with tempfile.TemporaryDirectory(prefix="learnkit-") as made:
        top = Path(made).resolve()
        project, outside = top / "project", [top / one for one in ("archive", "project-old")]
        for folder in (project / "stations", *outside):
            folder.mkdir(parents=True)
            (folder / "2025.csv").write_text("data")
        (project / "archive").symlink_to("../archive")
        (project / "readings").symlink_to("stations")
        path, error = path.replace("TOP", str(top)), None
        try:
            agent.write_file(SimpleNamespace(folder=project), path, "new")
        except Exception as raised:
            error = raised
        kept = all((folder / "2025.csv").read_text() == "data" for folder in outside)
        full = project / path
        return error, kept, full.is_file() and full.read_text() == "new"


#: Calls: the tool and its group, what the user would answer, what that is in words, whether it
#: runs, and what the model has to read of it.
_DENIED = "PermissionError: the user does not"
_CALLS = (
    ("look_at", "read", False, "which the policy allows", True, "done"),
    ("write_it", "write", True, "which the user allows", True, "done"),
    ("write_it", "write", False, "which the user does not allow", False, _DENIED),
    ("erase_it", "erase", True, "which the policy denies", False, _DENIED),
    ("fly_to", "", True, "which there isn't", False, "no tool 'fly_to'"),
)


@REPAIRS.add("What is refused does not run, and the model reads why; all else runs.")
def check_run_call(agent: Any) -> Verdict:
    """Run calls that a policy allows, denies and asks about, and see which of them run."""
    for name, group, answer, which, runs, reads in _CALLS:
        ran, asked, what = list[str](), list[str](), f"the tool `{name}`, {which}"

        def tool(agent: Any, ran: list[str] = ran) -> str:
            ran.append("it ran")
            return "done"

        def ask(question: str, asked: list[str] = asked, answer: bool = answer) -> bool:
            asked.append(question)
            return answer

        tool.groups = {group}  # type: ignore[attr-defined]
        lead = SimpleNamespace(tools={name: tool} if group else {})
        with with_settings(agent, POLICY={"write": "ask", "erase": "deny"}, ask_user=ask):
            result = agent.run_call(lead, {"id": "toolu_1", "name": name, "input": {}})
        if not isinstance(result, dict):
            return f"{what}, has no result: the next request would be refused"
        if bool(ran) != runs:
            return f"{what}, {'ran all the same' if ran else 'did not run'}"
        if len(asked) != (group == "write"):
            asks = ("runs without a question", "asks the user", "asks the user twice")
            return f"{what}, {asks[min(len(asked), 2)]}"
        if reads not in result["content"] or bool(result.get("is_error")) == runs:
            kind = "a result" if runs else "an error"
            said = f"the model reads “{result['content']}”; it should read {kind}, “{reads} …”"
            return f"{what}, {'runs' if runs else 'does not run'}, but {said}"
    return None

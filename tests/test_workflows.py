"""GitHub's workflows: they call the gate's stages, with no more rights than each needs.

actionlint checks their form, in the gate's lint stage; here is what it cannot know.
"""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest
import yaml
from project import ROOT

FOLDER = ROOT / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.yml"))
LISTED = subprocess.run(
    ["bash", ".ci/run", "--list"], cwd=ROOT, check=True, capture_output=True, text=True
)
#: What the gate itself needs, and no workflow calls: GitHub's runners have the programs, and the
#: clone is made for the run.
STAGES = set(LISTED.stdout.split()) - {"system", "compile", "unchanged"}
#: What a job may do beside reading the code, and why it has to.
RIGHTS = {
    ("pages", "deploy"): {"pages": "write", "id-token": "write"},
    ("release", "release"): {"contents": "write"},
    ("release", "publish"): {"id-token": "write"},
}


def workflows() -> dict[str, dict[str, Any]]:
    return {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in FILES}


def jobs() -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (workflow, name, job)
        for workflow, content in workflows().items()
        for name, job in content["jobs"].items()
    ]


def triggers(workflow: str) -> set[str]:
    content = workflows()[workflow]
    return set(content[True])  # YAML 1.1 reads the key "on" as a truth value


def commands(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


def calls(job: dict[str, Any]) -> set[str]:
    """The stages of the gate that a job runs, each value of a matrix in its place."""
    matrix = job.get("strategy", {}).get("matrix", {})
    found = set()
    for command in commands(job):
        for stage in re.findall(r"bash \.ci/run(?: (\$\{\{ matrix\.stage \}\}|[\w-]+))?$", command):
            found |= set(matrix["stage"]) if stage.startswith("$") else {stage}
    return found


def test_every_stage_of_the_gate_is_called_and_no_other() -> None:
    called = {stage for _, _, job in jobs() for stage in calls(job)}
    assert called == {*STAGES, ""}, "an empty name is the whole gate"


def test_a_change_is_checked_by_all_stages_but_those_of_the_night() -> None:
    called = {stage for workflow, _, job in jobs() if workflow == "ci" for stage in calls(job)}
    assert called == STAGES - {"soak", "html"}
    assert {"push", "pull_request"} <= triggers("ci")
    assert triggers("nightly") == {"schedule", "workflow_dispatch"}


@pytest.mark.parametrize("workflow", [path.stem for path in FILES])
def test_a_workflow_may_read_the_code_and_ends_by_itself(workflow: str) -> None:
    content = workflows()[workflow]
    assert content["permissions"] == {"contents": "read"}
    assert "group" in content["concurrency"]
    for name, job in content["jobs"].items():
        assert job.get("permissions", {}) == RIGHTS.get((workflow, name), {}), name
        assert job["timeout-minutes"] <= 60, name
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"] == {"persist-credentials": False}, name


def test_what_strangers_send_never_runs_in_a_privileged_container() -> None:
    privileged = {w for w, _, job in jobs() if "privileged" in str(job.get("container", ""))}
    assert privileged == {"nightly"}
    assert all("pull_request_target" not in triggers(path.stem) for path in FILES)


def test_no_text_of_an_event_is_put_into_a_command() -> None:
    for workflow, name, job in jobs():
        for command in commands(job):
            inserted = set(re.findall(r"\$\{\{\s*(.+?)\s*\}\}", command))
            assert inserted <= {"matrix.stage"}, f"{workflow}, {name}"


def test_a_release_is_built_from_a_tag_and_checked_before_it_is_attached() -> None:
    content = workflows()["release"]
    assert content[True] == {"push": {"tags": ["v*"]}}
    build = content["jobs"]["build"]
    assert "wheel" in calls(build)
    assert any("twine check --strict" in command for command in commands(build))
    assert {content["jobs"][name]["needs"] for name in ("release", "publish")} == {"build"}

"""Binder builds what we mean, as far as that shows without docker and without a network."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from project import ROOT, pins, requirements
from repo2docker.app import Repo2Docker
from repo2docker.buildpacks import CondaBuildPack


@pytest.fixture
def at_root(monkeypatch: pytest.MonkeyPatch) -> Path:
    """repo2docker reads the folder that it stands in."""
    monkeypatch.chdir(ROOT)
    return ROOT


def environment() -> tuple[list[str], list[str]]:
    """The conda packages and the pip packages of environment.yml."""
    entries = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))["dependencies"]
    conda = [entry for entry in entries if isinstance(entry, str)]
    (pip,) = [entry["pip"] for entry in entries if isinstance(entry, dict)]
    return conda, pip


def test_the_copy_that_binder_reads_is_identical() -> None:
    assert (ROOT / "binder/environment.yml").read_bytes() == (ROOT / "environment.yml").read_bytes()


def test_the_environment_lists_every_dependency_at_its_known_good_version() -> None:
    conda, pip = environment()
    # repo2docker reads a Python version with one `=` only.
    assert {"python=3.12", "git", "pip"} == set(conda)
    wanted = {
        canonicalize_name(requirement.name): requirement
        for requirement in requirements("lab", "test")
    }
    listed = {canonicalize_name(Requirement(line).name): Requirement(line) for line in pip}
    assert set(listed) == set(wanted)
    known_good = pins()
    for name, requirement in listed.items():
        assert str(requirement.specifier) == f"=={known_good[name]}"


def test_the_first_build_pack_that_accepts_the_repository_is_conda(at_root: Path) -> None:
    packs = [pack(base_image=Repo2Docker().base_image) for pack in Repo2Docker().buildpacks]
    accepted = next(pack for pack in packs if pack.detect())
    assert type(accepted) is CondaBuildPack
    assert accepted.binder_dir == "binder"
    assert accepted.python_version == "3.12"
    assert accepted.get_post_build_scripts() == ["binder/postBuild"]
    accepted.platform = "linux/amd64"
    dockerfile = accepted.render(build_args={})
    assert "binder/environment.yml" in dockerfile
    assert "RUN ./binder/postBuild" in dockerfile


def test_the_post_build_script_installs_the_package_and_stops_at_an_error() -> None:
    script = ROOT / "binder/postBuild"
    assert os.access(script, os.X_OK)
    lines = script.read_text("utf-8").splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    assert "set -euo pipefail" in lines
    assert lines[-1] == "pip install --no-deps -e ."

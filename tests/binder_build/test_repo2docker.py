"""repo2docker itself reads the repository as we mean it, as far as that shows without docker.

It is the tool that Binder runs. It has many dependencies and one user, this file; so it is not part
of an extra, and the gate gives it an environment of its own.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

with warnings.catch_warnings():
    # repo2docker 2026.4 imports a module of python-json-logger by its old name.
    warnings.simplefilter("ignore", DeprecationWarning)
    from repo2docker.app import Repo2Docker
    from repo2docker.buildpacks import CondaBuildPack

ROOT = Path(__file__).resolve().parents[2]


def test_the_first_build_pack_that_accepts_the_repository_is_conda(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)  # repo2docker reads the folder that it is called in
    packs = [pack(base_image=Repo2Docker().base_image) for pack in Repo2Docker().buildpacks]
    accepted = next(pack for pack in packs if pack.detect())
    assert type(accepted) is CondaBuildPack
    assert accepted.binder_dir == "binder"
    assert accepted.python_version == "3.12"
    assert accepted.get_post_build_scripts() == ["binder/postBuild"]
    assert accepted.get_start_script() == "${REPO_DIR}/binder/start"
    accepted.platform = "linux/amd64"
    dockerfile = accepted.render(build_args={})
    assert "binder/environment.yml" in dockerfile
    assert "RUN ./binder/postBuild" in dockerfile

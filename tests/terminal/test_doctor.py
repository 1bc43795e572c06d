"""The doctor: what is here, what is missing and what for; and never a secret."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from project import ROOT

from learnkit.course import files as course_files
from learnkit.course.progress import STATE
from learnkit.terminal.doctor import Finding, examine

KEY = "a-key-of-mine"


def found(what: str) -> Finding:
    (one,) = (one for one in examine() if one.what == what)
    return one


def test_every_finding_says_what_it_is_for() -> None:
    findings = examine()
    names = [one.what for one in findings]
    assert len(set(names)) == len(names)
    assert all(one.purpose and one.found for one in findings)
    assert {one.what for one in findings if one.needed} == {"Python", "git", "course"}


def test_what_is_here_is_found_with_its_version() -> None:
    assert found("git").works
    assert found("git").found[0].isdigit()
    assert found("JupyterLab").found[0].isdigit()


def test_the_course_and_the_working_copy_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert found("course").found == f"a clone: {ROOT}"
    monkeypatch.setenv("LEARNKIT_WORKBOOK", str(tmp_path))
    assert found("working copy").found == f"not yet; it will be {tmp_path}"
    assert not found("working copy").works
    (tmp_path / STATE).write_text("{}")
    assert found("working copy").found == str(tmp_path)
    assert found("working copy").works


def test_a_package_without_the_course_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(course_files, "_PACKAGE", tmp_path / "learnkit")
    monkeypatch.setattr(course_files, "_CARRIED", tmp_path / "learnkit" / "course")
    assert found("course").found == "missing"
    assert found("course").needed
    assert not found("course").works


def test_an_empty_path_has_no_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (found("git").works, found("git").found) == (False, "not found")
    assert not found("bubblewrap").works


@pytest.mark.parametrize(
    ("script", "state"),
    [("exit 1", "does not start"), ("echo git version 2.99.1", "2.99.1"), ("echo Oops", "Oops")],
)
def test_a_git_is_started_not_only_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, state: str
) -> None:
    (tmp_path / "git").write_text(f"#!{shutil.which('sh')}\n{script}\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert found("git").found == state
    assert found("git").works == state[0].isdigit()


def test_a_key_and_a_password_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"https://me:{KEY}@models.example:8443/v1?key={KEY}")
    assert found("ANTHROPIC_API_KEY").found == "set"
    assert found("ANTHROPIC_BASE_URL").found == "models.example:8443"
    assert KEY not in repr(examine())


@pytest.mark.parametrize("address", ["models.example", "http://[::1", "  "])
def test_an_address_that_is_none_is_said(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    assert found("ANTHROPIC_BASE_URL").found == "set, but no address"
    assert not found("ANTHROPIC_BASE_URL").works


def test_without_settings_the_defaults_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "LEARNKIT_MODEL"):
        monkeypatch.delenv(name, raising=False)
    assert (found("ANTHROPIC_API_KEY").works, found("ANTHROPIC_API_KEY").found) == (
        False,
        "not set",
    )
    assert "the API's own" in found("ANTHROPIC_BASE_URL").found
    assert found("ANTHROPIC_BASE_URL").works
    assert found("model").found.endswith("(the default)")
    monkeypatch.setenv("LEARNKIT_MODEL", "a-model")
    assert found("model").found == "a-model (LEARNKIT_MODEL)"

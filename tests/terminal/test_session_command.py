"""learnkit session: what is listed, opened and saved."""

from __future__ import annotations

import json
import os
import shutil
import webbrowser
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from command import learnkit

from learnkit.sessions import samples


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pages that a browser was asked to open."""
    pages: list[str] = []

    def open_page(address: str) -> bool:
        pages.append(Path(unquote(urlparse(address).path)).read_text("utf-8"))
        return True

    monkeypatch.setattr(webbrowser, "open", open_page)
    return pages


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with two sessions of Claude Code."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("CODEX_HOME", raising=False)
    folder = tmp_path / ".claude" / "projects" / "-home-ada-heatwatch"
    folder.mkdir(parents=True)
    for age, name in enumerate(("good", "thrash")):
        path = folder / f"{name}-0001.jsonl"
        shutil.copy(samples.path(name), path)
        os.utime(path, (1e9 - age, 1e9 - age))
    return tmp_path


def test_sessions_are_listed_newest_first(home: Path) -> None:
    shown = learnkit("session", COLUMNS="160").stdout.splitlines()
    assert [line.split()[3] for line in shown[1:3]] == ["heatwatch", "heatwatch"]
    assert "Some stations get two mails" in shown[1]
    assert "test_one_mail_for_one_reading fails" in shown[2]
    assert shown[2].split()[2:6] == ["thrash-0", "heatwatch", "27", "942,955"]
    narrow = learnkit("session", COLUMNS="70").stdout.splitlines()
    assert len(narrow) == len(shown)
    assert "942,955" in narrow[2]


def test_without_a_session_it_says_what_to_try(home: Path) -> None:
    shutil.rmtree(home / ".claude")
    assert "Try: learnkit session --sample" in learnkit("session").stdout


def test_a_session_is_opened_by_the_beginning_of_its_id(home: Path, opened: list[str]) -> None:
    done = learnkit("session", "thrash-0")
    assert done.returncode == 0, done.stderr
    assert "“test_one_mail_for_one_reading fails." in opened[0]
    assert "/blob/HEAD/notebooks/s06_compaction.ipynb" in opened[0]


@pytest.mark.parametrize("name", ["", *samples.NAMES])
def test_a_sample_says_that_it_is_made_up(name: str, opened: list[str]) -> None:
    assert learnkit("session", "--sample", *filter(None, [name])).returncode == 0
    assert samples.NOTE in opened[0]


def test_what_cannot_be_opened_is_a_sentence(tmp_path: Path) -> None:
    for given in (
        ["--save", "page.html"],
        ["nosuch"],
        ["--sample", "nosuch"],
        ["--sample", "--save", str(tmp_path)],
    ):
        done = learnkit("session", *given)
        assert done.returncode == 2
        assert done.stderr.startswith("learnkit: ")
        assert "Traceback" not in done.stderr


def test_what_is_saved_has_no_text_unless_it_is_asked_for(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = learnkit("session", "--sample", "--save", str(page))
    assert "Removed before saving" in done.stdout
    assert "heatwatch" not in page.read_text("utf-8")
    assert "/ada" not in page.read_text("utf-8")
    learnkit("session", "--sample", "--save", str(page), "--keep-text")
    assert "heatwatch" in page.read_text("utf-8")
    assert "/ada" not in page.read_text("utf-8")


def test_a_secret_is_not_saved(tmp_path: Path) -> None:
    key = "sk-" + "ant-api03-abcdefghijklmnopqrst"
    said = {"role": "user", "content": f"The key is {key}."}
    line = {"type": "user", "uuid": "1", "sessionId": "2", "message": said}
    (tmp_path / "a.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    page = tmp_path / "page.html"
    learnkit("session", str(tmp_path / "a.jsonl"), "--save", str(page), "--keep-text")
    assert key not in page.read_text("utf-8")

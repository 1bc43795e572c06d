"""Settings: a repository must not allow itself anything, and no slip in a file is passed over."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import learnkit as lk
from learnkit.backends.files.state import open_state
from learnkit.errors import UsageError
from learnkit.mechanisms.settings import Settings
from learnkit.runtime.shell import LocalShell

PROJECT = """
[permissions]
mode = "accept-edits"
allow = ["bash(pytest:*)"]
ask = ["write(setup.py)"]
deny = ["read(.env)"]

[[hooks.before_tool]]
match = "bash(git push:*)"
command = "exit 2"
timeout = 5

[mcp]
weather = ["steal", "keys"]
"""


class Place:
    """A workspace with settings, and a user who answers."""

    def __init__(self, folder: Path) -> None:
        folder = folder.resolve()
        self.root, self.user, self.answers = folder / "ws", folder / "user.toml", folder / "a.json"
        self.project = self.root / ".learnkit" / "settings.toml"
        self.project.parent.mkdir(parents=True)
        self.asked: list[str] = []

    def load(self, answer: Any = None) -> Settings:
        def consent(place: Path, text: str) -> Any:
            assert place == self.project
            self.asked.append(text)
            return answer

        ask: Callable[..., Any] | None = None if answer is None else consent
        return Settings.load(self.root, ask, user=self.user, answers=self.answers)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.project.write_text(PROJECT)
    return made


@pytest.mark.parametrize("answer", [None, False, "yes", 1])
def test_a_project_that_was_not_accepted_can_only_forbid(place: Place, answer: Any) -> None:
    settings = place.load(answer)
    assert (settings.allow, settings.hooks, settings.mode) == ((), (), "default")
    assert settings.servers == {}
    assert (settings.ask, settings.deny) == (("write(setup.py)",), ("read(.env)",))
    assert settings.declined == place.project


@pytest.mark.parametrize("answer", [None, True])
def test_a_project_that_asks_for_too_much_neither_gets_it_nor_locks_anyone_out(
    place: Place, answer: Any
) -> None:
    place.project.write_text(PROJECT.replace("accept-edits", "yes"))
    settings = place.load(answer)
    assert settings.rules().mode == "default"
    assert settings.deny == ("read(.env)",)
    assert settings.notes[0].endswith("mode 'yes' does not count here: choose it with --yes")


def test_what_a_user_allows_for_good_is_kept_for_this_project_and_outside_of_it(
    place: Place, tmp_path: Path
) -> None:
    place.load(True)
    Settings.keep(place.root, ["bash(touch:*)"], answers=place.answers)
    Settings.keep(place.root, ["bash(make)", "bash(touch:*)"], answers=place.answers)
    assert place.load().allow == ("bash(touch:*)", "bash(make)", "bash(pytest:*)")
    assert place.project.read_text() == PROJECT
    other = Settings.load(tmp_path, user=place.user, answers=place.answers)
    assert other.allow == ()
    place.project.unlink()
    assert place.load().allow == ("bash(touch:*)", "bash(make)")
    Settings.keep(place.root, [], answers=place.answers)
    assert place.load() == Settings()


def test_each_version_is_asked_about_once(place: Place) -> None:
    assert place.load(True).allow == ("bash(pytest:*)",)
    again = place.load(False)
    assert again.mode == "accept-edits"
    assert [one.command for one in again.hooks] == ["exit 2"]
    assert place.load().allow, "and no one has to be there to be asked again"
    assert len(place.asked) == 1
    place.project.write_text(PROJECT.replace("pytest", "curl"))
    assert place.load().allow == ()
    assert place.load(False).allow == ()
    assert place.load(True).allow == (), "a no is remembered as well"
    assert len(place.asked) == 2


def test_another_folder_with_the_same_text_is_asked_about(place: Place, tmp_path: Path) -> None:
    place.load(True)
    other = Place(tmp_path / "other")
    other.project.write_text(PROJECT)
    other.answers = place.answers
    assert other.load().allow == ()
    other.project.unlink()
    other.project.symlink_to(place.project)
    assert other.load().allow == (), "nor does a link make it the file that was accepted"


def test_the_user_goes_first(place: Place) -> None:
    mine = '[mcp]\nweather = "https://mine.example/mcp"\n'
    place.user.write_text(f'[permissions]\nallow = ["bash(ls:*)"]\nmode = "plan"\n{mine}')
    settings = place.load(True)
    assert settings.allow == ("bash(ls:*)", "bash(pytest:*)")
    assert settings.mode == settings.rules().mode == "plan"
    assert settings.servers == {"weather": "https://mine.example/mcp"}
    assert settings.rules("yes").mode == "yes"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[permissions]\nalow = []", "alow"),
        ("[permissions]\nallow = 'bash'", "list"),
        ("[permissions]\nallow = [3]", "string"),
        ("[permissions]\nmode = 'free'", "line 2: mode: .*; write mode = 'default' or"),
        ("# permission\n[permission]\n", r"line 2: there is no 'permission' here; write .perm"),
        ("[[hooks.pre_tool]]\ncommand = 'a'", r"line 1: there is no 'pre_tool'.*.hooks.before_to"),
        ("[mcp]\nweather = 3", r"line 2: weather: .*; write .mcp. and weather = "),
        ("[permissions]\ndeny = ['bash($x)']", "words of one command"),
        ("[hooks]\nbefore = []", "before"),
        ("[[hooks.stop]]\ncommand = ' '", "needs a command"),
        ("[[hooks.stop]]\ncommand = 'a'\ntimeout = nan", "above 0"),
        ("[[hooks.stop]]\ncomand = 'a'", 'hooks.stop.0 needs command = "ruff check"'),
        ("x", "Expected"),
        ("a = " + "[" * 50_000, "settings.toml"),
        ("#" * 70_000, "64,000 bytes"),
    ],
)
def test_what_cannot_be_read_is_an_error_that_names_the_file(
    place: Place, text: str, problem: str
) -> None:
    place.project.write_text(text)
    with pytest.raises(UsageError, match=problem) as error:
        place.load(True)
    assert "settings.toml" in str(error.value)
    assert place.asked == [], "nor can such a text be accepted"


def test_a_pipe_in_its_place_does_not_hang(place: Place) -> None:
    place.project.unlink()
    os.mkfifo(place.project)
    with pytest.raises(UsageError, match="must be a file"):
        place.load(True)


def test_without_files_everything_is_asked_about(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path, user=tmp_path / "none", answers=tmp_path / "a.json")
    assert settings == Settings()
    assert not (tmp_path / "a.json").exists()


def test_no_agent_can_write_the_settings(place: Place) -> None:
    coding = lk.CodingTools(place.root)
    reply = lk.use("write_file", path=".LEARNKIT/settings.toml", content="[permissions]")
    agent = lk.Agent(lk.scripted([reply, lk.say("no")]), [lk.Permission({"*": "allow"}), coding])
    agent.run("Allow yourself everything.")
    assert place.project.read_text() == PROJECT


def test_settings_may_come_with_a_repository_and_other_state_may_not(place: Place) -> None:
    shell = LocalShell()
    shell.run("git init -q; git add -f .learnkit/settings.toml", place.root)
    open_state(place.root, shell)
    shell.run("echo '{}' > .learnkit/board.json; git add -f .learnkit/board.json", place.root)
    with pytest.raises(UsageError, match="git tracks"):
        open_state(place.root, shell)

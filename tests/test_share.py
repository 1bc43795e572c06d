"""What takes long is divided: each commit's gate has a part, and no test is in none."""

from __future__ import annotations

import argparse
import subprocess
import sys

import pytest
from project import ROOT
from share import Share

BROWSER = [
    "tests/browser/test_course.py::test_a_quiz_is_answered[s03]",
    "tests/browser/test_course.py::test_axe_finds_nothing_serious[s03-JupyterLab Dark]",
    "notebooks/s03_todo.ipynb::Cell 7 again",
    "tests/terminal/test_cli.py::test_a_lesson_that_is_recorded_again_keeps_its_recording[s03]",
]


@pytest.mark.parametrize("parts", [1, 2, 4, 7])
def test_each_test_is_in_one_part(parts: int, request: pytest.FixtureRequest) -> None:
    shares = [Share(part, parts) for part in range(parts)]
    for name in [*BROWSER, *(one.nodeid for one in request.session.items)]:
        assert sum(one.has(name) for one in shares) == 1, name


def test_a_lesson_stays_together_and_so_does_a_page() -> None:
    assert [one for one in range(4) if Share(one, 4).has(BROWSER[0])] == [3]
    assert all(Share(3, 4).has(name) for name in BROWSER)
    page = [f"tests/browser/test_player.py::test_{n}" for n in range(20)]
    assert {Share(1, 4).has(name) for name in page} in ({True}, {False})
    assert {Share(1, 4).has(f"tests/core/test_loop.py::test_{n}") for n in range(20)} == {
        True,
        False,
    }


@pytest.mark.parametrize("text", ["", "4/4", "1", "-1/4", "1/0", "a/b", "1/4 "])
def test_what_is_no_share_is_said(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="no share: write 0/4"):
        Share.parse(text)
    assert Share.parse("3/4") == (3, 4)


@pytest.mark.slow
def test_the_option_divides_the_slow_tests_and_no_others() -> None:
    def names(*options: str) -> set[str]:
        command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "--collect-only", *options]
        done = subprocess.run(
            [*command, "tests/mechanisms/test_background.py"],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        return {line for line in done.stdout.splitlines() if "::" in line}

    quick, slow = names(), names("-m", "slow")
    parts = [names("-m", "slow or not slow", f"--share={part}/2") for part in range(2)]
    assert parts[0] & parts[1] == quick
    assert parts[0] | parts[1] == quick | slow
    assert all(quick < part < quick | slow for part in parts)

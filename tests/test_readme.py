"""What the README and the pages in docs/ say is so: commands, example, links, lessons, gallery."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from messages_server import serving
from pictured import PICTURED, pictured
from project import ROOT, lessons

from learnkit.clients.scripted import say, use

README = (ROOT / "README.md").read_text("utf-8")
DOCS = ROOT / "docs"
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/*.md", ".github/*.md")
    for path in ROOT.glob(pattern)
)


def fences(language: str, text: str = README) -> list[str]:
    """The contents of the fenced blocks in a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_it_opens_with_a_picture_and_two_commands_to_paste() -> None:
    lab, test = fences("sh")[:2]
    start = "python3 -m venv .venv &&\n  .venv/bin/pip install -q \\\n    -c constraints.txt -e "
    assert lab == f"{start}'.[lab]' &&\n  .venv/bin/learnkit lab\n"
    assert test == f"{start}'.[test]' &&\n  .venv/bin/pytest --nbval\n"
    assert max(map(len, (lab + test).splitlines())) <= 40, "a phone would cut it"
    assert len(README.splitlines()) <= 90, "it fits on one and a half screens"
    assert README.index("docs/scrubbed-") < README.index(lab) < README.index(test)
    assert README.index("**Build") < README.index("docs/scrubbed-"), "what it is comes first"
    for picture in DOCS.glob("scrubbed-*.webp"):
        assert f'"docs/{picture.name}"' in README
        assert picture.stat().st_size < 300_000


def test_the_gate_runs_the_second_command_as_it_stands_here(tmp_path: Path) -> None:
    gate = (ROOT / ".ci/run").read_text("utf-8")
    shown = subprocess.run(
        ["bash", ".ci/run", "--show"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert shown.stdout == "".join(fences("sh")[:2])
    # The two parts that the gate runs are the command, cut at its last &&.
    split = "\n".join(re.findall("^(?:test_command|install_part|test_part)=.*", gate, re.M))
    reader = gate[gate.index("readme_command() {") : gate.index("lab_command=")]
    script = f'{reader}{split}\nprintf \'%s&&%s\\n\' "$install_part" "$test_part"'
    run = subprocess.run(
        ["bash", "-c", script], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert run.stdout == fences("sh")[1]
    for part in ("install_part", "test_part"):
        assert f'bash -euo pipefail -c "${part}"' in gate
    assert ".[test]" not in gate, "the gate must not hold a copy of the README's command"
    # A command that is there twice is refused, and so is one that is gone.
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci/run").write_text(gate, "utf-8")
    block = f"```sh\n{fences('sh')[0]}```\n"
    for text in (README + block, README.replace(block, "")):
        (tmp_path / "README.md").write_text(text, "utf-8")
        bad = subprocess.run(["bash", ".ci/run", "--show"], cwd=tmp_path, capture_output=True)
        assert bad.returncode
        assert b"exactly one block that ends in" in bad.stderr


def test_a_stage_of_the_gate_fails_at_its_first_failure() -> None:
    gate = (ROOT / ".ci" / "run").read_text("utf-8")
    run = re.search(r"^run\(\) \{\n.*?^\}\n", gate, re.DOTALL | re.MULTILINE)
    assert run is not None
    script = f"""
        set -euo pipefail
        logs=$(mktemp -d); trap 'rm -rf "$logs"' EXIT
        stage_bad() {{ false; echo went on; }}
        stage_good() {{ echo fine; }}
        {run[0]}
        run bad; run good
        cut -d' ' -f1 "$logs/bad.result" "$logs/good.result"
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert "went on" not in done.stdout
    assert done.stdout.splitlines()[-2:] == ["1", "0"]


def test_the_index_of_the_documentation_lists_every_page() -> None:
    index = (DOCS / "README.md").read_text("utf-8")
    listed = re.findall(r"^\| \[.+?\]\((\w[\w-]*\.md)\) \|", index, re.MULTILINE)
    assert sorted(listed) == sorted(
        path.name for path in DOCS.glob("*.md") if path.stem != "README"
    )


@pytest.mark.slow
def test_the_script_runs_and_prints_what_it_says(tmp_path: Path) -> None:
    page = (DOCS / "scripts.md").read_text("utf-8")
    before, _, after = page.partition("<!-- example: script -->\n")
    assert before
    (script,) = fences("python", after)[:1]
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.stderr == ""
    assert run.stdout == fences("text", after)[0]
    assert (tmp_path / "workspace/hello.py").read_text("utf-8") == "print('Hello, World!')\n"


@pytest.mark.slow
def test_the_example_of_daily_work_prints_what_it_says(tmp_path: Path) -> None:
    _, _, after = (DOCS / "daily.md").read_text("utf-8").partition("<!-- example: daily -->\n")
    run = subprocess.run(
        [sys.executable, "-c", fences("python", after)[0]],
        env={**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stderr == ""
    assert run.stdout == fences("text", after)[0]


@pytest.mark.slow
def test_the_compared_agent_runs_and_costs_what_the_page_says() -> None:
    page = (DOCS / "compared.md").read_text("utf-8")
    _, _, after = page.partition("<!-- compared: learnkit -->\n")
    (script,) = fences("python", after)[:1]
    replies = [use("weather", city="Rome"), say("It is 24 °C.")]
    with serving(replies) as server:
        env = {"ANTHROPIC_API_KEY": "local-test", "ANTHROPIC_BASE_URL": server.url}
        run = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, **env},
            capture_output=True,
            text=True,
            check=False,
        )
    assert run.stderr == ""
    assert run.stdout.startswith("It is 24 °C. 0.")
    row = next(line for line in page.splitlines() if line.startswith("| lines"))
    assert row.split(" | ")[1] == str(sum(bool(line.strip()) for line in script.splitlines()))


@pytest.mark.parametrize("page", PAGES)
def test_links_of_a_page_lead_somewhere(page: str) -> None:
    file = ROOT / page
    text = file.read_text("utf-8")
    targets = re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", text)
    local = [one for pair in targets for one in pair if one and not one.startswith("https://")]
    missing = [target for target in local if not _leads_somewhere(file, target)]
    assert missing == []
    assert "http://" not in text.replace("http://127.0.0.1", "")


def _leads_somewhere(page: Path, target: str) -> bool:
    name, _, anchor = target.partition("#")
    place = page.parent / name if name else page
    if not place.exists() or not anchor:
        return place.exists()
    headings = re.findall(r"^#+ (.+)$", place.read_text("utf-8"), re.MULTILINE)
    return anchor in {re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in headings}


def test_a_link_to_a_page_or_a_heading_that_is_not_there_is_found() -> None:
    page = DOCS / "games.md"
    assert _leads_somewhere(page, "../SECURITY.md#shared-runs-and-the-html-edition")
    assert not _leads_somewhere(page, "../SECURITY.md#shared-runs")
    assert not _leads_somewhere(page, "SECURITY.md")


def test_every_view_is_in_the_gallery_by_day_and_by_night() -> None:
    from every_view import VIEWS

    gallery = (DOCS / "gallery.md").read_text("utf-8")
    names = {view.__name__.lower() for view in VIEWS}
    for theme in ("light", "dark"):
        assert set(re.findall(rf"\"views/view-(\w+)-{theme}\.png\"", gallery)) == names
    for file in re.findall(r"views/[\w-]+\.png", gallery):
        assert (DOCS / file).stat().st_size > 4_000, file
    assert "<td" not in gallery, "in two columns the letters are 6 pixels high"
    captions = re.findall(r"<img alt=\"([^\"]{20,})\"", gallery)
    assert len(captions) == len(VIEWS)
    # Each picture is taken of a run that shows what its caption promises.
    found = set[str]()
    for path in lessons():
        cells = json.loads(path.read_text("utf-8"))["cells"]
        found |= {view for view, _ in pictured(path.name[:3], cells)}
    assert found == set(PICTURED) == {view.__name__ for view in VIEWS}
    for view, picture in PICTURED.items():
        assert any(picture.promise.lower() in one.lower() for one in captions), view

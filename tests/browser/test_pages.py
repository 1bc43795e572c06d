"""Pages without a kernel: a shared run and a lesson of the HTML edition, opened from the disk."""

from __future__ import annotations

from pathlib import Path

import lab
import pytest
from playwright.sync_api import Page, expect
from project import ROOT

import learnkit as lk
from learnkit.course.content import load
from learnkit.course.publish.html import build

SIZE = "(one) => parseFloat(getComputedStyle(one).fontSize)"
HOSTILE = "</script><script>window.owned = 1</script><img src=x onerror='window.owned = 1'>"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose every text would like to be a program."""
    items = [{"id": "1", "text": HOSTILE, "status": "in_progress"}]
    client = lk.scripted([lk.use("todo", items=items), lk.say(HOSTILE)])
    with client.clock:
        agent = lk.Agent(client, [lk.Todo()], system=HOSTILE)
        agent.run(HOSTILE)
    return lk.share(agent, tmp_path_factory.mktemp("shared") / "run.html", title=HOSTILE)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of lesson 7."""
    folder = tmp_path_factory.mktemp("site")
    assert len(list(build(ROOT / "notebooks", folder, ["s07"]))) == 3
    return folder


def test_a_shared_run_plays_and_obeys_nobody(
    page: Page, shared: Path, loaded: list[str], shots: Path
) -> None:
    page.goto(shared.as_uri())
    players = page.locator(".learnkit-player")
    expect(players).to_have_count(3)  # messages, the list, tokens
    for number in range(3):
        head = players.nth(number).locator("[aria-live]").first
        last = head.inner_text()
        players.nth(number).locator("input[type=range]").focus()
        page.keyboard.press("Home")
        expect(head).not_to_have_text(last)
        page.keyboard.press("End")
        expect(head).to_have_text(last)
    expect(players.first).to_contain_text("window.owned")
    assert page.evaluate("() => window.owned === undefined")
    assert loaded == [shared.as_uri()]
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        dark = page.locator(".learnkit-player[data-dark]")
        expect(dark).to_have_count(3 if scheme == "dark" else 0)
        assert lab.faults(page) == []
        page.screenshot(path=shots / f"shared-{scheme}.png")
    page.emulate_media(color_scheme="light")
    assert page.errors == []  # type: ignore[attr-defined]


def test_a_lesson_of_the_edition_is_scrubbed_and_leads_on(
    page: Page, site: Path, loaded: list[str], shots: Path
) -> None:
    page.goto((site / "index.html").as_uri())
    page.get_by_role("link", name="7 · Tasks", exact=True).click()
    board = page.locator(".learnkit-player", has_text="1 of 4 tasks completed").first
    board.evaluate("(player) => player.setAttribute('data-board', '')")  # its text will change
    view = page.locator("[data-board]")
    tasks = view.locator(".diagram .box[aria-label^='#']")
    expect(tasks.first).to_be_visible()
    view.get_by_label("first step (Home)").click()
    expect(tasks).to_have_count(0)
    view.get_by_label("play (Space)").click()
    expect(tasks.first).to_be_visible(timeout=20_000)
    page.screenshot(path=shots / "edition.png")
    page.get_by_role("link", name="glossary").first.click()
    expect(page.get_by_role("heading", name="task graph")).to_be_visible()
    assert all(one.startswith("file:") for one in loaded)
    assert page.errors == []  # type: ignore[attr-defined]


def test_the_questions_of_a_lesson_are_answered_on_the_page(page: Page, site: Path) -> None:
    page.goto((site / "s07_tasks.html").as_uri())
    for prediction in load("s07").predictions.values():
        shown = page.locator("ul.lk-options", has_text=prediction.options["a"].text[:30]).first
        wrong = next(letter for letter in prediction.options if letter != prediction.right)
        for letter, said in (
            (wrong, f"✗ You said {wrong}; it is {prediction.right}."),
            (prediction.right, f"✓ You said {prediction.right}, and so it is."),
        ):
            shown.get_by_role("button").nth("abcd".index(letter)).click()
            shown.locator("+ p").get_by_role("link", name="See what happens").click()
            head = page.locator(page.evaluate("location.hash"))
            expect(head).to_have_text(said)
            expect(head.locator("+ details")).to_have_attribute("open", "")
    for question in load("s07").quiz:
        asked = page.locator("p", has_text=question.question.replace("`", "")[:30]).last
        asked = asked.locator("xpath=following-sibling::ul[1]")
        asked.get_by_role("button").nth("abcd".index(question.right)).click()
        expect(asked.locator("+ [role=status]")).to_contain_text("and so it is")
        expect(asked.locator("+ p + details")).to_have_attribute("open", "")
    assert page.errors == []  # type: ignore[attr-defined]


def test_the_pages_are_read_in_any_light_on_a_phone_and_on_paper(page: Page, site: Path) -> None:
    for name in ("index", "s07_tasks"):
        page.goto((site / f"{name}.html").as_uri())
        for scheme, media in (("light", "screen"), ("dark", "screen"), ("dark", "print")):
            page.emulate_media(color_scheme=scheme, media=media)  # type: ignore[arg-type]
            assert lab.faults(page) == [], (name, scheme, media)
        # On paper the answers are open, and what would have to be pressed is gone.
        for answer in page.locator("main details:not(.lk-tape *) > ul").all():
            expect(answer).to_be_visible()
        for controls in page.locator(".learnkit-player .controls, nav").all():
            expect(controls).to_be_hidden()
        page.emulate_media(color_scheme="light", media="screen")
        sizes = [
            float(page.locator(f"main {level}").first.evaluate(SIZE))
            for level in ("h1", "h2", "h3", "p")
            if page.locator(f"main {level}").count()
        ]
        *headings, text = sizes
        assert headings == sorted(set(headings), reverse=True), "headings rank by size"
        assert headings[-1] >= text
        line = page.locator("main > p, .text_cell_render > p").first.bounding_box()
        assert line is not None
        assert line["width"] <= 43 * text, "a line of prose can be read"
        page.set_viewport_size({"width": 360, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        for table in page.locator(".lk-products table").all():
            assert table.evaluate("one => one.scrollWidth <= one.clientWidth"), "a column is cut"
        for controls in page.locator(".learnkit-player .controls").all():
            assert controls.evaluate("one => one.offsetHeight") < 90, "they take two rows"
        page.set_viewport_size({"width": 1200, "height": 1000})


def test_without_scripts_the_static_form_is_there(page: Page, shared: Path) -> None:
    browser = page.context.browser
    assert browser is not None
    bare = browser.new_page(java_script_enabled=False)
    bare.goto(shared.as_uri())
    expect(bare.locator(".lk-tape img")).to_have_count(3)
    expect(bare.locator("summary", has_text="the same in words")).to_have_count(3)
    bare.close()

"""The page of a session in a browser: drawn as one scrolls, and what has a number leads there."""

from __future__ import annotations

from pathlib import Path

import lab
import pytest
from made_sessions import Made, bash
from playwright.sync_api import Page, expect

from learnkit.sessions import samples
from learnkit.sessions.page import page as drawn
from learnkit.sessions.read import open_session

HOSTILE = "</script><img src=x onerror='window.owned = 1'><script>window.owned = 1</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of the samples, of a long session, and of one whose texts would be programs."""
    made = tmp_path_factory.mktemp("sessions")
    for name in samples.NAMES:
        (made / f"{name}.html").write_text(drawn(open_session(samples.path(name))), "utf-8")
    long = Made().prompt(HOSTILE)
    for _ in range(300):
        long.turn(bash(HOSTILE, HOSTILE), says=HOSTILE)
    (made / "long.html").write_text(drawn(long.end(HOSTILE)), "utf-8")
    return made


def drawn_parts(page: Page) -> int:
    return page.locator(".later").evaluate_all("(all) => all.filter((e) => e.shadowRoot).length")


def test_turns_are_drawn_as_one_scrolls_and_obey_nobody(
    page: Page, folder: Path, loaded: list[str]
) -> None:
    address = (folder / "long.html").as_uri()
    page.goto(address)
    assert drawn_parts(page) < 4
    page.locator("svg.wide [data-pair='t-lead-250']").click()
    turn = page.locator("#t-lead-250")
    expect(turn).to_be_in_viewport()
    expect(turn).to_contain_text("window.owned")
    assert drawn_parts(page) < 8
    page.mouse.wheel(0, 20_000)
    page.locator("footer").scroll_into_view_if_needed()
    expect(page.locator("#t-lead-301")).to_be_attached()
    assert page.evaluate("() => window.owned === undefined")
    assert {one.partition("#")[0] for one in loaded} == {address}
    assert page.errors == []  # type: ignore[attr-defined]


def test_a_finding_leads_to_its_turn_and_back(page: Page, folder: Path) -> None:
    page.goto((folder / "thrash.html").as_uri())
    for _ in range(2):  # also a second time
        page.evaluate("scrollTo(0, 0)")
        page.locator("#f8 a", has_text="14").click()
        expect(page.locator("#t-lead-14")).to_be_in_viewport()
    page.locator("#t-lead-14 [data-expand]").first.click()
    expect(page.locator("#t-lead-14 [data-expand]").first).to_have_text("show less")
    page.locator("#f8").hover()
    expect(page.locator("svg.wide .bar.lit")).to_have_count(5)
    page.locator("#f1").hover()
    expect(page.locator("svg.wide .bar.lit")).to_have_count(2)
    disc = page.locator("svg.wide .dot.b").nth(2)
    disc.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#f3")).to_be_in_viewport()


@pytest.mark.parametrize("width", [1200, 360])
def test_a_page_that_is_opened_at_a_turn_shows_it_at_the_top(
    page: Page, folder: Path, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 600})
    address = (folder / "long.html").as_uri()
    for number in (1, 20, 21, 41, 150, 281, 299):  # the first, the last and others of a part
        page.goto("about:blank")
        page.goto(f"{address}#t-lead-{number}")
        turn = page.locator(f"#t-lead-{number}.here")
        expect(turn).to_be_in_viewport()
        page.wait_for_timeout(150)  # for what is drawn beside it
        assert turn.evaluate("(one) => one.getBoundingClientRect().top") == pytest.approx(8, abs=2)
    page.set_viewport_size({"width": 1200, "height": 1000})


def test_of_a_failed_output_the_end_is_seen(page: Page, folder: Path) -> None:
    page.goto(f"{(folder / 'thrash.html').as_uri()}#t-lead-2")
    output = page.locator("#t-lead-2 .m-error .clip")
    output.wait_for()
    hidden = """(one) => { const range = document.createRange(), text = one.firstChild;
      range.setStart(text, text.length - 5); range.setEnd(text, text.length);
      const [end, box] = [range.getBoundingClientRect(), one.getBoundingClientRect()];
      return end.bottom > box.bottom + 2 || end.top < box.top; }"""
    assert output.evaluate(hidden) is False
    assert output.evaluate("(one) => one.getBoundingClientRect().height") < 70


@pytest.mark.parametrize("name", samples.NAMES)
def test_a_page_fits_and_has_no_serious_fault(
    page: Page, folder: Path, name: str, shots: Path
) -> None:
    page.goto((folder / f"{name}.html").as_uri())
    for width in (1200, 360):
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.locator(".later").first.scroll_into_view_if_needed()
            expect(page.locator("#t-lead-1")).to_be_attached()
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert lab.faults(page) == []
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=shots / f"session-{name}-{width}-{scheme}.png")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1200, "height": 1000})


def test_no_text_of_the_first_picture_lies_over_another(page: Page, folder: Path) -> None:
    overlaps = """(texts) => {
      const boxes = texts.map((one) => [one.textContent, one.getBoundingClientRect()]);
      const found = [];
      for (const [n, [a, p]] of boxes.entries()) for (const [b, q] of boxes.slice(n + 1))
        if (p.width && q.width && p.left < q.right - 1 && q.left < p.right - 1
          && p.top < q.bottom - 3 && q.top < p.bottom - 3) found.push(`${a} / ${b}`);
      return found;
    }"""
    for name in samples.NAMES:
        page.goto((folder / f"{name}.html").as_uri())
        for width, kind in ((1200, "wide"), (360, "narrow")):
            page.set_viewport_size({"width": width, "height": 900})
            for number in range(2):  # the context, and time
                figure = page.locator(f"figure > svg.{kind}").nth(number)
                assert figure.locator("text").evaluate_all(overlaps) == []
    page.set_viewport_size({"width": 1200, "height": 1000})

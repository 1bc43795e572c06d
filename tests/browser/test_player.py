"""The player in a browser, without a notebook: a page with a model that stands in for the kernel.

What it shows after any number of patches must be what Python's own frames say, whatever way the
reader took to get there.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar

import lab
import pytest
from alone import WIDGET, give, messages_of, open_widget
from playwright.sync_api import Page, expect

from learnkit.events.log import EventLog
from learnkit.views import Messages, View
from learnkit.views.drawing.display import WIDE, Canvas
from learnkit.views.schedule import Schedule
from learnkit.widget.pump import Feed, diff


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with lab.browser(900, 800) as one:
        yield one


def open_player(page: Page, view: View[Any] | None = None, css: str = "") -> None:
    """A fresh player as a notebook would make it, perhaps with all that there is of a view."""
    css = (WIDGET / "player.css").read_text() + (view.css if view else css)
    scripts = "tape.js", "draw.js", "parts.js", "player.js"
    open_widget(page, *scripts, css=css, label="message array")
    if view is not None:
        give(page, *messages_of(view))


def shown(page: Page) -> list[list[str]]:
    """Keys and texts on the page, in order."""
    return page.evaluate(
        """() => [...document.querySelector('.learnkit-player').shadowRoot
            .querySelectorAll('[data-key]')].map((e) => [e.dataset.key, e.innerHTML])"""
    )


def raw_log(page: Page) -> None:
    """Let the slider stop at every event, also at those that change nothing."""
    page.get_by_title("stop at every event of the log").click()


def go_to(page: Page, k: int) -> None:
    count(page)  # let the page take notice of what it was given
    page.locator("input[type=range]").evaluate(
        "(range, k) => { range.value = k; range.dispatchEvent(new Event('input')); }", k
    )


def count(page: Page) -> str:
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    return page.locator(".count").inner_text()


#: A frame with its order, which counts.
Items = tuple[tuple[str, str], ...]


class Boxes(View[Items]):
    """A view of nothing but keys, to try every kind of change."""

    name = "boxes"

    start: ClassVar[Items] = ()

    def fold(self, state: Items, event: Any) -> Items:
        return tuple(event.data["frame"].items())

    def frame(self, state: Items, width: float = 720) -> dict[str, str]:
        return dict(state)

    def says(self, state: Items) -> list[str]:
        return [f"{len(state)} boxes"]

    def draw(self, state: Items, width: float, rows: int) -> Canvas:
        return Canvas(width)

    def facts(self, state: Items, rows: int) -> str:
        return ""


def random_boxes(steps: int, seed: int = 7) -> tuple[EventLog, list[dict[str, str]]]:
    """A log that adds, changes, moves and removes boxes in two regions, and its frames."""
    chance = random.Random(seed)
    log, frames = EventLog(), [{}]
    for step in range(steps):
        items = list(frames[-1].items())
        kind = chance.choice(["add", "add", "insert", "change", "drop", "shuffle"])
        key = f"{chance.choice('ab')}/{step}"
        if kind == "add" or len(items) < 2:
            items.append((key, f"<i>{step}</i>"))
        elif kind == "insert":
            items.insert(chance.randrange(len(items)), (key, f"<i>{step}</i>"))
        elif kind == "change":
            place = chance.randrange(len(items))
            items[place] = (items[place][0], f"<b>{step}</b>")
        elif kind == "drop":
            items.pop(chance.randrange(len(items)))
        else:
            chance.shuffle(items)
        frames.append(dict(items))
        log.append("boxes.changed", frame=frames[-1])
    return log, frames


def expected(frame: dict[str, str]) -> list[list[str]]:
    """A frame as the page has it: grouped by region, regions by first appearance."""
    regions = list(dict.fromkeys(key.rpartition("/")[0] for key in frame))
    keys = sorted(frame, key=lambda key: regions.index(key.rpartition("/")[0]))
    return [[key, frame[key]] for key in keys]


def test_any_way_through_the_tape_shows_the_frame_of_that_step(page: Page) -> None:
    open_player(page)
    chance = random.Random(3)
    for seed in (7, 8):  # the second one as after a resize: all steps come anew, with other frames
        log, frames = random_boxes(160, seed)
        if seed == 8:
            give(page, {"reset": True})
        give(page, *messages_of(Boxes(log)))
        if seed == 7:
            changes = sum([*old.items()] != [*new.items()] for old, new in pairwise(frames))
            assert count(page).endswith(f" of {changes}")  # also where a box only goes, or moves
            raw_log(page)
        for k in [0, 160, 1, 159, 50, 49, 51, *(chance.randrange(161) for _ in range(40))]:
            go_to(page, k)
            assert count(page) == f"event {k} of 160", k
            assert shown(page) == expected(frames[k]), k


def test_a_gap_is_asked_for_and_overlaps_change_nothing(page: Page) -> None:
    log, frames = random_boxes(30)
    (message,) = messages_of(Boxes(log))
    patches = message["patches"]
    open_player(page)
    raw_log(page)
    assert page.evaluate("() => window.sent") == [{"want": 0}]
    give(page, {"seq": 0, "patches": patches[:10]})
    give(page, {"seq": 15, "patches": patches[15:]})
    assert page.evaluate("() => window.sent") == [{"want": 0}, {"want": 10}]
    assert "of 9" in count(page)
    give(page, {"seq": 5, "patches": patches[5:]})
    assert "of 30" in count(page)
    go_to(page, 30)
    assert shown(page) == expected(frames[30])


def test_where_there_is_nothing_to_play_is_no_speed_and_without_duration_no_time(
    page: Page,
) -> None:
    open_player(page, Boxes(random_boxes(1)[0]))
    raw_log(page)
    assert count(page) == "event 1 of 1"
    expect(page.locator("select")).to_be_hidden()
    open_player(page, Boxes(random_boxes(3)[0]))
    raw_log(page)
    assert count(page) == "event 3 of 3"
    expect(page.locator("select")).to_be_visible()


def test_keys_step_play_and_jump(page: Page) -> None:
    log, _ = random_boxes(20)
    open_player(page, Boxes(log))
    raw_log(page)
    page.locator(".picture").focus()
    page.keyboard.press("Home")
    expect(page.locator(".count")).to_contain_text("event 0 of 20")
    assert page.get_by_title("stay at the newest step").get_attribute("aria-pressed") == "false"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".count")).to_contain_text("event 1 of 20")
    page.locator("select").select_option("4")
    page.locator(".picture").focus()
    page.keyboard.press(" ")
    page.wait_for_function(
        """() => document.querySelector('.learnkit-player').shadowRoot
            .querySelector('.count').textContent.startsWith('event 3 ')"""
    )
    assert page.locator("button[aria-label='pause (Space)']").count() == 1
    page.keyboard.press(" ")
    assert page.locator("button[aria-label='play (Space)']").count() == 1
    page.keyboard.press("End")
    expect(page.locator(".count")).to_contain_text("event 20 of 20")


def sample() -> EventLog:
    log = EventLog()
    log.append("run.started", prompt="go", system="Be brief.", tools=[], model="m")
    content = "\n".join(f"line {number} <script>window.hacked=1</script>" for number in range(30))
    call = {"type": "tool_use", "id": "t 1", "name": "bash", "input": {"command": "ls"}}
    answer = {"type": "tool_result", "tool_use_id": "t 1", "content": content}
    talk = [("user", "go"), ("assistant", [call]), ("user", [answer])]
    for index, (role, said) in enumerate(talk):
        log.append("message.added", index=index, message={"role": role, "content": said})
    return log


def test_hostile_text_stays_text_and_long_text_opens(page: Page) -> None:
    open_player(page, Messages(sample()))
    go_to(page, 4)
    assert page.evaluate("() => window.hacked") is None
    assert "<script>window.hacked=1</script>" in page.locator(".clip").inner_text()
    button = page.locator("button[data-expand]")
    closed = page.locator(".clip").bounding_box()
    button.click()
    opened = page.locator(".clip").bounding_box()
    assert closed
    assert opened
    assert opened["height"] > 3 * closed["height"]
    assert button.get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert button.inner_text() == "show less"


def test_a_call_and_its_result_light_up_together(page: Page) -> None:
    open_player(page, Messages(sample()))
    go_to(page, 4)
    page.locator(".m-result").hover()
    assert page.locator("[data-paired]").count() == 2
    page.locator(".head").hover()
    assert page.locator("[data-paired]").count() == 0
    page.locator(".m-call").focus()
    assert page.locator("[data-paired]").count() == 2


def test_what_changed_is_outlined_for_one_step(page: Page) -> None:
    open_player(page, Messages(sample()))
    go_to(page, 3)
    assert changed(page) == ["1"]
    assert page.locator(".head").inner_text() == "Message 1: the model calls bash."
    go_to(page, 4)
    last = changed(page)
    go_to(page, 0)
    go_to(page, 4)  # in one leap, after which only the last step is marked
    assert changed(page) == last


def changed(page: Page) -> list[str]:
    found: list[str] = page.locator("[data-changed]").evaluate_all(
        "all => all.map((e) => e.dataset.key)"
    )
    return found


def test_a_bar_thinner_than_its_outline_is_not_outlined(page: Page) -> None:
    """The outline would look like a bar of a colour that no legend has."""
    frames: list[dict[str, str]] = [{}]
    for length in (40, 50):
        canvas = Canvas(WIDE)
        canvas.height = 40
        canvas.bar("same", 100, 0, 9, 9, "user", says="same")
        for high in (5, 20):
            canvas.bar(f"{high} high", 0, high, length, high, "user", says=f"{length}")
        frames.append(canvas.frame())
    patches = [{"time": 0, "head": "x", **diff(*two)} for two in pairwise(frames)]
    open_player(page)
    give(page, {"seq": 0, "patches": patches, "finding": "x"})
    go_to(page, 1)
    assert page.locator(".bar").count() == 3
    changed = page.locator(".bar[data-changed] rect")
    assert [one.get_attribute("height") for one in changed.all()] == ["20"]


def test_neither_a_dash_nor_a_picture_that_is_all_new_is_outlined(page: Page) -> None:
    """The dash says something, and with everything outlined nothing is."""
    frames: list[dict[str, str]] = [{}]
    for names in (["a"], ["a", "b", "blocked"], ["c", "d"]):
        canvas = Canvas(WIDE)
        for place, name in enumerate(names):
            canvas.box(name, 0, 30 * place, 90, 24, "blocked" * (name == "blocked"), says=name)
        frames.append(canvas.frame())
    patches = [{"time": 0, "head": "x", **diff(*two)} for two in pairwise(frames)]
    open_player(page)
    give(page, {"seq": 0, "patches": patches, "finding": "x"})
    for k, outlined in enumerate([[], ["b"], []]):
        go_to(page, k)
        found = page.locator(".box[data-changed]")
        assert found.evaluate_all("all => all.map((one) => one.ariaLabel)") == outlined


def test_a_document_does_not_jump_in_height_while_it_is_scrubbed(page: Page) -> None:
    open_player(page, Messages(sample()))
    go_to(page, 4)
    tall = page.locator(".picture").evaluate("one => one.offsetHeight")
    assert tall > 200
    for k in (0, 2, 4):
        go_to(page, k)
        assert page.locator(".picture").evaluate("one => one.offsetHeight") == tall
    page.set_viewport_size({"width": 700, "height": 500})  # as tall as this window lets it be
    count(page)
    go_to(page, 1)
    assert page.locator(".picture").evaluate("one => one.offsetHeight") < tall
    page.set_viewport_size({"width": 900, "height": 800})


#: Gives messages one by one, each in some milliseconds; counts what has been painted meanwhile.
ARRIVE = """([messages, pause]) => new Promise((done) => {
  const { shadowRoot } = document.querySelector(".learnkit-player");
  const shown = new Set();
  const timer = setInterval(() => messages.length && window.receive(messages.shift()), pause);
  const look = () => {
    shown.add(shadowRoot.querySelector(".count").textContent);
    if (messages.length) return requestAnimationFrame(look);
    clearInterval(timer);
    done(shown.size);
  };
  requestAnimationFrame(look);
})"""


def test_events_are_shown_while_they_arrive(page: Page) -> None:
    log, sent = EventLog(), []
    feed = Feed(Messages(log), sent.append)
    for index in range(400):
        role = "assistant" if index % 2 else "user"
        message = {"role": role, "content": f"{index}: " + "a reading above the limit " * 20}
        log.append("message.added", index=index, message=message)
        if index >= 199:
            feed.flush()
    before, *arriving = sent
    open_player(page, css=Messages.css)
    give(page, before)
    assert page.evaluate(ARRIVE, [arriving, 20]) > 10
    page.wait_for_function(
        """() => document.querySelector('.learnkit-player').shadowRoot
            .querySelector('.count').textContent.startsWith('step 400 of 400')"""
    )
    assert page.locator(".msg").count() == 400


def test_a_diagram_gets_the_width_of_its_place_although_older_patches_come_late(page: Page) -> None:
    page.set_viewport_size({"width": 700, "height": 800})
    open_player(page)
    log = EventLog()
    log.append("race.started", lane="alice", reader="alice", writers=["bob"], seed=1)
    log.append("race.wrote", lane="bob", texts=["bob 1"], content=["bob 1"])
    view = Schedule(log)
    give(page, *messages_of(view))
    asked = page.wait_for_function("() => window.sent.find((one) => one.width)")
    width = asked.json_value()["width"]
    assert width < WIDE
    give(page, *messages_of(view))  # once more, because the page had asked for all it missed
    give(page, {"reset": True}, *messages_of(view, width))
    expect(page.locator(".diagram")).to_have_attribute("width", str(width))
    page.set_viewport_size({"width": 900, "height": 800})


class Ask(Boxes):
    def frame(self, state: Items, width: float = 720) -> dict[str, str]:
        intent = json.dumps({"do": "claim", "task": 2})
        return {"ask": f"<button id='b' data-intent='{intent}'>claim</button>"}


def test_a_click_becomes_an_intent_until_the_kernel_is_gone(page: Page) -> None:
    open_player(page, Ask(EventLog()))
    page.locator("#b").click(button="right")
    page.locator("#b").click()
    assert page.evaluate("() => window.sent.slice(1)") == [{"intent": {"do": "claim", "task": 2}}]
    page.evaluate("() => { window.alive = false }")
    page.locator("#b").click()
    page.wait_for_selector("p.note:has-text('The kernel behind this view is gone')")
    assert page.errors == []  # type: ignore[attr-defined]


def test_a_press_counts_though_the_picture_is_drawn_anew_before_the_release(page: Page) -> None:
    open_player(page, Ask(EventLog()))
    page.locator("#b").hover()
    page.mouse.down()
    page.locator("#b").evaluate("(one) => one.replaceWith(one.cloneNode(true))")
    page.mouse.up()
    claim = {"intent": {"do": "claim", "task": 2}}
    assert page.evaluate("() => window.sent.slice(1)") == [claim]
    page.mouse.down()
    page.mouse.move(600, 500)
    page.mouse.up()  # elsewhere: the reader has thought better of it
    page.locator("#b").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("() => window.sent.slice(1)") == [claim, claim]
    assert page.errors == []  # type: ignore[attr-defined]


def test_the_theme_is_read_from_the_page_and_closing_leaves_nothing_behind(page: Page) -> None:
    open_player(page, Boxes(EventLog()))
    host = page.locator(".learnkit-player")
    assert host.get_attribute("data-dark") is None
    page.evaluate("() => document.body.style.setProperty('--jp-layout-color0', '#111')")
    page.wait_for_function("() => document.querySelector('.learnkit-player[data-dark]')")
    page.evaluate("() => window.close()")
    page.evaluate("() => document.body.style.setProperty('--jp-layout-color0', '#fff')")
    page.wait_for_timeout(100)
    assert host.get_attribute("data-dark") is not None

"""An explorable that moves by itself: every state in turn, one at a time."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import learnkit as lk
from learnkit.course.lessons.s06.explorable import explorable
from learnkit.views.drawing.display import RULES, Canvas
from learnkit.widget.looped import looped

ROOT = Path(__file__).resolve().parents[2]


def visible(svg: str, percent: float) -> list[int]:
    """The states that are shown at a moment."""
    shown = []
    for place, moments in re.findall(r"@keyframes f(\d+)\{(.*?\})\}", svg):
        now = [
            how
            for at, how in re.findall(r"([\d.]+)%\{visibility:(\w+)\}", moments)
            if float(at) <= percent + 1e-9
        ]
        if now[-1] == "visible":
            shown.append(int(place))
    return shown


def test_at_every_moment_one_state_is_shown_there_and_back() -> None:
    one = explorable()
    ((_, cause), *_) = one.controls.items()
    last = len(cause.values) - 1
    svg = looped(one)
    number = 2 * last
    seen = [visible(svg, 100 * (at + 0.5) / number) for at in range(number)]
    assert seen == [[place] for place in (*range(last + 1), *range(last - 1, 0, -1))]


def test_who_asks_for_less_motion_sees_the_state_that_it_starts_with() -> None:
    one = explorable()
    ((_, cause), *_) = one.controls.items()
    still = looped(one).partition("prefers-reduced-motion:reduce){")[2]
    assert still.startswith(".shot{animation:none!important}")
    looks = {
        name for kind in re.findall(r"class=\"(shot[^\"]*)\"", looped(one)) for name in kind.split()
    }
    assert not looks & set(re.findall(r"\.(\w+)[ {]", RULES)), "a shape's look is no state's name"
    assert f".f{cause.start}{{visibility:visible}}" in still
    ways = lk.pick(["alone", "together"], "together")

    def answer(width: float, n: int, way: str) -> lk.Answer:
        return lk.Answer(f"{n} {way}", Canvas(width), "nothing")

    svg = looped(lk.explore(answer, n=lk.drag([1, 2]), way=ways))
    assert re.findall(r"<text>(\d .*?)</text>", svg) == ["1 together", "2 together"]


def test_the_readmes_picture_is_of_today_and_small() -> None:
    svg = looped(explorable())
    assert (ROOT / "docs" / "explorable.svg").read_text("utf-8") == f"{svg}\n"
    assert len(svg.encode()) < 300_000
    ElementTree.fromstring(svg)
    for answer in map(explorable().answer, [{"least": place} for place in (0, 4, 12)]):
        assert answer.finding[:60].replace("’", "'") in svg

"""The visual language: contrast, never colour alone, and a style sheet for each view."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from every_view import VIEWS

from learnkit import views
from learnkit.views import View, request
from learnkit.views.drawing import theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import RULES
from learnkit.views.drawing.theme import MARKS, Mark, Tone


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two ``#rrggbb`` colours as WCAG defines it: 1.0 to 21.0."""

    def luminance(colour: str) -> float:
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("mark", MARKS.values(), ids=MARKS)
@pytest.mark.parametrize(
    ("shade", "pages"), [("light", theme.LIGHT_PAGES), ("dark", theme.DARK_PAGES)]
)
def test_text_and_edges_stand_out(mark: Mark, shade: str, pages: tuple[str, ...]) -> None:
    tone: Tone = getattr(mark, shade)
    for ground in (tone.bg, *pages):
        assert contrast(tone.fg, ground) >= 4.5, ground
        assert contrast(tone.edge, ground) >= 3.0, ground


def test_contrast_is_the_known_one() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_the_static_card_is_readable() -> None:
    assert contrast(theme.INK, theme.GROUND) >= 7
    assert contrast(theme.QUIET, theme.GROUND) >= 4.5
    for mark in MARKS.values():
        assert contrast(theme.INK, mark.light.bg) >= 7


def test_every_mark_has_a_glyph_a_word_and_colours_and_no_two_look_alike() -> None:
    seen = set()
    for mark in MARKS.values():
        assert len(mark.glyph.rstrip("\ufe0e")) == 1
        if mark.glyph[0] in "✉▶◀✔✖":  # it could be an emoji
            assert mark.glyph.endswith("\ufe0e"), mark
        assert mark.word
        seen.add((mark.glyph, mark.word))
    assert len(seen) == len(MARKS)


def test_the_stylesheet_sets_what_it_uses_in_both_shades() -> None:
    sheet = theme.stylesheet()
    light, dark = (re.search(pattern, sheet) for pattern in (r":host\{.*?\}", r"dark\]\)\{.*?\}"))
    assert light
    assert dark
    for name in set(re.findall(r"var\((--[\w-]+)\)", sheet)):
        assert f"{name}:#" in light[0]
        assert f"{name}:#" in dark[0]


DOCUMENTS = [view for view in VIEWS if not issubclass(view, Diagram)]


@pytest.mark.parametrize("view", DOCUMENTS, ids=lambda view: str(view.__name__))
def test_a_view_has_the_style_sheet_beside_it(view: type[View[Any]]) -> None:
    sheet = Path(str(sys.modules[view.__module__].__file__)).with_suffix(".css").read_text("utf-8")
    assert sheet.count("{") == sheet.count("}") > 0
    assert sheet in view.css
    assert "{{" not in sheet


def test_every_style_sheet_belongs_to_a_module() -> None:
    folder = Path(views.__file__).parent
    sheets = {path.stem for path in folder.glob("*.css")}
    assert sheets == {view.__name__.lower() for view in DOCUMENTS} | {"request"}
    assert Path(str(request.__file__)).with_suffix(".css").read_text("utf-8") == request.CSS


def test_type_has_one_scale_of_five_sizes() -> None:
    package = Path(views.__file__).parents[1]
    sheets = {path.name: path.read_text() for path in package.rglob("*.css")} | {"shapes": RULES}
    sizes = {
        (name, size)
        for name, sheet in sheets.items()
        for rule in re.findall(r"font(?:-size)?:([^;}]*)", sheet)
        for size in re.findall(r"(?<![\d/.])[\d.]+(?:px|r?em|%)", rule)
    }
    assert {size for _, size in sizes} == {"12px", "13px", "16px", "20px", "26px"}, sizes

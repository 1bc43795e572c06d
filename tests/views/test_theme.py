"""The visual language: contrast, and never colour alone."""

from __future__ import annotations

import re

import pytest

from learnkit.views.drawing import theme
from learnkit.views.drawing.theme import MARKS, Tone


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two ``#rrggbb`` colours as WCAG defines it: 1.0 to 21.0."""

    def luminance(colour: str) -> float:
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


#: Pages the live form has to be readable on: light, and JupyterLab's two dark grounds and black.
LIGHT_PAGES = ("#ffffff", theme.GROUND)
DARK_PAGES = ("#111111", "#212121", "#000000")


@pytest.mark.parametrize(("shade", "pages"), [("light", LIGHT_PAGES), ("dark", DARK_PAGES)])
def test_text_and_edges_stand_out(shade: str, pages: tuple[str, ...]) -> None:
    for mark in MARKS.values():
        tone: Tone = getattr(mark, shade)
        for ground in (tone.bg, *pages):
            assert contrast(tone.fg, ground) >= 4.5, (mark, ground)
            assert contrast(tone.edge, ground) >= 3.0, (mark, ground)


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

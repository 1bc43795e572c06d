"""Take the README's picture that moves: lesson 9's run, scrubbed in the HTML edition's player.

uvx --with pillow --with-editable '.[dev]' python -m tests.tools.scrubbed
"""

from __future__ import annotations

import sys
import tempfile
from io import BytesIO
from itertools import product
from pathlib import Path

from PIL import Image

from learnkit.course.publish.html import build
from tests.tools.tree_copy import ROOT

sys.path[:0] = [str(ROOT / "tests" / name) for name in ("support", "browser")]

import lab  # noqa: E402

#: What the file's name has before the scheme -> the width of the page, pixels for each of its own,
#: and the heights of the longest title with the line below it and of the picture, so that nothing
#: jumps.
_SIZES = {"": (800, 1.5, 38, 29, 458), "narrow-": (360, 2, 82, 0, 692)}
_LAST = 13
_STILL = """(player, [head, note, picture]) => player.shadowRoot.querySelector("style").append(`
  .head, .head + .note, .picture { min-height: 0 !important; height: ${picture}px; }
  .picture { max-height: none; }
  .head { height: ${head}px; }
  .head + .note { display: block !important; height: ${note}px;
    padding-block: 0; overflow: hidden; }`)"""
#: How far the title is above the rule under it, and the picture's end above that of its frame.
_ROOM = """(player) => {
  const [head, picture] = [".head", ".picture"].map((one) => player.shadowRoot.querySelector(one));
  const text = document.createRange();
  text.selectNodeContents(head);
  const title = picture.getBoundingClientRect().top - text.getBoundingClientRect().bottom;
  return Math.min(title, picture.clientHeight - picture.scrollHeight);
}"""
#: Milliseconds for a step, and for the whole run, which comes first: some readers see only that.
_STEP, _WHOLE = 700, 3500


def main() -> None:
    """Write the picture wide and for phones, each light and dark."""
    with tempfile.TemporaryDirectory() as folder, lab.sync_playwright() as playwright:
        list(build(ROOT / "notebooks", Path(folder), ["s09"]))
        browser = playwright.chromium.launch(executable_path=lab.chromium(), args=[*lab._CHROMIUM])
        for (size, (width, scale, *heights)), scheme in product(_SIZES.items(), ("light", "dark")):
            page = browser.new_page(
                viewport={"width": width, "height": 900},
                device_scale_factor=scale,
                color_scheme=scheme,
                reduced_motion="reduce",
            )
            page.goto(Path(folder, "s09_teams.html").as_uri())
            player = page.locator(".learnkit-player").last
            player.evaluate(_STILL, heights)
            page.wait_for_timeout(1000)
            player.evaluate("(player) => scrollTo(0, player.offsetTop - 20)")
            box = player.bounding_box()
            assert box is not None
            clip = {side: round(pixels) for side, pixels in box.items()}
            shots = []
            for step in (_LAST, *range(_LAST)):
                player.locator("input[type=range]").fill(str(step))
                page.wait_for_timeout(100)
                assert player.evaluate(_ROOM) >= 0, f"{size}{step}: it is taller than its place"
                shots.append(Image.open(BytesIO(page.screenshot(clip=clip))).convert("RGB"))
            colours = shots[0].quantize(128, dither=Image.Dither.NONE)
            few = [one.quantize(palette=colours, dither=Image.Dither.NONE) for one in shots]
            shots = [one.convert("RGB") for one in few]
            shots[0].save(
                ROOT / "docs" / f"scrubbed-{size}{scheme}.webp",
                save_all=True,
                append_images=shots[1:],
                duration=[_WHOLE, *[_STEP] * _LAST],
                loop=0,
                lossless=True,
                method=6,
                minimize_size=True,
            )
            print(size, scheme, shots[0].size)
            page.close()


if __name__ == "__main__":
    main()

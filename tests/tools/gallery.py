"""Take the pictures of docs/gallery.md from the lessons' outputs, in light and in dark.

    python -m tests.tools.gallery

The outputs have to be those of the code: ``learnkit refresh`` comes first.
"""

from __future__ import annotations

import json
import sys
from html import escape

from tests.tools.tree_copy import ROOT

sys.path[:0] = [str(ROOT / "tests" / name) for name in ("support", "browser")]

import lab  # noqa: E402
from pictured import PICTURED, pictured  # noqa: E402

#: A page that has the colours of the picture, as wide as it.
_PAGE = (
    "<style>body{{margin:0;width:736px;font:15px system-ui,'DejaVu Sans',sans-serif;"
    "background:#ffffff;color:#1f2328}}p{{margin:0;padding:6px 10px 0}}b{{font-size:18px}}"
    "small{{font-size:14px;opacity:.8}}svg{{display:block}}@media(prefers-color-scheme:dark)"
    "{{body{{background:#111111;color:#e6e8eb}}}}</style>"
    "<p><b>{}</b></p><p><small>{}</small></p>{}"
)


def main() -> int:
    """Write a picture of each view; returns how many views no lesson shows."""
    found = {}
    for path in sorted((ROOT / "notebooks").glob("s[0-9][0-9]_*.ipynb")):
        found |= dict(pictured(path.name[:3], json.loads(path.read_text("utf-8"))["cells"]))
    with lab.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=lab.chromium(), args=[*lab._CHROMIUM])
        for view, (title, below, svg) in found.items():
            for scheme in ("light", "dark"):
                page = browser.new_page(
                    viewport={"width": 736, "height": 100},
                    device_scale_factor=1.5,
                    color_scheme=scheme,
                )
                page.set_content(_PAGE.format(escape(title), escape(below), svg))
                file = ROOT / "docs" / "views" / f"view-{view.lower()}-{scheme}.png"
                page.screenshot(path=file, full_page=True)
                page.close()
        browser.close()
    missing = PICTURED.keys() - found.keys()
    print(f"{len(found)} views pictured; no lesson shows what is promised of: {sorted(missing)}")
    return len(missing)


if __name__ == "__main__":
    sys.exit(main())

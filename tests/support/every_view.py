"""All views there are, so that a new one is held to what every view must satisfy."""

from __future__ import annotations

from learnkit import views

VIEWS = [getattr(views, name) for name in views.__all__ if name != "View"]

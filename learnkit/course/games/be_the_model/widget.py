"""The page of a session as a widget: what the model sees, and forms to answer in its place.

``README.md`` lists its messages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from learnkit.course.display.page import Page, script_beside
from learnkit.views import request
from learnkit.views.drawing.base import css_beside
from learnkit.views.messages import Messages


class SessionPanel(Page):
    """A page on which the learner answers as the model."""

    _esm = script_beside(__file__)

    def __init__(
        self, act: Callable[[dict[str, Any]], object], start: dict[str, Any], desk: str = ""
    ) -> None:
        super().__init__([Messages.css, request.CSS, css_beside(__file__)], start, act, desk)

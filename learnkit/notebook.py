"""Where this process runs: in a notebook's kernel, and with somebody in front of it or not."""

from __future__ import annotations

import os
import sys
from typing import Any


def in_kernel() -> bool:
    """Whether this process is a notebook's kernel. Where IPython was never imported it is none."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None


def is_static() -> bool:
    """Whether outputs are to be committed and compared: ``LEARNKIT_STATIC=1`` says so."""
    return os.environ.get("LEARNKIT_STATIC") == "1"


def is_live() -> bool:
    """Whether somebody sits in front of a notebook."""
    return in_kernel() and not is_static()


def shorten_errors() -> None:
    """In this notebook, show what the API or learnkit refused without frames of a library."""
    import anthropic

    from learnkit.errors import LearnkitError

    def shown(shell: Any, kind: type, error: Any, *rest: Any, **options: Any) -> None:
        lines = [f"{kind.__name__}: {error}"]
        if isinstance(error, anthropic.APIStatusError):
            body = error.body.get("error", {}) if isinstance(error.body, dict) else {}
            what, why = body.get("type", "error"), body.get("message", str(error))
            refused = f"the API refused the request ({error.status_code}, {what})"
            lines = [f"{kind.__name__}: {refused}", "", why]
        error._render_traceback_ = lambda: lines
        shell.showtraceback((kind, error, error.__traceback__))

    shell = sys.modules["IPython"].get_ipython()
    shell.set_custom_exc((anthropic.APIStatusError, LearnkitError), shown)

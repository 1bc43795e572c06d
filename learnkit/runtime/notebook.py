"""Where this process runs: in a notebook's kernel, and with a user in front of it or not."""

from __future__ import annotations

import math
import os
import sys

from learnkit.errors import UsageError

#: Real seconds for each virtual second in front of a user, so that they can watch a picture grow.
PACE = 0.2


def in_kernel() -> bool:
    """Whether this process is a notebook's kernel. Where IPython was never imported it is none."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None


def is_static() -> bool:
    """Whether outputs are to be committed and compared: ``LEARNKIT_STATIC=1`` says so."""
    return os.environ.get("LEARNKIT_STATIC") == "1"


def has_tapes() -> bool:
    """Whether outputs are for pages with the player, as in the HTML edition."""
    return os.environ.get("LEARNKIT_TAPES") == "1"


def is_live() -> bool:
    """Whether a user sits in front of a notebook."""
    return in_kernel() and not is_static()


def pace() -> float:
    """Real seconds for each virtual second in front of a user."""
    said = os.environ.get("LEARNKIT_PACE", "")
    try:
        seconds = float(said) if said else PACE
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise UsageError(
            f"LEARNKIT_PACE is {said!r}; it should be the real seconds that one second of a "
            f"scenario takes, such as {PACE}, or 0 not to wait at all"
        )
    return seconds

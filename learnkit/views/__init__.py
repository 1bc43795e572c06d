"""Views: pictures of an event log, live in JupyterLab and static everywhere else.

Each view is loaded when it is first used, and none of them imports a notebook library.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

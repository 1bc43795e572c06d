"""learnkit: build a coding-agent harness, one mechanism at a time.

``import learnkit`` loads nothing else: each public name is imported when it is first used
(PEP 562), so a script pays only for the parts it touches. ``__init__.pyi`` lists them.
"""

from __future__ import annotations

import lazy_loader

__version__ = "1.0.0.dev0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""What ``lk.simulated`` offers: models that are rules instead of neural networks."""

from __future__ import annotations

from learnkit.simulation.forgetful import Forgetful, Step

__all__ = ["Forgetful", "Step"]

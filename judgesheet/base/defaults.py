"""Default values, declared once for options, functions and stages."""

from datetime import timedelta
from typing import Literal

PROFILE = "quick"
SEED = 0
SEQUENCES: Literal["cyclic"] = "cyclic"
TEMPERATURE = 0.0
TIMEOUT_S = 120.0
"""Seconds per call."""
PATIENCE_S = 300.0
"""Seconds for which an endpoint that is down is waited for."""
REUSE_FOR = timedelta(days=30)
"""Age up to which replies of earlier runs are taken over."""
CONCURRENCY = 64
"""Most calls in flight."""
CONSENSUS_ORDERS = 7
"""Orders under which a list is judged."""
ENGINE: Literal["local"] = "local"
PAPER: Literal["a4"] = "a4"

MANY_LOST = 0.05
"""A share of lost calls beyond which, by its lower bound, nothing is proven by the rest."""
LOSS_ERROR = 0.001
"""Error of the test of an axis of whether its lost calls depend on the order."""

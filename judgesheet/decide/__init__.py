"""Decide: controls, effects, limits and the decision, once, for all that prints."""

from judgesheet.decide.decide import decide
from judgesheet.decide.decision import EXIT_CODES, FAILED, NOT_PROVEN, PASSED

__all__ = ["EXIT_CODES", "FAILED", "NOT_PROVEN", "PASSED", "decide"]

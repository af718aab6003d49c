"""judgesheet measures an LLM judge before anyone trusts it."""

__version__ = "0.1.0"

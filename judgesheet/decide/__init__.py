"""Stage four, decide: controls, limits and the decision, once, for everything that prints."""

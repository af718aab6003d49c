"""Collect: ask the judge what is pending, or take replies from elsewhere."""

"""Judges that answered the same stimuli: how far they agree, which few are best, where they part.

`verdicts` reads their runs side by side, `options` says what panels, and single judges with more
orders, decide and cost; `atlas` finds the questions that divide them; `run` puts them together.
"""

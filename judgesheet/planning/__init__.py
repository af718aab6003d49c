"""Plan: the stimuli, and every question of a run before the first one is paid for."""

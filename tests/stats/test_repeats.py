"""Whether repeats are alike and independent, against judges of which that is known."""

import numpy as np

from judgesheet.stats.repeats import alike_p

STIMULI, CELLS = 24, 4
CELL = np.repeat(np.arange(STIMULI * CELLS), 2)
ITEM = CELL // CELLS
TURN = np.tile([0, 1], STIMULI * CELLS)


def _p(first: np.ndarray, second: np.ndarray) -> float:
    """Readings (stimuli, cells) of one number, each cell read twice."""
    said = np.stack([first, second], axis=-1).reshape(-1, 1).astype(float)
    p = alike_p(said, said, CELL, ITEM, ITEM, [TURN])
    assert p is not None
    return p


def test_judges_whose_repeats_are_alike_are_seldom_doubted() -> None:
    """Also where the order decides, and where noise differs by cell."""
    rng, found = np.random.default_rng(1), []
    for _ in range(200):
        mean, noise = rng.normal(0, 1, (STIMULI, CELLS)), rng.exponential(1, CELLS)
        found.append(_p(*(mean + noise * rng.normal(size=(2, STIMULI, CELLS)))))
    assert sum(p < 0.05 for p in found) <= 10


def test_a_second_reading_at_random_is_seen() -> None:
    rng = np.random.default_rng(2)
    own = rng.normal(size=(STIMULI, 1))
    first = own + 0.3 * rng.normal(size=(STIMULI, CELLS))
    assert _p(first, rng.normal(size=(STIMULI, CELLS))) < 1e-4


def test_a_second_reading_that_is_another_on_purpose_is_seen() -> None:
    """First and second are alike here, but they know of each other."""
    first = np.random.default_rng(3).integers(0, 2, (STIMULI, CELLS))
    assert _p(first, 1 - first) < 1e-4


def test_one_reading_of_each_cell_says_nothing() -> None:
    said = np.ones((6, 1))
    assert alike_p(said, said, np.arange(6), np.arange(6) // 2, np.arange(6) // 2, []) is None

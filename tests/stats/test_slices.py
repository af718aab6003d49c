"""Where errors gather: planted places are found, and what only looks like one is not."""

import numpy as np
import pytest

from judgesheet.stats.slices import Errors, worst_slice

STIMULI, ITEMS, CALLS = 32, 2, 5


def errors(
    seed: int, *, field: float = 0.0, direction: float = 0.0, noise: float = 1.0, by: str = "field"
) -> Errors:
    """Errors of calls on items of stimuli in four fields, larger by so much in the first field, or
    in every item's first two calls."""
    rng = np.random.default_rng(seed)
    stimulus = np.repeat(np.arange(STIMULI), ITEMS * CALLS)
    item = np.repeat(np.arange(STIMULI * ITEMS), CALLS)
    fields = stimulus % 4
    first = (np.arange(len(stimulus)) % CALLS < 2).astype(int)
    off = np.abs(rng.normal(size=STIMULI))[stimulus] + noise * np.abs(rng.normal(size=len(item)))
    off += field * (fields == 0) + direction * first
    which = fields if by == "field" else first
    member = (which[:, None] == np.arange(4)).astype(float)
    return Errors(off, member, stimulus, item)


def test_the_slice_the_measure_and_the_axis_are_named() -> None:
    sound, faulty = errors(1), errors(2, field=1.5)
    found = worst_slice([[sound], [errors(3), faulty]], np.random.default_rng(0))
    assert found is not None
    assert found.p < 0.001
    assert (found.measure, found.axis, found.slice) == (1, 1, 0)


def test_what_all_axes_share_is_found_where_none_shows_it_alone() -> None:
    axes = [errors(seed, field=0.6) for seed in range(4)]
    together, *alone = (
        worst_slice([some], np.random.default_rng(0)) for some in (axes, *([one] for one in axes))
    )
    assert together is not None
    assert together.p < 0.0025
    assert all(one is not None and one.p > 0.0025 for one in alone)


def test_a_direction_is_found_within_items() -> None:
    found = worst_slice([[errors(5, direction=0.5, by="direction")]], np.random.default_rng(0))
    assert found is not None
    assert found.p < 0.001
    assert found.slice == 1


def test_a_hard_stimulus_counts_once_however_often_it_is_asked() -> None:
    stimulus = np.repeat(np.arange(12), 40)
    off = (stimulus == 0).astype(float)
    member = np.column_stack([stimulus < 3, stimulus >= 3]).astype(float)
    found = worst_slice([[Errors(off, member, stimulus, stimulus)]], np.random.default_rng(0))
    assert found is not None
    assert found.p > 0.1


def test_nothing_is_said_of_a_judge_that_never_errs() -> None:
    quiet = errors(0)
    flat = Errors(np.zeros(len(quiet.off)), quiet.member, quiet.stimulus, quiet.item)
    assert worst_slice([[flat]], np.random.default_rng(0)) is None


def test_a_judge_that_fails_alike_everywhere_is_seldom_accused() -> None:
    rng = np.random.default_rng(0)
    found = [worst_slice([[errors(seed)], [errors(1000 + seed)]], rng) for seed in range(120)]
    shares = [one.p < 0.05 for one in found if one is not None]
    assert np.mean(shares) <= 0.1


def test_axes_must_have_the_same_slices() -> None:
    one = errors(0)
    fewer = Errors(one.off, one.member[:, :2], one.stimulus, one.item)
    with pytest.raises(ValueError, match="slices"):
        worst_slice([[one, fewer]], np.random.default_rng(0))

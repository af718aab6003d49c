"""Draws of stimuli: a figure in a draw is the figure of the stimuli that were drawn."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
import scipy

from judgesheet.axes import all_axes, get_axis
from judgesheet.axis import Readings
from judgesheet.decide.paired import Drawn, pairings
from judgesheet.stats.draws import Draws, drawing
from tests.simulate import parsed
from tests.toy import greeting_order

LINEAR = {"mean_delta_pos", "max_delta_pos", "delta_pos", "position_shift", "position_mean"}
"""Least squares whose stimuli are drawn to first order."""


@cache
def readings(axis: str, spec: str = "noisy?seed=3&unreadable=0.03") -> Readings:
    plan, rows = parsed(spec, "quick", axis)
    return Readings(rows, plan.labels, 0.0, 0)


@pytest.mark.parametrize("axis", all_axes())
def test_a_draw_without_a_stimulus_is_the_run_without_it(axis: str) -> None:
    run = readings(axis)
    names = sorted(run.clusters)
    codes = {name: place for place, name in enumerate(names)}
    left_out = [names[place] for place in (0, len(names) // 2, -1)]
    weights = np.ones((4, len(names)))
    for row, name in enumerate(left_out, start=1):
        weights[row, codes[name]] = 0
    coded = run.frame.assign(cluster=run.frame["cluster"].map(codes).astype(np.int64))
    draws = Draws(weights)
    with drawing(draws):
        list(get_axis(axis).measure(replace(run, frame=coded)))
    frames = [run.frame, *(run.frame[run.frame["cluster"] != name] for name in left_out)]
    exact = [
        {one.key: one.value for one in get_axis(axis).measure(
            replace(run, frame=frame.reset_index(drop=True)))}
        for frame in frames
    ]  # fmt: skip
    found = 0
    for key, drawn in draws.values.items():
        for value, other in zip(drawn, (one.get(key) for one in exact), strict=True):
            is_linear = key.partition(".")[2].partition("[")[0] in LINEAR
            if other is not None:
                assert value == pytest.approx(other, abs=0.05 if is_linear else 1e-7), key
                found += 1
    assert found > 2 * len(draws.values) > 0  # most of four draws each


def test_an_axis_of_another_package_that_knows_names_alone_is_drawn_too() -> None:
    names = [f"g{number}" for number in range(8)]
    frame = pd.DataFrame(
        {"cluster": np.repeat(names, 4), "order": [["a", "b"], ["b", "a"]] * 16,
         "value": ["a", "b", "a", "a"] * 8}
    )  # fmt: skip
    draws = Draws(1.0 - np.eye(8), {name: place for place, name in enumerate(names)})
    with drawing(draws):
        greeting_order.first_share(frame, 0.95)
    assert draws.values["greeting_order.first_share"] == pytest.approx([0.75] * 8)


def test_the_difference_of_two_means_is_that_of_pairs() -> None:
    """The paired t interval, longer where pairs are skewed."""
    rng = np.random.default_rng(3)
    hard = rng.normal(size=24)
    both = np.stack([hard + rng.normal(0, 0.1, 24), hard + rng.normal(0.2, 0.1, 24)])
    weights = rng.multinomial(24, np.full(24, 1 / 24), 4000) / 24
    without = (both.sum(axis=1, keepdims=True) - both) / 23
    old, new = both @ weights.T
    found = Drawn(old, new, without, 24)
    low, high = scipy.stats.ttest_rel(both[1], both[0]).confidence_interval(0.95)
    interval = found.around(float(np.ptp(both.mean(axis=1))), lambda figure: figure)
    assert interval is not None
    assert min(abs(interval.low - low), abs(interval.high - high)) < 0.03 * (high - low)
    assert 0.95 * (high - low) < interval.high - interval.low < 1.3 * (high - low)
    assert (found.correlation or 0) > 0.9


def test_few_stimuli_that_differ_may_be_more_elsewhere() -> None:
    """Of 20 stimuli one differs by 1: as many as .249 may (Clopper and Pearson), so ends .249."""
    change = np.zeros(20)
    change[0] = 1.0
    weights = np.random.default_rng(0).multinomial(20, np.full(20, 0.05), 1000) / 20
    without = np.stack([np.zeros(20), (change.sum() - change) / 19])
    found = Drawn(np.zeros(1000), weights @ change, without, 20)
    interval = found.around(0.05, lambda figure: figure)
    assert interval is not None
    assert interval.high == pytest.approx(0.2487, abs=1e-4)


def test_stimuli_that_few_runs_share_pair_nothing() -> None:
    run = readings("presentation")
    few = run.frame["stimulus"].isin(run.frame["stimulus"].unique()[:4])
    part = replace(run, frame=run.frame[few].reset_index(drop=True))
    keys = {"presentation.preference[kind=length]"}
    assert not pairings({"presentation": run}, {"presentation": part}, keys)
    assert pairings(
        {"presentation": run}, {"presentation": readings("presentation", "noisy")}, keys
    )

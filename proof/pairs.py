"""A simulated judge of pairs, with truths by enumeration.

A task has a slot preference and a tie threshold of three kinds each, a pair a reaction to surface
of three kinds, all equally likely; verdicts are drawn as in `axes.candidate_order.read`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from judgesheet.axes.candidate_order import CandidateOrder
from judgesheet.axes.candidate_order.ask import BASELINE, LISTING, STRICT
from judgesheet.axes.candidate_order.pairs import MISSING, SETS, Pairs
from judgesheet.stats.pairwise import FIRST, INVALID, SECOND, TIE

Floats = NDArray[np.float64]
Rng = np.random.Generator

KINDS = (-1.0, 0.0, 1.0)
"""Tasks and pairs are of three kinds each, equally likely: truths are sums over them."""
STEPS = {0.5: 4, 1: 5, 2: 4, 3: 3, 5: 1}
"""Pairs of a task at each step of the ladder."""
STRICT_STEPS = (1, 5)
OWN = 3
"""Own pairs beside each task, every one a stimulus of its own."""
VACUUM = ("empty", "whitespace", "identical")


@dataclass(frozen=True)
class Judge:
    """Logits of a judge; those named `..._spread` are multiplied by -1, 0 or 1 by task.

    `lapse` is the share of preferences in a vacuum, 0 to 2 times as large by task; in a share
    `slips` of calls any verdict is given, in a share `invalid` one that is not allowed; on a share
    `always` of tasks slot 1 is chosen.
    """

    slot: float = 0.0
    slot_spread: float = 0.0
    tie: float = 1.0
    tie_spread: float = 0.0
    surface: float = 0.0
    sensitivity: float = 2.0
    strict: float = 1.5
    padding: float = 0.0
    lapse: float = 0.1
    slips: float = 0.0
    invalid: float = 0.0
    always: float = 0.0

    @cached_property
    def kinds(self) -> Floats:
        """Slot logit, tie threshold and factor of lapses -> (10 kinds of task, 3)."""
        kinds = [
            (self.slot + a * self.slot_spread, max(0.0, self.tie + b * self.tie_spread), 1 + b)
            for a, b in product(KINDS, KINDS)
        ]
        return np.array([*kinds, (1e6, 0.0, 1.0)])

    @cached_property
    def shares(self) -> Floats:
        """How likely each kind of task is."""
        return np.array([*[(1 - self.always) / 9] * 9, self.always])

    def chances(self, slot: Floats, tie: Floats, content: Floats) -> Floats:
        """P(1), P(2), P(tie), P(invalid) -> (..., orders, 4) of logits that broadcast."""
        leaning = slot[..., None] + content[..., None] * np.array([1.0, -1.0])
        one = special.expit(leaning - tie[..., None])
        two = special.expit(-leaning - tie[..., None])
        return self._spoilt(np.stack([one, two, np.maximum(0.0, 1 - one - two)], axis=-1))

    def _spoilt(self, chances: Floats) -> Floats:
        slipped = (1 - self.slips) * chances + self.slips / 3
        valid = (1 - self.invalid) * slipped
        return np.concatenate([valid, np.full_like(valid[..., :1], self.invalid)], axis=-1)

    def truths(self) -> dict[str, float]:
        """Every rate on pairs of equal quality, by summing over the kinds; alike in all sets.

        None of a judge with invalid answers.
        """
        rates = {} if self.invalid else self._rates()
        return {
            f"{CandidateOrder.NAME}.{name}[set={one}]": value
            for name, value in rates.items()
            for one in SETS
        }

    def _rates(self) -> dict[str, float]:
        slot, tie, _ = self.kinds.T[..., None]
        equal = self.chances(slot, tie, self.surface * np.array([KINDS]))
        weights = self.shares[:, None] / len(KINDS)

        def mean(values: Floats) -> float:
            return float((weights * values).sum())

        u, v = equal[:, :, 0], equal[:, :, 1]
        decided = mean(1 - (u[..., 2] + v[..., 2]) / 2)
        positional = mean(u[..., 0] * v[..., 0] + u[..., 1] * v[..., 1])
        stable = mean(u[..., 0] * v[..., 1] + u[..., 1] * v[..., 0])
        none = mean(u[..., 2] * v[..., 2])
        first = mean((u[..., 0] + v[..., 0]) / 2)
        return {
            "raw_false_preference": decided,
            "stable_cross_sensitivity": stable,
            "positional_false_preference": positional,
            "one_sided_commit": 1 - stable - positional - none,
            "order_inconsistent": 1 - stable - none,
            "no_preference": none,
            "slot1_share": first / decided if decided else 0.5,
            # Of u and v in either order: what repeats of one order agree in more than two orders.
            "excess_change_rate": mean(((u - v[..., [1, 0, 2, 3]]) ** 2).sum(axis=-1) / 2),
        }

    def pairs(self, tasks: int, rng: Rng, conditions: frozenset[str]) -> Pairs:
        """As the axis arranges the verdicts on so many tasks."""
        cells = layout(tasks, conditions)
        stimuli = int(cells["cluster"].max()) + 1
        kind = self.kinds[rng.choice(10, p=self.shares, size=stimuli)][cells["cluster"]]
        surface = self.surface * rng.choice(KINDS, size=int(cells["code"].max()) + 1)
        delta = cells["delta"].to_numpy()
        content = np.where(np.isnan(delta), surface[cells["code"]], self.sensitivity * delta)
        content = np.where(cells["condition"] == "filler", -self.padding, content)
        tie = kind[:, 1] + self.strict * (cells["prompt"] == STRICT).to_numpy()
        chances = self.chances(kind[:, 0], tie, content)
        vacuum = (cells["condition"] == "vacuum").to_numpy()
        lapse = np.clip(self.lapse * kind[vacuum, 2:], 0, 1) * special.expit(
            kind[vacuum, :1] * [[1, -1]]
        )
        empty = self._spoilt(np.column_stack([lapse, 1 - lapse.sum(axis=1)]))
        chances[vacuum] = empty[:, None]
        steps = np.cumsum(chances, axis=-1)[..., None, :3]
        drawn = (rng.random((len(cells), 2, 2, 1)) > steps).sum(axis=-1)
        verdicts = np.array([FIRST, SECOND, TIE, INVALID])[drawn]
        verdicts[~cells["twice"].to_numpy(), :, 1] = MISSING
        asked = np.ones(verdicts.shape[:2], dtype=bool)
        return Pairs(cells, verdicts, asked)


@cache
def layout(tasks: int, conditions: frozenset[str]) -> pd.DataFrame:
    """One row a pair under a prompt and a listing; `code` says which surface it has."""
    names = ("condition", "kind", "delta", "better", "prompt", "listing", "pair", "twice")
    once = pd.DataFrame([one for one in _task() if one[0] in conditions], columns=list(names))
    table = pd.concat([once.assign(cluster=task) for task in range(tasks)], ignore_index=True)
    if "natural" in conditions:
        own = dict(zip(names, _row("natural", "own", better="u", twice=True), strict=True))
        rows = [{**own, "cluster": tasks + number} for number in range(OWN * tasks)]
        table = pd.concat([table, pd.DataFrame(rows)], ignore_index=True)
    code = pd.factorize(pd.MultiIndex.from_frame(table[["cluster", "condition", "pair"]]))[0]
    table["delta"] = pd.to_numeric(table["delta"])
    return table.assign(stimulus=table["cluster"].map("task {}".format), code=code)


Cell = tuple[str, str | None, float | None, str | None, str, str, str, bool]


def _row(
    condition: str,
    pair: str,
    kind: str | None = None,
    delta: float | None = None,
    better: str | None = None,
    prompt: str = BASELINE,
    twice: bool = False,
) -> Cell:
    return condition, kind, delta, better, prompt, LISTING, pair, twice


def _task() -> Iterator[Cell]:
    """The pairs of one task, about as in the standard profile."""
    for prompt in (BASELINE, STRICT):
        for kind in VACUUM:
            yield _row("vacuum", kind, kind, prompt=prompt)
        for pair in map(str, range(6)):
            yield _row("delta0_same", pair, prompt=prompt, twice=prompt == BASELINE)
        for step, pairs in STEPS.items():
            if prompt == BASELINE or step in STRICT_STEPS:
                for rung in (f"{step:g}.{number}" for number in range(pairs)):
                    yield _row("ladder", rung, delta=step, better="u", prompt=prompt)
    for pair in "01":
        yield _row("delta0_different", pair, twice=True)
        yield _row("filler", pair)

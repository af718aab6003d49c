"""The readings of listwise_consensus as arrays; every estimate of this axis starts from these."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesheet.axes.listwise_consensus._design import (
    DIRECT,
    PERMUTED,
    REPEATED,
    Order,
    depths,
    sequences,
)
from judgesheet.axis import Readings
from judgesheet.axis.estimate import maker
from judgesheet.records import Estimate, PaperCompatible
from judgesheet.stats.consensus import PROPOSED, Consensus, Weights, consensus, expected_hit
from judgesheet.stats.interval import Interval

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Ints = NDArray[np.int64]

estimate = maker("listwise_consensus")
NO_GOLD = "no prompt has a known right answer"
NOTHING = "no reply could be read"


@dataclass(frozen=True, slots=True)
class Arm:
    """A way to decide: which runs enter. `name`, `k` and `executions` are dimensions of keys."""

    name: str
    k: int
    executions: int = 1

    @property
    def dims(self) -> dict[str, object]:
        """As keys write it."""
        more = {"executions": self.executions} if self.executions > 1 else {}
        return {"arm": self.name, "k": self.k, **more}

    @property
    def calls(self) -> int:
        """Calls that one decision takes."""
        return self.k * self.executions

    @property
    def words(self) -> str:
        """As labels say it."""
        if self.name == DIRECT:
            return "one call"
        what = "repeats of one order" if self.name == REPEATED else "orders"
        return f"{self.k} {what}" + (f", {self.executions} times" if self.executions > 1 else "")


DIRECTLY = Arm(DIRECT, 1)


@dataclass(frozen=True)
class Table:
    """The prompts with n candidates each, candidates in canonical sequence.

    `scores` and `uncertain` have shape (P, orders, reads, n), the first order is the canonical one,
    NaN where a run is missing; `single` (P, n) is the direct reading, `repeats` (P, R, n) those of
    the canonical order, direct one first; marks of these stand in the arrays with `_marks`.
    `place` (P, orders, n) is where each order shows each candidate, from 0; -1 where the prompt
    lacks the order. `gold` (P, n) says who is right, all false where that is not known.
    `executions` is how often every order was read.
    """

    n: int
    scores: "Floats"
    uncertain: "Flags"
    repeats: "Floats"
    repeats_marks: "Flags"
    single: "Floats"
    single_marks: "Flags"
    place: "Ints"
    gold: "Flags"
    executions: int

    @property
    def known(self) -> "Flags":
        """Which prompts have a gold."""
        known: Flags = np.any(self.gold, axis=1)
        return known

    def runs(self, arm: Arm) -> tuple["Floats", "Flags"]:
        """Scores and marks (P, K, n) of the runs that an arm decides from."""
        if arm.name == DIRECT:
            return self.single[:, None], self.single_marks[:, None]
        if arm.name == REPEATED:
            return self.repeats[:, : arm.k], self.repeats_marks[:, : arm.k]
        scores = self.scores[:, : arm.k, : arm.executions]
        marks = self.uncertain[:, : arm.k, : arm.executions]
        return scores.reshape(len(scores), -1, self.n), marks.reshape(len(marks), -1, self.n)

    def asked(self, arm: Arm) -> "Flags":
        """Prompts with as many orders or repeats as the arm needs; all have a direct reading."""
        if arm.name == PERMUTED:
            enough: Flags = (self.place[:, :, 0] >= 0).sum(axis=1) >= arm.k
            return enough
        return np.full(len(self.scores), arm.name == DIRECT or self.repeats.shape[1] >= arm.k)

    def decide(self, arm: Arm, weights: Weights = PROPOSED) -> Consensus:
        """The decision of an arm on every prompt; nobody wins where the arm was not asked."""
        scores, marks = self.runs(arm)
        here = self.asked(arm)[:, None, None]
        return consensus(np.where(here, scores, np.nan), marks, weights)

    def picks(self, arm: Arm) -> "Floats":
        """Uniform over the winners, (P, n); NaN where nobody wins."""
        return shares(self.decide(arm).winners)

    @cached_property
    def calls(self) -> "Floats":
        """What every single call chooses, (P, orders, reads, n): the decision of one run."""
        runs = consensus(self.scores[..., None, :], self.uncertain[..., None, :])
        return shares(runs.winners)

    @cached_property
    def call_hits(self) -> "Floats":
        """How right each order's first call is, (P, orders); NaN where unknown."""
        first = self.calls[:, :, 0]
        hits: Floats = np.where(self.known[:, None], (first * self.gold[:, None]).sum(-1), np.nan)
        return hits

    @property
    def balanced(self) -> bool:
        """Whether every prompt's orders show each candidate equally often at each place."""
        places = np.moveaxis(self.place, 1, -1)  # (P, n, orders)
        counts = np.stack([(places == p).sum(axis=-1) for p in range(self.n)], axis=-1)
        return bool((counts == counts[:, :1, :1]).all())


def shares(winners: "Flags") -> "Floats":
    """1 / number of winners for each of them, 0 for the others; NaN where nobody wins."""
    size = winners.sum(axis=-1, keepdims=True)
    picks: Floats = np.divide(winners, size, out=np.full(winners.shape, np.nan), where=size > 0)
    return picks


@dataclass(frozen=True)
class Lists:
    """Everything that was read: one table per number of candidates, the commonest first."""

    tables: tuple[Table, ...]
    seed: int

    @property
    def main(self) -> Table:
        """The prompts with the commonest number of candidates: place is compared within them."""
        return self.tables[0]

    def rng(self) -> np.random.Generator:
        """A fresh generator from the run's seed, the same for every estimate that asks."""
        return np.random.default_rng([self.seed, 4])

    @cached_property
    def arms(self) -> tuple[Arm, ...]:
        """The arms that some prompts were asked in, direct first."""
        found: dict[Arm, None] = {DIRECTLY: None}
        for table in self.tables:
            orders, whole = table.scores.shape[1], table.executions
            for k in depths(table.n, table.repeats.shape[1]):
                found[Arm(REPEATED, k)] = None
            for k in depths(table.n, orders):
                found[Arm(PERMUTED, k)] = None
                if whole > 1:
                    found[Arm(PERMUTED, k, whole)] = None
        rank = {DIRECT: 0, REPEATED: 1, PERMUTED: 2}
        return tuple(sorted(found, key=lambda arm: (rank[arm.name], arm.executions, arm.k)))

    @property
    def deepest(self) -> Arm | None:
        """The permuted arm of most orders in the main table, read once: the full set."""
        orders = self.main.scores.shape[1]
        return Arm(PERMUTED, orders) if orders > 1 else None

    def joined(self, part: "Callable[[Table], Floats]") -> "Floats":
        """One value per prompt, over all tables."""
        return np.concatenate([part(table) for table in self.tables])

    def hits(self, arm: Arm, weights: Weights = PROPOSED) -> "Floats":
        """How right an arm's decision is, per prompt; NaN without a gold or a decision."""

        def of(table: Table) -> "Floats":
            hit = expected_hit(table.decide(arm, weights).winners, table.gold)
            return np.where(table.known, hit, np.nan)

        return self.joined(of)

    @property
    def chance(self) -> float:
        """How often a blind pick is right, mean over the prompts with a gold."""
        share = self.joined(lambda t: np.where(t.known, t.gold.mean(axis=1), np.nan))
        return float(np.nanmean(share))

    @property
    def has_gold(self) -> bool:
        """Whether any prompt has a known right answer."""
        return any(table.known.any() for table in self.tables)

    @property
    def readable(self) -> bool:
        """Whether any run could be read."""
        return any(
            not np.isnan(part).all()
            for t in self.tables
            for part in (t.scores, t.repeats, t.single)
        )


# -- from the table of replies ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Prompt:
    """One prompt's readings: per arm (order, repeat) -> verdict or None."""

    ids: tuple[str, ...]
    gold: frozenset[str]
    direct: Any
    repeated: "list[Any]"
    permuted: "dict[Order, list[Any]]"


def arrange(readings: Readings) -> Lists | None:
    """The arrays of a run, or None if nothing was planned."""
    frame = readings.frame
    if frame.empty:
        return None
    prompts = [_prompt(rows) for _, rows in frame.groupby(["stimulus", "item"], sort=False)]
    by_size: dict[int, list[_Prompt]] = {}
    for prompt in prompts:
        by_size.setdefault(len(prompt.ids), []).append(prompt)
    sizes = sorted(by_size, key=lambda n: (-len(by_size[n]), n))
    return Lists(tuple(_table(n, by_size[n]) for n in sizes), readings.seed)


def _prompt(rows: "pd.DataFrame") -> _Prompt:
    """Sort a prompt's calls into arms; the canonical reading of an arm that has none is shared."""
    ids = _canonical(rows)
    places = {name: place + 1 for place, name in enumerate(ids)}
    canonical = tuple(range(1, len(ids) + 1))
    direct: list[Any] = []
    repeated: dict[int, Any] = {}
    permuted: dict[Order, dict[int, Any]] = {}
    for arm, shown, repeat, value in zip(
        rows["arm"], rows["order"], rows["repeat"], rows["value"], strict=True
    ):
        if set(shown) != set(ids):
            continue
        if arm == PERMUTED:
            permuted.setdefault(tuple(places[one] for one in shown), {})[int(repeat)] = value
        elif arm == REPEATED:
            repeated[int(repeat)] = value
        else:
            direct.append(value)
    if direct and 0 not in repeated:
        repeated[0] = direct[0]
    if repeated and canonical not in permuted:
        permuted[canonical] = dict(repeated)
    first = [*direct, *_listed(repeated), *_listed(permuted[canonical])]
    rank = {order: place for place, order in enumerate(_known_orders(len(ids)))}
    in_sequence = sorted(permuted, key=lambda order: rank.get(order, len(rank)))
    return _Prompt(
        ids=ids,
        gold=_gold(rows),
        direct=first[0],
        repeated=_listed(repeated),
        permuted={order: _listed(permuted[order]) for order in in_sequence},
    )


def _gold(rows: "pd.DataFrame") -> frozenset[str]:
    several = rows["golds"].iloc[0] if "golds" in rows else None
    one = rows["gold"].iloc[0] if "gold" in rows else None
    return frozenset(several if isinstance(several, list) else [one] if one is not None else [])


def _listed(by_repeat: Mapping[int, Any]) -> list[Any]:
    return [by_repeat[repeat] for repeat in sorted(by_repeat)]


def _canonical(rows: "pd.DataFrame") -> tuple[str, ...]:
    """The order of the direct reading, else of the repeated ones, else the first that was shown."""
    for arm in (DIRECT, REPEATED, PERMUTED):
        mine = rows.loc[rows["arm"] == arm, "order"]
        if len(mine):
            return tuple(mine.iloc[0])
    raise ValueError("a prompt without a call")


def _known_orders(n: int) -> tuple[Order, ...]:
    """The orders that the designs show, in their sequence; others follow as they come."""
    return tuple(dict.fromkeys((*sequences(n), *sequences(n, "williams"))))


def _table(n: int, prompts: list[_Prompt]) -> Table:
    most_orders = max(len(prompt.permuted) for prompt in prompts)
    # The canonical order may have many repeats; the others' number of reads is what matters here.
    reads = max(
        (len(r) for p in prompts for o, r in p.permuted.items() if o != tuple(range(1, n + 1))),
        default=1,
    )
    scores = np.full((len(prompts), most_orders, reads, n), np.nan)
    uncertain = np.zeros(scores.shape, dtype=bool)
    place = np.full((len(prompts), most_orders, n), -1, dtype=np.int64)
    repeats = np.full((len(prompts), max(len(p.repeated) for p in prompts), n), np.nan)
    repeats_marks = np.zeros(repeats.shape, dtype=bool)
    single = np.full((len(prompts), n), np.nan)
    single_marks = np.zeros(single.shape, dtype=bool)
    gold = np.zeros(single.shape, dtype=bool)
    for row, prompt in enumerate(prompts):
        gold[row] = [name in prompt.gold for name in prompt.ids]
        _fill(single[row], single_marks[row], prompt.direct, prompt.ids)
        for at, verdict in enumerate(prompt.repeated):
            _fill(repeats[row, at], repeats_marks[row, at], verdict, prompt.ids)
        for at, (order, verdicts) in enumerate(prompt.permuted.items()):
            place[row, at] = np.argsort(order)
            for read, verdict in enumerate(verdicts[:reads]):
                _fill(scores[row, at, read], uncertain[row, at, read], verdict, prompt.ids)
    executions = min(len(reads) for prompt in prompts for reads in prompt.permuted.values())
    return Table(
        n, scores, uncertain, repeats, repeats_marks, single, single_marks, place, gold, executions
    )


def _fill(scores: "Floats", marks: "Flags", verdict: Any, ids: tuple[str, ...]) -> None:
    if isinstance(verdict, dict):
        scores[:] = [verdict[name]["score"] for name in ids]
        marks[:] = [verdict[name]["uncertain"] for name in ids]


# -- writing estimates down ------------------------------------------------------------------------


def from_interval(
    name: str,
    label: str,
    found: Interval,
    n: int,
    missing: str,
    dims: dict[str, object] | None = None,
    *,
    unit: str = "share",
    conditions: str = "",
    note: str = "",
    paper: PaperCompatible | None = None,
) -> Estimate:
    """An interval as an estimate; `missing` says why there is none."""
    if found.value is None:
        why = missing or found.note
        return estimate(name, label, None, dims, unit=unit, conditions=conditions, note=why)
    return estimate(
        name,
        label,
        found.value,
        dims,
        low=found.low,
        high=found.high,
        unit=unit,
        n=n,
        clusters=found.clusters,
        method=found.method,
        conditions=conditions,
        note="; ".join(part for part in (note, found.note) if part),
        paper_compatible=paper,
    )


def compared(lists: Lists) -> Iterator[Arm]:
    """Every arm but the direct one."""
    return (arm for arm in lists.arms if arm != DIRECTLY)

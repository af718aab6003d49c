"""The readings of listwise_consensus as arrays, the input of all its estimates."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Flags, Floats, Ints
from judgesheet.axis.failing import misses
from judgesheet.axis.figure import Figures, UnkeyedEstimate
from judgesheet.axis.items import cluster_codes
from judgesheet.axis.scored import Winners
from judgesheet.axis.streams import stream
from judgesheet.base.digits import counted
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats.consensus import (
    PROPOSED,
    Consensus,
    Weights,
    consensus,
    expected_hit,
    run_points,
    uniform_picks,
)
from judgesheet.stats.interval import by_cluster, cluster_rate
from judgesheet.stats.orders import Order

from .ask import depths, sequences
from .read import ARMS, DIRECT, PERMUTED, REPEATED, chosen, golds_shown

if TYPE_CHECKING:
    import pandas as pd

SEVERAL = "several orders of the same candidates (arm permuted)"
"""What recorded judgments must hold for most figures."""
figure = Figures("listwise_consensus", missing=SEVERAL)
NOTHING_READ = Reason("nothing_read", "no reply could be read")
ONE_ORDER = Reason("one_order", "no list was read under two orders")


@dataclass(frozen=True, slots=True)
class ListOrders:
    """Conditions of a figure by place: the length of the lists, and the orders they were shown in.

    Orders that are not `balanced` mix a preference for a place with one for an answer. `left_out`
    counts the lists of another length, whose places cannot be compared with these.
    """

    candidates: int
    orders: int
    balanced: bool
    left_out: int

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        balance = "balanced" if self.balanced else "UNBALANCED as recorded"
        orders = counted(self.orders, f"{balance} order")
        rest = f"; {counted(self.left_out, 'list')} of other lengths left out"
        return f"lists of {self.candidates}, {orders}{rest if self.left_out else ''}"


@dataclass(frozen=True, slots=True)
class Arm:
    """The runs behind a decision; `name`, `k` and `executions` are dimensions of keys."""

    name: str
    k: int
    executions: int = 1

    @property
    def dims(self) -> dict[str, object]:
        """The dimensions of its keys."""
        more = {"executions": self.executions} if self.executions > 1 else {}
        return {"arm": self.name, "k": self.k, **more}

    @property
    def calls(self) -> int:
        """Calls that one decision takes."""
        return self.k * self.executions

    @property
    def words(self) -> str:
        """Its name in labels."""
        if self.name == DIRECT:
            return "one call"
        what = "repeats of one order" if self.name == REPEATED else "orders"
        return f"{self.k} {what}" + (f", {self.executions} times" if self.executions > 1 else "")


DIRECTLY = Arm(DIRECT, 1)


@dataclass(frozen=True, slots=True)
class Runs:
    """The scores of single calls for n candidates, in canonical sequence along the last axis.

    `scores` (..., n) are 0 to 100, NaN where a call is missing or unreadable; `marks` (..., n) are
    true where the call marked calibrated uncertainty.
    """

    scores: Floats
    marks: Flags

    @classmethod
    def unread(cls, *shape: int) -> Self:
        """Runs without any verdict yet."""
        return cls(np.full(shape, np.nan), np.zeros(shape, dtype=bool))

    def __getitem__(self, index: Any) -> "Runs":
        """Some of the runs, as numpy indexes arrays."""
        return Runs(self.scores[index], self.marks[index])

    def record(self, index: Any, verdict: Any, ids: tuple[str, ...]) -> None:
        """Store a verdict, candidates in the sequence of `ids`; None changes nothing."""
        if verdict is not None:
            self.scores[index] = [verdict[name]["score"] for name in ids]
            self.marks[index] = [verdict[name]["uncertain"] for name in ids]


@dataclass(frozen=True)
class Table:
    """The prompts (P) with n candidates each.

    `permuted` (P, orders, reads, n) are the runs by order, the canonical one first; `repeated` (P,
    R, n) those of the canonical order, the direct one first; `direct` (P, n) that one alone.
    `place` (P, orders, n) is where each order shows each candidate, from 0; -1 where the prompt
    lacks the order. `gold` (P, n) marks the right candidates, all false where they are not known.
    `cluster` (P,) gives that of each prompt, as codes from 0 that rise over all tables.
    `executions` is how often every order was read.
    """

    permuted: Runs
    repeated: Runs
    direct: Runs
    place: Ints
    gold: Flags
    cluster: Ints
    executions: int

    @property
    def n(self) -> int:
        """Candidates in a list."""
        return len(self.gold[0])

    @property
    def orders(self) -> int:
        """Most orders in which a prompt was shown."""
        return len(self.place[0])

    @property
    def known(self) -> Flags:
        """Which prompts have a gold."""
        known: Flags = np.any(self.gold, axis=1)
        return known

    @property
    def read(self) -> Flags:
        """Of which prompts a run could be read."""
        runs = (self.permuted, self.repeated, self.direct)
        axes = [tuple(range(1, one.scores.ndim)) for one in runs]
        found = [~np.isnan(one.scores).all(axis=over) for one, over in zip(runs, axes, strict=True)]
        read: Flags = np.any(found, axis=0)
        return read

    @property
    def blind(self) -> Floats:
        """How often a pick that does not read the answers is right, (P,).

        Orders that are not balanced let it take the place where the right answer stands most often.
        """
        even: Floats = self.gold.mean(axis=1)
        if self.balanced or not self.known.any():
            return even
        shown = (self.place >= 0).all(axis=-1) & self.known[:, None]
        right = np.take_along_axis(self.gold[:, None], np.argsort(self.place, axis=-1), axis=-1)
        # The place that a judge without eyes would take.
        best = np.argmax(right[shown].mean(axis=0))
        hits = np.where(shown, right[..., best], 0.0).sum(axis=1)
        placed: Floats = hits / np.maximum(shown.sum(axis=1), 1)
        return placed

    def runs(self, arm: Arm) -> Runs:
        """The runs (P, K, n) that an arm decides from."""
        if arm.name == DIRECT:
            return self.direct[:, None]
        if arm.name == REPEATED:
            return self.repeated[:, : arm.k]
        some = self.permuted[:, : arm.k, : arm.executions]
        flat = len(some.scores), -1, self.n
        return Runs(some.scores.reshape(flat), some.marks.reshape(flat))

    def asked(self, arm: Arm) -> Flags:
        """Prompts with as many orders or repeats as the arm needs; all have a direct reading."""
        if arm.name == PERMUTED:
            enough: Flags = (self.place[:, :, 0] >= 0).sum(axis=1) >= arm.k
            return enough
        repeats = self.repeated.scores.shape[1]
        return np.full(len(self.gold), arm.name == DIRECT or repeats >= arm.k)

    def decide(self, arm: Arm, weights: Weights = PROPOSED) -> Consensus:
        """The decision of an arm on every prompt; nobody wins where the arm was not asked."""
        runs, asked = self.runs(arm), self.asked(arm)[:, None, None]
        return consensus(np.where(asked, runs.scores, np.nan), runs.marks, weights)

    def hits(self, arm: Arm, weights: Weights) -> Floats:
        """Probability that an arm's decision is right, (P,); NaN without a gold or a decision."""
        hits = expected_hit(self.decide(arm, weights).winners, self.gold)
        return np.where(self.known, hits, np.nan)

    def picks(self, arm: Arm) -> Floats:
        """Uniform over the winners, (P, n); NaN where nobody wins."""
        return uniform_picks(self.decide(arm).points)

    @cached_property
    def calls(self) -> Floats:
        """The choice of every single call, (P, orders, reads, n): the decision of one run."""
        return uniform_picks(run_points(self.permuted.scores, self.permuted.marks))

    @property
    def first_calls(self) -> Floats:
        """The choice of the first call under each order, (P, orders, n)."""
        return self.calls[:, :, 0]

    @property
    def balanced(self) -> bool:
        """Whether every prompt's orders show each candidate equally often at each place."""
        places = np.moveaxis(self.place, 1, -1)  # (P, n, orders)
        counts = np.stack([(places == p).sum(axis=-1) for p in range(self.n)], axis=-1)
        return bool((counts == counts[:, :1, :1]).all())


@dataclass(frozen=True)
class Lists:
    """Everything that was read: one table per number of candidates, the commonest first."""

    tables: tuple[Table, ...]
    seed: int

    @property
    def main(self) -> Table:
        """The prompts with the most common number of candidates; places are compared in these."""
        return self.tables[0]

    @cached_property
    def shown(self) -> ListOrders:
        """Under which orders the figures by place were measured."""
        main, *others = self.tables
        left_out = sum(len(table.gold) for table in others)
        return ListOrders(main.n, main.orders, main.balanced, left_out)

    def rng(self) -> np.random.Generator:
        """A fresh generator from the run's seed, the same for every estimate that asks."""
        return stream(self.seed, "lists")

    @cached_property
    def arms(self) -> tuple[Arm, ...]:
        """The arms that at least one prompt has: direct, repeated, permuted, in rising k."""
        repeated = {
            Arm(REPEATED, k)
            for table in self.tables
            for k in depths(table.n, table.repeated.scores.shape[1])
        }
        permuted = {
            Arm(PERMUTED, k, executions)
            for table in self.tables
            for k in depths(table.n, table.orders)
            for executions in {1, table.executions}
        }
        size = attrgetter("executions", "k")
        return (DIRECTLY, *sorted(repeated, key=size), *sorted(permuted, key=size))

    @property
    def alternatives(self) -> tuple[Arm, ...]:
        """Every arm but the direct one."""
        return self.arms[1:]

    @property
    def deepest(self) -> Arm | None:
        """The permuted arm with the most orders in the main table, read once: the full set."""
        return Arm(PERMUTED, self.main.orders) if self.main.orders > 1 else None

    def joined(self, part: Callable[[Table], Floats]) -> Floats:
        """One value per prompt, over all tables."""
        return np.concatenate([part(table) for table in self.tables])

    @property
    def cluster(self) -> Ints:
        """That of each prompt, over all tables."""
        return np.concatenate([table.cluster for table in self.tables])

    @cached_property
    def winners(self) -> Winners:
        """Those of all single calls."""
        picks = [table.calls for table in self.tables]
        nothing = ONE_ORDER if self.readable else NOTHING_READ
        return Winners(picks, self.cluster, "answer", "order", nothing)

    def hits(self, arm: Arm, weights: Weights = PROPOSED) -> Floats:
        """As `Table.hits`, per prompt over all tables."""
        return self.joined(lambda table: table.hits(arm, weights))

    @cached_property
    def gains(self) -> Mapping[Arm, "Gains"]:
        """How much more often each other arm is right than one call, where both decide.

        No arm without a gold.
        """
        if not self.has_gold:
            return {}
        direct = self.hits(DIRECTLY)
        return {arm: self.gained(self.hits(arm) - direct) for arm in self.alternatives}

    def gained(self, differences: Floats) -> "Gains":
        """The differences (prompts,) that are known."""
        known = ~np.isnan(differences)
        return Gains(differences[known], self.cluster[known])

    @property
    def chance(self) -> float:
        """How often a pick at random is right, mean over the prompts with a gold."""
        share = self.joined(lambda t: np.where(t.known, t.blind, np.nan))
        return float(np.nanmean(share))

    @property
    def has_gold(self) -> bool:
        """Whether any prompt has a known right answer."""
        return any(table.known.any() for table in self.tables)

    @property
    def readable(self) -> bool:
        """Whether any run could be read."""
        return any(
            not np.isnan(runs.scores).all()
            for table in self.tables
            for runs in (table.permuted, table.repeated, table.direct)
        )


class Gains(NamedTuple):
    """Differences of how often two decisions on a prompt are right, and its cluster, (prompts,)."""

    each: Floats
    cluster: Ints

    @property
    def clusters(self) -> int:
        """Number of independent prompts."""
        return len(np.unique(self.cluster))


def prompt_rate(
    label: str, shares: Floats, clusters: Ints, dims: Mapping[str, object], conditions: str = ""
) -> UnkeyedEstimate:
    """The mean of a share per prompt, (P,), NaN where it is not known, with their clusters (P,)."""
    mean, known = cluster_rate(*by_cluster(shares, clusters)), int((~np.isnan(shares)).sum())
    return UnkeyedEstimate(label, mean, dims, n=known, conditions=conditions).or_absent(
        NOTHING_READ
    )


# -- from the replies of a run: which call belongs to which arm ------------------------------------


@dataclass(frozen=True, slots=True)
class _Prompt:
    """One prompt's verdicts, a list per order (None for an unreadable reply)."""

    ids: tuple[str, ...]
    gold: frozenset[str]
    cluster: str | int
    direct: Any
    repeated: list[Any]
    permuted: dict[Order, list[Any]]


def arrange(readings: Readings) -> Lists | None:
    """The arrays of a run, or None if nothing was planned."""
    import pandas as pd

    if readings.frame.empty:
        return None
    by_size: defaultdict[int, list[_Prompt]] = defaultdict(list)
    for _, rows in readings.frame.groupby(["stimulus", "item"], sort=False):
        prompt = _prompt(rows)
        by_size[len(prompt.ids)].append(prompt)
    sizes = sorted(by_size, key=lambda n: (-len(by_size[n]), n))
    clusters = pd.Series([prompt.cluster for n in sizes for prompt in by_size[n]])
    codes = dict(zip(clusters, cluster_codes(clusters).tolist(), strict=True))
    return Lists(tuple(_table(n, by_size[n], codes) for n in sizes), readings.seed)


def _prompt(rows: "pd.DataFrame") -> _Prompt:
    """Sort a prompt's calls into arms; arms without a canonical reading of their own share one."""
    ids = _canonical(rows)
    places = {name: place + 1 for place, name in enumerate(ids)}
    canonical = tuple(places.values())
    direct: list[Any] = []
    repeated: dict[int, Any] = {}
    permuted: defaultdict[Order, dict[int, Any]] = defaultdict(dict)
    columns = (rows[name] for name in ("arm", "order", "repeat", "value"))
    for arm, shown, repeat, verdict in zip(*columns, strict=True):
        # A recorded call on other candidates has no place in the arrays of this list.
        if set(shown) != set(ids):
            continue
        if arm == PERMUTED:
            permuted[tuple(places[name] for name in shown)][int(repeat)] = verdict
        elif arm == REPEATED:
            repeated[int(repeat)] = verdict
        else:
            direct.append(verdict)
    if direct:
        repeated.setdefault(0, direct[0])
    if repeated and canonical not in permuted:
        permuted[canonical] = dict(repeated)
    first = [*direct, *_by_repeat(repeated), *_by_repeat(permuted[canonical])]
    # The orders that the designs show, in their sequence; others follow as they come.
    known = dict.fromkeys((*sequences(len(ids)), *sequences(len(ids), "williams")))
    rank = {order: place for place, order in enumerate(known)}
    return _Prompt(
        ids=ids,
        gold=golds_shown(rows.iloc[0].to_dict()),
        cluster=rows["cluster"].iloc[0],
        direct=first[0],
        repeated=_by_repeat(repeated),
        permuted={
            order: _by_repeat(permuted[order])
            for order in sorted(permuted, key=lambda order: rank.get(order, len(rank)))
        },
    )


def _by_repeat(verdicts: Mapping[int, Any]) -> list[Any]:
    return [verdicts[repeat] for repeat in sorted(verdicts)]


def _canonical(rows: "pd.DataFrame") -> tuple[str, ...]:
    """The order of the direct reading, else of the repeated ones, else the first that was shown."""
    for arm in ARMS:
        mine = rows.loc[rows["arm"] == arm, "order"]
        if len(mine):
            return tuple(mine.iloc[0])
    raise ValueError("a prompt without a call")


def _table(n: int, prompts: list[_Prompt], codes: Mapping[str | int, int]) -> Table:
    count, canonical = len(prompts), tuple(range(1, n + 1))
    orders = max(len(prompt.permuted) for prompt in prompts)
    # The canonical order may be read many times; how often the others were is what matters here.
    reads = max(
        (len(reads) for p in prompts for order, reads in p.permuted.items() if order != canonical),
        default=1,
    )
    table = Table(
        permuted=Runs.unread(count, orders, reads, n),
        repeated=Runs.unread(count, max(len(prompt.repeated) for prompt in prompts), n),
        direct=Runs.unread(count, n),
        place=np.full((count, orders, n), -1, dtype=np.int64),
        gold=np.array([[name in prompt.gold for name in prompt.ids] for prompt in prompts]),
        cluster=np.array([codes[prompt.cluster] for prompt in prompts], dtype=np.int64),
        executions=min(len(reads) for prompt in prompts for reads in prompt.permuted.values()),
    )
    for row, prompt in enumerate(prompts):
        table.direct.record(row, prompt.direct, prompt.ids)
        for at, verdict in enumerate(prompt.repeated):
            table.repeated.record((row, at), verdict, prompt.ids)
        for at, (order, verdicts) in enumerate(prompt.permuted.items()):
            table.place[row, at] = np.argsort(order)
            for read, verdict in enumerate(verdicts[:reads]):
                table.permuted.record((row, at, read), verdict, prompt.ids)
    return table


def errors(readings: Readings) -> Floats:
    """Whether a wrong answer was chosen."""
    cells = readings.frame.reindex(columns=["gold", "golds"]).to_dict("records")
    return misses(chosen, readings.frame, [*map(golds_shown, cells)])

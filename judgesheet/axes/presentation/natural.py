"""Your own pairs: does length or a name decide, beyond what people say of the same pairs?

The responses of such a pair differ in content, so that a judge may be right to prefer one. What it
prefers is held against people's verdicts, and where they are missing nothing is said.
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from judgesheet.axes.presentation._design import NATURAL
from judgesheet.axes.presentation._verdicts import Pairs, Verdicts, figure
from judgesheet.axis.arrays import Floats
from judgesheet.axis.figure import UnkeyedEstimate, absent
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats.interval import by_cluster, cluster_mean
from judgesheet.stats.logistic import held_even

figure = figure.but(missing="own pairs (cell.kind natural)", reads="natural")
NO_PEOPLE = Reason(
    "not_identified",
    "not identified: without people's verdicts on the same pairs (better) a preference for a "
    "system cannot be told from its quality",
)
NO_LENGTHS = Reason("no_lengths", "not measured: no pair tells its lengths (cell.longer)")
NAMED = 8
"""Systems that have a figure of their own, those with most pairs."""


def _natural(verdicts: Verdicts) -> Pairs:
    """Own pairs that were read in both orders."""
    mine = verdicts.pairs.where(kind=NATURAL)
    return mine.take(~np.isnan(mine.mean))


def _people(pairs: Pairs) -> Floats:
    """What people say: 1 for a, -1 for b, 0 for a tie, NaN where nobody said."""
    sides = {"a": 1.0, "b": -1.0, "tie": 0.0}
    return np.array([sides.get(better, np.nan) for better in pairs.cells["better"]])


@figure("share", symbol="L_nat", null=0.5, better="nearer", headline=20)
def longer_preferred(verdicts: Verdicts) -> Iterator[UnkeyedEstimate]:
    """Share of your own pairs won by a response twice as long as the other, all else equal.

    Logistic regression of the judge's wins (a tie counts half, both orders averaged) on the
    difference of the logarithms of the words and, where people gave a verdict on every pair, on
    that: half is a judge that does not follow length beyond what people say. Without people's
    verdicts longer responses may win because they are better, and the conditions say so.
    Cluster-robust over stimuli. Where no response is twice as long as the other, the value is
    extrapolated and the conditions say from what.
    """
    pairs = _natural(verdicts)
    if len(pairs):
        yield _held(pairs)


def _held(pairs: Pairs) -> UnkeyedEstimate:
    label = "Wins of a response twice as long"
    pairs = pairs.take(pairs.cells["longer"].notna().to_numpy())
    if not len(pairs):
        return absent(label, NO_LENGTHS)
    people, lengths = _people(pairs), pairs.cells["longer"].to_numpy(dtype=np.float64)
    known = not np.isnan(people).any() and people.any()
    facts = np.stack([lengths, people] if known else [lengths], axis=1)
    found, *_ = held_even((1 + pairs.mean) / 2, facts, pairs.cluster)
    conditions = "length and people's verdicts" if known else "length alone, quality not known"
    if (most := float(np.abs(lengths).max())) < 1:  # binary logarithms
        conditions += f"; extrapolated from pairs of at most {2**most:.2g} times the words"
    return UnkeyedEstimate(label, found, n=pairs.calls, conditions=conditions)


@figure(
    "difference",
    symbol=lambda dims: f"O_{dims.get('system') or dims.get('family', '')}",
    null=0.0,
    better="nearer",
    missing="own pairs with systems or families and people's verdicts (cell.systems, cell.better)",
)
def own_preference(verdicts: Verdicts) -> Iterator[UnkeyedEstimate]:
    """How many more comparisons a named system, or family of systems, wins than people give it.

    Share of wins (a tie counts half, both orders averaged) that the judge gives to the responses of
    a system, or of all systems of a family, against those of others, minus the share that people
    give them, on the same pairs. Read it at the judge's own family: above 0 it favours its own.
    What people and the judge would agree on is out; not identified without people's verdicts.
    Cluster t interval over stimuli.
    """
    pairs = _natural(verdicts)
    excess = (pairs.mean - _people(pairs)) / 2
    for who, named in (("system", "systems"), ("family", "families")):
        writers = [tuple(two) if isinstance(two, list) else None for two in pairs.cells[named]]
        # Of two responses by one writer neither is preferred for its name.
        counted = Counter(name for two in writers if two and two[0] != two[1] for name in two)
        for name, _ in sorted(counted.most_common(NAMED)):
            sides = np.array([_side_of(name, two) for two in writers])
            yield _beyond_people(pairs, np.where(sides == 0, np.nan, sides * excess), {who: name})


def _side_of(name: str, writers: tuple[str, str] | None) -> float:
    """1 if a is by that writer alone, -1 if b is, 0 if both or neither."""
    return 0.0 if writers is None else float(writers[0] == name) - (writers[1] == name)


def _beyond_people(pairs: Pairs, excess: Floats, of: dict[str, object]) -> UnkeyedEstimate:
    (name,) = of.values()
    share = cluster_mean(*by_cluster(excess, pairs.cluster), within=(-1.0, 1.0))
    label = f"Wins of {name} beyond those that people give it"
    estimate = UnkeyedEstimate(label, share, of, n=int((~np.isnan(excess)).sum()))
    return estimate.or_absent(NO_PEOPLE)

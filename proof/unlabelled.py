"""What is said without labels: do bounds hold, of judges with slots and noise of several kinds?

One judge makes the sheet and judges the user's own data. In truth are its own verdicts without the
slot (pairs), or without the noise of a reading (systems): no sheet tells what else it gets wrong.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from judgesheet.axes import candidate_order as room
from judgesheet.axes.candidate_order._pairs import Pairs
from judgesheet.base.records import AxisResult, Datasheet
from judgesheet.correcting.result import ReportedNumber
from judgesheet.correcting.run import corrected
from judgesheet.correcting.table import SHARES, JudgedRow, Table
from judgesheet.correcting.unlabelled import NOISE, SLOT
from judgesheet.stats.pairwise import FIRST, SECOND
from proof import pairs
from proof.lines import COVER, NONE, Line, Rng, Rows, Tally, Truths, estimates

ALARM = "alarm"
Floats = NDArray[np.float64]
SLOT_SETS, SLOT_SIZE = 60, (300, 24)
NOISE_SETS, NOISE_SIZE = 10, (3000, 200)
"""Data sets; rows of the user's table (pairs, or questions), and stimuli of the sheet."""
ASKED = frozenset({"delta0_same", "delta0_different"})
ONE_ORDER, MIXED, BOTH = "first", "mostly first", "both"
"""Orders in which pairs were shown; a quarter of those that were mostly shown first, second."""
EACH, TOGETHER, ALIKE = "differences", "all differences", "two that are alike"


def sheet(said: Pairs) -> Datasheet:
    """A sheet with the figures that are read from it."""
    found = tuple(estimates([room.FIGURES[name] for name in (SLOT, NOISE)], said))
    axis = AxisResult(room.NAME, "", "", 0, 0, 0, 0, 0, found, ())
    return Datasheet("2.0", {}, {}, {}, (axis,))


# -- pairs in one order ----------------------------------------------------------------------------

SLOTS: Mapping[str, pairs.Judge] = {
    "fair": pairs.Judge(),
    "leans to the first slot": pairs.Judge(slot=1.0),
    "leans to the second slot": pairs.Judge(slot=-1.0, tie=0.0),
    "slots differ between stimuli": pairs.Judge(slot=0.5, slot_spread=1.5, tie_spread=0.8),
}
BETTER = np.array([-0.5, 0.25, 1.0])
"""Steps by which the response of ours is better, equally likely."""


def _chances(judge: pairs.Judge) -> Floats:
    """P(1), P(2), P(tie), P(invalid) by kind of stimulus and step -> (kinds, steps, orders, 4)."""
    slot, tie, _ = judge.kinds.T[..., None]
    return judge.chances(slot, tie, judge.sensitivity * BETTER[None])


def _win_rate(judge: pairs.Judge) -> float:
    """Win rate of ours over both orders, by summing over the kinds."""
    of = _chances(judge)
    ours = (of[..., 0, 0] + of[..., 1, 1] + (of[..., 0, 2] + of[..., 1, 2]) / 2) / 2
    return float(judge.shares @ ours.mean(axis=1))


def _games(judge: pairs.Judge, rows: int, way: str, rng: Rng) -> Table:
    """Ours and theirs; every game is a stimulus of its own."""
    kind = rng.choice(judge.shares.size, size=rows, p=judge.shares)
    steps = np.cumsum(_chances(judge)[kind, rng.integers(BETTER.size, size=rows)], axis=-1)[..., :3]
    drawn = (rng.random((rows, 2, 1)) > steps).sum(axis=-1)
    first = np.array([1.0, 0.0, 0.5, 0.5])[drawn]
    ours, theirs = ("ours", "theirs"), ("theirs", "ours")
    games = [
        JudgedRow("", str(game), "", str(game), float(first[game, order]), None, *names)
        for game in range(rows)
        for order, names in enumerate((ours, theirs))
        if way == BOTH or order == int(way == MIXED and game % 4 == 3)
    ]
    return Table("games", "win rate", tuple(games), SHARES, SHARES)


def _pairs(name: str, rows: int, stimuli: int, sets: int, rng: Rng, _truths: Truths) -> Rows:
    judge, tally = SLOTS[name], Tally()
    truth = _win_rate(judge)
    for _ in range(sets):
        tally.next()
        known = sheet(judge.pairs(stimuli, rng, ASKED))
        for way in (ONE_ORDER, MIXED, BOTH):
            found = corrected(_games(judge, rows, way, rng), "none", known).corrected
            _count(tally, f"corrected[shown={way}]", found, truth)
    return tally.rows()


# -- differences of systems ------------------------------------------------------------------------


@dataclass(frozen=True)
class Noise:
    """How likely a reading is not what the judge says most often of a row.

    `passes` and `fails` are the chances on rows of which it mostly says so, on a `share` of rows;
    there is no noise on the others.
    """

    passes: float
    fails: float
    share: float = 1.0

    def read(self, mostly: NDArray[np.bool_], readings: tuple[int, ...], rng: Rng) -> Floats:
        """Readings of rows (m,), 1 for a pass -> (m, ...)."""
        chance = np.where(mostly, self.passes, self.fails)
        chance = np.where(rng.random(mostly.size) < self.share, chance, 0.0)
        turned = chance > rng.random((*readings, mostly.size))
        return (turned ^ mostly).T.astype(float)

    def sheet(self, stimuli: int, rng: Rng) -> Datasheet:
        """Pairs in both orders and twice; the judge mostly says u of half of them."""
        cells = pairs.layout(stimuli, ASKED)
        cells = cells[cells["twice"]].reset_index(drop=True)
        u = self.read(rng.random(len(cells)) < 0.5, (2, 2), rng) == 1
        slot = np.where(u ^ np.array([False, True])[:, None], FIRST, SECOND)
        return sheet(Pairs(slot, np.ones(slot.shape[:2], dtype=bool), cells, 0))


NOISES: Mapping[str, Noise] = {
    "noise on every row": Noise(0.1, 0.1),
    "a coin on half of the rows": Noise(0.5, 0.5, share=0.5),
}
RATES = {"a": 0.5, "b": 0.5, "c": 0.75}
"""Shares that the judge mostly passes."""


def _systems(name: str, rows: int, stimuli: int, sets: int, rng: Rng, _truths: Truths) -> Rows:
    noise, tally = NOISES[name], Tally()
    for _ in range(sets):
        tally.next()
        found = corrected(_answers(noise, rows, rng), "none", noise.sheet(stimuli, rng))
        held = []
        for one in found.differences:
            truth = RATES[one.first] - RATES[one.second]
            _count(tally, EACH, one.figure, truth)
            if one.figure.low is not None:
                held.append(_holds(one.figure, truth))
            if truth == 0:
                tally.add(ALIKE, {ALARM: one.stands})
        if held:
            tally.add(TOGETHER, {COVER: all(held)})
    return tally.rows()


def _answers(noise: Noise, rows: int, rng: Rng) -> Table:
    """Pass or fail of three systems on the same questions; what one passes, others rather do."""
    ease = rng.random((rows, 1))
    alone = rng.random((rows, len(RATES)))
    shared = rng.random((rows, 1)) < 0.5
    mostly = np.where(shared, ease, alone) < np.array(list(RATES.values()))
    said = noise.read(mostly.reshape(-1), (), rng).reshape(mostly.shape)
    answers = [
        JudgedRow("", str(row), system, str(row), float(said[row, at]), None)
        for row in range(rows)
        for at, system in enumerate(RATES)
    ]
    return Table("answers", "rate", tuple(answers), SHARES, SHARES)


# -- counting --------------------------------------------------------------------------------------


def _holds(found: ReportedNumber, truth: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= truth <= found.high


def _count(tally: Tally, row: str, found: ReportedNumber, truth: float) -> None:
    if found.low is None or found.high is None:
        tally.add(row, {NONE: 1.0})
        return
    tally.add(row, {NONE: 0.0, COVER: _holds(found, truth)})
    tally.note(row, width=found.high - found.low)


def mine(line: Line) -> bool:
    """Whether a line is one of these."""
    return line.data in SLOTS or line.data in NOISES


def lines() -> Iterator[Line]:
    """Every judge."""
    limits = {ALARM: (0.0, 0.06)}
    for judges, which, sets, (rows, stimuli) in (
        (SLOTS, _pairs, SLOT_SETS, SLOT_SIZE),
        (NOISES, _systems, NOISE_SETS, NOISE_SIZE),
    ):
        for name in judges:
            size = f"{rows} rows, {stimuli} stimuli"
            yield Line(name, size, sets, partial(which, name, rows, stimuli), limits=limits)

"""Panels: do the intervals of all ways to decide hold together, and is none recommended wrongly?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from judgesheet import panels, stats
from judgesheet.correcting.result import ReportedNumber
from judgesheet.panels.options import options, recommended, right
from judgesheet.panels.result import Option
from judgesheet.panels.run import compared
from judgesheet.panels.verdicts import PanelVerdicts
from proof.lines import COVER, MOST_FALSE, NONE, Line, Rng, Rows, Tally, Truths
from proof.runner import Result, error
from proof.tables import grid, missed

MOVED_BY = (panels, stats)
SETS, SIZES, POPULATION = 300, (20, 60), 20_000
PAIR_SETS = 120
PER_STIMULUS = 2
"""Pairs of each stimulus, of which the better response is known."""
ALARM, TOGETHER, EACH = "alarm", "all ways at once", "accuracy"
PAIRED = ("kappa", "quadratic", "errors")
"""Figures of two judges; rows are named as the fields of a result that they prove."""
RECOMMENDED = "one recommended, of which none is good enough"


@dataclass(frozen=True)
class Judges:
    """Three judges: logits towards the better response, and towards the slot shown first.

    `shared` is the standard deviation of what a stimulus takes from or adds to all of them, `alone`
    that of what each pair adds to a judge.
    """

    sees: tuple[float, float, float]
    slot: tuple[float, float, float] = (0.0, 0.0, 0.0)
    shared: float = 0.0
    alone: float = 0.5

    def draw(self, stimuli: int, rng: Rng) -> PanelVerdicts:
        """What they said of the pairs of so many stimuli, in both orders, without ties."""
        many = stimuli * PER_STIMULUS
        home = np.repeat(np.arange(stimuli), PER_STIMULUS)
        better = rng.choice((-1.0, 1.0), many)
        hard = self.shared * rng.standard_normal(stimuli)[home]
        seen = np.array(self.sees) + hard[:, None] + self.alone * rng.standard_normal((many, 3))
        order = np.array([1.0, -1.0])
        towards = (better[:, None] * seen)[..., None] + np.multiply.outer(self.slot, order)
        votes = np.where(rng.random(towards.shape) < 1 / (1 + np.exp(-towards)), 1.0, -1.0)
        names = tuple(map("stimulus {}".format, home))
        pairs, called = tuple(map(str, range(many))), ("u|v",) * many
        places, lost = (("axis",) * many, names, names, pairs), np.zeros(towards.shape, dtype=bool)
        return PanelVerdicts(
            ("a", "b", "c"), *places, called, votes[..., None], better, lost[..., None], (many,) * 3
        )


CASES: Mapping[str, Judges] = {
    "three alike, errors of their own": Judges((1.5, 1.5, 1.5)),
    "three alike, errors shared": Judges((1.5, 1.5, 1.5), shared=1.5),
    "one good, two weak": Judges((3.0, 0.5, 0.5), shared=0.5),
    "three with a slot": Judges((1.5, 1.5, 1.5), slot=(2.0, 2.0, -2.0), shared=0.5),
    "hardly an error": Judges((5.0, 5.0, 4.0)),
}
BESIDE = ("three alike, errors of their own", "three alike, errors shared", "one good, two weak")
"""Those whose figures of two judges are asked."""


def _way(one: Option) -> str:
    return f"{'+'.join(one.judges)}, {one.orders}"


@cache
def _known(name: str) -> Mapping[str, float]:
    """How often every way is right, over many stimuli."""
    every = CASES[name].draw(POPULATION, np.random.default_rng(7))
    chance = (every.better + 1) / 2
    small = CASES[name].draw(3, np.random.default_rng(7))
    ways = options(small, "known", (small.better + 1) / 2)
    return {_way(way): float(right(every, way, chance).mean()) for way in ways}


@cache
def _known_of_two(name: str) -> Mapping[str, float]:
    """The figures of every two judges, over many stimuli."""
    every = CASES[name].draw(POPULATION, np.random.default_rng(7))
    return {told: value for told, value, *_ in _between(every) if value is not None}


def _between(
    verdicts: PanelVerdicts,
) -> Iterator[tuple[str, float | None, float | None, float | None]]:
    """Every figure of every two judges, with its ends."""
    for pair in compared(verdicts):
        for figure in PAIRED:
            one: ReportedNumber = getattr(pair, figure)
            yield f"{figure} {pair.first}+{pair.second}", one.value, one.low, one.high


def _run(name: str, stimuli: int, sets: int, rng: Rng, truths: Truths) -> Rows:
    tally, best = Tally(), max(truths.values())
    for _ in range(sets):
        tally.next()
        drawn = CASES[name].draw(stimuli, rng)
        made = options(drawn, "known", (drawn.better + 1) / 2)
        held = [_holds(one, truths[_way(one)]) for one in made]
        tally.add(EACH, {COVER: float(np.mean(held))})
        tally.add(TOGETHER, {COVER: all(held)})
        tally.add(RECOMMENDED, {ALARM: recommended(made, best + 1e-6) is not None})
        widths = [(one.accuracy.high or 1.0) - (one.accuracy.low or 0.0) for one in made]
        tally.note(TOGETHER, width=float(np.mean(widths)), truth=best)
    return tally.rows()


def _two(name: str, stimuli: int, sets: int, rng: Rng, truths: Truths) -> Rows:
    """The figures of every two judges."""
    tally = Tally()
    for _ in range(sets):
        tally.next()
        for told, _, low, high in _between(CASES[name].draw(stimuli, rng)):
            figure = told.partition(" ")[0]
            if low is None or high is None:
                tally.add(figure, {NONE: 1.0})
                continue
            tally.add(figure, {NONE: 0.0, COVER: low <= truths[told] <= high})
            tally.note(figure, width=high - low, truth=truths[told])
    return tally.rows()


def _holds(one: Option, truth: float) -> bool:
    low, high = one.accuracy.low, one.accuracy.high
    return low is not None and high is not None and low <= truth <= high


def lines() -> Iterator[Line]:
    """Every panel at every size."""
    limits = {ALARM: (0.0, MOST_FALSE)}
    for name in CASES:
        for stimuli in SIZES:
            run = partial(_run, name, stimuli)
            yield Line(name, stimuli, SETS, run, partial(_known, name), limits=limits)
            if name in BESIDE:
                two, known = partial(_two, name, stimuli), partial(_known_of_two, name)
                yield Line(name, stimuli, PAIR_SETS, two, known, part="two judges")


def fields(results: Sequence[Result]) -> dict[str, str]:
    """What the text of the page leaves open."""
    head = ["judges", "stimuli", "best way is right", "each way by itself", TOGETHER, "width",
            RECOMMENDED]  # fmt: skip
    rows = [
        [
            one.line.data, str(one.line.size), f"{one.rows[TOGETHER].facts['truth']:.3f}",
            *(_share(one, row, COVER) for row in (EACH, TOGETHER)),
            f"{one.rows[TOGETHER].facts['width']:.3f}", _share(one, RECOMMENDED, ALARM),
        ]
        for one in results if EACH in one.rows
    ]  # fmt: skip
    pairs = [
        [one.line.data, str(one.line.size), *(_pair(one, figure) for figure in PAIRED)]
        for one in results
        if PAIRED[0] in one.rows
    ]
    of_pairs = ["judges", "stimuli", *(f"`{one}`: truth / cover / width" for one in PAIRED)]
    return {
        "sets": f"{SETS}",
        "pair_sets": f"{PAIR_SETS}",
        "error": f"{error(0.95, SETS):.3f}",
        "table": grid(head, rows),
        "pairs": grid(of_pairs, pairs),
    }


def _pair(one: Result, figure: str) -> str:
    """Of all pairs of judges together, with the share without an interval where there is one."""
    row = one.rows[figure]
    if COVER not in row.shares:
        return "–"
    none = row.shares.get(NONE, 0.0)
    told = f"{row.facts['truth']:.3f} / {_share(one, figure, COVER)} / {row.facts['width']:.3f}"
    return told + (f" ({none:.2f} none)" if none else "")


def _share(one: Result, name: str, metric: str) -> str:
    share = f"{one.rows[name].shares[metric]:.3f}"
    return f"**{share}**" if missed(one, name, metric) else share

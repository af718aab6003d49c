"""Corrected results: do the intervals cover, for fair and faulty judges, labels and shifts?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from judgesheet import correcting, stats
from judgesheet.correcting.labelled import accuracy, estimate
from judgesheet.correcting.result import ReportedNumber
from judgesheet.correcting.sample import Sample
from judgesheet.stats.correction import prediction_powered
from judgesheet.stats.interval import Interval
from judgesheet.stats.simultaneous import differences, stands
from proof.lines import COVER, NONE, Line, Rng, Rows, Tally, Truths
from proof.runner import Result, error
from proof.tables import grid, missed

Floats = NDArray[np.float64]
DEPENDS_ON = (correcting, stats)
SETS = 600
SIZES = ((300, 20), (300, 60), (2000, 20), (2000, 100), (2000, 400))
"""Rows, and labels among them."""
ERROR_SETS, ERROR_SIZES = 200, ((300, 20), (300, 60), (2000, 100))
SHARES = (0.0, 1.0)
ALARM, ALIKE = "alarm", "two that are alike"
PPI, ROGAN_GLADEN, RAW = "ppi", "rogan_gladen", "raw"
DIFFERENCES = "differences"
ERRORS = ("sensitivity", "specificity")
ERRING = ("a good judge", "one that passes too much", "rare fails", "one that hardly errs")
"""Judges whose sensitivity and specificity are asked."""
FIGURES = (PPI, ROGAN_GLADEN, "labels_only", RAW)
"""Figures of a system; rows are named as the fields of a result that they prove."""
ALONE = "verdicts alone"
"""The row of `raw`, which is no estimate of the truth that it is held against."""


@dataclass(frozen=True)
class Judge:
    """What is true and said: `draw(rows, rng)` gives labels, verdicts, clusters.

    `truth` is the mean label; `hit` and `reject` are sensitivity and specificity of pass and fail.
    """

    truth: float
    scale: tuple[float, float] = SHARES
    rate: float = 0.7
    hit: float = 0.9
    reject: float = 0.85
    kind: str = "rate"

    def draw(self, rows: int, rng: Rng) -> tuple[Floats, Floats, Floats]:
        """Labels, verdicts and clusters of so many rows."""
        clusters = np.arange(rows).astype(float)
        if self.kind == "grouped":
            clusters = np.floor(clusters / 5)
            base = rng.beta(2.1, 0.9, size=rows // 5 + 1)[clusters.astype(int)]
            sure = rng.beta(4.5, 0.5, size=rows // 5 + 1)[clusters.astype(int)]
            true = (rng.random(rows) < base).astype(float)
            said = np.where(rng.random(rows) < sure, true, 1 - true)
        elif self.kind == "wins":
            true = rng.choice((0.0, 0.5, 1.0), rows, p=(0.3, 0.2, 0.5))
            noise = rng.choice((0.0, 0.5, 1.0), rows, p=(0.2, 0.2, 0.6))
            said = np.where(rng.random(rows) < self.hit, true, noise)
        elif self.kind == "scores":
            true = np.clip(np.round(rng.normal(3.4, 0.8, rows)), 1, 5)
            said = np.clip(np.round(3.4 + self.hit * (true - 3) + rng.normal(0, 0.6, rows)), 1, 5)
        else:
            true = (rng.random(rows) < self.rate).astype(float)
            right = rng.random(rows) < np.where(true == 1, self.hit, self.reject)
            said = np.where(right, true, 1 - true)
        return true, said, clusters


def _score_truth() -> float:
    """Mean of the rounded, clipped normal, by its steps."""
    from scipy.stats import norm

    ends = norm.cdf((np.arange(1.5, 5.0) - 3.4) / 0.8)
    return float(np.diff([0.0, *ends, 1.0]) @ np.arange(1, 6))


SCORES = _score_truth()
JUDGES: Mapping[str, Judge] = {
    "a good judge": Judge(0.7),
    "one that passes too much": Judge(0.7, reject=0.4),
    "rare fails": Judge(0.95, rate=0.95),
    "one that hardly errs": Judge(0.7, hit=0.99, reject=0.99),
    "one that guesses": Judge(0.7, hit=0.5, reject=0.5),
    "rows in groups of five": Judge(0.7, kind="grouped"),
    "wins with ties, a noisy judge": Judge(0.6, hit=0.7, kind="wins"),
    "scores, a judge that attenuates": Judge(SCORES, scale=(1.0, 5.0), hit=0.5, kind="scores"),
    "scores, a judge that keeps the scale": Judge(SCORES, (1.0, 5.0), hit=1.0, kind="scores"),
}
SHIFTS = {"labels with half passes": 0.5, "labels with nine passes in ten": 0.9}


def labelled(judge: Judge, rows: int, labels: int, rng: Rng) -> tuple[Floats, Floats, Floats]:
    """Verdicts, labels of a random part, clusters; whole groups are labelled."""
    true, said, clusters = judge.draw(rows, rng)
    every = np.unique(clusters)
    drawn = rng.choice(every, max(5, labels * every.size // rows), replace=False)
    return said, np.where(np.isin(clusters, drawn), true, np.nan), clusters


def shifted(rate: float, rows: int, labels: int, rng: Rng) -> tuple[Floats, Floats, Floats]:
    """Labels from elsewhere: of another rate, judged by the same judge."""
    judge = Judge(0.7)
    _, said, _ = judge.draw(rows, rng)
    more, theirs, _ = Judge(rate, rate=rate).draw(labels, rng)
    known = np.concatenate([np.full(rows, np.nan), more])
    return np.concatenate([said, theirs]), known, np.arange(rows + labels).astype(float)


def _sample(name: str, rows: int, labels: int, rng: Rng) -> Sample:
    if name in SHIFTS:
        verdicts, known, clusters = shifted(SHIFTS[name], rows, labels, rng)
    else:
        verdicts, known, clusters = labelled(JUDGES[name], rows, labels, rng)
    names = tuple(map("{:06.0f}".format, clusters))
    return Sample("", names, names, verdicts, known)


def _run(name: str, rows: int, labels: int, sets: int, rng: Rng, _truths: Truths) -> Rows:
    judge, tally = JUDGES.get(name, Judge(0.7)), Tally()
    for _ in range(sets):
        tally.next()
        said = estimate(_sample(name, rows, labels, rng), "random", judge.scale, judge.scale).system
        for figure in FIGURES:
            row = ALONE if figure == RAW else figure
            _count(tally, row, getattr(said, figure), judge.truth)
    return tally.rows()


def _errors(name: str, rows: int, labels: int, sets: int, rng: Rng, _truths: Truths) -> Rows:
    """Sensitivity and specificity."""
    judge, tally = JUDGES.get(name, Judge(0.7)), Tally()
    for _ in range(sets):
        tally.next()
        known = accuracy(_sample(name, rows, labels, rng))
        for row, label, truth in zip(ERRORS, (1.0, 0.0), (judge.hit, judge.reject), strict=True):
            _count(tally, row, known.get(label), truth)
    return tally.rows()


def _count(tally: Tally, row: str, found: ReportedNumber | None, truth: float) -> None:
    if found is None or found.low is None or found.high is None:
        tally.add(row, {NONE: 1.0})
        return
    tally.add(row, {NONE: 0.0, COVER: found.low - 1e-9 <= truth <= found.high + 1e-9})
    tally.note(row, width=found.high - found.low)


def _systems(rows: int, labels: int, sets: int, rng: Rng, _truths: Truths) -> Rows:
    """Four systems, two of them alike, on the same questions: all differences at once."""
    rates, tally = np.array([0.5, 0.5, 0.6, 0.8]), Tally()
    for _ in range(sets):
        tally.next()
        hard = rng.normal(size=(rows, 1))
        level = np.log(rates / (1 - rates)) * 1.25
        chance = 1 / (1 + np.exp(-(level + 1.2 * hard)))
        true = (rng.random((rows, 4)) < chance).astype(float)
        said = np.where(rng.random((rows, 4)) < 0.85, true, 1 - true)
        drawn = np.isin(np.arange(rows), rng.choice(rows, labels, replace=False))
        known = np.where(drawn[:, None], true, np.nan)
        each = [prediction_powered(said[:, k], known[:, k], np.arange(rows), SHARES)
                for k in range(4)]  # fmt: skip
        intervals = [one.interval for one in each]
        parts = np.stack([one.parts for one in each], axis=1)
        between = differences(intervals, parts)
        truth = _means(level)
        held = [_holds(one, truth[i] - truth[j]) for (i, j), one in between.items()]
        tally.add(DIFFERENCES, {COVER: all(held)})
        tally.add(ALIKE, {ALARM: stands(between[0, 1])})
    return tally.rows()


def _means(level: Floats) -> Floats:
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    chance = 1 / (1 + np.exp(-(level[:, None] + 1.2 * nodes)))
    means: Floats = chance @ weights / weights.sum()
    return means


def _holds(one: Interval, truth: float) -> bool:
    return one.low is not None and one.high is not None and one.low <= truth <= one.high


HELD = frozenset({PPI, "labels_only", DIFFERENCES, ALIKE})


def lines() -> Iterator[Line]:
    """Judges and labels, labels from elsewhere, several systems."""
    for name in (*JUDGES, *SHIFTS):
        # Of labels from elsewhere only Rogan and Gladen's is to hold.
        held = frozenset({ROGAN_GLADEN}) if name in SHIFTS else HELD
        for rows, labels in SIZES:
            run = partial(_run, name, rows, labels)
            yield Line(name, f"{rows} rows, {labels} labels", SETS, run, judged=held)
        for rows, labels in ERROR_SIZES if name in ERRING else ():
            run = partial(_errors, name, rows, labels)
            yield Line(name, f"{rows} rows, {labels} labels", ERROR_SETS, run, part="errors")
    for rows, labels in ((300, 60), (1000, 200)):
        run = partial(_systems, rows, labels)
        yield Line("four systems", f"{rows} rows, {labels} labels", SETS, run,
                   limits={ALARM: (0.0, 0.06)}, judged=HELD)  # fmt: skip


def fields(results: Sequence[Result]) -> dict[str, str]:
    """What the text of the page leaves open."""
    singles = [one for one in results if PPI in one.rows]
    ways = (PPI, ROGAN_GLADEN, "labels_only", ALONE)
    head = ["data", "rows, labels", *(f"{way}: cover / width" for way in ways), "no Rogan-Gladen"]
    rows = [
        [one.line.data, str(one.line.size), *(_cell(one, way) for way in ways),
         _none(one, ROGAN_GLADEN)]
        for one in singles
    ]  # fmt: skip
    of_errors = ["data", "rows, labels", *(f"`{one}`: cover / width" for one in ERRORS),
                 *(f"no {one}" for one in ERRORS)]  # fmt: skip
    errors = [
        [one.line.data, str(one.line.size), *(_cell(one, error) for error in ERRORS),
         *(_none(one, error) for error in ERRORS)]
        for one in results if ERRORS[0] in one.rows
    ]  # fmt: skip
    several = [
        [one.line.data, str(one.line.size), f"`{name}`", metric, _share(one, name, metric)]
        for one in results if DIFFERENCES in one.rows
        for name, row in one.rows.items() for metric in row.shares
    ]  # fmt: skip
    return {
        "sets": f"{SETS:,}",
        "error": f"{error(0.95, SETS):.3f}",
        "error_sets": f"{ERROR_SETS}",
        "table": grid(head, rows),
        "errors": grid(of_errors, errors),
        "several": grid(["data", "rows, labels", "what", "share of", "share"], several),
    }


def _none(one: Result, way: str) -> str:
    return f"{one.rows[way].shares.get(NONE, 0.0):.2f}"


def _cell(one: Result, way: str) -> str:
    row = one.rows.get(way)
    if row is not None and ALARM in row.shares:
        return _share(one, way, ALARM)
    if row is None or COVER not in row.shares:
        return "–"
    width = f" / {row.facts['width']:.3f}" if "width" in row.facts else ""
    return f"{_share(one, way, COVER)}{width}"


def _share(one: Result, name: str, metric: str) -> str:
    share = f"{one.rows[name].shares[metric]:.3f}"
    return f"**{share}**" if missed(one, name, metric) else share

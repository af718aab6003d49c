"""Strengths of systems that met in pairs, from verdicts and, of a part, labels."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike

from judgesheet.base.missing_reasons import ONE_CLUSTER

from ._support import Flags, Floats, Integers, cluster_codes, floats, sum_by
from .correction import FEW_LABELS, FEWEST, Foreseen, error_of
from .foresight import Drawn
from .interval import Interval, estimated, student, without_ends

ROUNDS = 100
STEP = 1e-10


@dataclass(frozen=True, slots=True)
class Strengths:
    """Log-odds of winning against the average system, k of them, summing to 0.

    `parts` are the contributions of the clusters (G, k), `weight` how far verdicts are trusted: 0
    where labels alone count, None where there are none. `foresee` gives the interval of a system by
    how many times as many labels there are.
    """

    intervals: tuple[Interval, ...]
    parts: Floats
    weight: float | None
    foresee: Callable[[int], Foreseen] | None = None


@dataclass(frozen=True)
class _Games:
    """Who met whom, +1 and -1 in each row of `design` (m, k), and what judge and people said."""

    design: Floats
    verdicts: Floats
    labels: Floats
    codes: Integers
    groups: int

    @property
    def known(self) -> Flags:
        flags: Flags = ~np.isnan(self.labels)
        return flags

    def scores(self, strength: Floats, outcome: Floats, rows: Flags) -> Floats:
        """Contributions of clusters (G, k) to the mean score over rows with these outcomes."""
        each = self.design * self.left(strength, outcome, rows)[:, None]
        return sum_by(each, self.codes, self.groups)

    def left(self, strength: Floats, outcome: Floats, rows: Flags) -> Floats:
        """What of the mean outcome of these rows strengths do not explain, row by row (m,)."""
        left = np.where(rows, outcome - scipy.special.expit(self.design @ strength), 0.0)
        return floats(left / max(1, int(rows.sum())))


def strengths(
    first: ArrayLike, second: ArrayLike, verdicts: ArrayLike, labels: ArrayLike,
    clusters: ArrayLike, systems: int,
) -> Strengths:  # fmt: skip
    """Bradley and Terry's model, ties as half a win; with labels, prediction-powered (PPI++).

    Solves mean(x (Y - s)) = w (mean(x (F - s), labelled) - mean(x (F - s), others)) for strengths
    b, with s = sigma(x b), F verdicts, Y labels; w between 0 and 1 has least summed variance over
    clusters. Without labels mean(x (F - s)) = 0. Intervals are t intervals of the cluster sandwich.
    A penalty of one observation keeps the strength of a system finite that won every time.

    Parameters
    ----------
    first, second
        Shape (m,): codes 0..k-1 of the two that met.
    verdicts, labels
        Shape (m,): 1 where the first won, 1/2 for a tie; labels NaN where there is none.

    References
    ----------
    Bradley, R. A. and Terry, M. E. (1952), Biometrika 39, 324-345.
    Angelopoulos, Duchi and Zrnic (2023), arXiv 2311.01453, section 4 (generalized linear models).
    """
    judged = floats(verdicts)
    design = np.eye(systems)[np.asarray(first)] - np.eye(systems)[np.asarray(second)]
    games = _Games(design, judged, floats(labels), *cluster_codes(clusters))
    known, every = games.known, np.ones(judged.size, dtype=bool)
    raw = _solved(design, np.full(judged.size, 1 / judged.size), design.T @ judged / judged.size)
    if not known.any():
        inverse = _inverse(design, np.full(judged.size, 1 / judged.size), raw)
        parts = games.scores(raw, judged, every) @ inverse
        return _with_intervals(raw, parts, games.groups, None)
    said, rest = np.where(known, games.labels, 0.0), ~known
    weight = 0.0 if known.all() else _weight(games, raw, said)
    rows = np.where(known, (1 - weight) / known.sum(), weight / max(1, int(rest.sum())))
    target = design.T @ np.where(
        known, (said - weight * judged) / known.sum(), weight * judged / max(1, int(rest.sum()))
    )
    strength = _solved(design, rows, target)
    own, moved = _both(games, strength, said)
    inverse = _inverse(design, rows, strength)
    parts = (own - weight * moved) @ inverse
    drawn = Drawn(known, games.codes, games.groups)
    found = _with_intervals(strength, parts, drawn.labelled, weight)

    def foresee(system: int) -> Foreseen:
        pull = design @ (inverse[:, system] - inverse.mean(axis=1))
        judge = [games.left(strength, judged, some) for some in (known, rest)]
        own = games.left(strength, said, known)
        error_left = drawn.error_left(pull * own, pull * (judge[0] - judge[1]))

        def foreseen(times: float) -> Interval:
            deviations = error_left(times) * found.parts[:, system]
            return _interval(
                float(strength[system]), deviations, drawn.clusters(times), _method(weight)
            )

        return foreseen

    return replace(found, foresee=foresee)


def _both(games: _Games, strength: Floats, said: Floats) -> tuple[Floats, Floats]:
    """Scores of the labels, and of the verdicts on labelled rows less those on the others."""
    known, rest = games.known, ~games.known
    moved = games.scores(strength, games.verdicts, known)
    if rest.any():
        moved = moved - games.scores(strength, games.verdicts, rest)
    return games.scores(strength, said, known), moved


def _weight(games: _Games, pilot: Floats, said: Floats) -> float:
    rows = np.full(games.verdicts.size, 1 / games.verdicts.size)
    inverse = _inverse(games.design, rows, pilot)
    own, moved = (one @ inverse for one in _both(games, pilot, said))
    total = float((moved * moved).sum())
    return min(1.0, max(0.0, float((own * moved).sum()) / total)) if total > 0 else 0.0


def _hessian(design: Floats, rows: Floats, strength: Floats) -> Floats:
    chance = scipy.special.expit(design @ strength)
    spread = (design * (rows * chance * (1 - chance))[:, None]).T @ design
    return floats(spread + np.eye(design.shape[1]) / design.shape[0])


def _inverse(design: Floats, rows: Floats, strength: Floats) -> Floats:
    return floats(np.linalg.inv(_hessian(design, rows, strength)))


def _solved(design: Floats, rows: Floats, target: Floats) -> Floats:
    """Newton's method for sum(rows x sigma(x b)) = target, with a penalty of one observation."""
    strength: Floats = np.zeros(design.shape[1])
    for _ in range(ROUNDS):
        expected = design.T @ (rows * scipy.special.expit(design @ strength))
        gradient = target - expected - strength / design.shape[0]
        step: Floats = np.linalg.solve(_hessian(design, rows, strength), gradient)
        size = float(np.abs(step).max())
        strength = floats(strength + step / max(1.0, size))
        if size < STEP:
            break
    centred: Floats = strength - strength.mean()
    return centred


def _with_intervals(
    strength: Floats, parts: Floats, clusters: int, weight: float | None
) -> Strengths:
    parts = parts - parts.mean(axis=1, keepdims=True)
    intervals = tuple(
        _interval(value, own, clusters, _method(weight))
        for value, own in zip(strength.tolist(), parts.T, strict=True)
    )
    return Strengths(intervals, parts, weight)


def _method(weight: float | None) -> str:
    return "Bradley-Terry" + ("" if weight is None else ", prediction-powered")


def _interval(value: float, parts: Floats, clusters: int, method: str) -> Interval:
    if clusters < FEWEST:
        reason = ONE_CLUSTER if clusters < 2 else FEW_LABELS
        return without_ends(value, reason, clusters=clusters, method=method)
    at = student(value, error_of(parts), clusters)
    return estimated(value, at, clusters, f"{method}, t over clusters")

"""`python -m proof.anchors`: the intervals of other packages on the same tables as ours.

Needs `pip install ppi_python cje-eval evalproof truescore cigate` beside judgesheet, in an
environment of its own; what is not installed is left out. Prints the table of docs/peers.md.
"""

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from judgesheet.stats.correction import prediction_powered, rogan_gladen
from proof.correct import JUDGES, SHIFTS, Judge, labelled, shifted
from proof.tables import grid

SETS, SLOW = 200, 60
"""Data sets of each case, and those of packages that take longer."""
SIZES = ((300, 20), (2000, 100))
CASES = (
    *("a good judge", "one that passes too much", "rare fails", "one that hardly errs"),
    *("rows in groups of five", "scores, a judge that attenuates", "labels with half passes"),
)
Ends = tuple[float, float]
Ask = Callable[[Any, Any, Any, Judge], Ends | None]


def ours(estimate: Any) -> Ask:
    """An estimate of ours."""

    def ask(said: Any, labels: Any, clusters: Any, judge: Judge) -> Ends | None:
        one = estimate(said, labels, clusters, judge.scale).interval
        return None if one.low is None else (one.low, one.high)

    return ask


def others() -> Iterator[tuple[str, Ask, int]]:
    """The packages that are installed: name, how it is asked, data sets."""
    for package, module, asked in (
        ("ppi_py, PPI++", "ppi_py", _ppi),
        ("cje-eval", "cje.array_api", _cje),
        ("evalproof, PPI", "evalproof.calibration", _evalproof),
        ("evalproof, ACC", "evalproof.calibration", _acc),
        ("truescore, PPI++", "truescore.correct", _truescore),
        ("truescore, Rogan-Gladen", "truescore.correct", _truescore_rogan_gladen),
        ("cigate", "cigate.stats", _cigate),
    ):
        with suppress(ImportError):
            ask = partial(asked, import_module(module))
            yield package, ask, SLOW if asked in (_cje, _acc) else SETS


def _ppi(ppi: Any, said: Any, labels: Any, _clusters: Any, _judge: Judge) -> Ends:
    low, high = (float(np.ravel(end)[0])
                 for end in ppi.ppi_mean_ci(*_split(said, labels), alpha=0.05))  # fmt: skip
    return low, high


def _split(said: Any, labels: Any) -> tuple[Any, Any, Any]:
    known = ~np.isnan(labels)
    return labels[known], said[known], said[~known]


def _cje(cje: Any, said: Any, labels: Any, clusters: Any, judge: Judge) -> Ends:
    low, high = judge.scale
    width = high - low
    found = cje.calibrated_mean_ci((said - low) / width, (labels - low) / width,
                                   cluster_ids=clusters.astype(int))  # fmt: skip
    return low + width * float(found.ci[0]), low + width * float(found.ci[1])


def _evalproof(proof: Any, said: Any, labels: Any, _clusters: Any, judge: Judge) -> Ends | None:
    if judge.kind == "scores":
        return None
    gold, theirs, rest = (one.astype(bool).tolist() for one in _split(said, labels))
    found = proof.ppi_estimate(rest, theirs, gold)
    return None if found.low is None else (found.low, found.high)


def _acc(proof: Any, said: Any, labels: Any, _clusters: Any, judge: Judge) -> Ends | None:
    if judge.kind == "scores":
        return None
    gold, theirs, rest = (one.astype(bool).tolist() for one in _split(said, labels))
    found = proof.acc_estimate(rest, theirs, gold, n_boot=1000)
    return None if found.low is None else (found.low, found.high)


def _truescore(true: Any, said: Any, labels: Any, clusters: Any, judge: Judge) -> Ends:
    at = np.flatnonzero(~np.isnan(labels))
    more = {"clusters": clusters.astype(int)} if judge.kind == "grouped" else {}
    found = true.ppi_estimate(said, labels[at], at, **more)
    return float(found.low), float(found.high)


def _truescore_rogan_gladen(
    true: Any, said: Any, labels: Any, _clusters: Any, judge: Judge
) -> Ends | None:
    if judge.kind == "scores":
        return None
    at = np.flatnonzero(~np.isnan(labels))
    found = true.rogan_gladen_estimate(said, labels[at], at)
    return float(found.low), float(found.high)


def _cigate(cigate: Any, said: Any, labels: Any, _clusters: Any, judge: Judge) -> Ends | None:
    if judge.kind == "scores":
        return None
    gold, theirs, rest = _split(said, labels)
    found = cigate.estimate_axis("axis", rest, theirs, gold)
    return (float(found.ci_low), float(found.ci_high)) if found.gateable else None


def main() -> None:
    """Draw, ask everybody, print."""
    warnings.filterwarnings("ignore")
    asked = [("judgesheet, PPI++", ours(prediction_powered), SETS),
             ("judgesheet, Rogan-Gladen", ours(rogan_gladen), SETS), *others()]  # fmt: skip
    rows = []
    for name in CASES:
        judge = JUDGES.get(name, Judge(0.7))
        for size, labels in SIZES:
            held: defaultdict[str, list[tuple[bool, float] | None]] = defaultdict(list)
            rng = np.random.default_rng([20_261_124, size, labels])
            for number in range(SETS):
                drawn = (
                    shifted(SHIFTS[name], size, labels, rng)
                    if name in SHIFTS
                    else labelled(judge, size, labels, rng)
                )
                for package, ask, sets in asked:
                    if number < sets:
                        held[package].append(_answer(ask, drawn, judge))
            rows.append([name, f"{size}, {labels}", *(_cell(held[p]) for p, _, _ in asked)])
            print(rows[-1], flush=True)
    print(grid(["data", "rows, labels", *(p for p, _, _ in asked)], rows))


def _answer(ask: Ask, drawn: Any, judge: Judge) -> tuple[bool, float] | None:
    try:
        said, labels, clusters = drawn
        ends = ask(said, labels, clusters, judge)
    except Exception:
        return None
    if ends is None or not np.isfinite(ends).all():
        return None
    return ends[0] - 1e-9 <= judge.truth <= ends[1] + 1e-9, ends[1] - ends[0]


def _cell(found: list[tuple[bool, float] | None]) -> str:
    """`.95 / .210`, with the share of data sets that had no interval where there are some."""
    given = [one for one in found if one is not None]
    if len(given) < 10:
        return "–"
    share, width = (float(np.mean([one[at] for one in given])) for at in (0, 1))
    none = 1 - len(given) / len(found)
    return f"{share:.2f} / {width:.3f}" + (f" ({none:.2f} none)" if none > 0.005 else "")


if __name__ == "__main__":
    main()

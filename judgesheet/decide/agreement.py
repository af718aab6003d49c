"""How far two judges that answered the same calls agree."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from statistics import fmean
from typing import Any, cast

import numpy as np
import pandas as pd

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Floats
from judgesheet.axis.items import cell_names

PAIRS, SCORES, GRADES = "pairs", "scores", "grades"
"""Which of two responses is better, a score of a rubric, a grade of a long scale."""
CHOICES: Mapping[str, float] = {"1": 1.0, "2": -1.0, "tie": 0.0, "abstain": 0.0}
CALL = ["axis", "kind", "part", "stimulus", "question", "order", "repeat"]


@dataclass(frozen=True, slots=True)
class Agreed:
    """Two judges on an axis, call by call.

    `equal` is the share of calls with the same verdict, None where grades are too fine for that;
    `kappa` is Cohen's with quadratic weights, its mean over criteria where there are several, None
    where neither verdict varies.
    """

    axis: str
    calls: int
    equal: float | None
    kappa: float | None


def agreement(runs: tuple[Mapping[str, Readings], Mapping[str, Readings]]) -> tuple[Agreed, ...]:
    """Of two runs, by axis; a call is the same question in the same order."""
    # A record may hold a call twice.
    first, second = (table[~table.index.duplicated()] for table in map(verdicts_of, runs))
    both = first.join(second["number"].rename("other"), how="inner")
    return tuple(_agreed(both))


def _agreed(both: pd.DataFrame) -> Iterator[Agreed]:
    # Of presentation there are pairs and scores.
    for (axis, kind), rows in both.groupby(["axis", "kind"], sort=False):
        parts = [
            part[["number", "other"]].to_numpy() for _, part in rows.groupby("part", sort=False)
        ]
        kappas = [one for one in (quadratic_kappa(*part.T) for part in parts) if one is not None]
        # Of a hundred grades two judges seldom give the same.
        equal = None if kind == GRADES else float((rows["number"] == rows["other"]).mean())
        yield Agreed(str(axis), len(rows), equal, fmean(kappas) if kappas else None)


def quadratic_kappa(first: Floats, second: Floats) -> float | None:
    """Cohen's kappa with quadratic weights: squared distances over those that chance would give."""
    chance = first.var() + second.var() + (first.mean() - second.mean()) ** 2
    return float(1 - np.mean((first - second) ** 2) / chance) if chance > 0 else None


def verdicts_of(readings: Mapping[str, Readings]) -> pd.DataFrame:
    """A row per `number` of a verdict, by `CALL`.

    Of two responses the one whose name comes first in the alphabet counts 1, the other -1, neither
    0, whatever slot they stood in. A verdict on several things has a row for each.
    """
    rows = [
        row
        for name, one in readings.items()
        for row in _of_axis(name, one.frame[one.frame["value"].notna()])
    ]
    return pd.DataFrame(rows, columns=[*CALL, "number"]).set_index(CALL)


def _of_axis(name: str, frame: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    # Arms show the same items under other orders.
    columns = [column for column in cell_names(frame) if column not in ("better", "arm")]
    rows = cast("list[dict[str, Any]]", frame.to_dict("records"))
    for row in rows:
        shown = [str(one) for one in row.get("order") or ()]
        question = " ".join(
            f"{key}={row[key]}" for key in columns if row[key] == row[key] and row[key] is not None
        )
        for kind, part, thing, number in _numbers(row["value"], shown, row):
            asked = " ".join(filter(None, (question, thing)))
            # Which of a pair stood first, whatever arm it was asked in.
            order = shown[0] if kind == PAIRS else f"{row.get('arm')} {','.join(shown)}"
            yield (name, kind, part, row["stimulus"], asked, order, int(row["repeat"]), number)


def _numbers(
    value: Any, shown: Sequence[str], row: Mapping[str, Any]
) -> Iterable[tuple[str, str, str, float]]:
    """Kind, part, thing and number of what a verdict says."""
    if isinstance(value, Mapping):
        for thing, rating in value.items():
            if isinstance(rating, Mapping):
                yield GRADES, "", str(thing), float(rating["score"])
            else:
                yield SCORES, str(thing), "", float(rating)
    elif isinstance(value, str):
        if value in CHOICES and len(shown) == 2 and row.get("pair") is not None:
            yield PAIRS, "", "", CHOICES[value] * (1 if shown == sorted(shown) else -1)
    elif isinstance(value, Real):
        yield SCORES, "", "", float(value)

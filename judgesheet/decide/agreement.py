"""How far judges agree, call by call, and on which questions they part."""

import math
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from numbers import Real
from typing import Any, Literal, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Floats
from judgesheet.axis.items import cell_names
from judgesheet.axis.losses import lost as gone
from judgesheet.stats.interval import Interval
from judgesheet.stats.kappa import Level, cohens_kappa

Kind = Literal["pairs", "scores", "grades"]
"""Which of two responses is better, a score of a rubric, a grade of a long scale."""
LEVELS: Mapping[Kind, tuple[Level, ...]] = {
    "pairs": ("nominal", "interval"),
    "scores": ("nominal", "interval"),
    "grades": ("interval",),  # of a hundred grades two judges seldom give the same
}
CHOICES: Mapping[str, float] = {"1": 1.0, "2": -1.0, "tie": 0.0, "abstain": 0.0}
QUESTION = ["axis", "kind", "part", "stimulus", "question", "better", "names"]
CALL = [*QUESTION, "order", "repeat"]
UNKNOWN = 9.0
"""Which of a pair is better, where nobody says so: no number that says it, and no NaN, which would
drop the call from its group."""
BETWEEN = "|"
"""Between the names of two responses."""
PARTINGS = 20
"""Questions that are listed."""


@dataclass(frozen=True, slots=True)
class Agreed:
    """Cohen's kappa of two judges on an axis (or a `part` of it: a criterion), call by call.

    `equal` is the share of calls with the same verdict, None where grades are too fine for that.
    """

    first: str
    second: str
    axis: str
    part: str
    kind: Kind
    calls: int
    equal: float | None
    plain: Interval | None
    quadratic: Interval


@dataclass(frozen=True, slots=True)
class Parting:
    """A question that divides the judges, what each said, and the commands that open it.

    Of two responses that is a name of theirs, whatever slot it stood in; of scores it is the mean.
    """

    axis: str
    stimulus: str
    question: str
    votes: tuple[str, ...]
    disagreement: float
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Every two judges on every part that both answered, and where all of them part most."""

    judges: tuple[str, ...]
    pairs: tuple[Agreed, ...]
    partings: tuple[Parting, ...]

    def as_record(self) -> dict[str, Any]:
        """The result as JSON has it."""
        return asdict(self)


def agreement(
    names: Sequence[str], runs: Sequence[Mapping[str, Readings]], folders: Sequence[object]
) -> Agreement:
    """Of judges whose runs lie in `folders`; a call is the same question in the same order."""
    # A record may hold a call twice.
    tables = [table[~table.index.duplicated()] for table in map(verdicts_of, runs)]
    votes = pd.concat([table["number"] for table in tables], axis=1, keys=range(len(names)))
    clusters = pd.concat([table["cluster"] for table in tables])
    votes["cluster"] = clusters[~clusters.index.duplicated()]
    return Agreement(
        tuple(names), tuple(_pairs(names, votes)), tuple(_partings(votes.dropna(), folders))
    )


def kappas(first: Floats, second: Floats, clusters: ArrayLike,
           kind: Kind) -> dict[Level, Interval]:  # fmt: skip
    """Cohen's kappa of verdicts (calls,), at each level that such verdicts have."""
    return {level: cohens_kappa(first, second, clusters, level) for level in LEVELS[kind]}


def _pairs(names: Sequence[str], votes: pd.DataFrame) -> Iterator[Agreed]:
    for place, rows in votes.groupby(["axis", "kind", "part"], sort=False):
        axis, kind, part = cast("tuple[str, Kind, str]", place)
        for i, j in combinations(range(len(names)), 2):
            both = rows[[i, j, "cluster"]].dropna()
            if both.empty:
                continue
            first, second = both[i].to_numpy(), both[j].to_numpy()
            found = kappas(first, second, both["cluster"].to_numpy(), kind)
            equal = float((first == second).mean()) if "nominal" in found else None
            yield Agreed(names[i], names[j], axis, part, kind, len(both), equal,
                         found.get("nominal"), found["interval"])  # fmt: skip


def _partings(votes: pd.DataFrame, folders: Sequence[object]) -> Iterator[Parting]:
    """Over the calls that all answered; how far apart in units of what a part's verdicts span."""
    judges = [name for name in votes.columns if name != "cluster"]
    questions = votes.groupby(QUESTION, sort=False)[judges]
    means = questions.mean()
    each = votes[judges].groupby(["axis", "kind", "part"])
    span = (each.max().max(axis=1) - each.min().min(axis=1)).clip(lower=1.0)
    places = [dict(zip(QUESTION, place, strict=True)) for place in means.index]
    of = np.array([span[one["axis"], one["kind"], one["part"]] for one in places])

    def said(at: int) -> Iterator[str]:
        if places[at]["kind"] != "pairs":
            yield from (f"{mean:.3g}" for mean in means.iloc[at])
            return
        calls = questions.get_group(means.index[at])
        orders = [each.to_numpy().T for _, each in calls.groupby("order")]
        for judge in range(len(judges)):
            yield choice([each[judge] for each in orders], places[at]["names"])

    yield from partings(places, means.to_numpy(), of.reshape(-1, 1), folders, said)


def partings(
    places: Sequence[Mapping[str, str]], means: Floats, span: Floats | float,
    folders: Sequence[object], said: Callable[[int], Iterable[str]],
) -> Iterator[Parting]:  # fmt: skip
    """The questions (Q,) on which the judges' mean verdicts (Q, J) lie farthest apart, worst first.

    `places` name the axis, the stimulus, the question and the part of each; `span` is the width of
    its scale, and `said` what each judge said of it.
    """
    spread = (means / span).var(axis=1)
    for at in np.argsort(-spread, kind="stable")[:PARTINGS].tolist():
        if spread[at] <= 0:
            return
        place = places[at]
        opened = tuple(
            f"judgesheet cases {shlex.quote(str(folder))} --axis {place['axis']} "
            f"--stimulus {shlex.quote(place['stimulus'])}"
            for folder in folders
        )
        asked = " ".join(filter(None, (place["part"], place["question"])))
        yield Parting(
            place["axis"], place["stimulus"], asked, tuple(said(at)), float(spread[at]), opened
        )


def choice(orders: Sequence[Floats], names: str) -> str:
    """What a judge said of two responses: their verdicts (calls,) under each order, in names.

    A judge that follows a slot chose either of them, and no tie.
    """
    first, second = names.split(BETWEEN)
    told = [_chosen(each[~np.isnan(each)], first, second) for each in orders]
    if len({*told} - {""}) < 2:
        return max(told)
    return f"{told[0]} if {first} is shown first, {told[1]} if {second} is"


def _chosen(verdicts: Floats, first: str, second: str) -> str:
    """What the calls of one order chose; "" where none gave a verdict."""
    if not verdicts.size:
        return ""
    mean = float(verdicts.mean())
    name = first if mean > 0 else second if mean < 0 else "tie"
    if (verdicts == verdicts[0]).all():
        return name
    return f"{name} mostly" if mean else f"{first} as often as {second}"


def verdicts_of(readings: Mapping[str, Readings], *, lost: bool = False) -> pd.DataFrame:
    """A row per number of a verdict, by `CALL`: the `number`, and the `cluster` of its stimulus.

    Of two responses the one whose name comes first in the alphabet counts 1, the other -1, neither
    0, whatever slot they stood in. A verdict on several things has a row for each. With `lost`,
    calls that should have chosen between two and gave no verdict have a row with NaN.
    """
    rows = [
        row
        for name, one in readings.items()
        for row in _of_axis(name, one.frame[one.frame["value"].notna() | (lost & gone(one.frame))])
    ]
    return pd.DataFrame(rows, columns=[*CALL, "number", "cluster"]).set_index(CALL)


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
            order = _order(shown) if kind == "pairs" else f"{row.get('arm')} {','.join(shown)}"
            names = BETWEEN.join(sorted(shown)) if kind == "pairs" else ""
            yield (name, kind, part, row["stimulus"], asked, _better(row, shown, kind), names,
                   order, int(row["repeat"]), number, row["cluster"])  # fmt: skip


def _numbers(
    value: Any, shown: Sequence[str], row: Mapping[str, Any]
) -> Iterable[tuple[Kind, str, str, float]]:
    """Kind, part, thing and number of what a verdict says, NaN of a lost choice."""
    if isinstance(value, Mapping):
        for thing, rating in value.items():
            if isinstance(rating, Mapping):
                yield "grades", "", str(thing), float(rating["score"])
            else:
                yield "scores", str(thing), "", float(rating)
    elif isinstance(value, str):
        if value in CHOICES and _is_choice(shown, row):
            yield "pairs", "", "", CHOICES[value] * (1 if shown == sorted(shown) else -1)
    elif pd.isna(value):
        if _is_choice(shown, row):
            yield "pairs", "", "", math.nan
    elif isinstance(value, Real):
        yield "scores", "", "", float(value)


def _is_choice(shown: Sequence[str], row: Mapping[str, Any]) -> bool:
    return len(shown) == 2 and row.get("pair") is not None


def _order(shown: Sequence[str]) -> int:
    """Of a pair: 0 where the two stand in the order of their names."""
    return int([*shown] != sorted(shown))


def _better(row: Mapping[str, Any], shown: Sequence[str], kind: Kind) -> float:
    """Of a pair which is better, as a number of it."""
    known = str(row.get("better"))
    if kind != "pairs":
        return UNKNOWN
    return 1.0 if known == min(shown) else -1.0 if known == max(shown) else UNKNOWN

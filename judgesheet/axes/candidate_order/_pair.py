"""Verdicts on pairs: how a reply is read, and the arrays that every estimate starts from."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judgesheet.axes.candidate_order._design import BASELINE, LISTING, STRICT
from judgesheet.axis import Readings
from judgesheet.axis.estimate import maker
from judgesheet.axis.reply import json_objects, one_reading
from judgesheet.records import Estimate, PaperCompatible
from judgesheet.stats.interval import Interval, by_cluster, cluster_rate, wilson
from judgesheet.stats.pairwise import FIRST, INVALID, SECOND, TIE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

estimate = maker("candidate_order")

CODES: Mapping[str, int] = {
    "1": FIRST,
    "2": SECOND,
    "tie": TIE,
    "abstain": TIE,
    "invalid": INVALID,
}
"""What a reply may say; an abstention is no preference, `invalid` exists only in recordings."""
MISSING = -1
ANSWERS = frozenset({"1", "2", "tie", "abstain"})

SETS: Mapping[str, str] = {
    "same_subset": "delta0_same",
    "different_subset": "delta0_different",
    "natural": "natural",
}
"""Sets of pairs without a better response that is known, and their conditions."""
SET_WORDS: Mapping[str, str] = {
    "same_subset": "same content in other words",
    "different_subset": "equally much, but other content",
    "natural": "own pairs",
}


# -- reading a reply -----------------------------------------------------------------------------


def read(text: str, reply: str) -> str | None:
    """`1`, `2`, `tie` or `abstain`, or None if the reply does not say exactly one of them.

    A recorded verdict may also be `invalid`: an answer outside the allowed ones.
    """
    if reply == "recorded":
        try:
            verdict = _verdict(json.loads(text))
        except ValueError:
            return None
        return verdict if verdict in CODES else None
    found = list(json_objects(text))
    if None in found:
        return None
    winners = [_verdict(obj["winner"]) for obj in found if obj is not None and "winner" in obj]
    verdict = one_reading(winners)
    return verdict if verdict in ANSWERS else None


def _verdict(value: object) -> str | None:
    """A verdict as text: 1 and "1" are the same, capitals and blanks around it do not matter."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value)
    return value.strip().lower() if isinstance(value, str) else None


# -- verdicts as arrays --------------------------------------------------------------------------


@dataclass(frozen=True)
class Pairs:
    """Pairs of responses and what was said about them.

    `verdicts` has shape (pairs, 2 orders, repeats): a code of `stats.pairwise`, or `MISSING`; the
    first order shows (u, v). The other arrays have one entry per pair: its stimulus, by name and as
    a code from 0, and the keys of its cell. `seed` is the run's.
    """

    verdicts: "Ints"
    stimulus: "NDArray[np.object_]"
    cluster: "Ints"
    name: "NDArray[np.object_]"
    condition: "NDArray[np.object_]"
    kind: "NDArray[np.object_]"
    delta: "Floats"
    better: "NDArray[np.object_]"
    prompt: "NDArray[np.object_]"
    listing: "NDArray[np.object_]"
    seed: int

    def __len__(self) -> int:
        return len(self.cluster)

    def where(self, **values: object) -> "Pairs":
        """The pairs whose arrays have these values."""
        keep = np.ones(len(self), dtype=bool)
        for name, value in values.items():
            keep &= getattr(self, name) == value
        return self._take(keep)

    def _take(self, keep: "Flags") -> "Pairs":
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        arrays: dict[str, Any] = {
            name: value[keep] for name, value in values.items() if isinstance(value, np.ndarray)
        }
        return replace(self, **arrays)

    @cached_property
    def main(self) -> "Pairs":
        """The pairs of every arm but the one that lists the answers in another order."""
        return self.where(listing=LISTING)

    @property
    def ordered(self) -> "Pairs":
        """The pairs of which one response is known to be better."""
        return self._take(np.isin(self.better, ("u", "v")))

    @property
    def prompts(self) -> list[str]:
        """The prompts that were used, the baseline first."""
        return [prompt for prompt in (BASELINE, STRICT) if (self.prompt == prompt).any()]

    @property
    def steps(self) -> list[float]:
        """The steps of the ladder that were shown, in rising order."""
        return sorted({float(step) for step in self.delta[self.condition == "ladder"]})

    @property
    def clusters(self) -> int:
        """Number of stimuli with a verdict."""
        answered = (self.verdicts != MISSING).any(axis=(1, 2))
        return len(np.unique(self.cluster[answered]))

    def both_orders(self) -> tuple["Ints", "Ints"]:
        """Verdicts (m, 2) of pairs that were answered in both orders, and the stimulus of each.

        Every repeat of a pair is one row.
        """
        rows = np.moveaxis(self.verdicts, 2, 1).reshape(-1, 2)
        cluster = np.repeat(self.cluster, self.verdicts.shape[2])
        whole: Flags = (rows != MISSING).all(axis=1)
        return rows[whole], cluster[whole]

    @property
    def partial(self) -> "Flags":
        """Per pair, whether a repeat of it was answered in one order only."""
        answered = self.verdicts != MISSING
        partial: Flags = (answered.any(axis=1) & ~answered.all(axis=1)).any(axis=1)
        return partial

    @property
    def slots(self) -> "Floats":
        """1 where the first slot was chosen, -1 the second, 0 neither, NaN where unknown."""
        return self._mapped({FIRST: 1.0, SECOND: -1.0, TIE: 0.0})

    @property
    def contents(self) -> "Floats":
        """1 where u was chosen, -1 where v, 0 neither, NaN where unknown."""
        contents: Floats = self.slots * np.array([1.0, -1.0])[:, None]
        return contents

    @property
    def decided(self) -> "Floats":
        """1 where a response was chosen, 0 where none, NaN where unknown."""
        return np.abs(self.slots)

    @property
    def correct(self) -> "Floats":
        """1 where the better response was chosen, -1 the other one, 0 neither, NaN unknown."""
        side = np.where(self.better == "u", 1.0, -1.0)
        correct: Floats = self.contents * side[:, None, None]
        return correct

    @property
    def better_slot(self) -> "Ints":
        """The slot of the better response, shape (pairs, 2)."""
        first = self.better == "u"
        return np.stack([np.where(first, 1, 2), np.where(first, 2, 1)], axis=1)

    def _mapped(self, values: Mapping[int, float]) -> "Floats":
        result = np.full(self.verdicts.shape, np.nan)
        for code, value in values.items():
            result[self.verdicts == code] = value
        return result

    def by_task(self, values: "Floats") -> tuple["Floats", "Floats"]:
        """Sums and counts per stimulus of values (pairs, 2, repeats), NaN left out."""
        each = values.reshape(len(self), -1)
        return by_cluster(each.ravel(), np.repeat(self.cluster, each.shape[1]))


def arrange(readings: Readings) -> Pairs | None:
    """The arrays of a run, or None if no pair was planned."""
    frame = readings.frame
    if frame.empty:
        return None
    table = pd.DataFrame(
        {
            "stimulus": frame["stimulus"],
            "name": frame["pair"],
            "condition": frame["condition"],
            "kind": _column(frame, "kind", None),
            "delta": pd.to_numeric(_column(frame, "delta", np.nan)).astype(float),
            "better": _column(frame, "better", None),
            "prompt": _column(frame, "prompt", BASELINE).fillna(BASELINE),
            "listing": _column(frame, "listing", LISTING).fillna(LISTING),
        }
    )
    keys = ["stimulus", "name", "condition", "prompt", "listing"]
    code, _ = pd.factorize(pd.MultiIndex.from_frame(table[keys]))
    first = ~pd.Series(code).duplicated().to_numpy()
    pairs = table[first]
    swapped = np.array([order[0] == "v" for order in frame["order"]], dtype=np.int64)
    repeat = frame["repeat"].to_numpy(dtype=np.int64)
    verdicts = np.full((len(pairs), 2, int(repeat.max()) + 1), MISSING, dtype=np.int64)
    verdicts[code, swapped, repeat] = [CODES.get(value, MISSING) for value in frame["value"]]
    columns = {
        name: pairs[name].to_numpy(dtype=object)
        for name in ("stimulus", "name", "condition", "kind", "better", "prompt", "listing")
    }
    return Pairs(
        verdicts=verdicts,
        cluster=np.asarray(pd.factorize(pairs["stimulus"])[0], dtype=np.int64),
        delta=pairs["delta"].to_numpy(dtype=float),
        seed=readings.seed,
        **columns,
    )


def _column(frame: pd.DataFrame, name: str, default: object) -> "pd.Series[Any]":
    if name in frame:
        return frame[name]
    return pd.Series([default] * len(frame), index=frame.index, dtype=object)


# -- writing estimates down ------------------------------------------------------------------------


def at_prompt(prompt: str) -> dict[str, object]:
    """The dimension of a prompt; the baseline has none."""
    return {} if prompt == BASELINE else {"prompt": prompt}


def under(prompt: str) -> str:
    """The condition of an estimate, in words."""
    return f"{prompt} prompt"


def step(delta: float) -> str:
    """A step as keys name it: 0.5, 1, 2."""
    return f"{delta:g}"


def sets(pairs: Pairs) -> Iterator[tuple[Pairs, str, dict[str, object], str]]:
    """(pairs, prompt, dimensions, words) of each set of pairs and prompt that was run."""
    for name, condition in SETS.items():
        mine = pairs.main.where(condition=condition)
        for prompt in mine.prompts:
            dims: dict[str, object] = {"set": name, **at_prompt(prompt)}
            yield mine.where(prompt=prompt), prompt, dims, SET_WORDS[name]


def rate(
    name: str,
    label: str,
    sums: "Floats",
    sizes: "Floats",
    missing: str,
    dims: dict[str, object] | None = None,
    *,
    conditions: str = "",
    note: str = "",
    published: bool = True,
) -> Estimate:
    """A share of calls or pairs, counted per stimulus; Wilson beside it where the paper has it."""
    n = int(sizes.sum())
    found = cluster_rate(sums, sizes)
    naive = wilson(float(sums.sum()), n)
    paper = PaperCompatible(naive.value, naive.low, naive.high, "Wilson, clusters ignored (003)")
    return from_interval(
        name,
        label,
        found,
        n,
        missing,
        dims,
        unit="share",
        conditions=conditions,
        note=note,
        paper=paper if published and n else None,
    )


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
        return estimate(name, label, None, dims, unit=unit, conditions=conditions, note=missing)
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

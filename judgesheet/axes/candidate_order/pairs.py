"""Verdicts as arrays, and groups of pairs that are counted together; the input of every figure."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Flags, Floats, Ints, filled
from judgesheet.axis.failing import less_usual, misses
from judgesheet.axis.figure import Figures, UnkeyedEstimate, wilson_beside
from judgesheet.axis.items import cluster_codes, codes
from judgesheet.axis.pairs import Counts, PairTable, placed
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats.flips import CallFlips, call_flips, one_hot
from judgesheet.stats.interval import cluster_rate
from judgesheet.stats.paired import sign_test

from .ask import BASELINE, LISTING, STRICT
from .read import CODES, chosen

LADDER = "pairs a known number of required elements apart (condition ladder)"
figure = Figures(
    "candidate_order",
    missing={
        "set=natural": "own pairs (condition natural)",
        "set=same_subset": "pairs of equal quality (condition delta0_same)",
        "set=filler": "pairs with filler added (condition filler)",
        "": LADDER,
    },
)

MISSING = -1
"""The code of a verdict that was not given or could not be read."""
# Slot by verdict code: tie, first, second, invalid, and `MISSING`, which indexes the last.
_SLOT = np.array([0.0, 1.0, -1.0, np.nan, np.nan])

SETS: Mapping[str, str] = {
    "same_subset": "delta0_same",
    "different_subset": "delta0_different",
    "natural": "natural",
}
"""Sets of pairs that are equally good by design, or the user's own, and their conditions."""
FILLER = "filler"
"""Pairs of which one response is padded. Of these only changes with the order are told as of a set:
a preference in them is no false one of two equally good responses."""
SWAPPED_SETS: Mapping[str, str] = {**SETS, FILLER: "filler"}
"""The sets of which changes with the order are told, and their conditions."""
SET_WORDS: Mapping[str, str] = {
    "same_subset": "same content in other words",
    "different_subset": "equally much, but other content",
    "natural": "own pairs",
    FILLER: "pairs with padding",
}

CHANCE = 0.05
"""Level at which the slots of the better responses are told from slots drawn at random."""
NOT_ANSWERED = Reason("not_answered", "no such pair was answered")


@dataclass(frozen=True, eq=False)
class Pairs(PairTable):
    """Pairs of responses and the verdicts on them.

    `verdicts` has shape (pairs, 2 orders, repeats): a code of `stats.pairwise`, or `MISSING`; the
    first order shows (u, v). `asked` (pairs, 2 orders) says which were to be asked.
    """

    verdicts: Ints
    asked: Flags

    @cached_property
    def main(self) -> "Pairs":
        """The pairs of every arm except the one that lists the answers in another order."""
        return self.where(listing=LISTING)

    @cached_property
    def ordered(self) -> "Pairs":
        """The pairs of which one response is known to be better."""
        return self.take(self.cells["better"].isin(["u", "v"]).to_numpy())

    @property
    def prompts(self) -> list[str]:
        """The prompts used, the baseline first."""
        return [prompt for prompt in (BASELINE, STRICT) if (self.cells["prompt"] == prompt).any()]

    @property
    def steps(self) -> list[float]:
        """How many steps apart the responses of these pairs are, in rising order."""
        return sorted(self.cells["delta"].unique().tolist())

    # -- groups ------------------------------------------------------------------------------------

    def by_prompt(self, words: str, **dims: object) -> Iterator["Group"]:
        """These pairs under each prompt; the baseline has no dimension in a key."""
        for prompt in self.prompts:
            under = {} if prompt == BASELINE else {"prompt": prompt}
            yield Group(self.where(prompt=prompt), prompt, {**dims, **under}, words)

    @cached_property
    def sets(self) -> tuple["Group", ...]:
        """Each set of pairs without a better response, under each prompt."""
        return tuple(
            group
            for name, condition in SETS.items()
            for group in self.main.where(condition=condition).by_prompt(SET_WORDS[name], set=name)
        )

    @cached_property
    def swapped_sets(self) -> tuple["Group", ...]:
        """These sets and the padded pairs."""
        padded = self.main.where(condition=SWAPPED_SETS[FILLER])
        return (*self.sets, *padded.by_prompt(SET_WORDS[FILLER], set=FILLER))

    @cached_property
    def rungs(self) -> tuple["Group", ...]:
        """Each step of the ladder, then own pairs with a better response, under each prompt."""
        return tuple(self._rungs())

    def _rungs(self) -> Iterator["Group"]:
        for prompt in self.main.prompts:
            mine = self.main.where(prompt=prompt)
            ladder = mine.where(condition="ladder")
            for delta in ladder.steps:
                name = f"{delta:g}"
                yield from ladder.where(delta=delta).by_prompt(apart(name), delta=name)
            yield from mine.where(condition="natural").ordered.by_prompt("own pairs", set="natural")

    # -- arrays ------------------------------------------------------------------------------------

    @property
    def clusters(self) -> int:
        """Number of independent stimuli with a verdict."""
        return len(np.unique(self.cluster[(self.verdicts != MISSING).any(axis=(1, 2))]))

    @cached_property
    def both_orders(self) -> tuple[Ints, Ints]:
        """Verdicts (m, 2) of pairs that were answered in both orders, and the cluster of each.

        Every repeat of a pair is one row.
        """
        rows = np.moveaxis(self.verdicts, 2, 1).reshape(-1, 2)
        cluster = np.repeat(self.cluster, self.verdicts.shape[2])
        whole: Flags = (rows != MISSING).all(axis=1)
        return rows[whole], cluster[whole]

    @cached_property
    def partial(self) -> Flags:
        """Per pair, whether one of its repeats was answered in one order only."""
        answered = self.verdicts != MISSING
        partial: Flags = (answered.any(axis=1) & ~answered.all(axis=1)).any(axis=1)
        return partial

    @cached_property
    def slots(self) -> Floats:
        """1 where the first slot was chosen, -1 the second, 0 neither, NaN where unknown."""
        return _SLOT[self.verdicts]

    @cached_property
    def contents(self) -> Floats:
        """1 where u was chosen, -1 where v, 0 neither, NaN where unknown."""
        contents: Floats = self.slots * np.array([1.0, -1.0])[:, None]
        return contents

    @cached_property
    def decided(self) -> Floats:
        """1 where a response was chosen, 0 where none, NaN where unknown."""
        return np.abs(self.slots)

    @cached_property
    def correct(self) -> Floats:
        """1 where the better response was chosen, -1 the other one, 0 neither, NaN unknown."""
        side = np.where(self.cells["better"] == "u", 1.0, -1.0)
        return self.contents * side[:, None, None]

    @cached_property
    def better_first(self) -> Flags:
        """Whether slot 1 holds the better response, shape (pairs, 2 orders, 1)."""
        u_better = (self.cells["better"] == "u").to_numpy()
        return np.stack([u_better, ~u_better], axis=1)[..., None]

    @property
    def slot_tells(self) -> bool:
        """Whether the better response stood in one slot more often than drawn orders would have it.

        A preference for that slot then looks like a sense of quality.
        """
        first, second = (int(self.asked[self.better_first[..., 0] == at].sum()) for at in (1, 0))
        return not first * second or sign_test(first, second) < CHANCE


@dataclass(frozen=True, eq=False)
class Group:
    """Pairs that are counted together: a set, a step or a kind, under one prompt.

    `dims` are the dimensions of its figures, `words` its name in labels.
    """

    pairs: Pairs
    prompt: str
    dims: Mapping[str, object]
    words: str

    @property
    def conditions(self) -> str:
        """The condition of its figures, in words."""
        return f"{self.prompt} prompt"

    def rate(
        self,
        label: str,
        counts: Counts,
        reason: Reason = NOT_ANSWERED,
        *,
        note: str = "",
    ) -> UnkeyedEstimate:
        """A share of calls or pairs, by sums and counts per cluster.

        Wilson's interval is given beside it, as in the paper; `reason` says why there is no call.
        """
        hits, calls = (float(part.sum()) for part in counts)
        paper = wilson_beside(hits, int(calls), "Wilson, clusters ignored (003)")
        return UnkeyedEstimate(
            label,
            cluster_rate(*counts),
            self.dims,
            n=int(calls),
            conditions=self.conditions,
            note=note,
            paper=paper if calls else None,
        ).or_absent(reason)

    @cached_property
    def flips(self) -> CallFlips:
        """How often two calls on a pair disagree on the winner, in two orders and in one."""
        # -1, 0 and 1 (v, neither, u) as options 1 to 3.
        return call_flips(one_hot(self.pairs.contents + 2, 3))

    @cached_property
    def ties(self) -> UnkeyedEstimate:
        """The share of calls that say tie, which appears under several names on the sheet."""
        return self.rate(f"Tie, {self.words}", self.pairs.by_task(1 - self.pairs.decided))


def arrange(readings: Readings) -> Pairs | None:
    """The arrays of a run, or None if no pair was planned."""
    import pandas as pd

    frame = readings.frame
    if frame.empty:
        return None
    columns = [
        *("stimulus", "cluster", "pair", "condition", "kind", "delta", "better", "prompt"),
        "listing",
    ]
    cells = frame.reindex(columns=columns).astype(object)
    cells = cells.fillna({"prompt": BASELINE, "listing": LISTING})  # recordings may lack both
    cells["delta"] = pd.to_numeric(cells["delta"]).astype(float)
    # What names a pair under a prompt; the other columns are facts about it.
    keys = ["stimulus", "pair", "condition", "prompt", "listing"]
    first, places = placed(frame, cells, keys, ("v",))
    pairs = cells[first].assign(cluster=cluster_codes(frame["cluster"][first]))
    given = [CODES.get(value, MISSING) for value in frame["value"]]
    verdicts = filled(places, given, (len(pairs), 2), MISSING).astype(np.int64)
    asked = filled(places[:2], np.ones(len(frame)), (len(pairs), 2), 0) > 0
    return Pairs(pairs, verdicts, asked)


def apart(delta: str) -> str:
    """How far two responses are apart, in labels: `1 element apart`."""
    return f"{delta} element{'' if float(delta) <= 1 else 's'} apart"


def by_set(symbol: str) -> Callable[[Mapping[str, str]], str]:
    """The symbol of a figure of sets: plain on same content, `_nat` on own pairs."""
    ends = {"same_subset": "", "different_subset": "_diff", "natural": "_nat", FILLER: "_fil"}
    return lambda dims: symbol + ends[dims["set"]]


def errors(readings: Readings) -> Floats:
    """Whether the worse response was chosen, less what is usual at its step."""
    frame = readings.frame.reindex(columns=["value", "order", "better", "delta", "prompt"])
    off = misses(chosen, frame, [(one,) if one in ("u", "v") else () for one in frame["better"]])
    known = ~np.isnan(off[0])
    step = codes(frame.loc[known, ["delta", "prompt"]])
    off[0, known] = less_usual(off[0, known], step)
    return off

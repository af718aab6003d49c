"""A simulated judge of altered responses: tastes, slots and noise that differ between stimuli.

A stimulus has a slot preference and a taste of three kinds each, equally likely; verdicts are drawn
as in `axes.presentation.read`.
"""

from dataclasses import dataclass
from functools import cache
from itertools import permutations, product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from judgesheet.axes.presentation.ask import PROFILES, SCALE
from judgesheet.axes.presentation.figures import Pairs, Verdicts

Floats = NDArray[np.float64]
Rng = np.random.Generator
KINDS = (-1.0, 0.0, 1.0)
OWN = 2
"""Own pairs beside each stimulus, every one a stimulus of its own."""
FAMILIES = {"ours-1": "ours", "ours-2": "ours", "theirs": "theirs"}
"""The systems that wrote own pairs, and the family of each."""
DOSES = {"length": 1.0, "format": 0.7, "hedged": -0.7}
"""Taste per doubling of the words, and for other kinds once; 0.5 for those not named."""


@dataclass(frozen=True)
class Judge:
    """Logits of a judge; those named `..._spread` are multiplied by -1, 0 or 1 by stimulus.

    `taste` is that for a doubling of the words, and in parts for other alterations; `obeys` the
    share of stimuli on which every note is obeyed, `always` that on which every altered copy wins.
    `own` is for responses of the family "ours", `points` what a logit of taste adds to a score,
    `noise` the standard deviation of a score.
    """

    taste: float = 0.0
    taste_spread: float = 0.0
    slot: float = 0.0
    slot_spread: float = 0.0
    tie: float = 1.5
    sensitivity: float = 2.0
    obeys: float = 0.0
    always: float = 0.0
    own: float = 0.0
    points: float = 0.5
    noise: float = 0.7

    def verdicts(self, stimuli: int, rng: Rng) -> Verdicts:
        """As the axis arranges what is read on so many stimuli and their own pairs."""
        cells = layout(stimuli)
        many = int(cells["cluster"].max()) + 1
        slot = (self.slot + self.slot_spread * rng.choice(KINDS, many))[cells["cluster"]]
        taste = (self.taste + self.taste_spread * rng.choice(KINDS, many))[cells["cluster"]]
        towards = taste * cells["strength"] - self.sensitivity * cells["missing"]
        natural = (cells["kind"] == "natural").to_numpy()
        own = (
            self.sensitivity * cells["people"] + taste * cells["longer"] + self.own * cells["ours"]
        )
        towards = np.where(natural, own, towards)
        obeyed = (rng.random(many) < self.obeys)[cells["cluster"]]
        towards = np.where(obeyed & (cells["kind"] == "instruction").to_numpy(), 1e3, towards)
        altered = (cells["strength"] != 0).to_numpy() & ~natural
        always = (rng.random(many) < self.always)[cells["cluster"]]
        towards = np.where(always & altered, 1e3, towards)
        # The altered copy (a) stands second in the first order.
        leaning = towards[:, None] + slot[:, None] * np.array([-1.0, 1.0])
        wins, loses = special.expit(leaning - self.tie), special.expit(-leaning - self.tie)
        drawn = rng.random(leaning.shape)
        contents = np.where(drawn < wins, 1.0, np.where(drawn > 1 - loses, -1.0, 0.0))
        return Verdicts(Pairs(cells, contents[..., None]), self._scores(stimuli, taste, rng))

    def _scores(self, stimuli: int, taste: Floats, rng: Rng) -> pd.DataFrame:
        """Scores of every stimulus, plain and padded; `taste` has a place per pair."""
        cells = layout(stimuli)
        first = cells.drop_duplicates("cluster").index[:stimuli]
        level = rng.uniform(4, 7, stimuli)
        rows = []
        for kind, strength in (("plain", 0.0), ("length", 1.0)):
            mean = level + self.points * strength * taste[first]
            scores = np.clip(np.rint(mean + self.noise * rng.normal(size=stimuli)), 1, SCALE)
            homes = range(stimuli)  # each stimulus is a cluster
            same = {"kind": kind, "home": homes, "cluster": homes, "repeat": 0}
            rows.append(pd.DataFrame({**same, "score": scores}))
        return pd.concat(rows, ignore_index=True)


@cache
def layout(stimuli: int) -> pd.DataFrame:
    """One row a pair, as in the profile standard on all stimuli; `strength` tastes.

    Own pairs stand behind, of lengths and verdicts of people that are unrelated; `people` and
    `ours` are 1 where people and family are for a, and -1 where for b.
    """
    arms = {
        (arm.kind, form, arm.dose, float(arm.missing))
        for arm in PROFILES["standard"]
        for form in arm.forms[:1]
        if arm.ask == "pair"
    }
    rows = [
        {
            "kind": kind, "form": form, "dose": dose, "missing": missing,
            "pair": f"{kind}-{form}-{dose:g}-{missing:g}", "strength": _strength(kind, dose),
            "longer": 0.0, "better": None, "systems": None, "families": None,
            "people": 0.0, "ours": 0.0,
        }
        for kind, form, dose, missing in sorted(arms)
    ]  # fmt: skip
    once = pd.DataFrame(rows)
    table = pd.concat([once] * stimuli, ignore_index=True)
    table["cluster"] = np.repeat(np.arange(stimuli), len(once))
    lengths, people = (-1.0, -0.5, 0.5, 1.0), ("a", "b")
    every = list(product(lengths, people, permutations(FAMILIES, 2)))
    natural = [
        {
            "kind": "natural", "form": "plain", "dose": 1.0, "missing": 0.0,
            "pair": f"own-{number}", "strength": 0.0, "cluster": stimuli + number,
            "longer": longer, "better": better,
            "systems": list(two), "families": [FAMILIES[name] for name in two],
            "people": 1.0 if better == "a" else -1.0, "ours": _ours(*two),
        }
        for number in range(OWN * stimuli)
        for longer, better, two in [every[(number * 7) % len(every)]]
    ]  # fmt: skip
    table = pd.concat([table, pd.DataFrame(natural)], ignore_index=True)
    return table.assign(stimulus=table["cluster"].map("stimulus {}".format))


def _ours(first: str, second: str) -> float:
    """1 if only a is of the family "ours", -1 if only b is, else 0."""
    return float(FAMILIES[first] == "ours") - (FAMILIES[second] == "ours")


def _strength(kind: str, dose: float) -> float:
    """What an alteration is worth in tastes."""
    if kind == "quality":
        return 0.0
    return DOSES.get(kind, 0.5) * (float(np.log2(dose)) if kind == "length" else 1.0)

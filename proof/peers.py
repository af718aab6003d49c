"""`python -m proof.peers`: what other packages say of the judges of which we know everything.

Needs `pip install judgebias juryrig judgekit judicator judgecal` beside judgesheet, in an
environment of its own; what is not installed is left out. Prints two tables of docs/peers.md: in
which share of data sets a package says that the judge prefers padding, or a slot, and how often its
interval holds the truth. All are asked about the same verdicts: comparisons in both orders, no
ties.
"""

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from judgesheet.axis.arrays import Floats
from judgesheet.stats.interval import by_cluster, cluster_mean
from proof.tables import grid

SETS, PAIRS = 150, 60
"""Data sets of each judge, and pairs in each."""
LENGTHS = (100, 200)
"""Words of the plain and of the padded response."""


class Verdicts(NamedTuple):
    """Whether the second response of each pair (padded; or the better one) won, under each order.

    `won` has shape (pairs, 2): first shown second, then first. `groups` are the stimuli.
    """

    won: Floats
    groups: "np.ndarray[tuple[int], np.dtype[np.int64]]"


@dataclass(frozen=True)
class Judge:
    """A judge of pairs, whose probabilities are these logits.

    `taste` pulls towards the second response, `slot` towards what is shown first; each is spread
    between stimuli, of which each has `per_group` pairs.
    """

    taste: float = 0.0
    taste_spread: float = 0.0
    slot: float = 0.0
    slot_spread: float = 0.0
    per_group: int = 1

    def draw(self, pairs: int, rng: np.random.Generator) -> Verdicts:
        """Verdicts on so many pairs."""
        groups = np.arange(pairs) // self.per_group
        draws = rng.standard_normal((2, groups.max() + 1))
        taste = self.taste + self.taste_spread * draws[0][groups]
        slot = self.slot + self.slot_spread * draws[1][groups]
        leaning = np.stack([taste - slot, taste + slot], axis=1)
        return Verdicts((rng.random((pairs, 2)) < 1 / (1 + np.exp(-leaning))).astype(float), groups)


class Said(NamedTuple):
    """Whether a package says that there is a bias, and its interval where it has one."""

    found: bool
    ends: tuple[float, float] | None = None


Ask = Callable[[Verdicts], Said | None]


def ours(
    value: Callable[[Verdicts], Floats], within: tuple[float, float], nulls: tuple[float, float]
) -> Ask:
    """A figure of ours that is a mean over stimuli of one value per pair; `nulls` are no bias."""

    def ask(verdicts: Verdicts) -> Said:
        one = cluster_mean(*by_cluster(value(verdicts), verdicts.groups), within=within)
        ends = (-np.inf if one.low is None else one.low, np.inf if one.high is None else one.high)
        return Said(ends[0] > nulls[1] or ends[1] < nulls[0], ends)

    return ask


def _sides(verdicts: Verdicts) -> Floats:
    return 2 * verdicts.won - 1


def _first_slot(verdicts: Verdicts) -> Floats:
    """Share of the first slot in each pair."""
    shares: Floats = (1 - verdicts.won[:, 0] + verdicts.won[:, 1]) / 2
    return shares


PREFERENCE = ours(lambda given: given.won.mean(axis=1), (0.0, 1.0), (0.5, 0.5))
EXCESS = ours(lambda given: _sides(given).prod(axis=1), (-1.0, 1.0), (-1.0, 0.0))
SLOT = ours(_first_slot, (0.0, 1.0), (0.5, 0.5))


def _of(result: Any) -> tuple[float, float]:
    return float(result.ci_low), float(result.ci_high)


def _judgebias_length(judgebias: Any, given: Verdicts) -> Said:
    won = given.won.reshape(-1)
    short, long = (np.full(won.size, words) for words in LENGTHS)
    found = judgebias.length_bias(short, long, np.where(won == 1, "b", "a"))
    return Said(found.present, _of(found))


def _judgebias_position(judgebias: Any, given: Verdicts) -> Said:
    found = judgebias.position_bias(given.won[:, 0] != given.won[:, 1])
    return Said(found.present)


def _judgekit(judgekit: Any, given: Verdicts, *, length: bool) -> Said | None:
    if length:  # asks for people's verdicts that are not ties, which equal content has not got
        return None
    record = import_module("judgekit.schema").PairwiseVerdict
    rows = [
        record(item_id=str(group), choice="b" if won else "a", swapped=bool(order))
        for group, both in zip(given.groups, given.won, strict=True)
        for order, won in enumerate(both)
    ]
    found = judgekit.position_preference(rows)
    return Said(bool(found.triggered), (float(found.ci[0]), float(found.ci[1])))


def _juryrig(juryrig: Any, given: Verdicts, *, length: bool) -> Said | None:
    if length:  # it asks for scores, and pads by itself
        return None

    def compare(prompt: str, a: str, b: str, rubric: str) -> str:
        del b, rubric
        won = given.won[int(prompt), 0 if a == "first" else 1]
        return "B" if (won == 1) == (a == "first") else "A"

    cases = [(str(number), "first", "second") for number in range(len(given.won))]
    return Said(juryrig.position_bias(SimpleNamespace(compare=compare), cases, "").flagged)


def _judicator(tests: Any, given: Verdicts, *, length: bool) -> Said:
    test = tests.VerbosityBiasTest() if length else tests.PositionBiasTest()
    names = ("original", "manipulated") if length else ("loser", "winner")
    cases = [
        {"question": str(number), **{f"{name}_response": name for name in names}}
        for number in range(len(given.won))
    ]

    def said(prompt: str) -> str:
        number, shown_first = prompt.split()
        plain_first = shown_first == names[0]
        won = given.won[int(number), 0 if plain_first else 1]
        return "B" if (won == 1) == plain_first else "A"

    judge = import_module("judicator.judge").Judge(
        said, "", "{question} {response_a}{response_b:.0}", judge_type="pairwise"
    )
    counter = import_module("judicator.cost").CallCounter()
    return Said(test.run(judge, cases, counter).verdict == "FAIL")


def _judgecal(probes: Any, given: Verdicts, *, length: bool) -> Said:
    """Its analysis of a probe, of the verdicts on ours: rows of a stimulus are one item to it."""
    name = "verbosity" if length else "position"
    orders = ("pad_second", "pad_first") if length else ("orig", "swap")
    core = import_module("judgecal.core")
    usual = dict.fromkeys(core.REQUIRED_META_KEYS)
    judgments = [
        core.Judgment(
            custom_id=f"{pair}-{order}",
            verdict="second" if (won == 1) != bool(order) else "first",
            raw_text=None,
            meta={**usual, "probe": name, "condition": orders[order], "item_id": str(group),
                  "repeat": 0, "first_is_a": not order},
        )
        for pair, (group, both) in enumerate(zip(given.groups, given.won, strict=True))
        for order, won in enumerate(both)
    ]  # fmt: skip
    found = probes.get_probe(name).analyze(judgments, probes.ProbeConfig())
    card = import_module("judgecal.report.card").build_card([found], {})
    flagged = {flag for entry in card.probes for flag in entry.flags}
    rate = next(one for one in found.estimates if one.name.endswith("_pick_rate"))
    return Said(f"{name}_bias_detected" in flagged, _of(rate))


def others(*, length: bool) -> Iterator[tuple[str, Ask]]:
    """The packages that are installed and can be asked about verdicts."""
    for name, module, ask in (
        ("judgebias", "judgebias.core", _judgebias_length if length else _judgebias_position),
        ("juryrig", "juryrig.audits", partial(_juryrig, length=length)),
        ("judgekit", "judgekit.bias", partial(_judgekit, length=length)),
        ("judicator", "judicator.biases", partial(_judicator, length=length)),
        ("judgecal", "judgecal.probes", partial(_judgecal, length=length)),
    ):
        with suppress(ImportError):
            yield name, partial(ask, import_module(module))


LENGTH_JUDGES = {
    "a coin": Judge(),
    "a slot, no taste": Judge(slot=0.8),
    "a slot that differs between stimuli": Judge(slot_spread=3.0),
    "stimuli of six, tastes that cancel": Judge(taste_spread=2.0, per_group=6),
    "loves length": Judge(taste=0.6),
    "loves length, stimuli of six": Judge(taste=0.6, taste_spread=1.0, per_group=6),
    "loves it here and hates it there": Judge(taste_spread=3.0),
}
POSITION_JUDGES = {
    "errs at random in 20 %": Judge(taste=1.386),
    "leans to the first slot": Judge(taste=1.386, slot=0.5),
    "takes a slot by the stimulus": Judge(taste=1.386, slot_spread=2.0, per_group=6),
}
TRUTH_PAIRS = 200_000


def table(judges: dict[str, Judge], asked: list[tuple[str, Ask, Any]]) -> str:
    """A row per judge: the share in which each says bias, and how often its interval holds."""
    rows = []
    for name, judge in judges.items():
        pairs = PAIRS * (2 if judge.per_group > 1 else 1)
        seen: defaultdict[str, list[tuple[bool, bool | None]]] = defaultdict(list)
        whole = judge.draw(TRUTH_PAIRS, np.random.default_rng(1))
        truths = {package: float(truth(whole).mean()) for package, _, truth in asked if truth}
        rng = np.random.default_rng([20_261_125, pairs])
        for _ in range(SETS):
            given = judge.draw(pairs, rng)
            for package, ask, _ in asked:
                said = ask(given)
                if said is not None:
                    held = said.ends and said.ends[0] <= truths[package] <= said.ends[1]
                    seen[package].append((said.found, held if said.ends else None))
        rows.append([name, *(_cell(seen[package]) for package, _, _ in asked)])
    return grid(["judge", *(package for package, _, _ in asked)], rows)


def _cell(seen: list[tuple[bool, bool | None]]) -> str:
    """`.05 / .95`: says bias, interval holds."""
    if not seen:
        return "–"
    held = [one for _, one in seen if one is not None]
    covers = f" / {np.mean(held):.2f}" if held else ""
    return f"{np.mean([found for found, _ in seen]):.2f}{covers}"


def main() -> None:
    """Draw, ask everybody, print."""
    warnings.filterwarnings("ignore")

    def longer(given: Verdicts) -> Floats:
        return given.won

    mine: list[tuple[str, Ask, Any]] = [
        ("judgesheet, preference", PREFERENCE, longer),
        ("judgesheet, excess", EXCESS, lambda given: _sides(given).prod(axis=1)),
    ]
    print(table(LENGTH_JUDGES, [*mine, *((*one, longer) for one in others(length=True))]))
    print(
        table(
            POSITION_JUDGES,
            [
                ("judgesheet, share of slot 1", SLOT, _first_slot),
                *((*one, _first_slot) for one in others(length=False)),
            ],
        )
    )


if __name__ == "__main__":
    main()

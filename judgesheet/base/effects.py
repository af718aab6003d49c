"""What an axis says that a judge may do wrong, and what the data say of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Use = Literal["ranking", "scoring", "order", "regression"]
"""What a judge is used for: choosing the better response, giving scores, having no preference for
an order, staying as it was."""
EffectVerdict = Literal["shown", "negligible", "inconclusive", "not_measured", "invalid"]
"""What the data say of an effect; the words that are printed are in the contract of the sheet."""
EXCESS = 0.002
"""What changes beyond noise may take of the one error of a fair judge's sheet: one per axis, which
has a test as well."""
EVERY_USE: tuple[Use, ...] = ("ranking", "scoring", "order", "regression")


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect that a judge may have, as its axis declares it.

    `key` is the estimate that measures it (a dimension `*` stands for one effect per member),
    `null` its value where there is no effect, and `small` how far from that it may be without
    mattering, in the unit of the estimate. `harm` is the side of `null` that hurts. `guessing` is
    the key of what a guess gives, where that differs between runs: `null` then lies midway between
    it and 1. `test` is the key of a p-value that may show it too: of effects with one test, the
    first that is not negligible. `noise` is the estimate of the same quantity where nothing but
    repetition changes. `share` is what the effect may take of the one
    error of a fair judge's sheet. `remedy` is the code of a `Mitigation` of the axis, "" where
    none was measured.

    `slice` names the calls that it concerns (`{"field": "medicine"}`), empty for all; of such an
    effect nothing is said unless it is shown.

    `departs` says which stimulus is an example of it: the one whose calls are furthest from the
    right answer (`error`), or differ most under other orders (`change`); "" for none. `example` is
    the id of that stimulus among the calls that the figure reads, as it was measured.

    `says` has a sentence of at most 30 words for `shown`, `negligible` and `inconclusive`, with
    `{value}`, `{interval}`, `{bound}`, `{noise}` and dimensions (`{kind}`) to be filled in.
    """

    key: str
    null: float
    small: float
    harm: Literal["up", "down", "both"]
    says: Mapping[str, str]
    uses: tuple[Use, ...] = EVERY_USE
    guessing: str = ""
    test: str = ""
    noise: str = ""
    share: float = 0.0
    remedy: str = ""
    slice: Mapping[str, str] = field(default_factory=dict)
    departs: Literal["error", "change", ""] = ""
    example: str = ""


@dataclass(frozen=True, slots=True)
class JudgedEffect:
    """An effect with what the data of a run say of it.

    `key` is that of the estimate, without `*`. `text` is the sentence for a reader. `bound` is the
    bound that decided: of what is shown the end next to `null`, of the rest the far end. `p` is
    that of the test, None without one. `slice` names where a judge fails (`{"field": "medicine"}`),
    empty for an effect on all calls. `why` says why it is invalid or was not measured. `example` is
    the id of a stimulus on which what is shown is plain, "" where none is known.
    """

    key: str
    verdict: EffectVerdict
    text: str
    value: float | None
    low: float | None
    high: float | None
    bound: float | None
    p: float | None
    uses: tuple[Use, ...]
    remedy: str = ""
    why: str = ""
    slice: Mapping[str, str] = field(default_factory=dict)
    example: str = ""

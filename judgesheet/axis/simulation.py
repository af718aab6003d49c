"""The parameters of simulated judges, and the arithmetic that the axes' answers share.

`judges.simulated` reads `sim/NAME?key=value&…` into `Parameters`; how a judge with those parameters
answers stands with each axis, in `axes/<axis>/read.py`.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NamedTuple, Protocol, TypeVar, get_type_hints

from judgesheet.base.records import digest

T = TypeVar("T")


class Kind(NamedTuple):
    """How a value is written: `read` raises ValueError or KeyError unless it is `words`."""

    words: str
    read: Callable[[str], Any]


def number(words: str, low: float = -math.inf, high: float = math.inf) -> Kind:
    """A finite number within limits."""

    def read(text: str) -> float:
        value = float(text)
        if not (math.isfinite(value) and low <= value <= high):
            raise ValueError(text)
        return value

    return Kind(words, read)


def numbers(words: str, low: float = -math.inf, high: float = math.inf) -> Kind:
    """Finite numbers within limits with colons in between."""
    read = number(words, low, high).read
    return Kind(words, lambda text: tuple(map(read, text.split(":"))))


POLICIES = {name: name for name in ("model", "hash", "slot1", "ties", "longer", "coin")}

Weight = Annotated[float, number("a number from 0", 0, 1e6)]
Width = Annotated[float, number("a number from 0.001 to 1000", 1e-3, 1e3)]
Spread = Annotated[float, number("a number from 0 to 1000", 0, 1e3)]
Logit = Annotated[float, number("a logit")]
PositiveLogit = Annotated[float, number("a logit from 0", 0, 1e3)]
Slope = Annotated[float, number("logits per step")]
Logits = Annotated[tuple[float, ...], numbers("logits such as 1:0:0:0:1")]
Shifts = Annotated[tuple[float, ...], numbers("points such as 1:0:0:0:-1")]
Factors = Annotated[tuple[float, ...], numbers("factors such as 1:-1")]
Gap = Annotated[float, number("points from 0 to 100")]
Points = Annotated[float, number("points from 0", 0, 1e3)]
Share = Annotated[float, number("a share from 0 to 1", 0, 1)]
Shares = Annotated[tuple[float, ...], numbers("shares from 0 to 1 such as 0:1", 0, 1)]
Level = Annotated[float | None, number("a number from 0 to 1", 0, 1)]
Milliseconds = Annotated[float, number("milliseconds from 0", 0, 1e6)]
Whole = Annotated[int, Kind("a whole number", int)]
Switch = Annotated[int, Kind("0 or 1", {"0": 0, "1": 1}.__getitem__)]
Policy = Annotated[str, Kind("model, hash, slot1, ties, longer or coin", POLICIES.__getitem__)]


@dataclass(frozen=True, slots=True)
class Parameters:
    """The planted parameters. Each field is a key of `sim/NAME?key=value` and says what it does.

    `own` holds those declared by axes of other packages; see `of`.
    """

    quality: Annotated[Weight, "weight of the content; 0 ignores it"] = 1.0
    width: Annotated[Width, "spread around the right score, in quarters of the scale"] = 0.5
    first: Annotated[Logit, "preference for the first line or place"] = 0.0
    last: Annotated[Logit, "preference for the last line or place"] = 0.0
    position: Annotated[Logits, "preference for every line or place, interpolated"] = ()
    interaction: Annotated[
        Spread, "standard deviation between items of the preference for a line (or `shift`)"
    ] = 0.0
    shift: Annotated[Shifts, "added to a criterion at each place of the list, interpolated"] = ()
    weights: Annotated[Factors, "of `shift`, for the criteria in alphabetical order"] = (1.0,)
    heeds: Annotated[
        Shares, "how far scores follow the quality meant, for the criteria in alphabetical order"
    ] = (1.0,)
    halo: Annotated[Share, "of every criterion's level that is taken from the first by name"] = 0.0
    slot: Annotated[Logit, "preference for slot 1 of a comparison"] = 0.0
    tie: Annotated[PositiveLogit, "what a preference must exceed; otherwise it is a tie"] = 6.0
    strict: Annotated[PositiveLogit, "added to `tie` by the strict prompt"] = 2.0
    sensitivity: Annotated[Slope, "preference for the better response of a comparison"] = 12.0
    surface: Annotated[Spread, "standard deviation of the preference for a wording"] = 0.0
    filler: Annotated[Logit, "preference for the padded copy of a response"] = 0.0
    lapse: Annotated[Share, "of calls that prefer one where there is nothing to prefer"] = 0.0
    keyed: Annotated[Share, "of `slot` that is left after the judge has given its own answer"] = 0.0
    gap: Annotated[Gap, "added to the right answer of a list"] = 20.0
    shared: Annotated[
        Points, "standard deviation of an answer's error that is the same in all orders"
    ] = 0.0
    perturb: Annotated[Points, "standard deviation of an answer's error in one order"] = 0.0
    unsure: Annotated[Share, "of the answers of a list that are marked uncertain"] = 0.1
    policy: Annotated[
        Policy,
        "how comparisons and lists are decided: by all this, by the letters of the prompt, "
        "for what stands first, all equal, for more words, or by chance",
    ] = "model"
    level: Annotated[Level, "what every item is taken to deserve"] = None
    scored: Annotated[
        Shares, "levels that the worst to the best item are scored at, interpolated"
    ] = (0.0, 1.0)
    prone: Annotated[Share, "of stimuli on which a preference for a place or slot shows"] = 1.0
    greedy: Annotated[Switch, "1 takes the likeliest answer instead of drawing one"] = 0
    slip: Annotated[Share, "of replies that are given at random"] = 0.0
    unreadable: Annotated[Share, "of replies that cannot be read"] = 0.0
    refused: Annotated[Share, "of replies that are refusals"] = 0.0
    calming: Annotated[
        Spread, "on a rubric, `first` and `last` are divided by 1 + calming * temperature"
    ] = 0.0
    latency_ms: Annotated[Milliseconds, "delay of each reply"] = 0.0
    seed: Annotated[Whole, "of all random choices"] = 0
    own: Mapping[str, Any] = field(default_factory=dict)

    def of(self, record: type[T]) -> T:
        """The parameters that an axis declares itself (`SIMULATED`), as given or by default."""
        return record(**{key: value for key, value in self.own.items() if key in declared(record)})

    def deserved(self, level: float) -> float:
        """The level at which this judge scores an item, 0..1, whose true level is `level`."""
        if self.level is not None:
            return self.level
        return _along(self.scored, level * (len(self.scored) - 1))

    def on(self, stimulus: str) -> "Parameters":
        """The parameters that hold for a stimulus; without those of position if it is not prone."""
        if self.prone == 1 or self.rng(stimulus, "prone").random() < self.prone:
            return self
        return replace(self, **_BLIND)

    def rng(self, *parts: object) -> random.Random:
        """A generator that is the same whenever it is asked for with the same parts."""
        # By name and not in sequence: the order in which calls are answered changes no answer.
        return random.Random(":".join(map(str, (self.seed, *parts))))  # noqa: S311

    def normal(self, spread: float, *parts: object) -> float:
        """A normal number with mean 0, the same whenever it is asked for with the same parts."""
        return spread * self.rng(*parts).gauss(0, 1) if spread else 0.0

    def position_logits(self, item: str, n: int) -> list[float]:
        """The planted preference of each of `n` lines or places for this item."""
        logits = interpolated(self.position, n)
        logits[0] += self.first
        logits[-1] += self.last
        if self.interaction:
            rng = self.rng(item, "lines")
            noise = [rng.gauss(0.0, self.interaction) for _ in range(n)]
            mean = math.fsum(noise) / n
            logits = [logit + one - mean for logit, one in zip(logits, noise, strict=True)]
        return logits

    def score_logits(
        self, scores: Sequence[int], mu: float, scale: int, weight: float = 1.0
    ) -> list[float]:
        """-weight * (score - mu)**2 / (2 * sd**2) of each score; sd = width * (scale - 1) / 4."""
        spread = 2 * (self.width * (scale - 1) / 4) ** 2
        return [-weight * (score - mu) ** 2 / spread for score in scores]

    def probabilities(self, logits: Sequence[float]) -> list[float]:
        """Softmax; a greedy judge takes the likeliest, the first of equals."""
        top = max(logits)
        if self.greedy:
            chosen = logits.index(top)
            return [float(place == chosen) for place in range(len(logits))]
        # Less the largest: exp of a planted logit of 1,000 would overflow.
        weights = [math.exp(logit - top) for logit in logits]
        total = math.fsum(weights)
        return [weight / total for weight in weights]


_BLIND: Mapping[str, Any] = {
    **dict.fromkeys(("first", "last", "interaction", "slot"), 0.0),
    **dict.fromkeys(("position", "shift"), ()),
}
"""What a judge is planted that has no preference for a place."""


def declared(record: type) -> dict[str, tuple[Kind, str]]:
    """How each parameter of a dataclass such as `Parameters` is written, and what it does."""
    hints = get_type_hints(record, include_extras=True).items()
    return {name: hint.__metadata__ for name, hint in hints if hasattr(hint, "__metadata__")}


class Known(Protocol):
    """What a call's item deserves, overall or on a criterion."""

    def __call__(self, criterion: str = "") -> float:
        """The intended level, 0..1; where nobody said, one that follows from the item's name."""


def drawn(rng: random.Random, shares: Mapping[T, float]) -> T:
    """One of the keys, each with its share."""
    return rng.choices(list(shares), list(shares.values()))[0]


def hashed(text: str) -> int:
    """32 bits that follow from a text."""
    return int(digest(text)[:8], 16)


def interpolated(knots: Sequence[float], n: int) -> list[float]:
    """`n` values on the straight lines through `knots`, ends kept."""
    if len(knots) < 2 or n < 2:
        return [knots[0] if knots else 0.0] * n
    return [_along(knots, line * (len(knots) - 1) / (n - 1)) for line in range(n)]


def _along(knots: Sequence[float], place: float) -> float:
    """The value at a place on the straight lines through `knots`, which stand at 0, 1, …"""
    left = max(0, min(int(place), len(knots) - 2))
    right = min(left + 1, len(knots) - 1)
    return knots[left] + (place - left) * (knots[right] - knots[left])

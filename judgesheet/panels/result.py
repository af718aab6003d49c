"""What is known of judges together."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from judgesheet.correcting.result import ReportedNumber
from judgesheet.decide.agreement import Parting

Truth = Literal["known", "dawid-skene", "none"]
"""What accuracy is measured against: the better one that stimuli name, or a model of the votes."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two judges: kappa of their verdicts (plain, quadratic), and the correlation of errors."""

    first: str
    second: str
    kappa: ReportedNumber
    quadratic: ReportedNumber
    errors: ReportedNumber


@dataclass(frozen=True, slots=True)
class Option:
    """A way to decide: judges that vote, orders and repeats that each is asked, calls it takes."""

    judges: tuple[str, ...]
    orders: int
    repeats: int
    calls: int
    accuracy: ReportedNumber


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the figures of a judge rest on.

    It was `asked` so many comparisons in both orders; on those that every judge was asked it made
    so many `calls`, of which so many are `lost`: they gave no verdict. `unread` comparisons have
    one of them.
    """

    judge: str
    asked: int
    calls: int
    lost: int
    unread: int


@dataclass(frozen=True, slots=True)
class Panel:
    """All of it; `best` has an option per size, `recommended` is the cheapest that is proven."""

    judges: tuple[str, ...]
    questions: int
    stimuli: int
    independent: int
    truth: Truth
    target: float | None
    pairs: tuple[Pair, ...]
    best: tuple[Option, ...]
    singles: tuple[Option, ...]
    recommended: Option | None
    advice: str
    atlas: tuple[Parting, ...]
    warnings: tuple[str, ...] = ()
    coverage: tuple[Coverage, ...] = ()

    def as_record(self) -> dict[str, Any]:
        """The result as JSON has it."""
        return asdict(self)

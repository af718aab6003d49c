"""What findings of axes have in common."""

from collections.abc import Sequence

from judgesheet.axis.statements import MOSTLY, surely_above
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Estimate


def hardly_ranks(estimates: Estimates) -> Estimate | None:
    """The share of readings in which several responses are best, if that is surely most of them."""
    ties = estimates.known("top_tie_rate")
    return ties if ties is not None and surely_above(ties, MOSTLY) else None


def listed(names: Sequence[str]) -> str:
    """`a, b and c`; the first four of more than that."""
    shown = names if len(names) < 5 else [*names[:4], f"{len(names) - 4} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)

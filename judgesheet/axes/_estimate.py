"""How an axis writes an estimate down: one key per function, dimensions in brackets."""

from collections.abc import Callable, Collection
from typing import Any, Literal

from judgesheet.records import Estimate


def key(axis: str, name: str, **dimensions: object) -> str:
    """`axis.name` or `axis.name[dim=value,…]`, dimensions in the order given."""
    inside = ",".join(f"{dim}={value}" for dim, value in dimensions.items())
    return f"{axis}.{name}[{inside}]" if inside else f"{axis}.{name}"


def maker(axis: str) -> Callable[..., Estimate]:
    """A function that builds the axis's estimates: `make(name, label, value, dims={…}, …)`.

    A value of None needs a `note`; that is checked by `Estimate` itself.
    """

    def make(
        name: str,
        label: str,
        value: float | None,
        dims: dict[str, object] | None = None,
        **evidence: Any,
    ) -> Estimate:
        number = None if value is None else float(value)
        for bound in ("low", "high"):
            if evidence.get(bound) is not None:
                evidence[bound] = float(evidence[bound])
        return Estimate(key(axis, name, **(dims or {})), label, number, **evidence)

    return make


def better(
    name: str,
    *,
    higher: Collection[str],
    neither: Collection[str],
    nearer: Collection[str] = (),
) -> Literal["lower", "higher", "nearer", ""]:
    """Which way a user wants the estimate `name[…]`: most measure a fault, so lower is better."""
    family = name.partition("[")[0]
    if family in neither:
        return ""
    if family in nearer:
        return "nearer"
    return "higher" if family in higher else "lower"

"""How an axis writes an estimate down: one key per function, dimensions in brackets."""

from collections.abc import Callable, Collection
from dataclasses import asdict
from typing import Any, Literal

from judgesheet.keys import key
from judgesheet.records import Bounds, Estimate
from judgesheet.stats.interval import Interval, Kind

_RATES = (
    "Wilson",
    "beta-binomial",
    "Clopper-Pearson on clusters",
    "cluster-robust t, within 0 and 1",
)


def _kind(method: str, unit: str, value: float) -> Kind:  # until every room declares its figures
    if method.startswith("mean and 2.5-97.5 percentile"):
        return "band"
    if unit == "share" and 0 <= value <= 1 and method.startswith(_RATES):
        return "rate"
    if method == "cluster-robust t":
        return "mean"
    return "correlation" if method == "Fisher z, delete-a-cluster jackknife, t" else "other"


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
        ends = evidence.get("low"), evidence.get("high")
        if number is not None and None not in ends:
            method, unit = evidence.get("method", ""), evidence.get("unit", "")
            span = Interval(number, evidence["low"], evidence["high"],
                            clusters=evidence.get("clusters", 0), method=method,
                            kind=_kind(method, unit, number))  # fmt: skip
            bounds = span.one_sided(evidence.get("n", 0))
            evidence["bounds"] = bounds and Bounds(**asdict(bounds))
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

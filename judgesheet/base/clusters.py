"""Which stimuli are one: a cluster is what intervals, tests, looks and counts take as independent.

Near copies of one text and stimuli that name the same group are a cluster, which has the name of
its first stimulus; every other stimulus is a cluster of its own. A plan finds out which
(`axis.material.clusters`) and keeps it with what it says of its stimuli; from there every reading
gets its cluster.
"""

from collections.abc import Iterator, Mapping
from typing import Any


class Clusters(dict[str, str]):
    """The cluster of each stimulus of an axis; those that are their own are not stored."""

    def __missing__(self, stimulus: str) -> str:
        return stimulus

    @classmethod
    def of(cls, provenance: Mapping[str, Any], axis: str) -> "Clusters":
        """Those that the provenance of a plan has for an axis; a file may say anything there."""
        pools = (pool for pool in provenance.get("stimuli") or () if pool.get("axis") == axis)
        found = next((pool.get("clusters") for pool in pools), None)
        if not isinstance(found, Mapping):
            return cls()
        return cls((name, first) for name, first in found.items() if isinstance(first, str))


def members(provenance: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Axis, stimulus and cluster of every stimulus that is not a cluster of its own."""
    for pool in provenance.get("stimuli") or ():
        axis = str(pool.get("axis"))
        for stimulus, first in Clusters.of(provenance, axis).items():
            yield axis, stimulus, first

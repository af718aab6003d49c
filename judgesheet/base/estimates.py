"""The estimates of one axis, found by name and dimensions instead of by cutting keys."""

from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter

from judgesheet.base.keys import Key, key
from judgesheet.base.records import Estimate


class Estimates(Mapping[str, Estimate]):
    """The estimates of one axis by key, in the order in which they were measured."""

    def __init__(self, axis: str, estimates: Iterable[Estimate]) -> None:
        self.axis = axis
        self._by_key = {estimate.key: estimate for estimate in estimates}

    def __getitem__(self, wanted: str) -> Estimate:
        return self._by_key[wanted]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_key)

    def __len__(self) -> int:
        return len(self._by_key)

    def key(self, name: str, **dims: object) -> str:
        """The key of a figure of this axis, dimensions in the order given."""
        return key(self.axis, name, **dims)

    def of(self, name: str, **dims: object) -> Estimate | None:
        """The estimate `name[dims]`, measured or not; None where the run has none."""
        return self._by_key.get(self.key(name, **dims))

    def known(self, name: str, **dims: object) -> Estimate | None:
        """The estimate `name[dims]` if it has a value."""
        estimate = self.of(name, **dims)
        return None if estimate is None or estimate.value is None else estimate

    def family(self, name: str, **having: object) -> list[tuple[Mapping[str, str], Estimate]]:
        """The members of `name[…]` with their dimensions, where those are as in `having`."""
        wanted = {dim: str(value) for dim, value in having.items()}
        members = ((Key.parse(key), estimate) for key, estimate in self._by_key.items())
        return [
            (key.dims, estimate)
            for key, estimate in members
            if key.name == name and wanted.items() <= key.dims.items()
        ]

    def curve(self, name: str, **having: object) -> list[tuple[int, Estimate]]:
        """(k, estimate) of the measured members of `name[k=…]` with these dimensions, rising k."""
        members = self.family(name, **having)
        points = ((int(dims["k"]), estimate) for dims, estimate in members if "k" in dims)
        known = [(k, estimate) for k, estimate in points if estimate.value is not None]
        return sorted(known, key=itemgetter(0))

    def with_more(self, estimates: Iterable[Estimate]) -> "Estimates":
        """These and some more."""
        return Estimates(self.axis, (*self._by_key.values(), *estimates))

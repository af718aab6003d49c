"""Which calls stand behind a figure, the worst first.

The declaration of a figure names its view (`cases`); one that names none shows the calls without a
verdict and the readings of an item that are farthest apart.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence

from judgesheet.axis import Axis, Readings
from judgesheet.axis.items import cell_names, items
from judgesheet.axis.views import DEFAULT, Asked, Question, View, every_call, grouped
from judgesheet.base.keys import Key
from judgesheet.base.records import Case

CALLS = "calls"
"""Stands in a key where a figure does: no figure is meant, but every call."""


class CaseFinder:
    """The calls of an axis that were made, and the cases behind its figures."""

    def __init__(self, axis: Axis, readings: Readings) -> None:
        self._figures = axis.ESTIMATES
        self._labels = readings.labels
        self.calls = tuple(_asked(readings))
        self._found: dict[Hashable, tuple[Case, ...]] = {}
        self._by_cell: dict[str, Mapping[str, Sequence[int]]] = {}

    def cases(self, key: Key) -> tuple[Case, ...]:
        """The cases behind a figure, the worst first; equal ones in plan order."""
        view = self._view(key)
        calls = self._chosen(view, key)
        read = {name: key.dims.get(name) for name in view.dims}
        # Many figures share a view and its calls, and comparing readings takes time.
        same = (id(view), tuple(call.id for call in calls), *read.values())
        if same not in self._found:
            question = Question(calls, key, self._labels)
            cases = sorted(view.find(question), key=lambda case: -case.severity)
            self._found[same] = tuple(cases)
        return self._found[same]

    def why_none(self, key: Key) -> str:
        """Why a figure without cases has none, in a sentence."""
        view = self._view(key)
        return f"there are no cases behind {key}: {view.none or view.otherwise}"

    def _view(self, key: Key) -> View:
        """The view that the declaration of a figure names, else the default."""
        if key.name == CALLS:
            return every_call
        figure = self._figures.get(key.name)
        return (figure and figure.cases(key.dims)) or DEFAULT

    def _chosen(self, view: View, key: Key) -> list[Asked]:
        """The calls of the cells that a key names, or of those that the view counts."""
        chosen = set(range(len(self.calls)))
        for name, value in {**view.where, **key.dims}.items():
            if name in view.dims:
                continue
            cell, values = ("arm", value.split("-")) if name == "arms" else (name, [value])
            held = self._held(cell)
            mine = {at for value in values for at in held.get(value, ()) if at in chosen}
            if held:
                chosen = mine
        return [self.calls[at] for at in sorted(chosen)]

    def _held(self, cell: str) -> Mapping[str, Sequence[int]]:
        """What cells hold under this name, as a key would write it -> the calls that do."""
        if cell not in self._by_cell:
            having = [
                at for at, one in enumerate(self.calls) if cell == "order" or cell in one.cell
            ]
            self._by_cell[cell] = grouped(having, lambda at: _written(self.calls[at], cell))
        return self._by_cell[cell]


def _written(call: Asked, name: str) -> str:
    """What a cell says under this name, as a key would write it."""
    value = call.order if name == "order" else call.cell.get(name)
    if isinstance(value, list | tuple):
        return "".join(map(str, value))
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:g}" if is_number else str(value)


def _asked(readings: Readings) -> Iterator[Asked]:
    frame = readings.frame[readings.frame["outcome"].notna()]
    names = cell_names(frame)
    # Arms show the same item under other orders: their readings are compared.
    same = items(frame, across_arms=True)
    for row, item in zip(frame.to_dict("records"), same.tolist(), strict=True):
        yield Asked(
            id=row["call_id"],
            stimulus=row["stimulus"],
            item=item,
            cell={name: row[name] for name in names},
            order=row["order"] if isinstance(row.get("order"), list) else (),
            repeat=row["repeat"],
            value=row["value"],
            shape=row.get("shape") or "",
        )

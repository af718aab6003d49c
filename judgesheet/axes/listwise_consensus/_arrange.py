"""From the replies of a run to the arrays of `_lists`: which call belongs to which arm."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesheet.axes.listwise_consensus._design import ARMS, PERMUTED, REPEATED, sequences
from judgesheet.axes.listwise_consensus._lists import Lists, Runs, Table
from judgesheet.axes.listwise_consensus._material import golds_shown
from judgesheet.axis import Readings
from judgesheet.stats.orders import Order

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class _Prompt:
    """One prompt's verdicts, a list per order (None for an unreadable reply)."""

    ids: tuple[str, ...]
    gold: frozenset[str]
    direct: Any
    repeated: list[Any]
    permuted: dict[Order, list[Any]]


def arrange(readings: Readings) -> Lists | None:
    """The arrays of a run, or None if nothing was planned."""
    if readings.frame.empty:
        return None
    by_size: defaultdict[int, list[_Prompt]] = defaultdict(list)
    for _, rows in readings.frame.groupby(["stimulus", "item"], sort=False):
        prompt = _prompt(rows)
        by_size[len(prompt.ids)].append(prompt)
    sizes = sorted(by_size, key=lambda n: (-len(by_size[n]), n))
    return Lists(tuple(_table(n, by_size[n]) for n in sizes), readings.seed)


def _prompt(rows: "pd.DataFrame") -> _Prompt:
    """Sort a prompt's calls into arms; arms without a canonical reading of their own share one."""
    ids = _canonical(rows)
    places = {name: place + 1 for place, name in enumerate(ids)}
    canonical = tuple(places.values())
    direct: list[Any] = []
    repeated: dict[int, Any] = {}
    permuted: defaultdict[Order, dict[int, Any]] = defaultdict(dict)
    columns = (rows[name] for name in ("arm", "order", "repeat", "value"))
    for arm, shown, repeat, verdict in zip(*columns, strict=True):
        # A recorded call on other candidates has no place in the arrays of this list.
        if set(shown) != set(ids):
            continue
        if arm == PERMUTED:
            permuted[tuple(places[name] for name in shown)][int(repeat)] = verdict
        elif arm == REPEATED:
            repeated[int(repeat)] = verdict
        else:
            direct.append(verdict)
    if direct:
        repeated.setdefault(0, direct[0])
    if repeated and canonical not in permuted:
        permuted[canonical] = dict(repeated)
    first = [*direct, *_by_repeat(repeated), *_by_repeat(permuted[canonical])]
    # The orders that the designs show, in their sequence; others follow as they come.
    known = dict.fromkeys((*sequences(len(ids)), *sequences(len(ids), "williams")))
    rank = {order: place for place, order in enumerate(known)}
    return _Prompt(
        ids=ids,
        gold=golds_shown(rows.iloc[0].to_dict()),
        direct=first[0],
        repeated=_by_repeat(repeated),
        permuted={
            order: _by_repeat(permuted[order])
            for order in sorted(permuted, key=lambda order: rank.get(order, len(rank)))
        },
    )


def _by_repeat(verdicts: Mapping[int, Any]) -> list[Any]:
    return [verdicts[repeat] for repeat in sorted(verdicts)]


def _canonical(rows: "pd.DataFrame") -> tuple[str, ...]:
    """The order of the direct reading, else of the repeated ones, else the first that was shown."""
    for arm in ARMS:
        mine = rows.loc[rows["arm"] == arm, "order"]
        if len(mine):
            return tuple(mine.iloc[0])
    raise ValueError("a prompt without a call")


def _table(n: int, prompts: list[_Prompt]) -> Table:
    count, canonical = len(prompts), tuple(range(1, n + 1))
    orders = max(len(prompt.permuted) for prompt in prompts)
    # The canonical order may be read many times; how often the others were is what matters here.
    reads = max(
        (len(reads) for p in prompts for order, reads in p.permuted.items() if order != canonical),
        default=1,
    )
    table = Table(
        permuted=Runs.unread(count, orders, reads, n),
        repeated=Runs.unread(count, max(len(prompt.repeated) for prompt in prompts), n),
        direct=Runs.unread(count, n),
        place=np.full((count, orders, n), -1, dtype=np.int64),
        gold=np.array([[name in prompt.gold for name in prompt.ids] for prompt in prompts]),
        executions=min(len(reads) for prompt in prompts for reads in prompt.permuted.values()),
    )
    for row, prompt in enumerate(prompts):
        table.direct.record(row, prompt.direct, prompt.ids)
        for at, verdict in enumerate(prompt.repeated):
            table.repeated.record((row, at), verdict, prompt.ids)
        for at, (order, verdicts) in enumerate(prompt.permuted.items()):
            table.place[row, at] = np.argsort(order)
            for read, verdict in enumerate(verdicts[:reads]):
                table.permuted.record((row, at, read), verdict, prompt.ids)
    return table

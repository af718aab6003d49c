"""Which calls ask about the same thing: the identity of an item, for whoever compares its calls."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesheet.axis.arrays import Ints

if TYPE_CHECKING:
    import pandas as pd

_NOT_THE_CELL = {
    *(
        "call_id",
        "axis",
        "stimulus",
        "cluster",
        "repeat",
        "reply",
        "outcome",
        "value",
        "distribution",
    ),
    *("host", "order", "question", "shape"),
}


def cell_names(frame: "pd.DataFrame") -> list[str]:
    """The columns of a table of readings that are of the cells, but for the order."""
    return [name for name in frame.columns if name not in _NOT_THE_CELL]


def items(frame: "pd.DataFrame", *, across_arms: bool = False) -> Ints:
    """The item of each call, as codes from 0: calls that differ in order and repeat alone.

    `across_arms` they may differ in the arm too: arms show the same items under other orders.
    """
    names = [name for name in cell_names(frame) if not (across_arms and name == "arm")]
    return codes(frame[["stimulus", *names]])


def questions(frame: "pd.DataFrame") -> Ints:
    """The question of each call, as codes from 0: calls that asked the same in the same words.

    Recorded verdicts hold no words; what shows the same items in the same order is one question.
    """
    if "question" in frame and not (frame["reply"] == "recorded").any():
        return codes(frame[["cluster", "question"]])
    item = items(frame, across_arms=True)
    return codes(frame[["order"]].assign(item=item))


def codes(columns: "pd.DataFrame") -> Ints:
    """A code per different row, in order of appearance; values may be lists."""
    import pandas as pd

    combined = np.zeros(len(columns), dtype=np.int64)
    for name in columns:
        more = value_codes(columns[name])
        pairs = combined * (int(more.max(initial=0)) + 1) + more
        # Numbered anew after each column: the product of all codes would overflow.
        combined = np.asarray(pd.factorize(pairs)[0], dtype=np.int64)
    return combined


def value_codes(values: "pd.Series[Any]") -> Ints:
    """A code per different value, in order of appearance: what has the same JSON is the same."""
    import pandas as pd

    found: Ints
    if values.dtype != object:
        found = np.asarray(pd.factorize(values, use_na_sentinel=False)[0], dtype=np.int64)
        return found
    # Values recur as the same objects: each is written once.
    things = values.to_numpy()
    same, _ = pd.factorize(np.fromiter(map(id, things), dtype=np.int64, count=len(things)))
    texts = [json.dumps(thing, default=str) for thing in things[firsts(same)]]
    found = np.asarray(pd.factorize(np.array(texts, dtype=object))[0], dtype=np.int64)
    return found[same]


def cluster_codes(clusters: "pd.Series[Any]") -> Ints:
    """A code from 0 per cluster, in order of appearance; codes that they have already stay."""
    import pandas as pd

    if clusters.dtype.kind == "i":
        return clusters.to_numpy(dtype=np.int64)
    return np.asarray(pd.factorize(clusters)[0], dtype=np.int64)


def firsts(codes: Ints) -> Ints:
    """Where each code from 0 stands first; unlike `np.unique`, without sorting them."""
    first = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # of equal ones the last written stays
    return first

"""Do the hosts behind one name of a model judge alike?

A router spreads calls over several hosts, and a server tells of its builds. That there are several
is no fault; that they answer the same question differently is one of the run.
"""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Floats
from judgesheet.axis.items import questions
from judgesheet.axis.streams import stream
from judgesheet.base.digits import counted
from judgesheet.base.limits import MOST_EXAMPLES
from judgesheet.base.records import Control
from judgesheet.base.sanitize import brief, listed
from judgesheet.stats.losses import permutation_p

if TYPE_CHECKING:
    import pandas as pd

ERROR = 0.001
"""Probability that hosts which judge alike fail the control."""


def control(readings: Readings) -> Iterator[Control]:
    """Whether the host that answered most judges like the others; nothing where one answered."""
    if "host" not in readings.frame:
        return
    frame = readings.frame
    read = frame[frame["host"].notna() & frame["value"].notna()]
    hosts = Counter(read["host"])
    if len(hosts) < 2:
        return
    names = [f"{brief(name)} ({counted(number, 'call')})" for name, number in hosts.most_common()]
    text = f"{len(hosts)} hosts or builds answered under one name: {listed(names, MOST_EXAMPLES)}"
    # Calls of one question are exchanged, whoever answered them.
    p = permutation_p(
        (read["host"] == hosts.most_common(1)[0][0]).astype(float),
        _features(read["value"]),
        questions(read),
        stream(readings.seed, "hosts"),
    )
    differs = p is not None and p < ERROR
    found = "the same question is answered differently" if differs else "no difference is shown"
    text += f"; {found}" if p is None else f"; {found} (p = {p:.2g})"
    yield Control(
        "hosts judge alike",
        False if differs else None,
        text,
        code="hosts_alike",
        of="run",
        mend="pin one host, such as by the router's `provider` in --extra-body, and measure again "
        "with --fresh",
    )


def _features(values: "pd.Series") -> Floats:
    """What verdicts hold, a column per number or word in them, shape (calls, columns)."""
    import pandas as pd

    table = pd.json_normalize([{"value": value} for value in values])
    return pd.get_dummies(table).fillna(0.0).to_numpy(dtype=np.float64)

"""The streams of random numbers of a measured run: one for each thing that draws.

So that what one of them draws moves no other figure, and a figure is the same whatever else is
measured. Designs draw by the name of their axis, or by the id of a stimulus (`drawn_for`).
"""

import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

STREAMS: Mapping[str, int] = {
    "lists": 4,
    "scores": 5,
    "criteria": 7,
    "loss_rate": 11,
    "order_dependence_p": 13,
    "hosts": 21,
    "slices": 23,
    "anchors": 25,
}
"""What draws, and its number, which never changes: another one would move published figures."""


def stream(seed: int, name: str) -> "np.random.Generator":
    """A fresh generator of a run's seed for one of `STREAMS`."""
    import numpy as np

    return np.random.default_rng([seed, STREAMS[name]])


def drawn_for(seed: int, *names: str) -> "np.random.Generator":
    """A fresh generator of a run's seed for whatever has these names, such as a stimulus's id."""
    import numpy as np

    return np.random.default_rng([seed, *(zlib.crc32(name.encode()) for name in names)])

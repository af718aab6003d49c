"""Does the judge prefer where there is nothing to prefer?"""

from collections.abc import Iterator

import numpy as np

from judgesheet.axes.candidate_order._design import KINDS
from judgesheet.axes.candidate_order._pair import Pairs, at_prompt, rate, under
from judgesheet.records import Estimate

NOTHING = "no vacuum pair was answered"


def dark_current(pairs: Pairs) -> Iterator[Estimate]:
    """Share of calls that prefer one of two responses although there is nothing to prefer.

    Both responses are empty, only white space, or the same text (003 equation 1). A tie or an
    abstention is right, every preference is made up. Read it by kind: a pooled 2/3 can be "two
    kinds always, the third never". Beta-binomial or design-effect Wilson interval over tasks.
    """
    vacuum = pairs.main.where(condition="vacuum")
    for prompt in vacuum.prompts:
        mine = vacuum.where(prompt=prompt)
        yield _rate(mine, "Preference in vacuum, all kinds", at_prompt(prompt), prompt)
        for kind in KINDS:
            here = mine.where(kind=kind)
            if len(here):
                dims: dict[str, object] = {"kind": kind, **at_prompt(prompt)}
                yield _rate(here, f"Preference in vacuum, {kind} pairs", dims, prompt)


def _rate(pairs: Pairs, label: str, dims: dict[str, object], prompt: str) -> Estimate:
    sums, sizes = pairs.by_task(pairs.decided)
    kinds = len(np.unique(pairs.kind.astype(str)))
    note = "" if "kind" in dims or kinds < 2 else "kinds can differ: read them one by one"
    return rate(
        "dark_current", label, sums, sizes, NOTHING, dims, conditions=under(prompt), note=note
    )

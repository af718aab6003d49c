"""Does the judge prefer where there is nothing to prefer? (the vacuum of paper 003)"""

from collections.abc import Iterator

from judgesheet.axes.candidate_order._cases import PREFERS, USUAL
from judgesheet.axes.candidate_order._design import KINDS
from judgesheet.axes.candidate_order._pairs import Group, Pairs, figure
from judgesheet.axis.figure import Draft
from judgesheet.base.missing_reasons import Reason

NO_VACUUM = Reason("no_vacuum", "no pair with nothing to prefer was answered")
KIND_WORDS = {
    "identical": "the same text twice",
    "empty": "two empty responses",
    "whitespace": "two blank responses",
}
"""What a pair shows in which there is nothing to prefer."""
_SYMBOLS = {"identical": "DC_=", "empty": "DC_0", "whitespace": "DC_s"}


@figure(
    "share",
    symbol=lambda dims: _SYMBOLS[dims["kind"]],
    null=0.0,
    headline={"kind=identical": 5, "kind=empty": 13, "kind=whitespace": 14},
    missing="pairs with nothing to prefer (condition vacuum)",
    sweep={"kind=identical": 3},
    passes_blind=True,
    reads="vacuum",
    cases=PREFERS.only(condition="vacuum", **USUAL),
)
def dark_current(pairs: Pairs) -> Iterator[Draft]:
    """Share of calls that prefer one of two responses although there is nothing to prefer.

    Both responses are empty, only white space, or the same text (003 equation 1). A tie or an
    abstention is right; every preference is false. Read it by kind: a pooled 2/3 can mean "two
    kinds always, the third never". Beta-binomial or design-effect Wilson interval over tasks.
    """
    for vacuum in pairs.main.where(condition="vacuum").by_prompt("all kinds"):
        kinds = vacuum.pairs.cells["kind"].nunique(dropna=False)
        yield _rate(vacuum, "kinds can differ: read them one by one" if kinds > 1 else "")
        for kind in KINDS:
            for group in vacuum.pairs.where(kind=kind).by_prompt(KIND_WORDS[kind], kind=kind):
                yield _rate(group)


def _rate(group: Group, note: str = "") -> Draft:
    counts = group.pairs.by_task(group.pairs.decided)
    label = f"Preference where there is none to have, {group.words}"
    return group.rate(label, counts, NO_VACUUM, note=note)

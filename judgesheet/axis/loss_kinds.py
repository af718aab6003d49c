"""Whether calls are lost by the kind of question, on axes whose cells name a `kind`.

A judge that refuses what holds a note to it, or another language, leaves a rest in which just that
kind is rare.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from judgesheet.axis.figure import Figures, UnkeyedEstimate
from judgesheet.axis.losses import Calls, permuted
from judgesheet.stats.interval import by_cluster, cluster_rate

figure = Figures("")


@dataclass(frozen=True, slots=True)
class MostLostKind:
    """Conditions of `loss_kind_p`: the kind that lost the largest share of its calls."""

    kind: str
    lost: int
    calls: int

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        return f"most: {self.lost} of {self.calls} calls of the kind {self.kind}"


@figure("rate")
def loss_kind_rate(calls: Calls) -> Iterator[UnkeyedEstimate]:
    """Share of calls that gave no verdict, for each kind of question.

    Only where a call was lost. Cluster interval over stimuli.
    """
    kinds = calls.frame["kind"].to_numpy()
    for kind in sorted(set(kinds)) if calls.some else ():
        mine = kinds == kind
        counts = by_cluster(calls.gone[mine].astype(float), calls.cluster[mine])
        label = f"Calls without a verdict of the kind {kind}"
        yield UnkeyedEstimate(label, cluster_rate(*counts), {"kind": kind}, n=int(mine.sum()))


@figure("p", better="")
def loss_kind_p(calls: Calls) -> Iterator[UnkeyedEstimate]:
    """p-value of "whether a call is lost does not depend on the kind of question".

    How many calls are lost is permuted over the questions on a stimulus, so that a stimulus of
    which more is lost shows nothing; the conditions name the kind that lost most.
    """
    import pandas as pd

    if not calls.some:
        return
    kind, names = pd.factorize(calls.frame["kind"], sort=True)
    p = calls.permutation_p(np.eye(len(names))[kind], calls.frame[["stimulus"]])
    lost, asked = by_cluster(calls.gone.astype(float), kind)
    worst = int(np.argmax(lost / asked))
    conditions = MostLostKind(str(names[worst]), int(lost[worst]), int(asked[worst]))
    label = "p: lost calls and the kind of question"
    yield permuted(label, calls, p, "over a stimulus's questions", conditions)


FIGURES = {one.name: one for one in (loss_kind_rate, loss_kind_p)}

"""Does a judge choose the same greeting whichever of two is listed first?

A whole axis in one folder, as somebody else might write it: it uses public names only.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import BaseModel

from judgesheet.axis import Options, Problem, Readings
from judgesheet.axis.figure import Figures, UnkeyedEstimate, absent, declared_in, measured
from judgesheet.axis.prompt import compile_prompt
from judgesheet.axis.shaping import Holds, NotAStimulusError, Prompt
from judgesheet.axis.simulation import Known, Parameters
from judgesheet.base.estimates import Estimates
from judgesheet.base.missing_reasons import NO_OBSERVATIONS
from judgesheet.base.records import (
    Call,
    Control,
    Estimate,
    Label,
    Mitigation,
    Plot,
    Rating,
    Recommendation,
    ReplyFormat,
    Statement,
    Stimulus,
)
from judgesheet.stats.interval import by_cluster, cluster_rate

NAME = "greeting_order"
TITLE = "Order of two greetings"
QUESTION = "Does a judge choose the same greeting whichever of two is listed first?"
PERMUTED = frozenset({"greetings"})
PARTS = "comparison"
TAKES = {Holds.ANSWERS: 3}

figure = Figures(NAME, missing="greetings in both orders")


@figure("share", symbol="G", better="nearer", null=0.5, headline=1, sweep=1)
def first_share(frame: pd.DataFrame) -> UnkeyedEstimate:
    """Share of calls that choose the greeting listed first; 1/2 if the order does not matter."""
    read = frame.dropna(subset=["value"])
    if read.empty:
        return absent("First greeting chosen", NO_OBSERVATIONS)
    chose_first = (read["value"] == read["order"].map(lambda order: order[0])).astype(float)
    share = cluster_rate(*by_cluster(chose_first, np.asarray(read["stimulus"])))
    return UnkeyedEstimate("First greeting chosen", share, n=len(read))


class Material(BaseModel):
    """One line of a stimuli file."""

    id: str
    greetings: tuple[str, str]


def material() -> type[BaseModel]:
    """The schema of one stimulus."""
    return Material


def shape(prompt: Prompt) -> dict[str, Any]:
    """An imported prompt with two responses, which are the greetings."""
    if len(prompt.responses) != 2:
        raise NotAStimulusError("not two responses")
    return {"id": prompt.id, "greetings": [response.text for response in prompt.responses]}


def labels(stimuli: Sequence[Stimulus]) -> Iterator[Label]:
    """Nothing is known of greetings."""
    del stimuli
    return iter(())


def design(
    stimuli: Sequence[Stimulus], options: Options, rng: np.random.Generator
) -> Iterator[Call]:
    """Every pair in both orders."""
    own = Path(__file__).with_name("greeting_order.jinja").read_text(encoding="utf-8")
    render = compile_prompt(options.template or own, "the prompt of greeting_order")
    for stimulus in stimuli:
        for turned in rng.permutation(2):
            order = list(stimulus.fields["greetings"])[:: -1 if turned else 1]
            yield Call(
                axis=NAME,
                stimulus=stimulus.id,
                cell={"item": stimulus.id, "order": order},
                repeat=0,
                messages=({"role": "user", "content": render(greetings=order)},),
                params={"temperature": options.temperature, "max_tokens": 20},
                reply=options.reply,
            )


def parse(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> str | None:
    """The chosen greeting; None unless it is one of the two."""
    chosen = json.loads(text)
    chosen = chosen if reply == "recorded" else chosen["choice"]
    return chosen if chosen in cell["order"] else None


def simulate(parameters: Parameters, call: Call, known: Known, rng: random.Random) -> str:
    """The first greeting as often as `first` says, as a logit."""
    del known
    first = rng.random() < 1 / (1 + np.exp(-parameters.first))
    return json.dumps({"choice": call.cell["order"][0 if first else 1]})


def fault(cell: Mapping[str, Any]) -> str | None:
    """What is wrong with a recorded cell."""
    order = cell.get("order")
    return None if isinstance(order, list) and len(order) == 2 else "cell.order must list two"


def measure(readings: Readings) -> Iterator[Estimate]:
    """Every estimate."""
    return measured(ESTIMATES, readings.frame, readings.families)


def plots(estimates: Estimates) -> Iterator[Plot]:
    """One plot."""
    del estimates
    yield Plot("intervals", "First greeting", "Share that chose the first.", ("first_share",))


def find(estimates: Estimates) -> Iterator[Statement]:
    """One finding."""
    share = estimates.known("first_share")
    if share is not None and share.low is not None and share.low > 0.5:
        yield Statement("It prefers the greeting listed first.", (share.key,), "bad")


def recommend(estimates: Estimates) -> Iterator[Recommendation]:
    """One recommendation."""
    key = estimates.key("first_share")
    yield Recommendation(NAME, "Ask in both orders.", (key,), binding=False)


def mitigate(estimates: Estimates) -> Iterator[Mitigation]:
    """Nothing helps."""
    del estimates
    return iter(())


def tested_range(readings: Readings) -> Iterator[Rating]:
    """How far the run asked."""
    yield Rating("greetings in a list", 2.0, "greetings", f"{len(readings.frame)} calls had two")


def control(estimates: Estimates) -> Iterator[Control]:
    """No control."""
    del estimates
    return iter(())


def warn(readings: Readings, estimates: Estimates) -> Iterator[str]:
    """No caveat."""
    del readings, estimates
    return iter(())


def check(stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """Nothing to check."""
    del stimuli
    return iter(())


import sys  # noqa: E402

ESTIMATES = declared_in(sys.modules[__name__])

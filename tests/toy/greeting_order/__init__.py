"""Does a judge choose the same greeting whichever of two is listed first?

A whole axis in one folder, as somebody else might write it: it uses public names only. The steps
are those of docs/axes.md; with the first two it is an axis.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import BaseModel

from judgesheet.axis import Axis, Options, Readings, losses, order_test
from judgesheet.axis.figure import Figures, UnkeyedEstimate, absent, measured
from judgesheet.axis.prompt import compile_prompt
from judgesheet.axis.shaping import Holds, NotAStimulusError, Prompt
from judgesheet.axis.simulation import Known, Parameters
from judgesheet.base.effects import Effect
from judgesheet.base.missing_reasons import NO_OBSERVATIONS
from judgesheet.base.records import Call, Estimate, ReplyFormat, Stimulus
from judgesheet.stats.interval import by_cluster, cluster_rate

# -- step 1: what can be computed of the replies: a figure

figure = Figures("greeting_order", missing="greetings in both orders")


@figure("share", symbol="G", better="nearer", null=0.5, headline=1, sweep=1)
def first_share(frame: pd.DataFrame) -> UnkeyedEstimate:
    """Share of calls that choose the greeting listed first; 1/2 if the order does not matter."""
    read = frame.dropna(subset=["value"])
    if read.empty:
        return absent("First greeting chosen", NO_OBSERVATIONS)
    chose_first = (read["value"] == read["order"].map(lambda order: order[0])).astype(float)
    share = cluster_rate(*by_cluster(chose_first, np.asarray(read["cluster"])))
    return UnkeyedEstimate("First greeting chosen", share, n=len(read))


def points_by_place(verdict: str, order: Sequence[str]) -> list[float]:
    """What a verdict gives to each of the greetings, in the order shown."""
    return [float(greeting == verdict) for greeting in order]


FIGURES = {first_share.name: first_share}


# -- step 2: the axis: its question, its calls, how a reply is read, what is estimated


class Material(BaseModel):
    """One line of a stimuli file; stimuli of one `group` count as one."""

    id: str
    field: str | None = None
    group: str | None = None
    greetings: tuple[str, str]


class GreetingOrder(Axis):
    """Whether a judge chooses the same greeting whichever of two is listed first."""

    NAME = "greeting_order"
    TITLE = "Order of two greetings"
    QUESTION = "Does a judge choose the same greeting whichever of two is listed first?"
    ESTIMATES = {**FIGURES, **figure.adopted(order_test, losses)}

    def material(self) -> type[BaseModel]:
        """The schema of one stimulus."""
        return Material

    def design(
        self, stimuli: Sequence[Stimulus], options: Options, rng: np.random.Generator
    ) -> Iterator[Call]:
        """Every pair in both orders."""
        own = Path(__file__).with_name("greeting_order.jinja").read_text(encoding="utf-8")
        render = compile_prompt(options.template or own, "the prompt of greeting_order")
        for stimulus in stimuli:
            for turned in rng.permutation(2):
                order = list(stimulus.fields["greetings"])[:: -1 if turned else 1]
                yield Call(
                    axis=self.NAME,
                    stimulus=stimulus.id,
                    cell={"item": stimulus.id, "order": order},
                    repeat=0,
                    messages=({"role": "user", "content": render(greetings=order)},),
                    params={"temperature": options.temperature, "max_tokens": 20},
                    reply=options.reply,
                )

    def fault(self, cell: Mapping[str, Any]) -> str | None:
        """What is wrong with a recorded cell."""
        order = cell.get("order")
        return None if isinstance(order, list) and len(order) == 2 else "cell.order must list two"

    def parse(self, text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> str | None:
        """The chosen greeting; None unless it is one of the two."""
        chosen = json.loads(text)
        chosen = chosen if reply == "recorded" else chosen["choice"]
        return chosen if chosen in cell["order"] else None

    def measure(self, readings: Readings) -> Iterator[Estimate]:
        """Every estimate."""
        yield from measured(FIGURES, readings.frame, readings)
        yield from order_test.measure(self.NAME, readings, points_by_place)
        yield from losses.measure(self.NAME, readings)

    # -- step 3: what the figures mean

    EFFECTS = (
        Effect(
            "greeting_order.first_share",
            null=0.5,
            small=0.1,
            harm="both",
            test="greeting_order.order_dependence_p",
            says={
                "shown": "The greeting listed first wins in {value} of calls ({interval}).",
                "negligible": "The place of a greeting hardly matters: the first wins in {value}.",
                "inconclusive": "Whether the first greeting wins is open: {value} ({interval}).",
            },
        ),
    )

    # -- step 4: simulated judges, data sets

    PERMUTED = frozenset({"greetings"})
    TAKES = {Holds.ANSWERS: 3}

    def simulate(self, parameters: Parameters, call: Call, known: Known, rng: random.Random) -> str:
        """The first greeting as often as `first` says, as a logit."""
        del known
        first = rng.random() < 1 / (1 + np.exp(-parameters.first))
        return json.dumps({"choice": call.cell["order"][0 if first else 1]})

    def shape(self, prompt: Prompt) -> dict[str, Any]:
        """An imported prompt with two responses, which are the greetings."""
        if len(prompt.responses) != 2:
            raise NotAStimulusError("not two responses")
        return {"id": prompt.id, "greetings": [response.text for response in prompt.responses]}

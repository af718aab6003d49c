"""GEval of deepeval as a judge.

    pip install deepeval
    cd examples/frameworks
    JUDGE_MODEL=gpt-4.1-mini judgesheet probe --model python/deepeval_judge:geval \
        --axis score_order --prompt score_order=score.j2

`JUDGE_MODEL` is a model of OpenAI; for another one, put another class of `deepeval.models` into
`model`.
"""

import os

os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
os.environ.setdefault("DEEPEVAL_RETRY_MAX_ATTEMPTS", "1")  # judgesheet asks again itself

from importlib.metadata import version

from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics import ArenaGEval, GEval
from deepeval.metrics.g_eval import Rubric
from deepeval.models import OpenAIModel
from deepeval.test_case import ArenaTestCase, Contestant, LLMTestCase, SingleTurnParams
from parts import NO_VERDICT, Messages, Params, comparison, grading
from pydantic import ValidationError

GRADED = [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT]


async def geval(messages: Messages, params: Params) -> str:
    """A score from GEval, whose evaluation steps hold the scale."""
    asked = grading(messages)
    highest, reference = len(asked.scale), asked.reference or None
    metric = GEval(
        name="Judge",
        evaluation_steps=[asked.criterion, f"Choose the score that fits.\n{asked.rubric}"],
        rubric=[Rubric(score_range=(1, highest), expected_outcome="as described in the steps")],
        evaluation_params=[*GRADED, *([SingleTurnParams.EXPECTED_OUTPUT] if reference else [])],
        model=model(params),
    )
    case = LLMTestCase(input=asked.request, actual_output=asked.response, expected_output=reference)
    try:
        score = await metric.a_measure(case, _show_indicator=False)
    except ValueError as error:
        return no_verdict(error)
    return f"[RESULT] {round(1 + score * (highest - 1))}"


geval.framework = f"deepeval {version('deepeval')}, GEval"
geval.axes = ("score_order",)
geval.note = (
    "GEval sorts the rubric of a metric by score, so its order cannot be permuted; here the scale "
    "stands in the evaluation steps. GEval weighs scores by their log-probabilities where the "
    "model gives them; the result is rounded to a whole score."
)


async def arena(messages: Messages, params: Params) -> str:
    """The winner that ArenaGEval names."""
    asked = comparison(messages)
    metric = ArenaGEval(
        name="Judge",
        evaluation_steps=["Choose the response that answers the request better."],
        evaluation_params=GRADED,
        model=model(params),
    )
    cases = [
        Contestant(name=name, test_case=LLMTestCase(input=asked.request, actual_output=text))
        for name, text in (("1", asked.first), ("2", asked.second))
    ]
    try:
        winner = await metric.a_measure(ArenaTestCase(contestants=cases), _show_indicator=False)
    except MissingTestCaseParamsError:  # it judges no empty response
        winner = "abstain"
    except ValueError as error:
        return no_verdict(error)
    return f'{{"winner": "{winner}"}}'


arena.framework = f"deepeval {version('deepeval')}, ArenaGEval"
arena.axes = ("candidate_order",)
arena.note = (
    "ArenaGEval shuffles the responses and their names in every call, so the slots on this sheet "
    "are not those that its model saw: a preference for a place shows as answers that differ "
    "between repeats. It knows no tie, and judges no empty response (counted as abstained)."
)


def no_verdict(error: ValueError) -> str:
    """For a model's reply that deepeval cannot read; any other error is raised again."""
    if isinstance(error, ValidationError) or "invalid JSON" in str(error):
        return NO_VERDICT
    raise error


def model(params: Params) -> OpenAIModel:
    """The model behind the metric, at the temperature of the run."""
    return OpenAIModel(os.environ["JUDGE_MODEL"], temperature=params["temperature"])

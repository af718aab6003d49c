"""GEval and ArenaGEval of deepeval; a metric of the user's own gives its steps and its model."""

import os

os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
os.environ.setdefault("DEEPEVAL_RETRY_MAX_ATTEMPTS", "1")  # judgesheet asks again itself

from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics import ArenaGEval, GEval
from deepeval.metrics.g_eval import Rubric
from deepeval.models import OpenAIModel
from deepeval.test_case import ArenaTestCase, Contestant, LLMTestCase, SingleTurnParams
from pydantic import ValidationError

from judgesheet.judges.frameworks.parts import Given, Grading, ResponsePair

GRADED = [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT]


async def grade(asked: Grading, given: Given) -> int | None:
    """A score from GEval, whose evaluation steps hold the scale."""
    own, highest, reference = given.own, len(asked.scale), asked.reference or None
    steps = own.evaluation_steps or [own.criteria] if own else [asked.criterion]
    shown = [*GRADED, *([SingleTurnParams.EXPECTED_OUTPUT] if reference else [])]
    metric = GEval(
        name=own.name if own else "Judge",
        evaluation_steps=[*steps, f"Choose the score that fits.\n{asked.rubric}"],
        rubric=[Rubric(score_range=(1, highest), expected_outcome="as described in the steps")],
        evaluation_params=own.evaluation_params if own else shown,
        model=own.model if own else _model(given),
    )
    case = LLMTestCase(input=asked.request, actual_output=asked.response, expected_output=reference)
    try:
        score = await metric.a_measure(case, _show_indicator=False)
    except ValueError as error:
        if not _is_unread(error):
            raise
        return None
    # GEval gives a share of the scale, weighed by log-probabilities.
    return round(1 + float(score) * (highest - 1))


async def compare(asked: ResponsePair, given: Given) -> str | None:
    """The winner that ArenaGEval names; it judges no empty response."""
    own = given.own
    better = ["Choose the response that answers the request better."]
    metric = ArenaGEval(
        name=own.name if own else "Judge",
        evaluation_steps=own.evaluation_steps or [own.criteria] if own else better,
        evaluation_params=own.evaluation_params if own else GRADED,
        model=own.model if own else _model(given),
    )
    cases = [
        Contestant(name=name, test_case=LLMTestCase(input=asked.request, actual_output=text))
        for name, text in (("1", asked.first), ("2", asked.second))
    ]
    try:
        return str(await metric.a_measure(ArenaTestCase(contestants=cases), _show_indicator=False))
    # An empty response was shown, which it refuses to judge.
    except MissingTestCaseParamsError:
        return "abstain"
    except ValueError as error:
        if not _is_unread(error):
            raise
        return None


def _is_unread(error: ValueError) -> bool:
    return isinstance(error, ValidationError) or "invalid JSON" in str(error)


def _model(given: Given) -> OpenAIModel:
    return OpenAIModel(given.model, temperature=given.limits["temperature"])

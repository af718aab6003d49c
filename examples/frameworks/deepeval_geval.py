"""GEval of deepeval, whose evaluation steps hold the scale.

pip install deepeval
judgesheet probe --model python/deepeval_geval:judge --prompt score_order=score_order.jinja
"""

import os

os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
os.environ.setdefault("DEEPEVAL_RETRY_MAX_ATTEMPTS", "1")  # judgesheet asks again itself

from importlib.metadata import version

from deepeval.metrics import GEval
from deepeval.metrics.g_eval import Rubric
from deepeval.models import OpenAIModel
from deepeval.test_case import LLMTestCase, SingleTurnParams
from parts import UNREAD, grading
from pydantic import ValidationError


async def judge(messages, params):
    """What judgesheet calls: one question, one reply."""
    asked, scale, rubric = grading(messages)
    metric = GEval(
        name="Judge",
        evaluation_steps=[asked["criterion"], f"Choose the score that fits.\n{rubric}"],
        rubric=[Rubric(score_range=(1, len(scale)), expected_outcome="as described in the steps")],
        evaluation_params=[SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT],
        model=OpenAIModel("gpt-4.1-mini", temperature=params["temperature"]),
    )
    case = LLMTestCase(input=asked["request"], actual_output=asked["response"])
    try:
        score = await metric.a_measure(case, _show_indicator=False)
    except ValueError as error:
        if isinstance(error, ValidationError) or "invalid JSON" in str(error):
            return UNREAD
        raise
    # GEval gives a share of the scale, weighed by log-probabilities.
    return f"[RESULT] {round(1 + float(score) * (len(scale) - 1))}"


judge.framework = f"deepeval {version('deepeval')}, GEval"
judge.axes = ("score_order",)
judge.note = (
    "GEval sorts the rubric of a metric by score, so its order cannot be permuted: the scale is "
    "put into the evaluation steps instead. The result is rounded to a whole score."
)

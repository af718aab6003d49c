"""The absolute and the relative grading of prometheus-eval."""

import os
from functools import cache

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it is downloaded

from prometheus_eval import PrometheusEval
from prometheus_eval.litellm import LiteLLM
from prometheus_eval.prompts import ABSOLUTE_PROMPT_WO_REF, RELATIVE_PROMPT_WO_REF

from judgesheet.judges.frameworks.parts import Given, Grading, ResponsePair


def grade(asked: Grading, given: Given) -> int | None:
    """The score of the absolute grading, whose rubric is the scale."""
    _, score = _evaluator(given.model).single_absolute_grade(
        instruction=asked.request,
        response=asked.response,
        rubric=f"[{asked.criterion}]\n{asked.rubric}",
        params=given.limits,
    )
    return None if score is None else int(score)


def compare(asked: ResponsePair, given: Given) -> str | None:
    """The better response of the relative grading."""
    _, winner = _evaluator(given.model).single_relative_grade(
        instruction=asked.request,
        response_A=asked.first,
        response_B=asked.second,
        rubric="Which response answers the request better?",
        params=given.limits,
    )
    return None if winner is None else str(" AB".index(winner))


@cache
def _evaluator(model: str) -> PrometheusEval:
    return PrometheusEval(
        model=LiteLLM(model),
        absolute_grade_template=ABSOLUTE_PROMPT_WO_REF,
        relative_grade_template=RELATIVE_PROMPT_WO_REF,
    )

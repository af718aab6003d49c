"""The absolute and the relative grading of prometheus-eval as judges.

    pip install prometheus-eval litellm
    cd examples/frameworks
    JUDGE_MODEL=openai/gpt-4.1-mini judgesheet probe --model python/prometheus_judge:absolute \
        --axis score_order --prompt score_order=score.j2

`JUDGE_MODEL` is any name that LiteLLM takes; for vLLM, put its `VLLM` into `evaluator`.
"""

import os
from functools import cache
from importlib.metadata import version

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it is downloaded

from parts import NO_VERDICT, Messages, Params, comparison, grading
from prometheus_eval import PrometheusEval
from prometheus_eval.litellm import LiteLLM
from prometheus_eval.prompts import ABSOLUTE_PROMPT_WO_REF, RELATIVE_PROMPT_WO_REF

NOTE = (
    "prometheus-eval asks its model up to eleven times for a reply that it can read. "
    "References are not shown."
)


def absolute(messages: Messages, params: Params) -> str:
    """The score of the absolute grading, whose rubric is the scale."""
    asked = grading(messages)
    _, score = evaluator().single_absolute_grade(
        instruction=asked.request,
        response=asked.response,
        rubric=f"[{asked.criterion}]\n{asked.rubric}",
        params={name: params[name] for name in ("temperature", "max_tokens")},
    )
    return NO_VERDICT if score is None else f"[RESULT] {score}"


absolute.framework = f"prometheus-eval {version('prometheus-eval')}, absolute grading"
absolute.axes = ("score_order",)
absolute.note = f"The prompt asks for a score from 1 to 5, whatever the rubric. {NOTE}"


def relative(messages: Messages, params: Params) -> str:
    """The better response of the relative grading."""
    asked = comparison(messages)
    _, winner = evaluator().single_relative_grade(
        instruction=asked.request,
        response_A=asked.first,
        response_B=asked.second,
        rubric="Which response answers the request better?",
        params={name: params[name] for name in ("temperature", "max_tokens")},
    )
    return NO_VERDICT if winner is None else f'{{"winner": "{" AB".index(winner)}"}}'


relative.framework = f"prometheus-eval {version('prometheus-eval')}, relative grading"
relative.axes = ("candidate_order",)
relative.note = f"It knows no tie, and the order of A and B in its verdict is fixed. {NOTE}"


@cache
def evaluator() -> PrometheusEval:
    """The evaluator, with its own templates."""
    return PrometheusEval(
        model=LiteLLM(os.environ["JUDGE_MODEL"]),
        absolute_grade_template=ABSOLUTE_PROMPT_WO_REF,
        relative_grade_template=RELATIVE_PROMPT_WO_REF,
    )

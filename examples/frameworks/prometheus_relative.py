r"""The relative grading of prometheus-eval.

pip install prometheus-eval litellm
judgesheet probe --model python/prometheus_relative:judge \
        --prompt candidate_order=candidate_order.jinja
"""

import os

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it is downloaded

from functools import cache
from importlib.metadata import version

from parts import UNREAD, parts
from prometheus_eval import PrometheusEval
from prometheus_eval.litellm import LiteLLM
from prometheus_eval.prompts import RELATIVE_PROMPT_WO_REF


def judge(messages, params):
    """What judgesheet calls: one question, one reply."""
    asked = parts(messages)
    _, winner = evaluator().single_relative_grade(
        instruction=asked["request"],
        response_A=asked["first"],
        response_B=asked["second"],
        rubric="Which response answers the request better?",
        params={name: params[name] for name in ("temperature", "max_tokens")},
    )
    return UNREAD if winner is None else f'{{"winner": "{" AB".index(winner)}"}}'


@cache
def evaluator():
    """One for all calls."""
    model = LiteLLM("openai/gpt-4.1-mini")
    return PrometheusEval(model=model, relative_grade_template=RELATIVE_PROMPT_WO_REF)


judge.framework = f"prometheus-eval {version('prometheus-eval')}, relative"
judge.axes = ("candidate_order",)
judge.note = (
    "It has no tie, and the order of A and B in its verdict is fixed. prometheus-eval asks its "
    "model up to eleven times for a reply that it can read."
)

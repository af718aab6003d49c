"""The criterion grader of autorubric, with the scale as the options of one criterion.

pip install autorubric
judgesheet probe --model python/autorubric_grader:judge --prompt score_order=score_order.jinja
"""

import os

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it is downloaded

from importlib.metadata import version

from autorubric import Criterion, CriterionOption, LLMConfig, Rubric
from autorubric.graders import CriterionGrader
from parts import UNREAD, grading


async def judge(messages, params):
    """What judgesheet calls: one question, one reply."""
    asked, scale, _ = grading(messages)
    limits = {name: params[name] for name in ("temperature", "max_tokens")}
    grader = CriterionGrader(
        judge_model_config=LLMConfig("openai/gpt-4.1-mini", max_retries=1, **limits),
        shuffle_options=False,  # else their order could not be measured
        auto_na_option=False,
    )
    options = [CriterionOption(label=text, value=n / max(scale)) for n, text in scale.items()]
    rubric = Rubric([Criterion(requirement=asked["criterion"], options=options)])
    found = await rubric.grade(to_grade=asked["response"], grader=grader, query=asked["request"])
    (said,) = found.report or [None]
    failure = found.error if said is None else said.error
    if failure and not failure.startswith("parse"):
        raise RuntimeError(failure)
    chosen = None if failure else said.final_multi_choice_verdict.selected_index
    return UNREAD if chosen is None else f"[RESULT] {list(scale)[chosen]}"


judge.framework = f"autorubric {version('autorubric')}, CriterionGrader"
judge.axes = ("score_order",)
judge.note = (
    "CriterionGrader shuffles the options of a criterion by default, which is switched off here. "
    "It numbers them by place, and shows no score."
)

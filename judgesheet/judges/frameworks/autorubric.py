"""The criterion grader of autorubric, with the scale as the options of one criterion."""

import os

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it is downloaded

from autorubric import Criterion, CriterionOption, LLMConfig, Rubric
from autorubric.graders import CriterionGrader

from judgesheet.judges.frameworks.parts import Given, Grading


async def grade(asked: Grading, given: Given) -> int | None:
    """The score whose description the grader selects, options standing as they are asked about."""
    grader = CriterionGrader(
        judge_model_config=LLMConfig(given.model, max_retries=1, **given.limits),
        shuffle_options=False,  # else their order could not be measured
        auto_na_option=False,
    )
    highest = max(asked.scale)
    options = [CriterionOption(label=text, value=n / highest) for n, text in asked.scale.items()]
    found = await Rubric([Criterion(requirement=asked.criterion, options=options)]).grade(
        to_grade=asked.response,
        grader=grader,
        query=asked.request,
        reference_submission=asked.reference or None,
    )
    (said,) = found.report or [None]
    failure = found.error if said is None else said.error
    if failure and not failure.startswith("parse"):
        raise RuntimeError(failure)
    chosen = None if failure else said.final_multi_choice_verdict.selected_index
    return None if chosen is None else list(asked.scale)[chosen]

"""The scorer `model_graded_qa` of inspect_ai, whose instructions hold the scale."""

from inspect_ai.model import GenerateConfig, ModelOutput, get_model
from inspect_ai.scorer import Target, model_graded_qa
from inspect_ai.solver import TaskState

from judgesheet.judges.frameworks.parts import Given, Grading

INSTRUCTIONS = """{rubric}

Write out your reasoning step by step first. Then end with 'GRADE: $SCORE' (without quotes), where
SCORE is one of the scores above."""


async def grade(asked: Grading, given: Given) -> str | None:
    """The grade, by the scorer's own template."""
    score = model_graded_qa(
        instructions=(given.own or INSTRUCTIONS).replace("{rubric}", asked.rubric),
        grade_pattern=r"(?is).*GRADE:\s*(\d+)",
        # Without its own retries, which the ledger would not see: judgesheet asks again itself.
        model=get_model(given.model, config=GenerateConfig(max_retries=0, **given.limits)),
    )
    state = TaskState(
        model=given.model, sample_id=1, epoch=1, input=asked.request, messages=[],
        output=ModelOutput.from_content(given.model, asked.response),
    )  # fmt: skip
    found = await score(state, Target(asked.criterion))
    return found.value if isinstance(found.value, str) else None

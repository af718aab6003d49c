"""The scorer `model_graded_qa` of inspect_ai as a judge.

    pip install inspect-ai openai
    cd examples/frameworks
    JUDGE_MODEL=openai/gpt-4.1-mini judgesheet probe --model python/inspect_judge:graded_qa \
        --axis score_order --prompt score_order=score.j2

`JUDGE_MODEL` is any name that `get_model` takes.
"""

import os
from importlib.metadata import version

from inspect_ai.model import GenerateConfig, ModelOutput, get_model
from inspect_ai.scorer import Target, model_graded_qa
from inspect_ai.solver import TaskState
from parts import NO_VERDICT, Messages, Params, grading

INSTRUCTIONS = """{rubric}

Write out your reasoning step by step first. Then end with 'GRADE: $SCORE' (without quotes), where
SCORE is one of the scores above."""


async def graded_qa(messages: Messages, params: Params) -> str:
    """The grade of `model_graded_qa`: its own template, and instructions that hold the scale."""
    asked, name = grading(messages), os.environ["JUDGE_MODEL"]
    limits = {name: params[name] for name in ("temperature", "max_tokens")}
    score = model_graded_qa(
        instructions=INSTRUCTIONS.format(rubric=asked.rubric),
        grade_pattern=r"(?is).*GRADE:\s*(\d+)",
        model=get_model(name, config=GenerateConfig(max_retries=0, **limits)),
    )
    state = TaskState(
        model=name, sample_id=1, epoch=1, input=asked.request, messages=[],
        output=ModelOutput.from_content(name, asked.response),
    )  # fmt: skip
    grade = await score(state, Target(asked.criterion))
    return f"[RESULT] {grade.value}" if isinstance(grade.value, str) else NO_VERDICT


graded_qa.framework = f"inspect_ai {version('inspect_ai')}, model_graded_qa"
graded_qa.axes = ("score_order",)
graded_qa.note = (
    "Measured with a scale in the instructions; the default instructions of model_graded_qa name "
    "the grades C and I in an order of their own, which cannot be permuted. "
    "References are not shown."
)

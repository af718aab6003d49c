"""The scorer `model_graded_qa` of Inspect, whose instructions hold the scale.

pip install inspect-ai openai
judgesheet probe --model python/inspect_qa:judge --prompt score_order=score_order.jinja
"""

from importlib.metadata import version

from inspect_ai.model import GenerateConfig, ModelOutput, get_model
from inspect_ai.scorer import Target, model_graded_qa
from inspect_ai.solver import TaskState
from parts import UNREAD, grading

MODEL = "openai/gpt-4.1-mini"
ENDING = """Write out your reasoning step by step first. Then end with 'GRADE: $SCORE' (without
quotes), where SCORE is one of the scores above."""


async def judge(messages, params):
    """What judgesheet calls: one question, one reply."""
    asked, _, rubric = grading(messages)
    limits = {name: params[name] for name in ("temperature", "max_tokens")}
    score = model_graded_qa(
        instructions=f"{rubric}\n\n{ENDING}",
        grade_pattern=r"(?is).*GRADE:\s*(\d+)",
        # Without its own retries, which the ledger would not see: judgesheet asks again itself.
        model=get_model(MODEL, config=GenerateConfig(max_retries=0, **limits)),
    )
    output = ModelOutput.from_content(MODEL, asked["response"])
    state = TaskState(model=MODEL, sample_id=1, epoch=1, input=asked["request"], messages=[],
                      output=output)  # fmt: skip
    found = await score(state, Target(asked["criterion"]))
    return f"[RESULT] {found.value}" if isinstance(found.value, str) else UNREAD


judge.framework = f"inspect-ai {version('inspect-ai')}, model_graded_qa"
judge.axes = ("score_order",)
judge.note = (
    "Measured with a scale in the instructions; the default instructions of model_graded_qa name "
    "the grades C and I in a fixed order, which cannot be permuted."
)

"""A judge of MLflow (`make_judge`) as a judge.

    pip install mlflow litellm
    cd examples/frameworks
    JUDGE_MODEL=openai:/gpt-4.1-mini judgesheet probe --model python/mlflow_judge:made \
        --axis score_order --prompt score_order=score.j2

`JUDGE_MODEL` is any model URI that `make_judge` takes.
"""

import os

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")

from importlib.metadata import version
from typing import Literal

from mlflow.exceptions import MlflowException
from mlflow.genai.judges import make_judge
from parts import NO_VERDICT, Messages, Params, grading

INSTRUCTIONS = """Grade the response in {{{{ outputs }}}} to the request in {{{{ inputs }}}}.

Criterion: {criterion}

{rubric}"""


def made(messages: Messages, params: Params) -> str:
    """The value of a judge whose instructions hold the scale."""
    asked = grading(messages)
    judge = make_judge(
        name="judge",
        instructions=INSTRUCTIONS.format(criterion=asked.criterion, rubric=asked.rubric),
        feedback_value_type=Literal[tuple(map(str, asked.scale))],
        model=os.environ["JUDGE_MODEL"],
        inference_params={name: params[name] for name in ("temperature", "max_tokens")},
    )
    reference = {"reference answer": asked.reference} if asked.reference else {}
    try:
        feedback = judge(
            inputs={"request": asked.request, **reference}, outputs={"response": asked.response}
        )
    except MlflowException as error:
        if not str(error).startswith("Failed to parse response"):
            raise
        return NO_VERDICT
    return f"[RESULT] {feedback.value}"


made.framework = f"mlflow {version('mlflow')}, make_judge"
made.axes = ("score_order",)
made.note = (
    "MLflow names the scores once more where it words the form of the answer, here in the same "
    "order as in the instructions, and asks a failing endpoint up to ten times by itself."
)

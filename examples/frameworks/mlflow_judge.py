"""A judge of MLflow (`make_judge`), whose instructions hold the scale.

pip install mlflow litellm
judgesheet probe --model python/mlflow_judge:judge --prompt score_order=score_order.jinja
"""

import os

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # it is read at import

from importlib.metadata import version
from typing import Literal

from mlflow.exceptions import MlflowException
from mlflow.genai.judges import make_judge
from parts import UNREAD, grading


def judge(messages, params):
    """What judgesheet calls: one question, one reply."""
    asked, scale, rubric = grading(messages)
    made = make_judge(
        name="judge",
        instructions="Grade the response in {{ outputs }} to the request in {{ inputs }}.\n\n"
        f"Criterion: {asked['criterion']}\n\n{rubric}",
        # Its words for the form of the answer name the scores in this order, too.
        feedback_value_type=Literal[tuple(map(str, scale))],
        model="openai:/gpt-4.1-mini",
        inference_params={name: params[name] for name in ("temperature", "max_tokens")},
    )
    try:
        feedback = made(
            inputs={"request": asked["request"]}, outputs={"response": asked["response"]}
        )
    except MlflowException as error:
        if not str(error).startswith("Failed to parse response"):
            raise
        return UNREAD
    return f"[RESULT] {feedback.value}"


judge.framework = f"mlflow {version('mlflow')}, make_judge"
judge.axes = ("score_order",)
judge.note = (
    "MLflow repeats the scores when it describes the answer format, in the order of the "
    "instructions, and asks a failing endpoint up to ten times by itself."
)

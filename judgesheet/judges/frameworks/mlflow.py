"""A judge of MLflow (`make_judge`), whose instructions hold the scale."""

import os

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # it is read at import

from typing import Any, Literal

from mlflow.exceptions import MlflowException
from mlflow.genai.judges import make_judge

from judgesheet.judges.frameworks.parts import Given, Grading

INSTRUCTIONS = """Grade the response in {{ outputs }} to the request in {{ inputs }}.

Criterion: {criterion}

{rubric}"""


def grade(asked: Grading, given: Given) -> Any:
    """The value of the judge."""
    instructions = (given.own or INSTRUCTIONS).replace("{criterion}", asked.criterion)
    judge = make_judge(
        name="judge",
        instructions=instructions.replace("{rubric}", asked.rubric),
        # Its words for the form of the answer name the scores in this order, too.
        feedback_value_type=Literal[tuple(map(str, asked.scale))],
        model=given.model,
        inference_params=given.limits,
    )
    reference = {"reference answer": asked.reference} if asked.reference else {}
    try:
        feedback = judge(
            inputs={"request": asked.request, **reference}, outputs={"response": asked.response}
        )
    except MlflowException as error:
        if not str(error).startswith("Failed to parse response"):
            raise
        return None
    return feedback.value

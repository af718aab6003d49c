"""The rubric metric of ragas as a judge.

    pip install ragas
    cd examples/frameworks
    JUDGE_MODEL=gpt-4.1-mini judgesheet probe --model python/ragas_judge:rubrics \
        --axis score_order --prompt score_order=score.j2

`JUDGE_MODEL` is a model of OpenAI; for another one, give `llm_factory` another client.
"""

import os
from functools import cache
from importlib.metadata import version

from instructor.core import InstructorRetryException
from openai import AsyncOpenAI
from parts import NO_VERDICT, Messages, Params, grading
from ragas.llms import llm_factory
from ragas.metrics.collections import DomainSpecificRubrics


async def rubrics(messages: Messages, params: Params) -> str:
    """The score of `DomainSpecificRubrics`."""
    asked = grading(messages)
    limits = {name: params[name] for name in ("temperature", "max_tokens")}
    metric = DomainSpecificRubrics(
        llm=llm_factory(os.environ["JUDGE_MODEL"], client=client(), **limits),
        rubrics={f"score{score}_description": text for score, text in asked.scale.items()},
        with_reference=bool(asked.reference),
    )
    try:
        result = await metric.ascore(
            user_input=f"{asked.request}\n\nGraded is: {asked.criterion}",
            response=asked.response,
            reference=asked.reference or None,
        )
    except InstructorRetryException as error:
        if not error.failed_attempts:  # the endpoint failed, and no reply came
            raise
        return NO_VERDICT
    return f"[RESULT] {result.value:g}"


rubrics.framework = f"ragas {version('ragas')}, DomainSpecificRubrics"
rubrics.axes = ("score_order",)
rubrics.note = (
    "ragas shows two examples of its own, scored 5 and 3 in this order, whatever the rubric; they "
    "cannot be permuted. It calls the score one of 1 to 5 whatever the rubric, and asks its "
    "model up to four times for a reply that it can read. It has no place for a criterion, which "
    "stands behind the request here."
)


@cache
def client() -> AsyncOpenAI:
    """One client for all calls; judgesheet asks again itself."""
    return AsyncOpenAI(max_retries=0)

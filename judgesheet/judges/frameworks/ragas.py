"""The rubric metric of ragas, `DomainSpecificRubrics`."""

from functools import cache

from instructor.core import InstructorRetryException
from openai import AsyncOpenAI
from ragas.llms import llm_factory
from ragas.metrics.collections import DomainSpecificRubrics

from judgesheet.judges.frameworks.parts import Given, Grading


async def grade(asked: Grading, given: Given) -> str | None:
    """The score of the metric, which has no place for a criterion: it stands behind the request."""
    metric = DomainSpecificRubrics(
        llm=llm_factory(given.model, client=_client(), **given.limits),
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
        return None
    return f"{result.value:g}"


@cache
def _client() -> AsyncOpenAI:
    """One client for all calls; judgesheet asks again itself."""
    return AsyncOpenAI(max_retries=0)

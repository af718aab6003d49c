"""The rubric metric of ragas.

pip install ragas 'langchain-community<0.4' 'tenacity>=9'
judgesheet probe --model python/ragas_rubrics:judge --prompt score_order=score_order.jinja
"""

from functools import cache
from importlib.metadata import version

from instructor.core import InstructorRetryException
from openai import AsyncOpenAI
from parts import UNREAD, grading
from ragas.llms import llm_factory
from ragas.metrics.collections import DomainSpecificRubrics


async def judge(messages, params):
    """What judgesheet calls: one question, one reply."""
    asked, scale, _ = grading(messages)
    limits = {name: params[name] for name in ("temperature", "max_tokens")}
    metric = DomainSpecificRubrics(
        llm=llm_factory("gpt-4.1-mini", client=client(), **limits),
        rubrics={f"score{score}_description": text for score, text in scale.items()},
    )
    # It has no place for a criterion, which stands behind the request.
    request = f"{asked['request']}\n\nGraded is: {asked['criterion']}"
    try:
        result = await metric.ascore(user_input=request, response=asked["response"])
    except InstructorRetryException as error:
        if not error.failed_attempts:  # the endpoint failed, and no reply came
            raise
        return UNREAD
    return f"[RESULT] {result.value:g}"


@cache
def client():
    """One client for all calls; judgesheet asks again itself."""
    return AsyncOpenAI(max_retries=0)


judge.framework = f"ragas {version('ragas')}, DomainSpecificRubrics"
judge.axes = ("score_order",)
judge.note = (
    "ragas shows two examples of its own, scored 5 and 3 in this order, and calls the score one of "
    "1 to 5 whatever the rubric. It asks its model up to four times for a reply that it can read."
)

"""An LLM as judge of openevals, with a prompt of ours or of the user's own."""

from langchain.chat_models import init_chat_model
from langchain_core.exceptions import OutputParserException
from openevals.llm import create_async_llm_as_judge

from judgesheet.judges.frameworks.parts import Given, Grading

PROMPT = """You are grading a response to a request.

<request>
{inputs}
</request>

<response>
{outputs}
</response>

<reference>
{reference_outputs}
</reference>

Grade it on this criterion: {criterion}

{rubric}"""


async def grade(asked: Grading, given: Given) -> str | None:
    """The score that the evaluator chooses out of the scale."""
    evaluate = create_async_llm_as_judge(
        prompt=given.own or PROMPT,
        choices=[float(score) for score in asked.scale],
        # Judgesheet asks again itself.
        judge=init_chat_model(given.model, max_retries=0, **given.limits),
    )
    try:
        result = await evaluate(
            inputs=asked.request,
            outputs=asked.response,
            reference_outputs=asked.reference,
            criterion=asked.criterion,
            rubric=asked.rubric,
        )
    except OutputParserException:
        return None
    return f"{result['score']:g}"

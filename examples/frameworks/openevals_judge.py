"""An LLM as judge of openevals.

    pip install openevals langchain-openai
    cd examples/frameworks
    JUDGE_MODEL=openai:gpt-4.1-mini judgesheet probe --model python/openevals_judge:judge \
        --axis score_order --prompt score_order=score.j2

`JUDGE_MODEL` is any name that `init_chat_model` takes. Put your own prompt in place of `PROMPT`.
"""

import os
from importlib.metadata import version

from langchain.chat_models import init_chat_model
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel
from openevals.llm import create_async_llm_as_judge
from parts import NO_VERDICT, Messages, Params, grading

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


async def judge(messages: Messages, params: Params) -> str:
    """The score that the evaluator chooses out of the scale."""
    asked = grading(messages)
    evaluate = create_async_llm_as_judge(
        prompt=PROMPT,
        choices=[float(score) for score in asked.scale],
        judge=model(params),
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
        return NO_VERDICT
    return f"[RESULT] {result['score']:g}"


judge.framework = f"openevals {version('openevals')}, llm_as_judge"
judge.axes = ("score_order",)
judge.note = (
    "openevals sends the scores in its answer schema as well, here in the order of the prompt."
)


def model(params: Params) -> BaseChatModel:
    """The model, at the temperature and with the reply budget of the run."""
    asked = {name: params[name] for name in ("temperature", "max_tokens")}
    # judgesheet asks again itself, and counts it
    return init_chat_model(os.environ["JUDGE_MODEL"], max_retries=0, **asked)

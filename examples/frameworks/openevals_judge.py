"""An LLM as judge of openevals.

pip install openevals langchain-openai
judgesheet probe --model python/openevals_judge:judge --prompt score_order=score_order.jinja
"""

from importlib.metadata import version

from langchain.chat_models import init_chat_model
from langchain_core.exceptions import OutputParserException
from openevals.llm import create_async_llm_as_judge
from parts import UNREAD, grading

PROMPT = """You are grading a response to a request.

<request>
{inputs}
</request>

<response>
{outputs}
</response>

Grade it on this criterion: {criterion}

{rubric}"""


async def judge(messages, params):
    """What judgesheet calls: one question, one reply."""
    asked, scale, rubric = grading(messages)
    limits = {name: params[name] for name in ("temperature", "max_tokens")}
    evaluate = create_async_llm_as_judge(
        prompt=PROMPT,
        choices=[float(score) for score in scale],
        judge=init_chat_model("openai:gpt-4.1-mini", max_retries=0, **limits),
    )
    given = {"inputs": asked["request"], "outputs": asked["response"]}
    try:
        result = await evaluate(**given, criterion=asked["criterion"], rubric=rubric)
    except OutputParserException:
        return UNREAD
    return f"[RESULT] {result['score']:g}"


judge.framework = f"openevals {version('openevals')}, llm_as_judge"
judge.axes = ("score_order",)
judge.note = "openevals sends the scores in its answer schema too, in the order of the prompt."

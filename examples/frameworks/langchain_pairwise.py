r"""The pairwise evaluator of LangChain.

pip install langchain langchain-classic langchain-openai
judgesheet probe --model python/langchain_pairwise:judge \
        --prompt candidate_order=candidate_order.jinja
"""

from importlib.metadata import version

from langchain.chat_models import init_chat_model
from langchain_classic.evaluation import load_evaluator
from parts import UNREAD, parts

WINNERS = {"A": "1", "B": "2", None: "tie"}


async def judge(messages, params):
    """What judgesheet calls: one question, one reply."""
    asked = parts(messages)
    limits = {name: params[name] for name in ("temperature", "max_tokens")}
    # Without its own retries, which the ledger would not see: judgesheet asks again itself.
    model = init_chat_model("openai:gpt-4.1-mini", max_retries=0, **limits)
    evaluator = load_evaluator("pairwise_string", llm=model)
    try:
        found = await evaluator.aevaluate_string_pairs(
            input=asked["request"], prediction=asked["first"], prediction_b=asked["second"]
        )
    except ValueError as error:
        if not str(error).startswith("Invalid output"):
            raise
        return UNREAD
    return f'{{"winner": "{WINNERS[found["value"]]}"}}'


judge.framework = f"langchain-classic {version('langchain-classic')}, pairwise_string"
judge.axes = ("candidate_order",)
judge.note = (
    "The prompt of pairwise_string asks for no position bias itself and names the responses A and "
    "B; the order in which it lists the verdicts cannot be permuted."
)

"""The pairwise evaluator of LangChain as a judge.

    pip install langchain langchain-classic langchain-openai
    cd examples/frameworks
    JUDGE_MODEL=openai:gpt-4.1-mini judgesheet probe --model python/langchain_evaluators:pairwise \
        --axis candidate_order --prompt candidate_order=pair.j2

`JUDGE_MODEL` is any name that `init_chat_model` takes.
"""

import os
from importlib.metadata import version

from langchain.chat_models import init_chat_model
from langchain_classic.evaluation import load_evaluator
from langchain_core.language_models import BaseChatModel
from parts import NO_VERDICT, Messages, Params, comparison

WINNERS = {"A": "1", "B": "2", None: "tie"}


async def pairwise(messages: Messages, params: Params) -> str:
    """The preference of `pairwise_string`, with its own criteria."""
    asked = comparison(messages)
    chain = load_evaluator("pairwise_string", llm=model(params))
    try:
        found = await chain.aevaluate_string_pairs(
            input=asked.request, prediction=asked.first, prediction_b=asked.second
        )
    except ValueError as error:
        if not str(error).startswith("Invalid output"):
            raise
        return NO_VERDICT
    return f'{{"winner": "{WINNERS[found["value"]]}"}}'


pairwise.framework = f"langchain-classic {version('langchain-classic')}, pairwise_string"
pairwise.axes = ("candidate_order",)
pairwise.note = (
    "The prompt of pairwise_string asks for no position bias itself and names the responses A and "
    "B; the order in which it lists the verdicts (A, B, tie) cannot be permuted."
)


def model(params: Params) -> BaseChatModel:
    """The model, at the temperature and with the reply budget of the run."""
    asked = {name: params[name] for name in ("temperature", "max_tokens")}
    # judgesheet asks again itself, and counts it
    return init_chat_model(os.environ["JUDGE_MODEL"], max_retries=0, **asked)

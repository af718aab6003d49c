"""The pairwise evaluator of LangChain, or one of the user's own."""

from langchain.chat_models import init_chat_model
from langchain_classic.evaluation import load_evaluator

from judgesheet.judges.frameworks.parts import Given, ResponsePair

WINNERS = {"A": "1", "B": "2", None: "tie"}


async def compare(asked: ResponsePair, given: Given) -> str | None:
    """The preference of `pairwise_string`, with its own criteria."""
    # Without its own retries, which the ledger would not see: judgesheet asks again itself.
    model = None if given.own else init_chat_model(given.model, max_retries=0, **given.limits)
    evaluator = given.own or load_evaluator("pairwise_string", llm=model)
    try:
        found = await evaluator.aevaluate_string_pairs(
            input=asked.request, prediction=asked.first, prediction_b=asked.second
        )
    except ValueError as error:
        if not str(error).startswith("Invalid output"):
            raise
        return None
    return WINNERS[found["value"]]

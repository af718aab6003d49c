"""A LangChain chat model as a judge.

    pip install langchain langchain-openai
    cd examples
    JUDGE_MODEL=openai:gpt-4.1-mini judgesheet probe --model python/langchain_judge:judge

`JUDGE_MODEL` is any name that `init_chat_model` takes.
"""

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any


async def judge(messages: Sequence[Mapping[str, str]], params: Mapping[str, Any]) -> str:
    """What judgesheet calls: one question, one reply. An exception is counted and asked again."""
    return await ask(chat_model(), messages, params)


@cache
def chat_model() -> Any:
    """The model, opened at the first question."""
    from langchain.chat_models import init_chat_model

    return init_chat_model(os.environ["JUDGE_MODEL"], max_retries=0)  # judgesheet retries itself


async def ask(model: Any, messages: Sequence[Mapping[str, str]], params: Mapping[str, Any]) -> str:
    """Ask a chat model, at the temperature and with the reply budget of the run."""
    asked = {name: params[name] for name in ("temperature", "max_tokens") if name in params}
    answer = await model.bind(**asked).ainvoke([dict(message) for message in messages])
    if isinstance(answer.content, str):
        return answer.content
    # Models that think aloud answer in blocks; only the text is the reply.
    return "".join(block["text"] for block in answer.content if block.get("type") == "text")

"""The examples do what they say, with the framework where it is installed."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from judgesheet.judges import Connection, open_judge
from tests.judges.loopback import make_call

EXAMPLES = Path(__file__).parent.parent / "examples"
NAME = "langchain_judge"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.syspath_prepend(EXAMPLES)
    module = __import__(NAME)
    yield module
    sys.modules.pop(NAME, None)


class FakeModel:
    """As much of a chat model as the adapter uses."""

    def __init__(self, content: Any) -> None:
        self.content = content
        self.asked: dict[str, Any] = {}

    def bind(self, **params: Any) -> "FakeModel":
        self.asked = params
        return self

    async def ainvoke(self, messages: list[dict[str, str]]) -> Any:
        assert messages[-1]["role"] == "user"
        if isinstance(self.content, Exception):
            raise self.content
        return SimpleNamespace(content=self.content)


def reply_of(example: Any, model: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(example, "chat_model", lambda: model)

    async def main() -> Any:
        async with open_judge(f"python/{NAME}:judge", Connection()) as judge:
            return await judge.ask(make_call("Grade this."), 1)

    return asyncio.run(main())


@pytest.mark.parametrize(
    "content",
    [
        "[RESULT] 4",
        [{"type": "thinking", "thinking": "[RESULT] 1"}, {"type": "text", "text": "[RESULT] 4"}],
    ],
)
def test_a_chat_model_answers(example: Any, content: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = FakeModel(content)
    reply = reply_of(example, model, monkeypatch)
    assert (reply.outcome, reply.text) == ("ok", "[RESULT] 4")
    assert model.asked == {"temperature": 0.0, "max_tokens": 24}


def test_an_exception_of_the_framework_is_counted(
    example: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = reply_of(example, FakeModel(RuntimeError("429")), monkeypatch)
    assert (reply.outcome, reply.raw) == ("unavailable", "RuntimeError: 429")


def test_langchain_itself(example: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fakes = pytest.importorskip("langchain_core.language_models.fake_chat_models")
    model = fakes.FakeListChatModel(responses=["[RESULT] 4"])
    assert reply_of(example, model, monkeypatch).text == "[RESULT] 4"

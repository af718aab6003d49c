"""The examples do what they say, with the framework and the data where they are there."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
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


# -- real judges -----------------------------------------------------------------------------------

DATA = Path(os.environ.get("JUDGES_DATA", "no folder"))
LOG = "recorded_judgments_judging_the_judges_repetitions.jsonl"


def verdicts(judge: str, questions: int, *, first: float) -> Iterator[Mapping[str, Any]]:
    """Each pair twice in both orders: what stands first wins on a share of the questions."""
    for item in range(questions):
        for order in ("AB", "BA"):
            is_first = item < first * questions or order == "AB"
            yield from (
                {"judge": judge, "dataset": "D", "item_id": str(item), "pair": ["a", "b"],
                 "order": order, "rep": rep, "verdict": "first" if is_first else "second"}
                for rep in (1, 2)
            )  # fmt: skip


def judged(data: Path, out: Path) -> dict[str, Any]:
    """The groups of the command's estimates, by what was asked."""
    written = ("--out", str(out), "--estimates", str(out.with_suffix(".json")))
    done = subprocess.run(
        [sys.executable, "-m", "examples.judges", "--data", str(data), *written],
        cwd=EXAMPLES.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made: dict[str, Any] = json.loads(out.with_suffix(".json").read_text())
    return made


def test_judges_are_grouped_by_what_they_were_asked(tmp_path: Path) -> None:
    """Two were asked the same; the third lacks a question and stands alone."""
    judges = (("keeps", 8, 0.0), ("flips", 8, 0.5), ("other", 7, 0.0))
    lines = [row for name, asked, first in judges for row in verdicts(name, asked, first=first)]
    (tmp_path / LOG).write_text("\n".join(map(json.dumps, lines)))
    groups = judged(tmp_path, tmp_path / "out")["groups"]
    assert [[one["judge"] for one in group["judges"]] for group in groups] == [
        ["flips", "keeps"],
        ["other"],
    ]
    assert all("MIT" in group["licence"] and group["source"] for group in groups)
    flips, keeps = (
        {key.split("[")[0]: figure["value"] for key, figure in one["estimates"].items()}
        for one in groups[0]["judges"]
    )
    excess, noise = "candidate_order.excess_change_rate", "candidate_order.repeat_change_rate"
    assert (flips[excess], flips[noise], flips["candidate_order.slot1_share"]) == (0.5, 0, 0.75)
    assert (keeps[excess], keeps[noise], keeps["candidate_order.slot1_share"]) == (0, 0, 0.5)
    decisions = {one["decision"] for group in groups for one in group["judges"]}
    assert decisions == {"not_proven"}, "eight questions prove nothing"
    assert len(list((tmp_path / "out").glob("*/datasheet.html"))) == 3


def test_the_committed_figures_hold_no_verdict() -> None:
    made = json.loads((EXAMPLES / "judges" / "estimates.json").read_text())
    for group in made["groups"]:
        assert {*group} == {"stimuli", "prompt", "source", "licence", "questions", "judges"}
        reported = {"judge", "calls", "lost", "estimates", "decision", "broken"}
        assert all({*one} == reported for one in group["judges"])


@pytest.mark.skipif(not DATA.is_dir(), reason="the public logs are not here")
def test_the_committed_figures_follow_from_the_logs(tmp_path: Path) -> None:
    """Of one log, which takes seconds; `make judges` makes all."""
    name = "recorded_judgments_qlora_vicuna_pairwise.jsonl.gz"
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / name).write_bytes((DATA / name).read_bytes())
    (group,) = judged(tmp_path / "data", tmp_path / "out")["groups"]
    assert group in json.loads((EXAMPLES / "judges" / "estimates.json").read_text())["groups"]

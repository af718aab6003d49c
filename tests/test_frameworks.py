"""Judges of frameworks, each with the real package in front of a planted model on loopback.

The model prefers what stands first in the prompt that the framework shows it. So a sheet that finds
exactly that has seen the order of the framework's own prompt. A framework that is not installed is
left out; docs/frameworks.md says with which versions these tests ran.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from judgesheet.records import Datasheet, Estimate
from judgesheet.spine.datasheet import from_json
from tests.command import Done, start
from tests.judges.loopback import Answer, Request, completion, serving

FRAMEWORKS = Path(__file__).parent.parent / "examples" / "frameworks"
PROMPTS = {"score_order": "score.j2", "candidate_order": "pair.j2"}
MODEL = "gpt-4.1-mini"


@dataclass(frozen=True, slots=True)
class Framework:
    """A judge of examples/frameworks, the axis it is asked about, and what its model answers."""

    judge: str
    package: str
    axis: str
    says: Callable[[Request], str]
    model: str = MODEL
    environment: tuple[tuple[str, str], ...] = ()


def first_score(request: Request) -> int:
    """The score whose description stands first."""
    found = re.search(r"\bscore[ _]?(\d)(?:_description)?: ", every_word(request), re.IGNORECASE)
    assert found, every_word(request)
    return int(found[1])


def every_word(request: Request) -> str:
    """All messages of a request."""
    contents = [message["content"] for message in request.body["messages"]]
    blocks = [one if isinstance(one, list) else [{"text": one}] for one in contents]
    return "\n".join(block["text"] for content in blocks for block in content)


def geval(request: Request) -> str:
    return json.dumps({"reason": "It stands first.", "score": first_score(request)})


def arena(request: Request) -> str:
    """The contestant who stands first, whatever the name; or a reason in other words."""
    names = re.findall(r'^    "(\w+)": "\{', every_word(request), re.MULTILINE)
    if not names:
        return json.dumps({"rewritten_reason": "It stands first."})
    return json.dumps({"winner": names[0], "reason": "It stands first."})


def pairwise(_request: Request) -> str:
    return "The first one is better. [[A]]"


def openevals(request: Request) -> str:
    return json.dumps({"reasoning": "It stands first.", "score": float(first_score(request))})


def graded_qa(request: Request) -> str:
    return f"It stands first.\n\nGRADE: {first_score(request)}"


def rubrics(request: Request) -> str:
    return json.dumps({"feedback": "It stands first.", "score": first_score(request)})


def made(request: Request) -> str:
    return json.dumps({"result": str(first_score(request)), "rationale": "It stands first."})


JUDGES = {
    "deepeval": Framework("deepeval_judge:geval", "deepeval", "score_order", geval),
    "deepeval_arena": Framework("deepeval_judge:arena", "deepeval", "candidate_order", arena),
    "langchain": Framework(
        "langchain_evaluators:pairwise", "langchain_classic", "candidate_order", pairwise,
        model=f"openai:{MODEL}",
    ),
    "openevals": Framework(
        "openevals_judge:judge", "openevals", "score_order", openevals, model=f"openai:{MODEL}"
    ),
    "inspect_ai": Framework(
        "inspect_judge:graded_qa", "inspect_ai", "score_order", graded_qa, model=f"openai/{MODEL}"
    ),
    "ragas": Framework("ragas_judge:rubrics", "ragas", "score_order", rubrics),
    "mlflow": Framework(
        "mlflow_judge:made", "mlflow", "score_order", made, model=f"openai:/{MODEL}"
    ),
}


def probe(
    name: str, out: Path, says: Callable[[Request], str] | None = None, *options: str
) -> tuple[Done, list[Request]]:
    """A probe of the judge in a process of its own, as frameworks change the one they are in."""
    framework = JUDGES[name]
    if find_spec(framework.package) is None:
        pytest.skip(f"{framework.package} is not installed")
    speak = says or framework.says

    def script(request: Request, _number: int) -> Answer:
        return completed(speak(request))

    with serving(script) as server:
        done = start(
            *("probe", "--model", f"python/{framework.judge}", "--axis", framework.axis),
            *("--prompt", f"{framework.axis}={PROMPTS[framework.axis]}", "--profile", "smoke"),
            *("--out", str(out), "--no-pdf", "--quiet", *options),
            cwd=FRAMEWORKS,
            JUDGE_MODEL=framework.model,
            OPENAI_BASE_URL=server.base_url,
            OPENAI_API_BASE=server.base_url,
            OPENAI_API_KEY="a-key-for-loopback",
            **dict(framework.environment),
        )
    return done, server.requests


def completed(text: str) -> Answer:
    """A completion with every field that OpenAI's own client insists on."""
    body = json.loads(completion(text, index=0, finish_reason="stop").body or b"")
    usage = {**body["usage"], "total_tokens": 12}
    full = {**body, "id": "1", "object": "chat.completion", "created": 1, "usage": usage}
    return Answer(json.dumps(full).encode(), headers={"Content-Type": "application/json"})


def sheet_of(out: Path) -> Datasheet:
    return from_json((out / "datasheet.json").read_text())


def estimate(sheet: Datasheet, key: str) -> Estimate:
    return next(one for one in sheet.axes[0].estimates if one.key == key)


@pytest.mark.parametrize("name", [name for name, one in JUDGES.items() if one.axis == "score_order"])
def test_a_scale_is_permuted_inside_the_prompt_of_the_framework(name: str, tmp_path: Path) -> None:
    done, requests = probe(name, tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert len({every_word(request) for request in requests}) > 10
    sheet = sheet_of(tmp_path / "run")
    axis = sheet.axes[0]
    assert (axis.planned, axis.unreadable + axis.failed) == (axis.answered, 0)
    assert estimate(sheet, "score_order.position_share[position=1]").value == 1

"""Judges of frameworks, each with the real package in front of a planted model on loopback.

The model prefers what stands first in the prompt that the framework shows it. So a sheet that finds
exactly that has seen the order of the framework's own prompt. A framework that is not installed is
left out; docs/frameworks.md says with which versions these tests ran.
"""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from judgesheet import plan, show_stimulus
from judgesheet.records import Datasheet, Estimate
from judgesheet.spine.datasheet import from_json
from tests.command import Done, sentence, start
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


def absolute(request: Request) -> str:
    return f"It stands first. [RESULT] {first_score(request)}"


def relative(_request: Request) -> str:
    return "The first one is better. [RESULT] A"


JUDGES = {
    "deepeval": Framework("deepeval_judge:geval", "deepeval", "score_order", geval),
    "deepeval_arena": Framework("deepeval_judge:arena", "deepeval", "candidate_order", arena),
    "langchain": Framework(
        "langchain_evaluators:pairwise",
        "langchain_classic",
        "candidate_order",
        pairwise,
        model=f"openai:{MODEL}",
    ),
    "openevals": Framework(
        "openevals_judge:judge", "openevals", "score_order", openevals, model=f"openai:{MODEL}"
    ),
    "inspect_ai": Framework(
        "inspect_judge:graded_qa", "inspect_ai", "score_order", graded_qa, model=f"openai/{MODEL}"
    ),
    "ragas": Framework("ragas_judge:rubrics", "ragas", "score_order", rubrics),
    "prometheus": Framework(
        "prometheus_judge:absolute",
        "prometheus_eval",
        "score_order",
        absolute,
        model=f"openai/{MODEL}",
    ),
    "prometheus_pairs": Framework(
        "prometheus_judge:relative",
        "prometheus_eval",
        "candidate_order",
        relative,
        model=f"openai/{MODEL}",
    ),
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


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(FRAMEWORKS)
    yield import_module("parts")
    sys.modules.pop("parts")


def question(axis: str, nth: int = 0) -> Any:
    """The messages of a planned call, in the form that frameworks are handed."""
    prompts = {axis: FRAMEWORKS / PROMPTS[axis]}
    planned, _ = plan("python/any:judge", axes=[axis], prompts=prompts, profile="smoke")
    return planned.calls[nth]


def test_parts_are_those_of_the_question_in_its_order(parts: Any) -> None:
    call = question("score_order")
    asked = parts.grading(call.messages)
    assert list(asked.scale) == call.cell["order"]
    rubric = show_stimulus(call.stimulus, "score_order").fields["rubric"]
    assert (asked.scale[1], asked.scale[5]) == (rubric["levels"][0], rubric["levels"][-1])
    assert (asked.criterion, asked.reference) == (rubric["criterion"], "")
    compared = parts.comparison(question("candidate_order").messages)
    assert "A good response contains:" in compared.request
    assert compared.first != compared.second


@pytest.mark.parametrize(
    "words",
    ["Which is better?", "=== request\nA\n=== first\nB\n=== second\nC\n=== second\nD\n", ""],
)
def test_a_question_in_other_parts_is_refused_with_what_to_give(parts: Any, words: str) -> None:
    """As where the template was forgotten, or a response imitates the name of a part."""
    with pytest.raises(ValueError, match=r"give --axis candidate_order --prompt .*pair\.j2"):
        parts.comparison([{"role": "user", "content": words}])


def asked_about(axis: str) -> list[str]:
    return [name for name, one in JUDGES.items() if one.axis == axis]


@pytest.mark.parametrize("name", asked_about("score_order"))
def test_a_scale_is_permuted_inside_the_prompt_of_the_framework(name: str, tmp_path: Path) -> None:
    done, requests = probe(name, tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert len({every_word(request) for request in requests}) > 10
    sheet = sheet_of(tmp_path / "run")
    axis = sheet.axes[0]
    assert (axis.planned, axis.unreadable + axis.failed) == (axis.answered, 0)
    assert estimate(sheet, "score_order.position_share[position=1]").value == 1
    assert JUDGES[name].package.replace("_", "-") in sheet.judge["framework"].replace("_", "-")
    assert any(sheet.judge["note"] in caveat for caveat in axis.caveats)


@pytest.mark.parametrize("name", ["langchain", "prometheus_pairs"])
def test_responses_stand_in_the_prompt_of_the_framework_as_on_the_sheet(
    name: str, tmp_path: Path
) -> None:
    done, _ = probe(name, tmp_path / "run")
    assert done.returncode == 0, done.stderr
    sheet = sheet_of(tmp_path / "run")
    assert sheet.axes[0].planned == sheet.axes[0].answered
    assert estimate(sheet, "candidate_order.slot1_share[set=same_subset]").value == 1


def test_a_framework_that_shuffles_by_itself_says_so_on_the_sheet(tmp_path: Path) -> None:
    """ArenaGEval: its model prefers what stands first, and the sheet cannot know what did."""
    done, requests = probe("deepeval_arena", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    shown = [re.findall(r'^    "(\w+)": "', every_word(one), re.MULTILINE) for one in requests]
    assert len({tuple(names) for names in shown if names}) > 2, "names and places are drawn"
    (axis,) = sheet_of(tmp_path / "run").axes
    assert "shuffles the responses" in axis.caveats[0]


@pytest.mark.parametrize("name", JUDGES)
def test_a_model_that_gives_no_verdict_is_counted_or_ends_the_run_in_a_sentence(
    name: str, tmp_path: Path
) -> None:
    """Whatever the framework makes of it: none of its calls is read as a verdict."""
    done, _ = probe(name, tmp_path / "run", lambda _: "I would rather not say.")
    assert "Traceback" not in done.stderr
    if (tmp_path / "run" / "datasheet.json").exists():
        (axis,) = sheet_of(tmp_path / "run").axes
        assert axis.answered == 0 or JUDGES[name].axis == "candidate_order"
    else:
        assert "check the function" in sentence(done)

"""The judges of frameworks in examples/, each with the real package in front of a planted model.

The model prefers what stands first in the prompt that the framework shows it. So a sheet that finds
exactly that has seen the order of the framework's own prompt. A framework that is not installed is
left out; docs/frameworks.md says with which versions these tests ran.
"""

import ast
import json
import re
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from judgesheet import plan, show_stimulus
from judgesheet.base.datasheet import from_json
from tests.command import Done, start
from tests.judges.loopback import Answer, Request, completion, serving

EXAMPLES = Path(__file__).parent.parent / "examples" / "frameworks"


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


def relative(_request: Request) -> str:
    return "The first one is better. [RESULT] A"


def grader(request: Request) -> str:
    """The option that stands first, whose number is its place."""
    return json.dumps({"selected_option": 1, "explanation": "It stands first."})


def llm_rubric(request: Request) -> str:
    return json.dumps({"reason": "It stands first.", "pass": True, "score": first_score(request)})


SAYS: dict[str, tuple[str, Callable[[Request], str]]] = {
    "autorubric_grader": ("autorubric", grader),
    "deepeval_geval": ("deepeval", geval),
    "inspect_qa": ("inspect_ai", graded_qa),
    "langchain_pairwise": ("langchain_classic", pairwise),
    "mlflow_judge": ("mlflow", made),
    "openevals_judge": ("openevals", openevals),
    "prometheus_relative": ("prometheus_eval", relative),
    "promptfoo_rubric": ("promptfoo", llm_rubric),
    "ragas_rubrics": ("ragas", rubrics),
}
"""By example: the package, and what the model answers it."""
FIRST = {
    "score_order": "score_order.position_share[position=1]",
    "candidate_order": "candidate_order.slot1_share[set=same_subset]",
}
"""How often what stands first is chosen, by axis."""


def axis_of(example: str) -> str:
    """The one axis that the example declares."""
    tree = ast.parse((EXAMPLES / f"{example}.py").read_text(encoding="utf-8"))
    values = (node.value for node in tree.body if isinstance(node, ast.Assign)
              if ast.unparse(node.targets[0]) == "judge.axes")  # fmt: skip
    (axis,) = ast.literal_eval(next(values))
    return str(axis)


def probe(
    example: str, out: Path, says: Callable[[Request], str], *options: str
) -> tuple[Done, list[Request]]:
    """A probe of the judge in a process of its own, as frameworks change the one they are in."""
    package, axis = SAYS[example][0], axis_of(example)
    if not (shutil.which("promptfoo") if package == "promptfoo" else find_spec(package)):
        pytest.skip(f"{package} is not installed")
    with serving(lambda request, _: completed(says(request))) as server:
        done = start(
            *("probe", "--model", f"python/{example}:judge", "--prompt", f"{axis}={axis}.jinja"),
            *("--profile", "smoke", "--out", str(out), "--no-pdf", "--quiet", *options),
            cwd=EXAMPLES,
            OPENAI_BASE_URL=server.base_url,
            OPENAI_API_BASE=server.base_url,
            OPENAI_API_KEY="a-key-for-loopback",
        )
    return done, server.requests


def completed(text: str) -> Answer:
    """A completion with every field that OpenAI's own client insists on."""
    body = json.loads(completion(text, index=0, finish_reason="stop").body or b"")
    usage = {**body["usage"], "total_tokens": 12}
    full = {**body, "id": "1", "object": "chat.completion", "created": 1, "usage": usage}
    return Answer(json.dumps(full).encode(), headers={"Content-Type": "application/json"})


def test_every_example_is_tried() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*SAYS, "parts"}


@pytest.mark.parametrize("axis", FIRST)
def test_parts_are_those_of_the_question_in_its_order(
    axis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    from parts import grading, parts  # type: ignore[import-not-found]

    own = {axis: EXAMPLES / f"{axis}.jinja"}
    planned, _ = plan("sim/fair", axes=[axis], profile="smoke", prompts=own)
    call = planned.calls[0]
    if axis == "candidate_order":
        compared = parts(call.messages)
        assert "A good response contains:" in compared["request"]
        assert compared["first"] != compared["second"]
        return
    asked, scale, rubric = grading(call.messages)
    assert list(scale) == call.cell["order"]
    assert [int(number) for number in re.findall(r"^Score (\d):", rubric, re.M)] == list(scale)
    shown = show_stimulus(call.stimulus, axis).fields["rubric"]
    assert (scale[1], scale[5]) == (shown["levels"][0], shown["levels"][-1])
    assert (asked["criterion"], asked["reference"]) == (shown["criterion"], "")


@pytest.mark.parametrize(
    "words",
    ["Which is better?", "=== request\nA\n=== first\nB\n=== second\nC\n=== second\nD\n", ""],
)
def test_a_question_in_other_parts_is_refused_with_what_to_do(
    words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where no template was given, or a response imitates the name of a part."""
    monkeypatch.syspath_prepend(EXAMPLES)
    from parts import parts

    with pytest.raises(ValueError, match="--prompt"):
        parts([{"role": "user", "content": words}])


# -- with the packages -----------------------------------------------------------------------------


@pytest.mark.parametrize("example", SAYS)
def test_what_is_permuted_is_permuted_inside_the_prompt_of_the_framework(
    example: str, tmp_path: Path
) -> None:
    done, requests = probe(example, tmp_path / "run", SAYS[example][1])
    assert done.returncode == 0, done.stderr
    assert len({every_word(request) for request in requests}) > 5
    sheet = from_json((tmp_path / "run" / "datasheet.json").read_text())
    (axis,) = sheet.axes
    assert (axis.planned, axis.unreadable + axis.failed) == (axis.answered, 0)
    assert [one.value for one in axis.estimates if one.key == FIRST[axis.name]] == [1]
    assert any(sheet.judge.note in caveat for caveat in axis.caveats)


@pytest.mark.parametrize("example", SAYS)
def test_a_model_that_gives_no_verdict_is_counted_or_ends_the_run_in_a_sentence(
    example: str, tmp_path: Path
) -> None:
    """Whatever the framework makes of it: none of its calls is read as a verdict."""
    done, _ = probe(example, tmp_path / "run", lambda _: "I would rather not say.")
    assert "Traceback" not in done.stderr
    if (tmp_path / "run" / "datasheet.json").exists():
        (axis,) = from_json((tmp_path / "run" / "datasheet.json").read_text()).axes
        assert axis.answered == 0

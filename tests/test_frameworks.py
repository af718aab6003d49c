"""Judges of frameworks, each with the real package in front of a planted model on loopback.

The model prefers what stands first in the prompt that the framework shows it. So a sheet that finds
exactly that has seen the order of the framework's own prompt. A framework that is not installed is
left out; docs/frameworks.md says with which versions these tests ran.
"""

import json
import re
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from judgesheet import show_stimulus
from judgesheet.axes import get_axis
from judgesheet.axis import Options
from judgesheet.axis.prompt import built_in
from judgesheet.base.datasheet import from_json
from judgesheet.base.records import Call, Datasheet, Estimate
from judgesheet.judges.frameworks import FRAMEWORKS
from judgesheet.judges.frameworks.parts import comparison, grading
from judgesheet.judges.providers import FRAMEWORK_NAMES
from judgesheet.planning import plan as planning
from tests.command import Done, run, sentence, start
from tests.judges.loopback import Answer, Request, completion, serving

MINE = {
    "deepeval": """
from deepeval.metrics import GEval
from deepeval.test_case import SingleTurnParams as shown

metric = GEval(
    name="Manners", criteria="Is it kind?", model="gpt-4o",
    evaluation_params=[shown.INPUT, shown.ACTUAL_OUTPUT],
)
""",
    "inspect_ai": """
GRADES = "Here is my scale. {rubric} End with 'GRADE: $SCORE'."
""",
    "langchain": """
from langchain.chat_models import init_chat_model
from langchain_classic.evaluation import load_evaluator

model = init_chat_model("openai:gpt-4o", max_retries=0)
evaluator = load_evaluator("pairwise_string", llm=model, criteria={"kind": "Is it my kind?"})
""",
    "mlflow": """
ASKED = "My scale for {{ outputs }} to {{ inputs }}: {rubric}"
""",
    "openevals": """
PROMPT = "A response to {inputs}: {outputs}. {criterion} {rubric}"
WITHOUT = "A response to {inputs}: {outputs}."
""",
}


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


def grader(request: Request) -> str:
    """The option that stands first, whose number is its place."""
    return json.dumps({"selected_option": 1, "explanation": "It stands first."})


def llm_rubric(request: Request) -> str:
    return json.dumps({"reason": "It stands first.", "pass": True, "score": first_score(request)})


SAYS: dict[str, Callable[[Request], str]] = {
    "autorubric/CriterionGrader": grader,
    "deepeval/GEval": geval,
    "deepeval/ArenaGEval": arena,
    "inspect_ai/model_graded_qa": graded_qa,
    "langchain/pairwise_string": pairwise,
    "mlflow/make_judge": made,
    "openevals/llm_as_judge": openevals,
    "prometheus/absolute": absolute,
    "prometheus/relative": relative,
    "promptfoo/llm-rubric": llm_rubric,
    "promptfoo/select-best": lambda _: "0",
    "ragas/DomainSpecificRubrics": rubrics,
}
MODULES = {"langchain": "langchain_classic", "prometheus": "prometheus_eval"}


MODEL = FRAMEWORKS["deepeval"].model
FIRST = {
    "score_order": "score_order.position_share[position=1]",
    "candidate_order": "candidate_order.slot1_share[set=same_subset]",
}
"""How often what stands first is chosen, by axis."""


def axis_of(judge: str) -> str:
    framework, _, name = judge.partition("/")
    axis, *_ = FRAMEWORKS[framework].judges[name].axes
    return axis


def probe(
    judge: str, out: Path, says: Callable[[Request], str], *options: str, cwd: Path | None = None
) -> tuple[Done, list[Request]]:
    """A probe of the judge in a process of its own, as frameworks change the one they are in."""
    framework = judge.partition("/")[0]
    there = shutil.which("promptfoo") or find_spec(MODULES.get(framework, framework))
    if not there:
        pytest.skip(f"{framework} is not installed")
    with serving(lambda request, _: completed(says(request))) as server:
        done = start(
            *("probe", "--model", judge, "--profile", "smoke", "--out", str(out)),
            *("--no-pdf", "--quiet", *options),
            cwd=cwd,
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


def sheet_of(out: Path) -> Datasheet:
    return from_json((out / "datasheet.json").read_text())


def estimate(sheet: Datasheet, key: str) -> Estimate:
    return next(one for one in sheet.axes[0].estimates if one.key == key)


def question(axis: str) -> Call:
    """A planned call, in the form that frameworks are handed."""
    room = get_axis(axis)
    options = {axis: Options("smoke", template=built_in(f"parts_{axis}.jinja"))}
    return planning.make_plan([room], options, 0).calls[0]


def test_every_framework_has_its_judges_named() -> None:
    assert {*FRAMEWORKS} == {*FRAMEWORK_NAMES}
    judges = {f"{name}/{judge}" for name, one in FRAMEWORKS.items() for judge in one.judges}
    assert judges == {*SAYS}


def test_parts_are_those_of_the_question_in_its_order() -> None:
    call = question("score_order")
    asked = grading(call.messages)
    assert list(asked.scale) == call.cell["order"]
    rubric = show_stimulus(call.stimulus, "score_order").fields["rubric"]
    assert (asked.scale[1], asked.scale[5]) == (rubric["levels"][0], rubric["levels"][-1])
    assert (asked.criterion, asked.reference) == (rubric["criterion"], "")
    compared = comparison(question("candidate_order").messages)
    assert "A good response contains:" in compared.request
    assert compared.first != compared.second


@pytest.mark.parametrize(
    "words",
    ["Which is better?", "=== request\nA\n=== first\nB\n=== second\nC\n=== second\nD\n", ""],
)
def test_a_question_in_other_parts_is_refused_with_what_to_do(words: str) -> None:
    """As where the user gave a template, or a response imitates the name of a part."""
    with pytest.raises(ValueError, match="--prompt"):
        comparison([{"role": "user", "content": words}])


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("deepeval/Faithfulness", "there is deepeval/GEval or deepeval/ArenaGEval, or MODULE:OBJ"),
        ("ragas/", "name a model"),
        ("nowhere/GEval", "there is no judge"),
    ],
)
def test_a_judge_that_no_framework_has_is_one_sentence(model: str, said: str) -> None:
    done = run("plan", "--model", model)
    assert said in done.stderr or "is missing: pip install" in done.stderr
    assert sentence(done, done.returncode)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", r"this version of deepeval is not supported \(No module named 'deepeval.errors'\)"),
        ("import a_part_of_it", "need a_part_of_it, which is missing: pip install deepeval"),
    ],
)
def test_another_version_of_a_framework_is_one_sentence(
    content: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "deepeval").mkdir()
    (tmp_path / "deepeval" / "__init__.py").write_text(content)
    done = start("plan", "--model", "deepeval/GEval", PYTHONPATH=str(tmp_path))
    assert re.search(said, sentence(done))


def test_options_that_a_framework_would_not_hear_of_are_refused() -> None:
    done = run(
        "plan", "--model", "deepeval/GEval", "--base-url", "http://[::1]:1", "--reply", "json"
    )
    assert "leave --base-url, --reply out: deepeval finds" in sentence(done, 2)


# -- with the packages -----------------------------------------------------------------------------


def asked_about(axis: str, *but: str) -> list[str]:
    return [judge for judge in SAYS if axis_of(judge) == axis and judge not in but]


@pytest.mark.parametrize("judge", asked_about("score_order"))
def test_a_scale_is_permuted_inside_the_prompt_of_the_framework(judge: str, tmp_path: Path) -> None:
    done, requests = probe(judge, tmp_path / "run", SAYS[judge])
    assert done.returncode == 0, done.stderr
    assert len({every_word(request) for request in requests}) > 10
    sheet = sheet_of(tmp_path / "run")
    (axis,) = sheet.axes
    assert (axis.planned, axis.unreadable + axis.failed) == (axis.answered, 0)
    assert estimate(sheet, FIRST["score_order"]).value == 1
    assert sheet.judge["framework"].endswith(judge.partition("/")[2])
    assert any(sheet.judge["note"] in caveat for caveat in axis.caveats)
    assert "gpt-4.1-mini" in sheet.judge["model"]


@pytest.mark.parametrize("judge", asked_about("candidate_order", "deepeval/ArenaGEval"))
def test_responses_stand_in_the_prompt_of_the_framework_as_on_the_sheet(
    judge: str, tmp_path: Path
) -> None:
    done, _ = probe(judge, tmp_path / "run", SAYS[judge])
    assert done.returncode == 0, done.stderr
    sheet = sheet_of(tmp_path / "run")
    assert sheet.axes[0].planned == sheet.axes[0].answered
    assert estimate(sheet, FIRST["candidate_order"]).value == 1


def test_a_framework_that_shuffles_by_itself_says_so_on_the_sheet(tmp_path: Path) -> None:
    """ArenaGEval: its model prefers what stands first, and the sheet cannot know what did."""
    done, requests = probe("deepeval/ArenaGEval", tmp_path / "run", arena)
    assert done.returncode == 0, done.stderr
    shown = [re.findall(r'^    "(\w+)": "', every_word(one), re.MULTILINE) for one in requests]
    assert len({tuple(names) for names in shown if names}) > 2, "names and places are drawn"
    (axis,) = sheet_of(tmp_path / "run").axes
    assert "shuffles the responses" in axis.caveats[0]


@pytest.mark.parametrize("judge", SAYS)
def test_a_model_that_gives_no_verdict_is_counted_or_ends_the_run_in_a_sentence(
    judge: str, tmp_path: Path
) -> None:
    """Whatever the framework makes of it: none of its calls is read as a verdict."""
    done, _ = probe(judge, tmp_path / "run", lambda _: "I would rather not say.")
    assert "Traceback" not in done.stderr
    if (tmp_path / "run" / "datasheet.json").exists():
        (axis,) = sheet_of(tmp_path / "run").axes
        assert axis.answered == 0 or axis_of(judge) == "candidate_order"
    else:
        assert f"check {judge.partition('/')[0]}" in sentence(done)


@pytest.mark.parametrize(
    ("judge", "shown"),
    [
        ("deepeval/mine:metric", "Is it kind?"),
        ("inspect_ai/mine:GRADES/openai/gpt-4o", "Here is my scale."),
        ("langchain/mine:evaluator", "Is it my kind?"),
        ("mlflow/mine:ASKED/openai:/gpt-4o", "My scale for"),
        ("openevals/mine:PROMPT/openai:gpt-4o", "A response to "),
    ],
)
def test_an_object_of_the_users_own_takes_the_place_of_ours(
    judge: str, shown: str, tmp_path: Path
) -> None:
    framework = judge.partition("/")[0]
    says = next(said for name, said in SAYS.items() if name.startswith(framework))
    (tmp_path / "mine.py").write_text(MINE[framework])
    done, requests = probe(judge, tmp_path / "run", says, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert all(shown in every_word(request) for request in requests)
    assert {request.body["model"] for request in requests} <= {"gpt-4o", MODEL}
    sheet = sheet_of(tmp_path / "run")
    assert sheet.judge["model"] == judge
    key = FIRST["candidate_order" if framework == "langchain" else "score_order"]
    assert estimate(sheet, key).value == 1


def test_a_text_without_the_scale_is_refused(tmp_path: Path) -> None:
    """Every order would be shown alike, and the sheet would find no effect."""
    (tmp_path / "mine.py").write_text(MINE["openevals"])
    done, _ = probe("openevals/mine:WITHOUT", tmp_path / "run", openevals, cwd=tmp_path)
    assert "must hold {rubric}" in sentence(done, 2)


def test_promptfoo_is_shown_no_template_and_no_file(tmp_path: Path) -> None:
    """It would read the file that a response names, and put the environment into another."""
    hostile = ["file:///etc/passwd", "{{ env.OPENAI_API_KEY }} {% raw %} {{{ 7*7 }}}", "}} {# x"]
    stimulus = dict(show_stimulus(question("score_order").stimulus, "score_order").fields)
    for candidate, text in zip(stimulus["candidates"], hostile, strict=False):
        candidate["text"] = text
    (tmp_path / "own.jsonl").write_text(json.dumps(stimulus))
    own = ("--stimuli", str(tmp_path / "own.jsonl"))
    done, requests = probe("promptfoo/llm-rubric", tmp_path / "run", llm_rubric, *own)
    assert done.returncode == 0, done.stderr
    words = "\n".join(map(every_word, requests))
    assert "file:///etc/passwd" in words
    assert "{ { env.OPENAI_API_KEY }} { % raw %} { { { 7*7 }}}" in words
    assert not re.search("root:|a-key-for-loopback", words)

"""Judges of frameworks, `FRAMEWORK/JUDGE` or `FRAMEWORK/JUDGE/MODEL`: their prompt, their parser.

The module of a framework here has a function `grade`, or `compare`, or both, which put the parts of
a question into a metric of the framework and return the verdict, None where the framework could not
read its model. It is imported when a judge of it is opened, and not before: what is known without
that stands in `FRAMEWORKS`.
"""

import asyncio
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import version
from types import ModuleType
from typing import Any

from judgesheet.axes import all_axes
from judgesheet.axis import Parts
from judgesheet.base.errors import MissingDependencyError, UsageError
from judgesheet.judges.callable import CallableJudge
from judgesheet.judges.frameworks.parts import FORMS, Given, Messages
from judgesheet.judges.user_code import named_object

NO_VERDICT = "no verdict"
"""A reply where the framework could not read its model: counted as unreadable, not asked again."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A judge of a framework: the parts of a question that it takes, and what its sheet must say.

    `own` is the class of the user's objects that can stand in its place, "" for none.
    """

    parts: Parts
    note: str
    own: str = ""

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes whose questions come apart into what it takes."""
        return tuple(name for name, axis in all_axes().items() if self.parts == axis.PARTS)


@dataclass(frozen=True, slots=True)
class Framework:
    """What installs a framework, with which version it was `tried`, its judges by name.

    `model` is the model that they ask unless the user names one, as the framework spells it.
    """

    install: str
    tried: str
    model: str
    judges: Mapping[str, Metric]
    package: str = ""


_TEXT = "str"
"""Class of the texts that hold `{rubric}`."""

FRAMEWORKS: Mapping[str, Framework] = {
    "deepeval": Framework(
        "pip install deepeval", "4.3.1", "gpt-4.1-mini",
        {
            "GEval": Metric(
                "grading",
                "GEval sorts the rubric of a metric by score, so its order cannot be permuted: the "
                "scale is put into the evaluation steps instead. GEval weighs scores by their "
                "log-probabilities if the model gives them; the result is rounded to a whole "
                "score.",
                "GEval",
            ),
            "ArenaGEval": Metric(
                "comparison",
                "ArenaGEval shuffles the responses and their names in every call, so the slots on "
                "this sheet are not those that its model saw: a preference for a place shows as "
                "answers that differ between repeats. It has no tie, and does not judge empty "
                "responses (counted as abstained).",
                "ArenaGEval",
            ),
        },
    ),
    "langchain": Framework(
        "pip install langchain langchain-classic langchain-openai", "1.0.8", "openai:gpt-4.1-mini",
        {
            "pairwise_string": Metric(
                "comparison",
                "The prompt of pairwise_string asks for no position bias itself and names the "
                "responses A and B; the order in which it lists the verdicts (A, B, tie) cannot be "
                "permuted.",
                "PairwiseStringEvaluator",
            ),
        },
        "langchain-classic",
    ),
    "openevals": Framework(
        "pip install openevals langchain-openai", "0.2.2", "openai:gpt-4.1-mini",
        {
            "llm_as_judge": Metric(
                "grading",
                "openevals sends the scores in its answer schema as well, in the order of the "
                "prompt.",
                _TEXT,
            ),
        },
    ),
    "inspect_ai": Framework(
        "pip install inspect-ai openai", "0.3.285", "openai/gpt-4.1-mini",
        {
            "model_graded_qa": Metric(
                "grading",
                "Measured with a scale in the instructions; the default instructions of "
                "model_graded_qa name the grades C and I in a fixed order, which cannot be "
                "permuted. References are not shown.",
                _TEXT,
            ),
        },
        "inspect-ai",
    ),
    "ragas": Framework(
        "pip install ragas 'langchain-community<0.4' 'tenacity>=9'", "0.4.3", "gpt-4.1-mini",
        {
            "DomainSpecificRubrics": Metric(
                "grading",
                "ragas shows two examples of its own, scored 5 and 3 in this order, whatever the "
                "rubric; they cannot be permuted. It calls the score one of 1 to 5 whatever the "
                "rubric, and asks its model up to four times for a reply that it can read. It "
                "has no field for a criterion, which is added after the request.",
            ),
        },
    ),
    "mlflow": Framework(
        "pip install mlflow litellm", "3.17.2", "openai:/gpt-4.1-mini",
        {
            "make_judge": Metric(
                "grading",
                "MLflow repeats the scores when it describes the answer format, in the same "
                "order as in the instructions, and asks a failing endpoint up to ten times by "
                "itself.",
                _TEXT,
            ),
        },
    ),
    "prometheus": Framework(
        "pip install prometheus-eval litellm", "0.1.20", "openai/gpt-4.1-mini",
        {
            "absolute": Metric(
                "grading",
                "The prompt asks for a score from 1 to 5, whatever the rubric. prometheus-eval "
                "asks its model up to eleven times for a reply that it can read. References are "
                "not shown.",
            ),
            "relative": Metric(
                "comparison",
                "It has no tie, and the order of A and B in its verdict is fixed. "
                "prometheus-eval asks its model up to eleven times for a reply that it can read.",
            ),
        },
        "prometheus-eval",
    ),
    "autorubric": Framework(
        "pip install autorubric", "1.6.1", "openai/gpt-4.1-mini",
        {
            "CriterionGrader": Metric(
                "grading",
                "CriterionGrader shuffles the options of a criterion by default, which is "
                "switched off here to measure the effect of their order. It numbers them by "
                "place, and shows no score.",
            ),
        },
    ),
    "promptfoo": Framework(
        "npm install --global promptfoo", "0.123.1", "openai:chat:gpt-4.1-mini",
        {
            "llm-rubric": Metric(
                "grading",
                "The prompt of llm-rubric gives two examples of its own, scored 1.0 and 0.0, and "
                "has no field for a request, which is put into the rubric. If its model passes "
                "a response without a score, promptfoo makes it 1. Braces that promptfoo would "
                "read as a template are shown with a space between.",
            ),
            "select-best": Metric(
                "comparison",
                "select-best asks for an index from 0 and has no tie. Braces that promptfoo "
                "would read as a template are shown with a space between.",
            ),
        },
    ),
}  # fmt: skip


def open_framework_judge(provider: str, name: str, timeout_s: float) -> CallableJudge:
    """The judge that `JUDGE[/MODEL]` names, or `MODULE:OBJECT[/MODEL]` with the user's own object.

    UsageError if there is none; MissingDependencyError if the framework is not installed, or is not
    as the module here knows it.
    """
    framework = FRAMEWORKS[provider]
    adapter, installed = _adapter(provider, framework)
    first, _, model = name.partition("/")
    own = named_object(first) if first not in framework.judges and ":" in first else None
    judge = first if own is None else _place_of(own, provider)
    if judge not in framework.judges:
        raise UsageError(_no_judge(provider, first))
    metric, model = framework.judges[judge], model or framework.model
    asks_itself = own is not None and not isinstance(own, str)
    ask = partial(_ask, adapter, metric.parts, model, own)
    vars(ask).update(
        framework=f"{framework.package or provider} {installed}, {judge}",
        note=metric.note,
        axes=metric.axes,
    )
    named = first if asks_itself else f"{first}/{model}"
    return CallableJudge(named, ask, timeout_s, provider=provider)


async def _ask(
    adapter: ModuleType,
    parts: Parts,
    model: str,
    own: Any,
    messages: Messages,
    params: Mapping[str, Any],
) -> str:
    """The reply to a question: the verdict in the words that the built-in prompts ask for."""
    # All else of a request, a response format say, is the framework's own affair.
    given = Given(model, own, {name: params[name] for name in ("temperature", "max_tokens")})
    put, take, says = FORMS[parts]
    # In a thread, as some frameworks wait in it.
    found = await asyncio.to_thread(getattr(adapter, put), take(messages), given)
    verdict = await found if inspect.isawaitable(found) else found
    return NO_VERDICT if verdict is None else says.format(verdict)


def _adapter(provider: str, framework: Framework) -> tuple[ModuleType, str]:
    """The module of a framework, and the framework's version."""
    package = framework.package or provider
    try:
        adapter = import_module(f"{__name__}.{provider}")
        return adapter, adapter.version() if hasattr(adapter, "version") else version(package)
    # A framework whose names have changed fails here, before anything is asked.
    except (ImportError, AttributeError) as error:
        is_absent = isinstance(error, ModuleNotFoundError) and "." not in str(error.name)
        if is_absent:
            said = f"judges of {provider} need {error.name}, which is missing: {framework.install}"
        else:
            said = (
                f"this version of {provider} is not supported ({error}): it was tried with "
                f"{package} {framework.tried}; install that, or ask it by a function of your own "
                "(docs/frameworks.md)"
            )
        raise MissingDependencyError(said) from None


def _place_of(own: Any, provider: str) -> str:
    """The judge in whose place an object can stand, "" if it can stand in none."""
    classes = {one.__name__ for one in type(own).__mro__}
    judges = FRAMEWORKS[provider].judges.items()
    judge = next((name for name, metric in judges if metric.own in classes), "")
    if judge and isinstance(own, str) and "{rubric}" not in own:
        raise UsageError(
            f"a text for {provider}/{judge} must hold {{rubric}}, the scale in the order that is "
            "measured"
        )
    return judge


def _no_judge(provider: str, named: str) -> str:
    judges = FRAMEWORKS[provider].judges
    own = ["a text" if one.own == _TEXT else one.own for one in judges.values() if one.own]
    of_yours = f", or MODULE:OBJECT with {' or '.join(own)} of yours" if own else ""
    known = " or ".join(f"{provider}/{name}" for name in judges)
    return f"{provider} has no judge {named!r}: there is {known}{of_yours}"

"""`datasheet.model-card.md`: the section of a model card that speaks of this judge.

The section stands between two markers, so that `attach` can find it again. Above it, in a file of
its own, stands the `model-index` that model hubs read, written by the hub's own classes.
"""

import re
from collections.abc import Iterator
from typing import Any

from judgesheet.errors import MissingDependencyError
from judgesheet.files import slug
from judgesheet.keys import Key
from judgesheet.records import AxisResult, Datasheet, Estimate, digest
from judgesheet.spine.datasheet import by_key, to_json
from judgesheet.spine.render import Paper, show
from judgesheet.spine.render.markdown import code, escape, table
from judgesheet.spine.render.page.front import DECISIONS

SUFFIX = "model-card.md"
BEGIN = "<!-- judgesheet:begin -->"
END = "<!-- judgesheet:end -->"
"""Foreign text cannot forge these: escaping puts a backslash before its `<` and `>`."""
MOST_FIGURES = 6
"""Key figures of an axis: the first measured rows of its characteristics."""


def render(sheet: Datasheet, _paper: Paper) -> bytes:
    """The metadata block and the section, ready to paste into a card.

    Raises
    ------
    MissingDependencyError
        if huggingface_hub is not installed.
    """
    return f"---\n{metadata(sheet)}\n---\n\n{section(sheet)}".encode()


def section(sheet: Datasheet) -> str:
    """The section with its markers: verdict, scope, key figures, where the datasheet lies."""
    blocks = [BEGIN, *_blocks(sheet), END]
    return "\n\n".join(block for block in blocks if block) + "\n"


def metadata(sheet: Datasheet) -> str:
    """The `model-index` of the key figures as YAML, without a line end.

    Raises
    ------
    MissingDependencyError
        if huggingface_hub is not installed.
    """
    try:
        from huggingface_hub import EvalResult, ModelCardData
    except ImportError:
        raise MissingDependencyError(
            "the model-index of a card needs huggingface_hub: pip install 'judgesheet[hub]'"
        ) from None

    results = [EvalResult(**fields) for axis in sheet.axes for fields in _results(axis, sheet)]
    name = show.visible(str(sheet.judge.get("model") or "unnamed judge"), 120)
    data = ModelCardData(model_name=name, eval_results=results or None)
    return str(data.to_yaml()) if results else "tags:\n- llm-as-a-judge"


def file_name(sheet: Datasheet) -> str:
    """What the PDF is called beside a card: letters, digits, dots and dashes, nothing else."""
    model = str(sheet.judge.get("model") or "judge")
    return f"judge-datasheet-{slug(model)[:60] or 'judge'}.pdf"


def _blocks(sheet: Datasheet) -> Iterator[str]:
    yield "## Use as a judge"
    yield _verdict(sheet)
    yield _scope(sheet)
    for axis in sheet.axes:
        yield from _axis(axis, by_key(sheet))
    advice = [f"- {escape(show.visible(one.text))}" for one in sheet.recommendations]
    yield "\n".join(["Recommended operating conditions:", "", *advice]) if advice else ""
    pdf = file_name(sheet)
    yield (
        f"Every figure, its method and the exact prompts: [{pdf}]({pdf}) (`datasheet.json` is "
        f"attached to it, SHA-256 `{digest(to_json(sheet))}`), made by judgesheet."
    )


def _verdict(sheet: Datasheet) -> str:
    decision = sheet.decision
    if decision is None:
        return "No policy was applied: the figures stand without a verdict."
    policy = escape(show.visible(decision.policy, 80))
    said = escape(show.visible(decision.text, 600))
    lines = [f"**{DECISIONS[decision.verdict].word}** under the policy “{policy}”: {said}"]
    conditions = [f"- {escape(show.visible(one, 400))}" for one in decision.told_conditions]
    return "\n".join([*lines, "", *conditions]) if conditions else lines[0]


def _scope(sheet: Datasheet) -> str:
    run, judge = sheet.run, sheet.judge
    served = judge.get("served_models")
    names = list(served) if isinstance(served, dict) else []
    parts = [
        f"model `{_plain(judge.get('model'))}`",
        *(f"served as `{_plain(name)}`" for name in names[:2]),
        f"temperature {_plain(run.get('temperature'))}",
        f"{_plain(run.get('reply'))} replies",
        f"profile {_plain(run.get('profile'))}",
        f"measured {show.day(run.get('ended_at'))}",
    ]
    return (
        f"Valid only for: {', '.join(parts)}, with the prompts and stimuli named in the "
        "datasheet. Another prompt, model version or setting is another instrument."
    )


def _plain(value: Any) -> str:
    """Foreign text where it stands between backquotes or in a sentence."""
    text = " ".join(show.visible(str(value if value is not None else "not recorded"), 80).split())
    return re.sub(r"[^\w .:/@+-]", "?", text)


def _axis(axis: AxisResult, found: dict[str, Estimate]) -> Iterator[str]:
    rows = [_row(estimate) for estimate in _key_figures(axis, found)]
    if rows:
        yield f"### {escape(show.visible(axis.title, 120))}"
        yield escape(show.visible(axis.question, 300))
        yield table(("Figure", "Value", "95 % interval", "n (prompts)", "Key"), "lrrrl", rows)


def _key_figures(axis: AxisResult, found: dict[str, Estimate]) -> list[Estimate]:
    rows = [found[row.key] for row in axis.characteristics if row.key in found]
    return [estimate for estimate in rows if show.finite(estimate.value) is not None][:MOST_FIGURES]


def _row(estimate: Estimate) -> tuple[str, ...]:
    shown = show.estimate(estimate)
    cells = (estimate.label, shown.with_unit, shown.interval or "–")
    size = f"{show.count(estimate.n)} ({show.count(estimate.clusters)})"
    return (*(escape(show.visible(cell, 160)) for cell in cells), size, code(estimate.key))


def _results(axis: AxisResult, sheet: Datasheet) -> Iterator[dict[str, Any]]:
    """One entry of the model-index per key figure."""
    for estimate in _key_figures(axis, by_key(sheet)):
        arguments = {"key": estimate.key, "n": estimate.n, "clusters": estimate.clusters}
        if estimate.low is not None and estimate.high is not None:
            arguments |= {"low": estimate.low, "high": estimate.high, "level": estimate.level}
        yield {
            "task_type": "llm-as-a-judge",
            "task_name": show.visible(axis.title, 120),
            "dataset_type": f"judgesheet/{axis.name}",
            "dataset_name": _stimuli(axis.name, sheet),
            "metric_type": Key.parse(estimate.key).name,
            "metric_name": show.visible(estimate.label, 160),
            "metric_value": estimate.value,
            "metric_args": arguments,
        }


def _stimuli(axis: str, sheet: Datasheet) -> str:
    records = sheet.provenance.get("stimuli")
    for one in records if isinstance(records, list | tuple) else ():
        if isinstance(one, dict) and one.get("axis") == axis:
            return f"{_plain(one.get('name'))} stimuli, SHA-256 {_plain(one.get('digest'))[:12]}"
    return "stimuli not recorded"

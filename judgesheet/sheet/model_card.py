"""`datasheet.model-card.md`: the section of a model card that speaks of this judge.

The section stands between two markers, so that `attach` can find it again. Above it, in a file of
its own, stands the `model-index` that model hubs read, written by the hub's own classes.
"""

import re
from collections.abc import Iterator
from typing import Any

from judgesheet.base.datasheet import by_key, mappings, to_json
from judgesheet.base.errors import MissingDependencyError
from judgesheet.base.files import slug
from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_SHOWN
from judgesheet.base.records import AxisResult, Datasheet, Estimate, digest
from judgesheet.sheet import Paper, show
from judgesheet.sheet.markdown import Markdown, code, fill
from judgesheet.sheet.page.front import DECISIONS

SUFFIX = "model-card.md"
BEGIN = "<!-- judgesheet:begin -->"
END = "<!-- judgesheet:end -->"
"""Foreign text cannot forge these: escaping puts a backslash before its `<` and `>`."""
_TAGS = "tags:\n- llm-as-a-judge"


def render(sheet: Datasheet, _paper: Paper) -> bytes:
    """The metadata block and the section, ready to paste into a card.

    Without the package of the hub there is no `model-index`, and the block says how to get one.
    """
    try:
        block = metadata(sheet)
    except MissingDependencyError as error:
        block = f"{_TAGS}\n# {error}"
    return f"---\n{block}\n---\n\n{section(sheet)}".encode()


def section(sheet: Datasheet) -> str:
    """The section with its markers: verdict, scope, key figures, where the datasheet lies."""
    known, decision, served = by_key(sheet), sheet.decision, sheet.judge.get("served_models")
    return fill(
        "model_card.md.jinja",
        begin=Markdown(BEGIN),
        end=Markdown(END),
        sheet=sheet,
        mark=decision and DECISIONS[decision.verdict],
        counts="" if decision is None else show.limits(decision),
        role="" if decision is None else show.ROLES[decision.because],
        stops=[f for axis in sheet.axes for f in axis.findings if f.control or f.stops],
        advice=[one for one in sheet.recommendations if not one.void],
        served=list(served)[:2] if isinstance(served, dict) else [],
        measured=show.day(sheet.run.get("ended_at")),
        axes=[(axis, [*map(_row, _key_figures(axis, known))]) for axis in sheet.axes],
        head=(
            "Figure",
            "Value",
            f"{show.confidence(known.values())} interval",
            "n (prompts)",
            "Key",
        ),
        plain=_plain,
        pdf=Markdown(file_name(sheet)),
        document=digest(to_json(sheet)),
    )


def metadata(sheet: Datasheet) -> str:
    """The `model-index` of the key figures as YAML, without a line end.

    MissingDependencyError if huggingface_hub is not installed.
    """
    try:
        from huggingface_hub import EvalResult, ModelCardData
    except ImportError:
        raise MissingDependencyError(
            "the model-index of a card needs huggingface_hub: pip install 'judgesheet[hub]'"
        ) from None

    results = [EvalResult(**fields) for axis in sheet.axes for fields in _results(axis, sheet)]
    data = ModelCardData(model_name=show.judge(sheet), eval_results=results or None)
    return str(data.to_yaml()) if results else _TAGS


def file_name(sheet: Datasheet) -> str:
    """What the PDF is called beside a card: letters, digits, dots and dashes, nothing else."""
    model = str(sheet.judge.get("model") or "judge")
    return f"judge-datasheet-{slug(model)[:60] or 'judge'}.pdf"


def _plain(value: Any) -> Markdown:
    """Foreign text where it stands between backquotes or in a sentence."""
    text = " ".join(show.visible(str(value if value is not None else "not recorded"), 80).split())
    # Nothing is left that ends a code span, begins a link or is markup.
    return Markdown(re.sub(r"[^\w .:/@+-]", "?", text))


def _key_figures(axis: AxisResult, known: dict[str, Estimate]) -> list[Estimate]:
    rows = [known[row.key] for row in axis.characteristics if row.key in known]
    return [estimate for estimate in rows if show.finite(estimate.value) is not None][:MOST_SHOWN]


def _row(estimate: Estimate) -> tuple[str, ...]:
    shown = show.estimate(estimate)
    cells = (estimate.label, shown.with_unit, shown.interval or "–")
    size = f"{show.count(estimate.n)} ({show.count(estimate.clusters)})"
    return (*(show.visible(cell, 160) for cell in cells), size, code(estimate.key))


def _results(axis: AxisResult, sheet: Datasheet) -> Iterator[dict[str, Any]]:
    pools = {str(pool.get("axis")): pool for pool in mappings(sheet.provenance.get("stimuli"))}
    stimuli = "stimuli not recorded"
    if (pool := pools.get(axis.name)) is not None:
        name, short = _plain(pool.get("name")), _plain(pool.get("digest"))[:12]
        stimuli = f"{name} stimuli, SHA-256 {short}"
    for estimate in _key_figures(axis, by_key(sheet)):
        arguments = {"key": estimate.key, "n": estimate.n, "clusters": estimate.clusters}
        if estimate.low is not None and estimate.high is not None:
            arguments |= {"low": estimate.low, "high": estimate.high, "level": estimate.level}
        yield {
            "task_type": "llm-as-a-judge",
            "task_name": show.visible(axis.title, 120),
            "dataset_type": f"judgesheet/{axis.name}",
            "dataset_name": stimuli,
            "metric_type": Key.parse(estimate.key).name,
            "metric_name": show.visible(estimate.label, 160),
            "metric_value": estimate.value,
            "metric_args": arguments,
        }

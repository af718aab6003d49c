"""`datasheet.model-card.md`: the section of a model card that speaks of this judge.

The section stands between two markers, so that `attach` can find it again. Above it, in a file of
its own, stands the `model-index` that model hubs read, written by the hub's own classes.
"""

import re
from collections.abc import Iterator
from typing import Any

from judgesheet.base.datasheet import by_key, to_json
from judgesheet.base.errors import MissingDependencyError
from judgesheet.base.files import slug
from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_SHOWN
from judgesheet.base.records import Datasheet, digest
from judgesheet.sheet import Paper, show
from judgesheet.sheet.markdown import Markdown, code, fill
from judgesheet.sheet.page import build
from judgesheet.sheet.page.front import DECISIONS
from judgesheet.sheet.page.table import AxisPart, TableRow

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
    """The section with its markers: verdict, scope, problems, figures, where the sheet lies."""
    page, decision, served = build(sheet), sheet.decision, sheet.judge.served_models
    return fill(
        "model_card.md.jinja",
        begin=Markdown(BEGIN),
        end=Markdown(END),
        sheet=sheet,
        mark=decision and DECISIONS[decision.verdict],
        counts="" if decision is None else show.limits(decision),
        role="" if decision is None else show.ROLES[decision.because],
        problems=[finding for finding in page.front.findings if finding.must],
        advice=[one for one in sheet.recommendations if not one.void],
        served=list(served)[:2],
        measured=show.day(sheet.run.ended_at),
        axes=[(axis, [*map(_row, _key_figures(axis))]) for axis in page.axes],
        head=(
            "Figure",
            "Value",
            f"{show.confidence(by_key(sheet).values())} interval",
            "n (prompts)",
            "Mark",
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

    axes = build(sheet).axes
    results = [EvalResult(**fields) for axis in axes for fields in _results(axis, sheet)]
    data = ModelCardData(model_name=show.judge(sheet), eval_results=results or None)
    return str(data.to_yaml()) if results else _TAGS


def file_name(sheet: Datasheet) -> str:
    """What the PDF is called beside a card: letters, digits, dots and dashes, nothing else."""
    return f"judge-datasheet-{slug(sheet.judge.model) or 'judge'}.pdf"


def _plain(value: Any) -> Markdown:
    """Foreign text where it stands between backquotes or in a sentence."""
    text = " ".join(show.visible(str(value if value is not None else "not recorded"), 80).split())
    # Nothing is left that ends a code span, begins a link or is markup.
    return Markdown(re.sub(r"[^\w .:/@+-]", "?", text))


def _key_figures(axis: AxisPart) -> list[TableRow]:
    """The rows that are shown anyway, by a limit or a problem, and as many others as have room."""
    measured = (row for row in axis.every if row.shown.measured)
    return sorted(measured, key=lambda row: row.turn)[:MOST_SHOWN]


def _row(row: TableRow) -> tuple[str, ...]:
    """A figure with what it means, and how far lost calls could move its interval."""
    lost = f"lost calls counted: {row.imputed}" if row.imputed else ""
    interval = "; ".join(filter(None, (row.shown.interval, lost))) or "–"
    size = f"{show.count(row.estimate.n)} ({show.count(row.estimate.clusters)})"
    marks = " ".join(f"{mark.symbol} {mark.word}" for mark in row.marks) or "–"
    return row.label, show.estimate(row.estimate).with_unit, interval, size, marks, code(row.key)


def _results(part: AxisPart, sheet: Datasheet) -> Iterator[dict[str, Any]]:
    """The figures for a machine, which reads no mark: without those that must not be used."""
    axis = part.result
    pools = {pool.axis: pool for pool in sheet.provenance.stimuli}
    stimuli = "stimuli not recorded"
    if (pool := pools.get(axis.name)) is not None:
        name, short = _plain(pool.name), _plain(pool.digest)[:12]
        stimuli = f"{name} stimuli, SHA-256 {short}"
    usable = (row.estimate for row in _key_figures(part) if not row.is_void)
    for estimate in usable:
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

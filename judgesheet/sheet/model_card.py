"""`datasheet.model-card.md`: the section of a model card that speaks of this judge.

The section stands between two markers, so that `attach` can find it again. Above it, in a file of
its own, stands the `model-index` that model hubs read, written by the hub's own classes.
"""

import re
from collections.abc import Iterator
from typing import Any

from judgesheet.base.datasheet import by_key
from judgesheet.base.errors import MissingDependencyError
from judgesheet.base.files import slug
from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_SHOWN
from judgesheet.base.records import Datasheet
from judgesheet.sheet import Paper, show
from judgesheet.sheet.context import AxisPart, Figure, context
from judgesheet.sheet.markdown import Markdown, code, fill

SUFFIX = "model-card.md"
BEGIN = "<!-- judgesheet:begin -->"
END = "<!-- judgesheet:end -->"
JUDGE = "<!-- judge: "
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
    page = context(sheet)
    return fill(
        "model_card.md.jinja",
        begin=Markdown(f"{BEGIN}\n{judge_line(sheet)}"),
        end=Markdown(END),
        page=page,
        sheet=sheet,
        served=list(sheet.judge.served_models)[:2],
        axes=[(axis, [*map(_row, _key_figures(axis))]) for axis in page.axes],
        head=(
            "Figure",
            "Value",
            f"{show.confidence(by_key(sheet).values())} interval",
            "n (stimuli)",
            "Known",
            "Key",
        ),
        plain=_plain,
        pdf=Markdown(file_name(sheet)),
    )


def judge_line(sheet: Datasheet) -> str:
    """The line of a section that says whose it is: a card may have one of each of several."""
    return f"{JUDGE}{slug(sheet.judge.model) or 'judge'} -->"


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

    axes = context(sheet).axes
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


def _key_figures(axis: AxisPart) -> list[Figure]:
    """The rows with a limit or a fault first, as many as have room."""
    return sorted(axis.rows, key=_turn)[:MOST_SHOWN]


def _turn(row: Figure) -> tuple[bool, bool]:
    is_shown = row.effect is not None and row.effect.verdict == "shown"
    return bool(row.void) and row.verdict is None, row.verdict is None and not is_shown


def _row(row: Figure) -> tuple[str, ...]:
    """A figure with what is known of it, and how far lost calls could move its interval."""
    shown, lost = show.estimate(row.estimate), show.imputed(row.estimate)
    note = f"lost calls counted: {lost}" if lost else ""
    interval = "; ".join(filter(None, (shown.interval, note))) or "–"
    mark = f"{row.mark.sign} {row.mark.word}".strip() or "–"
    size = show.size(row.estimate)
    label = show.visible(row.estimate.label, 120)
    return label, shown.with_unit, interval, size, mark, code(row.estimate.key)


def _results(part: AxisPart, sheet: Datasheet) -> Iterator[dict[str, Any]]:
    """The figures for a machine, which reads no mark: without those that must not be used."""
    axis = part.result
    pools = {pool.axis: pool for pool in sheet.provenance.stimuli}
    stimuli = "stimuli not recorded"
    if (pool := pools.get(axis.name)) is not None:
        name, short = _plain(pool.name), _plain(pool.digest)[:12]
        stimuli = f"{name} stimuli, SHA-256 {short}"
    usable = (row.estimate for row in _key_figures(part) if not row.void)
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

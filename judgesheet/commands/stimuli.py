"""`judgesheet stimuli`: what a judge is asked about, built-in, your own, or from a data set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesheet.axes import get_axis
from judgesheet.axis import Problem
from judgesheet.base.arguments import checked
from judgesheet.base.digits import counted
from judgesheet.base.errors import UsageError
from judgesheet.base.files import refuse_existing
from judgesheet.base.records import Stimulus
from judgesheet.commands.option_types import column_map, scale
from judgesheet.commands.options import EXISTING, FORCE, JSON, PATH, choice, option
from judgesheet.commands.terminal import say, say_lines, say_record

if TYPE_CHECKING:
    from judgesheet.importers import Imported
    from judgesheet.measuring.parsing import Trial


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of checking stimuli: how many, their problems, and the trials of a parser."""

    stimuli: int
    problems: list[Problem]
    trials: "list[Trial]"


def list_stimuli() -> dict[str, list[Stimulus]]:
    """The built-in stimuli of every axis."""
    return _pools(None, None)


def show_stimulus(
    identifier: str, axis: str | None = None, stimuli: str | Path | None = None
) -> Stimulus:
    """The stimulus of this id, built-in or in your own file or folder; of an axis its first.

    UsageError if there is none, StimuliError if the file has a fault.
    """
    pools = _pools(axis, stimuli)
    if pools.get(identifier):
        return pools[identifier][0]
    every = [stimulus for pool in pools.values() for stimulus in pool]
    for stimulus in every:
        if stimulus.id == identifier:
            return stimulus
    raise UsageError(
        f"there is no stimulus {identifier!r}; `stimuli show` takes one of the {len(every)} ids "
        f"such as {every[0].id}"
    )


def check_stimuli(
    stimuli: str | Path | None = None, axis: str | None = None, parser: str | Path | None = None
) -> Checked:
    """Check stimuli (built-in, or your own file or folder): schema, lengths, duplicates, leaks.

    `parser` is tried on its own examples, in the first cell that the axis would ask about.

    StimuliError or ParserError if a file has a fault.
    """
    from judgesheet.axis.material import counted_as_one
    from judgesheet.planning.stimuli import problems as all_problems

    pools = _pools(axis, stimuli)
    trials = [] if parser is None else _try_parser(parser, list(pools), stimuli)
    problems = [
        fault for name, pool in pools.items() for fault in all_problems(get_axis(name), pool)
    ]
    if stimuli is not None:  # the built-in ones were written to be independent
        problems += [fault for pool in pools.values() for fault in counted_as_one(pool)]
    return Checked(sum(map(len, pools.values())), problems, trials)


def _try_parser(parser: str | Path, axes: list[str], stimuli: str | Path | None) -> "list[Trial]":
    from judgesheet.collect.options import Request
    from judgesheet.collect.request import make_plan, settle
    from judgesheet.measuring import parsing

    if len(axes) > 1:
        raise UsageError("--parser needs --axis: the axis whose replies it reads")
    path = None if stimuli is None else Path(stimuli)
    # Any judge will do: only the first cell of its plan is looked at.
    request = Request("sim/fair", axes, "smoke", path)
    cell = make_plan(request, settle(request)).calls[0].cell
    own = parsing.Parser.named(parser)
    return list(parsing.try_examples(own, get_axis(axes[0]), cell))


def _pools(axis: str | None, path: str | Path | None) -> dict[str, list[Stimulus]]:
    from judgesheet.planning.stimuli import pools

    return pools(None if path is None else Path(path), None if axis is None else get_axis(axis))


def import_stimuli(
    form: str,
    files: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    axis: str | None = None,
    columns: Mapping[str, str] | None = None,
    rubric: str | Path | Mapping[str, Any] | None = None,
    **options: Any,
) -> "Imported":
    """Write the stimuli of one axis from files in a public format, or from a table.

    `form` is one of `importers.FORMATS`; `axis` defaults to the format's own. `columns` maps
    our fields to the columns of a table (`--map`), `rubric` criteria to their levels, worst first,
    or to a description. `options` are `criterion`, `raters`, `systems`, `scale` and `turn`, as on
    the command line.

    StimuliError, with the line, if a file cannot be read so; UsageError if there is no such format.
    """
    from judgesheet import importers

    several = [files] if isinstance(files, str | Path) else files
    own = {"axis": axis, "columns": columns or {}, "rubrics": importers.read_rubric(rubric)}
    what = importers.ImportOptions(**checked(importers.ImportOptions, {**options, **own}))
    return importers.run(form, [Path(file) for file in several], Path(out), what)


@click.group("stimuli")
def command() -> None:
    """List, show, check and import stimuli."""


@command.command("list")
def stimuli_list() -> None:
    """List the built-in pools with their digests."""
    from judgesheet.planning.stimuli import pool_digest

    for axis, pool in list_stimuli().items():
        say(f"{axis}  {counted(len(pool), 'stimulus', 'stimuli')}  sha256 {pool_digest(pool)}")


@command.command("show")
@click.argument("identifier", metavar="ID|AXIS")
@option("--axis", help="Axis of the stimulus. [each that has stimuli]")
@option("--stimuli", type=EXISTING, help="Your own stimuli, not the built-in ones.")
def stimuli_show(**options: Any) -> None:
    """Print one stimulus as JSON; for the name of an axis its first, as an example."""
    say_record(dict(show_stimulus(**options).fields), ensure_ascii=False)


@command.command("check")
@click.argument("path", type=EXISTING, required=False)
@option("--axis", help="Axis of the stimuli. [from the first line; built-in: all]")
@option("--parser", type=EXISTING, help="Also try the examples of this parser.")
def stimuli_check(path: Path | None, axis: str | None, parser: Path | None) -> None:
    """Check stimuli (a file, or the built-in pools): schema, lengths, duplicates, leaks."""
    checked = check_stimuli(path, axis, parser)
    misread = 0 if parser is None else _report_trials(parser.name, checked.trials)
    for problem in checked.problems:
        say(f"{'error' if problem.grave else 'warning'}: {problem.where}: {problem.what}")
    grave = sum(problem.grave for problem in checked.problems)
    warnings = len(checked.problems) - grave
    say(f"stimuli: {checked.stimuli}, errors: {grave}, warnings: {warnings}")
    if grave or misread:
        raise SystemExit(1)


def _report_trials(file: str, trials: "list[Trial]") -> int:
    """Print how each example of a parser is read; return how many are read wrongly."""
    from judgesheet.measuring.parsing import expectation, shown_reading

    for number, trial in enumerate(trials, start=1):
        fault = "" if trial.passed else f", not {expectation(trial.example)}"
        mark = "ok" if trial.passed else "error"
        say(f"{mark}: {file}: example {number}: {shown_reading(trial.reading)}{fault}")
    if not trials:
        say(f"warning: {file}: it has no [[example]] to try")
    return sum(not trial.passed for trial in trials)


@command.command("import")
@click.argument("form", metavar="FORMAT")
@click.argument("files", type=EXISTING, nargs=-1, required=True)
@option("--out", type=PATH, required=True, help="JSONL file to write.")
@option("--axis", help="Axis to write for. [the format's own; needed for a table]")
@option("--criterion", metavar="NAME|all",
        help="Grade this criterion only; all: each of them, where an axis grades one.")  # fmt: skip
@choice("--raters", "expert", "crowd", default="expert",
        help="Whose ratings, where a data set has both.")  # fmt: skip
@option("--system", "systems", multiple=True, help="Keep this system only; repeatable.")
@option("--scale", metavar="LOW:HIGH[:STEP]", type=scale,
        help="Scores of ratings, and of a rubric of as many levels. [the data set's]")  # fmt: skip
@option("--turn", type=click.IntRange(1, 2), default=1, help="Turn of an MT-Bench dialogue.")
@option("--map", "columns", multiple=True, callback=column_map, metavar="FIELD=COLUMN,…",
        help="Which column of a table holds what; repeatable. stimulus=COLUMN and item=COLUMN keep "
             "your own ids.")  # fmt: skip
@option("--rubric", type=EXISTING,
        help='JSON: {"criterion": ["worst", …, "best"]} or {"criterion": "meaning"}.')  # fmt: skip
@FORCE
@JSON
def stimuli_import(as_json: bool, force: bool, **options: Any) -> None:
    """Write stimuli from a public data set, or from a table.

    FORMAT is hanna, summeval, prometheus, mt-bench, judgebench or rewardbench2; or jsonl, csv,
    parquet, json or xlsx for a table of your own, with --axis and --map
    prompt=COLUMN,text=COLUMN and so on (docs/stimuli.md lists the fields). Files may be gzipped.
    The output is written completely or not at all.
    """
    if not force:
        refuse_existing(options["out"])
    done = import_stimuli(**options)
    if as_json:
        say_record(done.as_record())
    else:
        say_lines(done.as_text())

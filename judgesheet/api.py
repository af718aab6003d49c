"""The commands as functions: `judgesheet.probe(...)` is `judgesheet probe …`.

Each is a few calls to the modules that do the work; nothing is printed here. Errors are raised as
`JudgesheetError`, one sentence that says what to do. Functions that call a judge can be
interrupted: replies that have arrived are saved, and the same call resumes from there.

Modules that need the arithmetic libraries or an HTTP client are imported inside the functions, so
that the others start at once.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from difflib import get_close_matches
from inspect import cleandoc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from judgesheet import sheet as rendering
from judgesheet.axes import all_axes, get_axis
from judgesheet.axis import Problem
from judgesheet.base.datasheet import SCHEMA_VERSION, from_json
from judgesheet.base.errors import RunError, UsageError
from judgesheet.base.files import one_command, read_from, write_whole
from judgesheet.base.records import Casebook, Datasheet, Plan, Stimulus
from judgesheet.collect.knob import recall
from judgesheet.collect.request import Request, as_request, make_plan, settle, without_asking
from judgesheet.commands.checkup import Diagnosis, examine
from judgesheet.commands.probing import probe as probe  # noqa: PLC0414 - a command as the others are
from judgesheet.commands.run import Run
from judgesheet.decide import compare as comparing
from judgesheet.decide import decide
from judgesheet.decide import policy as policies
from judgesheet.judges import check_name
from judgesheet.judges.providers import name_in_runs
from judgesheet.judges.redaction import without_secrets
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import DATASHEET, JUDGMENTS, LEDGER, PLAN, make_directory
from judgesheet.measuring import parsing
from judgesheet.planning import plan as planning
from judgesheet.planning.stimuli import pools

if TYPE_CHECKING:
    import pandas as pd

    from judgesheet.collect.collect import Progress
    from judgesheet.commands.log_report import LogReport
    from judgesheet.commands.scaffold import Placed
    from judgesheet.commands.scaffold_check import Fault
    from judgesheet.forecast.rehearsal import Outlook
    from judgesheet.forecast.sizing import Design, Target
    from judgesheet.importers import Imported
    from judgesheet.judges.providers import BatchName
    from judgesheet.permutation_consensus.command import Decided
    from judgesheet.permutation_consensus.sets import Sets


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of checking stimuli: how many, their problems, and the trials of a parser."""

    stimuli: int
    problems: list[Problem]
    trials: list[parsing.Trial]


@one_command()
def plan(
    model: str | Request,
    out: str | Path | None = None,
    batch: str | Path | None = None,
    *,
    batch_format: "BatchName | None" = None,
    resume: str | Path | None = None,
    tell: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> tuple[Plan, list[planning.AxisBudget]]:
    """What `probe` would ask and should resolve. No call is made and no judge is opened.

    Widths are expected of a good and of a wavering judge, or of `model` if it is a simulated one.
    `reply="auto"` is planned as text and `logprobs="auto"` without them, since only an endpoint can
    say what it supports. `out` names a file for the calls, `batch` one for the requests of a batch,
    in the `batch_format` that the judge's provider takes unless one is named; more than a file may
    hold go into further ones, and `tell` receives what was written. `resume` is a run directory:
    only what it has no answer to is exported.
    """
    from judgesheet.forecast.rehearsal import expect, stand_ins

    if batch is None and (batch_format is not None or resume is not None):
        raise UsageError("--batch-format and --resume say what to export: add --export-batch FILE")
    request = without_asking(as_request(model, options))
    if request.sweep is not None and (out is not None or batch is not None):
        raise UsageError("a sweep is several plans; write each with --temperature or --extra-body")
    settled = settle(request)
    # No judge is opened, but a slip in its name is told of now.
    check_name(request.model, request.auth)
    planned = make_plan(request, settled)
    if out is not None:
        planning.write_plan(planned.calls, Path(out))
    if batch is not None:
        for line in _export(request, planned, Path(batch), batch_format, resume):
            tell(line)
        if out is not None:
            _keep_plan(request, planned, Path(out).with_name(LEDGER))
    expected = expect(planned, stand_ins(request.model))
    return planned, list(planning.budget(planned, settled.axes, expected))


def _export(
    request: Request,
    planned: Plan,
    file: Path,
    name: "BatchName | None",
    resumed: str | Path | None,
) -> Iterator[str]:
    """Write what is to be asked of a plan as batch requests, and tell of each file."""
    from judgesheet.collect import batches
    from judgesheet.judges.batch_formats import batch_format, batch_request

    rest = batches.Rest(planned.calls, {})
    if resumed is not None:
        added = without_secrets(request.extra_body)
        known = name_in_runs(request.model)
        rest = batches.unanswered(planned, Path(resumed) / LEDGER, known, added)
        what = "have no answer yet"
        if rest.left_out:
            what = f"are to be asked; --until-decided leaves {rest.left_out:,} out so far"
        yield f"{len(rest.calls):,} of {len(planned.calls):,} calls {what}"
    form = batch_format(request.model, name)
    request_of = batch_request(request.model, form, request.extra_body, rest.refused)
    for written, count in batches.export(rest.calls, request_of, form, file):
        yield f"{written}: {count:,} requests"


def _keep_plan(request: Request, planned: Plan, path: Path) -> None:
    """Keep a plan as a ledger without replies, for the results of its batch."""
    from judgesheet.collect import batches

    added = without_secrets(request.extra_body)
    batches.keep_plan(planned, path, name_in_runs(request.model), added, request.prices)


def foresee(planned: Plan, policy: str | Path, model: str = "") -> "Outlook":
    """Which limits of a policy a plan can prove at all, and how often a good judge passes it.

    The good judge is `sim/good`, or `model` where that is a simulated one. No call is made.
    """
    from judgesheet.forecast import rehearsal

    judge, *_ = rehearsal.stand_ins(model)
    return rehearsal.foresee(planned, policies.load(policy), judge)


@one_command()
def designs(model: str | Request, target: str, **options: Any) -> "tuple[Target, list[Design]]":
    """The designs in which a figure is expected to reach a half-width: `target` is `KEY±0.05`.

    One for each judge of which `plan` expects widths, of the profiles that need the fewest calls.
    No call is made.
    """
    from judgesheet.forecast import sizing
    from judgesheet.forecast.rehearsal import stand_ins

    wanted = sizing.Target.parse(target)
    request = without_asking(as_request(model, {**options, "axes": (wanted.key.axis,)}))
    check_name(request.model)
    plans = [
        (profile, make_plan(one, settle(one)))
        for profile in ("quick", "standard")
        for one in (replace(request, profile=profile),)
    ]
    return wanted, list(sizing.designs(wanted, plans, stand_ins(request.model), request.prices))


@one_command()
def measure(
    directory: str | Path,
    parsers: Mapping[str, Path] | None = None,
    policy: str | Path | None = None,
    *,
    to: Collection[str] = (),
    pdf: bool = True,
    cases: bool = True,
) -> Run:
    """Recompute and render the datasheet of a run directory from its ledger, sweeps included.

    The sheet itself, `datasheet.json`, is always written; `to` names the other formats that are
    wanted (default: all), and those of an earlier sheet that are not are removed.

    `parsers` (axis -> file) read the stored replies from now on; the ledger remembers those before.
    Without a `policy` the sheet carries no verdicts, whatever it carried before.
    """
    from judgesheet.commands.publish import publish, publish_sweep

    directory, rules, forms = Path(directory), _policy(policy), to or rendering.FORMATS
    knob = recall(directory)
    if knob is not None:
        for folder in knob.begun(directory).values():
            measure(folder, parsers, policy, to=to, pdf=pdf, cases=cases)
        return Run(directory, publish_sweep(knob, directory, to=forms, pdf=pdf))
    if parsers:
        parsing.replace_parsers(directory / LEDGER, parsers)
    with Ledger.open(directory / LEDGER) as ledger:
        sheet = publish(ledger, directory, rules, to=forms, pdf=pdf, cases=cases)
    return Run(directory, sheet)


@one_command()
def ingest(
    file: str | Path | Sequence[str | Path],
    out: str | Path,
    policy: str | Path | None = None,
    *,
    form: str | None = None,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, str] | None = None,
    scale: str | None = None,
    nearest: bool = False,
    pdf: bool = True,
    cases: bool = True,
    tell: Callable[[str], None] = lambda _: None,
) -> Run:
    """Recorded judgments, or the results of a batch (one file or several), into a run directory.

    For a batch, `out` holds the plan that was exported (`judgesheet plan --out DIR/plan.jsonl`), or
    the run that is to be completed.

    For a log, `form` is one of `importers.logs.LOGS` or `TABLES`, and `columns` (`--map`), `where`,
    `scale` and `nearest` (`--round`) say what is in it; `tell` receives how it was read.
    """
    from judgesheet.collect.ingest import ingest as fill_ledger
    from judgesheet.importers import logs

    files = [Path(one) for one in ([file] if isinstance(file, str | Path) else file)]
    directory = Path(out)
    _policy(policy)  # so that a refusal comes before anything is written
    choice = logs.Choice(form, columns or {}, where or {}, scale, nearest)
    # Any option about a log makes it one; else it holds recorded judgments or a batch.
    log = logs.judged(files, choice) if choice != logs.Choice() else None
    make_directory(directory, fresh=False)
    fill_ledger(files, directory / LEDGER, log)
    for note in log.notes() if log else ():
        tell(note)
    return measure(directory, policy=policy, pdf=pdf, cases=cases)


def inspect_log(file: str | Path, **options: Any) -> "LogReport":
    """What a log holds, which figures it allows, and what is missing. Nothing is written.

    `options` are those of `ingest` that say how to read a log: `form`, `columns`, `where`, `scale`
    and `nearest`.
    """
    from judgesheet.commands.log_report import report
    from judgesheet.importers import logs

    return report(Path(file), logs.Choice(**options))


@one_command()
def gate(
    source: str | Path,
    policy: str | Path,
    *,
    baseline: str | Path | None = None,
    junit: str | Path | None = None,
    force: bool = False,
) -> Datasheet:
    """The datasheet of `source` with a policy's verdicts and decision; nothing in it is changed.

    `sheet.decision.verdict` is `adopt`, `conditions`, `reject` or `not proven`. With a `baseline`
    (run directory or datasheet.json) it is also compared with that one; `force` does so even if the
    two answer different questions. `junit` names a file for the verdicts.
    """
    from judgesheet.decide.baseline import against

    rules, sheet = policies.load(policy), load(source)
    if baseline is None:
        judged = decide(sheet, rules)
    else:
        comparison = _compared((baseline, source), (load(baseline), sheet), force=force)
        judged = decide(sheet, rules, against(comparison, rules))
    if junit is not None:
        write_whole(Path(junit), rendering.render(judged, "junit"))
    return judged


@one_command()
def suggest_policy(source: str | Path, out: str | Path | None = None) -> str:
    """A policy made from a finished run or datasheet, each limit with its reason; for later runs.

    `out` names a file for it.
    """
    from judgesheet.decide.suggest import suggest

    text = suggest(load(source))
    if out is not None:
        write_whole(Path(out), text.encode())
    return text


@one_command()
def init(
    directory: str | Path = ".", *, kind: str = "scores", force: bool = False
) -> "list[Placed]":
    """Put stimuli, prompt, parser, policy and jobs for CI into a repository, to be filled in.

    Files that are there are left alone, unless `force` is given. `kind` is `scores` for a judge
    that grades single responses, `pairs` for one that compares two.
    """
    from judgesheet.commands import scaffold

    return list(scaffold.write(Path(directory), kind, force=force))


def check_init(directory: str | Path = ".") -> "list[Fault]":
    """What is wrong with the files of `init` in a repository, by file and line. No call is made."""
    from judgesheet.cli import main
    from judgesheet.commands.scaffold_check import check

    options = {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in main.commands.items()
    }
    return check(Path(directory), options)


def frame(source: "Datasheet | str | Path") -> "pd.DataFrame":
    """The estimates of a datasheet (itself, a run directory or datasheet.json) as a data frame."""
    from judgesheet.sheet.notebook import frame_of

    return frame_of(source if isinstance(source, Datasheet) else load(source))


def compare(
    old: str | Path, new: str | Path, *others: str | Path, force: bool = False
) -> list[comparing.Comparison]:
    """What changed from `old` to `new` (and to each of `others`), with intervals and verdicts.

    Each is a run directory or a datasheet.json. Of two run directories with the same stimuli the
    differences are paired by stimulus. `force` compares even answers to different questions.
    """
    first = load(old)
    return [_compared((old, one), (first, load(one)), force=force) for one in (new, *others)]


@one_command()
def consensus(
    sets: "Sets",
    model: str | Request,
    out: str | Path | None = None,
    *,
    k: int = 7,
    early_stop: bool = False,
    fresh: bool = False,
    on_progress: "Callable[[Progress], None]" = lambda _: None,
    tell: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> "Decided":
    """Decide candidate sets independently of their order: lists under k orders, pairs under both.

    `sets` is a JSONL file, one set or several as dicts (docs/consensus.md has the form). With `out`
    the run can be resumed and `decisions.jsonl` and `summary.json` are written there; without,
    nothing is kept. `options` are the fields of `Request` that say which judge to ask and how;
    `tell` receives warnings for the user before the first call.
    """
    from judgesheet.permutation_consensus.command import decide_sets

    place = TemporaryDirectory(prefix="judgesheet-") if out is None else nullcontext(str(out))
    with place as folder:
        decided = decide_sets(
            sets,
            as_request(model, options),
            Path(folder),
            k=k,
            early_stop=early_stop,
            fresh=fresh,
            on_progress=on_progress,
            tell=tell,
        )
    return decided if out is not None else replace(decided, directory=None)


@one_command()
def import_stimuli(
    form: str,
    files: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    axis: str | None = None,
    columns: Mapping[str, str] | None = None,
    rubric: str | Path | Mapping[str, Sequence[str]] | None = None,
    **options: Any,
) -> "Imported":
    """Write the stimuli of one axis from files in a public format, or from a table.

    `form` is one of `importers.FORMATS`; `axis` defaults to the format's own. `columns` maps
    our fields to the columns of a table (`--map`), `rubric` criteria to their levels, worst first.
    `options` are `criterion`, `raters`, `systems`, `scale` and `turn`, as on the command line.
    """
    from judgesheet import importers

    several = [files] if isinstance(files, str | Path) else files
    rubrics = rubric if isinstance(rubric, Mapping) else importers.read_rubric(rubric)
    choice = importers.Choice(axis=axis, columns=columns or {}, rubrics=rubrics, **options)
    return importers.run(form, [Path(file) for file in several], Path(out), choice)


def list_stimuli() -> dict[str, list[Stimulus]]:
    """The built-in stimuli of every axis."""
    return pools(None, None)


def show_stimulus(
    identifier: str, axis: str | None = None, stimuli: str | Path | None = None
) -> Stimulus:
    """The stimulus of this id, built-in or in your own file or folder."""
    given = [stimulus for pool in _pools(axis, stimuli).values() for stimulus in pool]
    for stimulus in given:
        if stimulus.id == identifier:
            return stimulus
    raise UsageError(
        f"there is no stimulus {identifier!r}; `stimuli show` takes one of the {len(given)} ids "
        f"such as {given[0].id}"
    )


def check_stimuli(
    stimuli: str | Path | None = None, axis: str | None = None, parser: str | Path | None = None
) -> Checked:
    """Check stimuli (built-in, or your own file or folder): schema, lengths, duplicates, leaks.

    `parser` is tried on its own examples, in the first cell that the axis would ask about.
    """
    given = _pools(axis, stimuli)
    trials = [] if parser is None else _try_parser(parser, list(given), stimuli)
    problems = [fault for name, pool in given.items() for fault in get_axis(name).check(pool)]
    return Checked(sum(map(len, given.values())), problems, trials)


def _try_parser(
    parser: str | Path, axes: list[str], stimuli: str | Path | None
) -> list[parsing.Trial]:
    if len(axes) > 1:
        raise UsageError("--parser needs --axis: the axis whose replies it reads")
    path = None if stimuli is None else Path(stimuli)
    # Any judge will do: only the first cell of its plan is looked at.
    request = Request("sim/fair", axes, "smoke", path)
    cell = make_plan(request, settle(request)).calls[0].cell
    own = parsing.Parser.from_file(Path(parser))
    return list(parsing.try_examples(own, get_axis(axes[0]), cell))


@one_command()
def render(
    source: str | Path,
    formats: Sequence[str],
    out: str | Path | None = None,
    paper: rendering.Paper = "a4",
    template: str | Path | None = None,
) -> list[Path]:
    """Write the datasheet of a run directory or a datasheet.json in these formats.

    Files land beside the source unless `out` names another folder. A datasheet.json that is
    rendered as JSON where it lies stays as it is. With a `template`, a file NAME.html.jinja or the
    name of a shipped one, NAME.html and NAME.pdf are written instead.
    """
    sheet, file = load(source), _sheet_of(Path(source))
    directory = Path(out) if out is not None else file.parent
    if template is not None:
        from judgesheet.sheet import own_template

        return own_template.write(sheet, own_template.found(template), directory, tuple(formats))
    there = directory / DATASHEET
    # Written anew by a later version it would no longer be the file whose digest others hold.
    itself = ["json"] if there.exists() and there.samefile(file) else []
    others = [form for form in formats if form not in itself]
    written = rendering.write(sheet, directory, others, paper)
    return written if len(others) == len(formats) else [*written, there]


@one_command()
def attach(
    card: str | Path, source: str | Path, *, metadata: bool = False, paper: rendering.Paper = "a4"
) -> list[Path]:
    """Insert or replace the judge's section in a model card and put the PDF beside it.

    `metadata` also puts the model-index into the card's front matter. Returns what was written.
    """
    from judgesheet.sheet.attach import attach as attach_section

    return attach_section(Path(card), load(source), with_metadata=metadata, paper=paper)


def load(source: str | Path) -> Datasheet:
    """The datasheet of a run directory, or of a datasheet.json."""
    file = _sheet_of(Path(source))
    for part in (LEDGER, PLAN, JUDGMENTS):  # a run is read as a whole
        read_from(Path(source) / part)
    if not file.exists():
        raise RunError(f"{file} does not exist; give a run directory or a datasheet.json")
    sheet = from_json(file)
    return sheet if sheet.schema_version == SCHEMA_VERSION else decide(sheet)


@one_command()
def cases(
    directory: str | Path,
    key: str | None = None,
    *,
    axis: str | None = None,
    stimulus: str | None = None,
    cell: Mapping[str, str] | None = None,
    outcome: str | None = None,
    verdict: str | None = None,
    html: str | Path | None = None,
) -> Casebook:
    """The replies behind a figure of a run, the worst first; no call is made.

    Without a `key`: the calls without a verdict, by the shape of what came instead. `axis`,
    `stimulus` and `cell` choose calls, `outcome` (one of `records.Outcome`, or `unreadable`) and
    `verdict` cases of which a call ended so. `html` names a file for a page to browse every call
    and the cases behind every figure.

    RunError if there is no such run, UsageError if the key or a filter means nothing in it.
    """
    from judgesheet.commands.publish import write_cases
    from judgesheet.measuring.cases import Filters, casebook, chosen_keys
    from judgesheet.measuring.measure import read_all

    directory = Path(directory)
    if (knob := recall(directory)) is not None:
        folders = ", ".join(str(folder) for folder in knob.begun(directory).values())
        raise UsageError(f"{directory} holds a run for each setting; give one of {folders}")
    filters = Filters(stimulus, cell or {}, outcome, verdict)
    with Ledger.open(directory / LEDGER) as ledger:
        readings = read_all(ledger)
        book = casebook(ledger, readings, chosen_keys(readings, key, axis), filters)
        if html is not None:
            write_cases(ledger, readings, load(directory), Path(html))
    return book


def explain(key: str | None = None) -> str:
    """What an estimate is, its formula, source and how to read it; without a key, all there are.

    UsageError if it is no key, or a name that several axes have; the sentence lists the likely
    ones.
    """
    from judgesheet.sweep.estimates import EXPLAINED

    texts = {
        f"{axis.NAME}.{name}": figure.__doc__
        for axis in all_axes().values()
        for name, figure in {**axis.ESTIMATES, **EXPLAINED}.items()
    }
    if key is None:
        return "\n".join(texts)
    wanted = key.partition("[")[0]
    meant = [name for name in texts if wanted in (name, name.partition(".")[2])]
    if len(meant) == 1:
        return f"{meant[0]}\n\n{cleandoc(texts[meant[0]] or '')}"
    if not meant:  # the names alone: all keys of an axis begin alike
        names = {name: name.partition(".")[2] for name in texts}
        near = get_close_matches(wanted.rpartition(".")[2], set(names.values()), n=3, cutoff=0.5)
        axis = wanted.partition(".")[0]
        meant = [name for name in texts if names[name] in near or name.startswith(f"{axis}.")]
    more = f"take {', '.join(meant)}" if meant else "`judgesheet explain` lists them all"
    raise UsageError(f"{key!r} is not one estimate; {more}")


@one_command()
def doctor(
    model: str | None = None,
    *,
    directory: str | Path | None = None,
    save: str | Path | None = None,
    **how: Any,
) -> list[Diagnosis]:
    """Check the machine, and with `model` also the endpoint (a few tiny questions).

    `how` it is reached: `base_url`, `api_key_env`, `auth` and `transport`, as with `probe`. With a
    `directory`, that run is checked instead: its ledger, its plan, and whether its files were made
    from it. `save` names a new folder for a run of all that can be read of its ledger.
    """
    if directory is None:
        if save is not None:
            raise UsageError("--save needs the run directory that is to be saved")
        return examine(model, **how)
    if model is not None:
        raise UsageError("give a run directory or --model, not both")
    from judgesheet.commands.run_checkup import examine_run, save_run

    if save is not None:
        return [save_run(Path(directory), Path(save))]
    return list(examine_run(Path(directory)))


def _policy(source: str | Path | None) -> policies.Policy | None:
    return None if source is None else policies.load(source)


def _sheet_of(source: Path) -> Path:
    return source / DATASHEET if source.is_dir() else source


def _compared(
    sources: tuple[str | Path, str | Path], sheets: tuple[Datasheet, Datasheet], *, force: bool
) -> comparing.Comparison:
    """Paired where both are run directories; that alone needs the arithmetic libraries."""
    comparison = comparing.compare(*sheets, force=force)  # refuses before the long part
    old, new = map(Path, sources)
    if not (old.is_dir() and new.is_dir()):
        return comparison
    from judgesheet.decide.paired import correlations

    paired = correlations(old / LEDGER, new / LEDGER, sheets)
    return comparing.compare(*sheets, paired, force=force)


def _pools(axis: str | None, path: str | Path | None) -> dict[str, list[Stimulus]]:
    return pools(None if path is None else Path(path), None if axis is None else get_axis(axis))

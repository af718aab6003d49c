"""The commands as functions: `judgesheet.probe(...)` is `judgesheet probe …`.

Each is a few calls to the spine; nothing is printed here.
"""

import asyncio
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from judgesheet.errors import RunError, UsageError
from judgesheet.files import slug
from judgesheet.records import Datasheet, Plan, ReplyFormat

if TYPE_CHECKING:
    from judgesheet.axis import Axis, Options
    from judgesheet.importers import Imported
    from judgesheet.judges import Connection, Judge
    from judgesheet.permutation_consensus import Decision, Sets, Summary
    from judgesheet.spine.collect import CollectSettings, Progress
    from judgesheet.spine.compare import Comparison
    from judgesheet.spine.doctor import Finding
    from judgesheet.spine.ledger import Ledger
    from judgesheet.spine.parsing import Parser, Trial
    from judgesheet.spine.plan import AxisBudget
    from judgesheet.spine.policy import Policy
    from judgesheet.spine.render import Paper
    from judgesheet.spine.sweep import Knob

LEDGER = "ledger.sqlite"
FORMATS = ("json", "html", "pdf")
"""What a run directory holds when it is finished, beside the ledger, the plan and the table."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to ask of which judge. The defaults are those of the command line."""

    model: str
    axes: Sequence[str] = ()
    profile: str = "quick"
    stimuli: Path | None = None
    prompts: Mapping[str, Path] = field(default_factory=dict)
    parsers: Mapping[str, Path] = field(default_factory=dict)
    seed: int = 0
    repeats: int | None = None
    sequences: str = "cyclic"
    temperature: float = 0.0
    max_tokens: int | None = None
    sweep: str | None = None
    reply: str | None = None
    logprobs: bool | Literal["auto"] | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    timeout_s: float = 120.0
    concurrency: int = 16
    rate: float | None = None
    max_calls: int | None = None
    max_cost: float | None = None
    prices: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A run directory with its datasheet; `progress` is None where no call was made."""

    directory: Path
    datasheet: Datasheet
    progress: "Progress | None" = None


@dataclass(frozen=True, slots=True)
class Decided:
    """Decisions on candidate sets, in their order; `directory` is None where nothing was kept."""

    decisions: "list[Decision]"
    summary: "Summary"
    directory: Path | None
    progress: "Progress | None" = None


def probe(
    model: str | Request,
    out: str | Path | None = None,
    *,
    fresh: bool = False,
    policy: str | Path | None = None,
    on_progress: "Callable[[Progress], None]" = lambda _: None,
    **options: Any,
) -> Run:
    """Measure a judge: plan, collect, measure, render. Resumes a run of the same plan in `out`.

    `options` are the fields of `Request`: `probe("openai/NAME", profile="standard")`. With a
    `policy` (file, or name of a shipped one) the datasheet carries its verdicts.

    Raises
    ------
    JudgesheetError
        with one sentence that says what to do.
    KeyboardInterrupt
        after the replies that had arrived were saved; the same call resumes the run.
    """
    from judgesheet.spine.ledger import Ledger
    from judgesheet.spine.plan import write_plan

    request = _request(model, options)
    rules = _policy(policy)
    directory = Path(out) if out is not None else default_directory(request.model)
    if request.sweep is not None:
        return _probe_sweep(request, directory, fresh=fresh, policy=policy, on_progress=on_progress)
    axes = _axes(request)
    judge, planned = _prepare(request, axes, directory, fresh=fresh)
    _make_directory(directory, fresh=fresh)
    with Ledger.create_or_open(directory / LEDGER, planned, judge.identity) as ledger:
        _refuse_other_parsers(ledger, planned)
        if not (directory / "plan.jsonl").exists():
            write_plan(planned, directory / "plan.jsonl")
        ledger.set_meta("prices", request.prices)
        progress = asyncio.run(_collect(request, judge, ledger, on_progress))
        sheet = _publish(ledger, directory, rules)
    return Run(directory, sheet, progress)


def plan(model: str | Request, **options: Any) -> "tuple[Plan, list[AxisBudget]]":
    """What `probe` would ask and should resolve. No call is made and no judge is opened.

    `reply="auto"` is planned as text and `logprobs="auto"` without them, since only an endpoint can
    say what it honours.
    """
    from judgesheet.judges import check_name, default_logprobs, default_reply
    from judgesheet.spine.plan import budget
    from judgesheet.spine.sweep import parse_knob

    request = _request(model, options)
    axes = _axes(request)
    check_name(request.model)
    known = request.reply in ("text", "json")
    reply = str(request.reply) if known else default_reply(request.model)
    logprobs = default_logprobs(request.model) if request.logprobs is None else request.logprobs
    planned = _plan(request, axes, reply, logprobs=logprobs is True)
    if request.sweep is not None:
        settings = {**planned.provenance["settings"], "sweep": asdict(parse_knob(request.sweep))}
        planned = replace(planned, provenance={**planned.provenance, "settings": settings})
    return planned, list(budget(planned, axes))


def measure(
    directory: str | Path,
    parsers: Mapping[str, Path] | None = None,
    policy: str | Path | None = None,
) -> Run:
    """Recompute and render the datasheet of a run directory from its ledger, sweeps included.

    `parsers` (axis -> file) read the stored replies from now on; the ledger remembers those before.
    Without a `policy` the sheet carries no verdicts, whatever it carried before.
    """
    from judgesheet.spine.ledger import Ledger
    from judgesheet.spine.sweep import recall

    directory, rules = Path(directory), _policy(policy)
    knob = recall(directory)
    if knob is not None:
        for value in knob.values:
            measure(directory / knob.folder(value), parsers, policy)
        return Run(directory, _publish_sweep(knob, directory))
    if parsers:
        _replace_parsers(directory / LEDGER, parsers)
    with Ledger.open(directory / LEDGER) as ledger:
        return Run(directory, _publish(ledger, directory, rules))


def _replace_parsers(path: Path, files: Mapping[str, Path]) -> None:
    """Note in a ledger that these parsers read its replies, after trying their examples."""
    from judgesheet.axes import get_axis
    from judgesheet.spine.ledger import Ledger
    from judgesheet.spine.parsing import Parser, as_record, refuse_failing_examples

    with Ledger.open(path, writable=True) as ledger:
        cells: dict[str, Mapping[str, Any]] = {}
        for call in ledger.calls():
            cells.setdefault(call.axis, call.cell)
            if call.reply == "recorded":
                raise RunError(f"{path} holds recorded verdicts, which no parser has to read")
        now = {one["axis"]: one for one in ledger.parsers()}
        for name, file in files.items():
            if name not in cells:
                raise UsageError(f"--parser names {name}, which this run did not ask about")
            parser = Parser.from_file(file)
            refuse_failing_examples(parser, get_axis(name), cells[name])
            now[name] = as_record(name, parser)
        ledger.replace_parsers([now[name] for name in sorted(now)])


def ingest(file: str | Path, out: str | Path, policy: str | Path | None = None) -> Run:
    """Recorded judgments, or the answers of an OpenAI batch, into a run directory.

    For a batch, `out` holds the plan that was exported (`judgesheet plan --out DIR/plan.jsonl`).
    """
    from judgesheet.spine import ingest as stage

    directory = Path(out)
    _policy(policy)
    _make_directory(directory, fresh=False)
    stage.ingest(Path(file), directory / LEDGER, directory / "plan.jsonl")
    return measure(directory, policy=policy)


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
    (run directory or datasheet.json) it is also held to what that one showed; `force` does so even
    where the two answer different questions. `junit` names a file for the verdicts.
    """
    from judgesheet.files import write_whole
    from judgesheet.spine import gate as stage
    from judgesheet.spine.render import render as rendered

    rules = _policy(policy)
    assert rules is not None  # noqa: S101  (a policy was named)
    sheet = load(source)
    if baseline is None:
        judged = stage.judge(sheet, rules)
    else:
        comparison = _compared(Path(baseline), Path(source), force=force)
        judged = stage.judge(sheet, rules, stage.against(comparison, rules))
    if junit is not None:
        write_whole(Path(junit), rendered(judged, "junit"))
    return judged


def compare(
    old: str | Path, new: str | Path, *others: str | Path, force: bool = False
) -> "list[Comparison]":
    """What changed from `old` to `new` (and to each of `others`), with intervals and verdicts.

    Each is a run directory or a datasheet.json. Of two run directories with the same stimuli the
    differences are paired by stimulus.

    Raises
    ------
    RunError
        if two answer different questions and `force` is not given.
    """
    return [_compared(Path(old), Path(one), force=force) for one in (new, *others)]


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
) -> Decided:
    """Decide candidate sets so that their order does not: lists under k orders, pairs under both.

    `sets` is a JSONL file, one set or several as dicts (docs/consensus.md has the form). With `out`
    the run can be resumed and `decisions.jsonl` and `summary.json` are written there; without,
    nothing is kept. `options` are the fields of `Request` that say which judge to ask and how;
    `tell` gets what a user should know before the first call.

    Raises
    ------
    JudgesheetError
        with one sentence that says what to do.
    KeyboardInterrupt
        after the replies that had arrived were saved; the same call resumes the run.
    """
    request = _request(model, options)
    chosen = {"k": k, "early_stop": early_stop}
    if out is not None:
        directory = Path(out)
        done = _decide(request, sets, directory, chosen, fresh, on_progress, tell)
        _write_decisions(done, directory)
        return done
    with tempfile.TemporaryDirectory(prefix="judgesheet-") as folder:
        done = _decide(request, sets, Path(folder), chosen, fresh, on_progress, tell)
    return replace(done, directory=None)


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

    `form` is one of `spine.importers.FORMATS`; `axis` defaults to the format's own. `columns` maps
    our fields to the columns of a table (`--map`), `rubric` criteria to their levels, worst first.
    `options` are `criterion`, `raters`, `systems`, `scale` and `turn`, as on the command line.

    Raises
    ------
    StimuliError
        if a file cannot be used; the sentence names the line, and nothing is written.
    UsageError
        if the options do not fit the format.
    """
    from judgesheet import importers

    several = [files] if isinstance(files, str | Path) else files
    rubrics = rubric if isinstance(rubric, Mapping) else importers.read_rubric(rubric)
    choice = importers.Choice(axis=axis, columns=columns or {}, rubrics=rubrics, **options)
    return importers.run(form, [Path(file) for file in several], Path(out), choice)


def render(
    source: str | Path,
    formats: Sequence[str],
    out: str | Path | None = None,
    paper: "Paper" = "a4",
) -> list[Path]:
    """Write the datasheet of a run directory or a datasheet.json in these formats.

    Files land beside the source unless `out` names another folder.
    """
    from judgesheet.spine.render import Options, write

    source = Path(source)
    beside = source if source.is_dir() else source.parent
    directory = Path(out) if out is not None else beside
    return write(load(source), directory, formats, Options(paper=paper))


def attach(
    card: str | Path, source: str | Path, *, metadata: bool = False, paper: "Paper" = "a4"
) -> list[Path]:
    """Insert or replace the judge's section in a model card and put the PDF beside it.

    `metadata` also puts the model-index into the card's front matter. Returns what was written.
    """
    from judgesheet.spine import attach as stage
    from judgesheet.spine.render import Options

    options = Options(paper=paper)
    return stage.attach(Path(card), load(source), with_metadata=metadata, options=options)


def load(source: str | Path) -> Datasheet:
    """The datasheet of a run directory, or of a datasheet.json."""
    from judgesheet.spine.datasheet import from_json

    source = Path(source)
    file = source / "datasheet.json" if source.is_dir() else source
    if not file.is_file():
        raise RunError(f"{file} does not exist; give a run directory or a datasheet.json")
    return from_json(file)


def explain(key: str) -> str:
    """What an estimate is, its formula, source and how to read it.

    Raises
    ------
    UsageError
        if no axis has an estimate of that name; the sentence lists those that exist.
    """
    import inspect

    from judgesheet import axes

    wanted = key.partition("[")[0]
    matches = [one for one in estimates() if wanted in (one, one.partition(".")[2])]
    if len(matches) == 1:
        text = axes.explain(*matches[0].split(".", 1)) or ""
        return f"{matches[0]}\n\n{inspect.cleandoc(text)}"
    known = matches or [one for one in estimates() if one.startswith(f"{wanted}.")] or estimates()
    raise UsageError(f"{key!r} is not one estimate; take one of {', '.join(known)}")


def estimates() -> list[str]:
    """Every `axis.name` that `explain` knows."""
    from judgesheet import axes

    return [
        f"{axis.NAME}.{name}"
        for axis in axes.all_axes().values()
        for name in getattr(axis, "ESTIMATES", ())
    ]


def try_parser(file: str | Path, axis: str, stimuli: str | Path | None = None) -> "list[Trial]":
    """How a parser reads its own examples, in the first cell that the axis would ask about."""
    from judgesheet.axes import get_axis
    from judgesheet.spine.parsing import Parser, try_examples

    request = Request("sim/fair", (axis,), "smoke", None if stimuli is None else Path(stimuli))
    calls = _plan(request, _axes(request), "text").calls
    return list(try_examples(Parser.from_file(Path(file)), get_axis(axis), calls[0].cell))


def doctor(model: str | None = None, **connection: Any) -> "list[Finding]":
    """Check this machine, and with `model` the endpoint (`base_url`, `api_key_env` as for it)."""
    from judgesheet.spine.doctor import examine

    return examine(model, **connection)


def _request(model: str | Request, options: Mapping[str, Any]) -> Request:
    return model if isinstance(model, Request) else Request(model, **options)


def _axes(request: Request) -> "list[Axis]":
    from judgesheet.axes import all_axes, get_axis

    return [get_axis(name) for name in (request.axes or all_axes())]


def _plan(request: Request, axes: "Sequence[Axis]", reply: str, *, logprobs: bool = False) -> Plan:
    from judgesheet.judges import check_logprobs
    from judgesheet.spine.parsing import as_record, refuse_failing_examples
    from judgesheet.spine.plan import make_plan

    if logprobs:
        check_logprobs(request.model)
    parsers = _parsers(request, axes)
    # Who reads a form of its own does not have another one forced on the judge, unless told so;
    # and such a form has its score where only the user's parser finds it.
    free = {axis.NAME for axis in axes if _is_free(request, axis, parsers)}
    formats = {axis.NAME: "text" if axis.NAME in free else reply for axis in axes}
    options = {
        name: replace(one, logprobs=logprobs and name not in free)
        for name, one in _options(request, axes, formats).items()
    }
    planned = make_plan(axes, options, request.seed, request.stimuli)
    for axis in axes:
        if axis.NAME in parsers:
            cell = next(call.cell for call in planned.calls if call.axis == axis.NAME)
            refuse_failing_examples(parsers[axis.NAME], axis, cell)
    own = [as_record(name, parser) for name, parser in sorted(parsers.items())]
    settings = {
        "profile": request.profile,
        "axes": [axis.NAME for axis in axes],
        "reply": reply if reply in formats.values() else "text",
        "logprobs": logprobs,
        "temperature": request.temperature,
        "sequences": request.sequences,
    }
    known = {"settings": settings, **({"parsers": own} if own else {})}
    return replace(planned, provenance={**planned.provenance, **known})


def _options(
    request: Request, axes: "Sequence[Axis]", formats: Mapping[str, str]
) -> "dict[str, Options]":
    """What the user chose, per axis; `formats` are the reply formats."""
    from judgesheet.axis import Options

    _refuse_unprobed("--prompt", request.prompts, axes)
    return {
        axis.NAME: Options(
            profile=request.profile,
            reply=_reply_format(formats[axis.NAME]),
            temperature=request.temperature,
            max_tokens=request.max_tokens,
            repeats=request.repeats,
            sequences=request.sequences,
            template=_template(request.prompts.get(axis.NAME)),
        )
        for axis in axes
    }


def _is_free(request: Request, axis: "Axis", parsers: Mapping[str, Any]) -> bool:
    """Whether the judge may answer this axis in the form that its prompt asks for."""
    return axis.NAME in parsers and request.reply != "json"


def _parsers(request: Request, axes: "Sequence[Axis]") -> "dict[str, Parser]":
    """The user's own parsers: those named, and those that lie beside a prompt as FILE.toml."""
    from judgesheet.spine.parsing import Parser

    beside = {axis: path.with_suffix(".toml") for axis, path in request.prompts.items()}
    paths = {**{axis: path for axis, path in beside.items() if path.is_file()}, **request.parsers}
    _refuse_unprobed("--parser", paths, axes)
    return {axis: Parser.from_file(path) for axis, path in paths.items()}


def _refuse_unprobed(option: str, named: Mapping[str, Any], axes: "Sequence[Axis]") -> None:
    unknown = set(named) - {axis.NAME for axis in axes}
    if unknown:
        raise UsageError(f"{option} names {', '.join(sorted(unknown))}, which is not probed")


def _refuse_other_parsers(ledger: "Ledger", planned: Plan) -> None:
    """One sheet, one reading: a run is resumed with the parsers it has."""
    if ledger.parsers() != planned.provenance.get("parsers", []):
        raise RunError(
            f"{ledger.path} is read with another parser; give the same again, or read all of its "
            "replies anew with `judgesheet measure DIR --parser AXIS=FILE`"
        )


def _policy(source: str | Path | None) -> "Policy | None":
    if source is None:
        return None
    from judgesheet.spine.policy import load as load_policy

    return load_policy(source)


def _compared(old: Path, new: Path, *, force: bool) -> "Comparison":
    """Paired where both are run directories; that alone needs the arithmetic libraries."""
    from judgesheet.spine.compare import compare as compare_stage

    sheets = load(old), load(new)
    if not (old.is_dir() and new.is_dir()):
        return compare_stage(*sheets, force=force)
    from judgesheet.spine.paired import correlations

    compare_stage(*sheets, force=force)  # refuse before the long part
    return compare_stage(*sheets, correlations(old, new, sheets), force=force)


def _template(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the prompt template {path} cannot be read: {error}") from None


def _reply_format(name: str) -> ReplyFormat:
    if name == "json":
        return "json"
    return "text"


def _prepare(
    request: Request, axes: "Sequence[Axis]", directory: Path, *, fresh: bool
) -> "tuple[Judge, Plan]":
    """The judge and the plan: `auto` needs the judge first, a simulated judge the labels."""
    from judgesheet.judges import open_judge
    from judgesheet.judges.simulated import answer_key

    reply = _reply(request, axes, directory, fresh=fresh)
    planned = _plan(request, axes, reply, logprobs=_logprobs(request, directory, fresh=fresh))
    return open_judge(request.model, _connection(request), answer_key(planned.labels)), planned


def _connection(request: Request) -> "Connection":
    from judgesheet.judges import Connection

    return Connection(
        base_url=request.base_url,
        api_key_env=request.api_key_env,
        extra_body=request.extra_body,
        timeout_s=request.timeout_s,
        concurrency=request.concurrency,
    )


def _reply(request: Request, axes: "Sequence[Axis]", directory: Path, *, fresh: bool) -> str:
    """The reply format: the user's, the judge's own, or with `auto` what the endpoint honours."""
    from judgesheet.judges import default_reply, open_judge

    reply = request.reply or default_reply(request.model)
    if reply == "auto" and all(_is_free(request, axis, _parsers(request, axes)) for axis in axes):
        return "text"
    if reply != "auto":
        return reply
    earlier = None if fresh else _settings_of(directory).get("reply")
    judge = open_judge(request.model, _connection(request))
    return str(earlier or asyncio.run(_try_formats(judge)))


def _logprobs(request: Request, directory: Path, *, fresh: bool) -> bool:
    """Whether to ask for log-probabilities: as told, as the judge's kind, or as `auto` finds."""
    from judgesheet.judges import default_logprobs, open_judge

    wanted = default_logprobs(request.model) if request.logprobs is None else request.logprobs
    if wanted != "auto":
        return wanted is True
    earlier = None if fresh else _settings_of(directory).get("logprobs")
    if earlier is not None:
        return bool(earlier)
    return asyncio.run(_try_logprobs(open_judge(request.model, _connection(request))))


def _settings_of(directory: Path) -> dict[str, Any]:
    """What an unfinished run settled on, so that resuming asks nothing anew."""
    from judgesheet.spine.ledger import Ledger

    if not (directory / LEDGER).is_file():
        return {}
    with Ledger.open(directory / LEDGER) as ledger:
        return _settings(ledger)


async def _try_formats(judge: "Judge") -> str:
    """`json` if the endpoint honours a JSON schema, tried once; else `text`."""
    from judgesheet.judges.check import honours_json_schema

    async with judge:
        return "json" if await honours_json_schema(judge) else "text"


async def _try_logprobs(judge: "Judge") -> bool:
    """Whether the endpoint gives log-probabilities, tried once."""
    from judgesheet.judges.check import gives_logprobs

    async with judge:
        return await gives_logprobs(judge)


def default_directory(model: str, prefix: str = "") -> Path:
    """Where a run of this judge lies unless the user says otherwise."""
    return Path("runs") / f"{prefix}{slug(model)[:80] or 'judge'}"


def _make_directory(directory: Path, *, fresh: bool) -> None:
    try:
        if fresh and directory.exists():
            directory.rename(_aside(directory))
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(
            f"{directory} cannot be used ({error.strerror}); choose another --out"
        ) from None


def _aside(directory: Path) -> Path:
    number = 1
    while (aside := directory.with_name(f"{directory.name}.old-{number}")).exists():
        number += 1
    return aside


async def _collect(
    request: Request,
    judge: "Judge",
    ledger: "Ledger",
    on_progress: "Callable[[Progress], None]",
) -> "Progress":
    from judgesheet.axes import all_axes
    from judgesheet.spine.collect import collect
    from judgesheet.spine.parsing import from_records, read

    axes, parsers = all_axes(), from_records(ledger.parsers())
    async with judge:
        return await collect(
            judge,
            ledger,
            _collect_settings(request),
            on_progress,
            is_readable=lambda call, text: (
                read(axes[call.axis], text, call.reply, call.cell, parsers.get(call.axis))
                is not None
            ),
        )


def _collect_settings(request: Request) -> "CollectSettings":
    from judgesheet.spine.collect import CollectSettings, Price

    return CollectSettings(
        concurrency=request.concurrency,
        rate=request.rate,
        max_calls=request.max_calls,
        max_cost=request.max_cost,
        price=None if request.prices is None else Price(*request.prices),
    )


def _decide(
    request: Request,
    sets: "Sets",
    directory: Path,
    chosen: Mapping[str, Any],
    fresh: bool,
    on_progress: "Callable[[Progress], None]",
    tell: Callable[[str], None],
) -> Decided:
    """Read, plan, ask and decide in `directory`; nothing but the ledger is written."""
    from judgesheet import permutation_consensus as stage
    from judgesheet.axes import get_axis
    from judgesheet.judges import check_name, open_judge
    from judgesheet.spine.ledger import Ledger

    _refuse_running_loop()
    check_name(request.model)
    given = stage.read_sets(sets)
    axes = [get_axis(name) for name in stage.AXES]
    if _parsers(request, axes):
        raise UsageError(
            "decisions are made from the built-in reply formats; leave out own parsers"
        )
    reply = _reply(request, axes, directory, fresh=fresh)
    options = _options(request, axes, dict.fromkeys(stage.AXES, reply))
    settings = stage.Settings(options=options, seed=request.seed, **chosen)
    asked = stage.questions(given, settings)
    for sentence in stage.unbalanced(given, settings.k):
        tell(sentence)
    judge = open_judge(request.model, _connection(request))
    _make_directory(directory, fresh=fresh)
    planned = stage.make_plan(given, asked, settings)
    with Ledger.create_or_open(directory / LEDGER, planned, judge.identity) as ledger:

        async def ask() -> "Progress | None":
            async with judge:
                settings = _collect_settings(request)
                return await stage.ask(judge, ledger, asked, settings, on_progress)

        progress = asyncio.run(ask())
        decisions = stage.decide(ledger, asked)
        summary = stage.summarise(decisions, ledger.totals(), request.prices)
    return Decided(decisions, summary, directory, progress)


def _refuse_running_loop() -> None:
    """Notebooks and asynchronous pipelines have a loop already; it must not wait for ours."""
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        raise UsageError(
            "an event loop runs in this thread; write `await asyncio.to_thread("
            "judgesheet.consensus, …)`"
        )


def _write_decisions(done: Decided, directory: Path) -> None:
    from judgesheet.files import write_lines

    lines = (json.dumps(one.as_record()) for one in done.decisions)
    write_lines(directory / "decisions.jsonl", lines)
    write_lines(directory / "summary.json", [json.dumps(done.summary.as_record(), indent=2)])


def _probe_sweep(
    request: Request,
    directory: Path,
    *,
    fresh: bool,
    policy: str | Path | None,
    on_progress: "Callable[[Progress], None]",
) -> Run:
    """One run per setting, each resumable and held to the policy, and one sheet of them all."""
    from judgesheet.spine.sweep import parse_knob, remember

    knob = parse_knob(str(request.sweep))
    _make_directory(directory, fresh=fresh)
    if (directory / LEDGER).exists():
        raise RunError(f"{directory} holds a single run; choose another --out, or --fresh")
    remember(directory, knob)
    progress = None
    left = request.max_calls
    for value in knob.values:
        one = replace(_set(request, knob.name, value), max_calls=left)
        run = probe(one, directory / knob.folder(value), policy=policy, on_progress=on_progress)
        progress = run.progress
        if left is not None and progress is not None:
            left -= progress.done_now
            if left <= 0:
                break
    return Run(directory, _publish_sweep(knob, directory), progress)


def _set(request: Request, knob: str, value: str) -> Request:
    """The request with one setting of the knob; what is no option of ours goes into the body."""
    from judgesheet.spine.sweep import typed

    if knob == "temperature":
        return replace(request, sweep=None, temperature=float(value))
    if knob == "max_tokens":
        return replace(request, sweep=None, max_tokens=int(value))
    return replace(request, sweep=None, extra_body={**request.extra_body, knob: typed(value)})


def _publish_sweep(knob: "Knob", directory: Path) -> Datasheet:
    """Measure the settings that have a ledger and write the sheet that compares them."""
    from judgesheet.spine.ledger import Ledger
    from judgesheet.spine.measure import measure as measure_stage
    from judgesheet.spine.provenance import assemble
    from judgesheet.spine.render import write
    from judgesheet.spine.sweep import Setting, combine

    settings = []
    begun = [v for v in knob.values if (directory / knob.folder(v) / LEDGER).is_file()]
    for value in begun:
        with Ledger.open(directory / knob.folder(value) / LEDGER) as ledger:
            temperature, seed = _settings(ledger).get("temperature"), ledger.get_meta("seed", 0)
            measured = measure_stage(ledger, temperature, seed)
            sheet = assemble(ledger, measured)
            labels = tuple(ledger.labels())
        settings.append(Setting(value, sheet, measured, labels, temperature, seed))
    combined = combine(knob, settings)
    write(combined, directory, FORMATS)
    return combined


def _settings(ledger: "Ledger") -> dict[str, Any]:
    return dict(ledger.get_meta("provenance", {}).get("settings", {}))


def _publish(ledger: "Ledger", directory: Path, policy: "Policy | None") -> Datasheet:
    """Measure what the ledger holds and write the datasheet and the table of judgments."""
    from judgesheet.spine.gate import judge
    from judgesheet.spine.measure import measure as measure_stage
    from judgesheet.spine.provenance import assemble
    from judgesheet.spine.render import write

    temperature = _settings(ledger).get("temperature")
    measured = measure_stage(ledger, temperature, ledger.get_meta("seed", 0))
    sheet = assemble(ledger, measured)
    if policy is not None:
        sheet = judge(sheet, policy)
    _write_judgments(measured.judgments, directory / "judgments.parquet")
    write(sheet, directory, FORMATS)
    return sheet


def _write_judgments(table: Any, path: Path) -> None:
    """One row a call. `value` is the reading as JSON, `score` the same where it is a number.

    `distribution` is the second reading, from log-probabilities, or the reason why there is none.
    """
    table = table.copy()
    numbers = [v if isinstance(v, int) else None for v in table["value"]]
    if "distribution" in table:
        table["distribution"] = [_as_text(v) for v in table["distribution"]]
    for column in ("order", "value"):
        if column in table:
            table[column] = [None if v is None else json.dumps(v) for v in table[column]]
    table["score"] = numbers
    table.astype({"score": "Int64"}).to_parquet(path, index=False)


def _as_text(value: Any) -> str | None:
    """A record as JSON, a text as it is; None for what is missing."""
    if is_dataclass(value) and not isinstance(value, type):
        return json.dumps(asdict(value))
    return value if isinstance(value, str) else None

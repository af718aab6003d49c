"""The command line: each command is its options, one call, and what is printed.

Standard output carries results only; progress and messages go to standard error. Heavy libraries
are imported inside the commands, so that `--help` answers at once.
"""

import json
import math
import os
import shutil
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from judgesheet import __version__
from judgesheet.errors import JudgesheetError, UsageError

if TYPE_CHECKING:
    from judgesheet.api import Request, Run
    from judgesheet.spine.render import Paper

Command = TypeVar("Command", bound=Callable[..., Any])
INTERRUPTED = 130


class Commands(click.Group):
    """A group that turns our own failures into one sentence and an exit code, in one place."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; JudgesheetError exits 1 or 2, Ctrl-C exits 130, neither with a trace."""
        try:
            return super().invoke(ctx)
        except JudgesheetError as error:
            click.echo(f"judgesheet: {error}", err=True)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("judgesheet: interrupted; the same command resumes the run", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            # The reader of our output went away (`| head`): stop quietly, as other tools do.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(1)
        except OSError as error:
            what = f"{error.filename}: " if error.filename else ""
            click.echo(f"judgesheet: {what}{error.strerror or error}", err=True)
            ctx.exit(1)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="judgesheet")
def main() -> None:
    """Measure an LLM judge before anyone trusts it.

    A judge is asked the same questions in orders that must not matter. From its replies comes a
    datasheet: every number with its interval, as JSON, HTML and PDF.
    """


class Finite(click.FloatRange):
    """A number in a range; neither infinite nor NaN, which pass every comparison."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number, or click's own message."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


_PATH = click.Path(path_type=Path)
_EXISTING = click.Path(path_type=Path, exists=True)
_MODEL = (
    "openai/NAME, anthropic/NAME, openai-compatible/NAME (with --base-url), local/smollm2-135m, "
    "local/FILE.gguf, sim/NAME?key=value, python/module:function."
)

_JUDGE = click.option("--model", required=True, metavar="PROVIDER/NAME", help=_MODEL)
_PROMPT = click.option(
    "--prompt", "prompts", multiple=True, metavar="AXIS=FILE", help="Own prompt template."
)
_SEED = click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
_TEMPERATURE = click.option("--temperature", type=Finite(0, 5), default=0.0, show_default=True)
_MAX_TOKENS = click.option(
    "--max-tokens", type=click.IntRange(1), help="Reply budget. [1024 text, 32 json]"
)
_REPLY = click.option(
    "--reply",
    type=click.Choice(["auto", "text", "json"]),
    help="Reply format; auto asks the endpoint once. [text; json for local/ and sim/]",
)
_POLICY = click.option(
    "--policy",
    metavar="FILE|NAME",
    help="Limits to hold the judge to: a TOML file, or ranking, scoring, ci-regression.",
)

_WHAT_TO_ASK = (
    _JUDGE,
    click.option("--axis", "axes", multiple=True, help="Axis to probe; repeatable. [all]"),
    click.option(
        "--profile",
        type=click.Choice(["smoke", "quick", "standard", "full"]),
        default="quick",
        show_default=True,
        help="How much to ask; see `judgesheet plan`.",
    ),
    click.option("--stimuli", type=_PATH, help="Own stimuli (JSONL file, or a folder)."),
    _PROMPT,
    click.option(
        "--parser",
        "parsers",
        multiple=True,
        metavar="AXIS=FILE",
        help="Own parser of the replies. [FILE.toml beside --prompt, if there is one]",
    ),
    _SEED,
    click.option(
        "--repeats",
        type=click.IntRange(1, 100),
        help="Reads of a repeated cell. [set by axis and profile: 2, or 1 in quick]",
    ),
    click.option(
        "--design",
        "sequences",
        type=click.Choice(["cyclic", "williams"]),
        default="cyclic",
        show_default=True,
        help="Balanced orders: the papers' rotations, or balanced for neighbours too.",
    ),
    _TEMPERATURE,
    click.option(
        "--sweep",
        metavar="NAME=V,V,…",
        help="Ask all of it under several values of a request parameter, on one sheet.",
    ),
    _MAX_TOKENS,
    _REPLY,
    click.option(
        "--logprobs",
        type=click.Choice(["on", "off", "auto"]),
        is_flag=False,
        flag_value="on",
        help="Also read the probabilities of all scores; auto asks once. [off; on for local/]",
    ),
)

_HOW_TO_ASK = (
    click.option("--base-url", help="Address of an OpenAI-compatible server."),
    click.option("--api-key-env", metavar="NAME", help="Environment variable with the key."),
    click.option("--extra-body", metavar="JSON", help="Merged into every request."),
    click.option(
        "--timeout",
        "timeout_s",
        type=Finite(0.1),
        default=120.0,
        show_default=True,
        help="Seconds per call.",
    ),
    click.option(
        "--concurrency",
        type=click.IntRange(1, 4096),
        default=16,
        show_default=True,
        help="Calls in flight at most.",
    ),
    click.option("--rate", type=Finite(0, min_open=True), help="Calls per second."),
    click.option(
        "--max-calls", type=click.IntRange(1), help="Requests of this sitting, then stop."
    ),
    click.option("--max-cost", type=Finite(0), help="Stop at this cost of the run, US dollars."),
    click.option("--prices", metavar="IN,OUT", help="US dollars per million tokens."),
    click.option("--quiet", is_flag=True, help="No progress."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
)


def _options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


asking = _options(*_WHAT_TO_ASK, *_HOW_TO_ASK)
"""Gives a command the options that `probe` and `plan` share."""
deciding = _options(_JUDGE, _PROMPT, _SEED, _TEMPERATURE, _MAX_TOKENS, _REPLY, *_HOW_TO_ASK)
"""Gives a command those of them that do not choose what is measured."""


@main.command()
@asking
@click.option("--out", type=_PATH, help="Run directory. [runs/MODEL]")
@click.option("--fresh", is_flag=True, help="Start over; an old run is kept aside.")
@_POLICY
def probe(
    out: Path | None,
    fresh: bool,
    policy: str | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Measure a judge: ask, measure, write the datasheet. Resumes an unfinished run."""
    from judgesheet import api
    from judgesheet.progress import display

    request = _request(options)
    with display(quiet=quiet) as show:
        run = api.probe(request, out, fresh=fresh, policy=policy, on_progress=show)
    _report(run, as_json=as_json)


@main.command()
@asking
@click.option("--out", type=_PATH, help="Write every call to this plan.jsonl.")
@click.option("--export-batch", type=_PATH, help="Write the calls as OpenAI batch requests.")
@_POLICY
def plan(
    out: Path | None,
    export_batch: Path | None,
    policy: str | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Say what a probe would ask, cost and resolve. No call is made."""
    from judgesheet import api
    from judgesheet.spine import plan as stage

    del quiet  # there is no progress to keep quiet about
    request = _request(options)
    if request.sweep is not None and (out is not None or export_batch is not None):
        raise UsageError("a sweep is several plans; write each with --temperature or --extra-body")
    unasked = _unasked(policy, request)
    planned, budgets = api.plan(request)
    if out is not None:
        stage.write_plan(planned, out)
    if export_batch is not None:
        from judgesheet.judges.dialects import batch_body

        body_of = batch_body(request.model, request.extra_body)
        stage.write_batch(planned, body_of, export_batch)
        if out is not None:
            stage.write_sidecar(planned, request.model, out)
    if as_json:
        click.echo(json.dumps(stage.as_record(planned, budgets, request.prices), indent=2))
    else:
        click.echo(stage.as_text(planned, budgets, request.prices))
    for key in unasked:
        click.echo(f"The policy limits {key}, which this plan does not ask about.", err=True)


@main.command()
@click.argument("file", type=_EXISTING)
@click.option("--out", type=_PATH, required=True, help="Run directory to fill.")
@_POLICY
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def ingest(file: Path, out: Path, policy: str | None, as_json: bool) -> None:
    """Turn recorded judgments or batch answers into a run and its datasheet."""
    from judgesheet import api

    _report(api.ingest(file, out, policy), as_json=as_json)


@main.command()
@click.argument("directory", type=_EXISTING)
@click.option(
    "--parser",
    "parsers",
    multiple=True,
    metavar="AXIS=FILE",
    help="Read the stored replies with this parser from now on.",
)
@_POLICY
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def measure(directory: Path, parsers: tuple[str, ...], policy: str | None, as_json: bool) -> None:
    """Recompute a datasheet from its ledger. No call is made."""
    from judgesheet import api

    files = dict(_pair("parser", text) for text in parsers)
    _report(api.measure(directory, files, policy), as_json=as_json)


@main.command()
@click.argument("candidates", type=_EXISTING)
@click.option("-k", type=click.IntRange(1, 100), default=7, show_default=True,
              help="Orders of a list; best a multiple of its length.")  # fmt: skip
@click.option("--early-stop", is_flag=True, help="Leave out calls that cannot change the winner.")
@deciding
@click.option("--out", type=_PATH, help="Run directory. [runs/consensus-MODEL]")
@click.option("--fresh", is_flag=True, help="Start over; an old run is kept aside.")
def consensus(
    candidates: Path,
    k: int,
    early_stop: bool,
    out: Path | None,
    fresh: bool,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Decide your own candidate sets so that their order does not.

    CANDIDATES is a JSONL file of sets: {"id", "prompt", "candidates": [{"id", "text"}, …]}, or
    {"id", "request", "u", "v"} for pairs. Lists are judged under K orders and aggregated, sets of
    two in both orders with a keyed pass where they disagree. Writes decisions.jsonl and
    summary.json; resumes an unfinished run.
    """
    from judgesheet import api
    from judgesheet.progress import display

    request = _request(options)
    out = out or api.default_directory(request.model, "consensus-")
    with display(quiet=quiet) as show:
        done = api.consensus(
            candidates,
            request,
            out,
            k=k,
            early_stop=early_stop,
            fresh=fresh,
            on_progress=show,
            tell=lambda sentence: click.echo(f"note: {sentence}", err=True),
        )
    if as_json:
        decisions = [one.as_record() for one in done.decisions]
        document = {"summary": done.summary.as_record(), "decisions": decisions}
        click.echo(json.dumps(document, indent=2))
    else:
        click.echo(done.summary.as_text())
        click.echo(out / "decisions.jsonl")
    if done.summary.incomplete:
        click.echo(
            f"{done.summary.incomplete} sets are not complete; the same command goes on with them.",
            err=True,
        )


@main.command()
@click.argument("source", type=_EXISTING)
@click.option(
    "--to",
    "formats",
    multiple=True,
    required=True,
    type=click.Choice(["html", "pdf", "md", "json", "csv", "junit", "model-card"]),
    help="Format; repeatable.",
)
@click.option("--out", type=_PATH, help="Folder to write to. [beside the source]")
@click.option("--paper", type=click.Choice(["a4", "letter"]), default="a4", show_default=True)
def render(source: Path, formats: tuple[str, ...], out: Path | None, paper: "Paper") -> None:
    """Write a datasheet (run directory or datasheet.json) in other formats."""
    from judgesheet import api

    for path in api.render(source, formats, out, paper=paper):
        click.echo(path)


@main.command()
@click.argument("source", type=_EXISTING)
@click.option(
    "--policy",
    required=True,
    metavar="FILE|NAME",
    help="The limits: a TOML file, or ranking, scoring, ci-regression.",
)
@click.option("--junit", type=_PATH, help="Write the verdicts as JUnit XML.")
@click.option("--baseline", type=_EXISTING, help="An earlier run or datasheet not to fall behind.")
@click.option("--force", is_flag=True, help="Use a baseline that answered other questions.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def gate(
    source: Path,
    policy: str,
    junit: Path | None,
    baseline: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Hold a datasheet (run directory or datasheet.json) to the limits of a policy.

    Exits 0 if every limit is proven, 3 if one is broken, 4 if one is not proven.
    """
    from judgesheet import api
    from judgesheet.spine.gate import EXIT_CODES
    from judgesheet.spine.render import verdicts

    sheet = api.gate(source, policy, baseline=baseline, junit=junit, force=force)
    assert sheet.decision is not None  # noqa: S101  (a gate decides)
    code = EXIT_CODES[sheet.decision.verdict]
    click.echo(verdicts.as_json(sheet, code) if as_json else verdicts.as_text(sheet))
    if os.environ.get("GITHUB_ACTIONS"):
        # The runner reads both streams; standard output stays one document under --json.
        for line in verdicts.annotations(sheet):
            click.echo(line, err=as_json)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        _append(Path(summary), verdicts.as_markdown(sheet) + "\n")
    raise SystemExit(code)


def _append(path: Path, text: str) -> None:
    """Add to a file of somebody else's; where that fails the verdict still counts."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        click.echo(f"judgesheet: the summary {path} was not written: {error.strerror}", err=True)


@main.command()
@click.argument("old", type=_EXISTING)
@click.argument("new", type=_EXISTING, nargs=-1, required=True)
@click.option(
    "--to",
    "form",
    type=click.Choice(["md", "html", "json"]),
    default="md",
    show_default=True,
    help="Format.",
)
@click.option("--out", type=_PATH, help="File to write. [standard output]")
@click.option("--force", is_flag=True, help="Compare sheets that answer different questions.")
@click.option("--json", "as_json", is_flag=True, help="The same as --to json.")
def compare(
    old: Path, new: tuple[Path, ...], form: str, out: Path | None, force: bool, as_json: bool
) -> None:
    """Say what changed from one datasheet to others, with intervals and verdicts.

    Each is a run directory or a datasheet.json; two run directories on the same stimuli are
    compared stimulus by stimulus.
    """
    from judgesheet import api
    from judgesheet.files import write_whole
    from judgesheet.spine.render import comparison

    text = comparison.render(api.compare(old, *new, force=force), "json" if as_json else form)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_whole(out, text.encode())
        click.echo(out)


@main.command()
@click.argument("card", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("source", type=_EXISTING, metavar="DATASHEET")
@click.option(
    "--metadata", is_flag=True, help="Also put the model-index into the card's front matter."
)
@click.option("--paper", type=click.Choice(["a4", "letter"]), default="a4", show_default=True)
def attach(card: Path, source: Path, metadata: bool, paper: "Paper") -> None:
    """Insert or replace the judge's section in a model card, and put the PDF beside it.

    DATASHEET is a run directory or a datasheet.json. Everything outside the markers of the section
    stays as it is, byte for byte.
    """
    from judgesheet import api

    for path in api.attach(card, source, metadata=metadata, paper=paper):
        click.echo(path)


@main.command()
@click.argument("key", required=False)
def explain(key: str | None) -> None:
    """Say what an estimate is, its formula, its source and how to read it.

    KEY is axis.name, or the name alone where one axis has it; without a KEY all are listed.
    """
    from judgesheet import api

    click.echo(api.explain(key) if key else "\n".join(api.estimates()))


@main.command()
@click.option("--model", metavar="PROVIDER/NAME", help="Also ask this endpoint.")
@click.option("--base-url", help="Address of an OpenAI-compatible server.")
@click.option("--api-key-env", metavar="NAME", help="Environment variable with the key.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def doctor(model: str | None, base_url: str | None, api_key_env: str | None, as_json: bool) -> None:
    """Check this machine, and an endpoint if --model is given."""
    from judgesheet import api

    findings = api.doctor(model, base_url=base_url, api_key_env=api_key_env)
    if as_json:
        click.echo(json.dumps([finding.as_record() for finding in findings], indent=2))
    else:
        for finding in findings:
            click.echo(finding.as_line())
    if any(finding.fatal for finding in findings):
        raise SystemExit(1)


@main.group()
def stimuli() -> None:
    """List, show, check and import stimuli."""


@stimuli.command("list")
def stimuli_list() -> None:
    """List the built-in pools with their digests."""
    from judgesheet.axes import all_axes
    from judgesheet.spine.stimuli import load, pool_digest

    for axis in all_axes().values():
        pool = load(axis)
        click.echo(f"{axis.NAME}  {len(pool)} stimuli  sha256 {pool_digest(pool)}")


@stimuli.command("show")
@click.argument("identifier", metavar="ID")
@click.option("--axis", default="score_order", show_default=True)
@click.option("--stimuli", "path", type=_EXISTING, help="Own stimuli instead of the built-in.")
def stimuli_show(identifier: str, axis: str, path: Path | None) -> None:
    """Print one stimulus as JSON."""
    from judgesheet.axes import get_axis
    from judgesheet.spine.stimuli import load

    pool = {stimulus.id: stimulus for stimulus in load(get_axis(axis), path)}
    if identifier not in pool:
        raise UsageError(
            f"there is no stimulus {identifier!r}; `stimuli show` takes one of the "
            f"{len(pool)} ids such as {next(iter(pool))}"
        )
    click.echo(json.dumps(dict(pool[identifier].fields), indent=2, ensure_ascii=False))


@stimuli.command("check")
@click.argument("path", type=_EXISTING, required=False)
@click.option("--axis", help="Axis of the stimuli. [as the first line tells, else score_order]")
@click.option("--parser", type=_EXISTING, help="Also try the examples of this parser.")
def stimuli_check(path: Path | None, axis: str | None, parser: Path | None) -> None:
    """Check a stimuli file (or the built-in pool): schema, lengths, duplicates, leaks."""
    from judgesheet.axes import get_axis
    from judgesheet.spine.stimuli import axis_of, load

    room = get_axis(axis or "score_order")
    if axis is None and path is not None and path.is_file():
        room = axis_of(path, otherwise=room)
    pool = load(room, path)
    misread = 0 if parser is None else _try_examples(parser, room.NAME, path)
    problems = list(room.check(pool))
    for problem in problems:
        click.echo(f"{'error' if problem.grave else 'warning'}: {problem.where}: {problem.what}")
    grave = sum(problem.grave for problem in problems)
    click.echo(f"{len(pool)} stimuli, {grave} errors, {len(problems) - grave} warnings")
    if grave or misread:
        raise SystemExit(1)


def _try_examples(file: Path, axis: str, stimuli: Path | None) -> int:
    """Print how each example of a parser is read; how many are read otherwise than they say."""
    from judgesheet import api
    from judgesheet.spine.parsing import expectation, said

    trials = list(api.try_parser(file, axis, stimuli))
    for number, trial in enumerate(trials, start=1):
        fault = "" if trial.passed else f", not {expectation(trial.example)}"
        mark = "ok" if trial.passed else "error"
        click.echo(f"{mark}: {file.name}: example {number}: {said(trial.found)}{fault}")
    if not trials:
        click.echo(f"warning: {file.name}: it has no [[example]] to try")
    return sum(not trial.passed for trial in trials)


@stimuli.command("import")
@click.argument("form", metavar="FORMAT")
@click.argument("files", type=_EXISTING, nargs=-1, required=True)
@click.option("--out", type=_PATH, required=True, help="JSONL file to write.")
@click.option("--axis", help="Axis to write for. [the format's own; needed for a table]")
@click.option("--criterion", help="Grade this criterion only; needed where one must be chosen.")
@click.option(
    "--raters",
    type=click.Choice(["expert", "crowd"]),
    default="expert",
    show_default=True,
    help="Whose ratings, where a data set has both.",
)
@click.option("--system", "systems", multiple=True, help="Keep this system only; repeatable.")
@click.option("--scale", metavar="LOW:HIGH", help="Refuse ratings outside. [the data set's own]")
@click.option("--turn", type=click.IntRange(1, 2), default=1, show_default=True,
              help="Turn of an MT-Bench dialogue.")  # fmt: skip
@click.option(
    "--map",
    "columns",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="Which column of a table holds what; repeatable.",
)
@click.option("--rubric", type=_EXISTING, help='JSON: {"criterion": ["worst", …, "best"]}.')
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def stimuli_import(
    form: str,
    files: tuple[Path, ...],
    out: Path,
    columns: tuple[str, ...],
    scale: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Write stimuli from a public data set, or from a table.

    FORMAT is hanna, summeval, prometheus, mt-bench, judgebench or rewardbench2; or jsonl, csv or
    parquet for a table of your own, with --axis and --map prompt=COLUMN --map text=COLUMN and so on
    (docs/stimuli.md lists the fields). Files may be gzipped. The output is whole or not written.
    """
    from judgesheet import api

    done = api.import_stimuli(
        form, files, out, columns=dict(map(_column, columns)), scale=_scale(scale), **options
    )
    click.echo(json.dumps(done.as_record(), indent=2) if as_json else done.as_text())


def _column(text: str) -> tuple[str, str]:
    field, separator, column = text.partition("=")
    if not separator or not field or not column:
        raise UsageError(f"--map {text}: write FIELD=COLUMN, such as prompt=question")
    return field, column


def _scale(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(":"))
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise UsageError("--scale takes two numbers, such as 1:5")
    return low, high


def _request(options: dict[str, Any]) -> "Request":
    from judgesheet.api import Request

    for option in ("prompt", "parser"):
        named = (_pair(option, text) for text in options.get(f"{option}s", ()))
        options[f"{option}s"] = dict(named)
    options["extra_body"] = _json_object("--extra-body", options["extra_body"])
    options["prices"] = _prices(options["prices"])
    if "logprobs" in options:  # not every command that asks can use them
        told = options["logprobs"]
        options["logprobs"] = {"on": True, "off": False}.get(told, told)
    if options["max_cost"] is not None and options["prices"] is None:
        raise UsageError("--max-cost needs --prices IN,OUT (US dollars per million tokens)")
    return Request(**options)


def _pair(option: str, text: str) -> tuple[str, Path]:
    axis, separator, path = text.partition("=")
    if not separator:
        raise UsageError(f"--{option} {text}: write AXIS=FILE, such as score_order=mine.j2")
    return axis, Path(path)


def _json_object(option: str, text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError as error:
        raise UsageError(f"{option} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError(f"{option} must be a JSON object such as '{{\"top_p\": 1}}'")
    return value


def _prices(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        price_in, price_out = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError("--prices takes two numbers, such as 0.15,0.60") from None
    if not all(math.isfinite(price) and price >= 0 for price in (price_in, price_out)):
        raise UsageError("--prices takes two numbers from 0, such as 0.15,0.60")
    return price_in, price_out


def _unasked(policy: str | None, request: "Request") -> list[str]:
    """The keys of a policy whose axis a plan leaves out."""
    if policy is None:
        return []
    from judgesheet.axes import axis_names
    from judgesheet.keys import Key
    from judgesheet.spine.policy import load

    asked = set(request.axes or axis_names())
    return [limit.key for limit in load(policy).limit if Key.parse(limit.key).axis not in asked]


def _report(run: "Run", *, as_json: bool) -> None:
    """The result on standard output: the datasheet itself, or where it is and what it says."""
    from judgesheet.spine.datasheet import to_json

    if as_json:
        click.echo(to_json(run.datasheet), nl=False)
        return
    for axis in run.datasheet.axes:
        click.echo(f"{axis.title}: {axis.answered} of {axis.planned} calls read")
        for statement in axis.findings:
            click.echo(_wrapped(_MARK[statement.tone], statement.text))
    for advice in run.datasheet.recommendations:
        click.echo(_wrapped("→", advice.text))
    if run.datasheet.decision is not None:
        from judgesheet.spine.render.verdicts import as_text

        click.echo(as_text(run.datasheet))
    if not run.datasheet.run.get("complete"):
        click.echo("The run is not complete; the same command goes on with it.", err=True)
    for name in ("datasheet.pdf", "datasheet.html", "datasheet.json"):
        click.echo(run.directory / name)


def _wrapped(mark: str, text: str) -> str:
    """A line for a terminal of any width; whole where a program reads it."""
    if not sys.stdout.isatty():
        return f"  {mark} {text}"
    width = max(40, min(shutil.get_terminal_size().columns, 100))
    return textwrap.fill(text, width, initial_indent=f"  {mark} ", subsequent_indent="    ")


_MARK = {"good": "✓", "bad": "✗", "unknown": "?", "neutral": "·"}

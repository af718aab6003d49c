"""The command line: each command is its options, one call, and what is printed.

Standard output carries results only; progress and messages go to standard error. The commands are
functions of the package, loaded when they are called, so that `--help` answers at once.
"""

import json
import os
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

import judgesheet
from judgesheet.axis import PROFILES
from judgesheet.base.errors import JudgesheetError
from judgesheet.base.files import one_command, write_whole
from judgesheet.base.sanitize import complaint, one_line
from judgesheet.commands.cli_types import (
    Finite,
    Place,
    as_dict,
    column_map,
    json_object,
    on_off,
    pair,
    prices,
    scale,
)
from judgesheet.commands.terminal import say, say_command, say_json, say_lines, say_parts
from judgesheet.sheet import FORMATS, RENDERERS

if TYPE_CHECKING:
    from judgesheet.collect.collect import Progress
    from judgesheet.measuring.parsing import Trial

Command = TypeVar("Command", bound=Callable[..., Any])
INCOMPLETE = 5  # scripts tell it from a fault (1) and from wrong use (2)
INTERRUPTED = 130  # as a shell has it: 128 and the number of SIGINT
MARKS = {"good": "✓", "bad": "✗", "unknown": "?", "neutral": "·"}


@contextmanager
def _complaints_in_one_line() -> Iterator[None]:
    """What click says of an option that it cannot use quotes what was given."""
    try:
        yield
    except click.ClickException as error:
        error.message = complaint(error.message)  # type: ignore[misc]  # final for subclasses
        raise


class Commands(click.Group):
    """A group that turns our own failures into one sentence and an exit code, in one place."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The options before a command."""
        with _complaints_in_one_line():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; JudgesheetError exits 1, 2 or 5, Ctrl-C and SIGTERM 130, a bug 1."""
        # Batch systems end a job with SIGTERM: what has arrived is saved as after Ctrl-C. Python
        # takes signals in the main thread alone.
        if current_thread() is main_thread():
            signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
        try:
            with _complaints_in_one_line(), one_command():
                return super().invoke(ctx)
        # Click prints these itself.
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except JudgesheetError as error:
            say(complaint(f"judgesheet: {error}"), err=True)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            say("judgesheet: interrupted; the same command resumes the run", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            # The reader of our output closed the pipe (`| head`): stop quietly, as other tools do.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(1)
        except OSError as error:
            what = f"{error.filename}: " if error.filename else ""
            say(f"judgesheet: {what}{error.strerror or error}", err=True)
            ctx.exit(1)
        except Exception as error:
            from judgesheet.commands.crash_report import lines

            for line in lines(error):
                say(line, err=True)
            ctx.exit(1)


def _say_version(ctx: click.Context, _option: click.Parameter, is_asked: bool) -> None:
    """Looked up only where it is asked for: an installed package reads its metadata for it."""
    if is_asked:
        say(f"judgesheet, version {judgesheet.__version__}")
        ctx.exit()


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False,
              callback=_say_version, help="Show the version and exit.")  # fmt: skip
def main() -> None:
    """Measure an LLM judge before anyone trusts it.

    A judge is asked the same questions in orders that should make no difference. Its replies give a
    datasheet: every number with its interval, as JSON, HTML and PDF.
    """


# -- options that several commands take ------------------------------------------------------------

option = click.option
_PATH = Place(path_type=Path)
_EXISTING = Place(path_type=Path, exists=True)
_MODEL = (
    "openai/NAME, anthropic/NAME or another provider's (docs/judges.md), openai-compatible/NAME "
    "(with --base-url), local/smollm2-135m, local/FILE.gguf, sim/NAME?key=value, "
    "python/module:function, deepeval/GEval or another framework's judge (docs/frameworks.md)."
)
_POLICIES = "a TOML file, or a shipped one (`judgesheet policy list`)."


def _axis_files(name: str, said: str) -> Callable[[Command], Command]:
    axis_file = pair(f"--{name}", "AXIS=FILE", "my_axis=mine.j2", Path)
    return option(f"--{name}", f"{name}s", multiple=True, type=axis_file, callback=as_dict,
                  metavar="AXIS=FILE", help=said)  # fmt: skip


def _choice(name: str, *words: str, **more: Any) -> Callable[[Command], Command]:
    return option(name, type=click.Choice(words), **more)


_JUDGE = option("--model", required=True, metavar="PROVIDER/NAME", help=_MODEL)
_PROMPT = _axis_files("prompt", "Your own prompt template.")
_SEED = option("--seed", type=click.IntRange(0), default=0)
_TEMPERATURE = option("--temperature", type=Finite(0, 5), default=0.0)
_TOKENS = option("--max-tokens", type=click.IntRange(1), help="Reply budget. [1024 text, 32 json]")
_REPLY = _choice(
    "--reply", "auto", "text", "json",
    help="Reply format; auto: json where only that is kept to. [text; json for local/ and sim/]",
)  # fmt: skip
_BASE_URL = option("--base-url", help="Address of an OpenAI-compatible server.")
_KEY = option("--api-key-env", metavar="NAME", help="Environment variable with the key.")
_AUTH = option(
    "--auth",
    metavar="MODULE:FACTORY",
    help="Your own function that makes an httpx.Auth or a transport (docs/corporate.md).",
)
_POLICY = option("--policy", metavar="FILE|NAME", help=f"Limits to hold the judge to: {_POLICIES}")
_UNTIL = option(
    "--until-decided",
    metavar="FILE|NAME",
    help="Ask no more than it takes to prove or to break the limits of this policy.",
)
_NO_PDF = option("--no-pdf", "pdf", is_flag=True, flag_value=False, default=True,
                 show_default=False, help="Write no PDF, which takes seconds.")  # fmt: skip
_NO_CASES = option("--no-cases", "cases", is_flag=True, flag_value=False, default=True,
                   show_default=False, help="Write no page with all replies.")  # fmt: skip
_FRESH = option("--fresh", is_flag=True, help="Start over; an old run is kept aside.")
_PAPER = _choice("--paper", "a4", "letter", default="a4")
_JSON = option("--json", "as_json", is_flag=True, help="Print one JSON document.")

_WHAT_TO_ASK = (
    _JUDGE,
    option("--axis", "axes", multiple=True, help="Axis to probe; repeatable. [all]"),
    _choice("--profile", *PROFILES, default="quick",
            help="How much to ask; see `judgesheet plan`."),
    option("--stimuli", type=_PATH, help="Your own stimuli (JSONL file, or a folder)."),
    _PROMPT,
    _axis_files("parser", "Your own parser of the replies. [FILE.toml beside --prompt, if any]"),
    _SEED,
    option("--repeats", type=click.IntRange(1, 100),
           help="Reads of a repeated cell. [set by axis and profile: 2, or 1 in quick]"),
    option("--design", "sequences", type=click.Choice(["cyclic", "williams"]), default="cyclic",
           help="Balanced orders: the papers' rotations, or balanced for neighbours too."),
    _TEMPERATURE,
    option("--sweep", metavar="NAME=V,V,…",
           help="Ask all of it under several values of a request parameter, on one sheet."),
    _TOKENS,
    _REPLY,
    _choice("--logprobs", "on", "off", "auto", callback=on_off, is_flag=False, flag_value="on",
            help="Also read the probabilities of all scores; auto asks once. [off; on for local/]"),
)  # fmt: skip

_HOW_TO_ASK = (
    _BASE_URL,
    _KEY,
    _AUTH,
    option("--extra-body", metavar="JSON", type=json_object, default="{}", show_default=False,
           help="Merged into every request."),
    option("--timeout", "timeout_s", type=Finite(0.1), default=120.0, help="Seconds per call."),
    option("--concurrency", type=click.IntRange(1, 4096), default=64,
           help="Calls in flight at most; fewer where more bring nothing."),
    option("--rpm", type=Finite(0, min_open=True),
           help="Requests in any minute. [what the endpoint's headers tell]"),
    option("--tpm", type=Finite(0, min_open=True),
           help="Tokens in any minute, prompts and replies. [likewise]"),
    option("--rate", type=Finite(0, min_open=True), help="Requests per second."),
    option("--max-calls", type=click.IntRange(1),
           help="Stop after this many requests in this session."),
    option("--max-cost", type=Finite(0), help="Stop at this cost of the run, US dollars."),
    option("--max-total-tokens", type=click.IntRange(0),
           help="Stop at this many tokens of the run, prompts and replies."),
    option("--spill", type=_PATH, metavar="DIR",
           help="Where replies go that the disk of the run cannot take. [temporary folder]"),
    option("--prices", metavar="IN,OUT", type=prices, help="US dollars per million tokens."),
    option("--quiet", is_flag=True, help="No progress."),
    _JSON,
)  # fmt: skip


_WHERE_FROM = (
    _choice("--engine", "local", "ray", default="local",
            help="Ask from this process, or from the workers of a Ray cluster."),
    option("--engine-address", metavar="ADDRESS",
           help="The Ray cluster, HOST:PORT or auto. [one on this machine, for this probe]"),
)  # fmt: skip


def _options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for add in reversed(options):
            command = add(command)
        return command

    return decorate


asking = _options(*_WHAT_TO_ASK, *_HOW_TO_ASK, *_WHERE_FROM)
"""Gives a command the options that `probe` and `plan` share."""
deciding = _options(_JUDGE, _PROMPT, _SEED, _TEMPERATURE, _TOKENS, _REPLY, *_HOW_TO_ASK)
"""Gives a command the options of `asking` that do not choose what is measured."""


# -- commands --------------------------------------------------------------------------------------


@main.command()
@asking
@option("--out", type=_PATH, help="Run directory. [runs/MODEL]")
@_FRESH
@option("--fresh-if-changed", is_flag=True,
        help="Start over if plan, judge or served version changed (asks once more).")  # fmt: skip
@option("--retry-failed", is_flag=True, help="Ask again what the run settled as failed.")
@option("--give-up", is_flag=True, help="Settle as failed what the run tried in vain.")
@_POLICY
@_UNTIL
@_NO_PDF
@_NO_CASES
@option(
    "--template",
    "templates",
    multiple=True,
    metavar="FILE|NAME",
    help="Also write a page of your own, NAME.html.jinja, or a shipped one; repeatable.",
)
def probe(quiet: bool, as_json: bool, **options: Any) -> None:
    """Measure a judge and write its datasheet. Resumes an unfinished run.

    Exits 5 if the run is not complete: its budget is spent, calls failed, or the judge stopped.
    """
    from judgesheet.commands.progress import display

    with display(quiet=quiet) as show:
        run = judgesheet.probe(on_progress=show, tell=_note, **options)
    _report(run, as_json=as_json)
    if not run.datasheet.run.get("complete"):
        _end_incomplete("The run is", run.progress, "; --give-up leaves out what failed")


@main.command()
@asking
@option("--out", type=_PATH, help="Write every call to this plan.jsonl.")
@option("--export-batch", "batch", type=_PATH,
        help="Write the calls as requests for a batch API (FILE, FILE-2, …).")  # fmt: skip
@_choice("--batch-format", "openai", "anthropic", "vllm",
         help="Format and limits of these files. [what the provider takes]")  # fmt: skip
@option("--resume", type=_PATH, metavar="DIR", help="Export only what this run has no answer to.")
@option(
    "--target",
    metavar="KEY±WIDTH",
    help="Show the designs in which a figure reaches this half-width; KEY+-WIDTH, too.",
)
@_POLICY
@_UNTIL
def plan(
    policy: str | None,
    until_decided: str | None,
    target: str | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Show what a probe would ask, cost and be able to prove. No call is made."""
    from judgesheet.decide import policy as policies
    from judgesheet.forecast import rehearsal
    from judgesheet.planning import plan as planning

    del quiet  # there is no progress to keep quiet about
    if target is not None:
        _say_designs(target, as_json=as_json, **options)
        return
    policy = until_decided if policy is None else policy
    if policy is not None:
        policies.load(policy)  # so that a refusal comes before anything is written
    planned, budgets = judgesheet.plan(tell=lambda text: say(text, err=True), **options)
    budget = planned, budgets, options["prices"]
    outlook = policy and judgesheet.foresee(planned, policy, options["model"])
    if as_json:
        say_json(_json({**planning.as_record(*budget), "outlook": outlook and asdict(outlook)}))
        return
    say_lines(planning.as_text(*budget))
    if outlook:
        say_lines(rehearsal.as_text(outlook))


def _say_designs(
    target: str, *, as_json: bool, out: Path | None, batch: Path | None, resume: Path | None,
    **options: Any,
) -> None:  # fmt: skip
    """What reaches a half-width, instead of what one plan has."""
    from judgesheet.forecast import sizing

    if (out, batch, resume) != (None, None, None):
        raise click.UsageError("--target compares designs and writes no plan")
    del options["batch_format"], options["profile"], options["axes"]
    wanted, found = judgesheet.designs(target=target, **options)
    if as_json:
        say_json(_json([{"key": str(wanted.key), **asdict(one)} for one in found]))
    else:
        say_lines(sizing.as_text(wanted, found))


_reading_a_log = _options(
    option("--from", "form", metavar="FORMAT",
           help="inspect, promptfoo, deepeval, langfuse, …, or csv, jsonl, json, parquet."),
    option("--map", "columns", multiple=True, callback=column_map, metavar="FIELD=COLUMN,…",
           help="Which column of a log holds what; repeatable. docs/ingest.md lists the fields."),
    option("--where", multiple=True, type=pair("--where", "COLUMN=VALUE", "judge=NAME", str),
           callback=as_dict, metavar="COLUMN=VALUE", help="Only these rows; repeatable."),
    option("--scale", metavar="LOW:HIGH[:STEP]|WORST,…,BEST", help="All scores there are."),
    option("--round", "nearest", is_flag=True, help="Take the nearest point of --scale."),
)  # fmt: skip


@main.command()
@click.argument("directory", type=_PATH, default=".")
@_choice("--kind", "scores", "pairs", default="scores",
         help="Whether your judge grades single responses or compares two.")  # fmt: skip
@option("--force", is_flag=True, help="Also write over files that are there.")
@option("--check", is_flag=True, help="Write nothing; say what is wrong with the files.")
def init(directory: Path, kind: str, force: bool, check: bool) -> None:
    """Put a judge's files into a repository: stimuli, prompt, parser, policy, jobs for CI.

    They are examples to fill in; those that are there are left alone. `--check` says what is still
    to be done, with file and line, and exits 1 if there is anything.
    """
    if check:
        faults = judgesheet.check_init(directory)
        for fault in faults:
            say(str(fault))
        say(f"{len(faults)} to mend" if faults else "ready", err=True)
        raise SystemExit(bool(faults))
    for placed in judgesheet.init(directory, kind=kind, force=force):
        say(f"{'wrote' if placed.written else 'kept '} {placed.path}")
    say("fill them in; `judgesheet init --check` says what is left to do", err=True)


@main.command()
@click.argument("file", type=_EXISTING, nargs=-1, required=True)
@_reading_a_log
@option("--out", type=_PATH, required=True, help="Run directory to fill.")
@_POLICY
@_NO_PDF
@_NO_CASES
@_JSON
def ingest(as_json: bool, **options: Any) -> None:
    """Make a run and its datasheet from recorded judgments, results of a batch, or another log.

    Without --from and --map, FILE holds recorded judgments or results of a batch, which may lie in
    several files, those of errors among them (docs/batches.md). What another log allows, and the
    command to read it, is told by `judgesheet inspect-log FILE`.
    """
    run = judgesheet.ingest(tell=_note, **options)
    _report(run, as_json=as_json)
    told = run.datasheet.run
    if not told.get("complete"):
        missing = told["planned"] - told["settled"]
        say(
            f"The run is not complete: {missing:,} of {told['planned']:,} calls have no answer. "
            f"The same `judgesheet plan` with --resume {run.directory} exports them again, "
            f"`judgesheet probe` with its options and --out {run.directory} asks them.",
            err=True,
        )


@main.command("inspect-log")
@click.argument("file", type=_EXISTING)
@_reading_a_log
@_JSON
def inspect_log(as_json: bool, **options: Any) -> None:
    """Show what a log holds, which figures it allows, what is missing, and how to go on.

    FILE is recorded judgments, batch answers, or a log of a tool that `judgesheet ingest` knows, or
    any table. Nothing is written.
    """
    found = judgesheet.inspect_log(**options)
    if as_json:
        say_json(_json(found.as_record()))
        return
    for line in found.as_lines():
        say(line)


@main.command()
@click.argument("directory", type=_EXISTING)
@_axis_files("parser", "Read the stored replies with this parser from now on.")
@_POLICY
@option("--to", multiple=True, type=click.Choice(FORMATS),
        help="Write only this beside the datasheet.json; repeatable. [all]")  # fmt: skip
@_NO_PDF
@_NO_CASES
@_JSON
def measure(as_json: bool, **options: Any) -> None:
    """Recompute a datasheet from its ledger. No call is made."""
    run = judgesheet.measure(**options)
    _report(run, as_json=as_json)
    if not run.datasheet.run.get("complete"):
        say("The run is not complete.", err=True)


@main.command()
@click.argument("candidates", type=_EXISTING)
@option("-k", type=click.IntRange(1, 100), default=7,
        help="Orders of a list; ideally a multiple of the list length.")  # fmt: skip
@option("--early-stop", is_flag=True, help="Leave out calls that cannot change the winner.")
@deciding
@option("--out", type=_PATH, help="Run directory. [runs/consensus-MODEL]")
@_FRESH
def consensus(
    candidates: Path, model: str, out: Path | None, quiet: bool, as_json: bool, **options: Any
) -> None:
    """Decide your own candidate sets independently of their order.

    CANDIDATES is a JSONL file of sets: {"id", "prompt", "candidates": [{"id", "text"}, …]}, or
    {"id", "request", "u", "v"} for pairs. Lists are judged under K orders and aggregated, sets of
    two in both orders with a keyed pass where they disagree. Writes decisions.jsonl and
    summary.json; resumes an unfinished run.
    """
    from judgesheet.commands.progress import display
    from judgesheet.ledger.run_directory import default_directory

    out = out or default_directory(model, "consensus-")
    with display(quiet=quiet) as show:
        done = judgesheet.consensus(candidates, model, out, on_progress=show, tell=_note, **options)
    if as_json:
        decisions = [decision.as_record() for decision in done.decisions]
        say_json(_json({"summary": asdict(done.summary), "decisions": decisions}))
    else:
        say_lines(done.summary.as_text())
        say(out / "decisions.jsonl")
    if done.summary.incomplete:
        _end_incomplete(f"{done.summary.incomplete} sets are", done.progress)


@main.command()
@click.argument("source", type=_EXISTING)
@option("--to", "formats", multiple=True, required=True, type=click.Choice(list(RENDERERS)),
        help="Format; repeatable.")  # fmt: skip
@option("--out", type=_PATH, help="Folder to write to. [beside the source]")
@option(
    "--template", metavar="FILE|NAME", help="A page of your own, NAME.html.jinja, or a shipped one."
)
@_PAPER
def render(**options: Any) -> None:
    """Write a datasheet (run directory or datasheet.json) in other formats."""
    for path in judgesheet.render(**options):
        say(path)


@main.command()
@click.argument("source", type=_EXISTING)
@option("--policy", required=True, metavar="FILE|NAME", help=f"The limits: {_POLICIES}")
@option("--junit", type=_PATH, help="Write the verdicts as JUnit XML.")
@option("--baseline", type=_EXISTING, help="An earlier run or datasheet not to fall behind.")
@option("--force", is_flag=True, help="Use a baseline that answered other questions.")
@_JSON
def gate(as_json: bool, **options: Any) -> None:
    """Check a datasheet (run directory or datasheet.json) against the limits of a policy.

    Exits 0 if every limit is proven, 3 if one is broken, 4 if one is not proven.
    """
    from judgesheet.decide import EXIT_CODES
    from judgesheet.sheet import verdicts

    sheet = judgesheet.gate(**options)
    assert sheet.decision is not None  # noqa: S101  (a gate decides)
    code = EXIT_CODES[sheet.decision.verdict]
    if as_json:
        say_json(verdicts.as_json(sheet, code))
    else:
        say_lines(verdicts.as_text(sheet))
    if os.environ.get("GITHUB_ACTIONS"):
        # The runner reads both streams; standard output stays one document under --json.
        for line in verdicts.annotations(sheet):
            say_command(line, err=as_json)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        _append(Path(summary), verdicts.as_markdown(sheet) + "\n")
    raise SystemExit(code)


def _append(path: Path, text: str) -> None:
    """Append to a file of the CI system; if that fails, the verdict still counts."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        say(f"judgesheet: the summary {path} was not written: {error.strerror}", err=True)


@main.group("policy")
def policy_commands() -> None:
    """List, show and suggest policies, the limits that `gate` checks."""


@policy_commands.command("list")
def policy_list() -> None:
    """List the shipped policies."""
    from judgesheet.decide import policy as policies

    for name in policies.shipped():
        say(f"{name}  {policies.load(name).title}")


@policy_commands.command("show")
@click.argument("name")
def policy_show(name: str) -> None:
    """Print a shipped policy with its reasons, to start your own from."""
    from judgesheet.decide.policy import text_of_shipped

    say_lines(text_of_shipped(name).rstrip("\n"))


@policy_commands.command("suggest")
@click.argument("source", type=_EXISTING)
@option("--out", type=_PATH, help="File to write. [standard output]")
def policy_suggest(source: Path, out: Path | None) -> None:
    """Suggest a policy for later runs from a finished one (directory or datasheet.json).

    Each limit is a shipped policy's where the run keeps that, else the nearest that it keeps; the
    reason says which. It proves nothing about the run that it was suggested from.
    """
    from judgesheet.decide.suggest import PROVES_NOTHING

    text = judgesheet.suggest_policy(source, out)
    if out is None:
        say_lines(text.rstrip("\n"))
    else:
        say(out)
    _note(PROVES_NOTHING)


@main.command()
@click.argument("old", type=_EXISTING)
@click.argument("new", type=_EXISTING, nargs=-1, required=True)
@option("--to", "form", type=click.Choice(["md", "html", "json"]), default="md", help="Format.")
@option("--out", type=_PATH, help="File to write. [standard output]")
@option("--force", is_flag=True, help="Compare sheets that answer different questions.")
@option("--json", "as_json", is_flag=True, help="The same as --to json.")
def compare(
    old: Path, new: tuple[Path, ...], form: str, out: Path | None, force: bool, as_json: bool
) -> None:
    """Show the differences of other datasheets from the first, with intervals and verdicts.

    Each is a run directory or a datasheet.json; two run directories on the same stimuli are
    compared stimulus by stimulus.
    """
    from judgesheet.sheet import comparison

    changes = judgesheet.compare(old, *new, force=force)
    text = comparison.render(changes, "json" if as_json else form)
    if out is None:
        (say_json if as_json or form == "json" else say_lines)(text)
    else:
        write_whole(out, text.encode())
        say(out)


@main.command()
@click.argument("card", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("source", type=_EXISTING, metavar="DATASHEET")
@option("--metadata", is_flag=True, help="Also put the model-index into the card's front matter.")
@_PAPER
def attach(**options: Any) -> None:
    """Insert or replace the judge's section in a model card, and put the PDF beside it.

    DATASHEET is a run directory or a datasheet.json. Everything outside the markers of the section
    stays the same, byte for byte.
    """
    for path in judgesheet.attach(**options):
        say(path)


@main.command()
@click.argument("directory", type=_EXISTING)
@click.argument("key", required=False)
@option("--axis", help="Only this axis.")
@option("--stimulus", metavar="ID", help="Only calls on this stimulus.")
@option("--cell", multiple=True, type=pair("--cell", "K=V", "arm=fixed", str), callback=as_dict,
        metavar="K=V", help="Only calls in these cells; repeatable.")  # fmt: skip
@option("--outcome", help="Only cases of which a call ended so: ok, unreadable, refused, timeout.")
@option("--verdict", help="Only cases in which this was read.")
@option("--limit", type=click.IntRange(1), default=5, help="Cases of a figure, or of each group.")
@option("--html", type=_PATH, help="Also write a page to browse every call and figure.")
@_JSON
def cases(limit: int, html: Path | None, as_json: bool, **options: Any) -> None:
    """Show the replies behind a figure of a run, the worst first. No call is made.

    KEY is that of an estimate, such as axis.name[dim=value]. Without a KEY: the calls that gave no
    verdict, by the shape of what came instead, and what would read them.
    """
    from judgesheet.sheet import cases as shown

    book = judgesheet.cases(html=html, **options)
    if as_json:
        say_json(shown.as_json(book, limit))
        return
    for line in shown.as_lines(book, limit, _width(160)):
        say_parts(line)
    if html is not None:
        say(html)


@main.command()
@click.argument("key", required=False)
def explain(key: str | None) -> None:
    """Explain an estimate: its formula, its source and how to read it.

    KEY is axis.name, or only the name if a single axis has it; without a KEY all are listed.
    """
    say_lines(judgesheet.explain(key))


@main.command()
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False),
                required=False)  # fmt: skip
@option("--save", type=_PATH, metavar="NEW", help="Make a run here of all that can be read of it.")
@option("--model", metavar="PROVIDER/NAME", help="Also ask this endpoint.")
@_BASE_URL
@_KEY
@_AUTH
@_JSON
def doctor(as_json: bool, **options: Any) -> None:
    """Check this machine, and an endpoint if --model is given; or verify a run DIRECTORY.

    A run is whole if its ledger is undamaged, every id follows from its question, every call is
    settled once, and plan, sheet and table are those of the ledger. Nothing in it is changed.
    """
    checks = judgesheet.doctor(**options)
    if as_json:
        say_json(_json([asdict(check) for check in checks]))
    else:
        for check in checks:
            say(f"{check.status:8} {check.what}: {check.detail}")
    if any(check.status == "failed" for check in checks):
        raise SystemExit(1)


@main.group()
def stimuli() -> None:
    """List, show, check and import stimuli."""


@stimuli.command("list")
def stimuli_list() -> None:
    """List the built-in pools with their digests."""
    from judgesheet.planning.stimuli import pool_digest

    for axis, pool in judgesheet.list_stimuli().items():
        say(f"{axis}  {len(pool)} stimuli  sha256 {pool_digest(pool)}")


@stimuli.command("show")
@click.argument("identifier", metavar="ID")
@option("--axis", help="Axis of the stimulus. [each that has stimuli]")
@option("--stimuli", type=_EXISTING, help="Your own stimuli, not the built-in ones.")
def stimuli_show(**options: Any) -> None:
    """Print one stimulus as JSON."""
    stimulus = judgesheet.show_stimulus(**options)
    say_json(_json(dict(stimulus.fields), ensure_ascii=False))


@stimuli.command("check")
@click.argument("path", type=_EXISTING, required=False)
@option("--axis", help="Axis of the stimuli. [as the first line tells; built-in: all]")
@option("--parser", type=_EXISTING, help="Also try the examples of this parser.")
def stimuli_check(path: Path | None, axis: str | None, parser: Path | None) -> None:
    """Check stimuli (a file, or the built-in pools): schema, lengths, duplicates, leaks."""
    checked = judgesheet.check_stimuli(path, axis, parser)
    misread = 0 if parser is None else _report_trials(parser.name, checked.trials)
    for problem in checked.problems:
        say(f"{'error' if problem.grave else 'warning'}: {problem.where}: {problem.what}")
    grave = sum(problem.grave for problem in checked.problems)
    warnings = len(checked.problems) - grave
    say(f"stimuli: {checked.stimuli}, errors: {grave}, warnings: {warnings}")
    if grave or misread:
        raise SystemExit(1)


def _report_trials(file: str, trials: "list[Trial]") -> int:
    """Print how each example of a parser is read; how many are read otherwise than they say."""
    from judgesheet.measuring.parsing import expectation, said

    for number, trial in enumerate(trials, start=1):
        fault = "" if trial.passed else f", not {expectation(trial.example)}"
        mark = "ok" if trial.passed else "error"
        say(f"{mark}: {file}: example {number}: {said(trial.reading)}{fault}")
    if not trials:
        say(f"warning: {file}: it has no [[example]] to try")
    return sum(not trial.passed for trial in trials)


@stimuli.command("import")
@click.argument("form", metavar="FORMAT")
@click.argument("files", type=_EXISTING, nargs=-1, required=True)
@option("--out", type=_PATH, required=True, help="JSONL file to write.")
@option("--axis", help="Axis to write for. [the format's own; needed for a table]")
@option("--criterion", help="Grade this criterion only; needed where one must be chosen.")
@_choice("--raters", "expert", "crowd", default="expert",
         help="Whose ratings, where a data set has both.")  # fmt: skip
@option("--system", "systems", multiple=True, help="Keep this system only; repeatable.")
@option("--scale", metavar="LOW:HIGH", type=scale,
        help="Refuse ratings outside. [the data set's own]")  # fmt: skip
@option("--turn", type=click.IntRange(1, 2), default=1, help="Turn of an MT-Bench dialogue.")
@option("--map", "columns", multiple=True, callback=as_dict, metavar="FIELD=COLUMN",
        type=pair("--map", "FIELD=COLUMN", "prompt=question", str),
        help="Which column of a table holds what; repeatable.")  # fmt: skip
@option("--rubric", type=_EXISTING, help='JSON: {"criterion": ["worst", …, "best"]}.')
@_JSON
def stimuli_import(as_json: bool, **options: Any) -> None:
    """Write stimuli from a public data set, or from a table.

    FORMAT is hanna, summeval, prometheus, mt-bench, judgebench or rewardbench2; or jsonl, csv or
    parquet for a table of your own, with --axis and --map prompt=COLUMN --map text=COLUMN and so on
    (docs/stimuli.md lists the fields). Files may be gzipped. The output is written completely or
    not at all.
    """
    done = judgesheet.import_stimuli(**options)
    if as_json:
        say_json(_json(done.as_record()))
    else:
        say_lines(done.as_text())


# -- what is printed -------------------------------------------------------------------------------


def _json(document: Any, *, ensure_ascii: bool = True) -> str:
    return json.dumps(document, indent=2, ensure_ascii=ensure_ascii)


def _report(run: "judgesheet.Run", *, as_json: bool) -> None:
    """The result on standard output: the datasheet itself, or where it is and what it says.

    What the run ran into is told on standard error.
    """
    from judgesheet.base.datasheet import to_json
    from judgesheet.sheet.page.identity import failures, refusals
    from judgesheet.sheet.verdicts import as_text

    sheet = run.datasheet
    for trouble in (
        *refusals(sheet.run),
        *(f"failed attempts: {kind}" for kind in failures(sheet.run)),
    ):
        say(trouble, err=True)
    if as_json:
        say_json(to_json(run.datasheet))
        return
    for axis in run.datasheet.axes:
        say(f"{axis.title}: {axis.answered} of {axis.planned} calls read")
        for finding in sorted(axis.findings, key=lambda finding: finding.rank):
            told = f"not usable ({finding.void}): {finding.text}" if finding.void else finding.text
            say_lines(_wrapped("∅" if finding.void else MARKS[finding.tone], told))
    for advice in run.datasheet.recommendations:
        if not advice.void:
            say_lines(_wrapped("→", advice.text))
    if run.datasheet.decision is not None:
        say_lines(as_text(run.datasheet))
    for name in ("datasheet.pdf", "datasheet.html", "datasheet.json"):
        if (run.directory / name).is_file():
            say(run.directory / name)


def _note(sentence: str) -> None:
    say(f"note: {sentence}", err=True)


def _end_incomplete(what: str, progress: "Progress | None", otherwise: str = "") -> NoReturn:
    """Say how to go on with what is not complete; `otherwise` is told where calls failed."""
    spent = progress.stopped if progress is not None else None
    # A budget of the run is spent for good; one of the session begins anew by itself.
    of_run = spent if spent in {"max_cost", "max_total_tokens"} else None
    how = f"with a higher --{of_run.replace('_', '-')} " if of_run else ""
    failed = otherwise if progress is not None and progress.failed else ""
    say(f"{what} not complete; {how}the same command goes on{failed}.", err=True)
    raise SystemExit(INCOMPLETE)


def _width(most: int) -> int:
    """Columns of the terminal, up to `most`; 100 where there is none."""
    return max(40, min(shutil.get_terminal_size((100, 24)).columns, most))


def _wrapped(mark: str, text: str) -> str:
    """A line for a terminal of any width; whole where a program reads it."""
    text = one_line(text)
    if not sys.stdout.isatty():
        return f"  {mark} {text}"
    return textwrap.fill(text, _width(100), initial_indent=f"  {mark} ", subsequent_indent="    ")

"""Options that several commands take."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from judgesheet.axes import axis_names
from judgesheet.axis import PROFILES
from judgesheet.base import defaults
from judgesheet.commands.option_types import (
    Finite,
    Place,
    as_dict,
    axis_file,
    column_map,
    json_object,
    on_off,
    pair,
    prices,
    word_pair,
)

Command = TypeVar("Command", bound=Callable[..., Any])

option = click.option
PATH = Place(path_type=Path)
EXISTING = Place(path_type=Path, exists=True)
POLICIES = "a TOML file, or a shipped one (`judgesheet policy list`)."
_MODELS = (
    "openai/NAME, anthropic/NAME or another provider's (docs/judges.md), openai-compatible/NAME "
    "(with --base-url), local/smollm2-135m, local/FILE.gguf, sim/NAME?key=value, "
    "python/module:function (a judge of a framework: docs/frameworks.md)."
)


def choice(name: str, *words: str, **more: Any) -> Callable[[Command], Command]:
    """An option that takes one of a few words."""
    return option(name, type=click.Choice(words), **more)


def axis_files(name: str, meaning: str) -> Callable[[Command], Command]:
    """A repeatable option that names a file for an axis."""
    return option(f"--{name}", f"{name}s", multiple=True, type=axis_file(name), callback=as_dict,
                  metavar="[AXIS=]FILE", help=meaning)  # fmt: skip


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """One decorator of several options, in the order of `--help`."""

    def decorate(command: Command) -> Command:
        for add in reversed(options):
            command = add(command)
        return command

    return decorate


BASE_URL = option("--base-url", help="Address of an OpenAI-compatible server.")
KEY = option("--api-key-env", metavar="NAME", help="Environment variable with the key.")
AUTH = option(
    "--auth",
    metavar="MODULE:FACTORY",
    help="Your own function that makes an httpx.Auth or a transport (docs/corporate.md).",
)
POLICY = option(
    "--policy", metavar="FILE|NAME", help=f"Limits to check the judge against: {POLICIES}"
)
UNTIL = option(
    "--until-decided",
    metavar="FILE|NAME",
    help="Stop asking once every limit of this policy is proven, or one is broken.",
)
NO_PDF = option("--no-pdf", "pdf", is_flag=True, flag_value=False, default=True,
                show_default=False, help="Skip the PDF, which takes seconds.")  # fmt: skip
NO_CASES = option("--no-cases", "cases", is_flag=True, flag_value=False, default=True,
                  show_default=False, help="Skip the page with all replies.")  # fmt: skip
FRESH = option(
    "--fresh", is_flag=True, help="Start over; an earlier run there is renamed to DIR.old-N."
)
ACROSS = option("--across-prompts", is_flag=True,
                help="Compare two prompts or parsers on the same stimuli.")  # fmt: skip
PAPER = choice("--paper", "a4", "letter", default=defaults.PAPER, help="Page size of the PDF.")
FORCE = option("--force", is_flag=True, help="Overwrite an existing file.")
JSON = option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def document(*formats: str) -> Callable[[Command], Command]:
    """The options of a command that gives a page, for `reporting.say_document`."""
    return together(
        option("--to", "formats", multiple=True, type=click.Choice(formats),
               help="Format; repeatable with --out. [md]"),
        option("--out", type=PATH, help="File to write. [standard output]"),
        PAPER,
        JSON,
    )  # fmt: skip


_JUDGE = option("--model", required=True, metavar="PROVIDER/NAME", help=_MODELS)
_PROMPT = axis_files("prompt", "Your own prompt template.")
_SEED = option("--seed", type=click.IntRange(0), default=defaults.SEED,
               help="Seed of every random choice.")  # fmt: skip
_TEMPERATURE = option("--temperature", type=Finite(0, 5), default=defaults.TEMPERATURE,
                      help="Sampling temperature.")  # fmt: skip
_TOKENS = option("--max-tokens", type=click.IntRange(1),
                 help="Maximum tokens per reply. [1024 text, 32 json]")  # fmt: skip
_REPLY = choice(
    "--reply", "auto", "text", "json",
    help="Reply format; auto: json if only that form works. [text; json for local/, sim/]",
)  # fmt: skip

_WHAT_TO_ASK = (
    _JUDGE,
    option("--axis", "axes", multiple=True, metavar="AXIS",
           help=f"Axis to probe; repeatable: {', '.join(axis_names())}. [all]"),
    choice("--profile", *PROFILES, default=defaults.PROFILE,
           help="How much to ask; `judgesheet plan` says how many calls."),
    option("--stimuli", type=EXISTING, help="Your own stimuli (JSONL file, or a folder)."),
    _PROMPT,
    axis_files("parser", "Your own parser of the replies. [FILE.toml beside --prompt, if any]"),
    _SEED,
    option("--repeats", type=click.IntRange(1, 100),
           help="How often a repeated question is asked. [by axis and profile: 2, or 1 in quick]"),
    option("--sequences", "--design", type=click.Choice(["cyclic", "williams"]),
           default=defaults.SEQUENCES,
           help="Balanced orders: rotations, as in the papers, or Williams designs."),
    _TEMPERATURE,
    option("--sweep", metavar="NAME=V,V,…",
           help="Probe with each value of a request parameter, each in its own folder."),
    _TOKENS,
    option("--retry-unreadable", type=click.IntRange(0, 10), metavar="N", default=0,
           help="Ask again up to N times where a reply cannot be read; the sheet has both rates."),
    _REPLY,
    choice("--logprobs", "on", "off", "auto", callback=on_off, is_flag=False, flag_value="on",
           help="Also read the probabilities of all scores; auto asks once. [off; on for local/]"),
)  # fmt: skip

_HOW_TO_ASK = (
    BASE_URL,
    KEY,
    AUTH,
    option("--extra-body", metavar="JSON", type=json_object, default="{}", show_default=False,
           help="Merged into every request."),
    option("--timeout", "timeout_s", type=Finite(0.1), default=defaults.TIMEOUT_S,
           help="Seconds per call."),
    option("--concurrency", type=click.IntRange(1, 4096), default=defaults.CONCURRENCY,
           help="Maximum concurrent calls (adaptive)."),
    option("--patience", "patience_s", type=Finite(0), default=defaults.PATIENCE_S,
           help="Seconds to wait for an endpoint that is down before the run stops."),
    option("--rpm", type=Finite(0, min_open=True),
           help="Requests per minute."),
    option("--tpm", type=Finite(0, min_open=True),
           help="Tokens per minute, prompts and replies."),
    option("--rate", type=Finite(0, min_open=True), help="Requests per second."),
    option("--max-calls", type=click.IntRange(1),
           help="Stop after this many requests in this session."),
    option("--max-cost", type=Finite(0), help="Stop at this cost of the run, US dollars."),
    option("--max-total-tokens", type=click.IntRange(0),
           help="Stop at this many tokens of the run, prompts and replies."),
    option("--spill", type=PATH, metavar="DIR",
           help="Folder for replies if the disk of the run is full. [temporary folder]"),
    option("--prices", metavar="IN,OUT", type=prices, help="US dollars per million tokens."),
    option("--quiet", is_flag=True, help="Show no progress."),
    JSON,
)  # fmt: skip

_WHERE_FROM = (
    choice("--engine", "local", "ray", default=defaults.ENGINE,
           help="Ask from this process, or from the workers of a Ray cluster."),
    option("--engine-address", metavar="ADDRESS",
           help="The Ray cluster, HOST:PORT or auto. [one on this machine, for this probe]"),
)  # fmt: skip

asking = together(*_WHAT_TO_ASK, *_HOW_TO_ASK, *_WHERE_FROM)
"""The options that `probe` and `plan` share."""
deciding = together(_JUDGE, _PROMPT, _SEED, _TEMPERATURE, _TOKENS, _REPLY, *_HOW_TO_ASK)
"""Those of `asking` that do not choose what is measured."""
VERDICT = option(
    "--verdict", "verdicts", multiple=True, type=word_pair, callback=as_dict,
    metavar="WORD=VERDICT",
    help="What a word means: 1, 2 (the slot), tie, invalid or a score; repeatable.",
)  # fmt: skip
reading_a_log = together(
    option("--from", "form", metavar="FORMAT",
           help="inspect, promptfoo, deepeval, langfuse, …, or csv, jsonl, json, parquet."),
    option("--map", "columns", multiple=True, callback=column_map, metavar="FIELD=COLUMN,…",
           help="Which column of a log holds what; repeatable. docs/ingest.md lists the fields."),
    option("--where", multiple=True, type=pair("--where", "COLUMN=VALUE", "judge=NAME", str),
           callback=as_dict, metavar="COLUMN=VALUE", help="Only these rows; repeatable."),
    option("--scale", metavar="LOW:HIGH[:STEP]|WORST,…,BEST", help="All possible scores."),
    option("--round", "nearest", is_flag=True, help="Round scores to --scale."),
    option("--human-scale", metavar="LOW:HIGH[:STEP]|WORST,…,BEST",
           help="Scale of human ratings, if different from --scale."),
    VERDICT,
    option("--unreadable", multiple=True, metavar="VALUE",
           help="A verdict that counts as an unreadable reply; repeatable."),
    option("--ratings", type=EXISTING, metavar="FILE",
           help="A second file, with people's ratings; its columns can be mapped, too."),
    option("--on", metavar="COLUMN[=COLUMN]",
           help="The column that says which rows of --ratings belong to which of the log."),
)  # fmt: skip
"""The options that `ingest` and `inspect-log` share."""

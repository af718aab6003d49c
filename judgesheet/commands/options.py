"""Options that several commands take."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import click
from annotated_types import Interval

from judgesheet.axis import PROFILES
from judgesheet.base import defaults
from judgesheet.collect.options import Request
from judgesheet.commands import settings
from judgesheet.commands.option_types import (
    Finite,
    Place,
    as_dict,
    axis_file,
    column_map,
    format_file,
    json_object,
    name_functions,
    on_off,
    pair,
    prices,
    single,
    word_pair,
)

Command = TypeVar("Command", bound=Callable[..., Any])

option = click.option
PATH = Place(path_type=Path)
EXISTING = Place(path_type=Path, exists=True)
POLICIES = "a TOML file, or a shipped one (`judgesheet policy list`)."


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


def of_request(one: Field[Any]) -> Iterator[Callable[[Command], Command]]:
    """The option for a field of a request, made of its declaration; none where it has no name."""
    said = get_args(one.type)[-1]
    flags = said.flags or (f"--{one.name.replace('_', '-')}",)
    if "" in flags:
        return
    known = {"help": said.meaning, "metavar": said.metavar, **_of_type(one.type)}
    if one.default is MISSING and one.default_factory is MISSING:
        known["required"] = True
    elif one.default not in (MISSING, None, ()):
        known["default"] = one.default
    yield option(*flags, one.name, **{**known, **_OF_TEXT.get(one.name, {})})


def _of_type(kind: Any) -> dict[str, Any]:
    """What click is told of a type."""
    first, *more = get_args(kind) or (kind,)
    bounds: Any = more[0] if more and isinstance(more[0], Interval) else None
    if get_origin(kind) is Literal:
        return {"type": click.Choice(get_args(kind))}
    if kind is Path:
        return {"type": PATH}
    if bounds and first is int:
        return {"type": click.IntRange(bounds.ge, bounds.le)}
    if bounds:
        is_open = bounds.gt is not None
        return {"type": Finite(bounds.gt if is_open else bounds.ge, bounds.le, min_open=is_open)}
    is_wrapped = get_origin(kind) is Annotated or NoneType in more
    return _of_type(first) if is_wrapped else {}


_OF_TEXT: Mapping[str, Mapping[str, Any]] = {
    "profile": {"type": click.Choice([*PROFILES])},
    "stimuli": {"type": EXISTING},
    **{
        f"{name}s": {"type": axis_file(name), "multiple": True, "callback": as_dict}
        for name in ("prompt", "parser")
    },
    "axes": {"multiple": True},
    "model": {"multiple": True, "callback": single},
    "logprobs": {"type": click.Choice(["on", "off", "auto"]), "callback": on_off,
                 "is_flag": False, "flag_value": "on"},
    "extra_body": {"type": json_object, "default": "{}", "show_default": False},
    "prices": {"type": prices},
}  # fmt: skip
"""How fields are read whose values are more than a word or a number."""
_REQUEST = {one.name: together(*of_request(one)) for one in fields(Request)}
reached = together(
    *(_REQUEST[name] for name in ("base_url", "api_key_env", "auth", "extra_body", "temperature")),
    option("--max-tokens", type=click.IntRange(1), help="Maximum tokens per reply. [64]"),
)
"""The options of `doctor` that say how a judge is reached and asked."""
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
OWN_FUNCTION = option(
    "--parser", multiple=True, callback=name_functions, expose_value=False,
    metavar="[AXIS=]MODULE:FUNCTION", help="Your function that reads the replies, if one does.",
)  # fmt: skip
FORCE = option("--force", is_flag=True, help="Overwrite an existing file.")
JSON = option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def to_file(*formats: str, meaning: str, **more: Any) -> Callable[[Command], Command]:
    """The repeatable option that names formats, and the file of each."""
    return option("--to", "formats", multiple=True, type=format_file(formats), callback=as_dict,
                  metavar="FORMAT[=FILE]",
                  help=f"{meaning} Repeatable: {', '.join(formats)}.", **more)  # fmt: skip


def document(*formats: str) -> Callable[[Command], Command]:
    """The options of a command that gives a page, for `reporting.say_document`."""
    return together(
        to_file(*formats, meaning="Print it in this format, or write it to a file. [md]"),
        PAPER,
        JSON,
    )  # fmt: skip


VERBOSE = option("--verbose", is_flag=True, help="Print every limit and every effect.")
_QUIET = option("--quiet", is_flag=True, help="Show no progress.")
_WHAT_IS_MEASURED = frozenset({
    *("axes", "profile", "stimuli", "parsers", "repeats", "sequences", "sweep"),
    *("retry_unreadable", "logprobs", "engine", "engine_address"),
})  # fmt: skip
CONFIG = option("--config", type=EXISTING, metavar="FILE", is_eager=True, expose_value=False,
                callback=settings.read, help="A TOML file of these options by their long names; "
                f"what is typed wins. [{settings.FILE}: some of them]")  # fmt: skip
MODEL = _REQUEST.pop("model")
MODELS = option(
    "--model", "models", multiple=True, required=True, metavar="PROVIDER/NAME",
    help="The judge (docs/judges.md): openai/NAME, anthropic/NAME, openai-compatible/NAME with "
    "--base-url, local/smollm2-135m, sim/NAME, python/module:function. Repeatable: a run of each "
    "in a folder of --out, then how the others differ from the first.",
)  # fmt: skip
asking = together(*_REQUEST.values(), CONFIG, _QUIET, JSON)
"""The options that `probe` and `plan` share, without the judge."""
deciding = together(
    MODEL, *(add for name, add in _REQUEST.items() if name not in _WHAT_IS_MEASURED), _QUIET, JSON
)
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

r"""For stage three: how a reply is read, by the axis or first by the user's own parser.

Your own parser is for a judge that answers in its own format. It is a small TOML file, usually
beside the prompt template that asks for that form:

    [verdict]
    regex = 'Rating:\s*(\d+)'                         # or: path = 'result.rating'
    map = { "Response A" = "1", "Response B" = "2" }  # optional

    [[example]]
    reply = "Rating: 4"
    verdict = 4

It turns a reply into a recorded verdict (the form that `judgesheet ingest` takes), which the axis
then reads as it reads any recorded verdict. So such a parser cannot give anything that the axis
does not allow, and this module knows no axis. A reply that gives two different verdicts has none.

Where a verdict has a part for each criterion or candidate, the pattern names the part:
`{criterion}` or `{candidate}` is its name, `{label}` its letter (A, B, …) and
`{position}` its number (1, 2, …) by displayed place. Where each part has several fields, there is a
table for each: `[verdict.score]`, `[verdict.uncertain]`.

What no pattern can tell, a Python function of the user's may: `module:function`. It runs only where
the user names it in this process; that a folder names one runs nothing.

Replies are hostile. Regular expressions run in RE2, whose time grows with the length of the reply
and not beyond; a path names one place in the JSON of a reply. Nothing of a reply is executed.
"""

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, model_validator

from judgesheet.axes import all_axes, get_axis
from judgesheet.axis import Axis
from judgesheet.base.errors import ParserError, RunError, UsageError
from judgesheet.base.files import checked, text_of, toml
from judgesheet.base.finish_reasons import is_whole
from judgesheet.base.limits import LONGEST_ANSWER, MOST_MATCHES
from judgesheet.base.records import Call, Reply, ReplyFormat, digest
from judgesheet.base.sanitize import brief
from judgesheet.judges.user_code import aside, is_name, named_object, version_of
from judgesheet.ledger.ledger import Ledger
from judgesheet.reading import CUT_OFF, NO_VERDICT, Reading
from judgesheet.reading.objects import UnclearError, json_documents
from judgesheet.reading.reasoning import without_reasoning
from judgesheet.reading.reasons import of_outcome
from judgesheet.reading.verdicts import PLACEHOLDERS

_PLACEHOLDER = re.compile(rf"\{{({'|'.join(PLACEHOLDERS)})\}}")
# Fifteen digits are exact in a float, and too few to take long.
_WHOLE = re.compile(r"[+-]?\d{1,15}")
_DECIMAL = re.compile(r"[+-]?\d{1,15}\.\d{1,15}")
_STEP = re.compile(
    r"""(?:^|\.)(?P<name>[^.\[\]'"$*?@]+)|\[(?P<index>-?\d{1,9})\]|\[(['"])(?P<quoted>[^'"\\]+)\3\]"""
)
"""A step of a path: `.name`, `[0]`, `['any name']`."""


def _scalar(value: Any) -> Any:
    if not isinstance(value, str | int | float):
        raise ValueError("it can be a text, a number, true or false")
    return value


Scalar = Annotated[Any, AfterValidator(_scalar)]


class _Table(BaseModel):
    """A table of a parser file. Strict: a field that does not exist is a mistake."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class VerdictPattern(_Table):
    """One regular expression or path, and the meaning of what it finds.

    `meanings` says what the judge's words mean; where there are any, no other word means anything.
    `default` is the value where nothing is found, None if that makes the reply unreadable.
    """

    regex: str | None = None
    # `jsonpath`, as parsers of earlier versions have it.
    path: str | None = Field(default=None, validation_alias=AliasChoices("path", "jsonpath"))
    meanings: Mapping[str, Scalar] = Field(default={}, alias="map")
    default: Scalar = None

    @model_validator(mode="after")
    def _usable(self) -> Self:
        if (self.regex is None) == (self.path is None):
            raise ValueError("give one regex or one path")
        _steps(self.text) if self.regex is None else _check_regex(self.text)
        return self

    @property
    def text(self) -> str:
        """The expression or path."""
        return self.regex or self.path or ""

    @property
    def names_parts(self) -> bool:
        """Whether it is looked for once per criterion or candidate."""
        return _PLACEHOLDER.search(self.text) is not None

    def find(self, reply: str, names: Mapping[str, str]) -> Any:
        """The only value that the reply gives for these names.

        Raises
        ------
        UnclearError
            It gives none, or two that differ, or one without a meaning.
        """
        values = (_regex_values if self.path is None else _path_values)(self.text, reply, names)
        matches = list(islice(values, MOST_MATCHES + 1))
        if not matches:
            if self.default is None:
                raise UnclearError("no_verdict")
            return self.default
        # With their types: 1 and true, which Python takes for equal, are two readings.
        meant = {(type(value), value) for value in map(self._meaning, matches)}
        if len(matches) > MOST_MATCHES or len(meant) > 1:
            raise UnclearError("two_verdicts")
        return meant.pop()[1]

    def _meaning(self, value: Any) -> Any:
        """The meaning of a match: by the map if there is one, a number if it can be read as one."""
        value = value.strip() if isinstance(value, str) else value
        if self.meanings:
            word = value if isinstance(value, str) else json.dumps(value)
            value = self.meanings.get(word)
        if isinstance(value, str) and _WHOLE.fullmatch(value):
            return int(value)
        if isinstance(value, str) and _DECIMAL.fullmatch(value):
            return float(value)
        if not isinstance(value, str | int | float):
            raise UnclearError("off_scale")
        return value


class Example(_Table):
    """A reply with the verdict that it must give; `unreadable` where it must give none.

    `cell` is what the example says of the call, beside the first cell of the run.
    """

    reply: str
    verdict: Any = None
    unreadable: bool = False
    cell: Mapping[str, Any] = {}

    @model_validator(mode="after")
    def _one_reading(self) -> Self:
        if ("verdict" in self.model_fields_set) == self.unreadable:
            raise ValueError("give the verdict it must be read as, or unreadable = true")
        return self


class _File(_Table):
    """A parser file; a verdict is one pattern, or a table of one per field."""

    verdict: dict[str, Any]
    example: list[Example] = []


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of an example: `reading` is what the axis reads, None for nothing."""

    example: Example
    reading: Any
    passed: bool


Find = Callable[[str, Sequence[Mapping[str, str]]], Any]
"""The recorded verdict of a reply, None where it has none; the names of its parts come with it."""


@dataclass(frozen=True, slots=True)
class Parser:
    """A parser of one axis.

    `name` is that of its file, or `module:function`. `source` is the file, verbatim, "" of a
    function, whose code is not kept; `digest` is the SHA-256 of file or code.
    """

    name: str
    source: str
    digest: str
    find: Find = field(compare=False, repr=False)
    examples: tuple[Example, ...] = ()

    @classmethod
    def named(cls, given: str | Path) -> Self:
        """The parser in a file, or of a function; ParserError or UsageError if there is none."""
        path, name = Path(given), str(given)
        if path.exists() or not is_name(name):
            return cls.from_source(text_of(path, "the parser", ParserError), path.name)
        function = named_object(name)
        try:
            inspect.signature(function).bind("", ())
        except (TypeError, ValueError) as error:
            raise ParserError(f"{name} must take a reply and its parts ({error})") from None
        parser = cls(name, "", digest(version_of(name)), _by_function(function))
        _FUNCTIONS[name, parser.digest] = parser
        return parser

    @classmethod
    def from_source(cls, source: str, name: str) -> Self:
        """The parser in a text, as a ledger keeps it."""
        file = checked(_File, toml(source, name, ParserError), name, ParserError)
        is_one = not file.verdict or file.verdict.keys() & {"regex", "path", "jsonpath"}
        tables = {"": file.verdict} if is_one else file.verdict
        patterns = {}
        for part, table in tables.items():
            place = ("verdict", part) if part else ("verdict",)
            where = f"{name}, [{'.'.join(place)}]"
            patterns[part] = checked(VerdictPattern, table, where, ParserError, place=place)
        return cls(name, source, digest(source), _by_patterns(patterns), tuple(file.example))

    def verdict(self, text: str, parts: Iterable[Mapping[str, str]] = ()) -> str:
        """The recorded verdict that a reply gives, as JSON.

        `parts` says what the placeholders mean for each displayed criterion or candidate. What
        stands before the last end of a judge's reasoning is not looked at.

        Raises
        ------
        UnclearError
            It gives none, or two.
        """
        text = without_reasoning(text).lstrip()
        found = self.find(text, [*parts]) if text and len(text) <= LONGEST_ANSWER else None
        if found is None:
            raise UnclearError("no_verdict")
        return json.dumps(found, allow_nan=False)


_FUNCTIONS: dict[tuple[str, str], Any] = {}
"""Parsers of the functions that the user named in this process, by name and digest."""


def _by_patterns(patterns: Mapping[str, VerdictPattern]) -> Find:
    """By the pattern of each field; the key "" stands for a verdict without fields."""

    def part(reply: str, names: Mapping[str, str]) -> Any:
        found = {name: pattern.find(reply, names) for name, pattern in patterns.items()}
        return found.get("", found)

    def find(reply: str, parts: Sequence[Mapping[str, str]]) -> Any:
        if not any(pattern.names_parts for pattern in patterns.values()):
            return part(reply, {})
        return {names["candidate"]: part(reply, names) for names in parts} or None

    return find


def _by_function(function: Callable[..., Any]) -> Find:
    """By the user's code; what it prints is no result of the command's."""

    def find(reply: str, parts: Sequence[Mapping[str, str]]) -> Any:
        try:
            with aside(sys.stderr):
                return function(reply, parts)
        except Exception:  # whatever it stumbles over, the reply is paid for, and is kept
            return None

    return find


def reading(
    axis: Axis,
    text: str,
    reply: ReplyFormat,
    cell: Mapping[str, Any],
    parser: Parser | None = None,
    finish_reason: str | None = None,
) -> Reading:
    """What the axis reads in a reply; one that did not end by itself is unreadable."""
    # However whole it looks: its next words might have held another verdict.
    if not is_whole(finish_reason):
        return CUT_OFF
    try:
        if parser is not None and reply != "recorded":
            found = axis.reading(parser.verdict(text, axis.parts(cell)), "recorded", cell)
        else:
            found = axis.reading(text, reply, cell)
    except UnclearError as error:
        return Reading.lost(error.reason)
    # An axis that stumbles over a reply, another package's say, has not read it.
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError):
        return NO_VERDICT
    # Reasoning that does not end leaves no answer to look at.
    is_reasoning = found == NO_VERDICT and text.strip() and not without_reasoning(text).strip()
    return CUT_OFF if is_reasoning else found


def reason_of(axis: Axis, call: Call, reply: Reply, parser: Parser | None = None) -> str:
    """Why a call without a verdict has none: a code of `reading.reasons`."""
    if call.reply == "recorded":
        return "recorded"
    if reply.outcome != "ok":
        return of_outcome(reply.outcome)
    found = reading(axis, reply.text, call.reply, call.cell, parser, reply.finish_reason)
    return found.reason or "no_verdict"


def alike(axis: Axis, cell: Mapping[str, Any]) -> str:
    """A text that is the same for cells under which equal replies are read alike."""
    by = axis.READ_BY
    return repr(cell if by is None else [cell.get(name) for name in sorted(by)])


def try_examples(parser: Parser, axis: Axis, cell: Mapping[str, Any]) -> Iterator[Trial]:
    """Read every example of the parser in `cell`, as far as it does not say another one."""
    for example in parser.examples:
        place = {**cell, **example.cell}
        found = reading(axis, example.reply, "text", place, parser).verdict
        # As a log would have it, so that an example looks the same for every axis.
        expected = axis.parse(json.dumps(example.verdict), "recorded", place)
        passed = found is None if example.unreadable else found is not None and found == expected
        yield Trial(example, found, passed)


def refuse_failing_examples(parser: Parser, axis: Axis, cell: Mapping[str, Any]) -> None:
    """Test the examples before any call is paid for; ParserError with the first that is misread."""
    for number, trial in enumerate(try_examples(parser, axis, cell), start=1):
        if not trial.passed:
            raise ParserError(
                f"{parser.name}: example {number} is read as {shown_reading(trial.reading)}, not "
                f"as {expectation(trial.example)}; see `judgesheet stimuli check --axis "
                f"{axis.NAME} --parser FILE`"
            ).at("example", number - 1)


def shown_reading(reading: Any) -> str:
    """A reading in words."""
    return "unreadable" if reading is None else json.dumps(reading, ensure_ascii=False, default=str)


def expectation(example: Example) -> str:
    """What an example must be read as, in words."""
    return "unreadable" if example.unreadable else shown_reading(example.verdict)


# -- parsers of a run ------------------------------------------------------------------------------


def as_record(axis: str, parser: Parser) -> dict[str, str]:
    """What a ledger and a sheet keep of a parser: all of it."""
    return {
        "axis": axis,
        "name": parser.name,
        "digest": parser.digest,
        "source": parser.source,
    }


def from_records(records: Iterable[Mapping[str, str]]) -> dict[str, Parser]:
    """Parsers by axis, from what `as_record` made of them.

    ParserError where one is a function that the user has not named in this process.
    """
    return {record["axis"]: _of_record(record) for record in records}


def _of_record(record: Mapping[str, str]) -> Parser:
    if record["source"]:
        return Parser.from_source(record["source"], record["name"])
    known: Parser | None = _FUNCTIONS.get((record["name"], record["digest"]))
    if known is None:
        axis, name = record["axis"], brief(record["name"])
        raise ParserError(
            f"replies of {axis} are read by the Python function {name}, which runs only where you "
            f"name it, and not where it has changed: give --parser {axis}={name}, or let "
            f"`judgesheet measure DIR --parser {axis}={name}` read them anew"
        )
    return known


def readable_by(records: Iterable[Mapping[str, str]]) -> Callable[[Call, Reply], bool]:
    """Whether a reply can be read: by the parser of its axis where the records have one."""
    parsers = from_records(records)

    def is_readable(call: Call, reply: Reply) -> bool:
        axis, parser = all_axes()[call.axis], parsers.get(call.axis)
        found = reading(axis, reply.text, call.reply, call.cell, parser, reply.finish_reason)
        return found.verdict is not None

    return is_readable


def replace_parsers(path: Path, files: Mapping[str, str | Path]) -> None:
    """Note in a ledger that these (axis -> file or function) read its replies from now on."""
    with Ledger.open(path, writable=True) as ledger:
        cells: dict[str, Mapping[str, Any]] = {}
        for call in ledger.calls():
            cells.setdefault(call.axis, call.cell)
            if call.reply == "recorded":
                raise RunError(f"{path} holds recorded verdicts, which are not read by a parser")
        now = {record["axis"]: record for record in ledger.parsers()}
        for name, file in files.items():
            if name not in cells:
                raise UsageError(f"--parser names {name}, which this run did not ask about")
            parser = Parser.named(file)
            refuse_failing_examples(parser, get_axis(name), cells[name])
            now[name] = as_record(name, parser)
        ledger.replace_parsers([now[name] for name in sorted(now)])


# -- finding values in a reply ---------------------------------------------------------------------


_documents = lru_cache(maxsize=1)(json_documents)
"""The JSON documents in a reply; every pattern of a parser looks at the same ones."""


def _regex_values(pattern: str, reply: str, names: Mapping[str, str]) -> Iterator[Any]:
    for match in _regex(pattern, tuple(names.items())).finditer(reply):
        yield match.group(1)


def _path_values(pattern: str, reply: str, names: Mapping[str, str]) -> Iterator[Any]:
    steps = [_filled(one, names) if isinstance(one, str) else one for one in _steps(pattern)]
    for document in _documents(reply):
        with suppress(LookupError, TypeError):  # there is no such place in it
            yield _at(document, steps)


def _at(value: Any, steps: Iterable[str | int]) -> Any:
    """The value at this place of a document; LookupError or TypeError if there is none."""
    for step in steps:
        if isinstance(value, str):  # it could be indexed, but a letter of a text is no value
            raise TypeError
        value = value[step]
    return value


@lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[str | int, ...]:
    """The names and indices on the way to the place; ValueError if it names no single place."""
    rest = path.removeprefix("$")
    found = [*_STEP.finditer(rest)]
    if not found or "".join(one[0] for one in found) != rest:
        raise ValueError(
            f"{path[:60]!r} is not the path of one place, such as result.rating, parts[0].score or "
            "scores.{criterion}; a regex finds what such a path does not"
        )
    return tuple(
        int(one["index"]) if one["index"] else one["name"] or one["quoted"] for one in found
    )


@lru_cache(maxsize=1024)  # a pattern is compiled for each name that it is filled with
def _regex(pattern: str, names: tuple[tuple[str, str], ...]) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False  # RE2 would print them itself
    return re2.compile(_filled(pattern, dict(names), re2.escape), options)


def _filled(pattern: str, names: Mapping[str, str], escape: Callable[[str], str] = str) -> str:
    return _PLACEHOLDER.sub(lambda place: escape(names.get(place[1], place[1])), pattern)


# -- what a pattern must be -------------------------------------------------------------------

_ODD = tuple((name, 'it\'s "odd" [1]') for name in PLACEHOLDERS)
"""Names that a pattern must work with."""


def _check_regex(text: str) -> None:
    import re2

    try:
        compiled = _regex(text, _ODD)
    except re2.error as error:
        reason = error.args[0]
        reason = reason.decode() if isinstance(reason, bytes) else reason
        raise ValueError(
            f"RE2 does not take this regex ({reason}); it has no look-around and no back-references"
        ) from None
    if compiled.groups != 1:
        raise ValueError(
            f"the regex has {compiled.groups} groups and needs one, which is the verdict; "
            "write (?:…) for the others"
        )

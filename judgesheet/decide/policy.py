"""A policy, the limits that a judge must keep, with reasons.

A TOML file, validated here and trusted elsewhere.

`docs/gate.md` explains the file line by line.
"""

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from judgesheet.axes import all_axes, axis_names, declared_unit
from judgesheet.base.effects import Use
from judgesheet.base.errors import PolicyError, RunError, UsageError
from judgesheet.base.facts import REQUIRED, PolicyName
from judgesheet.base.files import checked, text_of, toml
from judgesheet.base.keys import Key
from judgesheet.base.records import Datasheet, digest
from judgesheet.base.resources import data_folder
from judgesheet.base.units import unit

FiniteNumber = Annotated[float, Field(allow_inf_nan=False)]
NotProven = Literal["fail", "warn"]
SIMILAR = 0.75
"""How alike two names must be (`difflib` ratio) for one to be a slip of the other."""


class _Part(BaseModel):
    """Strict: unknown fields and numbers in quotes are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Limit(_Part):
    """A bound that an estimate must be proven to keep.

    `key` may give a dimension as `*`: then every estimate of that form must keep the limit. With
    `when_probed` the limit applies only to sheets that hold the key's axis.
    """

    key: str
    max: FiniteNumber | None = None
    min: FiniteNumber | None = None
    not_proven: NotProven = "fail"
    when_probed: bool = False
    why: str = ""

    @model_validator(mode="after")
    def _one_side(self) -> Self:
        if (self.max is None) == (self.min is None):
            raise ValueError("give either max or min, and not both")
        return self

    @property
    def kind(self) -> Literal["max", "min"]:
        """Which side it bounds."""
        return "min" if self.max is None else "max"

    @property
    def value(self) -> float:
        """The number."""
        return float(self.min if self.max is None else self.max)  # type: ignore[arg-type]


class Regression(_Part):
    """How much worse than a baseline an estimate may be; `better` where the sheet does not say."""

    key: str
    margin: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    better: Literal["lower", "higher", ""] = ""
    not_proven: NotProven = "fail"
    why: str = ""


class Policy(_Part):
    """The file. `name` is its own, of a shipped one without ending; `digest` is that of its text.

    `use` is what the judge is for: effects that concern it become conditions; None: effects of any
    use, on the axes with required limits. `min_independent` is the number of stimuli of an axis,
    each group of near copies counted once, below which nothing on it is proven or broken.
    """

    name: str = ""
    title: str = ""
    use: Use | None = None
    review_days: Annotated[int, Field(ge=1, le=3650)] | None = None
    min_independent: Annotated[int, Field(ge=1)] | None = None
    limit: list[Limit] = []
    regression: list[Regression] = []
    digest: str = Field(default="", exclude=True)

    @property
    def axes(self) -> list[str]:
        """The axes that it limits."""
        return list(dict.fromkeys(Key.parse(limit.key).axis for limit in self.limit))

    @property
    def named(self) -> PolicyName:
        """What a run and its sheet keep of it beside the limits."""
        named = self.name, self.title, self.digest, tuple(self.axes)
        return PolicyName(*named, self.min_independent, self.use)


def policy_of(sheet: Datasheet) -> Policy | None:
    """The policy that a sheet was decided under: a shipped one, or its verdicts name the limits.

    None where it names no policy. Limits on the change against a baseline cannot be decided without
    that one and are left out, as are those of the first sheets, whose verdicts had no limit.
    """
    named = sheet.provenance.policy
    ours = load(named.name) if named and named.name in shipped() else None
    if named and ours and ours.digest == named.digest:
        return ours
    limits = [
        Limit.model_validate(
            {"key": one.key, one.kind: one.limit, "not_proven": "warn" if one.warns else "fail"}
        )
        for one in sheet.verdicts
        if one.kind and one.limit is not None and not one.against_baseline
    ]
    if not limits and named is None:
        return None
    least, use = (named.min_independent, named.use) if named else (REQUIRED, None)
    return Policy(limit=limits, use=use, min_independent=least)


def shipped() -> list[str]:
    """Names of the policies that come with judgesheet."""
    return sorted(path.stem for path in data_folder("policies").glob("*.toml"))


@cache
def shipped_keys() -> dict[str, frozenset[str]]:
    """What each shipped policy limits."""
    return {name: frozenset(rule.key for rule in load(name).limit) for name in shipped()}


Figures = Mapping[str, Collection[str] | None]
"""The names of the figures of every axis; None: any."""


def known_figures() -> Figures:
    """Every figure that this version knows; loads the axes."""
    return {name: axis.ESTIMATES.keys() for name, axis in all_axes().items()}


def load(source: str | Path, figures: Figures | None = None) -> Policy:
    """The policy in a file, or the shipped one of that name; UsageError if there is neither.

    A name without an ending and a folder is that of a shipped one, whatever lies in the working
    folder. A PolicyError names what is wrong in the file, such as a key of none of the `figures`.
    """
    path = Path(source)
    if path.name == str(source) and not path.suffix:
        # Ours name axes that a smaller installation may lack.
        return parse(text_of_shipped(path.name), path.name)
    if not path.exists() or path.is_dir():  # `/dev/stdin` is neither
        raise UsageError(f"there is no policy file {source}; {_those_shipped()}")
    name = path.name if path.suffix else f"./{path.name}"  # no file has the name of a shipped one
    text = text_of(path, "the policy", PolicyError)
    return parse(text, name, figures or dict.fromkeys(axis_names()))


def text_of_shipped(name: str) -> str:
    """A shipped policy as it stands in its file, with its comments; UsageError if there is none."""
    if name not in shipped():
        own = f"; write ./{name} for the file" if Path(name).is_file() else ""
        raise UsageError(f"there is no shipped policy {name!r}; {_those_shipped()}{own}")
    path = data_folder("policies") / f"{name}.toml"
    return text_of(path, "the policy", PolicyError)


def _those_shipped() -> str:
    return f"the shipped policies are {', '.join(shipped())}"


def parse(text: str, name: str, figures: Figures | None = None) -> Policy:
    """The policy in a text, the file's `name`; keys may name these figures (None: any)."""
    try:
        return _parsed(text, name, figures)
    except PolicyError as error:
        line = line_of(text, error.place)
        if line is None:
            raise
        fault = str(error).removeprefix(f"{name}: ")
        raise PolicyError(f"{name}:{line}: {fault}").at(*error.place) from None


def line_of(text: str, place: Sequence[str | int]) -> int | None:
    """The line of a place in a TOML text: (table, its number from 0, field), as far as given."""
    names = [part for part in place if isinstance(part, str)]
    number = next((part for part in place if isinstance(part, int)), 0)
    lines = text.splitlines()
    if not names:
        return None
    heads = [at for at, line in enumerate(lines) if re.match(rf"\s*\[\[?{names[0]}\b", line)]
    start = heads[number] if number < len(heads) else 0
    field = re.compile(rf"\s*{re.escape(names[-1])}\s*=")
    fields = (at for at in range(start, len(lines)) if field.match(lines[at]))
    return next(fields, start) + 1


def _parsed(text: str, name: str, figures: Figures | None) -> Policy:
    data = toml(text, name, PolicyError)
    _refuse_unknown(data, name)
    # The name that a text gives itself may be that of another file, so no report has it.
    policy = checked(Policy, {**data, "digest": digest(text)}, name, PolicyError)
    policy = policy.model_copy(update={"name": name})
    if not policy.limit and not policy.regression:
        raise PolicyError(f"{name} holds no [[limit]]; write one with a key and a max or a min")
    _check_keys([(rule.key, rule.kind) for rule in policy.limit], name, "limit", figures)
    _check_keys([(rule.key, "") for rule in policy.regression], name, "regression", figures)
    for number, limit in enumerate(policy.limit):
        if fault := _fault_of_value(limit):
            message = f"{name}: limit {number + 1}: {fault}"
            raise PolicyError(message).at("limit", number, limit.kind)
    return policy


def _fault_of_value(limit: Limit) -> str:
    """A value that the figure of the limit cannot have, so that nothing breaks or keeps it."""
    if 0 <= limit.value <= 1:
        return ""  # every scale with ends holds it: no axis need be loaded
    key, given, meant = Key.parse(limit.key), limit.value, limit.value / 100
    low, high = unit(declared_unit(key)).ends or (given, given)
    if low <= given <= high:
        return ""
    hint = f"; did you mean {meant:g}?" if low <= meant <= high else ""
    return f"{key} lies between {low:g} and {high:g}, and {limit.kind} = {given:g} does not{hint}"


def _refuse_unknown(data: Mapping[str, Any], file: str) -> None:
    """A field that nothing has, with those that its table does have."""
    tables: Mapping[str, type[_Part]] = {"limit": Limit, "regression": Regression}
    _refuse_fields(data, {*Policy.model_fields} - {"digest"}, file, "policy")  # ours to compute
    for table, kind in tables.items():
        rows = data.get(table)
        for number, row in enumerate(rows if isinstance(rows, list) else ()):
            _refuse_fields(row, {*kind.model_fields}, file, table, number)


_FIELDS = {
    "policy": "name, title, use, review_days, [[limit]] and [[regression]]",
    "limit": "key, max or min, not_proven, when_probed and why",
    "regression": "key, margin, better, not_proven and why",
}


def _refuse_fields(row: Any, known: Set[str], file: str, table: str, *number: int) -> None:
    for field in row if isinstance(row, Mapping) else ():
        if field not in known:
            message = f"{file}: unknown field {field[:60]}; a {table} has {_FIELDS[table]}"
            raise PolicyError(message).at(*([table] if number else []), *number, field)


def _check_keys(
    keys: Sequence[tuple[str, str]], file: str, table: str, figures: Figures | None
) -> None:
    """Every key has a form and a figure that exist, and none is bounded twice on one side."""
    for number, (key, kind) in enumerate(keys):
        fault = _fault_of_key(key, figures)
        if not fault and (key, kind) in keys[:number]:
            fault = f"{key} is limited twice in the policy; keep one"
        if fault:
            message = f"{file}: {table} {number + 1}: {fault}"
            raise PolicyError(message).at(table, number, "key")


def _fault_of_key(key: str, figures: Figures | None) -> str:
    """What a key names that there is not; "" where nothing is wrong with it."""
    try:
        wanted = Key.parse(key)
    except RunError as error:
        return str(error)
    if figures is None:
        return ""
    if wanted.axis not in figures:
        return f"there is no axis {wanted.axis!r} (key {key}); the axes are {', '.join(figures)}"
    names = figures[wanted.axis]
    if names is None or wanted.name in names:
        return ""
    every = [f"{axis}.{name}" for axis, names in figures.items() for name in names or ()]
    return f"there is no figure {wanted.axis}.{wanted.name}: {or_meant(key, every)}"


def or_meant(key: str, found: Iterable[str]) -> str:
    """Which key was probably meant by a wrong one, or where all of them are listed."""
    meant = closest_key(key, found)
    return f"is {meant} meant?" if meant else "`judgesheet explain` lists the keys"


def closest_key(key: str, found: Iterable[str]) -> str:
    """The key that was probably meant by a wrong one: by name first, then by axis and dimensions.

    "" where no name is similar. The whole key would be a poor measure: all keys of an axis begin
    alike.
    """
    wanted = Key.parse(key)
    names = {one: Key.parse(one).name for one in found}
    close = difflib.get_close_matches(
        wanted.name, dict.fromkeys(names.values()), n=1, cutoff=SIMILAR
    )
    alike = [one for one in names if names[one] in close]
    mine = [one for one in alike if Key.parse(one).axis == wanted.axis]
    return next(iter(difflib.get_close_matches(key, mine or alike, n=1, cutoff=0)), "")

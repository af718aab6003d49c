"""Are the files of `init` ready for CI? Every fault in one sentence, with file and line.

No call is made. What the stimuli can prove of a judge without a fault is forecast.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, TemplateSyntaxError

from judgesheet.axes import all_axes
from judgesheet.axis import PROFILES, Axis
from judgesheet.base.errors import (
    JudgesheetError,
    ParserError,
    PolicyError,
    StimuliError,
    TemplateError,
    UsageError,
)
from judgesheet.base.files import numbered_lines, record_of, text_of
from judgesheet.base.records import Plan, Stimulus
from judgesheet.base.sanitize import one_line
from judgesheet.collect.options import Request
from judgesheet.collect.request import make_plan, settle
from judgesheet.commands.option_types import prices
from judgesheet.commands.scaffold import (
    EXAMPLE,
    FILL_IN,
    JOBS,
    PARSER,
    POLICY,
    PROMPT,
    STIMULI,
    is_untouched,
)
from judgesheet.decide import policy as policies
from judgesheet.decide.provable import forecasts, reasons
from judgesheet.planning.plan import pools_of, remarks
from judgesheet.planning.stimuli import problems, reject_duplicates, validated

PROFILE = "quick"
"""That of the jobs as they are written."""
_FILES = {TemplateError: PROMPT, ParserError: PARSER}
"""Which file an error is about that ends the making of a plan; any other is about stimuli."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, and where; `line` is None if no single line is at fault.

    A note is about what may be meant so.
    """

    path: Path
    line: int | None
    what: str
    is_note: bool = False

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        what = re.sub(rf"^{re.escape(self.path.name)}(:\d+)?: ", "", self.what)
        return one_line(f"{place}: {what}")


def check(directory: Path, options: Mapping[str, Set[str]]) -> list[Fault]:
    """Everything that is wrong with the files of `init` in a repository.

    `options` are those that each command has, for the commands of the jobs.
    """
    used = _used(directory)
    faults = [*_judge(directory, _profile(used))]
    for job in used:
        faults += _job(directory, job, options)
    for file in (directory / name for name in (PROMPT, PARSER, POLICY)):
        if file.is_file() and is_untouched(file, directory):
            faults.append(Fault(file, None, "is still the example of `init`", is_note=True))
    return faults


def _used(directory: Path) -> list[Path]:
    """The jobs of the service that is used: one is left as it was written where another is not."""
    found = [directory / job for job in JOBS if (directory / job).is_file()]
    begun = [path for path in found if not is_untouched(path, directory)]
    return begun or found


def _profile(jobs: Sequence[Path]) -> str:
    """The profile that the first of the jobs asks for."""
    lines = (line for job in jobs for line in text_of(job, "the job", PolicyError).splitlines())
    settings = (found[2] for found in map(_SETTING.match, lines) if found)
    return next((value for value in settings if value in PROFILES), PROFILE)


def _judge(directory: Path, profile: str) -> Iterator[Fault]:
    pools = {name: directory / STIMULI / f"{name}.jsonl" for name in all_axes()}
    found = [name for name, path in pools.items() if path.is_file()]
    if len(found) != 1:
        what = f"there must be stimuli of one axis here, and there are of {len(found)}"
        names = ", ".join(path.name for path in pools.values())
        how = f"name the file after its axis ({names})"
        yield Fault(
            directory / STIMULI, None, f"{what}; {how}; `judgesheet init` writes an example"
        )
        return
    axis, path = all_axes()[found[0]], pools[found[0]]
    faults = list(_stimuli(axis, path))
    yield from faults
    for name in (PROMPT, PARSER, POLICY):
        if not (directory / name).is_file():
            yield Fault(directory / name, None, "is missing; `judgesheet init` writes an example")
    yield from _template(directory / PROMPT)
    plan = None
    try:
        plan = _plan(axis, path, directory / PROMPT, profile)
    except JudgesheetError as error:
        file = directory / _FILES.get(type(error), STIMULI / path.name)
        if file != path or not faults:
            yield _of_error(file, error)
    for pool in pools_of(plan) if plan else ():
        yield from (Fault(path, None, remark, is_note=True) for remark in remarks(pool))
    yield from _policy(directory / POLICY, plan, profile)


def _plan(axis: Axis, stimuli: Path, prompt: Path, profile: str) -> Plan:
    """The plan of the jobs, with the parser beside the prompt."""
    prompts = {axis.NAME: prompt} if prompt.is_file() else {}
    # As text: simulated judges are usually asked for JSON, a prompt of the user's own is not.
    request = Request("sim/perfect", [axis.NAME], profile, stimuli, prompts, reply="text")
    return make_plan(request, settle(request))


def _of_error(path: Path, error: JudgesheetError) -> Fault:
    return Fault(path, _line_of(path, error.place), str(error))


def _line_of(path: Path, place: tuple[str | int, ...]) -> int | None:
    """The line of a place in a TOML file: (table, its number from 0, field), as far as given."""
    return policies.line_of(path.read_text("utf-8", "replace"), place) if path.is_file() else None


# -- stimuli and prompt ----------------------------------------------------------------------------


def _stimuli(axis: Axis, path: Path) -> Iterator[Fault]:
    """Every invalid line, and what the axis finds in the valid ones."""
    lines: dict[str, int] = {}
    stimuli: list[Stimulus] = []
    try:
        for number, line in numbered_lines(path):
            if not line.strip():
                continue
            try:
                where = f"{path.name}:{number}"
                stimulus = validated(axis, record_of(line, where), where)
            except StimuliError as error:
                yield Fault(path, number, str(error).removeprefix(f"{where}: "))
                continue
            stimuli.append(stimulus)
            lines[stimulus.id] = number
            if stimulus.id.startswith(EXAMPLE):
                yield Fault(path, number, "is an example; replace it with your own")
        reject_duplicates(stimuli)
    except StimuliError as error:
        yield Fault(path, None, str(error))
    for problem in problems(axis, stimuli):
        if problem.grave:
            # An axis may name a place within a stimulus, `id/candidate`.
            line_number = lines.get(problem.where.split("/")[0])
            yield Fault(path, line_number, f"{problem.where}: {problem.what}")


def _template(path: Path) -> Iterator[Fault]:
    """A slip in the syntax, which alone has a line."""
    if path.is_file():
        try:
            Environment().parse(text_of(path, "the prompt template", TemplateError))  # noqa: S701
        except TemplateSyntaxError as error:
            yield Fault(path, error.lineno, str(error.message))


# -- policy ----------------------------------------------------------------------------------------


def _policy(path: Path, plan: Plan | None, profile: str) -> Iterator[Fault]:
    """Limits that cannot be read, have no reason, or that these stimuli cannot prove."""
    if not path.is_file():
        return
    try:
        policy = policies.load(path, policies.known_figures())
    except PolicyError as error:
        yield _of_error(path, error)
        return
    for number, limit in enumerate(policy.limit):
        line = _line_of(path, ("limit", number, "key"))
        if not limit.why:
            yield Fault(path, line, f"{limit.key} has no reason; say why in `why`")
    if plan is None:
        return
    who = "any judge" + ("" if profile == PROFILE else f" under the profile {profile}")
    lines = {limit.key: n for n, limit in reversed([*enumerate(policy.limit)])}
    for one in forecasts(plan, policy):
        # What is not forecast, a run may prove: it is no fault.
        if one.provable is False and not one.warns:
            what = f"{one.key} {one.rule} cannot be proven by {who}"
            line = _line_of(path, ("limit", lines[one.key], "key"))
            yield Fault(path, line, "; ".join((what, *reasons(one))))


# -- jobs ------------------------------------------------------------------------------------------

_COMMAND = re.compile(r"(?:^|[\s|;&])judgesheet ([a-z]+)\b(.*)")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_OPTION = re.compile(r"(?<!\S)--[a-z][a-z-]*")
# What pip takes for a file: a wheel or a path, and neither a name nor an address.
_WHEEL = re.compile(r"""\s*JUDGESHEET:\s*["']?((?!\S*://)[^\s"'\[]*(?:/[^\s"'\[]*|\.whl))""")
_SETTING = re.compile(r"""\s*(PROFILE|PRICES):\s*["']?([^"'#$]*[^\s"'#$])""")
_FILE = re.compile(r"--(?:stimuli|policy|(?:prompt|parser) \w+=)\s*([\w./-]+)")


def _job(directory: Path, path: Path, options: Mapping[str, Set[str]]) -> Iterator[Fault]:
    """What was not filled in, commands and options that do not exist, files that are not there."""
    lines = text_of(path, "the job", PolicyError).splitlines()
    for number, line in enumerate(lines, start=1):
        yield from (Fault(path, number, what) for what in _settings(directory, line))
    for number, name, words in _commands(lines):
        if name not in options:
            yield Fault(path, number, f"there is no command `judgesheet {name}`")
            continue
        for option in _OPTION.findall(words):
            if option not in options[name]:
                yield Fault(path, number, f"`judgesheet {name}` has no option {option}")
        for file in _FILE.findall(words):
            if not (directory / file).exists() and file not in policies.shipped():
                yield Fault(path, number, f"{file} does not exist")


def _settings(directory: Path, line: str) -> Iterator[str]:
    """What is wrong with the variable of a job that a line sets."""
    if FILL_IN in _COMMENT.sub("", line):
        yield f"must be filled in: {line.strip()}"
    wheel, setting = _WHEEL.match(line), _SETTING.match(line)
    if wheel and not (directory / wheel[1]).exists():
        yield f"{wheel[1]} does not exist"
    if setting and (what := _unfit(*setting.groups())):
        yield what


def _unfit(name: str, value: str) -> str:
    """Why the command of the job would refuse the value of a setting; "" if it would not."""
    if name == "PROFILE":
        return "" if value in PROFILES else f"{value} is no profile: {', '.join(PROFILES)}"
    try:
        if value != FILL_IN:
            prices(value)
    except UsageError as error:
        return f"PRICES is {value}: {error}"
    return ""


def _commands(lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Line, name and words of every command of ours, with its continuation lines."""
    for number, line in enumerate(lines, start=1):
        command = None if line.lstrip().startswith("#") else _COMMAND.search(line)
        if command is not None:
            words = command[2]
            for more in lines[number:]:
                if not words.endswith("\\"):
                    break
                words = f"{words[:-1]} {more.strip()}"
            yield number, command[1], words

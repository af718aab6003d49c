"""The parts of README and docs that are written by the code itself (see `make docs`)."""

import json
import re
from collections.abc import Container, Iterator, Mapping, Set
from dataclasses import MISSING, fields
from functools import cache
from inspect import cleandoc, getsource
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast, get_args

import click

import judgesheet
from judgesheet.axes import all_axes, folder, prompt
from judgesheet.axis import PROFILES
from judgesheet.axis.figure import Figure
from judgesheet.axis.simulation import Parameters, declared
from judgesheet.base import limits
from judgesheet.base.keys import Key
from judgesheet.base.prices import cost
from judgesheet.base.units import unit
from judgesheet.cli import main
from judgesheet.collect.options import Request
from judgesheet.collect.request import make_plan, settle
from judgesheet.commands.sheets import load
from judgesheet.importers.logs import FIELDS, LOGS, LogOptions, LogReader
from judgesheet.judges.batch_formats import BATCH_FORMATS
from judgesheet.judges.providers import BEHIND_HTTP, PROVIDERS, Provider
from judgesheet.judges.simulated import PRESETS
from judgesheet.ledger.schema import SCHEMA, SCHEMA_VERSION
from judgesheet.measuring.slices import with_slices
from judgesheet.planning.plan import AxisBudget, budget
from judgesheet.sheet import show
from judgesheet.sheet.context import DECISIONS
from tests.simulate import Sheet, simulate

EXAMPLE = Path(__file__).parent.parent / "examples" / "smollm2-135m" / "datasheet.json"
"""The sheet that `docs/datasheet.md` goes through."""


TOY = Path(__file__).parent / "toy" / "greeting_order" / "__init__.py"
"""The axis that `docs/axes.md` writes step by step."""


def toy_step(number: int) -> str:
    """What a step adds to the toy axis, as code."""
    _, code = TOY.read_text(encoding="utf-8").split(f"# -- step {number}: ")
    code = code.partition("# -- step ")[0].partition("\n")[2].strip("\n ")
    if number > 2:  # members of the class that the second begins
        code = f"class GreetingOrder(Axis):  # further members\n    {code}"
    return f"\n```python\n{code}\n```\n\n"


def request_options() -> str:
    """A row per option of a probe: in Python, on the command line, and what it means."""
    rows = ["| in Python | command | default | meaning |", "|---|---|---|---|"]
    for one in fields(Request):
        said = get_args(one.type)[-1]
        flags = said.flags or (f"--{one.name.replace('_', '-')}",)
        usual = "" if one.default in (MISSING, None, ()) else f"`{one.default}`"
        names = ", ".join(f"`{flag}`" for flag in flags if flag)
        rows.append(f"| `{one.name}` | {names} | {usual} | {said.meaning.replace('|', '&#124;')} |")
    return "\n".join(["", *rows, "", ""])


def source_of(axis_name: str, name: str) -> str:
    """The code that declares a figure of an axis."""
    return f"\n```python\n{getsource(all_axes()[axis_name].ESTIMATES[name])}```\n\n"


def figures(axis_name: str) -> str:
    """An entry per figure of an axis: what its function says, and what `explain` prints."""
    axis = all_axes()[axis_name]
    known = axis.ESTIMATES
    head = [axis.QUESTION]
    if axis.PAPER:
        head += ["", f"The protocol comes from {axis.PAPER}."]
    entries = (
        f"## {name}\n\n{_linked(cleandoc(figure.__doc__ or ''), known.keys() - {name})}\n"
        f"{_facts(figure, known)}"
        for name, figure in known.items()
    )
    return "\n".join(["", *head, "", *entries, ""])


def _linked(text: str, names: Set[str]) -> str:
    """The names of other figures of the page lead to their entries."""
    return re.sub(r"`(\w+)`", lambda it: f"[{it[0]}](#{it[1]})" if it[1] in names else it[0], text)


def _facts(figure: object, known: Container[str]) -> str:
    """What the declaration of a figure says beside its docstring, as one line."""
    if not isinstance(figure, Figure):
        return ""
    facts, declared = [f"Unit: {figure.unit}"], figure.facts
    better, null = declared.get("better", "lower"), declared.get("null")
    noise = declared.get("noise", "")
    if better and unit(figure.unit).kind == "quantity":
        facts.append(f"{better} is better")
    if null is not None:
        facts.append(f"no effect: {null:g}")
    noise = noise.partition("[")[0] if isinstance(noise, str) else ""
    if noise in known and noise != figure.name:
        facts.append(f"noise beside it: [`{noise}`](#{noise})")
    return f"\n*{'; '.join(facts)}.*\n"


def example(meanings: Mapping[str, str]) -> str:
    """What the example's sheet says of some effects, each with what that means."""
    effects = {one.key: one for axis in load(EXAMPLE).axes for one in axis.effects}
    rows = [f"| {effects[key].text} | {meaning} |" for key, meaning in meanings.items()]
    return "\n".join(["", "| on the sheet | what it means |", "|---|---|", *rows, "", ""])


def help_texts() -> str:
    """Every command with its help."""
    return "\n".join(f"\n## {name}\n\n```text\n{text}\n```" for name, text in _helps()) + "\n\n"


def _helps() -> Iterator[tuple[str, str]]:
    settings: dict[str, Any] = dict(main.context_settings)
    with click.Context(main, info_name="judgesheet", **settings) as context:
        yield from _tree(main, context)


def _tree(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    context.max_content_width = context.terminal_width = 100
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _tree(child, click.Context(child, info_name=name, parent=context))


FILES = {
    "the axis: its names, `ESTIMATES`, `measure`": {"__init__"},
    "step 1: figures": {"figures"},
    "step 2: stimuli, orders, calls": {"rules", "ask"},
    "step 2: readings as arrays": {"scores", "pairs", "lists"},
    "steps 2 and 4: replies read, imputed, simulated": {"read"},
    "step 3: effects and remedies": {"effects"},
}
"""What the files of an axis hold, by their names."""


def files_of_axes() -> str:
    """A column per axis, a row per topic: the files of its folder."""
    files = {name: {file.stem for file in folder(axis).glob("*.py")}
             for name, axis in all_axes().items()}  # fmt: skip
    assert set().union(*files.values()) == set().union(*FILES.values())
    lines = ["", f"| what | `{'` | `'.join(files)}` |", f"|---|{'---|' * len(files)}"]
    for what, names in FILES.items():
        held = (", ".join(f"`{name}`" for name in sorted(own & names)) for own in files.values())
        lines.append(f"| {what} | {' | '.join(held)} |")
    return "\n".join([*lines, "", ""])


def calls_of_profiles(head: str, about: Mapping[str, str]) -> str:
    """A row per profile: how many calls a plan of all axes has, and what is said of it."""
    columns = head.count("|")
    lines = ["", f"| profile | {head} |", f"|---|--:|{'---|' * columns}"]
    for profile, text in about.items():
        request = Request("openai/NAME", profile=profile)
        calls = len(make_plan(request, settle(request)).calls)
        default = " (default)" if profile == Request("").profile else ""
        lines.append(f"| `{profile}`{default} | {calls:,} | {text} |")
    return "\n".join([*lines, "", ""])


PAGES = Path(__file__).parent.parent / "docs" / "figures"
OF_OTHER_MATERIAL: Mapping[str, Set[str]] = {
    "candidate_order": {"quality_kappa"},
    "presentation": {"longer_preferred", "own_preference"},
    "score_order": {"quality_kappa", "rater_ceiling_r"},
}
"""The figures that no built-in stimulus allows: of people's verdicts, and of own pairs."""


@cache
def sheet_of(profile: str, name: str) -> Sheet:
    """The sheet of a judge that wavers, asked for log-probabilities where they can be read."""
    return simulate("noisy", profile, name, logprobs=all_axes()[name].distribution is not None)


def figures_of(profile: str, name: str) -> Set[str]:
    """The figures of an axis that have a value on that sheet."""
    found = sheet_of(profile, name).result.estimates
    return {Key.parse(one.key).name for one in found if one.value is not None}


@cache
def slices_of(profile: str) -> Set[str]:
    """The figures of slices on the sheet of all axes; one axis has them."""
    sheets = {name: sheet_of(profile, name) for name in all_axes()}
    readings = {name: sheet.readings for name, sheet in sheets.items()}
    located = with_slices([one.result for one in sheets.values()], readings, in_time=True)
    names = {Key.parse(one.key).name for axis in located for one in axis.estimates}
    return names & {"slice", "slice_p"}


def figures_of_profiles() -> str:
    """The figures that some profile lacks, and which profiles have them."""
    lines = ["", f"| figure | {' | '.join(f'`{one}`' for one in PROFILES)} |"]
    lines.append(f"|---|{':-:|' * len(PROFILES)}")
    for name, axis in all_axes().items():
        for figure in axis.ESTIMATES:
            # A test measures `full`, which takes too long for a page.
            full = figure not in OF_OTHER_MATERIAL.get(name, ())
            has = [figure in figures_of(one, name) | slices_of(one) for one in PROFILES[:-1]]
            if not all(has):
                marks = ("yes" if one else "" for one in (*has, full))
                page = f"(figures/{name}.md#{figure})" if (PAGES / f"{name}.md").exists() else ""
                lines.append(f"| [`{name}.{figure}`]{page} | {' | '.join(marks)} |")
    return "\n".join([*lines, "", ""])


def prompt_variables() -> str:
    """What the built-in templates say of their variables, one section an axis."""
    sections = []
    for axis in all_axes().values():
        head = re.match(r"\{#-?(.*?)-?#\}", prompt(axis), re.DOTALL)
        assert head is not None, f"the prompt of {axis.NAME} does not say what its variables are"
        text = " ".join(head[1].split()).removeprefix(f"Axis {axis.NAME}. Variables: ")
        text = re.sub(r" What (is permuted|changes) stands last.*", "", text)  # the page says so
        sections.append(f"\n### {axis.NAME}\n\n{text}\n")
    return "".join(sections) + "\n"


def log_formats() -> str:
    """Every format of logs: what it becomes, what it lacks, how it is read."""
    lines = [""]
    for name, log in LOGS.items():
        reader = LogReader("", log, LogOptions(), iter(()))
        axis = f"`{reader.fields.axis}`" if "verdict" in log.columns else "the axis that is mapped"
        columns = ", ".join(f"`{field}={column}`" for field, column in log.columns.items())
        lines += [f"### `{name}`", "", f"{' '.join(log.conventions)}", ""]
        lines += [f"- Becomes {axis}: {columns}", f"- Lacks: {log.lacks}.",
                  f"- Checked with {log.checked}", ""]  # fmt: skip
    return "\n".join([*lines, ""])


def log_fields() -> str:
    """One row per field that a map of a log can name."""
    lines = ["", "| field | holds |", "|---|---|"]
    lines += [f"| `{name}` | {holds} |" for name, holds in FIELDS.items()]
    return "\n".join([*lines, "", ""])


def real_judges() -> str:
    """A table per group of judges that were asked the same, from the committed figures."""
    groups = _committed()["groups"]
    return "\n".join(["", *(line for group in groups for line in _asked_the_same(group)), ""])


def _asked_the_same(group: Mapping[str, Any]) -> Iterator[str]:
    first = group["judges"][0]
    units = max(one["clusters"] or 0 for one in first["estimates"].values())
    yield f"## {group['stimuli']}\n"
    yield f"- Questions: {units}, {first['calls']:,} calls to each judge"
    yield f"- Prompt: {group['prompt']}"
    yield f"- Source: {group['source']}"
    yield f"- Licence: {group['licence']}\n"
    heads = (
        f"[{head}](figures/candidate_order.md#{re.split(r'[.[]', key)[1]})"
        for head, key in zip(COMPARED, first["estimates"], strict=True)
    )
    yield f"| judge | decision | {' | '.join(heads)} | lost calls | limits broken |"
    yield f"|---|---|{'--:|' * (len(COMPARED) + 1)}---|"
    yield from (f"| {' | '.join(_cells(judge))} |" for judge in group["judges"])
    yield ""


def _cells(judge: Mapping[str, Any]) -> Iterator[str]:
    yield judge["judge"]
    yield DECISIONS[judge["decision"]].word
    for one in judge["estimates"].values():
        cell = show.quantity(*(one[part] for part in FIGURE))
        yield cell.in_table if cell.measured else "—"
    yield str(judge["lost"])
    yield "; ".join(name.removesuffix(", own pairs") for name in judge["broken"]) or "none"


def real_runs() -> str:
    """A row per run of a model that anybody can ask."""
    lines = [
        "",
        "| profile | reply | temperature | seed | planned | asked | read | decision | broken |",
    ]
    lines += ["|---|---|--:|--:|--:|--:|--:|---|---|"]
    for one in _committed()["runs"]:
        about = f"{one['profile']} | {one['reply']} | {one['temperature']:g} | {one['seed']}"
        decided = f"{DECISIONS[one['decision']].word} | {'; '.join(one['broken']) or 'none'}"
        lines.append(
            f"| {about} | {one['planned']} | {one['asked']} | {one['answered']} | {decided} |"
        )
    return "\n".join([*lines, "", ""])


FIGURE = ("value", "low", "high", "unit", "note")


def _committed() -> dict[str, Any]:
    """The figures of real judges."""
    file = Path(__file__).parent.parent / "examples" / "judges" / "estimates.json"
    return cast("dict[str, Any]", json.loads(file.read_text(encoding="utf-8")))


def judges_of_names() -> str:
    """A row per judge: the excess of wins that it gives to the systems of each maker."""
    judges = _committed()["own"]
    makers = [*judges[0]["estimates"]]
    lines = ["", f"| judge | calls | {' | '.join(makers)} |", f"|---|--:|{'--:|' * len(makers)}"]
    for one in judges:
        cells = (_quantity(one["estimates"][maker]) for maker in makers)
        lines.append(f"| {one['judge']} | {one['calls']:,} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", ""])


def corrected_results() -> str:
    """A row per table: the judge alone, corrected by labels on a part, and all labels."""
    head = "what | judge | labels of | rows, labelled | judge alone | corrected | all labels"
    lines = ["", f"| {head} |", "|---|---|---|--:|--:|--:|--:|"]
    for one in _committed()["corrected"]:
        cells = (_quantity(one[which]) for which in ("alone", "corrected", "all"))
        about = f"{one['about']} | {one['judge']} | {one['labels']}"
        lines.append(f"| {about} | {one['rows']:,}, {one['labelled']:,} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", ""])


def _quantity(one: Mapping[str, Any] | None) -> str:
    """A figure with its interval, as a table has it."""
    if one is None:
        return "—"
    return show.quantity(*(one[part] for part in FIGURE)).in_table


COMPARED = ("changes, other order", "changes, same order", "beyond noise", "stands first")


def providers() -> str:
    """One row per provider behind HTTP: its address, the variable with the key, its quirks."""
    lines = ["", "| judge | address | key | remarks |", "|---|---|---|---|"]
    for name in BEHIND_HTTP:
        row = PROVIDERS[name]
        own = f"`{row.url_env}` or `--base-url`" if row.url_env else "`--base-url`"
        address = f"`{row.base_url}`" if row.base_url else own
        key = f"`{row.key_env}`{'' if row.needs_key else ', if set'}" if row.key_env else "none"
        remarks = [row.note] if row.note else []
        remarks += ["no log-probabilities"] if not row.has_logprobs else []
        remarks += [f"`{row.url_env}` is another address"] if row.base_url and row.url_env else []
        lines.append(f"| `{name}/NAME` | {address} | {key} | {'; '.join(remarks)} |")
    return "\n".join([*lines, "", ""])


def batch_formats() -> str:
    """One row per format of batch files: whose it is, and what a file holds at most."""
    lines = ["", "| format | judges | requests a file | bytes a file |", "|---|---|---|---|"]
    for name, form in BATCH_FORMATS.items():
        judges = ", ".join(f"`{one}/…`" for one in BEHIND_HTTP if PROVIDERS[one].batch == name)
        limits = (form.most_requests, form.most_bytes)
        shown = " | ".join("no limit" if limit is None else f"{limit:,}" for limit in limits)
        lines.append(
            f"| `{name}` | {'all others' if name == Provider().batch else judges} | {shown} |"
        )
    return "\n".join([*lines, "", ""])


def simulated_parameters() -> str:
    """One row per parameter of a simulated judge: how it is written, its default, what it is."""
    lines = ["", "| key | value | default | what it is |", "|---|---|---|---|"]
    for name, (kind, about) in declared(Parameters).items():
        default = _written(getattr(Parameters(), name))
        lines.append(f"| `{name}` | {kind.words} | {default} | {about} |")
    return "\n".join([*lines, "", ""])


def presets() -> str:
    """One line per preset: what is planted in it beyond the defaults."""
    lines = [""]
    for name, parameters in PRESETS.items():
        planted = {key: getattr(parameters, key) for key in declared(Parameters)}
        pairs = ", ".join(
            f"`{key}={_written(value)}`"
            for key, value in planted.items()
            if value != getattr(Parameters(), key)
        )
        lines.append(f"- `sim/{name}`: {pairs or 'the defaults'}")
    return "\n".join([*lines, "", ""])


def _written(value: object) -> str:
    """A value as it stands in a judge's name."""
    if isinstance(value, tuple):
        return ":".join(map(_written, value))
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def ledger_schema() -> str:
    """The schema as SQLite gets it, with its comments."""
    return f"\nSchema version {SCHEMA_VERSION}.\n\n```sql\n{SCHEMA}```\n\n"


OWN, REPLY, SECONDS, IN_FLIGHT, PRICES = 40, 60, 2, 16, (0.40, 1.60)
"""Of the table of costs: conversations, tokens and seconds of a reply, calls at once, dollars."""


def costs() -> str:
    """What a job costs with so many conversations like the examples of `init`, by profile."""
    lines = [
        "",
        "| judge | profile | calls | minutes | tokens in | dollars | dollars at most |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for kind in ("scores", "pairs"):
        for profile in PROFILES:
            (one,) = _budgets(kind, profile)
            usual = cost(one.tokens_in, one.calls * REPLY, PRICES)
            most = cost(one.tokens_in, one.tokens_out_at_most, PRICES)
            minutes = one.calls * SECONDS / IN_FLIGHT / 60
            lines.append(
                f"| {kind} | `{profile}` | {one.calls:,} | {minutes:.1f} | {one.tokens_in:,} "
                f"| {usual:.2f} | {most:.2f} |"
            )
    return "\n".join([*lines, "", ""])


def _budgets(kind: str, profile: str) -> list[AxisBudget]:
    """The budget of `judgesheet plan` for the examples of a kind, repeated to so many stimuli."""
    with TemporaryDirectory() as place:
        judgesheet.init(place, kind=kind)
        (path,) = (Path(place) / "judge" / "stimuli").iterdir()
        examples = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        own = ({**examples[n % len(examples)], "id": f"own-{n}"} for n in range(OWN))
        path.write_text("\n".join(map(json.dumps, own)), encoding="utf-8")
        prompts = {path.stem: Path(place) / "judge" / "prompt.j2"}
        request = Request("openai/NAME", [path.stem], profile, path, prompts)
        settled = settle(request)
        return list(budget(make_plan(request, settled), settled.axes))


def limits_on_strangers() -> str:
    """What a stranger's text may take at most, for the page on security."""
    pair = f"{limits.LONGEST_ANSWER:,}; {limits.LONGEST_THOUGHT:,} characters"
    many = f"{limits.MOST_LINES:,}; {limits.MOST_MEMBERS:,}; {limits.MOST_COLUMNS:,}"
    rows = {
        "a searched file, a page that a template makes": f"{limits.LARGEST_TEXT:,} bytes",
        "a sheet": f"{limits.LARGEST_SHEET:,} bytes, {limits.MOST_PARTS_OF_A_SHEET:,} objects",
        "a page for the PDF": f"{limits.LARGEST_PAGE:,} characters",
        "a page of a template": f"{limits.LONGEST_PAGE_S:g} s",
        "an endpoint's answer, packed or not": f"{limits.LONGEST_BODY:,} bytes",
        "a line of a file, a cell of a table": f"{limits.LONGEST_LINE:,} characters",
        "a document or sample of a log, a planned call": f"{limits.LONGEST_DOCUMENT:,} characters",
        "a packed file": f"{limits.MOST_UNPACKED} times its size, beyond a million characters",
        "lists and objects within each other": f"{limits.MOST_DEPTH}",
        "a judge's answer; with its thought": pair,
        "lines of a file; members of an archive; columns of a table": many,
    }
    lines = ["", "| of | at most |", "|---|---|"]
    return "\n".join([*lines, *(f"| {what} | {most} |" for what, most in rows.items()), "", ""])

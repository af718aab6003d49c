"""One page over many sheets, to search and filter, each row opening its sheet; also in Markdown.

Judges that answered the same questions in the same protocol stand in one table, by name; nothing is
ranked, least of all across tables. What others wrote is escaped, and a content policy lets in
nothing but our style sheet and script.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from judgesheet.base.datasheet import by_key
from judgesheet.base.records import Datasheet
from judgesheet.sheet import show
from judgesheet.sheet.charts import judges_map
from judgesheet.sheet.identity import protocol_id
from judgesheet.sheet.markdown import Markdown, code, escape, table
from judgesheet.sheet.templates import filled

TEMPLATE = "index.html.jinja"
PER_AXIS = 2
"""Figures of an axis that are columns: the first rows of its characteristics."""
FILTERS = ("provider", "profile", "prompt", "stimuli", "protocol", "decision", "policy")
"""By what rows can be chosen, beside words of the judge's name."""
COMPARABLE = (
    "Judges in one table answered the same questions under the same protocol. Figures of "
    "different tables cannot be compared, and nothing is ranked."
)


class Listed(NamedTuple):
    """A sheet with its address relative to the page, and the folder where it was found."""

    address: str
    sheet: Datasheet
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A sheet: the address that it opens at, its judge, its `facts` by filter, a cell per column.

    `decided` is the decision with its policy, `folder` is where it was found, `measured` the moment
    in words, `ended` as the run has it. A cell is the value with its interval below, both in words.
    """

    address: str
    judge: str
    measured: str
    decided: str
    facts: Mapping[str, str]
    cells: tuple[tuple[str, str], ...]
    ended: str = ""
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Sheets that can be compared: of one protocol. `columns` are keys with their labels."""

    protocol: str
    about: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]


def render(sheets: Sequence[Listed], title: str) -> bytes:
    """The page over sheets."""
    groups = [*grouped(sheets)]
    rows = [row for group in groups for row in group.rows]
    choices = {name: sorted({row.facts[name] for row in rows}) for name in FILTERS}
    text = filled(
        TEMPLATE,
        "screen.css",
        "index.css",
        scripts=("sort.js", "index.js"),
        title=show.short(title, 100),
        groups=groups,
        choices={name: values for name, values in choices.items() if len(values) > 1},
        count=len(rows),
        comparable=COMPARABLE,
        chart=judges_map((show.judge(one.sheet), one.sheet) for one in sheets),
    )
    return text.encode("utf-8", "replace")


def render_markdown(sheets: Sequence[Listed], title: str) -> bytes:
    """The same tables in Markdown, for a wiki or a README."""
    parts = [Markdown(f"# {escape(title)}"), escape(COMPARABLE)]
    for group in grouped(sheets):
        parts += [Markdown(f"## Protocol {code(group.protocol)}"), escape(group.about)]
        parts.append(_with_decisions(group))
    return ("\n\n".join(parts) + "\n").encode("utf-8", "replace")


def _with_decisions(group: Group) -> Markdown:
    """A group as the page has it, in Markdown."""
    rows = [(_linked(row), row.measured, row.decided, *_in_line(row)) for row in group.rows]
    heads = ("Judge", "Measured", "Decision", *(label for _, label in group.columns))
    return table(heads, "lll" + "r" * len(group.columns), rows)


def as_table(group: Group, head: str) -> Markdown:
    """The figures of a group as a table in Markdown: a judge per row."""
    rows = [(_linked(row), *_in_line(row)) for row in group.rows]
    heads = (head, *(label for _, label in group.columns))
    return table(heads, "l" + "r" * len(group.columns), rows)


def _in_line(row: Row) -> Iterator[str]:
    """Each figure with its interval beside it."""
    return (f"{value} ({interval})" if interval else value for value, interval in row.cells)


def _linked(row: Row) -> Markdown:
    name = Markdown(f"[{escape(row.judge)}]({row.address})") if row.address else escape(row.judge)
    return Markdown(f"{name} {escape(row.folder)}") if row.folder else name


def grouped(sheets: Sequence[Listed]) -> Iterator[Group]:
    """The sheets by protocol, the largest group first, each in the order of judges' names."""
    by_protocol: dict[str, list[Listed]] = {}
    for listed in sheets:
        by_protocol.setdefault(protocol_id(listed.sheet), []).append(listed)
    ranked = sorted(by_protocol.items(), key=lambda item: (-len(item[1]), item[0]))
    for protocol, members in ranked:
        columns = tuple(_columns([one.sheet for one in members]))
        rows = [_row(one, protocol, columns) for one in members]
        about = _about(one.sheet for one in members)
        yield Group(
            protocol,
            about,
            columns,
            tuple(sorted(rows, key=lambda row: (row.judge.lower(), row.folder))),
        )


def _columns(sheets: Sequence[Datasheet]) -> Iterator[tuple[str, str]]:
    """The first figures of every axis that any of the sheets has a value of."""
    keys: dict[str, str] = {}
    for sheet in sheets:
        found = by_key(sheet)
        for axis in sheet.axes:
            known = [row.key for row in axis.characteristics if row.key in found]
            valued = [key for key in known if found[key].value is not None]
            for key in valued[:PER_AXIS]:
                keys.setdefault(key, show.short(found[key].label, 60))
    yield from keys.items()


def _row(listed: Listed, protocol: str, columns: Sequence[tuple[str, str]]) -> Row:
    sheet = listed.sheet
    return Row(
        listed.address,
        show.short(show.judge(sheet), 90),
        show.moment(sheet.run.ended_at),
        _decided(sheet),
        {name: show.short(text, 90) for name, text in _facts(sheet, protocol).items()},
        tuple(_cell(sheet, key) for key, _ in columns),
        show.short(sheet.run.ended_at or "", 40),
        show.visible(listed.folder, 200),
    )


def _facts(sheet: Datasheet, protocol: str) -> dict[str, str]:
    prompts, stimuli = (
        ", ".join(dict.fromkeys(str(part.name) for part in used))
        for used in (sheet.provenance.prompts, sheet.provenance.stimuli)
    )
    return {
        "provider": sheet.judge.provider or "unknown",
        "profile": sheet.run.profile or "unknown",
        "prompt": prompts or "not recorded",
        "stimuli": stimuli or "not recorded",
        "protocol": protocol,
        "decision": sheet.decision.verdict if sheet.decision else "no policy",
        "policy": sheet.decision.policy_and_digest if sheet.decision else "no policy",
    }


def _decided(sheet: Datasheet) -> str:
    """The decision and the policy that it was made under: other limits decide otherwise."""
    if sheet.decision is None:
        return "no policy"
    return show.visible(f"{sheet.decision.verdict} under {sheet.decision.policy_and_digest}", 120)


def _cell(sheet: Datasheet, key: str) -> tuple[str, str]:
    """A figure in words: its value and its interval, and that with lost calls where they move it.

    That it is void where it must not be used.
    """
    for axis in sheet.axes:
        for estimate in axis.estimates:
            if estimate.key == key:
                if axis.void_reason(key):
                    return "∅ not usable", ""
                shown, lost = show.estimate(estimate), show.imputed(estimate)
                note = f"lost calls counted: {lost}" if lost not in ("", shown.interval) else ""
                return shown.with_unit, "; ".join(filter(None, (shown.interval, note)))
    return "–", ""


def _about(sheets: Iterable[Datasheet]) -> str:
    """What the sheets of a protocol have in common, as far as it is known."""
    shared = [texts[0] for texts in zip(*map(_settings, sheets), strict=True) if len({*texts}) == 1]
    return show.short(", ".join(filter(None, shared)), 200)


def _settings(sheet: Datasheet) -> tuple[str, ...]:
    facts, temperature = _facts(sheet, ""), sheet.run.temperature
    return (
        *(f"{name} {facts[name]}" for name in ("profile", "prompt", "stimuli")),
        f"{sheet.run.reply} replies",
        "" if temperature is None else f"temperature {temperature}",
    )

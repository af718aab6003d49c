"""How far judges agree and where they part, in tables: of two in rows, of more as matrices."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from judgesheet.sheet import show
from judgesheet.sheet.report import DASH, ReportTable, worded

if TYPE_CHECKING:
    from judgesheet.decide.agreement import Agreed, Agreement, Parting

Words = Mapping[tuple[str, str], str]
READING = (
    "Cohen's kappa over calls (the same question in the same order): 1 is agreement, 0 what chance "
    "would give, with 95 % intervals over stimuli. Quadratic weights count how far two verdicts "
    "are apart; a tie is between the two responses. Repeats of one judge would not agree fully "
    "either, and judges that share a fault agree on it."
)
ABOVE = "Upper right triangle: plain kappa; lower left triangle: kappa with quadratic weights."
BELOW = "With quadratic weights."


def grids(found: "Agreement | None") -> tuple[ReportTable, ...]:
    """The tables; none where judges' verdicts are not known."""
    if found is None or not found.pairs:
        return ()
    agreed = _of_two(found.pairs) if len(found.judges) == 2 else tuple(_matrices(found))
    return (*agreed, partings("Questions", found.judges, found.partings))


def _of_two(pairs: "Sequence[Agreed]") -> tuple[ReportTable, ...]:
    rows = tuple(
        (
            _part(one), show.count(one.calls),
            DASH if one.equal is None else show.quantity(one.equal, given_in="share").in_table,
            worded(one.plain, "kappa"), worded(one.quadratic, "kappa"),
        )
        for one in pairs
    )  # fmt: skip
    head = ("Axis", "Calls", "Same verdict", "Kappa", "Quadratic")
    return (ReportTable("Agreement", READING, head, "lrrrr", rows),)


def _matrices(found: "Agreement") -> Iterator[ReportTable]:
    """One per axis or part of it; the first explains them."""
    for number, (part, pairs) in enumerate(groupby(found.pairs, _part)):
        known = {(one.first, one.second): one for one in pairs}
        plain = {both: worded(one.plain, "kappa") for both, one in known.items()}
        below = {both: worded(one.quadratic, "kappa") for both, one in known.items()}
        told = ABOVE if any(one.plain for one in known.values()) else BELOW
        reading = told if number else f"{READING} {told}"
        yield matrix(f"Agreement: {part}", reading, found.judges, plain, below)


def matrix(
    title: str, reading: str, judges: Sequence[str], above: Words, below: Words
) -> ReportTable:
    """Every two judges, in words `above` the diagonal and `below` it; a dash where there are none.

    Both are looked up by the two names in the order of `judges`.
    """
    names = [show.visible(judge, 60) for judge in judges]
    rows = [
        [name] + [_cell(judges, row, column, above, below) for column in range(len(names))]
        for row, name in enumerate(names)
    ]
    return ReportTable(
        title, reading, ("", *names), "l" + "r" * len(names), tuple(tuple(row) for row in rows)
    )


def _cell(judges: Sequence[str], row: int, column: int, above: Words, below: Words) -> str:
    if row == column:
        return ""
    words = above if row < column else below
    return words.get((judges[min(row, column)], judges[max(row, column)]), DASH)


def _part(agreed: "Agreed") -> str:
    return show.visible(", ".join(filter(None, (agreed.axis, agreed.kind, agreed.part))), 120)


def partings(what: str, judges: Sequence[str], found: "Sequence[Parting]") -> ReportTable:
    """The questions that divide the judges most, with a command that opens the replies."""
    head = ("Stimulus", "Question", "Said")
    rows = tuple(
        (show.visible(one.stimulus, 80), show.visible(one.question, 160),
         show.visible("; ".join(one.votes), 400))
        for one in found
    )  # fmt: skip
    if not rows:
        return ReportTable("Where they disagree", "Nowhere.", head, "lll", ())
    reading = (
        f"{what} on which the judges disagree most, and what each said, in the order of the "
        f"judges: {show.visible(', '.join(judges), 400)}. Of two responses that is the name of "
        "one, whatever slot it was in, or a tie; of scores, the mean over calls. The command below "
        "shows the first judge's replies to the first one; the JSON has a command per judge and "
        "question."
    )
    return ReportTable("Where they disagree", reading, head, "lll", rows,
                show.visible(found[0].commands[0], 300))  # fmt: skip

"""RewardBench 2, and any set in its form: a prompt, `chosen` answers and `rejected` ones.

Candidates are listed in an order drawn from the digest of their texts, so that neither place nor
name tells which is best. Questions in this form from elsewhere (TruthfulQA, say) are read the same
way; a result on them is no result on RewardBench.
"""

from collections.abc import Iterator

from judgesheet.axis.shaping import Holds
from judgesheet.base.errors import StimuliError
from judgesheet.base.records import digest
from judgesheet.importers._piece import Format, ImportOptions, Piece, Skip
from judgesheet.importers._rows import Row


def read(rows: Iterator[Row], choice: ImportOptions) -> Iterator[Piece | Skip]:
    """The answers of the chosen subsets (`--system` names a subset here)."""
    for row in rows:
        if choice.keeps(row.cells.get("subset")):
            yield from _answers(row)
        else:
            yield Skip(row.where, "a subset that was not chosen")


def _answers(row: Row) -> Iterator[Piece]:
    best, others = row.texts("chosen"), row.texts("rejected")
    if not best or not others:
        raise StimuliError(f"{row.where}: chosen and rejected need an answer each")
    for number, answer in enumerate([*best, *others]):
        yield Piece(
            where=row.where,
            key=row.text("id"),
            prompt=row.text("prompt"),
            domain=row.optional("category"),
            source=row.optional("subset"),
            # The number too: two answers may have the same words.
            item=f"c{digest(f'{number} {answer}')[:6]}",
            text=answer,
            gold=number < len(best),
        )


FORMAT = Format(
    read,
    Holds.BEST,
    licence="ODC-BY for RewardBench 2; another set in its form has its own",
    attribution="RewardBench 2 (Malik et al. 2025), where the file is that; name your own source.",
)

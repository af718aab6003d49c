"""RewardBench 2, and any set in its form: a prompt, `chosen` answers and `rejected` ones.

Candidates are listed in an order drawn from the digest of their texts, so that neither place nor
name tells which is best. Questions in this form from elsewhere (TruthfulQA, say) are read the same
way; a result on them is no result on RewardBench.
"""

from collections.abc import Iterator

from judgesheet.errors import StimuliError
from judgesheet.importers._piece import (
    Choice,
    Head,
    Piece,
    Row,
    Rows,
    Skip,
    optional_text,
    text,
    texts,
)
from judgesheet.records import digest

NAME = "rewardbench2"
AXES = ("listwise_consensus", "candidate_order")
LICENCE = "ODC-BY for RewardBench 2; another set in its form has its own"
ATTRIBUTION = "RewardBench 2 (Malik et al. 2025), where the file is that; name your own source."
SCALE = None
RUBRICS: dict[str, tuple[str, ...]] = {}


def read(rows: Rows, choice: Choice) -> Iterator[Piece | Skip]:
    """The answers of the chosen subsets (`--system` names a subset here)."""
    for where, row in rows:
        if choice.systems and row.get("subset") not in choice.systems:
            yield Skip(where, "a subset that was not chosen")
        else:
            yield from _answers(where, row)


def _answers(where: str, row: Row) -> Iterator[Piece]:
    prompt = text(row, "prompt", where)
    best, others = texts(row, "chosen", where), texts(row, "rejected", where)
    if not best or not others:
        raise StimuliError(f"{where}: chosen and rejected need an answer each")
    head = Head(
        prompt=prompt,
        domain=optional_text(row, "category", where) or "",
        source=optional_text(row, "subset", where) or "",
    )
    for number, answer in enumerate([*best, *others]):
        yield Piece(
            where=where,
            key=text(row, "id", where),
            head=head,
            item=f"c{digest(f'{number} {answer}')[:6]}",
            text=answer,
            gold=number < len(best),
        )

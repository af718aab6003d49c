"""Prometheus: instruction, response, reference answer and a rubric of five described scores.

Two forms are read: MT-Bench and Vicuna Bench as one object per response (`instruction`, `response`,
`reference`, `rubric`, `gpt4_score`), and the Feedback Collection (`orig_instruction`,
`orig_response`, `orig_reference_answer`, `orig_criteria`, `orig_score1_description` …,
`orig_score`). Their scores were given by GPT-4: they are labels of kind "model", never people's.

A question of a dialogue comes with each model's own first answer. Then the user's turns are the
prompt, and the earlier answer stands before each response, so that all responses to one question
stay one stimulus.
"""

import re
from collections.abc import Iterator

from judgesheet.axis.shaping import Holds
from judgesheet.importers._piece import Format, ImportOptions, Piece, Skip, key_of
from judgesheet.importers._rows import Row

SCORES = ("1", "2", "3", "4", "5")

_DIALOGUE = re.compile(
    r"Here is a previous dialogue.*?\nUser: (?P<first>.*?)\n\nAssistant:(?P<answer>.*)"
    r"\n\nUser: (?P<last>.*)\n\nAssistant:\s*",
    re.DOTALL,
)


def read(rows: Iterator[Row], choice: ImportOptions) -> Iterator[Piece | Skip]:
    """The responses of the chosen models."""
    for row in rows:
        piece = _collected(row) if row.cells.get("orig_instruction") else _benched(row)
        yield piece if choice.keeps(piece.item) else Skip(row.where)


def _benched(row: Row) -> Piece:
    rubric = row.row("rubric")
    prompt, earlier = _turns(row.text("instruction"))
    response = row.text("response")
    if earlier:
        response = f"Earlier answer:\n{earlier}\n\nAnswer to grade:\n{response}"
    return Piece(
        where=row.where,
        key=row.optional("prompt_id") or key_of(prompt),
        prompt=prompt,
        domain=row.optional("category"),
        reference=row.optional("reference"),
        rubrics={rubric.text("criteria"): {"levels": [rubric.text(score) for score in SCORES]}},
        item=row.optional("response_source") or row.where,
        text=response,
        model=row.numbers("gpt4_score") if "gpt4_score" in row.cells else [],
    )


def _turns(instruction: str) -> tuple[str, str]:
    """(prompt, earlier answer): the user's two turns of a dialogue, or the instruction and "".

    Where an answer quotes a dialogue itself, the split may fail; then the prompts of one
    question differ and the import is refused, not guessed.
    """
    dialogue = _DIALOGUE.fullmatch(instruction)
    if dialogue is None:
        return instruction, ""
    first, last = dialogue["first"].strip(), dialogue["last"].strip()
    prompt = f"User: {first}\n\nAssistant: (an earlier answer, shown with each response)"
    return f"{prompt}\n\nUser: {last}", dialogue["answer"].strip()


def _collected(row: Row) -> Piece:
    prompt, criterion = row.text("orig_instruction"), row.text("orig_criteria")
    response = row.text("orig_response")
    levels = [row.text(f"orig_score{score}_description") for score in SCORES]
    return Piece(
        where=row.where,
        key=key_of(f"{prompt}\n{criterion}"),
        prompt=prompt,
        reference=row.optional("orig_reference_answer"),
        rubrics={criterion: {"levels": levels}},
        item=key_of(response),
        text=response,
        model=row.numbers("orig_score"),
    )


FORMAT = Format(
    read,
    Holds.RUBRIC,
    licence="Apache-2.0 (Prometheus-Eval); check the terms of the responses' models",
    attribution=(
        "Prometheus-Eval (Kim et al. 2024); prompts of MT-Bench and Vicuna Bench by LMSYS; "
        "reference answers and scores by GPT-4."
    ),
    scale=(1.0, 5.0),
)

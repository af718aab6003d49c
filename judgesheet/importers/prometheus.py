"""Prometheus: instruction, response, reference answer and a rubric of five described scores.

Two forms are read: MT-Bench and Vicuna Bench as one object a response (`instruction`, `response`,
`reference`, `rubric`, `gpt4_score`), and the Feedback Collection (`orig_instruction`,
`orig_response`, `orig_reference_answer`, `orig_criteria`, `orig_score1_description` …,
`orig_score`). Their scores were given by GPT-4: they are labels of kind "model", never people's.

A question of a dialogue comes with each model's own first answer. Then the user's turns are the
prompt, and the earlier answer stands before each response, so that all responses to one question
stay one stimulus.
"""

import re
from collections.abc import Iterator

from judgesheet.importers._piece import (
    Choice,
    Head,
    Piece,
    Row,
    Rows,
    Skip,
    key_of,
    mapping,
    numbers,
    optional_text,
    text,
    value,
)

NAME = "prometheus"
AXES = ("score_order", "listwise_consensus", "candidate_order")
LICENCE = "Apache-2.0 (Prometheus-Eval); check the terms of the responses' models"
ATTRIBUTION = (
    "Prometheus-Eval (Kim et al. 2024); prompts of MT-Bench and Vicuna Bench by LMSYS; reference "
    "answers and scores by GPT-4."
)
SCALE = (1.0, 5.0)
RUBRICS: dict[str, tuple[str, ...]] = {}
SCORES = ("1", "2", "3", "4", "5")

_DIALOGUE = re.compile(
    r"Here is a previous dialogue.*?\nUser: (?P<first>.*?)\n\nAssistant:(?P<answer>.*)"
    r"\n\nUser: (?P<last>.*)\n\nAssistant:\s*",
    re.DOTALL,
)


def read(rows: Rows, choice: Choice) -> Iterator[Piece | Skip]:
    """The responses of the chosen models."""
    for where, row in rows:
        piece = _collected(where, row) if "orig_instruction" in row else _benched(where, row)
        if choice.systems and piece.item not in choice.systems:
            yield Skip(where, "a system that was not chosen")
        else:
            yield piece


def _benched(where: str, row: Row) -> Piece:
    rubric = mapping(row, "rubric", where)
    prompt, earlier = _turns(text(row, "instruction", where))
    response = text(row, "response", where)
    if earlier:
        response = f"Earlier answer:\n{earlier}\n\nAnswer to grade:\n{response}"
    return Piece(
        where=where,
        key=optional_text(row, "prompt_id", where) or key_of(prompt),
        head=Head(
            prompt=prompt,
            domain=optional_text(row, "category", where) or "",
            reference=optional_text(row, "reference", where),
            rubric=(
                text(rubric, "criteria", where),
                tuple(text(rubric, score, where) for score in SCORES),
            ),
        ),
        item=optional_text(row, "response_source", where) or where,
        text=response,
        model=numbers(row.get("gpt4_score", []), where, "gpt4_score"),
    )


def _turns(instruction: str) -> tuple[str, str]:
    """(prompt, earlier answer): the user's two turns of a dialogue, or the instruction and "".

    Where an answer quotes a dialogue itself, the split may fail; then the prompts of one
    question differ and the import is refused, not guessed.
    """
    found = _DIALOGUE.fullmatch(instruction)
    if found is None:
        return instruction, ""
    first, last = found["first"].strip(), found["last"].strip()
    prompt = f"User: {first}\n\nAssistant: (an earlier answer, shown with each response)"
    return f"{prompt}\n\nUser: {last}", found["answer"].strip()


def _collected(where: str, row: Row) -> Piece:
    prompt = text(row, "orig_instruction", where)
    levels = tuple(text(row, f"orig_score{score}_description", where) for score in SCORES)
    criterion, response = text(row, "orig_criteria", where), text(row, "orig_response", where)
    return Piece(
        where=where,
        key=key_of(f"{prompt}\n{criterion}"),
        head=Head(
            prompt=prompt,
            reference=optional_text(row, "orig_reference_answer", where),
            rubric=(criterion, levels),
        ),
        item=key_of(response),
        text=response,
        model=numbers(value(row, "orig_score", where), where, "orig_score"),
    )

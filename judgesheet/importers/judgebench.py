"""JudgeBench: two answers of one model to a hard question, one of them correct."""

from functools import partial

from judgesheet.axis.shaping import Holds
from judgesheet.importers import plain
from judgesheet.importers._piece import Format

COLUMNS = {
    "stimulus": "pair_id",
    "prompt": "question",
    "u": "response_A",
    "v": "response_B",
    "better": "label",
    "source": "source",
    "item": "response_model",
}

FORMAT = Format(
    partial(plain.mapped, columns=COLUMNS),
    Holds.PAIR,
    licence="MIT (its data set card)",
    attribution=(
        "JudgeBench (Tan et al. 2024, arXiv 2410.12784); questions from MMLU-Pro, LiveBench and "
        "LiveCodeBench."
    ),
)

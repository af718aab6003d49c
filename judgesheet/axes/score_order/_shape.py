"""Imported prompts as stimuli: responses graded on the one criterion that was chosen."""

from typing import Any

from judgesheet.axis.shaping import Holds, Prompt, candidate, heading
from judgesheet.base.errors import UsageError

TAKES = {Holds.RUBRIC: 0, Holds.RATINGS: 1, Holds.ANSWERS: 2}


def shape(prompt: Prompt) -> dict[str, Any]:
    """The prompt with its rubric and all its responses.

    UsageError unless exactly one criterion is described.
    """
    if not prompt.rubrics:
        raise UsageError(
            "score_order needs described scores; give them with --rubric FILE "
            '({"criterion name": ["worst", …, "best"]})'
        )
    if len(prompt.rubrics) > 1:
        names = ", ".join(prompt.rubrics)
        raise UsageError(f"score_order grades one criterion; choose it with --criterion: {names}")
    [(criterion, levels)] = prompt.rubrics.items()
    return {
        **heading(prompt),
        "rubric": {"criterion": criterion, "levels": list(levels)},
        "candidates": [
            candidate(one, human=one.scores(criterion), model=one.model) for one in prompt.responses
        ],
    }

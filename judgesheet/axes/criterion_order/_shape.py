"""Imported prompts as stimuli: responses graded on all chosen criteria at once."""

from typing import Any

from judgesheet.axis.shaping import Holds, Prompt, candidate, heading, known
from judgesheet.base.errors import UsageError

TAKES = {Holds.RATINGS: 0}


def shape(prompt: Prompt) -> dict[str, Any]:
    """The prompt with its criteria and all its responses.

    UsageError unless two criteria or more are described.
    """
    if len(prompt.rubrics) < 2:
        raise UsageError(
            "criterion_order needs two criteria or more; give them with --rubric FILE "
            '({"criterion name": ["worst", …, "best"], …}), and no --criterion'
        )
    return {
        **heading(prompt),
        "criteria": [
            {"name": name, "levels": list(levels)} for name, levels in prompt.rubrics.items()
        ],
        "candidates": [
            candidate(one, human=known(**{name: one.human.get(name) for name in prompt.rubrics}))
            for one in prompt.responses
        ],
    }

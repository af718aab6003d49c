"""Imported prompts as stimuli: all responses compete, in an order that says nothing about them."""

from typing import Any

from judgesheet.axis.shaping import Holds, NotAStimulusError, Prompt, candidate, heading, known

TAKES = {Holds.ANSWERS: 0, Holds.BEST: 0, Holds.RUBRIC: 1}


def shape(prompt: Prompt) -> dict[str, Any]:
    """The prompt with its responses and the right one or ones, if they are known.

    NotAStimulusError if there are fewer than two responses, or two of the same text.
    """
    drawn = prompt.shuffled()
    if len({response.text for response in drawn}) < len(drawn):
        raise NotAStimulusError("two responses are the same text")
    if len(drawn) < 2:
        raise NotAStimulusError("fewer than two responses")
    gold = [response.id for response in drawn if response.gold]
    return {
        **heading(prompt),
        **known(source=prompt.source),
        "gold": gold[0] if len(gold) == 1 else gold or None,
        "candidates": [candidate(response) for response in drawn],
    }

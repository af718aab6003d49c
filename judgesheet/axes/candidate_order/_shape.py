"""Imported prompts as stimuli: one pair per prompt, since several would not be independent."""

from typing import Any

from judgesheet.axis.shaping import Holds, NotAStimulusError, Prompt, Response, known

TAKES = {Holds.PAIR: 0, Holds.ANSWERS: 1, Holds.BEST: 1, Holds.RUBRIC: 2}


def shape(prompt: Prompt) -> dict[str, Any]:
    """The pair with what is known about the better one.

    NotAStimulusError if there are no two responses that differ.
    """
    u, v = _pair(prompt)
    if u.text == v.text:
        raise NotAStimulusError("the two responses are the same text")
    better = None if u.gold == v.gold else "u" if u.gold else "v"
    return {
        "id": prompt.id,
        "request": prompt.text,
        "u": u.text,
        "v": v.text,
        "better": better,
        **known(source=prompt.source),
    }


def _pair(prompt: Prompt) -> tuple[Response, Response]:
    """The pair as the source names it, else a best and another one, on sides drawn by content."""
    named = {response.id: response for response in prompt.responses}
    if named.keys() == {"u", "v"}:
        return named["u"], named["v"]
    drawn = prompt.shuffled()
    best = [response for response in drawn if response.gold]
    rest = [response for response in drawn if not response.gold]
    both = [best[0], rest[0]] if best and rest else drawn[:2]
    if len(both) < 2:
        raise NotAStimulusError("fewer than two responses")
    first, second = sorted(both, key=drawn.index)
    return first, second

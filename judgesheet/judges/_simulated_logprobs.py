"""What a simulated judge returns when it is asked for log-probabilities: an OpenAI completion."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

_NEVER = -9999.0
"""How endpoints write the logarithm of 0, for which JSON has no number."""


def completion(text: str, shares: Mapping[int, float], most: int) -> str:
    """The body of a response that says `text`, whose last number is the score.

    The score is a token of its own with its `most` likeliest alternatives, as planted in `shares`;
    the tokens around it were certain.
    """
    parts = re.fullmatch(r"(?s)(.*\D)(\d+)(\D*)", text)
    if parts is None:
        tokens = [_certain(text)]
    else:
        head, score, tail = parts.groups()
        likeliest = sorted(shares.items(), key=lambda share: -share[1])[:most]
        top = [_token(str(one), share) for one, share in likeliest]
        middle = {**_token(score, shares[int(score)]), "top_logprobs": top}
        tokens = [_certain(head), middle, *([_certain(tail)] if tail else [])]
    choice = {"message": {"role": "assistant", "content": text}, "logprobs": {"content": tokens}}
    return json.dumps({"choices": [choice]})


def _certain(text: str) -> dict[str, Any]:
    return {**_token(text, 1.0), "top_logprobs": [_token(text, 1.0)]}


def _token(text: str, share: float) -> dict[str, Any]:
    return {"token": text, "logprob": math.log(share) if share else _NEVER}

"""What a run says nothing about although users will ask: every axis says so among its caveats."""

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

Question = Literal["length", "style", "own_model", "people"]
QUESTIONS: Mapping[Question, str] = {
    "length": "whether it prefers longer responses",
    "style": "whether it prefers a style or a format",
    "own_model": "whether it prefers responses of its own model",
    "people": "how far it agrees with people",
}


def untested(tested: Collection[Question] = ()) -> Iterator[str]:
    """The caveat that names the questions which a run did not ask."""
    left = [words for question, words in QUESTIONS.items() if question not in tested]
    if left:
        yield f"Not tested on this axis: {'; '.join(left)}."

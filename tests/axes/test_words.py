"""How findings say numbers."""

import pytest

from judgesheet.axis.words import percent


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0 %"),
        (1, "100 %"),
        (0.0001, "0.1 %"),
        (0.9999, "99.9 %"),
        (0.45, "45 %"),
        (-0.058, "−6 %"),
        (-0.0001, "−0.1 %"),
        (-1, "−100 %"),
    ],
)
def test_a_share_is_rounded_but_never_to_another_sign(value: float, words: str) -> None:
    assert percent(value) == words

"""Where many first replies of an axis cannot be read, the user hears of it while the run begins."""

from pathlib import Path

import pytest

import judgesheet
from tests.judges.loopback import Answer, completion, serving

HOSTILE = "Fair.\u202e ##[error]So \x1b[31mI give\n\na 4"


def probed(out: Path, every: int) -> list[str]:
    """What `probe` told of a judge that forgets the form in every so-and-so-many-th reply."""

    def script(_request: object, number: int) -> Answer:
        return completion(HOSTILE if number % every == 0 else "[RESULT] 3")

    messages: list[str] = []
    with serving(script) as server:
        judgesheet.probe(
            "openai-compatible/m", out, base_url=server.base_url, axes=["score_order"],
            profile="smoke", reply="text", pdf=False, concurrency=1, max_calls=26,
            cases=False, tell=messages.append,
        )  # fmt: skip
    return messages


@pytest.mark.parametrize(("every", "times"), [(2, 1), (5, 1), (6, 0)])
def test_a_fifth_of_the_first_replies_is_reported_once(
    tmp_path: Path, every: int, times: int
) -> None:
    assert len(probed(tmp_path, every)) == times


def test_one_of_the_replies_is_shown_and_what_would_read_it(tmp_path: Path) -> None:
    (said,) = probed(tmp_path, 2)
    assert "score_order" in said
    assert "I give a 4" in said
    assert "--parser" in said
    assert said.isprintable()
    assert "##[" not in said

"""The corpus of replies: whole, and read as people read it. `python -m tests.replies` counts."""

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import judgesheet
from judgesheet.axes import get_axis
from judgesheet.base.finish_reasons import is_token_limit
from judgesheet.reading.reasoning import answer, without_reasoning
from tests.judges.loopback import Answer, completion, serving
from tests.replies import Case, cases, counts, real_replies
from tests.simulate import SHARED


def test_corpus_covers_every_axis_and_format() -> None:
    groups = Counter((case.axis, case.reply) for case in cases())
    assert len(groups) == 8
    assert groups.total() >= 400


def test_every_reply_has_a_name_of_its_own_and_stands_there_once() -> None:
    assert max(Counter(case.id for case in cases()).values()) == 1
    content = ((c.axis, c.reply, json.dumps(c.cell), c.finish, c.text) for c in cases())
    assert max(Counter(content).values()) == 1


def test_expected_readings_are_verdicts_of_their_axis() -> None:
    for case in cases():
        read = get_axis(case.axis).parse(json.dumps(case.expected), "recorded", case.cell)
        assert read == case.expected, case.id


def test_no_reply_is_read_wrongly_and_nearly_all_plain_ones_are_read() -> None:
    kinds: Counter[str] = Counter()
    for (_, _, kind), count in counts().items():
        kinds[kind] += count
    assert kinds["wrongly read"] == 0
    plain = sum(case.expected is not None for case in cases())
    assert kinds["unread though plain"] <= 0.02 * plain


@pytest.mark.parametrize("sign", "-‐‑−–—")
def test_a_number_behind_a_sign_is_another_one(sign: str) -> None:
    assert get_axis("score_order").parse(f"[RESULT] {sign}3", "text", {"scale": 5}) is None


def test_no_verdict_is_read_in_what_real_models_wrote_of_other_things() -> None:
    public = SHARED / "data"
    if not public.is_dir():
        pytest.skip("the public data are not here")
    files = [public / f"{name}.jsonl.gz" for name in ("mt_bench", "vicuna")]
    lines = [line for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]
    texts = [json.loads(line)["response"] for line in lines]
    cells = {(case.axis, case.reply): case.cell for case in cases()}
    for (axis, reply), cell in cells.items():
        read = [get_axis(axis).parse(text, reply, cell) for text in texts]
        assert read == [None] * len(texts)
    for text in texts:
        found = get_axis("score_order").parse(f"{text}\n\n[RESULT] 3", "text", {"scale": 5})
        assert found == 3


def test_two_different_verdicts_are_unreadable_however_each_is_dressed() -> None:
    pairs = 0
    for one, other in _differing():
        read = get_axis(one.axis).parse(f"{one.text}\n\n{other.text}", one.reply, one.cell)
        assert read is None, (one.id, other.id)
        pairs += 1
    assert pairs > 900


def _differing() -> Iterator[tuple[Case, Case]]:
    """Readable replies to the same question that say different things, without thought or end.

    All before the end of a thought is dropped, and all behind the end of a turn.
    """
    groups = defaultdict(list)
    for case in cases():
        ends = not answer(f"{case.text} x").endswith("x")
        if case.expected is not None and without_reasoning(case.text) == case.text and not ends:
            groups[case.axis, case.reply, json.dumps(case.cell)].append(case)
    for group in groups.values():
        for step in range(1, 4):
            for one, other in zip(group, group[step:], strict=False):
                if one.expected != other.expected and None not in (one.found, other.found):
                    yield one, other


def test_a_plain_reply_that_did_not_end_by_itself_is_unreadable() -> None:
    for case in cases():
        for reason in (
            "length",
            "model_length",
            "MAX_TOKENS",
            "SAFETY",
            "incomplete",
            "never seen",
        ):
            assert replace(case, finish=reason).found is None


@pytest.mark.parametrize("reason", [None, "", "stop", "end_turn", "STOP", "COMPLETE", "eos"])
def test_a_reply_that_ended_by_itself_is_whole_in_every_dialect(reason: str | None) -> None:
    plain = next(case for case in cases() if case.finish == "stop" and case.expected is not None)
    assert replace(plain, finish=reason).found == plain.expected


def test_the_token_limit_is_distinguished_from_other_ends_in_every_dialect() -> None:
    limits, others = ("length", "model_length", "MAX_TOKENS"), ("SAFETY", "incomplete", "new", None)
    assert all(map(is_token_limit, limits))
    assert not any(map(is_token_limit, others))


@pytest.mark.parametrize(("reason", "shape"), [("MAX_TOKENS", "cut_off"), ("new\u202e", "cut_off")])
def test_replies_that_did_not_end_by_themselves_are_counted_by_reason(
    tmp_path: Path, reason: str, shape: str
) -> None:
    def script(_request: object, number: int) -> Answer:
        return completion("[RESULT] 4", finish_reason=reason if number % 2 else "stop")

    messages: list[str] = []
    with serving(script) as server:
        run = judgesheet.probe(
            "openai-compatible/m", tmp_path, base_url=server.base_url, axes=["score_order"],
            profile="smoke", reply="text", pdf=False, cases=False, tell=messages.append,
        )  # fmt: skip
    (axis,) = run.datasheet.axes
    assert run.progress is not None
    assert axis.unreadable == run.progress.unreadable
    assert abs(axis.unreadable - axis.planned / 2) <= 1
    (lost,) = [one for one in axis.estimates if one.key == "score_order.loss_rate"]
    assert lost.given["reasons"] == {shape: axis.unreadable}
    assert len(messages) == 1


def test_every_sign_of_an_answer_stands_where_it_stands_in_the_reply() -> None:
    assert {len(answer(case.text)) - len(case.text) for case in cases() if answer(case.text)} == {0}


REPLIES = SHARED / "data" / "real_judge_replies.jsonl.gz"


@pytest.mark.skipif(not REPLIES.exists(), reason="the public data are not here")
def test_replies_of_real_judges_are_read_as_a_careful_reader_does() -> None:
    found = Counter(kind for _, _, kind in real_replies(REPLIES))
    assert found["wrongly read"] == 0
    assert found["unread though plain"] <= 0.006 * found.total()

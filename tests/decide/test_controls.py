"""Controls: how each comes out, which figures a failed one makes void, and how to correct it."""

from dataclasses import replace
from typing import Any

import pytest

from judgesheet.base.facts import JudgeIdentity, Looks, ParserUsed, PolicyName, Provenance, RunFacts
from judgesheet.base.records import AxisResult, Bounds, Control, Datasheet, Estimate, Imputed
from judgesheet.decide import decide
from judgesheet.decide.controls import COMPLETE, READ, SERVED
from judgesheet.decide.gate import WORSE
from judgesheet.decide.policy import Policy, parse
from judgesheet.reading.reasons import REASONS

KEY, OTHER = "one.rate", "one.other"


def rate(
    key: str, value: float = 0.1, low: float = 0.05, high: float = 0.15, **more: Any
) -> Estimate:
    return Estimate(key, key, value, low, high, unit="share", n=100, clusters=40,
                    bounds=Bounds(low, high), **more)  # fmt: skip


def axis(name: str = "one", **parts: Any) -> AxisResult:
    made = AxisResult(name, name, "?", 100, 100, 0, 0, 0, (rate(f"{name}.rate"),), ())
    return replace(made, **parts)


def sheet(*axes: AxisResult, judge: JudgeIdentity | None = None, **run: Any) -> Datasheet:
    given = JudgeIdentity("sim/judge", "sim") if judge is None else judge
    facts = replace(RunFacts(complete=True), **run)
    return Datasheet("2.0", given, facts, Provenance(), axes or (axis(),))


def looks(*, ended: bool) -> Looks:
    return Looks(PolicyName("p"), ended, look=1, of=2, calls=60, needed=100, planned=100, axes=())


def limits(*rules: str, axis_: str = "one") -> Policy:
    return parse("".join(f'[[limit]]\nkey = "{axis_}.{rule}\n' for rule in rules), "mine.toml")


RATE = 'rate"\nmax = 0.2'


def control(made: Datasheet, code: str, at: int = 0) -> Control:
    return next(one for one in decide(made).axes[at].controls if one.code == code)


def failing(**parts: Any) -> Control:
    return replace(Control("asked twice", False, "the answers differ", of="run"), **parts)


# -- the run's own -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "planned", "run", "passed"),
    [
        (100, 100, RunFacts(complete=True), True),
        (100, 100, RunFacts(), True),
        (60, 100, RunFacts(complete=False), False),
        (60, 100, RunFacts(complete=True, looks=looks(ended=True)), True),  # stopped as decided
        (100, 100, RunFacts(complete=False, looks=looks(ended=False)), False),  # goes on
        # Something else is missing: no axis lacks a call.
        (100, 100, RunFacts(complete=False), False),
    ],
)
def test_whether_the_run_is_whole(made: int, planned: int, run: RunFacts, passed: bool) -> None:
    one = axis(answered=made, planned=planned)
    found = control(replace(sheet(one), run=run), COMPLETE)
    assert found.passed is passed
    assert found.mend


def test_an_axis_that_is_whole_stands_beside_one_that_is_not() -> None:
    cut = sheet(axis(), axis("two", answered=60), complete=False)
    assert [one.invalid is None for one in decide(cut).axes] == [True, False]


@pytest.mark.parametrize(
    ("served", "passed"),
    [({"a": 100}, True), ({"a": 60, "b": 40}, False), ({}, None)],
)
def test_how_many_models_answered(served: dict[str, int], passed: bool | None) -> None:
    judge = JudgeIdentity("openai/a", base_url="http://there", served_models=served)
    assert control(sheet(judge=judge), SERVED).passed is passed


def test_what_runs_on_this_machine_cannot_be_exchanged_and_a_log_can() -> None:
    here = JudgeIdentity("local/a")
    assert control(sheet(judge=here), SERVED).passed is True
    assert control(sheet(judge=here, reply="recorded"), SERVED).passed is None


def test_two_models_make_void_only_the_axes_on_which_both_answered() -> None:
    judge = JudgeIdentity("x", base_url="http://there", served_models={"a": 150, "b": 50})
    mixed = axis("two", served_models={"a": 50, "b": 50}, mixed_stimuli=7)
    made = decide(sheet(axis(served_models={"a": 100}), mixed, axis("three"), judge=judge))
    assert [one.invalid is None for one in made.axes] == [True, False, True]
    # Nobody said which model answered on the third.
    assert control(made, SERVED, 2).passed is None
    assert "7 stimuli" in control(made, SERVED, 1).text


@pytest.mark.parametrize(
    ("answered", "passed"), [(100, True), (95, True), (94, False), (1, False), (0, False)]
)
def test_how_many_replies_were_read(answered: int, passed: bool | None) -> None:
    made = sheet(axis(answered=answered, unreadable=100 - answered))
    assert control(made, READ).passed is passed
    assert (decide(made).axes[0].invalid is not None) == (answered == 0)


def test_where_nothing_was_asked_nothing_is_said_of_replies() -> None:
    made = decide(sheet(axis(answered=0), complete=False))
    assert READ not in {one.code for one in made.axes[0].controls}
    assert made.axes[0].invalid is not None


@pytest.mark.parametrize(
    ("lost", "reply", "parsers", "word"),
    [
        ({"failed": 10}, None, (), "--retry-failed"),
        ({"refused": 10}, None, (), "other stimuli"),
        ({"unreadable": 10}, "text", (), "--reply json"),
        ({"unreadable": 10}, "json", (), "a --parser"),
        ({"unreadable": 10}, "text", (ParserUsed("one", "", ""),), "another --parser"),
        ({"unreadable": 4, "refused": 6}, None, (), "other stimuli"),
    ],
)
def test_what_would_bring_verdicts_depends_on_what_was_lost(
    lost: dict[str, Any], reply: str | None, parsers: tuple[ParserUsed, ...], word: str
) -> None:
    made = sheet(axis(answered=100 - sum(lost.values()), **lost), reply=reply)
    found = control(replace(made, provenance=Provenance(parsers=parsers)), READ)
    assert word in found.mend
    if parsers:
        assert "--reply" not in found.mend


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("code", REASONS)
def test_what_helps_is_what_the_cases_say_of_what_came_most_often(code: str, own: bool) -> None:
    few = "off_scale" if code != "off_scale" else "cut_off"
    lost = Estimate("one.loss_rate", "lost", 0.1, given={"reasons": {few: 3, code: 7}})
    made = sheet(axis(answered=90, unreadable=10, estimates=(rate(KEY), lost)), reply="text")
    after = replace(made, provenance=Provenance(parsers=(ParserUsed("one", "", ""),) * own))
    advice = REASONS[code].advice("text", has_parser=own)
    assert control(after, READ).mend == f"{advice} (most of the lost calls: {REASONS[code].words})"


def test_a_run_in_which_calls_failed_says_what_ends_it() -> None:
    made = sheet(axis(answered=42, failed=58), complete=False, planned=100, settled=42)
    found = control(made, COMPLETE)
    assert "58 calls failed" in found.text
    decision = decide(made, limits(RATE)).decision
    assert decision is not None
    (needed,) = decision.what_would_decide
    for text in (found.mend, needed):
        assert "58 calls failed, which the same command asks again" in text
        assert "--give-up" in text
    cut = control(
        sheet(axis(answered=2, failed=8), complete=False, planned=100, settled=2), COMPLETE
    )
    assert "--give-up" not in cut.mend, "most calls were not made, and nothing gives them up"


def test_a_batch_without_all_answers_is_exported_again() -> None:
    made = sheet(axis(answered=42, failed=8), complete=False, planned=100, settled=42)
    batch = replace(made, judge=JudgeIdentity("batch/openai/m", "batch"))
    assert "plan --resume" in control(batch, COMPLETE).mend


# -- what a failed one touches -------------------------------------------------------------------


def touched(*controls: Control, policy: Policy | None = None, **parts: Any) -> Datasheet:
    one = axis(estimates=(rate(KEY), rate(OTHER)), controls=controls, **parts)
    return decide(sheet(one), policy)


def test_one_of_the_run_makes_void_what_it_touches_and_nothing_else() -> None:
    policy = limits(RATE, 'other"\nmax = 0.2')
    named = touched(failing(touches=("rate",), mend="ask again"), policy=policy)
    assert (named.axes[0].invalid, set(named.axes[0].voided)) == (None, {KEY})
    assert [one.status for one in named.verdicts] == ["invalid", "pass"]
    assert named.verdicts[0].needed == "ask again"
    every = touched(failing(), policy=policy)
    assert every.axes[0].invalid == "the answers differ"
    assert [one.status for one in every.verdicts] == ["invalid", "invalid"]


def test_its_own_evidence_stands() -> None:
    made = touched(failing(evidence=(OTHER,)))
    assert set(made.axes[0].voided) == {KEY}


def test_one_that_nobody_can_tell_makes_nothing_void() -> None:
    made = touched(failing(passed=None))
    assert (made.axes[0].invalid, made.axes[0].voided, made.axes[0].unearned) == (None, {}, {})


def test_one_of_the_judge_takes_the_merit_of_what_is_kept_and_not_the_fault_of_the_rest() -> None:
    failed = failing(of="judge", mend="")
    kept = touched(failed, policy=limits(RATE))
    assert (kept.axes[0].invalid, set(kept.axes[0].unearned)) == (None, {KEY, OTHER})
    assert [one.status for one in kept.verdicts] == ["invalid"]
    broken = touched(failed, policy=limits('rate"\nmax = 0.01'))
    assert [one.status for one in broken.verdicts] == ["fail"]
    (open_,) = touched(failed, policy=limits('rate"\nmax = 0.12')).verdicts
    assert (open_.status, open_.more_stimuli) == ("inconclusive", None)
    assert open_.needed == "more data would not prove it: the control “asked twice” failed"
    (bad,) = touched(failed, policy=limits('rate"\nmax = 0.08')).verdicts
    assert bad.needed.endswith(WORSE)


@pytest.mark.parametrize(
    ("answered", "most", "status"),
    [
        (88, "0.3", "invalid"),  # many are lost: nothing is kept
        (88, "0.01", "fail"),  # whatever the lost calls would have said
        (96, "0.3", "pass"),  # few are lost, and the bound allows for them
        (96, "0.2", "inconclusive"),
    ],
)
def test_where_many_calls_are_lost_limits_are_broken_and_not_kept(
    answered: int, most: str, status: str
) -> None:
    widened = replace(rate(KEY, imputed=Imputed(12, 0.02, 0.25)), bounds=Bounds(0.02, 0.25))
    one = axis(estimates=(widened,), answered=answered, refused=100 - answered)
    (verdict,) = decide(sheet(one), limits(f'rate"\nmax = {most}')).verdicts
    assert verdict.status == status
    assert ("other stimuli" in verdict.needed) == (status == "invalid"), verdict.needed
    assert verdict.more_stimuli is None or status == "inconclusive"


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        ({"order_p": 0.9}, True),
        ({"order_p": 1e-6}, False),  # which calls were lost depends on the order
        ({"order_p": None}, True),
    ],
)
def test_few_lost_calls_pass_unless_the_order_says_which(
    given: dict[str, Any], passed: bool
) -> None:
    lost = rate("one.loss_rate", 0.04, 0.02, 0.08, given=given)
    made = sheet(axis(answered=96, unreadable=4, estimates=(rate(KEY), lost)))
    assert control(made, READ).passed is passed


@pytest.mark.parametrize(("refused", "passed"), [(0, False), (30, True)])
def test_stimuli_that_were_refused_whole_are_not_counted_as_lost(
    refused: int, passed: bool
) -> None:
    lost = replace(rate("one.loss_rate", given={"refused_calls": refused}), bounds=None)
    made = sheet(axis(answered=70, refused=30, estimates=(rate(KEY), lost)))
    assert control(made, READ).passed is passed

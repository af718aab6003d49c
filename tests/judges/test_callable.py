import asyncio
import importlib
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from judgesheet import consensus, plan, probe
from judgesheet.base.datasheet import from_json
from judgesheet.base.errors import JudgeError, JudgesheetError, RunError, UsageError
from judgesheet.base.records import AxisResult, Reply
from judgesheet.judges import Connection, open_judge
from judgesheet.ledger.run_directory import DATASHEET
from judgesheet.sheet import render
from tests.judges.loopback import make_call

MODULE = """
import asyncio, os, random, sys, time

def plain(messages):
    return messages[0]["content"] + " [RESULT] 1"

def with_params(messages, params):
    return str(params["max_tokens"])

async def coroutine(messages):
    return "[RESULT] 2"

def raising(messages):
    raise KeyError("oops")

def gives_up(messages):
    try:
        raise ConnectionError("no route to host")
    except ConnectionError as error:
        raise RuntimeError("gave up") from error

def wrong(messages):
    return 4

async def endless(messages):
    await asyncio.sleep(60)

class Model:
    async def __call__(self, messages):
        return "[RESULT] 3"

instance = Model()

async def slow(messages):
    raise TimeoutError("the gateway gave up")

number = 3

class Odd(BaseException):
    def __str__(self):
        raise RuntimeError("no words")

RAISED = {
    "StopIteration": StopIteration("x"), "GeneratorExit": GeneratorExit(), "Odd": Odd(),
    "CancelledError": asyncio.CancelledError(), "KeyboardInterrupt": KeyboardInterrupt(),
    "SystemExit": SystemExit(0), "BaseExceptionGroup": BaseExceptionGroup("g", [Odd()]),
}

def raises(messages):
    raise RAISED[messages[0]["content"]]

async def raises_later(messages):
    raise RAISED[messages[0]["content"]]

async def cancels_itself(messages):
    asyncio.current_task().cancel()
    await asyncio.sleep(60)

def of_a_framework(messages):
    return "[RESULT] 3"

of_a_framework.framework = "framework 1.2"
of_a_framework.axes = ("score_order",)
of_a_framework.note = "It sorts its scale."

def shuffles(messages):
    # Prefers what stands first after a shuffle of its own.
    return '{"winner": "%s"}' % drawn.choice("12")

shuffles.note = "It shuffles the responses by itself."
drawn = random.Random(1)

def steady(messages):
    return '{"winner": "1"}'

def shuffles_scale(messages):
    return "[RESULT] %s" % drawn.choice("12345")

def steady_scale(messages):
    return "[RESULT] 3"

def silent(messages):
    pass

def changed(messages):
    raise TypeError("measure() got an unexpected keyword argument 'test_case'")

def badly_noted(messages):
    return "[RESULT] 3"

badly_noted.note = 4

def of_no_axis(messages):
    return "[RESULT] 3"

of_no_axis.axes = ("scale_order",)

def moves(messages):
    os.chdir(sys.path[-1])
    return "[RESULT] 3"
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"users_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    (tmp_path / f"{name}_broken.py").write_text("1 / 0")
    (tmp_path / f"{name}_lacking.py").write_text("import a_framework_of_nobody")
    (tmp_path / f"{name}_older.py").write_text("from json import NewName")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["/nowhere", *__import__("sys").path])
    return name


def always_first(_: list[dict[str, str]]) -> str:
    return '{"winner": "1"}'


def test_a_function_is_given_as_it_is(tmp_path: Path) -> None:
    """Its run is resumed by its name, which is the one that the command line takes."""
    how: dict[str, Any] = {"axes": ["candidate_order"], "profile": "smoke", "pdf": False}
    run = probe(always_first, tmp_path / "run", **how)
    assert run.datasheet.judge.model == f"python/{__name__}:always_first"
    resumed = probe(f"python/{__name__}:always_first", tmp_path / "run", **how)
    assert resumed.progress is not None
    assert resumed.progress.asked == 0


@pytest.mark.parametrize("function", [lambda _: "[RESULT] 1", partial(always_first), str.upper])
def test_a_function_that_has_no_name_is_refused(function: Callable[..., str]) -> None:
    with pytest.raises(UsageError, match="top of a module"):
        plan(function)


def ask(name: str, timeout_s: float = 30.0, words: str = "Hello") -> Reply:
    async def main() -> Reply:
        async with open_judge(f"python/{name}", Connection(timeout_s=timeout_s)) as judge:
            return await judge.ask(make_call(words), 1)

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("function", "text"),
    [
        ("plain", "Hello [RESULT] 1"),
        ("with_params", "24"),
        ("coroutine", "[RESULT] 2"),
        ("instance", "[RESULT] 3"),
    ],
)
def test_functions_answer(module: str, function: str, text: str) -> None:
    reply = ask(f"{module}:{function}")
    assert (reply.outcome, reply.text, reply.raw) == ("ok", text, text)


def test_an_exception_is_data(module: str) -> None:
    reply = ask(f"{module}:raising")
    assert (reply.outcome, reply.text) == ("unavailable", "")
    assert reply.raw == "KeyError: 'oops'"


def test_an_exception_is_reported_with_what_it_came_from(module: str) -> None:
    said = "RuntimeError: gave up (from ConnectionError: no route to host)"
    assert ask(f"{module}:gives_up").raw == said


@pytest.mark.parametrize("function", ["raises", "raises_later"])
@pytest.mark.parametrize(
    "kind",
    [
        *("StopIteration", "GeneratorExit", "CancelledError", "KeyboardInterrupt", "SystemExit"),
        *("BaseExceptionGroup", "Odd"),
    ],
)
def test_what_is_no_common_exception_is_data_too(module: str, function: str, kind: str) -> None:
    reply = ask(f"{module}:{function}", words=kind)
    assert reply.outcome == "unavailable"
    # A coroutine cannot raise this one; Python says another.
    assert kind in reply.raw


def test_a_function_that_cancels_itself_cancels_nobody_else(module: str) -> None:
    reply = ask(f"{module}:cancels_itself")
    assert (reply.outcome, reply.raw) == ("unavailable", "CancelledError: ")


def test_a_function_that_changes_the_folder_does_not_move_the_run(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr("sys.path", [*sys.path, str(elsewhere)])
    out = Path("run")
    probe(f"python/{module}:moves", out, axes=["score_order"], profile="smoke", pdf=False)
    assert Path.cwd() == tmp_path
    assert (tmp_path / out / DATASHEET).is_file()
    assert not list(elsewhere.iterdir())


def test_of_two_judges_in_threads_the_last_gives_standard_output_back(module: str) -> None:
    before, has_begun, has_ended = sys.stdout, Event(), Event()

    async def first() -> None:
        async with open_judge(f"python/{module}:plain", Connection()):
            has_begun.set()
            await asyncio.to_thread(has_ended.wait)

    thread = Thread(target=asyncio.run, args=(first(),))
    thread.start()
    has_begun.wait()

    async def second() -> None:
        async with open_judge(f"python/{module}:plain", Connection()):
            has_ended.set()
            await asyncio.to_thread(thread.join)

    asyncio.run(second())
    assert sys.stdout is before


def test_a_function_that_never_returns_is_a_timeout(module: str) -> None:
    assert ask(f"{module}:endless", timeout_s=0.05).outcome == "timeout"


def test_the_functions_own_timeout_is_a_timeout_with_its_reason(module: str) -> None:
    reply = ask(f"{module}:slow")
    assert (reply.outcome, reply.raw) == ("timeout", "TimeoutError: the gateway gave up")


def test_a_result_that_is_no_string_stops_the_run(module: str) -> None:
    with pytest.raises(JudgeError, match=r"\bint\b"):
        ask(f"{module}:wrong")


@pytest.mark.parametrize("suffix", [":nobody", ":number", "", "_broken:plain", "_absent:plain"])
def test_what_cannot_be_imported_is_a_usage_error(module: str, suffix: str) -> None:
    with pytest.raises(UsageError):
        open_judge(f"python/{module}{suffix}", Connection())


# -- what a function says of itself ----------------------------------------------------------------


def smoke(name: str, *axes: str, **options: Any) -> AxisResult:
    run = probe(f"python/{name}", "run", axes=axes, profile="smoke", pdf=False, **options)
    return run.datasheet.axes[0]


def test_framework_and_note_are_on_the_sheet(module: str) -> None:
    axis = smoke(f"{module}:of_a_framework", "score_order")
    assert "It sorts its scale." in axis.caveats[0]
    sheet = from_json(Path("run", DATASHEET).read_text())
    assert (sheet.judge.framework, sheet.judge.note) == (
        "framework 1.2",
        "It sorts its scale.",
    )
    for form in ("md", "html"):
        text = render(sheet, form).decode()
        assert "framework 1.2" in text
        assert "It sorts its scale." in text


def test_another_version_of_a_framework_is_another_judge(module: str) -> None:
    smoke(f"{module}:of_a_framework", "score_order")
    sys.modules[module].of_a_framework.framework = "framework 1.3"
    with pytest.raises(RunError, match=r"framework 1\.2"):
        smoke(f"{module}:of_a_framework", "score_order")


CODE = """
prompt = "[RESULT] {score}"{comment}

def judge(messages):
    return prompt
"""


def _edited(name: str, score: int, comment: str = "") -> str:
    """A judge in a file that was written anew, as a fresh process loads it."""
    Path(f"{name}.py").write_text(CODE.format(score=score, comment=comment))
    importlib.invalidate_caches()
    sys.modules.pop(name, None)
    return f"{name}:judge"


def test_a_change_of_the_users_code_is_reported_and_two_versions_are_no_judge(module: str) -> None:
    name, reported = f"{module}_edited", list[str]()
    smoke(_edited(name, 3), "score_order", max_calls=10, tell=reported.append)
    smoke(_edited(name, 3, "  # of May"), "score_order", max_calls=10, tell=reported.append)
    assert not [one for one in reported if "code of the judge" in one], "a comment changes nothing"
    axis = smoke(_edited(name, 4), "score_order", tell=reported.append)
    (said,) = (one for one in reported if "code of the judge" in one)
    assert said.startswith("20 replies")
    assert f"{name}.py" in said
    assert sorted(axis.served_models.values()) == [20, axis.made - 20]
    failed = [one.code for one in axis.controls if one.passed is False]
    assert "one_served_model" in failed


def test_a_cached_run_of_changed_code_starts_over(module: str) -> None:
    messages: list[str] = []
    smoke(_edited(f"{module}_cached", 3), "score_order")
    again = _edited(f"{module}_cached", 4)
    axis = smoke(again, "score_order", fresh_if_changed=True, tell=messages.append)
    assert "starting over: the code of the judge has changed" in messages
    assert not axis.served_models, "counted where there are several"
    assert not [one for one in messages if "before the code" in one]


def test_a_judge_is_not_asked_about_an_order_that_it_does_not_show(module: str) -> None:
    with pytest.raises(UsageError) as refused:
        smoke(f"{module}:of_a_framework", "score_order", "candidate_order")
    assert "cannot be asked about candidate_order: give --axis score_order" in str(refused.value)
    assert not Path("run").exists()
    with pytest.raises(UsageError, match="candidate_order"):
        plan(f"python/{module}:of_a_framework", axes=["candidate_order"], profile="smoke")
    planned, _ = plan(f"python/{module}:of_a_framework", profile="smoke")
    assert {call.axis for call in planned.calls} == {"score_order"}, "all that it says it can"


def test_a_judge_is_asked_for_no_decision_on_what_it_does_not_show(
    module: str, tmp_path: Path
) -> None:
    pair = {"id": "p", "prompt": "Which?", "candidates": [{"id": n, "text": n} for n in "ab"]}
    messages: list[str] = []
    with pytest.raises(UsageError, match="candidate_order"):
        consensus(pair, f"python/{module}:of_a_framework", out=tmp_path / "run")
    consensus(pair, f"python/{module}:shuffles", out=tmp_path / "run", tell=messages.append)
    assert "the judge's own note: It shuffles the responses by itself." in messages


@pytest.mark.parametrize(
    ("what", "noise"),
    [
        ("", "candidate_order.repeat_change_rate[set=same_subset]"),
        ("_scale", "score_order.repeat_change_rate"),
    ],
)
def test_a_judge_that_shuffles_by_itself_is_shown_by_its_repeats(
    module: str, what: str, noise: str
) -> None:
    """The same call gets different answers; of a judge that keeps the order none does."""
    options = {"repeats": 4, "concurrency": 1}
    values = {}
    for name in ("shuffles", "steady"):
        axis = smoke(
            f"{module}:{name}{what}", noise.split(".", maxsplit=1)[0], fresh=True, **options
        )
        values[name] = next(one.value for one in axis.estimates if one.key == noise)
        assert axis.answered == axis.planned
    assert values["steady"] == 0
    assert values["shuffles"] is not None
    assert values["shuffles"] > 0.25


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (":silent", "NoneType.*str"),
        (":changed", ":changed"),
        (":badly_noted", r"\bint\b.*\bstr\b"),
        (":of_no_axis", "tuple"),
        ("_lacking:judge", "a_framework_of_nobody"),
        ("_older:judge", "NewName"),
    ],
)
def test_what_a_framework_can_do_wrong_is_one_sentence_and_no_sheet(
    module: str, function: str, said: str
) -> None:
    with pytest.raises(JudgesheetError, match=said) as refused:
        smoke(f"{module}{function}", "score_order")
    assert "\n" not in str(refused.value)
    assert not Path("run", DATASHEET).exists()

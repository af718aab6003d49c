import asyncio
import sys
from pathlib import Path

import pytest

from judgesheet import probe
from judgesheet.errors import JudgeError, UsageError
from judgesheet.judges import Connection, open_judge
from judgesheet.records import Reply
from judgesheet.run_directory import DATASHEET
from tests.judges.loopback import make_call

MODULE = """
import asyncio, os, sys, time

def plain(messages):
    return messages[0]["content"] + " [RESULT] 1"

def with_params(messages, params):
    return str(params["max_tokens"])

async def coroutine(messages):
    return "[RESULT] 2"

def raising(messages):
    raise KeyError("oops")

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

def moves(messages):
    os.chdir(sys.path[-1])
    return "[RESULT] 3"
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"users_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    (tmp_path / f"{name}_broken.py").write_text("1 / 0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["/nowhere", *__import__("sys").path])
    return name


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


def test_a_function_that_never_returns_is_a_timeout(module: str) -> None:
    assert ask(f"{module}:endless", timeout_s=0.05).outcome == "timeout"


def test_the_functions_own_timeout_is_a_timeout_with_its_reason(module: str) -> None:
    reply = ask(f"{module}:slow")
    assert (reply.outcome, reply.raw) == ("timeout", "TimeoutError: the gateway gave up")


def test_a_result_that_is_no_string_stops_the_run(module: str) -> None:
    with pytest.raises(JudgeError, match="returned a int"):
        ask(f"{module}:wrong")


@pytest.mark.parametrize("suffix", [":nobody", ":number", "", "_broken:plain", "_absent:plain"])
def test_what_cannot_be_imported_is_a_usage_error(module: str, suffix: str) -> None:
    with pytest.raises(UsageError):
        open_judge(f"python/{module}{suffix}", Connection())

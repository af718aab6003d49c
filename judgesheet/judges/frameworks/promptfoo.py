"""The assertions `llm-rubric` and `select-best` of promptfoo, by its own program.

The program takes seconds to start, so the questions that wait at the same time share a run of it.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from judgesheet.judges.frameworks.parts import Given, Grading, ResponsePair

SWITCHES = {
    **{f"PROMPTFOO_DISABLE_{what}": "1" for what in ("TELEMETRY", "UPDATE", "REMOTE_GENERATION")},
    # A verdict against an output is no failure of the program.
    "PROMPTFOO_FAILED_TEST_EXIT_CODE": "0",
}
OPTIONS = ("--no-cache", "--no-write", "--no-table", "--no-progress-bar")
UNREAD = (
    "Could not extract JSON",
    "llm-rubric produced malformed",
    "Invalid select-best verdict",
    "No output",
)

Test = Mapping[str, Any]
Row = Mapping[str, Any]
"""What promptfoo says of one output of a test."""


async def grade(asked: Grading, given: Given) -> str | None:
    """The score of llm-rubric, whose prompt shows a rubric and a response, and no request."""
    reference = f"\n\nA reference answer:\n{asked.reference}" if asked.reference else ""
    rubric = (
        f"Graded is a response to this request:\n{asked.request}{reference}\n\n"
        f"Criterion: {asked.criterion}\n\nChoose the score that fits.\n{asked.rubric}"
    )
    found = await _asserted("llm-rubric", _quoted(rubric), [asked.response], given)
    return f"{found[0]['score']:g}" if found else None


async def compare(asked: ResponsePair, given: Given) -> str | None:
    """The winner of select-best."""
    criteria = _bare(f"It answers this request better:\n{asked.request}")
    found = await _asserted("select-best", criteria, [asked.first, asked.second], given)
    won = [str(slot) for slot, said in enumerate(found, 1) if said["pass"]]
    return won[0] if len(won) == 1 else None


@cache  # to start the program takes seconds
def version() -> str:
    """The version of the program; ModuleNotFoundError if it is not installed."""
    said = subprocess.run([_program(), "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    return (said.stdout.split() or [said.stderr.strip()])[-1]


def _program() -> str:
    found = shutil.which("promptfoo")
    if found is None:
        raise ModuleNotFoundError("there is no promptfoo on the PATH", name="promptfoo")
    return found


def _bare(text: str) -> str:
    """A text in which promptfoo finds no template, which could show the environment."""
    return re.sub(r"\{(?=[{%#])", "{ ", text)


def _quoted(text: str) -> str:
    """A text as a template that renders it: a plain one may begin like the address of a file."""
    return "{{ " + json.dumps(_bare(text), ensure_ascii=False) + " }}"


async def _asserted(
    kind: str, value: str, outputs: Sequence[str], given: Given
) -> list[Mapping[str, Any]]:
    """What the assertion says of each output, nothing where promptfoo cannot read its model."""
    test = {
        "vars": {f"output{slot}": _quoted(text) for slot, text in enumerate(outputs, 1)},
        "assert": [{"type": kind, "value": value}],
        "options": {"provider": {"id": given.model, "config": given.limits}},
    }
    said = [_said(row) for row in await _shared(test)]
    return said if all(said) else []


def _said(row: Row) -> Mapping[str, Any]:
    """The verdict on one output, {} for a reply that could not be read; RuntimeError for none."""
    (part,) = (row["gradingResult"] or {}).get("componentResults") or [None]
    if part is None:
        raise RuntimeError(row["error"])
    if part["reason"].startswith(UNREAD):
        return {}
    is_selection = part["assertion"]["type"] == "select-best"
    is_verdict = part["reason"].startswith("Output ") if is_selection else True
    if not is_verdict or (part.get("metadata") or {}).get("graderError"):
        raise RuntimeError(part["reason"])
    return dict(part)


# -- one run of the program for all that wait ------------------------------------------------------

_waiting: "list[tuple[Test, asyncio.Future[list[Row]]]]" = []
_running: "set[asyncio.Task[None]]" = set()


async def _shared(test: Test) -> list[Row]:
    """The rows of a test, which runs together with the others that are asked at this moment."""
    mine: asyncio.Future[list[Row]] = asyncio.get_running_loop().create_future()
    _waiting.append((test, mine))
    # A run of the program takes two seconds of processor time, whatever it asks: a moment is
    # well spent on sharing it.
    await asyncio.sleep(0.05)
    if _waiting:
        task = asyncio.create_task(_answer(_waiting[:]))
        _waiting.clear()
        _running.add(task)  # the loop itself keeps no hold of it
        task.add_done_callback(_running.discard)
    return await mine


async def _answer(together: "Sequence[tuple[Test, asyncio.Future[list[Row]]]]") -> None:
    try:
        rows = await asyncio.to_thread(_evaluated, [test for test, _ in together])
    except Exception as error:
        for _, waiting in together:
            if not waiting.done():
                waiting.set_exception(error)
        return
    for index, (_, waiting) in enumerate(together):
        if not waiting.done():
            waiting.set_result([row for row in rows if row["testIdx"] == index])


def _evaluated(tests: Sequence[Test]) -> list[Row]:
    """The rows of `promptfoo eval`, by test and output; RuntimeError if it wrote none."""
    with TemporaryDirectory(prefix="judgesheet-") as folder:
        config, results = Path(folder, "config.json"), Path(folder, "results.json")
        prompts = [f"{{{{{name}}}}}" for name in tests[0]["vars"]]
        # The provider "echo" gives a prompt back as the output, so that ours are the outputs.
        config.write_text(json.dumps({"prompts": prompts, "providers": ["echo"], "tests": tests}))
        done = subprocess.run(  # noqa: S603 - the program that the user installed
            [_program(), "eval", "-c", config, "-o", results, "-j", str(len(tests)), *OPTIONS],
            # A folder of its own: what it keeps goes with the folder.
            env={**os.environ, **SWITCHES, "PROMPTFOO_CONFIG_DIR": folder},
            capture_output=True,
            text=True,
            check=False,
        )
        if not results.exists():
            raise RuntimeError((done.stderr or done.stdout).strip()[-500:])
        rows = json.loads(results.read_text())["results"]["results"]
    return sorted(rows, key=lambda row: (row["testIdx"], row["promptIdx"]))

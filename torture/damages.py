"""Run directories that somebody or something damaged, and the commands that meet them."""

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.hostile.damages import damages
from torture.page import Table
from torture.processes import CODES, Ended, judgesheet

JUDGE = ("--model", "sim/fair", "--axis", "score_order", "--profile", "smoke", "--no-pdf")
STEP = 2
"""One in so many damages is met, by each command in turn."""
KINDS = {
    "bytes of the ledger": r"^(truncated|byte |\d+ bytes|page of|half of it)",
    "tables, columns and views": r"^(table|column|view|a view|an endless|a trigger|a generated|"
    r"a costly|an index|a virtual|a table more)",
    "values in a column": r" in (one|every) |since the epoch$",
    "JSON in the ledger": r" in meta\.|: \w+ SET |^(provenance|setting|one cell|cell)",
    "other files, and whole ones": r"ledger.sqlite|plan|datasheet|judgments|sheet of|another kind$",
    "rows": "",
}
"""What a kind of damage is called, by its first match."""


def _commands(run: Path, source: Path) -> list[tuple[str | Path, ...]]:
    """What somebody does with a run directory."""
    return [
        ("measure", run, "--no-pdf"),
        ("probe", *JUDGE, "--quiet", "--out", run),
        ("doctor", run),
        ("compare", source, run, "--force"),
    ]


def _meet(source: Path, task: tuple[int, tuple[str, Path]]) -> tuple[str, str, Ended]:
    """The group of a damage, what it is, and how a command ended that met it."""
    number, (kind, run) = task
    group = next(group for group, words in KINDS.items() if re.search(words, kind))
    commands = _commands(run, source)
    command = commands[number % len(commands)]
    ended = judgesheet(*command)
    shutil.rmtree(run)
    return group, f"{command[0]}, {kind}", ended


def _all(
    source: Path, into: Path, step: int, pool: ThreadPoolExecutor
) -> Iterator[tuple[str, str, Ended]]:
    """One in so many damages, not all of them on the disk at once."""
    chosen = enumerate(islice(damages(source, into), 0, None, step))
    while some := list(islice(chosen, 40)):
        yield from pool.map(partial(_meet, source), some)


def table(fewer: int, jobs: int) -> Table:
    """Damages by kind."""
    made = Table(["damaged", "directories", "tracebacks", "no sentence", "other exit", "no end"])
    counts: Counter[tuple[str, str]] = Counter()
    with TemporaryDirectory(prefix="torture-") as folder, ThreadPoolExecutor(jobs) as pool:
        source, into = Path(folder) / "run", Path(folder) / "damaged"
        into.mkdir()
        judgesheet("probe", *JUDGE, "--out", source)
        for group, what, ended in _all(source, into, STEP * fewer, pool):
            bad = {
                "tracebacks": ended.has_traceback,
                "sentence": not ended.has_sentence,
                "exit": ended.code not in {*CODES, None},
                "end": ended.code is None,
            }
            counts[group, ""] += 1
            counts.update((group, name) for name, is_so in bad.items() if is_so)
            if any(bad.values()):
                made.notes.append(f"{what}: {ended.code} {ended.err[-400:]}")
    for group in KINDS:
        noughts = (counts[group, name] for name in ("tracebacks", "sentence", "exit", "end"))
        made.add(group, counts[group, ""], *map(made.nought, noughts))
    return made

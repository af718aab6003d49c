"""Runs that were asked once and are measured anew at every commit: what they say must not move.

`ledgers/` holds plans and replies as a release of November 2026 wrote them, `values/` what every
figure that stays said of them then: key -> [value, low, high, n, clusters]. Recorded logs are read
from the public data beside the checkout, where that is. A ledger is never made again: the plans
of later releases ask other questions.
"""

import lzma
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from examples import recorded_logs
from judgesheet.axes import all_axes
from judgesheet.axis import Readings
from judgesheet.base.keys import Key
from judgesheet.base.records import canonical_json
from judgesheet.collect.ingest import ingest
from judgesheet.ledger.ledger import Ledger
from judgesheet.measuring.measure import read_known
from tests.simulate import SHARED

FOLDER = Path(__file__).parent
LEDGERS, VALUES = FOLDER / "ledgers", FOLDER / "values"
SUFFIX = ".sqlite.xz"

Frozen: TypeAlias = Mapping[str, list[float | None]]
"""Key -> value, low, high, n, clusters."""


def _pairs(log: Path) -> Iterator[Any]:
    """Natural pairs, three times in each order."""
    chosen = Namespace(log=log, judge="claude-3-haiku-20240307")
    rows = recorded_logs.pairs(chosen)
    return (row for row in rows if row["stimulus"].startswith("DevBench/"))


def _hanna(log: Path) -> Iterator[Any]:
    """Scores in one order beside the ratings of three people."""
    return recorded_logs.hanna(
        Namespace(log=log, judge="ChatGPT", criterion="Engagement", wording=1)
    )


def _own(log: Path) -> Iterator[Any]:
    """Own pairs with another judge in place of people."""
    rows = recorded_logs.own(
        Namespace(log=log, judge="claude-3-haiku-20240307", reference="gpt-4-0613")
    )
    return (row for row in rows if row["stimulus"].startswith("DevBench/"))


LOGS: Mapping[str, tuple[str, Callable[[Path], Iterator[Any]]]] = {
    "log-pairs": ("judging_the_judges_repetitions", _pairs),
    "log-scores": ("hanna_llm_pointwise", _hanna),
    "log-own-pairs": ("judging_the_judges_repetitions", _own),
}
"""Recorded judgments: the public log, and how its rows become ours."""


def names() -> list[str]:
    """Every frozen run."""
    return sorted(file.stem for file in VALUES.glob("*.json"))


def is_here(name: str) -> bool:
    """Whether its replies are: those of public logs lie beside the checkout, or nowhere."""
    return name not in LOGS or _log(name).is_file()


def measured(name: str, families: Mapping[str, frozenset[str]]) -> Frozen:
    """The estimates of a frozen run by their keys; `families` are those wanted by axis."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        if name in LOGS:
            _ingest(name, path)
        else:
            path.write_bytes(lzma.decompress((LEDGERS / f"{name}{SUFFIX}").read_bytes()))
        with Ledger.open(path) as ledger:
            readings = read_known(ledger)
    return {
        key: numbers
        for axis, table in readings.items()
        for key, numbers in _estimates(axis, table, families.get(axis, frozenset()))
    }


def _estimates(
    axis: str, readings: Readings, wanted: frozenset[str]
) -> Iterator[tuple[str, list[float | None]]]:
    readings = replace(readings, families=wanted)
    for one in all_axes()[axis].measure(readings):
        if Key.parse(one.key).name in wanted:
            yield one.key, [one.value, one.low, one.high, one.n, one.clusters]


def _log(name: str) -> Path:
    return SHARED / "data" / f"recorded_judgments_{LOGS[name][0]}.jsonl.gz"


def _ingest(name: str, path: Path) -> None:
    rows = path.with_name("log.jsonl")
    lines = (canonical_json(row) + "\n" for row in LOGS[name][1](_log(name)))
    rows.write_text("".join(lines), encoding="utf-8")
    ingest([rows], path)

"""An installation without the extra `parquet` lacks a form of one table, and nothing else."""

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.command import run as whole

LINES, PARQUET = "judgments.jsonl.gz", "judgments.parquet"
WITHOUT = (
    "import sys\n"
    "sys.modules['pyarrow'] = None\n"  # as if it were not installed
    "from judgesheet.__main__ import run\n"
    "run()\n"
)


def light(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """A command of an installation without pyarrow."""
    command = [sys.executable, "-c", WITHOUT, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("light") / "run"
    words = ["--model", "sim/first-biased", "--profile", "smoke", "--no-pdf", "--no-cases",
             "--axis", "score_order", "--axis", "criterion_order"]  # fmt: skip
    done = light("probe", *words, "--out", out)
    assert (done.returncode, (out / PARQUET).exists()) == (0, False), done.stderr
    return out


@pytest.fixture(scope="module")
def measured(run: Path) -> Path:
    """The run, measured again where pyarrow is."""
    copy = Path(shutil.copytree(run, run.parent / "measured"))
    assert whole("measure", copy, "--no-pdf").returncode == 0
    return copy


def test_the_table_has_the_rows_that_parquet_has(run: Path, measured: Path) -> None:
    packed = (run / LINES).read_bytes()
    lines = [json.loads(line) for line in gzip.decompress(packed).splitlines()]
    assert not (measured / LINES).exists()
    table = pd.read_parquet(measured / PARQUET)
    assert list(lines[0]) == list(table.columns)
    assert [row["call_id"] for row in lines] == list(table["call_id"])
    for column in ("value", "order"):  # JSON in Parquet, whose columns are of one type
        read = [None if text is None else json.loads(text) for text in table[column]]
        assert [row[column] for row in lines] == read
    assert [row["score"] for row in lines] == [None if pd.isna(n) else n for n in table["score"]]


def test_a_sheet_is_the_same(run: Path, measured: Path) -> None:
    made, again = (json.loads((one / "datasheet.json").read_text()) for one in (run, measured))
    assert (made["axes"], made["run"]) == (again["axes"], again["run"])


def test_a_log_in_parquet_says_what_reads_it(tmp_path: Path) -> None:
    pd.DataFrame([{"q": "1", "verdict": 2}]).to_parquet(tmp_path / "log.parquet")
    done = light("inspect-log", tmp_path / "log.parquet")
    assert (done.returncode, "pip install 'judgesheet[parquet]'" in done.stderr) == (1, True)
    assert done.stderr.count("\n") == 1

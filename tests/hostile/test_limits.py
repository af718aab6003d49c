"""Input that would run away, overflow or never end has a limit, and the limit a sentence."""

import gzip
import json
import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from judgesheet import gate, ingest, measure, plan, probe, render
from judgesheet.base.datasheet import from_json, to_json
from judgesheet.base.errors import DamagedError, RunError, StimuliError
from judgesheet.base.files import decoded, numbered_lines, records
from judgesheet.base.keys import Key
from judgesheet.base.limits import (
    LARGEST_PAGE,
    LARGEST_SHEET,
    LONGEST_LINE,
    MOST_DEPTH,
    MOST_PARTS_OF_A_SHEET,
)
from judgesheet.base.records import Datasheet, Plan, Reply
from judgesheet.importers.tables import read_table
from judgesheet.judges.dialects import OPENAI, read_response
from judgesheet.ledger.ledger import Ledger
from judgesheet.sheet.pdf import typeset
from tests.judges.loopback import make_plan
from tests.sheet.sheets import plausible


def one_sentence(error: BaseException) -> None:
    assert "\n" not in str(error)
    assert len(str(error)) < 700


def test_json_is_as_deep_as_it_may_be() -> None:
    deep = "[" * MOST_DEPTH + "]" * MOST_DEPTH
    assert decoded(deep)
    for more in (f"[{deep}]", "[" * 100_000 + "]" * 100_000, '{"a":' * 500 + "1" + "}" * 500):
        with pytest.raises(ValueError, match="nested lists and objects"):
            decoded(more)
    assert decoded(json.dumps(["[" * 999])) == ["[" * 999]


def test_deep_lines_are_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"a": ' + "[" * 500 + "]" * 500 + "}\n")
    with pytest.raises(StimuliError) as caught:
        list(records(file))
    one_sentence(caught.value)


@pytest.mark.parametrize("number", ["1" + "0" * 400, "1" + "0" * 5000, "9223372036854775809"])
def test_a_sheet_of_huge_numbers_is_refused(tmp_path: Path, number: str) -> None:
    text = to_json(plausible())
    for field in ('"n": ', '"planned": ', '"clusters": '):
        place = text.index(field) + len(field)
        end = min(text.index(",", place), text.index("\n", place))
        file = tmp_path / "datasheet.json"
        file.write_text(text[:place] + number + text[end:])
        with pytest.raises(RunError) as caught:
            from_json(file)
        one_sentence(caught.value)


def test_a_sheet_beyond_all_sheets_is_refused_before_it_is_read(tmp_path: Path) -> None:
    long = " " * (LARGEST_SHEET + 1)
    (tmp_path / "datasheet.json").write_text(long)
    for source in (long, tmp_path / "datasheet.json"):
        with pytest.raises(RunError) as caught:
            from_json(source)
        one_sentence(caught.value)


def many_figures(count: int) -> Datasheet:
    """A sheet with so many figures that all hold what the first one does."""
    sheet = plausible()
    axis, *others = sheet.axes
    first = axis.estimates[0]
    more = (replace(first, key=f"{axis.name}.x[a={n}]") for n in range(count))
    return replace(sheet, axes=(replace(axis, estimates=(*axis.estimates, *more)), *others))


def test_a_sheet_of_too_many_figures_is_refused() -> None:
    with pytest.raises(RunError, match="objects, more than any datasheet") as caught:
        from_json(to_json(many_figures(MOST_PARTS_OF_A_SHEET)))
    one_sentence(caught.value)


def test_a_page_that_takes_long_to_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="too large for a PDF") as caught:
        typeset("x" * (LARGEST_PAGE + 1), tmp_path, "{}", datetime.now(UTC))
    one_sentence(caught.value)


def test_a_deep_sheet_is_refused() -> None:
    sheet = json.loads(to_json(plausible()))
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]
    sheet["provenance"]["more"] = deep
    with pytest.raises(RunError):
        from_json(json.dumps(sheet))


@pytest.mark.parametrize("ended", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_sheet_from_the_ends_of_the_calendar_is_shown(tmp_path: Path, ended: str) -> None:
    sheet = json.loads(to_json(plausible()))
    sheet["run"] |= {"ended_at": ended, "review_days": 3650}
    file = tmp_path / "datasheet.json"
    file.write_text(json.dumps(sheet))
    render(file, ["md", "html", "model-card"])
    assert gate(file, "scoring", junit=tmp_path / "junit.xml").decision


def test_a_long_key_is_no_key() -> None:
    assert Key.parse("a.b[x=1,y=c[z=2,w=3]]").dims == {"x": "1", "y": "c[z=2", "w": "3]"}
    for text in ("a." + "b" * 60_000, "a.b[" + "x=1," * 15_000 + "]", "a.b[" + "," * 60_000 + "]"):
        with pytest.raises(RunError) as caught:
            Key.parse(text)
        one_sentence(caught.value)


def test_a_packed_bomb_is_not_unpacked(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl.gz"
    file.write_bytes(gzip.compress(b"\n" * 3_000_000))
    with pytest.raises(StimuliError) as caught:
        list(numbered_lines(file))
    one_sentence(caught.value)


def test_a_wide_table_is_refused(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    wide = tmp_path / "a.csv"
    wide.write_text(",".join(f"c{n}" for n in range(300_000)) + "\n")
    columns = tmp_path / "a.parquet"
    parquet.write_table(pa.table({f"c{n}": [1] for n in range(2000)}), columns)
    for file, kind in ((wide, "csv"), (columns, "parquet")):
        with pytest.raises(StimuliError) as caught:
            read_table(file, kind)
        one_sentence(caught.value)


def test_a_long_table_in_a_small_file_is_refused(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    file = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"c": pa.nulls(10_000_001, pa.int8())}), file)
    assert file.stat().st_size < 20_000
    with pytest.raises(StimuliError, match="10,000,000") as caught:
        read_table(file, "parquet")
    one_sentence(caught.value)


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Plan]:
    """A run of which a batch is to be asked; to be copied."""
    folder = tmp_path_factory.mktemp("planned")
    options: dict[str, Any] = {"axes": ["score_order"], "profile": "smoke"}
    return folder, plan("openai/m", folder / "plan.jsonl", folder / "batch.jsonl", **options)[0]


@pytest.mark.parametrize("created", ["1e999", "-5", '"now"'])
def test_a_batch_made_at_no_time_is_ingested(
    tmp_path: Path, planned: tuple[Path, Plan], created: str
) -> None:
    run, batch = shutil.copytree(planned[0], tmp_path / "run"), tmp_path / "answers.jsonl"
    body = f'{{"created": {created}, "choices": [{{"message": {{"content": "[RESULT] 3"}}}}]}}'
    batch.write_text(
        "".join(
            f'{{"custom_id": "{call.id}", "response": {{"status_code": 200, "body": {body}}}}}\n'
            for call in planned[1].calls
        )
    )
    ingest(batch, run, pdf=False)
    assert measure(run, pdf=False).datasheet.axes[0].answered


def test_a_time_that_no_clock_shows_bricks_no_ledger(tmp_path: Path) -> None:
    path, asked = tmp_path / "ledger.sqlite", make_plan(2)
    made = [
        Reply(c.id, 1, "ok", "x", "x", 0.1, 2**53, 2**62, "m", 1e300, None) for c in asked.calls
    ]
    with Ledger.create_or_open(path, asked, {"provider": "sim", "model": "m"}) as ledger:
        ledger.record(made)
        totals = ledger.totals()
    assert (totals.tokens_in, totals.tokens_out) == (None, None)


@pytest.mark.parametrize("count", [2**53 - 1, 10**10, -1, 1.5, True, "7"])
def test_implausible_counts_of_tokens_are_not_known(count: object) -> None:
    usage = {"prompt_tokens": count, "completion_tokens": 3}
    body = {"choices": [{"message": {"content": "x"}}], "usage": usage}
    answer = read_response(OPENAI, 200, body)
    assert (answer.tokens_in, answer.tokens_out) == (None, 3)


@pytest.mark.parametrize("value", ["[" * 5000, "{", "", "9" * 5000])
@pytest.mark.parametrize("place", ["meta SET value", "params SET params", "prompt SET messages"])
def test_a_ledger_of_broken_json_is_one_sentence(tmp_path: Path, place: str, value: str) -> None:
    path = tmp_path / "ledger.sqlite"
    Ledger.create_or_open(path, make_plan(1), {"provider": "sim", "model": "m"}).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"UPDATE {place} = ?", (value,))
        db.commit()
    with pytest.raises(DamagedError) as caught, Ledger.open(path) as ledger:
        list(ledger.calls())
    one_sentence(caught.value)


def test_a_pipe_in_the_place_of_a_sheet_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "datasheet.json")
    for path in (tmp_path / "datasheet.json", Path("/dev/zero")):
        with pytest.raises(RunError) as caught:
            from_json(path)
        one_sentence(caught.value)


def test_a_sheet_of_gigabytes_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "datasheet.json"
    with file.open("wb") as sparse:
        sparse.truncate(8 * 10**9)
    with pytest.raises(RunError) as caught:
        from_json(file)
    one_sentence(caught.value)


def test_a_huge_cell_of_a_parquet_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    table = pa.table({"text": ["x" * (64 * LONGEST_LINE + 1)]})
    parquet.write_table(
        table, file, compression="snappy", use_dictionary=False, write_statistics=False
    )
    with pytest.raises(StimuliError) as caught:
        read_table(file, "parquet")
    one_sentence(caught.value)


NO_TEXT = pa.Array.from_buffers(
    pa.string(), 1, [None, pa.array([0, 2], pa.int32()).buffers()[1], pa.py_buffer(b"\xff\xfe")]
)


@pytest.mark.parametrize(
    "cells", [NO_TEXT, pa.array([2**62], pa.duration("s"))], ids=["no UTF-8", "too many days"]
)
def test_a_cell_of_a_parquet_file_that_python_has_no_value_for(
    tmp_path: Path, cells: pa.Array
) -> None:
    file = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": cells}), file)
    with pytest.raises(StimuliError) as caught:
        read_table(file, "parquet")
    one_sentence(caught.value)


def test_huge_rows_of_a_parquet_file_are_refused_before_they_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": ["x" * (17 * LONGEST_LINE), "y"]}), file)
    whole = file.read_bytes()
    # Without the rows themselves: only what the file says of them is there.
    file.write_bytes(b"PAR1" + bytes(len(whole) // 2) + whole[4 + len(whole) // 2 :])
    with pytest.raises(StimuliError) as caught:
        read_table(file, "parquet")
    one_sentence(caught.value)


ONE = "printf('%.*c', 5000000, 'x') WHERE rowid = 1"
HUGE = ONE.replace("5000000", "70000000")
TOO_LARGE = {
    "a reply": f"UPDATE attempt SET text = {HUGE}",
    "a model's name": f"UPDATE attempt SET served_model = {ONE}",
    "a prompt": f"UPDATE prompt SET messages = {HUGE}",
    "the judge": f"UPDATE meta SET value = {HUGE}".replace("rowid = 1", "key = 'judge'"),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run; to be copied."""
    folder = tmp_path_factory.mktemp("finished")
    probe("sim/fair", folder, axes=["score_order"], profile="smoke", pdf=False, cases=False)
    return folder


@pytest.mark.parametrize("name", TOO_LARGE)
def test_no_text_of_a_strange_ledger_is_held_that_is_too_large(
    tmp_path: Path, finished: Path, name: str
) -> None:
    run = shutil.copytree(finished, tmp_path / "run")
    with closing(sqlite3.connect(run / "ledger.sqlite")) as db, db:
        db.execute(TOO_LARGE[name])
    with pytest.raises(RunError) as caught:
        measure(run, pdf=False)
    one_sentence(caught.value)

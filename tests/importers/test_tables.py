"""Files as tables: whatever wrote them, the same rows come out, as they were written."""

import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judgesheet.base.errors import StimuliError
from judgesheet.importers.tables import read_table

ROWS: list[dict[str, Any]] = [
    {"id": "007", "model": "1e5", "score": 3, "said": ["a", "b"]},
    {"id": "8", "model": "x", "score": None, "said": ["b", "c"]},
    {"id": "10", "model": "y", "score": 4.5, "said": None},
]
FRAME = pd.DataFrame(ROWS, dtype=object)


def rows(path: Path, kind: str | None = None) -> list[dict[str, Any]]:
    return [dict(row) for _, row in read_table(path, kind).iterrows()]


def written(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


SHAPES: dict[str, Callable[[], Any]] = {
    **{
        orient: lambda orient=orient: json.loads(FRAME.to_json(orient=orient))  # type: ignore[misc]
        for orient in ("records", "split", "index", "columns")
    },
    "table": lambda: json.loads(FRAME.to_json(orient="table", index=False)),
    "lists": lambda: FRAME.to_dict("list"),
    "data": lambda: {"data": ROWS},
    "results": lambda: {"model": "m", "scores": [1, 2], "results": ROWS},
    "another name": lambda: {"at": "today", "runs": ROWS},
    "without an index": lambda: {
        "columns": [*ROWS[0]], "data": [[*row.values()] for row in ROWS]
    },
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_json_is_the_same_table(shape: str, tmp_path: Path) -> None:
    path = written(tmp_path / "t.json", SHAPES[shape]())
    assert rows(path) == ROWS
    assert list(read_table(path).index) == [f"t.json: record {n}" for n in (1, 2, 3)]


def test_rows_without_names_have_numbers(tmp_path: Path) -> None:
    path = written(tmp_path / "t.json", [[*row.values()] for row in ROWS])
    assert rows(path)[0] == {"0": "007", "1": "1e5", "2": 3, "3": ["a", "b"]}


def test_objects_by_name_keep_their_names(tmp_path: Path) -> None:
    graded = {f"q{n}": {"score": n, "by": "j"} for n in range(3)}
    table = rows(written(tmp_path / "t.json", graded))
    assert table[1] == {"index": "q1", "score": 1, "by": "j"}
    by_column = written(tmp_path / "c.json", pd.DataFrame(graded).T.to_json())
    assert rows(by_column)[1] == table[1]


@pytest.mark.parametrize("ending", ["jsonl", "json", "ndjson", "jsonl.gz"])
def test_lines_that_lack_a_key_are_empty_there(ending: str, tmp_path: Path) -> None:
    lines = [{"kind": "head"}, *ROWS, {"id": " "}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    path = tmp_path / f"t.{ending}"
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    table = read_table(path)
    assert list(table.columns) == ["kind", *ROWS[0]]
    assert [*table["id"]] == [None, "007", "8", "10", None]
    assert table.index[2].endswith(":3")


TEXT = "id;score;order\n007;3,0;1,2\n1e5;n/a;2,1\n;4,5;1,2\n;;\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("first", ["", "sep=;\n"])
def test_text_as_excel_writes_it(encoding: str, first: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(
        (first + TEXT.replace("id", "Schlüssel")).replace("\n", "\r\n").encode(encoding)
    )
    table = read_table(path)
    assert [*table["Schlüssel"]] == ["007", "1e5", None]
    assert [*table["score"]] == ["3.0", "n/a", "4.5"], "decimal commas"
    assert [*table["order"]] == ["1,2", "2,1", "1,2"], "which is no number"
    assert table.index[0] == f"t.csv:{3 if first else 2}"
    assert len(table.attrs["remarks"]) == 1 + (encoding == "cp1252")


def test_commas_in_a_text_that_they_separate_stay(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", 'id,n,,\na,"1,234",,\n')
    assert rows(path) == [{"id": "a", "n": "1,234"}]


@pytest.mark.parametrize("suffix", ["parquet", "xlsx", "csv"])
def test_files_of_pandas_keep_words_that_look_like_numbers(suffix: str, tmp_path: Path) -> None:
    plain = FRAME[["id", "model", "score"]]
    path = tmp_path / f"t.{suffix}"
    if suffix == "xlsx":
        plain.to_excel(path, index=False)
    elif suffix == "csv":
        plain.to_csv(path, index=False)
    else:
        plain.astype({"score": float}).to_parquet(path)
    table = read_table(path)
    assert [*table["id"]] == ["007", "8", "10"]
    assert [*table["model"]] == ["1e5", "x", "y"]
    assert [cell if cell is None else float(cell) for cell in table["score"]] == [3, None, 4.5]
    assert table.index[0].startswith(f"t.{suffix}:")


def test_a_sheet_begins_where_its_first_row_is(tmp_path: Path) -> None:
    book = tmp_path / "t.xlsx"
    with pd.ExcelWriter(book) as writer:
        pd.DataFrame().to_excel(writer, sheet_name="empty")
        FRAME[["id", "score"]].to_excel(writer, sheet_name="said", index=False, startrow=2)
    table = read_table(book)
    assert [*table["id"]] == ["007", "8", "10"]
    assert table.index[0] == "t.xlsx:4"


def bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", b" " * 30_000_000)


@pytest.mark.parametrize(
    ("name", "make", "words"),
    [
        ("t.xlsx", bomb, "30,000,000 bytes"),
        ("t.xlsx", lambda path: path.write_bytes(b"PK\x03\x04 no archive"), "Excel"),
        ("t.xls", lambda path: path.write_bytes(b"\xd0\xcf\x11\xe0 old"), "xlsx"),
        ("t.csv", lambda path: path.write_bytes(b"a,b\n\xff\x00,1\n"), "not UTF-8"),
        ("t.json", lambda path: path.write_text("[1, 2]"), "record 1: a JSON int"),
        ("t.jsonl", lambda path: path.write_text(
            "".join(json.dumps({f"c{n}": 1}) + "\n" for n in range(2000))), "1,000 columns"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_one_sentence(
    name: str, make: Callable[[Path], Any], words: str, tmp_path: Path
) -> None:
    make(tmp_path / name)
    with pytest.raises(StimuliError, match=words):
        read_table(tmp_path / name)

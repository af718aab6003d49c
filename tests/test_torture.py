"""The counts of docs/reliability.md can fail: what is broken on purpose is counted."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import judgesheet
from torture.books import Balance, balance
from torture.faults import faults, suffer
from torture.page import PAGE, Table, put
from torture.places import PLAYS, play
from torture.server import Server, answer, serving

Served = tuple[Server, Path]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    run = tmp_path_factory.mktemp("torture") / "run"
    with serving(answer) as server:
        judgesheet.probe(
            "openai-compatible/m",
            run,
            axes=["score_order"],
            profile="smoke",
            base_url=server.url,
            pdf=False,
        )
        yield server, run


def books(served: Served, statement: str) -> Balance:
    """What is counted after a statement was run on the ledger, which is then put back."""
    server, run = served
    ledger = run / "ledger.sqlite"
    before = ledger.read_bytes()
    with closing(sqlite3.connect(ledger)) as db:
        db.executescript(statement)
    try:
        return balance(run, server.log)
    finally:
        ledger.write_bytes(before)


def test_books_that_agree(served: Served) -> None:
    assert books(served, "") == Balance(78, 0, 0, 0, ())


@pytest.mark.parametrize(
    ("statement", "lost", "twice", "wrong"),
    [
        ("DELETE FROM attempt WHERE rowid = 7", 1, 0, 1),
        ("UPDATE attempt SET outcome = 'timeout' WHERE rowid < 4", 3, 0, 0),
        ("UPDATE attempt SET text = (SELECT text FROM attempt WHERE rowid = 1)", 77, 0, 77),
        (
            "CREATE TABLE again AS SELECT * FROM attempt WHERE rowid < 3;"
            "UPDATE again SET attempt = 2; INSERT INTO attempt SELECT * FROM again",
            *(0, 2, 0),
        ),
    ],
)
def test_books_that_differ(
    served: Served, statement: str, lost: int, twice: int, wrong: int
) -> None:
    reported = books(served, statement)
    assert (reported.lost, reported.twice) == (lost, twice)
    assert reported.wrong >= wrong - 10  # other replies may have said the same of the same words


def test_a_sheet_that_counts_otherwise(served: Served) -> None:
    server, run = served
    reported = balance(run, server.log[1:])
    assert reported.differs[0] == "attempts: 78, the server 77"


def test_a_count_that_is_not_nought_is_bold_and_fails() -> None:
    table = Table(["what", "lost"])
    table.add("x", table.nought(0))
    table.add("y", table.nought(2))
    assert str(table).endswith("| x | 0 |\n| y | **2** |")
    assert table.faulty == 1
    table.add("z", table.nought(0))
    table.merge()
    assert table.rows == [["x; z", "0"], ["y", "**2**"]]
    with pytest.raises(ValueError, match="no place"):
        put("", "faults", "")


def test_the_page_holds_every_fault_and_no_bold_count() -> None:
    page = PAGE.read_text(encoding="utf-8")
    names = [fault.name for fault in faults()]
    assert len(set(names)) == len(names)
    missing = {*names, *PLAYS} - {*re.split(r"\n\| | \||; ", page)}
    assert not missing, "run make torture"
    assert "**" not in page


FEW = (
    *("kept connections break", "cut off by anthropic: max_tokens"),
    *("answers that belong to others, with their ids", "nobody listens at first"),
)


@pytest.mark.parametrize("name", FEW)
def test_a_fault_of_each_class_costs_nothing(name: str) -> None:
    fault = next(fault for fault in faults() if fault.name == name)
    ended, books, met = suffer(fault)
    assert met or fault.at_once
    assert tuple(one.code for one in ended) == fault.codes
    assert (books.lost, books.twice, books.wrong, books.differs) == (0, 0, 0, ())


@pytest.mark.parametrize(
    "name", ["the folder is removed", "the ledger cannot grow any more", "a newer ledger"]
)
def test_a_place_of_each_class_costs_nothing(name: str) -> None:
    _, lost, twice, wrong = play(PLAYS[name])
    assert (lost, twice, wrong) == (0, 0, [])

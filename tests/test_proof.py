"""The proofs: whether their runner resumes, their check can fail, and nothing is forgotten."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from proof import keys, runner
from proof.lines import COVER, PASS, Line, Rng, Rows, Tally, Truths
from proof.runner import Store, Task, check, results, whole

SETS = 600


def drawn(chance: float) -> Line:
    """A line whose intervals cover with this chance."""

    def run(sets: int, rng: Rng, truths: Truths) -> Rows:
        tally = Tally()
        for hit in rng.random(sets) < chance:
            tally.next()
            tally.add("figure", {COVER: bool(hit)})
        return tally.rows()

    return Line("data", 12, SETS, run, lambda: {"toy.figure": 1.0})


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A proof of one line, run without other processes; `asked` counts what was run."""
    proof = SimpleNamespace(line=drawn(0.95), code="first", asked=[])

    def work(task: Task, truths: Truths) -> tuple[dict[str, object], float]:
        proof.asked.append(task.about)
        return runner._work(task, truths), 0.0

    monkeypatch.setattr(runner, "_lines", lambda _: {proof.line.name: proof.line})
    monkeypatch.setattr(runner, "code_digest", lambda _: proof.code)
    monkeypatch.setattr(runner, "_timed", work)
    monkeypatch.setattr(runner, "ProcessPoolExecutor", ThreadPoolExecutor)
    return proof


def test_a_run_goes_on_where_it_ended(toy: SimpleNamespace, tmp_path: Path) -> None:
    store = Store(tmp_path / "done")
    whole(["toy"], 1, store, tmp_path)
    assert len(toy.asked) == 2  # the truths, and the line
    before = (tmp_path / "toy.jsonl").read_text(encoding="utf-8")
    whole(["toy"], 1, store, tmp_path)
    assert len(toy.asked) == 2
    assert (tmp_path / "toy.jsonl").read_text(encoding="utf-8") == before


def test_changed_code_is_run_anew(toy: SimpleNamespace, tmp_path: Path) -> None:
    store = Store(tmp_path / "done")
    whole(["toy"], 1, store, tmp_path)
    toy.code = "second"
    whole(["toy"], 1, store, tmp_path)
    assert len(toy.asked) == 4


def test_the_check_passes_what_was_committed(toy: SimpleNamespace, tmp_path: Path) -> None:
    whole(["toy"], 1, Store(None), tmp_path)
    assert check(["toy"], 1, tmp_path, fewer=3) == []


@pytest.mark.parametrize("chance", [0.80, 1.0])
def test_the_check_fails_where_coverage_moved(
    chance: float, toy: SimpleNamespace, tmp_path: Path
) -> None:
    whole(["toy"], 1, Store(None), tmp_path)
    toy.line = drawn(chance)
    wrong = check(["toy"], 1, tmp_path, fewer=1)
    assert any("was committed" in line for line in wrong)
    assert any("misses its target" in line for line in wrong) == (chance < 0.9)


def test_the_check_fails_where_a_line_is_new(toy: SimpleNamespace, tmp_path: Path) -> None:
    (tmp_path / "toy.jsonl").write_text("", encoding="utf-8")
    assert check(["toy"], 1, tmp_path) == ["toy: data | 12 is not committed"]


def test_every_figure_is_proven_or_says_why_not() -> None:
    declared, proven = set(keys.declared()), set(keys.proven())
    assert declared - proven - set(keys.UNPROVEN) == set()
    assert set(keys.UNPROVEN) - declared == set()
    assert set(keys.UNPROVEN) & proven == set()


@pytest.mark.parametrize("page", runner.NAMES)
def test_the_pages_are_those_of_the_committed_results(page: str) -> None:
    ((path, text),) = runner.render([page])
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("page", [page for page in runner.NAMES if page != "keys"])
def test_every_line_is_committed(page: str) -> None:
    found = results(page)
    assert [one.line.name for one in found] == list(runner._lines(page))
    for line in (runner.COMMITTED / f"{page}.jsonl").read_text(encoding="utf-8").splitlines():
        assert json.loads(line)["about"]


@pytest.mark.parametrize("page", [page for page in runner.NAMES if page != "keys"])
def test_a_line_of_every_page_runs(page: str) -> None:
    task = next(task for task in runner._tasks(page, 10**6) if task.sets)
    known = runner.committed(page)[runner._of(task)]
    assert runner._work(task, known["truths"])["rows"]


def test_a_judge_on_the_limit_seldom_passes() -> None:
    for one in results("gate"):
        limit, law = one.line.data.split(" | ")
        if "rate" in one.rows and law in ("ICC 0.0", "ICC 0.1", "ICC 0.2"):
            assert one.rows["rate"].shares[PASS] <= 0.06, (limit, law, one.line.size)


def test_a_row_counts_data_sets_not_members() -> None:
    tally, rng = Tally(), np.random.default_rng(0)
    for _ in range(10):
        tally.next()
        for member in "abc":
            tally.add("family", {COVER: bool(rng.random() < 0.5)}, member)
    row = tally.rows()["family"]
    assert row.sets == {COVER: 10}
    assert row.worst is not None
    assert row.worst[0] <= row.shares[COVER]


@pytest.mark.parametrize("page", [name for name in runner.NAMES if runner.has_results(name)])
def test_what_is_committed_is_of_as_many_data_sets_as_the_code_asks_for(page: str) -> None:
    found = runner.results(page)
    assert len(found) == len(list(runner.proof(page).lines()))
    for one in found:
        counts = [count for row in one.rows.values() for count in row.sets.values()]
        assert max(counts, default=one.line.sets) == one.line.sets, one.line.name

"""Deep JSON, huge numbers, odd dates and long texts in what users bring: one sentence each."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from judgesheet.axes import get_axis, pool
from judgesheet.base.datasheet import to_json
from judgesheet.cli import main
from tests.sheet.sheets import plausible

VALUES = {
    "10,000 lists": "[" * 10_000 + "]" * 10_000,
    "10,000 objects": '{"a":' * 10_000 + "1" + "}" * 10_000,
    "90 lists": "[" * 90 + "]" * 90,
    "400 digits": "1" + "0" * 400,
    "5,000 digits": "1" * 5_000,
    "infinite": "1e999",
    "no number": "NaN",
    "half a character": '"\\ud800"',
    "60 KB": f'"{"x" * 60_000}"',
    "year 1": '"0001-01-01T00:00:00+14:00"',
}
MAY_STAND = {"90 lists", "infinite", "no number", "60 KB", "year 1"}  # in a field of one's own
CELL = '"item": "s/a", "arm": "balanced", "scale": 3, "order": [1, 2, 3]'
JUDGED = f'{{"axis": "score_order", "stimulus": "s", "cell": {{{CELL}}}, "verdict": 2}}'


def run(*arguments: object) -> Result:
    """One command, which ends with a few short lines and no trace."""
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    for line in result.stderr.splitlines():
        assert len(line) < 1_800
    assert len(result.stderr.splitlines()) < 12
    return result


@pytest.mark.parametrize("what", VALUES)
def test_recorded_judgments(tmp_path: Path, what: str) -> None:
    value, file = VALUES[what], tmp_path / "a.jsonl"
    human = '{"human": {"axis": "score_order", "item": "s/a", "ratings": [@]}}'
    for text, is_kept in (
        (JUDGED.replace(CELL, f'{CELL}, "more": {value}'), what in MAY_STAND),
        (JUDGED.replace('"s/a"', value), what in {"60 KB", "year 1"}),
        (JUDGED.replace('"verdict": 2', f'"verdict": {value}'), False),
        (f"{JUDGED}\n{human.replace('@', value)}", False),
    ):
        if not is_kept:  # else it is judged, which takes its time
            file.write_text(f"{text}\n")
            run("ingest", file, "--out", tmp_path / "run", "--no-pdf")


def test_cells_have_a_limited_number_of_fields(tmp_path: Path) -> None:
    file, more = tmp_path / "a.jsonl", ", ".join(f'"f{n}": 1' for n in range(101))
    file.write_text(JUDGED.replace(CELL, f"{CELL}, {more}") + "\n")
    assert "more than 100 fields" in run("ingest", file, "--out", tmp_path / "run").stderr


def test_a_cell_replaces_no_column(tmp_path: Path) -> None:
    file, out = tmp_path / "a.jsonl", tmp_path / "run"
    columns = ("outcome", "reply", "stimulus", "call_id", "repeat", "axis")
    more = ", ".join(f'"{name}": [3]' for name in columns)
    file.write_text(JUDGED.replace(CELL, f"{CELL}, {more}") + "\n")
    assert run("ingest", file, "--out", out, "--no-pdf").exit_code == 0
    assert json.loads((out / "datasheet.json").read_text())["axes"][0]["answered"] == 1


@pytest.mark.parametrize("what", VALUES)
def test_stimuli(tmp_path: Path, what: str) -> None:
    first = pool(get_axis("score_order")).read_text().splitlines()[0]
    file = tmp_path / "a.jsonl"
    for field in ("id", "prompt", "candidates", "rubric"):
        file.write_text(json.dumps(json.loads(first) | {field: "@@"}).replace('"@@"', VALUES[what]))
        run("plan", "--model", "sim/fair", "--axis", "score_order", "--stimuli", file)


@pytest.mark.parametrize("what", VALUES)
def test_extra_body(tmp_path: Path, what: str) -> None:
    run(
        *("plan", "--model", "openai/m", "--axis", "score_order", "--profile", "smoke"),
        *("--extra-body", f'{{"a": {VALUES[what]}}}', "--out", tmp_path / "plan.jsonl"),
        *("--export-batch", tmp_path / "batch.jsonl"),
    )


@pytest.mark.parametrize("what", VALUES)
def test_policies(tmp_path: Path, what: str) -> None:
    sheet, policy, value = tmp_path / "datasheet.json", tmp_path / "p.toml", VALUES[what]
    sheet.write_text(to_json(plausible()))
    rule = '[[limit]]\nkey = "score_order.cramers_v"\nmax = 0.1\n'
    for text in (
        f"title = {value}\n{rule}",
        rule.replace("0.1", value),
        f"review_days = {value}\n",
    ):
        policy.write_text(text)
        run("gate", sheet, "--policy", policy)


KEYS = ("a." + "b" * 60_000, "a.b[" + "x=1," * 15_000 + "x=1]", "." * 60_000, "*" * 60_000)


@pytest.mark.parametrize("key", KEYS, ids=len)
def test_a_key_of_60_kilobytes(tmp_path: Path, key: str) -> None:
    sheet, twin, policy = (tmp_path / name for name in ("a.json", "b.json", "p.toml"))
    sheet.write_text(to_json(plausible()))
    changed = json.loads(to_json(plausible()))
    changed["axes"][0]["estimates"][0]["key"] = key
    twin.write_text(json.dumps(changed))
    policy.write_text(f"[[limit]]\nkey = {json.dumps(key)}\nmax = 1\n")
    assert run("explain", key).exit_code
    assert run("gate", sheet, "--policy", policy).exit_code == 1
    assert run("compare", sheet, twin).exit_code == 1
    assert run("gate", twin, "--policy", "scoring").exit_code == 1


@pytest.mark.parametrize("option", ["--model", "--temperature", "--axis", "--prompt", "--seed"])
def test_a_value_of_60_kilobytes_is_not_repeated(option: str) -> None:
    assert run("plan", "--model", "sim/fair", option, "x" * 60_000).exit_code == 2


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_a_packed_bomb_in_every_reader(tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"a.{kind}.gz"
    file.write_bytes(gzip.compress(b'{"a": 1}' + b" " * 3_000_000 + b"\n" + b" \n" * 1_500_000))
    assert run("ingest", file, "--out", tmp_path / "run").exit_code == 1
    assert run("stimuli", "check", file, "--axis", "score_order").exit_code == 1
    mapped = ("--axis", "score_order", "--map", "prompt=a", "--map", "text=a", "--map", "rating=a")
    out = tmp_path / "out.jsonl"
    assert run("stimuli", "import", kind, file, *mapped, "--out", out).exit_code in {1, 2}

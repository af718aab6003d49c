"""The wheel alone is a working judgesheet, with its templates and stimuli inside."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT],
        check=True,
        capture_output=True,
    )
    (found,) = out.glob("*.whl")
    return found


def test_templates_and_stimuli_are_inside(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "judgesheet/_data/stimuli/score_order.jsonl" in names
    assert "judgesheet/_data/stimuli/rubrics/hanna.json" in names
    assert "judgesheet/_data/templates/prompts/score_order.jinja" in names
    assert "judgesheet/_data/datasheet.schema.json" in names
    assert "judgesheet/_data/policies/ranking.toml" in names
    assert "judgesheet/_data/scaffold/shared/.github/workflows/judge.yml" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any(name.startswith(("tests/", "proof/", "benchmarks/")) for name in names)


def test_it_probes_from_another_folder(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    program = (
        "import judgesheet, sys; assert judgesheet.__file__.startswith(sys.argv[1]);"
        "from judgesheet.cli import main;"
        "main(['probe', '--model', 'sim/fair', '--profile', 'smoke', '--out', 'run', '--quiet'])"
    )
    away = tmp_path / "away"
    away.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", program, str(site)],
        cwd=away,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (away / "run" / "datasheet.pdf").stat().st_size > 10_000

"""What a command does not need, it does not load."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.judges.loopback import completion, serving

DRAWING = {"judgesheet.sheet.charts", "weasyprint"}
ARITHMETIC = {"numpy", "scipy", "pandas", "pyarrow", "statsmodels"}
STAGES = {"asyncio", "sqlite3", "pydantic", "jinja2", "judgesheet.ledger", "judgesheet.decide"}


@pytest.mark.parametrize(
    ("command", "unneeded"),
    [
        (["--help"], DRAWING | ARITHMETIC | STAGES),
        (["probe", "--help"], DRAWING | ARITHMETIC | STAGES),
        (
            ["plan", "--model", "sim/fair", "--axis", "score_order", "--profile", "smoke"],
            DRAWING | {"scipy.stats", "statsmodels"},
        ),
        (["doctor"], ARITHMETIC),
    ],
    ids=["help", "help of a command", "plan", "doctor"],
)
def test_a_command_loads_only_what_it_uses(command: list[str], unneeded: set[str]) -> None:
    program = (
        "import sys\n"
        "from judgesheet.cli import main\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "except SystemExit as stop:\n"
        "    assert not stop.code, stop.code\n"
        f"sys.exit(' '.join(name for name in {sorted(unneeded)} if name in sys.modules) or 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *command], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


RESUMED = """
import sys, judgesheet
def told(progress):
    if progress.settled == progress.planned:
        found.append({name for name in sys.argv[3:] if name in sys.modules})
found = []
how = {"axes": ["score_order"], "profile": "smoke", "pdf": False, "cases": False}
where = {"out": sys.argv[1], "base_url": sys.argv[2]}
judgesheet.probe("openai-compatible/m", on_progress=told, **where, **how)
sys.exit(" ".join(found[-1]) or 0)
"""


def test_what_measures_is_not_loaded_while_a_run_asks_nor_a_client_once_it_is_complete(
    tmp_path: Path,
) -> None:
    measuring = [*DRAWING, "pandas", "pyarrow", "scipy.optimize", "scipy.special", "scipy.stats"]
    with serving(lambda *_: completion("[RESULT] 3")) as server:
        for unneeded in (measuring, [*measuring, "statsmodels", "aiohttp"]):
            words = [sys.executable, "-c", RESUMED, str(tmp_path), server.base_url, *unneeded]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, "")
        assert len(server.requests) == 78

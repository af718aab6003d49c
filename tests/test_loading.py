"""What a command does not need, it does not load."""

import subprocess
import sys

import pytest

DRAWING = {"matplotlib", "weasyprint"}
ARITHMETIC = {"numpy", "scipy", "pandas", "pyarrow"}


@pytest.mark.parametrize(
    ("command", "unneeded"),
    [
        (["--help"], DRAWING | ARITHMETIC),
        (["probe", "--help"], DRAWING | ARITHMETIC),
        (["plan", "--model", "sim/fair", "--axis", "score_order", "--profile", "smoke"], DRAWING),
        (["doctor"], {"matplotlib"} | ARITHMETIC),
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

"""The datasheets under `examples`, made anew after a change of the page or of what is asked.

`python -m sheets.examples` probes two simulated judges in seconds, and the small local model in
half an hour on two cores. Runs stay in `build/examples`: the same command draws them again.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
RUNS = ROOT / "build" / "examples"
TWO_AXES = ("--axis", "score_order", "--axis", "candidate_order")
"""Of the local model, whose every call takes a second."""
OPTIONS = {"sim/first-biased": (), "sim/position-only": (), "local/smollm2-135m": TWO_AXES}
DPI = "110"
"""Of page one, about 900 pixels wide: as much as the README shows."""


def make() -> None:
    """Probe each judge, or go on with its run, and replace what its example holds."""
    for model, options in OPTIONS.items():
        example = EXAMPLES / model.partition("/")[2]
        run = RUNS / example.name
        command = (sys.executable, "-m", "judgesheet", "probe", "--model", model, *options)
        subprocess.run([*command, "--profile", "quick", "--out", run], check=True)
        for held in example.glob("datasheet.*"):
            shutil.copyfile(run / held.name, held)
        page_one(run / "datasheet.pdf", example / "page-1.png")
        print(example)


def page_one(pdf: Path, picture: Path) -> None:
    """Page one as a picture of few colours, a quarter of the size of a full one."""
    drawn = picture.with_suffix("")
    words = ("pdftoppm", "-r", DPI, "-png", "-singlefile")
    subprocess.run([*words, pdf, drawn], check=True)
    fewer = ("-colors", "256", f"PNG8:{picture}")
    subprocess.run(["convert", picture, *fewer], check=True)  # noqa: S607


if __name__ == "__main__":
    make()

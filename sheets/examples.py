"""The datasheets under `examples`, made anew after a change of the page or of what is asked.

`python -m sheets.examples [NAME …]` asks the simulated judges in seconds and the small local model
in minutes; the judge of a public log needs its folder in `DATA`. Runs stay in `build/examples`: the
same command draws them again and asks nothing.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from PIL import Image
from pypdfium2 import PdfDocument

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
RUNS = Path("build", "examples")
"""Relative, as a sheet prints the command that reads its run."""
IN_DOCS = "smollm2-135m"
"""The sheet that docs/datasheet.md goes through."""
LOG = "recorded_judgments_judging_the_judges.jsonl.gz"
MAP = "verdict=verdict,stimulus=item_id,judge=judge,swapped=order,first=pair.0,second=pair.1"
PROBE = ("probe", "--policy", "ranking", "--model")
COMMANDS = {
    "good": (*PROBE, "sim/good"),
    "unfinished": (*PROBE, "sim/good", "--max-calls", "251"),
    "first-biased": (*PROBE, "sim/first-biased"),
    "longer": (*PROBE, "sim/longer"),
    "gpt-4-0613": (
        *("ingest", f"{os.environ.get('DATA', '.')}/{LOG}", "--map", MAP),
        *("--where", "judge=gpt-4-0613", "--policy", "natural-pairs"),
    ),
    "smollm2-135m": (*PROBE, "local/smollm2-135m", "--profile", "first"),
}
DPI = 100
"""Of page one, about 830 pixels wide: as much as a page of documentation shows."""
COLOURS = 24
"""Enough for a page of few, at a tenth of the size of a full picture."""


def make(name: str) -> None:
    """Make the run of an example, or draw it again, and replace what the example holds."""
    example, run = EXAMPLES / name, RUNS / name
    words = COMMANDS[name]
    policy = words[words.index("--policy") + 1]
    is_made = (ROOT / run).exists()
    command = ("measure", str(run), "--policy", policy) if is_made else (*words, "--out", str(run))
    done = subprocess.run([sys.executable, "-m", "judgesheet", *command], cwd=ROOT, check=False)
    if done.returncode not in (0, 5):  # 5: it is not complete
        raise SystemExit(f"{name} was not made")
    example.mkdir(exist_ok=True)
    kinds = ("pdf", "html", "json") if name == IN_DOCS else ("pdf",)
    for held in (f"datasheet.{kind}" for kind in kinds):
        shutil.copyfile(ROOT / run / held, example / held)
    page_one(ROOT / run / "datasheet.pdf", example / "page-1.png")
    print(example)


def page_one(pdf: Path, picture: Path) -> None:
    """Page one as a picture of few colours."""
    page = PdfDocument(pdf)[0].render(scale=DPI / 72).to_pil()
    page.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE).save(picture, optimize=True)


if __name__ == "__main__":
    for chosen in sys.argv[1:] or COMMANDS:
        make(chosen)

"""Pictures of sheets for a person to look at: pages on both papers, the HTML at three widths."""

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from tests.sheet.chromium import CHROMIUM, launched
from torture.processes import judgesheet

WIDTHS = (390, 768, 1280)
"""Of a telephone, a tablet and a small screen, in pixels."""
HEIGHT = 4000
"""Of the HTML, from its top, in pixels: the first pages; the whole is 70,000 pixels long."""
DPI = "100"
LONGEST_MS = 180_000.0
"""A busy machine takes its time."""
FOLDER = "png"


def missing() -> list[str]:
    """What pictures need and this machine lacks, with how to get it."""
    tools = {
        "pdftoppm (apt-get install poppler-utils)": shutil.which("pdftoppm"),
        "Chromium (apt-get install chromium)": CHROMIUM,
        "playwright (make env)": find_spec("playwright"),
    }
    return [name for name, found in tools.items() if not found]


def take(folders: Iterable[Path]) -> Iterator[Path]:
    """Picture the sheet of each run in the folder `png` beside it; the pictures as they come."""
    with contextmanager(launched)() as browser:
        for folder in folders:
            shots = folder / FOLDER
            shots.mkdir(exist_ok=True)
            _pages(folder, shots)
            page = browser.new_page()
            page.goto((folder / "datasheet.html").as_uri())
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": HEIGHT})
                page.screenshot(path=shots / f"html-{width}.png", timeout=LONGEST_MS)
            page.close()
            yield from sorted(shots.iterdir())


def _pages(folder: Path, shots: Path) -> None:
    """Pages one and two of the sheet on both papers."""
    judgesheet("render", folder, "--to", "pdf", "--paper", "letter", "--out", folder / "letter")
    for paper, pdf in {"a4": folder, "letter": folder / "letter"}.items():
        words = ("pdftoppm", "-png", "-r", DPI, "-f", "1", "-l", "2")
        subprocess.run([*words, pdf / "datasheet.pdf", shots / paper], check=True)

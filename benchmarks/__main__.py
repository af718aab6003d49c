"""Speed and sizes, printed as one table; nothing is asserted. Run by `make bench`.

Figures are of the machine that runs it: compare them within one run, not with another machine's.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import judgesheet
from benchmarks import collecting, size


def main() -> None:
    """Measure everything and print it."""
    for name, figure in rows():
        print(f"{name:48} {figure}", flush=True)
    size.main()
    collecting.main()


def rows() -> Iterator[tuple[str, str]]:
    """Name and figure of every benchmark."""
    yield "judgesheet --help", f"{best(lambda: command('--help')):.3f} s"
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        judgesheet.probe("sim/first-biased", run, profile="quick")
        yield "probe of sim/first-biased, quick, all included", timed_probe(Path(folder) / "again")
        for form in ("md", "html", "pdf"):
            seconds = best(lambda form=form: command("render", str(run), "--to", form))  # type: ignore[misc]
            size = (run / f"datasheet.{form}").stat().st_size
            yield f"render --to {form}, a new process", f"{seconds:.2f} s, {size / 1000:.0f} kB"
        yield "modules of render --to md", loaded(run)
        yield from processor_times(run, Path(folder) / "standard")


def processor_times(quick: Path, standard: Path) -> Iterator[tuple[str, str]]:
    """What a new process spends on the sheet of four axes, other work on the machine left out."""
    command("probe", "--model", "sim/first-biased", "--profile", "standard",
            "--out", str(standard), "--quiet", "--no-pdf")  # fmt: skip
    for what, arguments in {
        "gate": ("gate", str(quick), "--policy", "scoring"),
        "render --to html": ("render", str(quick), "--to", "html"),
        "render --to pdf": ("render", str(quick), "--to", "pdf"),
        "measure, 1,672 calls": ("measure", str(quick)),
        "measure --no-pdf, 11,074 calls": ("measure", str(standard), "--no-pdf"),
        "measure --to json, 11,074 calls": ("measure", str(standard), "--to", "json"),
        "measure, 11,074 calls": ("measure", str(standard)),
    }.items():
        yield f"CPU of {what}", f"{min(spent(*arguments) for _ in range(3)):.2f} s"


def spent(*arguments: str) -> float:
    """Seconds of the processor, of user and system, that a command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "judgesheet", *arguments], check=False,
                   capture_output=True)  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def command(*arguments: str) -> None:
    """Run the tool in a process of its own."""
    subprocess.run(
        [sys.executable, "-m", "judgesheet", *arguments], check=True, capture_output=True
    )


def best(action: Callable[[], None], times: int = 3) -> float:
    """The shortest of a few runs, seconds."""
    found = []
    for _ in range(times):
        started = time.perf_counter()
        action()
        found.append(time.perf_counter() - started)
    return min(found)


def timed_probe(out: Path) -> str:
    """Wall time of a whole probe in a new process."""
    started = time.perf_counter()
    command("probe", "--model", "sim/first-biased", "--out", str(out), "--quiet")
    return f"{time.perf_counter() - started:.2f} s"


def loaded(run: Path) -> str:
    """Which heavy libraries `render --to md` imports."""
    program = (
        "import sys; from judgesheet.cli import main\n"
        f"try: main(['render', {str(run)!r}, '--to', 'md'])\n"
        "except SystemExit: pass\n"
        "heavy = ['scipy', 'numpy', 'pandas', 'typst']\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return done.stdout.splitlines()[-1]


if __name__ == "__main__":
    main()

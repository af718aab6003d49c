"""Speed and sizes, printed as one table; nothing is asserted. Run by `make bench`.

Figures are of the machine that runs it: compare them within one run, not with another machine's.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import judgesheet
from benchmarks import collecting
from judgesheet.records import Call, Label, Plan, Reply
from judgesheet.run_directory import LEDGER
from judgesheet.spine.ledger import Ledger
from judgesheet.stats.orders import balanced

PROMPTS = 2_500  # x 4 responses x 10 orders = 100,000 calls


def main() -> None:
    """Measure everything and print it."""
    for name, figure in rows():
        print(f"{name:48} {figure}", flush=True)
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
        yield from measuring(Path(folder) / "large")


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


def measuring(directory: Path) -> Iterator[tuple[str, str]]:
    """A ledger of 100,000 score_order calls: write it, read it, measure it."""
    directory.mkdir()
    plan, verdicts = large_plan()
    started = time.perf_counter()
    with Ledger.create_or_open(
        directory / LEDGER, plan, {"provider": "sim", "model": "x"}
    ) as ledger:
        yield "ledger: plan of 100,000 calls", f"{time.perf_counter() - started:.2f} s"
        started = time.perf_counter()
        ledger.record(
            [
                Reply(call.id, 1, "ok", text, text, 0.0, 1, 1, "x", 1e9)
                for call, text in zip(plan.calls, verdicts, strict=True)
            ]
        )
        yield "ledger: 100,000 replies in one transaction", f"{time.perf_counter() - started:.2f} s"
    from judgesheet.spine.measure import measure

    with Ledger.open(directory / LEDGER) as ledger:
        started = time.perf_counter()
        measured = measure(ledger)
        seconds = time.perf_counter() - started
    found = len(measured.results[0].estimates)
    yield "measure 100,000 score_order calls", f"{seconds:.2f} s, {found} estimates"


def large_plan() -> tuple[Plan, list[str]]:
    """A judge that follows quality with noise and a taste for the last line."""
    rng = np.random.default_rng(0)
    calls, labels, verdicts = [], [], []
    for prompt in range(PROMPTS):
        for letter in "abcd":
            quality, item = float(rng.random()), f"{prompt}/{letter}"
            labels.append(Label("score_order", item, "human", quality))
            for order in balanced(5):
                cell = {"item": item, "arm": "balanced", "scale": 5, "order": list(order)}
                messages = ({"role": "user", "content": f"grade {item}"},)
                calls.append(Call("score_order", str(prompt), cell, 0, messages, {}, "json"))
                wish = 1 + 4 * quality + rng.normal(0, 0.6) + 0.3 * (order[-1] == 5)
                verdicts.append(json.dumps({"score": int(np.clip(round(wish), 1, 5))}))
    return Plan(0, tuple(calls), tuple(labels), {}), verdicts


if __name__ == "__main__":
    main()

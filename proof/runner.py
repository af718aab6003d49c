"""Runs the lines of all proofs in parallel, keeps what is done, compares with what is committed.

Every finished line is kept in `proof/.done/` under its name, its number of data sets and the digest
of the code that can move it: a run that was interrupted goes on, a changed estimator runs anew.
"""

import json
import math
import time
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, cast

import numpy as np
from scipy import stats

from judgesheet.base.errors import RunError
from judgesheet.base.records import digest
from proof import lines as kit
from proof.lines import Line, Row, Rows, Truths

ROOT = Path(__file__).parent
DONE = ROOT / ".done"
TEXTS = ROOT / "text"
PAGES = ROOT.parent / "docs" / "proof"
COMMITTED = PAGES / "results"
NAMES = (
    *("score_order", "criterion_order", "candidate_order", "listwise_consensus"),
    "presentation",
    *(
        "agreement",
        "copies",
        "gate",
        "efficiency",
        "edges",
        "losses",
        "where",
        "compare",
        "correct",
        "end_to_end",
        "page_one",
        "profiles",
        "until_decided",
        "keys",
    ),
)
FEWER = 12
"""A check takes one of so many data sets: five minutes instead of an hour."""
CHANCE = 6e-5
"""Probability of a difference by chance at which a check fails: that of 4 standard errors."""


class Proof(Protocol):
    """The shape of a proof: a module that declares its lines and fills its text.

    The text lies in `proof/text/`, with fields in braces. `DEPENDS_ON` are the packages and axes
    whose code can move the results.
    """

    DEPENDS_ON: Sequence[object]

    def lines(self) -> Iterator[Line]:
        """What is run, in the order of the page."""

    def fields(self, results: "Sequence[Result]") -> dict[str, str]:
        """What the text leaves open, made from the results of the lines."""


@dataclass(frozen=True)
class Result:
    """What a line gave."""

    line: Line
    rows: Rows


@dataclass(frozen=True)
class Task:
    """A line, or with `sets` 0 the truths of its data, to be run in another process."""

    page: str
    name: str
    sets: int

    @property
    def line(self) -> Line:
        """The line itself."""
        return _lines(self.page)[self.name]

    @property
    def about(self) -> str:
        """What its record is called: lines of one kind of data and part share their truths."""
        return self.name if self.sets else f"truths | {self.line.data} | {self.line.part}"


def proof(page: str) -> Proof:
    """The proof of that name."""
    return cast("Proof", import_module(f"proof.{page}"))


@cache
def _lines(page: str) -> Mapping[str, Line]:
    found = list(proof(page).lines())
    by_name = {line.name: line for line in found}
    if len(by_name) < len(found):
        raise ValueError(f"two lines of {page} have one name")
    return by_name


@cache
def code_digest(page: str) -> str:
    """SHA-256 over the source that can move the results of a page."""
    module = import_module(f"proof.{page}")
    moving = [
        one if isinstance(one, ModuleType) else import_module(type(one).__module__)
        for one in proof(page).DEPENDS_ON
    ]
    folders = [Path(str(one.__file__)).parent for one in moving]
    own = [Path(str(module.__file__)), Path(str(kit.__file__)), *_helpers(module)]
    files = [*own, *(file for folder in folders for file in sorted(folder.glob("*.py")))]
    return digest("\n".join(file.read_text(encoding="utf-8") for file in files))


def _helpers(module: ModuleType) -> Iterator[Path]:
    """The simulated judges that a proof takes from modules beside it."""
    names = {getattr(thing, "__module__", None) or "" for thing in vars(module).values()}
    drawing = {"proof.tables", __name__}  # they move no result
    for name in sorted(name for name in names - drawing if name.startswith("proof.")):
        yield Path(str(import_module(name).__file__))


# -- the store -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Store:
    """Finished lines, one file each; nothing is kept where `folder` is None."""

    folder: Path | None

    def get(self, task: Task) -> dict[str, Any] | None:
        """What was kept of a task under the present code."""
        file = self._file(task)
        if file is None or not file.exists():
            return None
        return cast("dict[str, Any]", json.loads(file.read_text(encoding="utf-8")))

    def keep(self, task: Task, found: Mapping[str, Any]) -> None:
        """Keep what a task gave; a run that ends meanwhile leaves no half of it."""
        file = self._file(task)
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            partial = file.with_suffix(".part")
            partial.write_text(json.dumps(found), encoding="utf-8")
            partial.replace(file)

    def _file(self, task: Task) -> Path | None:
        if self.folder is None:
            return None
        name = digest(f"{task.about} | {task.sets} | {code_digest(task.page)}")[:24]
        return self.folder / task.page / f"{name}.json"


def _work(task: Task, truths: Truths) -> dict[str, Any]:
    """In a process of its own: run one task."""
    warnings.filterwarnings("ignore")  # a figure that has no value says so by its reason
    if not task.sets:
        return {"truths": {key: _rounded(value) for key, value in task.line.truths().items()}}
    seed = [kit.SEED, zlib.crc32(f"{task.page} | {task.name}".encode())]
    rows = task.line.run(task.sets, np.random.default_rng(seed), truths)
    return {"rows": {name: _record(row) for name, row in rows.items()}}


def _timed(task: Task, truths: Truths) -> tuple[dict[str, Any], float]:
    started = time.perf_counter()
    return _work(task, truths), time.perf_counter() - started


def _record(row: Row) -> dict[str, Any]:
    record = asdict(row)
    for part in ("shares", "facts"):
        record[part] = {name: _rounded(value) for name, value in record[part].items()}
    return {name: value for name, value in record.items() if value not in ({}, None)}


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


def run(
    tasks: Iterable[Task],
    truths: Callable[[Task], Truths],
    store: Store,
    jobs: int,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[Task, dict[str, Any]]:
    """What every task gives, from the store where it holds it."""
    every = list(tasks)
    found = {task: kept for task in every if (kept := store.get(task)) is not None}
    left = [task for task in every if task not in found]
    tell(f"{len(found)} of {len(every)} are done")
    with ProcessPoolExecutor(jobs) as pool:
        running: dict[Future[tuple[dict[str, Any], float]], Task] = {
            pool.submit(_timed, task, truths(task) if task.sets else {}): task for task in left
        }
        for future in as_completed(running):
            task = running[future]
            if failure := future.exception():
                tell(f"FAILED {task.page}: {task.about}: {failure!r}")
                continue
            found[task], seconds = future.result()
            store.keep(task, found[task])
            tell(f"{len(found)}/{len(every)} {seconds:4.0f} s {task.page}: {task.about}")
    failed = [task for task in every if task not in found]
    if failed:  # only now: what the others found is kept
        raise RunError(f"{len(failed)} lines failed, {failed[0].about} among them")
    return found


# -- a whole run -----------------------------------------------------------------------------------


def whole(
    pages: Sequence[str],
    jobs: int,
    store: Store,
    target: Path = COMMITTED,
    tell: Callable[[str], None] = lambda _: None,
    fewer: int = 1,
) -> None:
    """Run every line of these pages and write the results."""
    tasks = [task for page in pages for task in _tasks(page, fewer)]
    first = {(task.page, _of(task)): Task(task.page, task.name, 0) for task in tasks}
    known = run(first.values(), lambda _: {}, store, jobs, tell)
    truths = {(task.page, _of(task)): found["truths"] for task, found in known.items()}
    found = run(tasks, lambda task: truths[task.page, _of(task)], store, jobs, tell)
    target.mkdir(parents=True, exist_ok=True)
    for page in {task.page for task in tasks}:
        records = [
            {"about": task.about, **record}
            for part in (known, found)
            for task, record in part.items()
            if task.page == page
        ]
        text = "".join(json.dumps(record) + "\n" for record in records)
        (target / f"{page}.jsonl").write_text(text, encoding="utf-8")


def _tasks(page: str, fewer: int) -> Iterator[Task]:
    """The lines of a page, the largest first."""
    every = [Task(page, name, max(1, line.sets // fewer)) for name, line in _lines(page).items()]
    yield from sorted(
        every, key=lambda task: -task.line.size if isinstance(task.line.size, int) else 0
    )


def _of(task: Task) -> str:
    return Task(task.page, task.name, 0).about


def committed(page: str, source: Path = COMMITTED) -> dict[str, dict[str, Any]]:
    """The records of a page by what they are about; none for a page that runs nothing."""
    found = has_results(page, source)
    text = (source / f"{page}.jsonl").read_text(encoding="utf-8") if found else ""
    return {record.pop("about"): record for record in map(json.loads, text.splitlines())}


def has_results(page: str, source: Path = COMMITTED) -> bool:
    """Whether anything was committed of a page."""
    return (source / f"{page}.jsonl").exists()


def results(page: str, source: Path = COMMITTED) -> list[Result]:
    """The committed results of a page, in the order of its lines."""
    records = committed(page, source)
    return [
        Result(line, _rows(records[line.name]["rows"]))
        for line in _lines(page).values()
        if line.name in records
    ]


def _rows(record: Mapping[str, Any]) -> Rows:
    return {
        name: Row(
            row.get("sets", {}), row.get("shares", {}), row.get("facts", {}), row.get("worst")
        )
        for name, row in record.items()
    }


def render(pages: Sequence[str], source: Path = COMMITTED) -> Iterator[tuple[Path, str]]:
    """The pages that the results give."""
    for page in pages:
        text = (TEXTS / f"{page}.md").read_text(encoding="utf-8")
        yield PAGES / f"{page}.md", text.format(**proof(page).fields(results(page, source)))


# -- a check ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Again:
    """A share that was measured anew, and what was committed of it."""

    where: str
    metric: str
    share: float
    sets: int
    before: float
    sets_before: int

    def departs(self) -> Iterator[str]:
        """A sentence if the two differ by more than chance (Fisher's exact test) allows."""
        hits, hits_before = round(self.share * self.sets), round(self.before * self.sets_before)
        law = stats.hypergeom(self.sets + self.sets_before, hits + hits_before, self.sets)
        if 2 * min(law.cdf(hits), law.sf(hits - 1)) < CHANCE:
            yield (
                f"{self.where}: {self.metric} is {self.share:.3f} of {self.sets} data sets, "
                f"{self.before:.3f} was committed"
            )

    def misses(self, least: float, most: float) -> Iterator[str]:
        """A sentence if it misses a target that the committed one kept."""
        under = self.share < least - 4 * error(least, self.sets)
        over = self.share > most + 4 * error(most, self.sets)
        if least <= self.before <= most and (under or over):
            yield f"{self.where}: {self.metric} {self.share:.3f} misses its target"


def check(
    pages: Sequence[str],
    jobs: int,
    source: Path = COMMITTED,
    tell: Callable[[str], None] = lambda _: None,
    fewer: int = FEWER,
) -> list[str]:
    """What departs from the committed results, or falls under its floor, as sentences.

    Shares are compared line by line, and pooled over the lines of a page. A page of which nothing
    was ever committed is told of and left out.
    """
    for page in (page for page in pages if not has_results(page, source)):
        tell(f"{page}: nothing is committed yet")
    pages = [page for page in pages if has_results(page, source)]
    known = {page: committed(page, source) for page in pages}
    tasks = [task for page in pages for task in _tasks(page, fewer)]
    kept = [task for task in tasks if task.about in known[task.page]]
    wrong = [f"{task.page}: {task.name} is not committed" for task in tasks if task not in kept]
    found = run(kept, lambda task: known[task.page][_of(task)]["truths"], Store(None), jobs, tell)
    pools: defaultdict[tuple[str, str, str], list[Again]] = defaultdict(list)
    for task, record in found.items():
        before = _rows(known[task.page][task.about]["rows"])
        for name, row in _rows(record["rows"]).items():
            for metric in row.shares:
                where = f"{task.page}: {task.name}: {name}"
                if name not in before or metric not in before[name].shares:
                    wrong.append(f"{where}: {metric} is not committed")
                    continue
                again = _again(where, metric, row, before[name])
                pools[task.page, name, metric].append(again)
                wrong += [*again.departs(), *again.misses(*task.line.target(name, metric))]
    for (page, name, metric), some in pools.items():
        wrong += _pooled(f"{page}: {name}, all lines", metric, some).departs()
    return wrong


def _again(where: str, metric: str, row: Row, before: Row) -> Again:
    now, then = ((one.shares[metric], one.sets[metric]) for one in (row, before))
    return Again(where, metric, *now, *then)


def _pooled(where: str, metric: str, some: Sequence[Again]) -> Again:
    """All lines together, in the proportions of those that were run now."""
    sets = sum(one.sets for one in some)
    share = sum(one.share * one.sets for one in some) / sets
    before = sum(one.before * one.sets for one in some) / sets
    return Again(where, metric, share, sets, before, sum(one.sets_before for one in some))


def error(share: float, sets: int) -> float:
    """Monte Carlo standard error of a share."""
    return math.sqrt(share * (1 - share) / sets)

"""A run directory: its place, its content, and how a run is started or resumed in it."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgesheet.base.errors import RunError
from judgesheet.base.files import slug
from judgesheet.base.records import Datasheet, Plan
from judgesheet.ledger.ledger import Ledger, held

if TYPE_CHECKING:
    from judgesheet.collect.collect import Progress

LEDGER = "ledger.sqlite"
PLAN = "plan.jsonl"
JUDGMENTS = "judgments.parquet"
DATASHEET = "datasheet.json"
CASES = "cases.html"


@dataclass(frozen=True, slots=True)
class Run:
    """A run directory with its datasheet; `progress` is None where no call was made."""

    directory: Path
    datasheet: Datasheet
    progress: "Progress | None" = None


def default_directory(model: str, prefix: str = "") -> Path:
    """Where a run of this judge lies unless the user says otherwise."""
    # A name has 255 bytes on most file systems, with what is put before and behind it.
    return Path("runs") / f"{prefix}{slug(model)[:80] or 'judge'}"


def make_directory(directory: Path, *, fresh: bool) -> None:
    """Make the directory if it does not exist; `fresh` renames an old one first.

    RunError if it cannot be made, or the old one is in use.
    """
    try:
        if fresh and directory.exists():
            _keep_aside(directory)
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(
            f"{directory} cannot be used ({error.strerror}); choose another --out"
        ) from None


def _keep_aside(directory: Path) -> None:
    """Rename a directory that nobody writes to: a run, or a sweep of several."""
    with ExitStack() as all_held:
        # Each of a sweep is held, so that no run loses its folder under its feet.
        for ledger in (directory / LEDGER, *directory.glob(f"*/{LEDGER}")):
            all_held.enter_context(held(ledger))
        directory.rename(_aside(directory))


def _aside(directory: Path) -> Path:
    number = 1
    while (aside := directory.with_name(f"{directory.name}.old-{number}")).exists():
        number += 1
    return aside


@contextmanager
def open_run(
    directory: Path, plan: Plan | None, judge: Mapping[str, Any], made_from: str, *, fresh: bool
) -> Iterator[Ledger]:
    """The ledger of this plan and this judge, with the plan beside it, until the block is left.

    `made_from` is kept with a plan; None for one stands for that which the directory holds.
    RunError if the directory cannot be used, or holds another plan, judge or parser.
    """
    make_directory(directory, fresh=fresh)
    with Ledger.create_or_open(directory / LEDGER, plan, judge) as ledger:
        _take_in(ledger)
        # One sheet, one reading: a run is resumed with the parsers it has.
        given = (plan or ledger).provenance
        if ledger.parsers() != given.get("parsers", []):
            raise RunError(
                f"{ledger.path} is read with another parser; give the same again, or read all of "
                "its replies anew with `judgesheet measure DIR --parser AXIS=FILE`"
            )
        if plan is None:
            yield ledger
            _write_plan(ledger, directory)  # whatever lies there
            return
        ledger.set_meta("made_from", made_from)
        del plan  # a long one takes much room
        _write_plan(ledger, directory)
        yield ledger


def _take_in(ledger: Ledger) -> None:
    """Put what workers were told before the run was interrupted into its ledger."""
    if not ledger.get_meta("shards"):
        return
    from judgesheet.collect.sharding import gather

    if alive := gather(ledger):
        raise RunError(
            f"a worker still asks for this run and does not stop ({alive[0]}): end it, or wait"
        )


def _write_plan(ledger: Ledger, directory: Path) -> None:
    from judgesheet.planning.plan import write_plan

    write_plan(ledger.calls(), directory / PLAN)


def made_from(directory: Path) -> str:
    """What the plan in a directory was made from; "" where there is none, or it is not known."""
    with suppress(RunError), _begun(directory) as ledger:  # whoever opens it next tells of it
        return str(ledger.get_meta("made_from", "")) if ledger else ""
    return ""


def settings_of(directory: Path) -> dict[str, Any]:
    """The settings of the run in a directory; empty if there is none."""
    with _begun(directory) as ledger:
        return ledger.settings() if ledger else {}


@contextmanager
def _begun(directory: Path) -> Iterator[Ledger | None]:
    """The ledger of a run to read, if there is one."""
    path = directory / LEDGER
    if path.is_file() and path.stat().st_size:  # empty: killed before the plan was stored
        with Ledger.open(path) as ledger:
            yield ledger
    else:
        yield None

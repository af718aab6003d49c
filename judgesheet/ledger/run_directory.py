"""A run directory: its place, its content, and how a run is started or resumed in it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from judgesheet.base.digits import counted
from judgesheet.base.errors import OtherRunError, RunError
from judgesheet.base.files import slug
from judgesheet.base.records import UNBILLED, Label, Plan
from judgesheet.ledger.opening import free_name, held, is_blank

if TYPE_CHECKING:
    # The commands that read a sheet need names of files alone.
    from judgesheet.ledger.ledger import Ledger

RUNS = Path("runs")
"""Where runs lie unless the user says otherwise."""
LEDGER = "ledger.sqlite"
SWEEP = "sweep.json"
"""What earlier versions wrote beside the runs of a sweep."""
PLAN = "plan.jsonl"
JUDGMENTS = "judgments.parquet"
JUDGMENT_LINES = "judgments.jsonl.gz"
"""The same table, where pyarrow is not installed."""
DATASHEET = "datasheet.json"
CASES = "cases.html"


def default_directory(model: str, prefix: str = "") -> Path:
    """Where a run of this judge lies unless the user says otherwise."""
    return RUNS / f"{prefix}{slug(model) or 'judge'}"


def make_directory(directory: Path, *, fresh: bool) -> None:
    """Make the directory if it does not exist; `fresh` renames one that holds a run first.

    RunError if it cannot be made, or the run is in use.
    """
    try:
        # Any other folder is somebody's, and holds nothing to start over.
        if fresh and any((directory / name).is_file() for name in (LEDGER, SWEEP)):
            _keep_aside(directory)
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)  # prompts and replies are private
    except FileExistsError:
        raise RunError(f"{directory} is a file, and --out names a folder") from None
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
        directory.rename(free_name(directory, "old"))


@contextmanager
def open_run(
    directory: Path,
    plan: Plan,
    judge: Mapping[str, Any],
    *,
    fresh: bool,
    overflow: Path | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> "Iterator[Ledger]":
    """The ledger of this plan and this judge, until the block is left; the plan is exported first.

    Another plan or judge that nobody was paid for is kept aside: a first try with a wrong key, say.
    RunError if the directory cannot be used, or holds another plan, judge or parser.
    """
    from judgesheet.ledger.ledger import Ledger
    from judgesheet.planning.plan import write_plan

    path = directory / LEDGER
    try:
        make_directory(directory, fresh=fresh)
        ledger = Ledger.create_or_open(path, plan, judge, overflow=overflow)
    except OtherRunError:
        if _is_paid_for(path):
            raise
        tell("the options changed, and nothing was answered before: starting over")
        make_directory(directory, fresh=True)
        ledger = Ledger.create_or_open(path, plan, judge, overflow=overflow)
    with ledger:
        for file, replies in ledger.taken_in.items():
            tell(
                f"now in the ledger: {counted(replies, 'reply', 'replies')} that an earlier run "
                f"kept in {file}"
            )
        if rated := ledger.corrected.rated:
            whose = counted(rated, "response")
            tell(f"ratings of {whose} changed: measured with the new ones")
        if grouped := ledger.corrected.grouped:
            whose = counted(grouped, "stimulus", "stimuli")
            tell(f"groups of {whose} changed: measured with the new ones")
        # One sheet, one reading: a run is resumed with the parsers it has.
        if ledger.parsers() != plan.provenance.get("parsers", []):
            raise RunError(
                f"{directory} is read with another parser: give that again, or read its replies "
                f"anew with `judgesheet measure {quote(str(directory))} --parser AXIS=FILE`"
            )
        del plan  # a long one takes much room
        write_plan(ledger.calls(), directory / PLAN)
        yield ledger


def _is_paid_for(path: Path) -> bool:
    """Whether any attempt in a ledger may have cost something."""
    from judgesheet.ledger.ledger import Ledger

    with Ledger.open(path) as ledger:
        return not ledger.totals().outcomes.keys() <= UNBILLED


def is_begun(ledger: Path) -> bool:
    """Whether there is a ledger with a plan; one without was left by a killed process."""
    return ledger.is_file() and not is_blank(ledger)


def labels_of(directory: Path) -> tuple[Label, ...]:
    """The labels of the run in a directory; none if there is no run."""
    from judgesheet.ledger.ledger import Ledger

    if not is_begun(directory / LEDGER):
        return ()
    with Ledger.open(directory / LEDGER) as ledger:
        return ledger.labels()


def settings_of(directory: Path) -> dict[str, Any]:
    """The settings of the run in a directory; empty if there is none."""
    from judgesheet.ledger.ledger import Ledger

    if not is_begun(directory / LEDGER):
        return {}
    with Ledger.open(directory / LEDGER) as ledger:
        return ledger.settings()

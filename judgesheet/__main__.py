"""`python -m judgesheet` is `judgesheet`; Ctrl-C ends it quietly while it is still loading, too."""

import codecs
import gc
import os
import sys
from io import TextIOWrapper

from judgesheet.base.errors import is_interrupt
from judgesheet.base.limits import LONGEST_EPOCH

YOUNG = 50_000
"""Objects between two looks for cycles: a command makes many objects, ends soon, and has few."""


def run() -> None:
    """The command line."""
    gc.set_threshold(YOUNG)
    _open_what_is_closed()
    _spell_what_cannot_be_printed()
    _ignore_what_is_not_for_us()
    try:
        from judgesheet.cli import main
    except (KeyboardInterrupt, RuntimeError) as error:
        if not is_interrupt(error):
            raise
        sys.stderr.write("judgesheet: interrupted before it began\n")
        raise SystemExit(130) from None
    try:
        main(prog_name="judgesheet")
    except OSError as error:  # `--help` onto a full disk: what commands print is caught in there
        sys.stderr.write(f"judgesheet: {error.strerror}\n")
        raise SystemExit(1) from None
    finally:
        _drop_what_cannot_be_written()


def _spell_what_cannot_be_printed() -> None:
    r"""Signs that a terminal lacks (Latin-1, ASCII) are written as `\u2265`, which JSON is, too."""

    def spelled(error: UnicodeEncodeError) -> tuple[str, int]:
        units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
        return "".join(rf"\u{units[at : at + 4]}" for at in range(0, len(units), 4)), error.end

    codecs.register_error("judgesheet.spelled", spelled)  # type: ignore[arg-type]  # reads nothing
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="judgesheet.spelled")


def _drop_what_cannot_be_written() -> None:
    """Keep Python from reporting once more, at exit, what a full disk did not take."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _ignore_what_is_not_for_us() -> None:
    """Variables of other programs that stop libraries which draw and typeset.

    A notebook names a backend that may not be installed here; a date must be a number.
    """
    # Nothing of ours draws with matplotlib, but others load it where it is installed.
    os.environ["MPLBACKEND"] = "svg"
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is not None and not (epoch.isdecimal() and len(epoch) <= LONGEST_EPOCH):
        del os.environ["SOURCE_DATE_EPOCH"]


def _open_what_is_closed() -> None:
    """A standard stream that the caller closed (`>&-`) leads nowhere.

    Otherwise the next file that is opened, a ledger say, would take its number.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))


if __name__ == "__main__":
    run()

"""`python -m judgesheet` is `judgesheet`; Ctrl-C ends it quietly while it is still loading, too."""

import gc
import sys

YOUNG = 50_000
"""Objects between two looks for cycles: a command makes many objects, ends soon, and has few."""


def run() -> None:
    """The command line."""
    gc.set_threshold(YOUNG)
    try:
        from judgesheet.cli import main
    except KeyboardInterrupt:
        sys.stderr.write("judgesheet: interrupted before it began\n")
        raise SystemExit(130) from None
    main(prog_name="judgesheet")


if __name__ == "__main__":
    run()

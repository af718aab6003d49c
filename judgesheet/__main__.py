"""`python -m judgesheet` is `judgesheet`; Ctrl-C ends it quietly while it is still loading, too."""

import sys


def run() -> None:
    """The command line."""
    try:
        from judgesheet.cli import main
    except KeyboardInterrupt:
        sys.stderr.write("judgesheet: interrupted before it began\n")
        raise SystemExit(130) from None
    main(prog_name="judgesheet")


if __name__ == "__main__":
    run()

"""What is printed for an unexpected exception, which is an internal error.

Its text and its traceback may hold replies or what a server said, so the sentence leaves them out.
"""

import os
import traceback
from collections.abc import Iterator
from pathlib import Path

from judgesheet.base.resources import PACKAGE
from judgesheet.judges.redaction import of_environment, without_userinfo

WANTED = "JUDGESHEET_TRACEBACK"
"""The environment variable that asks for the whole traceback."""


def lines(error: Exception) -> Iterator[str]:
    """The traceback if it is wanted, without secrets, and one sentence: what happened and where."""
    if os.environ.get(WANTED):
        whole = "".join(traceback.format_exception(error))
        yield from of_environment()(without_userinfo(whole)).splitlines()
    yield (
        f"judgesheet: internal error ({type(error).__name__} in {_place(error)}): "
        f"please report it; {WANTED}=1 shows the traceback, which may quote replies"
    )


def _place(error: Exception) -> str:
    """File and line of the innermost code of ours that it passed."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE)]
    if not ours:
        return "another library"
    return f"{Path(ours[-1].filename).relative_to(PACKAGE.parent)}:{ours[-1].lineno}"

"""Functions as judges, which end the process that they run in."""

import os
import signal
import zlib
from collections.abc import Sequence
from pathlib import Path

Messages = Sequence[dict[str, str]]


def grade(messages: Messages) -> str:
    """The same question is always answered alike."""
    return f"[RESULT] {1 + zlib.crc32(messages[-1]['content'].encode()) % 5}"


def always(_messages: Messages) -> str:
    """Never answers."""
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


def twice(messages: Messages) -> str:
    """Ends two processes, one after the other, at every ninth question or so."""
    if zlib.crc32(messages[-1]["content"].encode()) % 9 == 0:
        for number in (1, 2):
            # Whoever creates the file is the one who ends.
            if not (mark := Path(os.environ["MORTAL_MARKS"]) / str(number)).exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
    return grade(messages)

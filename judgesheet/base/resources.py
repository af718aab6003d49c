"""What a process has: its data folders, in a wheel or a checkout, its libraries, its memory."""

import errno
import gc
import mmap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Literal

from judgesheet.base.errors import RunError

PACKAGE = Path(__file__).resolve().parent.parent
"""The folder of the package."""


@cache
def data_folder(name: Literal["templates", "stimuli", "policies", "scaffold"]) -> Path:
    """A folder that comes with judgesheet; `templates` has style sheets, fonts and prompts too.

    RunError if neither the wheel nor the checkout has it.
    """
    for place in (PACKAGE / "_data" / name, PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise RunError(
        f"the folder {name}/ that belongs to judgesheet is missing from {PACKAGE}: "
        "install the package again"
    )


def is_shipped(prompt: str) -> bool:
    """Whether it is the name of a paper's prompt that comes with judgesheet."""
    return any(path.name == prompt for path in (data_folder("templates") / "prompts").glob("*.j2"))


def prompt_file(path: Path) -> Path:
    """The file of a prompt: the user's, or the paper's of that name."""
    if path.exists() or not is_shipped(str(path)):
        return path
    return data_folder("templates") / "prompts" / path.name


OUT_OF_MEMORY = (
    "out of memory: give the process more (`ulimit -v`, the limit of its container or job), or "
    "measure fewer axes or a smaller profile at once; replies that have arrived are kept"
)


def require_memory(size: int = 150_000_000) -> None:
    """OSError where a limited process has less memory left than SciPy's linear algebra takes.

    While that is loaded it asks for its memory again and again until it gets it, without end.
    """
    if _is_limited():
        mmap.mmap(-1, size).close()


@contextmanager
def uncollected() -> Iterator[None]:
    """Look for no circles of objects meanwhile: for work that makes millions of objects, and none.

    Each look goes through all objects that there are; together they would take as long as reading.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _is_limited() -> bool:
    with suppress(ImportError):  # Windows has no such limits
        import resource

        return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    return False


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception comes of too little memory, under whatever name.

    Libraries that cannot be loaded into a limited process say so as an error of import or of the
    interpreter.
    """
    return any(
        isinstance(one, MemoryError)
        or (isinstance(one, OSError) and one.errno == errno.ENOMEM)
        or (_is_limited() and isinstance(one, ImportError | SystemError))
        for one in _with_causes(error)
    )


def _with_causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__

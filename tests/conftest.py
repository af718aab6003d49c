"""What holds for every test: none asserts a time, hypothesis included, and neighbours share."""

import os
import tempfile
from collections.abc import Iterator

# Workers share the cores already: threads of each would only wait for one another. Read by numpy
# when it is loaded, and by the processes that tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from judgesheet.base.errors import MissingDependencyError
from judgesheet.commands import checkup, publish
from judgesheet.sheet.pdf import library
from tests.command import with_pages

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session", autouse=True)
def own_temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Replies that a run puts into the system's temporary folder are left nowhere else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("system")))
        patch.setattr(tempfile, "tempdir", None)  # found once, and kept
        yield


@pytest.fixture(scope="session", autouse=True)
def no_pages() -> Iterator[None]:
    """Runs write no pages, which cost more than the rest, but for tests that look at `pages`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publish, "FORMATS", ("json",))
        yield


@pytest.fixture
def pages() -> Iterator[None]:
    """Runs of this process write all pages."""
    with with_pages():
        yield


@pytest.fixture
def only_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """`doctor` looks at the judge alone: that pages can be set takes longer than all the rest."""
    monkeypatch.setattr(checkup, "_MACHINE", {})


@pytest.fixture
def pango() -> None:
    """WeasyPrint has the system library that it draws text with; else the test is skipped."""
    try:
        library()
    except MissingDependencyError as error:
        pytest.skip(str(error))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """By default neighbours stay with one worker, until another has nothing left to do."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None

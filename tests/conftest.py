"""What holds for every test: none asserts a time, hypothesis included, and neighbours share."""

import os
from pathlib import Path

# Workers share the cores already: threads of each would only wait for one another. Read by numpy
# when it is loaded, and by the processes that tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from judgesheet.base.errors import MissingDependencyError
from judgesheet.commands import publish
from judgesheet.sheet import own_template

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture
def only_json(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs write no pages: for tests that look at none, which else cost more than the rest."""
    monkeypatch.setattr(publish, "FORMATS", ("json",))


@pytest.fixture
def pango() -> None:
    """WeasyPrint has the system library that it draws text with; else the test is skipped."""
    try:
        own_template.pdf("<p>", Path())
    except MissingDependencyError as error:
        pytest.skip(str(error).partition(";")[0])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """By default neighbours stay with one worker, until another has nothing left to do."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None

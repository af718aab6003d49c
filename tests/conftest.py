"""What holds for every test: none asserts a time, hypothesis included, and neighbours share."""

import os

# Workers share the cores already: threads of each would only wait for one another. Read by numpy
# when it is loaded, and by the processes that tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from judgesheet.commands import publish

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture
def only_json(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs write no pages: for tests that look at none, which else cost more than the rest."""
    monkeypatch.setattr(publish, "FORMATS", ("json",))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """By default neighbours stay with one worker, until another has nothing left to do."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None

"""A browser for the tests that open pages; each module names its `files`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sheet.chromium import Open, launched, visiting


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from launched()


@pytest.fixture
def visit(browser: Any, files: dict[str, Path]) -> Iterator[Open]:
    yield from visiting(browser, files)

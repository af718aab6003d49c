"""Published figures, when the shared folder with them is beside the checkout."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

GOLDEN = Path(__file__).parents[2].parent / "shared" / "golden.json"


@pytest.fixture(scope="session")
def golden() -> Mapping[str, Any]:
    if not GOLDEN.exists():
        pytest.skip("the published figures are not beside this checkout")
    return {entry["id"]: entry for entry in json.loads(GOLDEN.read_text("utf-8"))}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)

"""The examples are read as their users would: every command in them must be one that exists."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from judgesheet.cli import main

CI = sorted((Path(__file__).parent.parent / "examples" / "ci").glob("*.yml"))


def texts(value: Any) -> Iterator[str]:
    """Every text in a YAML document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)


def commands(path: Path) -> list[list[str]]:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    lines = [line for text in texts(document) for line in text.splitlines()]
    return [shlex.split(line)[1:] for line in lines if re.match(r"\s*judgesheet ", line)]


@pytest.mark.parametrize("path", CI, ids=lambda path: path.name)
def test_every_command_of_a_ci_example_exists(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = commands(path)
    assert {"probe", "gate"} <= {words[0] for words in found}
    for name, *arguments in found:
        command = main.commands[name]
        for parameter in command.params:  # files of the example are not here
            monkeypatch.setattr(parameter.type, "exists", False, raising=False)
        command.make_context(name, arguments)


def test_an_option_that_does_not_exist_would_be_seen() -> None:
    with pytest.raises(click.NoSuchOption):
        main.commands["gate"].make_context("gate", ["runs", "--no-such-option"])

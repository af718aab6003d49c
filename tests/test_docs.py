"""What README and docs say is what the code does; `make check` looks at the generated parts."""

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

import judgesheet
from judgesheet.axes import get_axis
from judgesheet.cli import main
from judgesheet.planning.stimuli import load, pool_digest

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def commands(page: Path) -> Iterator[tuple[str, str]]:
    """The name and the rest of each command in the text; console blocks run in `test_console`."""
    text = re.sub(r"(?ms)^```console$.*?^```$", "", page.read_text(encoding="utf-8"))
    yield from re.findall(r"`judgesheet ([a-z]+(?:-[a-z]+)*)(?=[\s`])([^`]*)`", text)
    yield from re.findall(r"(?m)^\$ judgesheet (\S+)(.*)$", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_text_exist(page: Path) -> None:
    for name, options in commands(page):
        command = main.commands[name]
        if isinstance(command, click.Group):
            rest = options.split()
            command = command.commands[rest[0]] if rest else command
        known = {option for parameter in command.params for option in parameter.opts}
        for option in re.findall(r"(?<!\S)--[a-z-]+", options.split("#")[0]):
            assert option in known, f"{page.name}: judgesheet {name} has no {option}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_pages_that_code_and_files_of_users_name_are_there() -> None:
    places = ("judgesheet", "templates", "scaffold", "policies", "examples", "tests")
    files = [file for place in places for file in (ROOT / place).rglob("*") if file.is_file()]
    texts = {file: file.read_text(encoding="utf-8", errors="ignore") for file in files}
    name = re.compile(r"docs/[\w/-]+\.md")
    named = {(page, file) for file in files for page in name.findall(texts[file])}
    assert named
    for page, file in named:
        assert (ROOT / page).exists(), f"{file.relative_to(ROOT)} names {page}"


@pytest.mark.parametrize("name", [page.stem for page in (ROOT / "docs" / "figures").glob("*.md")])
def test_every_figure_has_an_entry(name: str) -> None:
    page = (ROOT / "docs" / "figures" / f"{name}.md").read_text(encoding="utf-8")
    entries = re.findall(r"(?m)^## (.+)$", page)
    reported = [key.partition(".") for key in judgesheet.explain().splitlines()]
    assert entries == [figure for axis, _, figure in reported if axis == name]


def test_the_navigation_has_every_page() -> None:
    docs = ROOT / "docs"
    listed = {
        path
        for page in docs.glob("*.md")
        for tree in re.findall(r"(?s)```{toctree}\n(.*?)```", page.read_text(encoding="utf-8"))
        for line in re.findall(r"(?m)^(?!:)(?:.*<(?=.*>$))?(\S+?)>?$", tree)
        for path in docs.glob(f"{line}.md")
    }
    assert listed == {*docs.rglob("*.md")} - {docs / "index.md"}


def test_the_steps_from_a_command_to_a_figure_are_functions_of_their_modules() -> None:
    text = (ROOT / "docs" / "structure.md").read_text(encoding="utf-8")
    steps = re.findall(r"(?m)^\| \d+ \| `(.+?)\.py` \| `(.+?)` \|", text)
    assert steps
    for file, name in steps:
        module = import_module(file.removesuffix("/__init__").replace("/", "."))
        holders = (module, *(one for one in vars(module).values() if isinstance(one, type)))
        assert any(callable(getattr(one, name, None)) for one in holders), (file, name)


def test_make_targets_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(
        r"(?:`|\$ )make ([a-z]+)", (ROOT / "README.md").read_text(encoding="utf-8")
    ):
        assert re.search(rf"(?m)^{target}:", makefile), target


@pytest.mark.parametrize("name", [file.stem for file in (ROOT / "stimuli").glob("*.jsonl")])
def test_digests_of_the_built_in_stimuli_are_recorded(name: str) -> None:
    recorded = (ROOT / "stimuli" / "README.md").read_text(encoding="utf-8")
    assert pool_digest(load(get_axis(name))) in recorded


def test_every_public_name_is_documented() -> None:
    for name in set(judgesheet.__all__) - {"__version__"}:
        assert getattr(judgesheet, name).__doc__, name

"""Imports point one way; one library has one home. This test reads the source, it runs nothing."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "judgesheet"

# layer -> what of ours it may import
ALLOWED = {
    "errors": set(),
    "records": set(),
    "prices": set(),
    "files": {"errors"},
    "resources": {"errors"},
    "stats": {"stats"},
    "axes": {"axes", "records", "errors", "resources", "stats"},
    "judges": {"judges", "records", "errors"},
    "spine.stimuli": {"axes", "records", "errors", "resources"},
    "spine.importers": {"axes", "records", "errors", "spine.stimuli", "spine.importers"},
    "spine.plan": {"axes", "records", "errors", "files", "prices", "spine.stimuli"},
    "spine.ledger": {"records", "errors"},
    "spine.collect": {"records", "errors", "prices", "judges", "spine.ledger"},
    "spine.ingest": {
        *("axes", "records", "errors", "judges"),
        *("spine.plan", "spine.ledger", "spine.parsing"),
    },
    "spine.parsing": {"axes", "records", "errors", "spine.ledger"},
    "spine.measure": {"axes", "records", "errors", "stats", "spine.ledger", "spine.parsing"},
    "spine.datasheet": {"records", "errors"},
    "spine.assemble": {"records", "prices", "spine.ledger", "spine.measure", "spine.datasheet"},
    "spine.policy": {"axes", "records", "errors", "resources", "spine.datasheet"},
    "spine.compare": {"records", "errors", "stats", "spine.datasheet"},
    "spine.paired": {"axes", "records", "spine.ledger", "spine.measure", "spine.parsing"},
    "spine.gate": {
        *("records", "errors", "stats"),
        *("spine.datasheet", "spine.policy", "spine.compare"),
    },
    "spine.render": {
        *("records", "errors", "resources", "files"),
        *("spine.render", "spine.datasheet", "spine.compare"),
    },
    "spine.consensus": {
        *("axes", "records", "errors", "files", "prices", "judges", "stats"),
        *("request", "run_directory"),
        *("spine.stimuli", "spine.plan", "spine.ledger", "spine.collect", "spine.parsing"),
    },
    "run_directory": {"records", "errors", "spine.plan", "spine.ledger", "spine.collect"},
    "sweep": set(),
    "sweep.knob": {"errors", "run_directory"},
    "sweep.estimates": {
        *("axes", "records", "stats", "sweep.knob"),
        *("spine.ledger", "spine.measure", "spine.assemble", "spine.datasheet"),
    },
    "sweep.words": {"axes", "records", "spine.datasheet", "sweep.estimates", "sweep.knob"},
    "sweep.combine": {
        *("axes", "records", "spine.datasheet"),
        *("sweep.estimates", "sweep.knob", "sweep.words"),
    },
    "sweep.loop": {"request", "run_directory", "publish", "sweep.knob"},
    "request": {
        *("axes", "records", "errors", "prices", "judges", "run_directory"),
        *("spine.plan", "spine.collect", "spine.parsing", "sweep.knob"),
    },
    "publish": {
        *("records", "run_directory", "sweep.combine", "sweep.estimates", "sweep.knob"),
        *("spine.ledger", "spine.measure", "spine.assemble", "spine.policy", "spine.gate"),
        "spine.render",
    },
    "checkup": {"records", "errors", "resources", "judges", "spine.render"},
    "cli_types": {"axes", "errors"},
}

HOMES = {
    "httpx": {"judges"},
    "httpx_aiohttp": {"judges"},
    "aiohttp": {"judges"},
    "xllamacpp": {"judges"},
    "sqlite3": {"spine.ledger", "spine.importers"},
    "aiolimiter": {"spine.collect"},
    "tenacity": {"spine.collect"},
    "re2": {"spine.parsing"},
    "jsonpath": {"spine.parsing"},
    "scipy": {"stats"},
    "statsmodels": {"stats"},
    "weasyprint": {"spine.render"},
    "matplotlib": {"spine.render"},
    "click": {"cli", "cli_types"},
    "rich": {"progress"},
}


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        yield ".".join(part for part in parts if part != "__init__"), path


def layer(module: str) -> str:
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] in {"spine", "sweep"} else parts[0]


def imported(module: str, path: Path) -> Iterator[str]:
    """Absolute names of everything a module imports, also inside functions."""
    is_package = path.name == "__init__.py"
    here = ["judgesheet", *module.split(".")] if module else ["judgesheet"]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = here if is_package else here[:-1]
            prefix = base[: len(base) - node.level + 1] if node.level else []
            start = ".".join([*prefix, *([node.module] if node.module else [])])
            yield start
            if start in {"judgesheet", "judgesheet.spine", "judgesheet.sweep"}:
                yield from (f"{start}.{name.name}" for name in node.names)


@pytest.mark.parametrize(("module", "path"), list(modules()))
def test_imports_point_one_way(module: str, path: Path) -> None:
    mine = layer(module)
    if mine not in ALLOWED:
        return
    for name in imported(module, path):
        if name.startswith("judgesheet."):
            target = layer(name.removeprefix("judgesheet."))
            if target in {"spine", "sweep", "__version__"}:
                continue
            assert target == mine or target in ALLOWED[mine], f"{module} imports {name}"


@pytest.mark.parametrize(("module", "path"), list(modules()))
def test_a_library_has_one_home(module: str, path: Path) -> None:
    for name in imported(module, path):
        library = name.split(".")[0]
        if library in HOMES:
            assert layer(module) in HOMES[library], f"{module} imports {library}"


def test_every_module_is_listed_or_above_the_layers() -> None:
    above = {"", "__main__", "api", "cli", "progress", "spine"}
    assert {layer(module) for module, _ in modules()} <= set(ALLOWED) | above


def test_every_module_of_the_spine_says_which_stage_it_is_or_is_for() -> None:
    stage = re.compile(r"(Stage|For stage) (one|two|three|four|five|six)[:,]")
    for module, path in modules():
        if module.count(".") == 1 and module.startswith("spine."):
            docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            assert stage.match(docstring), f"{module} opens with {docstring[:40]!r}"

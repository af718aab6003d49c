"""Imports point one way; one library has one home. This test reads the source, it runs nothing."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "judgesheet"

# layer -> what of ours it may import
ALLOWED = {
    "errors": set(),
    "files": {"errors"},
    "records": set(),
    "resources": {"errors"},
    "stats": {"stats"},
    "axes": {"axes", "records", "errors", "resources", "stats"},
    "judges": {"judges", "records", "errors"},
    "spine.stimuli": {"axes", "records", "errors", "files", "resources"},
    "importers": {"axes", "records", "errors", "files", "spine.stimuli"},
    "spine.plan": {"axes", "records", "errors", "files", "spine.stimuli"},
    "spine.ledger": {"records", "errors"},
    "spine.collect": {"records", "errors", "judges", "spine.ledger"},
    "spine.parsing": {"axes", "records", "errors"},
    "spine.measure": {"axes", "records", "errors", "stats", "spine.ledger", "spine.parsing"},
    "permutation_consensus": {
        "axes",
        "records",
        "errors",
        "files",
        "judges",
        "stats",
        "spine.stimuli",
        "spine.plan",
        "spine.ledger",
        "spine.collect",
        "spine.parsing",
    },
    "spine.datasheet": {"records", "errors"},
    "spine.sweep": {
        "axes",
        "records",
        "errors",
        "files",
        "stats",
        "spine.measure",
        "spine.datasheet",
    },
    "spine.policy": {"axes", "records", "errors", "resources", "spine.datasheet"},
    "spine.compare": {"records", "errors", "stats", "spine.datasheet"},
    "spine.paired": {"axes", "records", "spine.ledger", "spine.measure", "spine.parsing"},
    "spine.gate": {
        *("records", "errors", "stats"),
        *("spine.datasheet", "spine.policy", "spine.compare"),
    },
    "spine.attach": {"records", "errors", "files", "spine.render"},
    "spine.render": {
        *("records", "errors", "files", "resources"),
        *("spine.render", "spine.datasheet", "spine.compare"),
    },
}

HOMES = {
    "httpx": {"judges"},
    "httpx_aiohttp": {"judges"},
    "aiohttp": {"judges"},
    "xllamacpp": {"judges"},
    "sqlite3": {"spine.ledger", "importers"},
    "re2": {"spine.parsing"},
    "jsonpath": {"spine.parsing"},
    "scipy": {"stats"},
    "statsmodels": {"stats"},
    "weasyprint": {"spine.render"},
    "matplotlib": {"spine.render", "spine.doctor"},
    "click": {"cli"},
    "rich": {"cli", "progress"},
}


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        yield ".".join(part for part in parts if part != "__init__"), path


def layer(module: str) -> str:
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "spine" else parts[0]


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
            if start == "judgesheet" or start == "judgesheet.spine":
                yield from (f"{start}.{name.name}" for name in node.names)


@pytest.mark.parametrize(("module", "path"), list(modules()))
def test_imports_point_one_way(module: str, path: Path) -> None:
    mine = layer(module)
    if mine not in ALLOWED:
        return
    for name in imported(module, path):
        if name.startswith("judgesheet."):
            target = layer(name.removeprefix("judgesheet."))
            if target in {"spine", "__version__"}:
                continue
            assert target == mine or target in ALLOWED[mine], f"{module} imports {name}"


@pytest.mark.parametrize(("module", "path"), list(modules()))
def test_a_library_has_one_home(module: str, path: Path) -> None:
    for name in imported(module, path):
        library = name.split(".")[0]
        if library in HOMES:
            assert layer(module) in HOMES[library], f"{module} imports {library}"


def test_every_spine_module_is_listed_or_above_the_layers() -> None:
    above = {"spine.provenance", "spine.doctor", "spine.ingest", "spine"}
    found = {layer(module) for module, _ in modules() if module.startswith("spine")}
    assert found <= set(ALLOWED) | above

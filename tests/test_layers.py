"""Imports point one way; one library has one home. This test reads the source, it runs nothing."""

import ast
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from judgesheet.axes import axis_names

PACKAGE = Path(__file__).parent.parent / "judgesheet"

BASE = {
    *("errors", "records", "reasons", "units", "digits", "keys", "estimates"),
    *("resources", "files", "plain"),
}
"""The lowest modules, which anything but `stats` may import."""

# layer -> what of ours it may import
ALLOWED = {
    "errors": set(),
    "records": {"notebook"},  # a notebook asks the record itself how it looks
    "notebook": {"records", "spine.render"},
    "testing": {
        *("errors", "files", "keys", "records"),
        *("spine.policy", "spine.gate", "spine.render"),
    },
    "reasons": set(),
    "units": set(),
    "prices": set(),
    "plain": set(),
    "digits": set(),
    "running": set(),
    "terminal": {"plain"},
    "keys": {"errors"},
    "files": {"errors"},
    "estimates": {"keys", "records"},
    "resources": {"errors"},
    "stats": {"stats", "reasons"},
    "axis": {*BASE, "axis", "stats"},
    "axes": {*BASE, "axis", "axes", "stats"},
    "judges": {"judges", "axis", "axes", "records", "errors"},
    "spine.stimuli": {*BASE, "axis", "axes"},
    "importers": {*BASE, "axis", "axes", "spine.stimuli"},
    "spine.plan": {*BASE, "prices", "axis", "axes", "spine.stimuli"},
    "spine.ledger_schema": set(),
    "spine.ledger": {"records", "errors", "files", "judges", "spine.ledger_schema"},
    "spine.salvage": {*BASE, "judges", "spine.ledger_schema", "spine.ledger", "spine.plan"},
    "spine.pacing": {"records"},
    "spine.collect": {
        *("records", "errors", "plain", "prices", "digits", "judges"),
        *("spine.ledger", "spine.pacing"),
    },
    "spine.storage": {"errors", "judges"},
    "spine.sharding": {
        *("records", "errors", "files", "prices", "spine.ledger", "spine.ledger_schema"),
        *("spine.plan", "spine.collect", "spine.pacing", "spine.storage"),
    },
    "spine.batches": {*BASE, "axes", "judges", "spine.plan", "spine.ledger"},
    "spine.ingest": {
        *(*BASE, "axis", "axes", "judges"),
        *("spine.plan", "spine.ledger", "spine.parsing", "spine.batches"),
    },
    "spine.parsing": {*BASE, "axis", "axes", "spine.ledger"},
    "spine.impute": {*BASE, "axis"},
    "spine.measure": {
        *(*BASE, "axis", "axes", "stats"),
        *("spine.ledger", "spine.parsing", "spine.impute"),
    },
    "spine.cases": {*BASE, "axis", "axes", "spine.ledger", "spine.parsing"},
    "spine.datasheet": BASE,
    "spine.assemble": {
        *(*BASE, "prices", "axis", "axes"),
        *("spine.ledger", "spine.measure", "spine.datasheet"),
    },
    "spine.rehearsal": {
        *(*BASE, "axis", "axes", "judges"),
        *("spine.plan", "spine.parsing", "spine.measure", "spine.impute"),
        *("spine.datasheet", "spine.policy", "spine.gate", "spine.looks", "stats"),
    },
    "spine.looks": {
        *(*BASE, "axis", "axes", "stats"),
        *("spine.ledger", "spine.measure", "spine.policy", "spine.gate"),
    },
    "spine.sizing": {
        *(*BASE, "prices", "axis"),
        *("spine.plan", "spine.datasheet", "spine.looks", "spine.rehearsal"),
    },
    "spine.policy": {*BASE, "axes"},
    "spine.compare": {*BASE, "stats", "spine.datasheet"},
    "spine.paired": {*BASE, "axis", "axes", "spine.ledger", "spine.measure", "spine.parsing"},
    "spine.gate": {*BASE, "stats", "spine.datasheet", "spine.policy", "spine.compare"},
    "spine.suggest": {*BASE, "spine.datasheet", "spine.policy", "spine.compare", "spine.gate"},
    "spine.render": {*BASE, "spine.render", "spine.datasheet", "spine.compare"},
    "permutation_consensus": {
        *(*BASE, "prices", "axis", "axes", "judges", "stats"),
        *("request", "run_directory", "running", "spine.render"),
        *("spine.stimuli", "spine.plan", "spine.ledger", "spine.collect", "spine.parsing"),
    },
    "run_directory": {
        *("records", "errors", "files"),
        *("spine.plan", "spine.ledger", "spine.collect", "spine.sharding"),
    },
    "engines": {
        *("records", "errors", "prices", "judges", "request", "spine.ledger", "spine.collect"),
        *("spine.sharding", "spine.storage", "spine.parsing", "engines"),
    },
    "sweep": set(),
    "sweep.knob": {"errors", "files", "judges", "run_directory"},
    "sweep.estimates": {*BASE, "axis", "stats", "spine.measure", "sweep.knob"},
    "sweep.words": {*BASE, "axis", "sweep.estimates", "sweep.knob"},
    "sweep.combine": {*BASE, "axis", "axes", "sweep.estimates", "sweep.knob", "sweep.words"},
    "sweep.loop": {
        *("errors", "prices", "spine.ledger", "request", "run_directory", "publish", "sweep.knob"),
    },
    "probing": {
        *("records", "errors", "files", "request", "resources", "run_directory", "running"),
        *(
            "publish",
            "judges",
            "engines",
            "reuse",
            "spine.collect",
            "spine.ledger",
            "spine.parsing",
            "spine.policy",
            "sweep.loop",
        ),
        "spine.looks",
    },
    "request": {
        *("records", "errors", "files", "prices", "axis", "axes", "judges", "run_directory"),
        "resources",
        *("running", "spine.plan", "spine.collect", "spine.parsing", "spine.storage", "sweep.knob"),
    },
    "reuse": {
        *("errors", "records", "judges", "request", "run_directory", "running", "spine.ledger"),
    },
    "log_report": {
        *("records", "errors", "files", "plain", "axes", "importers"),
        *("spine.ingest", "spine.ledger", "spine.measure"),
    },
    "publish": {
        *(
            "records",
            "files",
            "axis",
            "run_directory",
            "sweep.combine",
            "sweep.estimates",
            "sweep.knob",
        ),
        *("spine.ledger", "spine.measure", "spine.assemble", "spine.policy", "spine.gate"),
        *("spine.cases", "spine.render"),
    },
    "unexpected": {"judges"},
    "run_checkup": {
        *("records", "errors", "files", "checkup", "run_directory", "publish", "sweep.knob"),
        *("spine.datasheet", "spine.ledger", "spine.salvage", "spine.plan"),
        *("spine.measure", "spine.assemble"),
    },
    "checkup": {"records", "errors", "resources", "digits", "running", "judges", "spine.render"},
    "scaffold": {"errors", "files", "resources"},
    "scaffold_check": {
        *("errors", "files", "plain", "records", "axis", "axes", "request", "scaffold"),
        *("spine.stimuli", "spine.policy", "spine.gate", "spine.rehearsal"),
    },
    "cli_types": {"axes", "errors"},
}

HOMES = {
    "aiohttp": {"judges.transport"},
    "litellm": {"judges.litellm"},
    "certifi": {"judges.transport"},
    "yarl": {"judges.address", "judges.transport"},
    "xllamacpp": {"judges._local_server"},
    "sqlite3": {"spine.ledger_schema", "spine.ledger", "spine.salvage", "importers"},
    "ray": {"engines.ray"},
    "re2": {"spine.parsing"},
    "jsonpath": {"spine.parsing"},
    "scipy": {"stats"},
    "statsmodels": set(),  # what the tests compare with; see docs/decisions/0014-own-arithmetic.md
    "typst": {"spine.render"},
    "click": {"cli", "cli_types", "terminal"},
    "rich": {"progress"},
}


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        yield ".".join(part for part in parts if part != "__init__"), path


def of_every_module(check: Callable[[str, Path], None]) -> Callable[[], None]:
    """One test for all modules: a test for each takes longer than what it checks."""

    def test() -> None:
        for module, path in modules():
            check(module, path)

    return test


@cache
def tree(path: Path) -> ast.Module:
    """What a module holds."""
    return ast.parse(path.read_text(encoding="utf-8"))


def layer(module: str) -> str:
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] in {"spine", "sweep"} else parts[0]


def imported(module: str, path: Path) -> Iterator[str]:
    """Absolute names of everything a module imports, also inside functions."""
    is_package = path.name == "__init__.py"
    here = ["judgesheet", *module.split(".")] if module else ["judgesheet"]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = here if is_package else here[:-1]
            prefix = base[: len(base) - node.level + 1] if node.level else []
            start = ".".join([*prefix, *([node.module] if node.module else [])])
            yield start
            if start in {"judgesheet", "judgesheet.spine", "judgesheet.sweep"}:
                yield from (f"{start}.{name.name}" for name in node.names)


@of_every_module
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


@of_every_module
def test_a_library_has_one_home(module: str, path: Path) -> None:
    for name in imported(module, path):
        library = name.split(".")[0]
        if library in HOMES:
            assert {module, layer(module)} & HOMES[library], f"{module} imports {library}"


def test_every_module_is_listed_or_above_the_layers() -> None:
    above = {"", "__main__", "api", "cli", "progress", "spine"}
    assert {layer(module) for module, _ in modules()} <= set(ALLOWED) | above


def test_every_module_of_the_spine_says_which_stage_it_is_or_is_for() -> None:
    stage = re.compile(r"(Stage|For stage) (one|two|three|four|five|six)[:,]")
    for module, path in modules():
        if module.count(".") == 1 and module.startswith("spine."):
            docstring = ast.get_docstring(tree(path)) or ""
            assert stage.match(docstring), f"{module} opens with {docstring[:40]!r}"


def package(module: str) -> str:
    """The package that a module lies in: private names are shared within it, and below it."""
    return module if (PACKAGE / Path(*module.split("."))).is_dir() else module.rpartition(".")[0]


def private(node: ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """(owner, name) of every private module or name of ours that a statement imports."""
    for alias in node.names:
        parts = [*str(node.module).split("."), alias.name]
        for at, part in enumerate(parts):
            if parts[0] == "judgesheet" and part.startswith("_") and not part.endswith("__"):
                yield ".".join(parts[:at]), part


@of_every_module
def test_private_modules_and_names_stay_in_their_package(module: str, path: Path) -> None:
    home = f"judgesheet.{package(module)}".rstrip(".")
    for node in ast.walk(tree(path)):
        for owner, name in private(node) if isinstance(node, ast.ImportFrom) else ():
            inside = home == owner or home.startswith(f"{owner}.")
            assert inside, f"{module} imports {name}, which is private to {owner}"


MAY_NAME_AN_AXIS = {
    "permutation_consensus": "decisions on lists and pairs are made with these two protocols",
}
"""Packages outside the rooms that know an axis by name, and why. All others ask `all_axes`."""


def named(source: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, word) of every name, and of every word in a text that is no docstring."""
    docstrings = {
        id(node.value)
        for node in ast.walk(source)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(source):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = re.findall(r"\w+", node.value) if id(node) not in docstrings else ()
            yield from ((node.lineno, word) for word in words)
        elif isinstance(node, ast.Name | ast.arg):
            yield node.lineno, node.id if isinstance(node, ast.Name) else node.arg
        elif isinstance(node, ast.Attribute):
            yield node.lineno, node.attr


@of_every_module
def test_nobody_outside_the_rooms_names_an_axis(module: str, path: Path) -> None:
    if f"{module}.".startswith(tuple(f"{home}." for home in ("axes", *MAY_NAME_AN_AXIS))):
        return
    names = set(axis_names())
    for line, word in named(tree(path)):
        assert word not in names, f"{path.name}:{line} names {word}"
    parts = {part for name in imported(module, path) for part in name.split(".")}
    assert not parts & names, module


SHIPPED_BY_NAME = {
    "stimuli": "built-in pools, found by the axis's name",
    "templates/prompts": "built-in prompts, found by the axis's name",
    "policies": "limits are set on keys",
    "scaffold": "files of a judge to start from",
    "docs": "protocols and proofs of each axis",
    "examples": "records and policies to start from",
    "proof": "simulations of each axis",
    "benchmarks": "sizes measured on a known axis",
    "torture": "faults and kills are suffered by a run of one axis",
    "Makefile": "the demo, and one proof per axis",
    "README.md": "a newcomer's examples",
    "CHANGELOG.md": "what is new in each axis",
    "tests": "each axis is tested",
}
"""Places outside the package that may name an axis; a new axis works without an entry in any."""


def test_no_other_file_names_an_axis() -> None:
    root = PACKAGE.parent
    listed = subprocess.run(
        ["git", "ls-files"], cwd=root, capture_output=True, text=True, check=False
    ).stdout.splitlines()
    pattern = re.compile(rf"\b({'|'.join(axis_names())})\b")
    for name in listed:
        if name.startswith(("judgesheet/", *SHIPPED_BY_NAME)) or not (root / name).is_file():
            continue
        text = (root / name).read_bytes().decode("utf-8", "replace")
        assert not pattern.search(text), f"{name} names an axis"

"""Imports point one way; one library has one home. This test reads the source, it runs nothing."""

import ast
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from judgesheet.axes import axis_names

PACKAGE = Path(__file__).parent.parent / "judgesheet"

FLOORS = (
    *("base", "stats", "reading", "axis", "axes", "judges", "planning", "importers", "ledger"),
    *("measuring", "collect", "decide", "correcting", "sheet"),
    *("permutation_consensus", "commands"),
)
"""The folders from the lowest to the highest: each may import those before it."""
TOP = {"", "__main__", "cli", "testing"}
"""Modules above all folders."""

HOMES = {
    "aiolimiter": {"collect.pacing"},
    "httpx": {"judges"},
    "aiohttp": {"judges.transport"},
    "litellm": {"judges.litellm"},
    "yarl": {"judges.transport"},
    "xllamacpp": {"judges._local_server"},
    "sqlite3": {"ledger", "importers"},
    "ray": {"collect.workers"},
    "re2": {"measuring.parsing"},
    "scipy": {"stats"},
    "statsmodels": {"stats"},
    "weasyprint": {"sheet.pdf"},
    "click": {"cli", "commands"},
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


def folder(module: str) -> str:
    """The folder of a module; the module itself where it lies above them."""
    return module.split(".", maxsplit=1)[0]


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
            if start.startswith("judgesheet"):
                yield from (f"{start}.{name.name}" for name in node.names)


@of_every_module
def test_imports_point_one_way(module: str, path: Path) -> None:
    here = folder(module)
    if here in TOP:
        return
    lower = {*FLOORS[: FLOORS.index(here) + 1], ""}
    for name in imported(module, path):
        if f"{name}.".startswith("judgesheet."):
            target = folder(name.removeprefix("judgesheet").removeprefix("."))
            assert target in lower, f"{module} imports {name}, which lies above it"


def test_no_modules_import_each_other() -> None:
    packages = {module for module, path in modules() if path.name == "__init__.py"}
    every = {module for module, _ in modules()} - packages
    graph = {
        module: {name.removeprefix("judgesheet.") for name in imported(module, path)} & every
        for module, path in modules()
        if module in every
    }
    # A CycleError names the modules.
    TopologicalSorter({m: names - {m} for m, names in graph.items()}).prepare()


@of_every_module
def test_a_library_has_one_home(module: str, path: Path) -> None:
    for name in imported(module, path):
        library = name.split(".")[0]
        if library in HOMES:
            assert {module, folder(module)} & HOMES[library], f"{module} imports {library}"


def test_every_folder_has_its_floor() -> None:
    assert {folder(module) for module, _ in modules()} == {*FLOORS, *TOP}


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
    "sheets": "faults of judges that one axis has",
    "validity": "public verdicts on pairs",
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


LIMIT = re.compile(r"_?(MOST|LONGEST|LARGEST|MAX)(_[A-Z_0-9]+)?")
LIMITS = "base.limits"


def constants(module: ast.Module) -> Iterator[str]:
    """The names that a module gives a value to, outside functions."""
    for node in ast.walk(module):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (name for target in targets for name in ast.walk(target))
            yield from (name.id for name in names if isinstance(name, ast.Name))


@of_every_module
def test_every_limit_stands_in_one_module(module: str, path: Path) -> None:
    if module != LIMITS:
        names = [name for name in constants(tree(path)) if LIMIT.fullmatch(name)]
        assert not names, f"{module}: {names} belong into judgesheet/base/limits.py"


def test_every_limit_has_a_reason_and_is_kept() -> None:
    own = tree(PACKAGE / "base" / "limits.py")
    for node, reason in zip(own.body[1:], [*own.body[2:], None], strict=True):
        if isinstance(node, ast.Assign):
            assert isinstance(reason, ast.Expr), ast.unparse(node)
    used = {name for _, path in modules() for name in limits_of(tree(path))}
    names = [node for node in ast.walk(own) if isinstance(node, ast.Name)]
    used |= {name.id for name in names if isinstance(name.ctx, ast.Load)}
    assert set(constants(own)) == used


def limits_of(module: ast.Module) -> Iterator[str]:
    """The limits that a module imports."""
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module == f"judgesheet.{LIMITS}":
            yield from (name.name for name in node.names)

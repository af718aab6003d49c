"""What is read must not depend on the patch version of Python."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import judgesheet

PACKAGE = Path(judgesheet.__file__).parent

# `*+`, `++`, `?+`, `{1,3}+` and `(?>`; a sign behind a backslash is itself.
_KEEPS = re.compile(r"(?<!\\)[*+?}]\+|\(\?>")


def _texts() -> Iterator[tuple[str, str]]:
    """Every text in the source, and every pattern of a module as it was put together."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                # A method's name, which no pattern is.
                yield f"{path.name}:{node.lineno}", node.value.replace("PPI++", "")
    for found in pkgutil.walk_packages([str(PACKAGE)], "judgesheet."):
        if found.name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(found.name)
        except ImportError:  # of an extra that is not installed
            continue
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                yield f"{found.name}.{name}", str(value.pattern)


def test_no_pattern_needs_what_python_before_3_11_5_gets_wrong() -> None:
    """There possessive quantifiers and atomic groups lose signs: `-3` was read as 3."""
    assert [(where, text) for where, text in _texts() if _KEEPS.search(text)] == []
    assert _KEEPS.search(r"(?:a|b)*+c")
    assert _KEEPS.search(r"x{1,3}+")
    assert _KEEPS.search(r"(?>a|b)")
    assert not _KEEPS.search(r"a\++b+c*")

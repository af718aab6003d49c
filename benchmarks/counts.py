"""The shape of the code base in numbers: `make counts` (or `python -m benchmarks.counts`).

Read from the source of the shipped package alone. What is counted:

- lines of modules and functions; a function's docstring does not count, a module's does;
- comments per 100 lines of code;
- axes named outside their folders, in code or in a text that code compares;
- roundings outside the modules that print numbers;
- decisions by printed text: comparisons with, and cuts of, a label, method, note or conditions.
"""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TypeAlias

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "judgesheet"
ROOMS = PACKAGE / "axes"
PRINTING = {"digits.py", "sheet/show.py", "axis/statements.py", "sheet/chart.py"}
"""Modules whose work it is to round: numbers in messages, on the sheet and in its sentences, and
the coordinates and colours of drawings."""
NEAREST = {"importers/logs/_log.py"}
"""Modules that read a number as the nearest point of its scale: no figure loses a digit there."""
LAYOUT = "sheet/"
"""Renderers may compare words to print them once; they decide nothing else by them."""
WORDS = {"label", "method", "note", "conditions"}
CUTS = {"startswith", "endswith", "split", "partition", "rpartition", "removeprefix",
        "removesuffix", "replace", "find", "index", "count"}  # fmt: skip
LONG = 50

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """A source file with its tree."""

    name: str
    text: str
    tree: ast.Module

    @property
    def functions(self) -> Iterator[Function]:
        """Every function and method."""
        return (
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        )


def modules() -> list[Module]:
    """Every module of the package, by path."""
    files = sorted(PACKAGE.rglob("*.py"))
    texts = [(str(file.relative_to(PACKAGE)), file.read_text(encoding="utf-8")) for file in files]
    return [Module(name, text, ast.parse(text)) for name, text in texts]


def function_lines(function: Function) -> int:
    """Lines of a function without its docstring and decorators."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    last = function.end_lineno or function.lineno
    first = body[0].lineno if body else last
    return last - first + 1 + (function.body[0].lineno - function.lineno)


def lines_of_code(module: Module) -> int:
    """Lines that hold more than blanks, comments and docstrings."""
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type not in _EMPTY:
            held.update(range(token.start[0], token.end[0] + 1))
    return len(held - docstring_lines(module))


_EMPTY = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
          tokenize.ENDMARKER}  # fmt: skip


def docstring_lines(module: Module) -> set[int]:
    """Lines of strings that stand as statements: docstrings, also those under constants."""
    return {
        line
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }  # fmt: skip


def comments(module: Module) -> int:
    """Comments for readers: those that only speak to a tool do not count."""
    return sum(
        token.type == tokenize.COMMENT
        and re.match(r"#\s*(noqa|fmt|type):?\b[^(]*$", token.string) is None
        for token in tokenize.generate_tokens(io.StringIO(module.text).readline)
    )


def roundings(module: Module) -> int:
    """Calls of `round`, and numbers formatted with a fixed number of digits."""
    if module.name in PRINTING | NEAREST:
        return 0
    found = 0
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else _name(node.func)
            found += name == "round"
        elif isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
            spec = "".join(p.value for p in node.format_spec.values if isinstance(p, ast.Constant))
            found += bool(re.search(r"\.\d*[efg%]|\.$", spec))
    return found


def named_axes(module: Module, names: Iterable[str]) -> int:
    """How often a module outside the folders of the axes names one of the axes."""
    if module.name.startswith("axes/"):
        return 0
    known = set(names)
    texts = docstring_lines(module)
    found = 0
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = set(re.findall(r"\w+", node.value))
            found += bool(words & known) and node.lineno not in texts
        elif isinstance(node, ast.Name | ast.Attribute | ast.alias):
            found += _name(node) in known
        if isinstance(node, ast.ImportFrom):
            found += bool(set((node.module or "").split(".")) & known)
    return found


def decisions_by_words(module: Module) -> list[int]:
    """Lines on which a label, method, note or conditions is compared or cut."""
    if module.name.startswith(LAYOUT):
        return []
    lines = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            reads = not all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops)
            if reads and any(map(_is_word, sides)):  # whether there is one says no word
                lines.append(node.lineno)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            cuts = node.func.attr in CUTS and _is_word(node.func.value)
            groups = node.func.attr in ("setdefault", "get") and any(map(_is_word, node.args))
            if cuts or groups:
                lines.append(node.lineno)
    return lines


def _is_word(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in WORDS


def _name(node: ast.AST) -> str:
    return str(getattr(node, "id", None) or getattr(node, "attr", None) or
               getattr(node, "name", ""))  # fmt: skip


def share(part: int, whole: int) -> str:
    """A share in percent with one digit."""
    return f"{100 * part / whole:.1f} %"


def rows() -> Iterator[tuple[str, str]]:
    """The counts, named."""
    every = modules()
    axes = [path.name for path in sorted(ROOMS.iterdir()) if (path / "__init__.py").is_file()]
    functions = [function for module in every for function in module.functions]
    sizes = [function_lines(function) for function in functions]
    code = sum(map(lines_of_code, every))
    yield "modules", f"{len(every)}"
    yield "lines shipped", f"{sum(len(module.text.splitlines()) for module in every):,}"
    yield "lines of code", f"{code:,}"
    yield "lines of docstrings", f"{sum(len(docstring_lines(module)) for module in every):,}"
    yield "median lines of a module", f"{median(len(m.text.splitlines()) for m in every):g}"
    yield "median lines of a function", f"{median(sizes):g}"
    yield f"functions over {LONG} lines", share(sum(size > LONG for size in sizes), len(sizes))
    typed = sum(function.returns is not None for function in functions)
    yield "functions with a return type", share(typed, len(functions))
    yield "comments per 100 lines of code", f"{100 * sum(map(comments, every)) / code:.1f}"
    yield "axes named outside their folders", _total(every, lambda module: named_axes(module, axes))
    yield "roundings outside the printing modules", _total(every, roundings)
    yield "decisions by printed text", _total(every, lambda module: len(decisions_by_words(module)))


def _total(every: Iterable[Module], count: Callable[[Module], int]) -> str:
    counted = {module.name: count(module) for module in every}
    most = sorted((name for name in counted if counted[name]), key=lambda name: -counted[name])
    told = ", ".join(f"{name} {counted[name]}" for name in most[:6])
    return f"{sum(counted.values())}" + (
        f" ({told}{', …' if len(most) > 6 else ''})" if most else ""
    )


def main() -> None:
    """Print the table."""
    table = list(rows())
    width = max(len(name) for name, _ in table)
    print("\n".join(f"{name.ljust(width)}  {count}" for name, count in table))


if __name__ == "__main__":
    main()

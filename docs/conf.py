"""How `make site` builds the site from docs/ and README.md.

Every warning is an error there: a link that leads nowhere, a heading that does not exist, a page
that the navigation lacks.
"""

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import judgesheet

project, author = "judgesheet", "The judgesheet developers"
copyright = author  # noqa: A001 (the name that Sphinx reads)
version = release = judgesheet.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]

# Links to headings are written as GitHub shows them (`page.md#a-heading`).
myst_heading_anchors = 4

# Docstrings are plain text in which backticks mean code.
default_role = "code"
add_module_names = False
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

html_theme = "furo"
html_title = "judgesheet"
html_static_path = ["_site"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}


def _from_docs(_app: object, path: Path, _page: str, content: list[str]) -> None:
    """The links of pages at the root, as their pages in docs/ have to write them."""
    if path.name in ("README.md", "CONTRIBUTING.md"):
        links = re.sub(r"\]\((?!https?:|#)", "](../", content[0]).replace("](../docs/", "](")
        content[0] = links.replace("](../CONTRIBUTING.md", "](contributing.md")


def _readable(*event: Any) -> tuple[str, str | None] | None:
    """A signature whose defaults can be parsed: `<factory>` of a dataclass is no Python."""
    signature, returned = event[-2:]
    return (signature.replace("<factory>", "..."), returned) if signature else None


def setup(app: Sphinx) -> None:
    """What Sphinx calls first."""
    app.connect("include-read", _from_docs)
    app.connect("autodoc-process-signature", _readable)

"""The registry of formats, files that are whole or absent, and imports that stay cheap."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from judgesheet import sheet as render
from judgesheet.base import resources
from judgesheet.base.datasheet import to_json
from judgesheet.base.errors import RunError, UsageError
from tests.sheet import sheets


def test_every_format_has_a_renderer() -> None:
    for name in render.RENDERERS:
        suffix = render.renderer(name).SUFFIX
        assert suffix.split(".")[0] == name


def test_an_unknown_format_lists_the_known() -> None:
    with pytest.raises(UsageError, match="html, pdf, md, json, csv"):
        render.render(sheets.plausible(), "docx")


def test_write_leaves_whole_files_only(tmp_path: Path) -> None:
    paths = render.write(sheets.plausible(), tmp_path / "new", ["json", "csv", "md"])
    assert sorted(path.name for path in paths) == sorted(
        path.name for path in (tmp_path / "new").iterdir()
    )


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(RunError, match=os.strerror(errno.ENOSPC)):
        render.write(sheets.plausible(), tmp_path, ["json"])
    assert list(tmp_path.iterdir()) == []


def test_a_target_that_is_no_folder_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError):
        render.write(sheets.plausible(), tmp_path / "file", ["json"])


@pytest.mark.parametrize("name", ["md", "csv", "json", "html"])
def test_formats_other_than_pdf_load_no_heavy_library(name: str, tmp_path: Path) -> None:
    path = tmp_path / "datasheet.json"
    path.write_text(to_json(sheets.plausible()), encoding="utf-8")
    code = (
        "import sys, pathlib\n"
        "from judgesheet import sheet as render\n"
        "from judgesheet.base.datasheet import from_json\n"
        f"render.render(from_json(pathlib.Path({str(path)!r})), {name!r})\n"
        "heavy = {'scipy', 'weasyprint', 'pandas', 'numpy'} & set(sys.modules)\n"
        "sys.exit(' '.join(sorted(heavy)) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_resources_are_found_or_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert (resources.data_folder("templates") / "datasheet.html.jinja").is_file()
    assert resources.data_folder("stimuli").is_dir()
    monkeypatch.setattr(resources, "PACKAGE", tmp_path / "judgesheet")
    resources.data_folder.cache_clear()
    with pytest.raises(RunError, match="templates/"):
        resources.data_folder("templates")
    resources.data_folder.cache_clear()

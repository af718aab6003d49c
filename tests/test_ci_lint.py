"""The jobs as people who review such files would have them: their own linters find nothing."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import judgesheet

ROOT = Path(__file__).parent.parent
WORKFLOW = Path(".github/workflows/judge.yml")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the files of `init` and the action."""
    folder = tmp_path_factory.mktemp("repository")
    judgesheet.init(folder)
    shutil.copy(ROOT / "action.yml", folder)
    return folder


def tool(name: str) -> str:
    """A linter of the environment of these tests, or of the machine."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def test_zizmor_finds_nothing(place: Path) -> None:
    command: list[str | Path] = [
        tool("zizmor"),
        "--offline",
        "--no-progress",
        "--persona",
        "pedantic",
        place,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_actionlint_finds_nothing(place: Path) -> None:
    command: list[str | Path] = [tool("actionlint"), place / WORKFLOW]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def jobs(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((place / WORKFLOW).read_text("utf-8"))["jobs"]
    return found


def steps(place: Path) -> Iterator[dict[str, Any]]:
    return (step for job in jobs(place).values() for step in job["steps"])


def test_the_key_is_given_to_the_one_step_that_asks(place: Path) -> None:
    with_key = [step for step in steps(place) if "secrets." in str(step)]
    assert [step["name"] for step in with_key] == ["Measure"]
    (judge,) = (job for job in jobs(place).values() if "env" in job)
    assert "secrets." not in str(judge["env"])


def test_what_customers_wrote_is_not_uploaded(place: Path) -> None:
    (upload,) = (step for step in steps(place) if "upload-artifact" in step.get("uses", ""))
    assert "cases" not in str(upload)
    assert upload["with"]["retention-days"] <= 30
    job = yaml.safe_load((place / "judge/gitlab-ci.yml").read_text("utf-8"))["judge"]
    assert "cases" not in str(job["artifacts"])
    assert job["artifacts"]["expire_in"]


@pytest.mark.parametrize(
    ("changed", "wanted"), [("judge/prompt.j2", "true"), ("README.md", "false")]
)
def test_a_pull_request_asks_only_if_the_judge_changed(
    changed: str, wanted: str, place: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(place, tmp_path / "repository")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
    output = tmp_path / "output"
    (look,) = (step["run"] for step in steps(place) if step.get("id") == "look")
    for command in (
        [*git, "init", "-q"], [*git, "add", "-A"], [*git, "commit", "-qm", "one"],
        ["sh", "-c", f"echo >> {changed}"],
        [*git, "add", "-A"], [*git, "commit", "-qm", "two"], ["bash", "-e", "-c", look],
    ):  # fmt: skip
        known = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_OUTPUT": str(output)}
        subprocess.run(command, cwd=copy, check=True, env={"PATH": "/usr/bin:/bin", **known})
    assert output.read_text("utf-8") == f"judge={wanted}\n"

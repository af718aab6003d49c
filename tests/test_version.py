"""No two states of the code call themselves the same version."""

import subprocess
from pathlib import Path

import pytest

from judgesheet.base import version as module
from judgesheet.base.version import commit_of


def git(folder: Path, *words: str) -> str:
    named = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode().strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    return folder


def test_the_commit_of_a_checkout_is_found_without_git(checkout: Path, tmp_path: Path) -> None:
    head = git(checkout, "rev-parse", "HEAD")
    assert commit_of(checkout / ".git") == head
    git(checkout, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    git(tmp_path / "other", "commit", "-q", "--allow-empty", "-m", "two")
    other = git(tmp_path / "other", "rev-parse", "HEAD")
    assert commit_of(tmp_path / "other" / ".git") == other != head
    git(checkout, "pack-refs", "--all")
    assert commit_of(checkout / ".git") == head
    git(checkout, "checkout", "-q", "--detach", other)
    assert commit_of(checkout / ".git") == other


def test_what_is_no_checkout_has_no_commit(tmp_path: Path) -> None:
    assert commit_of(tmp_path / ".git") == ""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main")
    assert commit_of(tmp_path / ".git") == ""


def test_only_a_development_version_names_its_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    here = commit_of(Path(__file__).parent.parent / ".git")
    monkeypatch.setattr(module, "VERSION", "1.2.3.dev0")
    assert here[:10] in module.version()
    monkeypatch.setattr(module, "VERSION", "1.2.3")
    assert module.version() == "1.2.3"

"""What surrounds a command: streams, names of files, and variables that are not as usual."""

import errno
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from judgesheet import gate, probe
from judgesheet.base.resources import is_out_of_memory, require_memory
from judgesheet.ledger.run_directory import DATASHEET
from tests.command import run, sentence, start

POLICY = '[[limit]]\nkey = "score_order.cramers_v"\nmax = 0.99\n'
ONE_AXIS = ("--model", "sim/fair", "--axis", "score_order", "--profile", "smoke", "--no-pdf")


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run directory, and a policy beside its files."""
    folder = tmp_path_factory.mktemp("probed")
    probe("sim/fair", folder, axes=["score_order"], profile="smoke", pdf=False)
    (folder / "policy.toml").write_text(POLICY)
    return folder


def _in_shell(streams: str, *words: str | Path) -> subprocess.CompletedProcess[bytes]:
    command = f'exec "$0" -m judgesheet "$@" {streams}'
    return subprocess.run(
        ["sh", "-c", command, sys.executable, *map(str, words)], capture_output=True, check=False
    )


def test_closed_streams_lead_nowhere(probed: Path, tmp_path: Path) -> None:
    """No file of ours takes the number of a stream, and nothing needs to be said."""
    shown = _in_shell(">&-", "cases", probed)
    assert (shown.returncode, shown.stderr) == (0, b"")
    probing = ("probe", *ONE_AXIS, "--quiet", "--out", tmp_path / "run")
    assert _in_shell(">&- 2>&- <&-", *probing).returncode == 0
    assert (tmp_path / "run" / DATASHEET).is_file()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a full device")
@pytest.mark.parametrize(("unbuffered", "words"), [("", ["explain"]), ("1", ["--help"])])
def test_output_to_a_full_disk_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, unbuffered: str, words: list[str]
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    done = _in_shell(">/dev/full", *words)
    assert (done.returncode, done.stderr) == (1, b"judgesheet: No space left on device\n")


def test_a_terminal_that_lacks_our_signs_changes_no_code_and_no_json(
    probed: Path, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY + 'why = "\u2265 caf\u00e9 \U0001f600"\n', encoding="utf-8")
    words = ("gate", probed, "--policy", policy)
    for form in ((), ("--json",)):
        plain, odd = run(*words, *form), start(*words, *form, PYTHONIOENCODING="ascii:strict")
        assert (odd.returncode, odd.stderr) == (plain.returncode, plain.stderr)
    assert json.loads(odd.stdout) == json.loads(plain.stdout)


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems take UTF-8 alone")
def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))
    probe("sim/fair", odd, axes=["score_order"], profile="smoke", pdf=False)
    done = run("verify", odd, "--json")
    assert done.returncode == 0, done.stderr


def test_the_folder_that_one_is_in_is_not_renamed_nor_a_prompt(tmp_path: Path) -> None:
    """ "." has no name that another could be made of."""
    probe("sim/fair", tmp_path, axes=["score_order"], profile="smoke", pdf=False, cases=False)
    before = (tmp_path / DATASHEET).read_bytes()
    again = run("probe", *ONE_AXIS, "--seed", "5", "--out", ".", "--fresh", cwd=tmp_path)
    assert "choose another --out" in sentence(again)
    prompted = run("plan", *ONE_AXIS[:-1], "--prompt", ".", cwd=tmp_path)
    assert "Is a directory" in sentence(prompted, 2)
    assert (tmp_path / DATASHEET).read_bytes() == before


def test_the_variable_that_names_no_certificates_is_named(tmp_path: Path) -> None:
    url = "https://127.0.0.1:9/v1"
    words = ("probe", "--model", "openai-compatible/m", "--base-url", url, "--axis", "score_order")
    for name, content in (("missing.pem", None), ("garbage.pem", "no certificate")):
        path = tmp_path / name
        if content is not None:
            path.write_text(content)
        said = sentence(run(*words, "--out", tmp_path / "run", SSL_CERT_FILE=str(path)))
        assert "SSL_CERT_FILE" in said, said


def test_a_policy_with_a_byte_order_mark(probed: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY, encoding="utf-8-sig")
    assert policy.read_bytes().startswith(b"\xef\xbb\xbf")
    marked = tmp_path / "sheet.json"
    marked.write_text((probed / DATASHEET).read_text(), encoding="utf-8-sig")
    assert gate(marked, policy).verdicts == gate(probed, probed / "policy.toml").verdicts


@pytest.mark.parametrize("piped", [DATASHEET, "policy.toml"])
def test_a_sheet_and_a_policy_may_come_through_a_pipe(probed: Path, piped: str) -> None:
    given = {DATASHEET: probed / DATASHEET, "policy.toml": probed / "policy.toml"}
    plain = run("gate", probed, "--policy", probed / "policy.toml", "--baseline", probed)
    with subprocess.Popen(["cat", probed / piped], stdout=subprocess.PIPE) as source:
        assert source.stdout is not None
        given[piped] = Path(f"/dev/fd/{source.stdout.fileno()}")
        words = ("gate", given[DATASHEET], "--policy", given["policy.toml"], "--baseline", probed)
        done = run(*words)
    assert done.returncode == plain.returncode, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("probe", *ONE_AXIS, "--out", ""),
        ("probe", *ONE_AXIS, "--stimuli", ""),
        ("plan", *ONE_AXIS[:-1], "--out", ""),
        ("plan", *ONE_AXIS[:-1], "--export-batch", ""),
        ("gate", ".", "--policy", "policy.toml", "--junit", ""),
        ("cases", ".", "--html", ""),
        ("render", ".", "--to", "md", "--out", ""),
    ],
    ids=lambda words: f"{words[0]} {words[-2]}",
)
def test_an_empty_path_is_no_folder(probed: Path, words: tuple[str, ...]) -> None:
    before = sorted(probed.iterdir())
    done = run(*words, cwd=probed)
    assert done.returncode == 2, done.stderr
    assert "the path is empty" in done.stderr
    assert sorted(probed.iterdir()) == before


def test_an_empty_policy_is_no_policy() -> None:
    assert "there is no shipped policy ''" in sentence(
        run("plan", *ONE_AXIS[:-1], "--policy", ""), 2
    )


def test_variables_of_other_programs_stop_no_sheet(probed: Path) -> None:
    """A notebook's backend that is not installed here, and a date that is none."""
    backend = "module://absent_inline.backend"
    done = start("measure", probed, "--no-pdf", MPLBACKEND=backend, SOURCE_DATE_EPOCH="soon")
    assert done.returncode == 0, done.stderr


def test_what_a_judge_prints_is_no_part_of_the_output(tmp_path: Path) -> None:
    words = "print('LOADING')\n\ndef judge(_):\n    print('asked')\n    return '[RESULT] 3'\n"
    (tmp_path / "talking.py").write_text(words)
    done = run("probe", "--model", "python/talking:judge", "--axis", "score_order", "--profile",
               "smoke", "--json", "--out", "run", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["axes"][0]["answered"]
    assert "asked" in done.stderr


def test_what_hides_behind_an_error_of_import_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = ImportError("failed to map segment from shared object")
    assert not is_out_of_memory(broken)
    hidden = RuntimeError("x")
    hidden.__cause__ = MemoryError()
    assert is_out_of_memory(hidden)
    assert is_out_of_memory(OSError(errno.ENOMEM, "x"))
    require_memory(2**60)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10**8, 10**8))
    assert is_out_of_memory(broken)
    with pytest.raises(OSError) as caught:  # noqa: PT011  (what it is, is_out_of_memory says)
        require_memory(2**60)
    assert is_out_of_memory(caught.value)

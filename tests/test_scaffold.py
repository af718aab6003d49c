"""What `init` puts into a repository, and what its check says of it."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judgesheet.commands.scaffold import kinds
from tests.command import run

POOL = "judge/stimuli/score_order.jsonl"


def check(place: Path) -> list[str]:
    done = run("init", "--check", cwd=place)
    lines = done.stdout.splitlines()
    assert done.returncode == bool(lines)
    return lines


@pytest.fixture
def place(tmp_path: Path) -> Path:
    run("init", tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", kinds())
def test_a_new_repository_lacks_nothing_but_what_only_its_user_knows(
    kind: str, tmp_path: Path
) -> None:
    done = run("init", tmp_path, "--kind", kind)
    assert done.returncode == 0
    assert done.stdout.count("wrote ") == 7
    lines = check(tmp_path)
    reported = {re.sub(r"^\S+: ", "", line)[:12] for line in lines}
    assert {"is an exampl", "must be fill"} <= reported
    own = [line for line in lines if "is an example" not in line and "FILL-IN" not in line]
    assert all(re.match(r"judge/policy.toml:\d+: .* cannot be proven", line) for line in own)


@pytest.mark.parametrize(
    ("installed", "lacks"),
    [
        ("judge/judgesheet.whl", "judge/judgesheet.whl"),
        ('"judge/judgesheet.whl[parquet]"', "judge/judgesheet.whl"),
        ("judge/here.whl", ""),
        ("judge/here.whl[parquet] # committed", ""),
        ("judgesheet==1.0", ""),
        ("git+https://example.org/x/judgesheet@0a1b", ""),
        ("judgesheet @ git+https://example.org/x/judgesheet@0a1b", ""),
        ("https://example.org/judgesheet.whl", ""),
    ],
)
def test_a_wheel_that_pip_is_to_install_must_be_there(
    installed: str, lacks: str, place: Path
) -> None:
    job = place / ".github/workflows/judge.yml"
    (place / "judge" / "here.whl").touch()
    text = job.read_text("utf-8").replace("JUDGESHEET: FILL-IN", f"JUDGESHEET: {installed}")
    job.write_text(text, "utf-8")
    reported = [line for line in check(place) if ".whl does not exist" in line]
    assert [line.endswith(f"{lacks} does not exist") for line in reported] == [True] * bool(lacks)


def test_what_is_there_is_left_alone_unless_told(place: Path) -> None:
    policy = place / "judge/policy.toml"
    policy.write_text("mine", encoding="utf-8")
    done = run("init", place)
    assert done.stdout.count("kept  ") == 7
    assert policy.read_text(encoding="utf-8") == "mine"
    (place / POOL).unlink()
    (place / POOL).symlink_to(place / "elsewhere")
    assert "kept  " in run("init", place).stdout
    assert not (place / "elsewhere").exists()
    assert run("init", place, "--force").stdout.count("wrote ") == 7
    assert policy.read_text(encoding="utf-8") != "mine"


def put(old: str, new: str) -> Callable[[str], str]:
    def edit(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return edit


@pytest.mark.parametrize(
    ("file", "edit", "said"),
    [
        (POOL, put('"id": "example-login"', '"id": 7'), f"{POOL}:2: id: "),
        (POOL, put('{"id": "example-plan"', "example"), f"{POOL}:3: not JSON"),
        (POOL, put("example-plan", "example-login"), "id 'example-login' is already used at"),
        (POOL, lambda text: "", f"{POOL}: {POOL}"),
        ("judge/prompt.j2", put("{%- endfor", "{%- if"), "judge/prompt.j2:"),
        ("judge/prompt.j2", put("{{ response }}", ""), "judge/prompt.j2: "),
        ("judge/prompt.toml", put("verdict = 5", "verdict = 4"), "judge/prompt.toml:7: example 1"),
        ("judge/prompt.toml", put("[verdict]", "[[["), "judge/prompt.toml: "),
        ("judge/policy.toml", put("max = 0.15", 'max = "a"'), "judge/policy.toml:9: limit.1.max"),
        ("judge/policy.toml", put(".cramers_v", ""), "judge/policy.toml:8: limit 1: "),
        (
            "judge/policy.toml",
            put("why = ", "# "),
            "judge/policy.toml:8: score_order.cramers_v has",
        ),
        (
            "judge/policy.toml",
            put("score_order.c", "criterion_order.c"),
            "no figure criterion_order.c",
        ),
        ("judge/policy.toml", put("cramers_v", "cramer_v"), "is score_order.cramers_v meant?"),
        ("judge/gitlab-ci.yml", put("--no-pdf", "--no-pfd"), "`judgesheet probe` has no option"),
        ("judge/gitlab-ci.yml", put("PROFILE: quick", "PROFILE: quik"), "15: quik is no profile: "),
        (
            "judge/gitlab-ci.yml",
            put("PRICES: FILL-IN", "PRICES: 0.40"),
            "16: PRICES is 0.40: --prices takes two numbers",
        ),
        (
            "judge/gitlab-ci.yml",
            put("PROFILE: quick", "PROFILE: first"),
            "cannot be proven by any judge under the profile first",
        ),
        ("judge/gitlab-ci.yml", put("judgesheet gate", "judgesheet gat"), "no command `judgesheet"),
        (
            "judge/gitlab-ci.yml",
            put("=judge/prompt.j2", "=judge/x.j2"),
            "judge/x.j2 does not exist",
        ),
    ],
)
def test_a_fault_is_reported_with_file_and_line(
    file: str, edit: Callable[[str], str], said: str, place: Path
) -> None:
    path = place / file
    path.write_text(edit(path.read_text(encoding="utf-8")), encoding="utf-8")
    lines = check(place)
    assert any(said in line for line in lines), lines
    assert not any("Traceback" in line for line in lines)


def test_few_stimuli_are_told_how_many_more_a_good_judge_needs(tmp_path: Path) -> None:
    run("init", tmp_path, "--kind", "pairs")
    reported = [line for line in check(tmp_path) if "cannot be proven by any judge" in line]
    assert reported
    for line in reported:
        assert re.search(r"; \d+ independent stimuli would do$", line)


@pytest.mark.parametrize("kind", kinds())
def test_as_many_stimuli_as_the_guide_asks_for_can_prove_the_example_limits(
    kind: str, tmp_path: Path
) -> None:
    run("init", tmp_path, "--kind", kind)
    guide = (tmp_path / "judge/README.md").read_text("utf-8")
    (least,) = re.findall(r"at least (\d+)", guide)
    (pool,) = (tmp_path / "judge/stimuli").iterdir()
    example = json.loads(pool.read_text("utf-8").splitlines()[0])
    # Numbers for words, so that no line is a near copy of another.
    lines = [renumbered(example, start) for start in range(0, 10_000 * int(least), 10_000)]
    pool.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    assert not any("cannot be proven" in line for line in check(tmp_path))


def renumbered(stimulus: dict[str, Any], start: int) -> dict[str, Any]:
    """The stimulus with other texts of the same length."""
    words = iter(range(start, start + 10_000))

    def other(text: str) -> str:
        return " ".join(f"w{next(words)}" for _ in text.split())

    shown = ("prompt", "request", "u", "v")
    texts = {key: other(text) for key, text in stimulus.items() if key in shown}
    if "candidates" in stimulus:
        candidates = [{**one, "text": other(one["text"])} for one in stimulus["candidates"]]
        stimulus = {**stimulus, "candidates": candidates}
    return {**stimulus, **texts, "id": f"own-{start}"}


@pytest.mark.parametrize("name", ["prompt.j2", "prompt.toml", "policy.toml"])
def test_a_missing_file_is_reported_by_its_name(name: str, place: Path) -> None:
    (place / "judge" / name).unlink()
    assert f"judge/{name}: is missing; `judgesheet init` writes an example" in check(place)


def test_a_prompt_without_its_parser_is_reported_before_the_first_call(place: Path) -> None:
    (place / "judge" / "prompt.toml").unlink()
    done = run("probe", "--model", "sim/good", "--axis", "score_order", "--profile", "smoke",
               "--prompt", "score_order=judge/prompt.j2", "--no-pdf", "--no-cases", "--quiet",
               "--out", "run", cwd=place)  # fmt: skip
    assert (
        "judge/prompt.j2 has no parser of its own (no --parser, and no prompt.toml" in done.stderr
    )


def test_a_job_that_is_not_used_may_go(place: Path) -> None:
    (place / "judge/gitlab-ci.yml").unlink()
    assert not any("gitlab" in line for line in check(place))


def test_the_job_of_the_service_that_is_not_used_need_not_be_filled_in(place: Path) -> None:
    job = place / ".github/workflows/judge.yml"
    assert any("gitlab" in line for line in check(place))
    job.write_text(job.read_text("utf-8").replace("JUDGESHEET: FILL-IN", "JUDGESHEET: a"), "utf-8")
    reported = [line for line in check(place) if "FILL-IN" in line]
    assert reported
    assert not any("gitlab" in line for line in reported)


def test_stimuli_of_no_axis_or_of_two_are_reported(tmp_path: Path) -> None:
    assert "stimuli of one axis" in check(tmp_path)[0]
    assert "score_order.jsonl" in check(tmp_path)[0]
    run("init", tmp_path)
    run("init", tmp_path, "--kind", "pairs")
    assert "there are of 2" in check(tmp_path)[0]


def test_the_readme_of_the_scaffold_names_its_axis(place: Path) -> None:
    texts = [path.read_text("utf-8") for path in place.rglob("*") if path.is_file()]
    assert not any("@AXIS@" in text for text in texts)
    assert json.loads((place / POOL).read_text("utf-8").splitlines()[0])["id"].startswith("example")


def test_what_is_still_an_example_is_noted_and_is_no_fault(place: Path) -> None:
    (place / "judge/policy.toml").write_text("limit = []\n", encoding="utf-8")
    done = run("init", "--check", cwd=place)
    notes = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
    assert notes == [
        f"note: judge/{name}: is still the example of `init`"
        for name in ("prompt.j2", "prompt.toml")
    ]
    assert f"problems: {len(done.stdout.splitlines())}\n" in done.stderr


def test_a_value_that_is_filled_in_is_enough(place: Path) -> None:
    job = place / ".github/workflows/judge.yml"
    text = job.read_text("utf-8")
    job.write_text(
        text.replace("PRICES: FILL-IN", "PRICES: '0.10, 0.30' # of May"), encoding="utf-8"
    )
    reported = [line for line in check(place) if "FILL-IN" in line or "PRICES" in line]
    # The comment above the job, which explains the mark, need not go.
    assert [line.split(": ")[2] for line in reported] == ["JUDGESHEET", "MODEL", "BASE_URL"]

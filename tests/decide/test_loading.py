"""What a file claims to be decided is not believed, whatever prints it; a policy is its content."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import judgesheet
from judgesheet.base.datasheet import from_json, to_json
from judgesheet.base.errors import PolicyError, UsageError
from judgesheet.decide import decide, policy
from tests.command import run, sentence

LIMITS = """
min_independent = 4
[[limit]]
key = "score_order.cramers_v"
max = 0.05
[[limit]]
key = "candidate_order.slot_gap[*]"
max = 0.6
not_proven = "warn"
when_probed = true
[[limit]]
key = "candidate_order.order_inconsistent[set=same_subset]"
max = 0.6
"""


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of a judge that a policy of its own does not pass."""
    folder = tmp_path_factory.mktemp("judged")
    (folder / "scoring").write_text(LIMITS.replace("[*]", "[delta=*]"), encoding="utf-8")
    how: dict[str, Any] = {"axes": ["score_order"], "profile": "smoke", "pdf": False}
    judgesheet.probe("sim/first-biased", folder / "run", policy=f"{folder}/scoring", **how)
    return folder


@pytest.fixture
def forged(judged: Path, tmp_path: Path) -> Path:
    """The sheet of that run, which claims the opposite of what its figures give."""
    sheet = json.loads((judged / "run" / "datasheet.json").read_text("utf-8"))
    assert sheet["decision"]["verdict"] == "not_proven"
    sheet["decision"].update(verdict="adopt", text="Adopt: 9 limits proven.", limiting="")
    for verdict in sheet["verdicts"]:
        verdict.update(status="pass", why="well", bound=0.0)
    for effect in sheet["axes"][0]["effects"]:
        effect["verdict"] = "negligible"
    sheet["recommendations"] = []
    folder = tmp_path / "forged"
    folder.mkdir()
    (folder / "datasheet.json").write_text(json.dumps(sheet), encoding="utf-8")
    return folder


def test_loading_again_changes_nothing_that_was_decided(judged: Path) -> None:
    written = from_json(judged / "run" / "datasheet.json")
    assert judgesheet.load(judged / "run") == written
    assert from_json(to_json(decide(written))) == written


def test_what_a_sheet_claims_is_decided_anew(judged: Path, forged: Path) -> None:
    assert judgesheet.load(forged) == judgesheet.load(judged / "run")


def rendered(form: str) -> Callable[[Path, Path], str]:
    def made(forged: Path, out: Path) -> str:
        (file,) = judgesheet.render(forged, [form], out)
        return file.read_text("utf-8")

    return made


def indexed(forged: Path, out: Path) -> str:
    judgesheet.index(forged, out)
    return (out / "index.md").read_text("utf-8")


def attached(forged: Path, out: Path) -> str:
    out.mkdir()
    card = out / "README.md"
    card.write_text("# Model\n", encoding="utf-8")
    assert run("attach", card, forged).returncode == 0
    return card.read_text("utf-8")


@pytest.mark.parametrize(
    "surface",
    [*map(rendered, ("html", "md", "json", "junit", "model-card")), indexed, attached],
    ids=["html", "md", "json", "junit", "model-card", "index", "attach"],
)
def test_nothing_prints_what_the_figures_refute(
    surface: Callable[[Path, Path], str], judged: Path, forged: Path, tmp_path: Path
) -> None:
    """Word for word what it prints of the sheet as it was written."""
    honest = tmp_path / "honest"
    honest.mkdir()
    shutil.copy(judged / "run" / "datasheet.json", honest)
    said, truth = (surface(one, tmp_path / f"{one.name}-out") for one in (forged, honest))
    assert said.replace("forged", "honest") == truth


def test_a_sheet_that_does_not_say_what_its_policy_required_proves_no_more(judged: Path) -> None:
    """As sheets before 2.2: of 12 stimuli fewer than 10 may be independent, for all one knows."""
    sheet = json.loads((judged / "run" / "datasheet.json").read_text("utf-8"))
    sheet["verdicts"][0]["limit"] = 1.0
    sheet["provenance"]["stimuli"][0]["independent"] = 9
    assert decide(from_json(json.dumps(sheet))).verdicts[0].status == "pass"
    del sheet["provenance"]["policy"]["min_independent"]
    assert decide(from_json(json.dumps(sheet))).verdicts[0].status == "invalid"


# -- which policy it is ----------------------------------------------------------------------------


def test_a_file_does_not_take_the_place_of_a_shipped_policy(judged: Path) -> None:
    gate = ("gate", judged / "run", "--json", "--policy")
    shipped, own = (
        json.loads(run(*gate, name, cwd=judged).stdout)["policy"]
        for name in ("scoring", "./scoring")
    )
    assert shipped["digest"] == policy.load("scoring").digest
    assert (own["name"], own["digest"]) != (shipped["name"], shipped["digest"])


def test_a_text_cannot_name_itself_as_another_policy(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(f'name = "scoring"\n{LIMITS.replace("[*]", "")}', "utf-8")
    assert policy.load(tmp_path / "mine.toml").name == "mine.toml"


def test_a_bare_name_of_a_file_says_how_to_name_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "limits").write_text(LIMITS, encoding="utf-8")
    with pytest.raises(UsageError, match=r"\./limits"):
        policy.load("limits")


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("score_order.cramer_v", "score_order.cramers_v"),
        ("candidate_order.cramers_v", "score_order.cramers_v"),
        ("score_order.obedience", ""),
    ],
)
def test_a_key_that_no_figure_has_is_refused_before_anything_is_asked(
    key: str, nearest: str, tmp_path: Path
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f'[[limit]]\nkey = "{key}"\nmax = 0.1\n', encoding="utf-8")
    for kind in ("--policy", "--until-decided"):
        asked = ("--model", "sim/fair", "--profile", "smoke", "--out", tmp_path / "run")
        said = sentence(run("probe", *asked, kind, file))
        assert key in said
        assert nearest in said
        assert not (tmp_path / "run").exists()
    with pytest.raises(PolicyError):
        policy.load(file, policy.known_figures())


def test_a_policy_is_not_advised_in_its_own_place(tmp_path: Path) -> None:
    how: dict[str, Any] = {"axes": ["candidate_order"], "profile": "smoke", "pdf": False}
    judgesheet.probe("sim/fair", tmp_path / "run", **how)
    for name in policy.shipped():
        assert f"--policy {name}" not in run("gate", tmp_path / "run", "--policy", name).stdout


def test_a_limit_on_a_figure_that_is_not_there_has_its_unit(judged: Path) -> None:
    said = run("gate", judged / "run", "--verbose", "--policy", judged / "scoring").stdout
    row = next(line for line in said.splitlines() if "60 %" in line)
    assert "order_inconsistent" in row
    assert "0.6" not in row

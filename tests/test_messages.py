"""What a first hour gets wrong: the sentence says what is wrong, where, and what to write."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from judgesheet.axes import axis_names
from judgesheet.base.errors import PolicyError, UsageError
from judgesheet.base.records import digest
from judgesheet.base.resources import data_folder
from judgesheet.collect.options import Request
from judgesheet.collect.request import make_plan, settle
from judgesheet.commands.checkup import examine
from judgesheet.decide.policy import parse
from judgesheet.judges.address import Address
from judgesheet.reading.reasons import REASONS
from tests.command import run, sentence

SHEET = Path(__file__).parent / "golden" / "plausible.json"
POLICY = 'name = "mine"\n\n[[limit]]\nkey = "score_order.cramers_v"\nmaximum = 0.1\n'


def test_an_unknown_field_of_a_policy_has_its_line() -> None:
    with pytest.raises(PolicyError) as fault:
        parse(POLICY, "policy.toml")
    assert str(fault.value).startswith("policy.toml:5: unknown field maximum; a limit has ")
    assert "max or min" in str(fault.value)
    with pytest.raises(PolicyError, match=r"policy\.toml:3: .*max.*min"):
        parse(POLICY.replace("maximum = 0.1\n", ""), "policy.toml")


def test_a_template_says_which_variable_it_lacks(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.j2"
    prompt.write_text("{{ prompt }}\n{{ response }}\nScore it.", encoding="utf-8")
    said = sentence(run("plan", "--model", "sim/fair", "--axis", "score_order", "--prompt", prompt))
    assert "{% for option in options %}{{ option.description }}" in said
    prompt.write_text("{{ prompt }}", encoding="utf-8")
    said = sentence(run("plan", "--model", "sim/fair", "--axis", "score_order", "--prompt", prompt))
    assert "{{ response }}" in said


def test_a_prompt_without_a_name_is_that_of_the_one_axis(tmp_path: Path) -> None:
    file = tmp_path / "prompt.j2"
    assert Request("sim/fair", ["score_order"], prompts={"": file}).prompts == {"score_order": file}
    with pytest.raises(UsageError):
        Request("sim/fair", prompts={"": file})


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("https://host/v1/chat/completions", "https://host/v1/chat/completions"),
        ("https://host/chat/completions", "https://host/v1/chat/completions"),
        ("https://host/v1/chat/completions?v=1", "https://host/v1/chat/completions?v=1"),
        ("https://host/v1", "https://host/v1/chat/completions"),
        ("https://host/arn%3Aaws%2Fm/v1", "https://host/arn%3Aaws%2Fm/v1/chat/completions"),
    ],
)
def test_a_base_url_may_end_in_what_is_added_to_it(given: str, address: str) -> None:
    assert Address(given).at("/chat/completions") == address


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "--model", "sim/fair", "--stimuli", "none.jsonl"),
        ("plan", "--model", "sim/fair", "--axis", "score_order", "--prompt", "none.j2"),
        ("plan", "--model", "sim/fair", "--parser", "score_order=none.toml"),
        ("plan", "--model", "sim/fair", "--policy", "none.toml"),
        ("gate", "none.json", "--policy", "ranking"),
        ("ingest", "none.jsonl", "--out", "run"),
        ("init", "--check", "none."),
    ],
)
def test_a_missing_file_is_wrong_use(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "none." in done.stderr


def test_a_card_is_written_without_the_hubs_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    asked = ("--axis", "score_order", "--profile", "smoke", "--no-pdf", "--quiet", "--out", out)
    assert run("probe", "--model", "sim/fair", *asked).returncode == 0
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    done = run("render", out, "--to", "model-card", "--to", "md", "--out", tmp_path / "there")
    assert done.returncode == 0, done.stderr
    assert "judgesheet[hub]" in (tmp_path / "there" / "datasheet.model-card.md").read_text("utf-8")
    assert json.loads((out / "datasheet.json").read_text("utf-8"))


def test_a_folder_says_what_its_files_must_be_called(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "chats.jsonl").write_text("{}\n")
    done = run("stimuli", "check", "mine", "--axis", "score_order", cwd=tmp_path)
    assert done.returncode == 2
    assert "mine has no score_order.jsonl; it holds chats.jsonl: rename one" in done.stderr
    (tmp_path / "mine" / "presentation.jsonl").write_text("{}\n")
    done = run("plan", "--model", "sim/fair", "--stimuli", "mine", cwd=tmp_path)
    assert done.returncode == 2
    assert "it holds chats.jsonl, presentation.jsonl: take --axis presentation" in done.stderr


def test_stimuli_of_a_folder_are_named_by_their_file(tmp_path: Path) -> None:
    """The model card names a data set by it: every folder of stimuli may be called `stimuli`."""
    (tmp_path / "stimuli").mkdir()
    shutil.copy(data_folder("stimuli") / "score_order.jsonl", tmp_path / "stimuli")
    mine, axes = tmp_path / "stimuli", ("score_order",)
    request = Request(model="sim/fair", axes=axes, stimuli=mine, profile="smoke")
    (about,) = make_plan(request, settle(request)).provenance["stimuli"]
    assert about["name"] == "score_order.jsonl"


@pytest.mark.parametrize(("form", "out"), [("md", "sheet.md"), ("csv", "rows.csv")])
def test_a_file_for_a_folder_is_refused(form: str, out: str, tmp_path: Path) -> None:
    (tmp_path / "datasheet.json").write_bytes(SHEET.read_bytes())
    done = run("render", "datasheet.json", "--to", form, "--out", out, cwd=tmp_path)
    assert done.returncode == 2
    assert f"--to {form}={out}" in done.stderr
    assert not (tmp_path / out).exists()
    assert (
        run("render", "datasheet.json", "--to", f"{form}={out}", cwd=tmp_path).stdout == out + "\n"
    )


def test_doctor_shows_what_concerns_the_model() -> None:
    checks = {check.what for check in examine("sim/fair")}
    assert not {"local judge", "keys"} & checks
    assert {"working folder", "sim/fair"} <= checks
    last = examine("openai-compatible/x")[-1]
    assert last.detail.startswith("needs the address of its server: ")


def test_advice_is_what_the_run_has_not_yet() -> None:
    unmarked = REASONS["no_verdict"]
    assert "--reply json" in unmarked.advice("text", has_parser=False)
    assert "--reply" not in unmarked.advice("json", has_parser=False)
    assert "another --parser" in unmarked.advice("text", has_parser=True)
    assert all(one.advice("json", has_parser=True) for one in REASONS.values())


def test_stimuli_of_another_form_say_what_they_have_and_what_they_lack(tmp_path: Path) -> None:
    file = tmp_path / "chats.jsonl"
    file.write_text('{"id": "chat-1", "conversation": "Hello", "answers": []}', encoding="utf-8")
    said = sentence(run("stimuli", "check", file))
    assert "its fields: id, conversation, answers" in said
    assert "stimuli show AXIS" in said
    said = sentence(run("stimuli", "check", "--axis", "score_order", file))
    for name in ("prompt", "rubric", "candidates"):
        assert name in said.partition("has the unknown")[0]
    assert "conversation" in said.partition("has the unknown")[2]


def test_the_name_of_an_axis_shows_an_example_of_its_stimuli() -> None:
    shown = json.loads(run("stimuli", "show", "score_order").stdout)
    assert {"prompt", "rubric", "candidates"} <= shown.keys()


def test_how_many_of_the_users_stimuli_are_asked_about_is_reported(tmp_path: Path) -> None:
    example = json.loads(run("stimuli", "show", "score_order").stdout)
    names = [f"chat-{number}" for number in range(5)]
    rows = (json.dumps({**example, "id": name, "prompt": digest(name)}) for name in names)
    file = tmp_path / "chats.jsonl"
    file.write_text("\n".join(rows), encoding="utf-8")
    words = ("--model", "sim/fair", "--axis", "score_order", "--stimuli", file)
    planned = run("plan", *words, "--profile", "smoke")
    assert "on 3 of 5 stimuli" in planned.stdout, planned.stdout
    out = ("--out", tmp_path / "run", "--no-pdf", "--no-cases")
    done = run("probe", *words, "--profile", "smoke", *out)
    assert "the profile smoke asks about 3 of 5 stimuli" in done.stderr
    assert "of 5" not in run("plan", *words, "--profile", "standard").stdout


def test_the_axes_are_listed_where_one_is_to_be_named() -> None:
    for name in axis_names():
        assert name in run("probe", "--help").stdout

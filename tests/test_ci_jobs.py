"""The jobs of CI as they run: their commands are taken out of the YAML and run, against a server.

Not run are the steps that install and those that are other people's actions.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

import judgesheet
from judgesheet.base.records import digest
from tests.judges.loopback import Answer, Request, Server, completion, serving

ROOT = Path(__file__).parent.parent
LEVELS = ["Ignores it.", "Repeats it.", "Helps in part.", "Solves nearly all.", "Solves all."]
Script = tuple[str, dict[str, str]]
"""The text of a step and the variables that it is given."""


def stimulus(number: int) -> dict[str, Any]:
    words = [digest(f"{number} {part}") for part in range(3)]
    return {
        "id": f"chat-{number}",
        "prompt": f"Customer: {words[0]}\nAgent: Which order?\nCustomer: {number}",
        "rubric": {"criterion": "Is it solved?", "levels": LEVELS},
        "candidates": [
            {"id": "a", "text": f"Answer {words[1]}"},
            {"id": "b", "text": f"Answer {words[2]}"},
        ],
    }


@dataclass
class Endpoint:
    """Answers the prompt of the scaffold by the answer's text, or by what is listed first."""

    version: str = "m-1"
    is_led: bool = False

    def __call__(self, request: Request, _number: int) -> Answer:
        listed = re.findall(r"(?m)^(\d) = ", request.words) or ["1"]
        answer = re.search(r"Answer ([0-9a-f]{16,})", request.words)
        own = 1 + int(answer[1], 16) % len(listed) if answer else 1
        said = f"So be it.\nFinal grade: {listed[0] if self.is_led else own}"
        body = json.loads(completion(said).body or b"")
        return Answer(json.dumps({**body, "model": self.version}).encode())


def github(place: Path) -> Iterator[Script]:
    job = yaml.safe_load((place / ".github/workflows/judge.yml").read_text("utf-8"))["jobs"][
        "judge"
    ]
    for step in job["steps"]:
        if "run" in step:
            yield step["run"], job["env"] | step.get("env", {})


def gitlab(place: Path) -> Iterator[Script]:
    job = yaml.safe_load((place / "judge/gitlab-ci.yml").read_text("utf-8"))["judge"]
    for text in job["before_script"] + job["script"]:
        yield text, job["variables"]


INPUTS = {
    "axis": "score_order",
    "stimuli": "judge/stimuli",
    "prompt": "score_order=judge/prompt.j2",
    "policy": "judge/policy.toml",
    "baseline": "judge/accepted/datasheet.json",
    "model": "openai-compatible/m",
    "api-key-env": "JUDGE_API_KEY",
    "prices": "0.40,1.60",
    "max-cost": "10",
}


def action(_place: Path) -> Iterator[Script]:
    """What the action does once its cache is restored."""
    return (step for step in whole_action() if "mktemp" not in step[0])


def whole_action() -> Iterator[Script]:
    document = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    given = {name: str(of.get("default", "")) for name, of in document["inputs"].items()} | INPUTS
    for step in document["runs"]["steps"]:
        if "run" in step:
            known = {
                name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: given[found[1]], text)
                for name, text in step["env"].items()
            }
            yield step["run"], known


def run(
    scripts: Iterator[Script], place: Path, server: Server, event: str = "", skip: str = ""
) -> tuple[int, str]:
    """Run the scripts until one fails; its exit code, and all that was printed.

    Those with `skip` in them are left out.
    """
    said = ""
    for text, given in scripts:
        if "pip install" in text or (skip and skip in text):
            continue
        known = {name: str(value) for name, value in given.items() if "${{" not in str(value)}
        ours = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "MODEL": "openai-compatible/m",
            "BASE_URL": server.base_url,
            "JUDGE_API_KEY": "a-key-of-the-test",
            "GITHUB_EVENT_NAME": event,
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_STEP_SUMMARY": str(place / "summary.md"),
            "CI_PIPELINE_SOURCE": event,
        }
        done = subprocess.run(
            ["bash", "-e", "-c", text],
            cwd=place,
            env={**os.environ, **known, **ours},
            capture_output=True,
            text=True,
            check=False,
        )
        said += done.stdout + done.stderr
        if done.returncode:
            return done.returncode, said
    return 0, said


JOBS: dict[str, Callable[[Path], Iterator[Script]]] = {
    "github": github,
    "gitlab": gitlab,
    "action": action,
}


CHECK = "init --check"
"""Takes seconds, and is run once: `measured`."""


@pytest.fixture(scope="module")
def endpoint() -> Endpoint:
    return Endpoint()


@pytest.fixture(scope="module")
def server(endpoint: Endpoint) -> Iterator[Server]:
    with serving(endpoint) as running:
        yield running


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, server: Server) -> Path:
    """A repository with the files of `init`, filled in, of which a job has run."""
    place = tmp_path_factory.mktemp("repository")
    judgesheet.init(place)
    lines = (json.dumps(stimulus(number)) for number in range(26))
    (place / "judge/stimuli/score_order.jsonl").write_text("\n".join(lines), encoding="utf-8")
    for job in (place / ".github/workflows/judge.yml", place / "judge/gitlab-ci.yml"):
        text = job.read_text("utf-8").replace("PRICES: FILL-IN", "PRICES: 0.40,1.60")
        job.write_text(text.replace("FILL-IN", "m"), encoding="utf-8")
    code, said = run(github(place), place, server)
    assert code == 0, said
    assert "ready" in said
    assert (place / "judge-limits.xml").is_file()
    return place


@pytest.fixture
def place(measured: Path, tmp_path: Path) -> Path:
    """A copy of it, as a later job finds it after its cache was restored."""
    return shutil.copytree(measured, tmp_path / "repository")


@pytest.mark.parametrize("job", ["gitlab", "action"])
def test_a_later_job_is_asked_one_question_and_gates_against_what_was_accepted(
    job: str, place: Path, server: Server
) -> None:
    (place / "judge/accepted").mkdir()
    shutil.copy(place / "runs/judge/datasheet.json", place / "judge/accepted")
    asked = len(server.requests)
    code, said = run(JOBS[job](place), place, server, skip=CHECK)
    assert code == 0, said
    assert len(server.requests) == asked + 1
    summary = (place / "summary.md").read_text("utf-8")
    assert "4 limits kept" in said
    assert "| `Δ score_order.cramers_v` | worse by 0 |" in summary
    assert "| Question | Answer |" in summary


@pytest.mark.parametrize(("job", "event"), [("github", "pull_request"), ("gitlab", "schedule")])
def test_no_job_passes_on_the_replies_of_another_version(
    job: str, event: str, place: Path, server: Server, endpoint: Endpoint
) -> None:
    endpoint.version, endpoint.is_led = ("m-1" if event == "schedule" else "m-2"), True
    try:
        code, said = run(JOBS[job](place), place, server, event, CHECK)
    finally:
        endpoint.version, endpoint.is_led = "m-1", False
    assert code == 3, said
    assert "Reject: 2 limits broken" in said
    cases = ElementTree.parse(place / "judge-limits.xml").iter("testcase")
    broken = [case.attrib["name"] for case in cases if case.find("failure") is not None]
    assert "score_order.cramers_v at most 0.15" in broken


def test_a_job_that_is_not_filled_in_stops_before_it_pays(place: Path, server: Server) -> None:
    (place / "judge/policy.toml").unlink()
    asked = len(server.requests)
    code, said = run(github(place), place, server)
    assert (code, len(server.requests)) == (1, asked)
    assert "judge/policy.toml: is missing" in said


def test_every_input_of_the_action_is_used_and_described() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    for name, known in yaml.safe_load(text)["inputs"].items():
        assert known["description"]
        assert f"inputs.{name}" in text, name


def test_the_action_uses_no_run_of_the_checkout(place: Path, server: Server) -> None:
    (place / "checked-out").mkdir()
    (place / "runs").rename(place / "checked-out/runs")
    (place / "runs").symlink_to("checked-out/runs")
    asked = len(server.requests)
    code, said = run(whole_action(), place, server, skip=CHECK)
    assert code == 0, said
    assert "::warning::" in said
    assert len(server.requests) > asked + 1


def test_a_changed_prompt_is_held_to_the_limits_and_not_to_the_baseline(
    place: Path, server: Server, tmp_path: Path
) -> None:
    (place / "judge/accepted").mkdir()
    shutil.copy(place / "runs/judge/datasheet.json", place / "judge/accepted")
    shutil.copytree(place / "runs/judge", tmp_path / "accepted")
    (place / "judge-limits.xml").unlink()
    prompt = place / "judge/prompt.j2"
    prompt.write_text(prompt.read_text("utf-8").replace("You", "Kindly, you", 1), encoding="utf-8")
    code, said = run(github(place), place, server, "pull_request", CHECK)
    assert code == 4, said
    assert "accept `runs/judge/datasheet.json`" in said
    assert "--across-prompts" in said
    cases = {
        case.get("name", "").split()[0]: case
        for case in ElementTree.parse(place / "judge-limits.xml").iter("testcase")
    }
    assert cases["score_order.baseline"].find("error") is not None
    limited = cases["score_order.cramers_v"]
    assert limited.find("error") is limited.find("failure") is None

    files = place / "runs/judge", place / "judge/policy.toml"
    judged = judgesheet.gate(*files, baseline=tmp_path / "accepted", across_prompts=True)
    assert judged.decision is not None
    assert judged.decision.verdict in ("adopt", "conditions")
    assert judged.provenance.baseline is not None
    (remark, *_) = judged.provenance.baseline.remarks
    assert "paired by stimulus" in remark
    assert "prompts of score_order" in remark
    alone = judgesheet.gate(
        *files, baseline=place / "judge/accepted/datasheet.json", across_prompts=True
    )
    assert alone.provenance.baseline is not None
    assert "independent" in alone.provenance.baseline.remarks[0]

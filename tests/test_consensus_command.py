"""`judgesheet consensus` as its user meets it: a real endpoint, files, interruptions, bad input."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.command import run, sentence
from tests.judges.loopback import Answer, Request, Script, completion, failure, serving

MODEL = ("--model", "openai-compatible/m")
SIM = ("--model", "sim/fair?gap=40")


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def sets(lists: int = 3, pairs: int = 2) -> list[dict[str, Any]]:
    texts = [{"id": name, "text": f"The answer is {name}."} for name in ("ada", "bob", "cy", "dee")]
    found: list[dict[str, Any]] = [
        {"id": f"q{i}", "prompt": f"Which name is number {i}?", "gold": "cy", "candidates": texts}
        for i in range(lists)
    ]
    return found + [
        {
            "id": f"p{i}",
            "request": f"Pair {i}?",
            "u": "yes",
            "v": "no",
            "better": "v",
            "source": "s",
        }
        for i in range(pairs)
    ]


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return write(tmp_path / "mine.jsonl", sets())


def reply_to(words: str) -> str:
    """Prefers what stands first, unless it has an answer of its own."""
    if "Your own answer" in words:
        slot = 1 if words.rindex("\nno\n") < words.rindex("\nyes\n") else 2
        return f'It is no. {{"winner": "{slot}"}}'
    if "Work out the answer" in words:
        return "The answer is no."
    if "comparing two responses" in words:
        return 'Comparing. {"winner": "1"}'
    flags = {"major_error": False, "hallucinated_specificity": False}
    rows = [
        {"label": label, "score": 90 - 10 * i, "rationale": "r", **flags,
         "calibrated_uncertainty": False}
        for i, label in enumerate("ABCD")
    ]  # fmt: skip
    return json.dumps({"candidates": rows})


def endpoint(counts: Counter[str], wait: float = 0.0) -> Script:
    def script(request: Request, _: int) -> Answer:
        counts[request.words] += 1
        time.sleep(wait)
        return completion(reply_to(request.words))

    return script


def test_decisions_and_summary(mine: Path, tmp_path: Path) -> None:
    done = run("consensus", mine, *SIM, "-k", "4", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "5 sets" in done.stdout
    assert "note:" not in done.stderr
    assert {path.name for path in (tmp_path / "run").iterdir()} == {
        "decisions.jsonl",
        "summary.json",
        "ledger.sqlite",
    }
    lines = (tmp_path / "run" / "decisions.jsonl").read_text(encoding="utf-8").splitlines()
    decisions = [json.loads(line) for line in lines]
    assert [one["winner"] for one in decisions[:3]] == ["cy"] * 3
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    assert summary["accuracy"]["sets"] == 5
    again = run("consensus", mine, *SIM, "-k", "4", "--out", tmp_path / "run", "--json")
    assert json.loads(again.stdout) == {"summary": summary, "decisions": decisions}


def test_an_unbalanced_number_of_orders_is_said_before_the_calls(
    mine: Path, tmp_path: Path
) -> None:
    done = run("consensus", mine, *SIM, "--out", tmp_path / "run", "--quiet")
    assert done.stderr.startswith("note: 7 orders of 4 candidates cannot be balanced (3 sets)")
    assert "-k 8" in done.stderr


def test_a_judge_that_follows_the_place_is_balanced_away(mine: Path, tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    with serving(endpoint(counts)) as server:
        address = ("--base-url", server.base_url)
        done = run("consensus", mine, *MODEL, *address, "-k", "4", "--out", tmp_path, "--json")
    found = json.loads(done.stdout)
    listed, paired = found["decisions"][:3], found["decisions"][3:]
    assert all(one["direct"] == ["ada"] and len(one["winners"]) == 4 for one in listed)
    assert all(one["why"] == "keyed_confirms" and one["winner"] == "v" for one in paired)
    assert found["summary"]["accuracy"]["improved"] == 5
    assert set(counts.values()) == {1}
    assert len(counts) == 3 * 4 + 2 * 5


def test_a_judge_that_always_says_slot_1_decides_no_pair(tmp_path: Path) -> None:
    pairs = sets(lists=0, pairs=3)
    swapped = [{**pair, "u": pair["v"], "v": pair["u"], "better": "u"} for pair in pairs]

    def always_slot_1(*_: object) -> Answer:
        return completion('{"winner": "1"}')

    with serving(always_slot_1) as server:
        for name, records in (("one", pairs), ("other", swapped)):
            mine, out = write(tmp_path / f"{name}.jsonl", records), tmp_path / name
            done = run("consensus", mine, *MODEL, "--base-url", server.base_url, "--out", out)
            assert done.stdout.startswith(
                "3 sets: 0 decided, 3 tied, 0 undecided\n"
                "another order, another verdict: 3 of 3 pairs; 0 of them decided by the keyed pass"
            )
            summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
            assert (summary["decided"], summary["pairs"], summary["orders_differ"]) == (0, 3, 3)


def test_kill_9_in_the_middle_repeats_nothing(tmp_path: Path) -> None:
    mine = write(tmp_path / "mine.jsonl", sets(lists=20, pairs=12))
    counts: Counter[str] = Counter()
    keyed = threading.Event()
    inner = endpoint(counts, 0.002)

    def script(request: Request, number: int) -> Answer:
        if "Your own answer" in request.words:
            keyed.set()
        return inner(request, number)

    with serving(script) as server:
        command: list[str | Path] = ["consensus", mine, *MODEL, "--base-url", server.base_url]
        command += [
            "--quiet",
            "--concurrency",
            "4",
            "-k",
            "4",
            "--early-stop",
            "--out",
            tmp_path / "run",
        ]
        program = [sys.executable, "-m", "judgesheet", *map(str, command)]
        with subprocess.Popen(program, cwd=Path(__file__).parents[1]) as child:
            assert keyed.wait(60)
            os.kill(child.pid, signal.SIGKILL)
        time.sleep(0.1)
        assert not (tmp_path / "run" / "decisions.jsonl").exists()
        before = counts.total()
        done = run(*command, "--json")
        assert done.returncode == 0, done.stderr
        repeated = sum(times - 1 for times in counts.values())
        assert repeated <= 4 + 4 // 4  # in flight at the kill, or being written
        assert counts.total() > before
        found = json.loads(done.stdout)
        assert [one["winner"] for one in found["decisions"][20:]] == ["v"] * 12
        assert not found["summary"]["incomplete"]
        asked = counts.total()
        assert json.loads(run(*command, "--json").stdout) == found
        assert counts.total() == asked


def test_a_budget_ends_the_session_and_the_same_command_goes_on(mine: Path, tmp_path: Path) -> None:
    command = ("consensus", mine, *SIM, "-k", "4", "--out", tmp_path / "run", "--json")
    first = run(*command, "--max-calls", "5", "--concurrency", "1")
    assert first.returncode == 5
    assert "the same command resumes it" in first.stderr
    part = json.loads(first.stdout)
    assert part["summary"]["requests"] == 5
    assert part["decisions"][1]["note"] == "decided from 1 of 4 runs: 3 not asked yet"
    assert part["decisions"][2]["winner"] is None
    whole = json.loads(run(*command).stdout)
    assert whole["summary"]["incomplete"] == 0
    assert whole == json.loads(run(*command[:-2], tmp_path / "other", "--json").stdout)


def test_early_stopping_saves_calls(tmp_path: Path) -> None:
    mine = write(tmp_path / "mine.jsonl", sets(lists=10, pairs=0))
    sim = ("--model", "sim/fair?gap=50&width=0.1")
    found = [
        json.loads(run("consensus", mine, *sim, "-k", "8", "--json", "--out", tmp_path / name,
                       *options).stdout)
        for name, options in (("whole", ()), ("early", ("--early-stop",)))
    ]  # fmt: skip
    winners = [[one["winners"] for one in part["decisions"]] for part in found]
    assert winners[0] == winners[1]
    requests = [part["summary"]["requests"] for part in found]
    assert requests[0] == 80
    assert requests[1] == 80 - found[1]["summary"]["saved"] < 80


def test_another_input_model_or_k_in_the_folder_is_refused(mine: Path, tmp_path: Path) -> None:
    common = ("--out", tmp_path / "run", "--quiet")
    assert run("consensus", mine, *SIM, "-k", "4", *common).returncode == 0
    assert "--fresh" in sentence(run("consensus", mine, *SIM, "-k", "8", *common))
    assert "another judge" in sentence(
        run("consensus", mine, "--model", "sim/noisy", "-k", "4", *common)
    )
    other = write(tmp_path / "other.jsonl", sets(lists=1))
    assert "another plan" in sentence(run("consensus", other, *SIM, "-k", "4", *common))
    assert run("consensus", other, *SIM, "-k", "4", *common, "--fresh").returncode == 0
    assert (tmp_path / "run.old-1" / "decisions.jsonl").exists()
    assert "consensus" in sentence(run("measure", tmp_path / "run"))
    assert "another" in sentence(
        run("probe", *SIM, "--profile", "smoke", "--axis", "score_order", *common)
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no candidate sets"),
        ("not json\n", "mine.jsonl:1: not JSON"),
        ('{"id": "a", "prompt": "p", "candidates": [{"id": "x", "text": "y"}]}\n', "mine.jsonl:1"),
        ('{"id": "a"}\n', "mine.jsonl:1"),
        ("[1]\n", "mine.jsonl:1"),
    ],
)
def test_bad_input_is_one_sentence(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(text, encoding="utf-8")
    assert said in sentence(run("consensus", path, *SIM, "--out", tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_wrong_use(mine: Path, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "run")
    assert "no judge" in sentence(run("consensus", mine, "--model", "nobody/x", *out), 2)
    assert "score_order" in sentence(
        run("consensus", mine, *SIM, *out, "--prompt", f"score_order={mine}"), 2
    )
    assert run("consensus", mine, *SIM, "-k", "0", *out).returncode == 2
    assert run("consensus", tmp_path / "none.jsonl", *SIM, *out).returncode == 2


def test_own_prompts_are_used_and_blind_ones_refused(mine: Path, tmp_path: Path) -> None:
    prompts = Path(__file__).parents[1] / "templates" / "prompts"
    for axis, key in (("listwise_consensus", "prompt"), ("candidate_order", "first")):
        own = tmp_path / f"{axis}.jinja"
        text = (prompts / own.name).read_text(encoding="utf-8")
        command = ("consensus", mine, *SIM, "-k", "4", "--prompt", f"{axis}={own}")
        own.write_text(f"MINE {text}", encoding="utf-8")
        assert run(*command, "--out", tmp_path / axis).returncode == 0
        own.write_text(re.sub(rf"{{{{ {key} }}}}", "", text), encoding="utf-8")
        said = sentence(run(*command, "--quiet", "--out", tmp_path / "none"))
        assert f"the prompt of {axis}" in said


def test_a_dead_key_stops_the_run_with_one_sentence(mine: Path, tmp_path: Path) -> None:
    with serving(lambda *_: failure(401, message="bad key")) as server:
        done = run("consensus", mine, *MODEL, "--base-url", server.base_url, "-k", "4", "--quiet",
                   "--out", tmp_path / "run")  # fmt: skip
    assert "refused the key" in sentence(done, 5)


def test_advice_names_what_the_command_has(tmp_path: Path) -> None:
    mine = write(tmp_path / "mine.jsonl", sets(lists=0, pairs=30))
    out = ("--out", tmp_path / "run")
    with serving(lambda *_: completion("Let me think.")) as server:
        done = run("consensus", mine, *MODEL, "--base-url", server.base_url, "--quiet", *out)
    assert "choose another --reply or --prompt, and start over with --fresh" in sentence(done, 5)
    prompt = tmp_path / "mine.j2"
    prompt.write_text("{{ request }} {{ first }} {{ second }}", encoding="utf-8")
    prompt.with_suffix(".toml").write_text("[verdict]\nregex = 'Better: (1|2)'\n", encoding="utf-8")
    said = sentence(run("consensus", mine, *SIM, *out, "--prompt", f"candidate_order={prompt}"), 2)
    assert "mine.toml); it was taken because it lies beside the template" in said

"""Plans go out as the files of a batch API, and their results come back into the run."""

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import judgesheet
from judgesheet.base.errors import OtherRunError, RunError, StimuliError, UsageError
from judgesheet.base.records import AxisResult, Datasheet
from judgesheet.base.resources import data_folder
from judgesheet.collect.batches import export
from judgesheet.judges.batch_formats import (
    BATCH_FORMATS,
    batch_format,
    batch_request,
    read_result,
)
from judgesheet.judges.providers import BatchName, JudgeRef
from judgesheet.ledger.ledger import Ledger
from tests.batch_service import Line, answered, requests_in, write_results
from tests.command import run, sentence
from tests.judges.loopback import Answer, Request, failure, make_call, serving

MODELS: Mapping[BatchName, JudgeRef] = {
    "openai": JudgeRef("openai", "m"),
    "anthropic": JudgeRef("anthropic", "m"),
    "vllm": JudgeRef("vllm", "m"),
}


def judge(request: Request, _number: int) -> Answer:
    """A judge that follows from the prompt alone, behind either API."""
    text = f"Because. [RESULT] {zlib.crc32(request.words.encode()) % 5 + 1}"
    body: Line
    if request.path.endswith("/messages"):
        usage = {"input_tokens": 7, "output_tokens": 3}
        content = [{"type": "text", "text": text}]
        body = {"model": "m-1", "content": content, "stop_reason": "end_turn", "usage": usage}
    else:
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        body = {"model": "m-1", "created": 1_700_000_000, "choices": [choice], "usage": usage}
    return Answer(json.dumps(body).encode())


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "a-key-for-nothing")


@pytest.fixture
def asked(tmp_path: Path) -> Mapping[str, Any]:
    """Options of a small plan: one prompt and its responses."""
    lines = (data_folder("stimuli") / "score_order.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "one.jsonl").write_text(lines[0], encoding="utf-8")
    return {"axes": ["score_order"], "profile": "smoke", "stimuli": tmp_path / "one.jsonl"}


def exported(folder: Path, model: str, asked: Mapping[str, Any], **how: Any) -> list[Line]:
    """The requests of a plan, which lies in `folder/run`."""
    file, plan = folder / "batch.jsonl", folder / "run" / "plan.jsonl"
    judgesheet.plan(model, plan, file, **how, **asked)
    return requests_in(file)


def ingested(folder: Path, *files: list[Line]) -> Datasheet:
    """The sheet of `folder/run` after these results."""
    given = [write_results(folder / f"{at}.jsonl", lines) for at, lines in enumerate(files)]
    return judgesheet.ingest(given, folder / "run", pdf=False, cases=False).datasheet


def measured(sheet: Datasheet) -> AxisResult:
    (axis,) = sheet.axes
    return axis


# -- out -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*BATCH_FORMATS])
def test_no_file_holds_more_than_its_format_allows(tmp_path: Path, name: BatchName) -> None:
    calls = [make_call(f"{'é' * (at % 7)} \ud83d call {at}") for at in range(23)]
    request_of = batch_request(MODELS[name], BATCH_FORMATS[name], {}, {})

    def sizes(requests: int | None = None, size: int | None = None) -> list[int]:
        form = replace(BATCH_FORMATS[name], most_requests=requests, most_bytes=size)
        files = list(export(calls, request_of, form, tmp_path / "b.jsonl"))
        parts = [requests_in(file) for file, _ in files]
        assert [len(part) for part in parts] == [count for _, count in files]
        assert [one["custom_id"] for part in parts for one in part] == [call.id for call in calls]
        names = ["b.jsonl", *(f"b-{number}.jsonl" for number in range(2, 99))]
        assert [file.name for file, _ in files] == names[: len(files)]
        return [file.stat().st_size for file, _ in files]

    (whole,) = sizes()
    assert len(sizes(requests=5)) == 5
    assert len(sizes(requests=23)) == 1
    for most in (whole - 1, whole // 2, whole // 5):
        shares = sizes(size=most)
        assert len(shares) > 1
        assert max(shares) <= most
    with pytest.raises(RunError):
        sizes(size=99)


def test_a_provider_is_given_its_own_format() -> None:
    for name, form in BATCH_FORMATS.items():
        assert batch_format(MODELS[name], None) is form
        assert batch_format(MODELS["openai"], name) is form
    assert batch_format(JudgeRef("together", "m"), None) is BATCH_FORMATS["openai"]
    assert JudgeRef.parse("together/org/m").in_runs == "together/org/m"
    in_runs = JudgeRef.parse("local//home/me/m.gguf").in_runs
    assert in_runs == "local/m.gguf", "as the judge calls itself"


def test_requests_are_those_of_the_judge_asked_directly() -> None:
    def body(model: str, name: BatchName | None = None, **extra: Any) -> Line:
        judge = JudgeRef.parse(model)
        form = batch_format(judge, name)
        request: Line = dict(batch_request(judge, form, extra, {"seed": None})(make_call(seed=1)))
        content: Line = request.get("params") or request["body"]
        assert [*content.pop("messages")] == [{"role": "user", "content": "Grade this."}]
        assert content.pop("temperature") == 0
        return content

    assert body("openai/m") == {"model": "m", "max_completion_tokens": 24}
    assert body("vllm/org/m") == {"model": "org/m", "max_tokens": 24}
    assert body("anthropic/m", temperature=0) == {"model": "m", "max_tokens": 24}
    assert body("openai/m", "anthropic") == {"model": "m", "max_tokens": 24}
    assert body("anthropic/m", "openai", top_p=1) == {"model": "m", "max_tokens": 24, "top_p": 1}


# -- back ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*BATCH_FORMATS])
def test_a_batch_measures_what_asking_directly_does(
    tmp_path: Path, asked: Mapping[str, Any], name: BatchName
) -> None:
    model, folder = str(MODELS[name]), tmp_path / "run"
    with serving(judge) as server:
        direct = judgesheet.probe(
            model, tmp_path / "direct", base_url=server.base_url, pdf=False, cases=False, **asked
        ).datasheet
        requests = exported(tmp_path, model, asked, prices=(1.0, 2.0))
        answers = list(answered(requests, server.base_url))
        # In two files, out of order, and not all of them.
        part = ingested(tmp_path, answers[9:4:-1], answers[:3])
        assert part.run.complete is False
        assert part.run.settled == 8
        messages: list[str] = []
        left = tmp_path / "left.jsonl"
        judgesheet.plan(model, None, left, resume=folder, tell=messages.append, **asked)
        rest = requests_in(left)
        assert rest == [*requests[3:5], *requests[10:]]
        assert messages[0] == f"{len(rest)} of {len(requests)} calls have no answer yet"
        whole = ingested(tmp_path, list(answered(rest, server.base_url)))
    assert whole.run.complete is True
    assert measured(whole) == measured(direct)
    for count in ("attempts", "tokens_in", "tokens_out", "outcomes"):
        assert getattr(whole.run, count) == getattr(direct.run, count)
    assert whole.judge.served_models == {"m-1": len(requests)}
    assert whole.judge.model == f"batch/{model}"
    assert whole.run.cost_usd == pytest.approx(len(requests) * 13e-6)
    assert whole.run.latency_p50_s is None
    assert not str(whole.run.started_at).startswith("1970")
    assert whole.run.batches == ("0.jsonl", "1.jsonl", "0.jsonl")


@pytest.mark.parametrize("model", ["openai/m", "anthropic/m"])
def test_what_a_batch_left_open_can_be_asked_directly(
    tmp_path: Path, asked: Mapping[str, Any], model: str
) -> None:
    folder = tmp_path / "run"
    how = {"out": folder, "pdf": False, "cases": False, **asked}
    with serving(judge) as server:
        requests = exported(tmp_path, model, asked)
        ingested(tmp_path, list(answered(requests[2:], server.base_url)))
        server.requests.clear()
        for other in ({"seed": 5}, {"extra_body": {"top_p": 1}}, {"model": f"{model}-2"}):
            with pytest.raises(OtherRunError):
                judgesheet.probe(**{"model": model, "base_url": server.base_url, **how, **other})
        sheet = judgesheet.probe(model, base_url=server.base_url, **how).datasheet
        assert len(server.requests) == 2
        assert sheet.run.complete is True
        assert sheet.judge.model == model
        assert sheet.judge.base_url == server.base_url
        assert not sheet.judge.earlier_base_urls
        assert sheet.run.latency_p50_s
        assert len(sheet.run.batches) == 1


def test_a_judge_without_an_address_goes_on_with_a_batch(
    tmp_path: Path, asked: Mapping[str, Any]
) -> None:
    requests = exported(tmp_path, "sim/fair", asked)
    with serving(judge) as server:
        ingested(tmp_path, list(answered(requests[:5], server.base_url)))
    how = {"out": tmp_path / "run", "pdf": False, "cases": False, **asked}
    with pytest.raises(OtherRunError):
        judgesheet.probe("sim/random", **how)
    sheet = judgesheet.probe("sim/fair", **how).datasheet
    assert (sheet.run.complete, sheet.judge.model) == (True, "sim/fair")


def test_the_rest_of_a_probe_can_be_sent_as_a_batch(
    tmp_path: Path, asked: Mapping[str, Any]
) -> None:
    def refusing(request: Request, number: int) -> Answer:
        if "temperature" in request.body:
            return failure(400, message="temperature is not supported", param="temperature")
        return judge(request, number)

    folder, left = tmp_path / "run", tmp_path / "left.jsonl"
    how = {"out": folder, "pdf": False, "cases": False, "max_calls": 4, **asked}
    with serving(refusing) as server:
        begun = judgesheet.probe("openai/m", base_url=server.base_url, **how).datasheet
        judgesheet.plan("openai/m", None, left, resume=folder, **asked)
        rest = requests_in(left)
        assert begun.run.planned is not None
        assert begun.run.settled is not None
        assert len(rest) == begun.run.planned - begun.run.settled > 0
        assert not any("temperature" in request["body"] for request in rest)
        whole = ingested(tmp_path, list(answered(rest, server.base_url)))
    assert whole.run.complete is True
    assert whole.run.failed == 0
    assert whole.judge.model == "openai/m"
    for other in ({"seed": 5}, {"extra_body": {"top_p": 1}}):
        with pytest.raises(OtherRunError):
            judgesheet.plan("openai/m", None, left, resume=folder, **{**asked, **other})
    with pytest.raises(OtherRunError, match="openai/m"):
        judgesheet.plan("openai/n", None, left, resume=folder, **asked)
    with pytest.raises(UsageError, match="--export-batch"):
        judgesheet.plan("openai/m", resume=folder, **asked)


def test_a_plan_is_kept_until_another_takes_its_place_or_it_is_answered(
    tmp_path: Path, asked: Mapping[str, Any]
) -> None:
    def kept() -> tuple[str, str, int]:
        with Ledger.open(tmp_path / "run" / "ledger.sqlite") as ledger:
            return ledger.get_meta("plan"), ledger.judge_name, ledger.totals().attempts

    exported(tmp_path, "openai/other", {**asked, "seed": 5})
    requests = exported(tmp_path, "openai/m", asked)
    plan, _ = judgesheet.plan("openai/m", **asked)
    assert kept() == (plan.digest, "openai/m", 0)
    with serving(judge) as server:
        ingested(tmp_path, list(answered(requests[:4], server.base_url)))
    exported(tmp_path, "openai/m", asked)
    for other in ({"seed": 5}, {"extra_body": {"top_p": 1}}):
        with pytest.raises(OtherRunError):
            exported(tmp_path, "openai/m", {**asked, **other})
    assert kept() == (plan.digest, "openai/m", 4)


def test_results_are_taken_once_and_never_twice_differently(
    tmp_path: Path, asked: Mapping[str, Any]
) -> None:
    with serving(judge) as server:
        requests = exported(tmp_path, "openai/m", asked)
        answers = list(answered(requests, server.base_url))
    failed = {
        "custom_id": requests[0]["custom_id"],
        "response": None,
        "error": {"code": "batch_expired"},
    }
    changed = json.loads(json.dumps(answers[1]))
    changed["response"]["body"]["choices"][0]["message"]["content"] = "[RESULT] 9"
    for pair in ([answers[1], changed], [changed, failed, answers[1]]):
        with pytest.raises(StimuliError):
            ingested(tmp_path, pair)
        with Ledger.open(tmp_path / "run" / "ledger.sqlite") as ledger:
            assert not ledger.was_asked, "nothing is taken of such a file"
    first = ingested(tmp_path, [failed, *answers[1:3], answers[1]], answers[2:4], [failed])
    assert first.run.outcomes == {"ok": 3, "unavailable": 2}
    again = ingested(tmp_path, [failed, *answers[1:3], answers[1]], answers[2:4], [failed])
    assert again.run == first.run
    assert again.run.unmetered_attempts == 0, "what expired was never asked"
    with pytest.raises(StimuliError):
        ingested(tmp_path, [answers[5], changed])
    late = ingested(tmp_path, [answers[0], failed])
    assert (late.run.settled, late.run.failed) == (4, 0)


def test_an_answer_comes_in_for_a_call_that_was_given_up(
    tmp_path: Path, asked: Mapping[str, Any]
) -> None:
    with serving(judge) as server:
        requests = exported(tmp_path, "openai/m", asked)
        answers = list(answered(requests, server.base_url))
    expired = [
        {**line, "response": None, "error": {"code": "batch_expired"}} for line in answers[:2]
    ]
    ingested(tmp_path, [*expired, *answers[2:]])
    with Ledger.open(tmp_path / "run" / "ledger.sqlite", writable=True) as ledger:
        ledger.give_up()
    late = ingested(tmp_path, answers[:1])
    assert (late.run.complete, late.run.failed) == (True, 1)


@pytest.mark.parametrize(
    ("line", "outcome", "reason"),
    [
        ({"response": None, "error": {"code": "batch_expired"}}, "unavailable", "batch_expired"),
        ({"response": None, "error": {"code": "request_timeout"}}, "timeout", "request_timeout"),
        ({"response": None, "error": "it broke"}, "unavailable", None),
        (
            {"response": {"status_code": 400, "body": {"error": {"message": "no"}}}},
            "rejected",
            "HTTP 400",
        ),
        (
            {"response": {"status_code": 429, "body": None}, "error": None},
            "rate_limited",
            "HTTP 429",
        ),
        (
            {
                "response": {"status_code": 400, "body": None},
                "error": "maximum context length is 9",
            },
            "too_long",
            "HTTP 400",
        ),
        (
            {
                "response": {"status_code": 400},
                "error": {"error": {"message": "prompt is too long"}},
            },
            "too_long",
            "HTTP 400",
        ),
        ({"response": {"choices": [{"message": {"content": "x"}}]}, "error": None}, "ok", None),
        ({"response": {"status_code": True, "body": 7}}, "unavailable", None),
        ({"response": [[]], "error": []}, "unavailable", None),
        ({"result": {"type": "expired"}}, "unavailable", "expired"),
        ({"result": {"type": "canceled"}}, "unavailable", "canceled"),
        ({"result": {"type": ["x"]}}, "unavailable", None),
        ({"result": None}, "unavailable", None),
        ({"result": {"type": "succeeded", "message": "<html>"}}, "malformed", None),
        ({"result": {"type": "errored"}}, "unavailable", "HTTP 500"),
        (
            {
                "result": {
                    "type": "errored",
                    "error": {"type": "error", "error": {"type": "overloaded_error"}},
                }
            },
            "unavailable",
            "HTTP 529",
        ),
        (
            {
                "result": {
                    "type": "errored",
                    "error": {"type": "invalid_request_error", "message": "prompt is too long: 9"},
                }
            },
            "too_long",
            "HTTP 400",
        ),
        (
            {"result": {"type": "errored", "error": {"error": {"type": "authentication_error"}}}},
            "unauthorized",
            "HTTP 401",
        ),
    ],
)
def test_what_became_of_a_request(line: Line, outcome: str, reason: str | None) -> None:
    result = read_result(line)
    assert result is not None
    assert (result.answer.outcome, result.answer.finish_reason) == (outcome, reason)


def test_what_is_no_result_is_refused_in_one_sentence(
    tmp_path: Path, asked: Mapping[str, Any]
) -> None:
    (request, *_) = exported(tmp_path, "openai/m", asked)
    folder, file = tmp_path / "run", tmp_path / "odd.jsonl"
    good = json.dumps({"custom_id": request["custom_id"], "result": {"type": "expired"}})
    for line, words in {
        json.dumps(request): "this is not a result of a batch",
        good[:50]: "not JSON .* is the file complete",
        "[]": "a JSON list",
        '{"custom_id": "x", "result": {}}': "custom_id is not in the plan",
        '{"result": {}}': "custom_id is not in the plan",
    }.items():
        file.write_text(f"{good}\n{line}", encoding="utf-8")
        done = run("ingest", file, "--out", folder, "--no-pdf")
        assert re.search(f"odd.jsonl:2: {words}", sentence(done)), done.stderr
    with Ledger.open(folder / "ledger.sqlite") as ledger:
        assert not ledger.was_asked
    file.write_text("")
    assert "holds no judgments" in sentence(run("ingest", file, file, "--out", folder))


def test_the_command_says_what_is_missing_and_how_to_go_on(
    tmp_path: Path, asked: Mapping[str, Any]
) -> None:
    folder, file = tmp_path / "run", tmp_path / "batch.jsonl"
    plan = ("plan", "--model", "openai/m", "--axis", "score_order", "--profile", "smoke",
            "--stimuli", asked["stimuli"], "--export-batch", file)  # fmt: skip
    done = run(*plan, "--out", folder / "plan.jsonl")
    requests = requests_in(file)
    assert f"{file}: {len(requests)} requests" in done.stderr
    with serving(judge) as server:
        some = list(answered(requests[:5], server.base_url))
    some.append({"custom_id": requests[5]["custom_id"], "response": None,
                 "error": {"code": "batch_expired", "message": "the window ended"}})  # fmt: skip
    errors, results = tmp_path / "errors.jsonl", write_results(tmp_path / "results.jsonl", some)
    errors.write_text("")
    done = run("ingest", results, errors, "--out", folder, "--no-pdf", "--no-cases")
    assert done.returncode == 5, done.stderr
    assert f"{len(requests) - 5} of {len(requests)} calls have no answer" in done.stderr
    assert f"--resume {folder}" in done.stderr
    assert "batch_expired: the window ended" in done.stderr
    done = run(*plan, "--resume", folder)
    assert requests_in(file) == requests[5:]
    assert "--export-batch" in sentence(run(*plan[:-2], "--resume", folder), 2)

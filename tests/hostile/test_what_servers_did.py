"""What a server did to a run is said by its name, on standard error and on the sheet."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from judgesheet.cli import main
from tests.judges.loopback import Answer, Request, Script, completion, failure, serving

KEY = "sk-live-0123456789abcdef"


def probe(script: Script, out: Path, monkeypatch: pytest.MonkeyPatch) -> Result:
    """A small probe of a server on loopback."""
    monkeypatch.setenv("JUDGE_KEY", KEY)
    with serving(script) as server:
        options = ["--base-url", server.base_url, "--api-key-env", "JUDGE_KEY", "--out", str(out)]
        extent = ["--axis", "candidate_order", "--profile", "smoke", "--reply", "json", "--no-pdf"]
        judge = ["--model", "openai-compatible/m", "--quiet"]
        return CliRunner().invoke(main, ["probe", *judge, *options, *extent])


def verdict() -> Answer:
    return completion('{"winner": "tie"}')


@pytest.mark.usefixtures("pages")
def test_two_served_models_are_named_with_their_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(_: Request, number: int) -> Answer:
        body, model = json.loads(verdict().body or b""), "m-may" if number <= 10 else "m-june"
        return Answer(json.dumps({**body, "model": model}).encode())

    result = probe(script, tmp_path / "run", monkeypatch)
    assert result.exit_code == 0
    planned = json.loads((tmp_path / "run/datasheet.json").read_text())["run"]["planned"]
    named = f"2 models answered under one name: m-june ({planned - 10} calls), m-may (10 calls)"
    assert named in " ".join(result.stdout.split())  # lines are broken at 100
    page = (tmp_path / "run/datasheet.html").read_text().replace("\u00a0", " ")
    assert named in page


def test_one_served_model_is_no_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = probe(lambda *_: verdict(), tmp_path / "run", monkeypatch)
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("location", "host"),
    [
        (f"https://other.example/v1?key={KEY}", "other.example"),
        (f"https://user:{KEY}@other.example:8443/", "other.example"),
        (f"https://{KEY}.other.example/", "[redacted].other.example"),
        ("/v2/chat", "another path of its own"),
        ("http://[", "an address that cannot be read"),
    ],
)
def test_a_redirect_is_called_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, location: str, host: str
) -> None:
    result = probe(
        lambda *_: Answer(b"", 308, {"Location": location}), tmp_path / "run", monkeypatch
    )
    assert result.exit_code == 5
    assert f"HTTP 308: the server redirects to {host}" in result.stderr
    assert KEY not in result.stderr + result.stdout
    assert KEY.encode() not in (tmp_path / "run/ledger.sqlite").read_bytes()


SAID = f"worker \x1b[31mdied\u202e of {KEY}"


@pytest.mark.parametrize(
    "body", [json.dumps({"error": {"message": SAID}}), f"<h1>{SAID}</h1>"], ids=["json", "html"]
)
@pytest.mark.usefixtures("pages")
def test_a_500_is_reported_as_what_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    wrong = Answer(body.encode(), 500, {"Retry-After": "0"})
    result = probe(
        lambda _, number: wrong if number in {3, 9} else verdict(), tmp_path / "run", monkeypatch
    )
    reported = "HTTP 500: worker [U+001B][31mdied[U+202E] of [redacted]"
    assert result.exit_code == 0
    assert f"failed attempts: 2 × unavailable ({reported})" in result.stderr
    sheet = json.loads((tmp_path / "run/datasheet.json").read_text())
    assert sheet["run"]["failures"] == [{"outcome": "unavailable", "said": reported, "attempts": 2}]
    page = (tmp_path / "run/datasheet.html").read_text()
    assert "worker [U+001B][31mdied" in page
    for text in (result.stderr, page, json.dumps(sheet)):
        assert KEY not in text
        assert "\x1b" not in text


def test_a_run_that_stops_says_the_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = failure(401, message="who are you")
    result = probe(lambda *_: answer, tmp_path / "run", monkeypatch)
    assert "HTTP 401: who are you" in result.stderr

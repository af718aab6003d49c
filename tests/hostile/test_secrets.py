"""No secret is written anywhere, whoever quotes it: ledger, sheets, logs, sentences."""

import asyncio
import io
import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from judgesheet.base.errors import JudgesheetError, UsageError
from judgesheet.collect.sweep import parse_sweep
from judgesheet.judges import Connection, open_judge
from judgesheet.judges.redaction import (
    Redaction,
    is_secret_name,
    is_token,
    secrets_in,
    without_secrets,
    without_userinfo,
)
from tests.command import run
from tests.judges.loopback import Answer, Request, make_call, serving
from tests.sheet.pdf_text import page_texts

KEY, QUERY, PASSWORD = "sk-header-0123456789", "q/uery+key=0123", "pass:word-0123456"
TOKEN, FIELD, NESTED = "a1B2c3D4e5F6g7H8i9J0", "field-secret-0123", "nested-secret-0123"
SECRETS = (KEY, QUERY, PASSWORD, TOKEN, FIELD, NESTED)
SIM = ("probe", "--model", "sim/fair", "--axis", "score_order", "--profile", "smoke", "--no-pdf")


def spellings(secret: str) -> set[bytes]:
    return {
        secret.encode(),
        quote(secret, safe="").encode(),
        quote(secret, safe="").lower().encode(),
    }


def parrot(request: Request, _number: int) -> Answer:
    """Quotes all that it was sent, as a gateway's debug mode does."""
    sent = f"{request.path} {dict(request.headers)} {json.dumps(request.body)}"
    said = f"<think>{sent}</think>\n[RESULT] 3"
    body = {"choices": [{"message": {"content": said}}], "model": request.path, "debug": said}
    return Answer(json.dumps(body).encode())


@pytest.mark.usefixtures("pages", "pango")
def test_a_run_holds_no_secret(tmp_path: Path) -> None:
    from pypdf import PdfReader

    with serving(parrot) as server:
        user = f"//someone:{quote(PASSWORD, safe='')}@"
        url = f"{server.base_url.replace('//', user)}/{TOKEN}?api-key={quote(QUERY, safe='')}"
        # The second goes on with the same run.
        for field, more in ((FIELD, ("--no-pdf",)), (f"{FIELD}-renewed", ())):
            extra = {"api_key": field, "metadata": [{"accessToken": NESTED}], "max_tokens": 99}
            done = run(
                *("probe", "--model", "openai-compatible/m", "--base-url", url),
                *("--api-key-env", "MY_KEY", "--extra-body", json.dumps(extra)),
                *("--axis", "score_order", "--profile", "smoke", "--out", tmp_path / "run", *more),
                MY_KEY=KEY,
            )
            assert done.returncode == 0, done.stderr
            asked = server.requests[0]
    assert asked.body["api_key"] == FIELD
    assert asked.body["metadata"] == [{"accessToken": NESTED}]
    texts = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()}
    texts["pages"] = "".join(page_texts(texts["datasheet.pdf"])).encode()
    attached = PdfReader(io.BytesIO(texts["datasheet.pdf"])).attachments
    texts["attached"] = b"".join(attached["datasheet.json"])
    texts["printed"] = (done.stdout + done.stderr).encode()
    for name, text in texts.items():
        for secret in SECRETS:
            assert not any(spelling in text for spelling in spellings(secret)), (name, secret)
    assert b"[redacted]" in texts["ledger.sqlite"]


@pytest.mark.parametrize("secret", [QUERY, 'ü/ключ "key', KEY, "short-00"])
def test_a_secret_is_redacted_as_addresses_and_json_have_it(secret: str) -> None:
    redacted = Redaction([secret])
    quoted = quote(secret, safe="")
    for text in (secret, quoted, quoted.lower(), json.dumps(secret)):
        assert redacted(f"say {text}!").replace('"', "") == "say [redacted]!"


@pytest.mark.parametrize(
    "name",
    ["api_key", "apiKey", "API-KEY", "key", "token", "access_token", "client_secret", "password",
     "Authorization", "authorization", "accessToken", "x-api-key"],
)  # fmt: skip
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)
    with pytest.raises(UsageError):
        parse_sweep(f"{name}=aaaaaaaa,bbbbbbbb")


@pytest.mark.parametrize(
    "name",
    [
        "max_tokens",
        "top_k",
        "stop_token_ids",
        "stop_tokens",
        "access_level",
        "tokenizer",
        "keys_only",
        "monkey",
        "",
    ],
)
def test_other_names(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("part", "secret"),
    [("sk-abc", True), (TOKEN, True), ("123e4567-e89b-12d3-a456-426614174000", True), ("v1", False),
     ("gpt-4o-mini-2024-07-18", False), ("deployments", False), ("chat", False)],
)  # fmt: skip
def test_tokens_in_paths(part: str, secret: bool) -> None:
    assert is_token(part) is secret


@pytest.mark.parametrize(
    "message",
    ["407, url='http://me:hunter2@proxy:3128'", "cannot reach me:hunter2@proxy", "//hunter2@h"],
)
def test_complaints_name_no_password(message: str) -> None:
    assert "hunter2" not in without_userinfo(message)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_proxy_that_refuses_is_quoted_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving(lambda _request, _number: Answer(b"", 407)) as proxy:
        address = proxy.base_url.removesuffix("/v1").replace("//", "//me:hunter2@")
        monkeypatch.setenv("https_proxy", address)
        monkeypatch.setenv("no_proxy", "")
        connection = Connection(base_url="https://judge.invalid/v1", timeout_s=20)

        async def ask() -> str:
            async with open_judge("openai-compatible/m", connection) as judge:
                return repr(await judge.ask(make_call("a"), 1))

        said = asyncio.run(ask())
    assert "unavailable" in said
    assert "hunter2" not in said


@pytest.mark.parametrize("typed", ["sk-proj-0123456789", "abcdef0123456789abcdef", "a b"])
def test_a_key_in_the_place_of_its_name_is_not_repeated(typed: str, tmp_path: Path) -> None:
    words = ("--model", "openai/x", "--api-key-env", typed)
    for command in (("probe", "--out", tmp_path / "run"), ("doctor",)):
        done = run(*command, *words)
        assert done.returncode
        assert typed not in done.stdout + done.stderr


def test_what_a_function_raises_is_redacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "leaky_judge.py").write_text(
        "import os\n"
        "def judge(messages):\n"
        "    raise ValueError('bad key ' + os.environ['MY_API_KEY'])"
    )
    (tmp_path / "leaky_import.py").write_text(
        "import os\nraise ValueError(os.environ['MY_API_KEY'])"
    )
    monkeypatch.setenv("MY_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    judge = open_judge("python/leaky_judge:judge", Connection())
    reply = asyncio.run(judge.ask(make_call("a"), 1))
    assert "bad key [redacted]" in reply.raw
    with pytest.raises(JudgesheetError, match=r"\[redacted\]"):
        open_judge("python/leaky_import:judge", Connection())


@pytest.mark.parametrize("start", range(len(KEY) - 11))
@pytest.mark.parametrize("length", [12, 14])
def test_twelve_signs_of_a_key_are_redacted(start: int, length: int) -> None:
    part = KEY[start : start + length]
    for quoted in (part, part.upper()):
        reported = Redaction([KEY, "another-secret"])(f"the key {quoted}**** is wrong")
        assert reported == "the key [redacted]**** is wrong"


@pytest.mark.parametrize("text", ["**bold**", KEY[:11], KEY[5:16], "a header with 0123", " " * 40])
def test_other_words_are_left_alone(text: str) -> None:
    assert Redaction([KEY])(text) == text


def test_letters_that_grow_in_small_and_halves_of_characters_move_no_cut() -> None:
    around = "İİ \ud800 Größe "
    assert Redaction([KEY])(f"{around}{KEY.upper()}{around}") == f"{around}[redacted]{around}"


def test_a_key_in_the_host_of_a_redirect_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    moved = {"Location": f"https://{KEY}.example.com/v1"}
    with serving(lambda *_: Answer(b"", 307, moved)) as server:
        connection = Connection(base_url=server.base_url, api_key_env="MY_KEY")

        async def ask() -> str:
            async with open_judge("openai-compatible/m", connection) as judge:
                return repr(await judge.ask(make_call("a"), 1))

        assert "[redacted].example.com" in asyncio.run(ask())


@pytest.mark.parametrize(
    "extra",
    [
        {"pw": FIELD},
        {"access": FIELD},
        {"keys": [FIELD, {"of": FIELD}]},
        {"api_keys": {"first": FIELD}},
        {"nested": [{"passwords": [[FIELD]]}]},
    ],
)
def test_fields_of_a_request_that_are_secret(extra: dict[str, Any]) -> None:
    assert FIELD not in json.dumps(without_secrets(extra))
    assert FIELD in [*secrets_in(extra)]


@pytest.mark.parametrize("model", ["openai/{}", "{}", "mistral/x/{}"])
@pytest.mark.parametrize("key", ["sk-proj-0123456789abcdef", "hf_0123456789012345678901"])
def test_a_key_in_the_place_of_the_model_is_refused(model: str, key: str, tmp_path: Path) -> None:
    for command in (("probe", "--out", tmp_path / "run"), ("plan",), ("doctor",)):
        done = run(*command, "--model", model.format(key))
        assert done.returncode in {1, 2}
        assert key not in done.stdout + done.stderr
    assert not (tmp_path / "run").exists()


def test_the_key_of_the_environment_in_the_place_of_the_model_is_refused() -> None:
    done = run(
        "plan", "--model", "openai/of-an-odd-form-0123", OPENAI_API_KEY="of-an-odd-form-0123"
    )
    assert done.returncode == 2
    assert "odd-form" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("umask", "folder", "file"), [(0o022, 0o700, 0o600), (0o277, 0o500, 0o400)]
)
def test_a_new_run_is_its_owners(umask: int, folder: int, file: int, tmp_path: Path) -> None:
    if umask == 0o277 and os.geteuid():
        pytest.skip("only root may write there")
    out = tmp_path / "deep" / "run"
    before = os.umask(umask)
    try:
        done = run(*SIM, "--out", out)
    finally:
        os.umask(before)
    assert done.returncode == 0, done.stderr
    assert out.stat().st_mode & 0o777 == folder
    files = {one.name: one.stat().st_mode & 0o777 for one in out.rglob("*") if one.is_file()}
    assert "ledger.sqlite" in files
    assert set(files.values()) == {file}, files

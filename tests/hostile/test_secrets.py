"""No secret is written anywhere, whoever quotes it: ledger, sheets, logs, sentences."""

import asyncio
import html
import io
import json
from pathlib import Path
from urllib.parse import quote

import pytest

from judgesheet.base.errors import JudgesheetError, UsageError
from judgesheet.collect.knob import parse_knob
from judgesheet.judges import Connection, open_judge
from judgesheet.judges.redaction import Redaction, is_secret_name, is_token, without_userinfo
from tests.command import run, start
from tests.judges.loopback import Answer, Request, make_call, serving

KEY, QUERY, PASSWORD = "sk-header-0123456789", "q/uery+key=0123", "pass:word-0123456"
TOKEN, FIELD, NESTED = "a1B2c3D4e5F6g7H8i9J0", "field-secret-0123", "nested-secret-0123"
SECRETS = (KEY, QUERY, PASSWORD, TOKEN, FIELD, NESTED)


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


def test_a_run_holds_no_secret(tmp_path: Path) -> None:
    from pypdf import PdfReader

    with serving(parrot) as server:
        user = f"//someone:{quote(PASSWORD, safe='')}@"
        url = f"{server.base_url.replace('//', user)}/{TOKEN}?api-key={quote(QUERY, safe='')}"
        # The second goes on with the same run.
        for field, more in ((FIELD, ("--no-pdf",)), (f"{FIELD}-renewed", ())):
            extra = {"api_key": field, "metadata": [{"accessToken": NESTED}], "max_tokens": 99}
            done = start(
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
    pages = PdfReader(io.BytesIO(texts["datasheet.pdf"]))
    texts["pages"] = "".join(page.extract_text() for page in pages.pages).encode()
    texts["attached"] = b"".join(pages.attachments["datasheet.json"])
    texts["printed"] = (done.stdout + done.stderr).encode()
    for name, text in texts.items():
        for secret in SECRETS:
            assert not any(spelling in text for spelling in spellings(secret)), (name, secret)
    assert b"[redacted]" in texts["ledger.sqlite"]


@pytest.mark.parametrize("secret", [QUERY, "ü/ключ key", KEY])
def test_every_spelling_is_redacted(secret: str) -> None:
    redacted = Redaction([secret])
    for text in (quote(secret, safe=""), quote(secret), quote(secret, safe="").lower(),
                 json.dumps(secret), json.dumps(json.dumps(secret)), quote(quote(secret, safe="")),
                 html.escape(secret).replace("/", "&#x2F;").replace("=", "&#61;"),
                 "".join(f"&#{ord(one):03d};" for one in secret)):  # fmt: skip
        assert secret not in redacted(text)
        assert redacted(text).strip('\\"') == "[redacted]"


@pytest.mark.parametrize(
    "name",
    ["api_key", "apiKey", "API-KEY", "key", "token", "access_token", "client_secret", "password",
     "Authorization", "authorization", "accessToken", "x-api-key"],
)  # fmt: skip
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)
    with pytest.raises(UsageError):
        parse_knob(f"{name}=aaaaaaaa,bbbbbbbb")


@pytest.mark.parametrize(
    "name", ["max_tokens", "top_k", "stop_token_ids", "tokenizer", "keys_only", "monkey", ""]
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

"""The examples of docs/corporate.md, each against a real server of its kind."""

import asyncio
import hashlib
import hmac
import json
import ssl
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import trustme

from judgesheet.base.errors import UsageError
from judgesheet.base.records import Reply
from judgesheet.judges import Connection, open_judge
from tests.command import run, sentence, start
from tests.judges.loopback import Answer, Request, completion, failure, make_call, serving

EXAMPLES = Path(__file__).parents[2] / "examples" / "corporate"
SECRET = "the-client-secret-0123456789"


@pytest.fixture(autouse=True)
def beside_the_examples(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.syspath_prepend(EXAMPLES)
    yield
    for example in EXAMPLES.glob("*.py"):
        sys.modules.pop(example.stem, None)


def ask(base_url: str, times: int = 1, at_once: int = 4, **how: Any) -> list[Reply]:
    async def main() -> list[Reply]:
        connection, replies = Connection(base_url, timeout_s=20, **how), []
        async with open_judge("openai-compatible/m", connection) as judge:
            for start in range(0, times, at_once):
                calls = [make_call(f"call {n}") for n in range(start, min(start + at_once, times))]
                replies += await asyncio.gather(*(judge.ask(call, 1) for call in calls))
        return replies

    return asyncio.run(main())


def always(answer: Answer) -> Callable[[Request, int], Answer]:
    return lambda _request, _number: answer


# -- tokens that expire ----------------------------------------------------------------------------


class Gateway:
    """Takes the newest token alone; `age` requests after it was given the next one is needed."""

    def __init__(self, age: int, expires_in: int = 3600) -> None:
        self.age = age
        self.expires_in = expires_in
        self.tokens: list[str] = []
        self.served = 0

    def __call__(self, request: Request, _number: int) -> Answer:
        if request.path == "/token":
            form = parse_qs(request.body)
            assert form["grant_type"] == ["client_credentials"]
            assert form["client_secret"] == [SECRET]
            self.tokens.append(f"a-token-that-is-secret-{len(self.tokens)}")
            self.served = 0
            reported = {"access_token": self.tokens[-1], "expires_in": self.expires_in}
            return Answer(json.dumps(reported).encode())
        sent = request.headers["authorization"]
        self.served += 1
        if sent != f"Bearer {self.tokens[-1]}" or self.served > self.age:
            return failure(401, message=f"{sent} is expired, {SECRET} too")
        return completion(f"<think>I was sent {sent}</think>[RESULT] 3")


@pytest.fixture
def oauth(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def use(base_url: str) -> None:
        monkeypatch.setenv("OAUTH_TOKEN_URL", base_url.replace("/v1", "/token"))
        monkeypatch.setenv("OAUTH_CLIENT_ID", "a-client")
        monkeypatch.setenv("OAUTH_CLIENT_SECRET", SECRET)

    return use


def test_a_token_that_expires_is_renewed_while_a_run_goes_on(
    oauth: Callable[[str], None],
) -> None:
    gateway = Gateway(age=10)
    with serving(gateway) as server:
        oauth(server.base_url)
        replies = ask(server.base_url, times=25, auth="oauth:factory")
    assert [reply.outcome for reply in replies] == ["ok"] * 25
    assert len(gateway.tokens) == 3
    for secret in (*gateway.tokens, SECRET):
        assert secret not in repr(replies)
    assert "sent Bearer [redacted]" in replies[0].text


def test_a_token_is_renewed_before_it_expires(oauth: Callable[[str], None]) -> None:
    gateway = Gateway(age=10_000, expires_in=60)  # at once, with the minute that is kept back
    with serving(gateway) as server:
        oauth(server.base_url)
        replies = ask(server.base_url, times=3, at_once=1, auth="oauth:factory")
    assert [reply.outcome for reply in replies] == ["ok"] * 3
    assert len(gateway.tokens) == 3


@pytest.mark.parametrize(("status", "outcome"), [(401, "unauthorized"), (503, "unavailable")])
def test_a_token_that_is_not_given_is_reported_without_its_secret(
    status: int, outcome: str, oauth: Callable[[str], None]
) -> None:
    def refuse(request: Request, _number: int) -> Answer:
        return failure(status, message=f"not for {request.body}")

    with serving(refuse) as server:
        oauth(server.base_url)
        (reply,) = ask(server.base_url, auth="oauth:factory")
    assert reply.outcome == outcome
    assert str(status) in reply.raw
    assert SECRET not in repr(reply)


# -- signed requests -------------------------------------------------------------------------------


KEY_ID, AWS_SECRET = "AKIDEXAMPLE012345678", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


def signature(request: Request, body: bytes) -> str:
    """The signature that AWS documents for these headers, apart from botocore."""
    reported = request.headers["authorization"]
    scope, names = reported.split("Credential=")[1].split(","), reported.split("SignedHeaders=")[1]
    _, date, region, service, kind = scope[0].split("/")
    signed = names.split(",")[0]
    lines = "".join(f"{name}:{request.headers[name]}\n" for name in signed.split(";"))
    digest = hashlib.sha256(body).hexdigest()
    canonical = "\n".join(["POST", request.path, "", lines, signed, digest])
    stamped = hashlib.sha256(canonical.encode()).hexdigest()
    when = request.headers["x-amz-date"]
    words = f"AWS4-HMAC-SHA256\n{when}\n{date}/{region}/{service}/{kind}\n{stamped}"
    key = f"AWS4{AWS_SECRET}".encode()
    for part in (date, region, service, kind):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, words.encode(), "sha256").hex()


def test_every_request_is_signed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("botocore")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", AWS_SECRET)
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))

    def verify(request: Request, _number: int) -> Answer:
        body = json.dumps(request.body).encode()
        if request.headers["authorization"].endswith(f"Signature={signature(request, body)}"):
            return completion(f"[RESULT] 3 {request.headers['authorization']}")
        return failure(403, message=f"{request.headers['authorization']} does not match")

    with serving(verify) as server:
        replies = ask(server.base_url, times=8, auth="sigv4:factory")
        reported = [request.headers["authorization"] for request in server.requests]
    assert [reply.outcome for reply in replies] == ["ok"] * 8
    assert len({one.rpartition("=")[2] for one in reported}) == 8
    for one in reported:
        assert one.rpartition("=")[2] not in repr(replies)
    assert KEY_ID not in repr(replies)


# -- client certificates ---------------------------------------------------------------------------


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


def tls(authority: trustme.CA, asks_for: trustme.CA | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    if asks_for:
        context.verify_mode = ssl.CERT_REQUIRED
        asks_for.configure_trust(context)
    return context


def shown(
    monkeypatch: pytest.MonkeyPatch, folder: Path, server: trustme.CA, client: trustme.CA
) -> None:
    """Set the variables of the example: whom to trust, and a certificate of the client's CA."""
    certificate = client.issue_cert("judge@example.org")
    for name, blob in (
        ("GATEWAY_CA_FILE", server.cert_pem),
        ("CLIENT_CERT_FILE", certificate.cert_chain_pems[0]),
        ("CLIENT_KEY_FILE", certificate.private_key_pem),
    ):
        blob.write_to_path(str(folder / name))
        monkeypatch.setenv(name, str(folder / name))


def test_a_client_certificate_is_shown(
    authority: trustme.CA, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shown(monkeypatch, tmp_path, authority, authority)
    with serving(always(completion("[RESULT] 3")), tls=tls(authority, authority)) as server:
        replies = ask(server.base_url, times=8, auth="client_certificate:factory")
    assert [reply.outcome for reply in replies] == ["ok"] * 8


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_client_certificate_that_is_wrong_or_lacking_is_reported(
    version: ssl.TLSVersion,
    is_there: bool,
    authority: trustme.CA,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    context = tls(authority, authority)
    context.maximum_version = version
    auth = "client_certificate:factory" if is_there else None
    shown(monkeypatch, tmp_path, authority, trustme.CA())
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "GATEWAY_CA_FILE"))
    with serving(always(completion("[RESULT] 3")), tls=context) as server:

        async def main() -> tuple[Reply, str]:
            connection = Connection(server.base_url, timeout_s=20, auth=auth)
            async with open_judge("openai-compatible/m", connection) as judge:
                reply = await judge.ask(make_call(), 1)
                return reply, str(judge.advise(reply))

        reply, advice = asyncio.run(main())
    # Since TLS 1.3 the connection may end before the client learns why.
    is_reported = version is ssl.TLSVersion.TLSv1_2
    assert reply.outcome == "unreachable" or (reply.outcome == "unavailable" and not is_reported)
    assert "certificate" in advice


def test_a_certificate_that_is_not_trusted_is_reported_with_its_reason_and_the_remedy(
    authority: trustme.CA, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    with serving(always(completion("[RESULT] 3")), tls=tls(authority)) as server:

        async def main() -> tuple[Reply, str | None]:
            async with open_judge("openai-compatible/m", Connection(server.base_url)) as judge:
                reply = await judge.ask(make_call(), 1)
                return reply, judge.advise(reply)

        reply, advice = asyncio.run(main())
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        (trusted,) = ask(server.base_url)
    assert reply.outcome == "unreachable"
    assert "unable to get local issuer certificate" in reply.raw
    assert "SSL_CERT_FILE" in str(advice)
    assert trusted.outcome == "ok"


def test_a_certificate_of_another_host_is_reported(
    authority: trustme.CA, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("another.example.org").configure_cert(context)
    with serving(always(completion("[RESULT] 3")), tls=context) as server:
        (reply,) = ask(server.base_url)
    assert reply.outcome == "unreachable"
    assert "127.0.0.1" in reply.raw


# -- unix sockets ----------------------------------------------------------------------------------


def test_a_unix_socket_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    socket = tmp_path / "judge.sock"
    monkeypatch.setenv("JUDGE_SOCKET", str(socket))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # a proxy cannot reach it
    with serving(always(completion("[RESULT] 3")), uds=socket) as server:
        replies = ask("http://localhost/v1", times=8, auth="unix_socket:factory")
        assert server.requests[0].headers["host"] == "localhost"
    assert [reply.outcome for reply in replies] == ["ok"] * 8


def test_a_socket_that_is_not_there_is_unavailable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JUDGE_SOCKET", str(tmp_path / "none"))
    (reply,) = ask("http://localhost/v1", auth="unix_socket:factory")
    assert (reply.outcome, reply.finish_reason) == ("unavailable", "not connected")


# -- which judges take one -------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["sim/fair", "python/json:dumps", "litellm/openai/m"])
def test_judges_that_send_their_requests_themselves_take_none(model: str) -> None:
    with pytest.raises(UsageError):
        open_judge(model, Connection(auth="oauth:factory"))


# -- whole runs ------------------------------------------------------------------------------------

SMOKE = ("--axis", "score_order", "--profile", "smoke", "--reply", "text", "--no-pdf")


def test_a_run_with_tokens_holds_none_of_them(tmp_path: Path) -> None:
    gateway = Gateway(age=30)
    with serving(gateway) as server:
        words = (
            *("probe", "--model", "openai/m", "--base-url", server.base_url, *SMOKE),
            *("--auth", "oauth:factory", "--concurrency", "4", "--out", tmp_path / "run"),
        )
        oauth = {
            "OAUTH_TOKEN_URL": server.base_url.replace("/v1", "/token"),
            "OAUTH_CLIENT_ID": "a-client",
            "OAUTH_CLIENT_SECRET": SECRET,
        }
        done = start(*words, cwd=EXAMPLES, **oauth)
        asked = len(server.requests)
        again = run(*words, cwd=EXAMPLES)  # nothing is left to ask, so there is no token to fetch
        assert len(server.requests) == asked
    assert (done.returncode, again.returncode) == (0, 0), done.stderr + again.stderr
    assert len(gateway.tokens) > 2
    kept = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()}
    kept["printed"] = (done.stdout + done.stderr).encode()
    for name, content in kept.items():
        for secret in (*gateway.tokens, SECRET):
            assert secret.encode() not in content, name
    assert b"sent Bearer [redacted]" in kept["ledger.sqlite"]


def test_a_certificate_that_is_not_trusted_ends_a_run_at_once(
    authority: trustme.CA, tmp_path: Path
) -> None:
    with serving(always(completion("[RESULT] 3")), tls=tls(authority)) as server:
        done = run(
            *("probe", "--model", "openai-compatible/m", "--base-url", server.base_url, *SMOKE),
            *("--quiet", "--out", tmp_path / "run"),
        )
    said = sentence(done, 5)
    assert "unable to get local issuer certificate" in said
    assert "SSL_CERT_FILE" in said


@pytest.mark.parametrize(
    ("model", "named"), [("openai/m", "oauth:nobody"), ("sim/fair", "oauth:factory")]
)
@pytest.mark.parametrize("command", ["plan", "probe"])
def test_a_wrong_option_is_wrong_use(command: str, model: str, named: str, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "run") if command == "probe" else ()
    done = run(command, "--model", model, "--auth", named, *SMOKE[:4], *out, cwd=EXAMPLES)
    assert "oauth" in sentence(done, 2) or "--auth" in sentence(done, 2)
    assert not (tmp_path / "run").exists()


def test_a_plan_needs_no_token() -> None:
    done = run("plan", "--model", "openai/m", "--auth", "oauth:factory", *SMOKE[:4], cwd=EXAMPLES)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("only_endpoint")
def test_doctor_asks_with_it(oauth: Callable[[str], None]) -> None:
    with serving(Gateway(age=1000)) as server:
        oauth(server.base_url)
        words = ("--model", "openai/m", "--base-url", server.base_url, "--auth", "oauth:factory")
        done = run("doctor", *words, cwd=EXAMPLES)
    assert f"{server.base_url} answers" in done.stdout, done.stdout
    assert SECRET not in done.stdout + done.stderr

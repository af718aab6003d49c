"""Secrets stay out of the record, also where a server quotes them.

Known to be secret are keys, passwords, all values of an address's query, fields of a body and
variables of the environment that are named like secrets, and parts of an address's path that look
like tokens. Whatever else is secret cannot be known to be (docs/judges.md).
"""

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from judgesheet.judges.providers import PROVIDERS

SHORTEST_SECRET = 8  # characters; "none" and "EMPTY" protect nothing, and are words of replies
RUN = 12  # signs of a secret in a row that are one

REDACTED = "[redacted]"
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_SECRET_NAMES = {"key", "apikey", "token", "secret", "password", "passwd", "passphrase", "pw",
                 "pwd", "authorization", "auth", "access", "credential", "cookie",
                 "keys", "apikeys", "secrets", "passwords", "credentials", "cookies"}  # fmt: skip
_TOKEN = re.compile(
    r"sk-.+|(?=.*[0-9])(?=.*[A-Za-z]).*[A-Za-z0-9]{16,}.*"
    r"|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
)
_USERINFO = re.compile(r"[^\s/'\"()<>]+@(?=[\w.\[-])")


def is_secret_name(name: str) -> bool:
    """Whether what has this name is a secret: `api_key`, `accessToken`, but not `max_tokens`."""
    # The last word says what a thing is: `max_tokens` is a number, `token_limit` too.
    words = _WORDS.findall(name)
    return bool(words) and words[-1].lower() in _SECRET_NAMES


def is_token(part: str) -> bool:
    """Whether a part of a path looks like a token: a long run of letters and digits, or a UUID."""
    return _TOKEN.fullmatch(part) is not None


def without_secrets(value: Any) -> Any:
    """A JSON value with `[redacted]` for every text in a field that is named like a secret."""
    if isinstance(value, Mapping):
        return {
            name: _with_no_text(part) if is_secret_name(str(name)) else without_secrets(part)
            for name, part in value.items()
        }
    return [*map(without_secrets, value)] if isinstance(value, list | tuple) else value


def _with_no_text(value: Any) -> Any:
    if isinstance(value, str):
        return REDACTED
    if isinstance(value, Mapping):
        return {name: _with_no_text(part) for name, part in value.items()}
    return [*map(_with_no_text, value)] if isinstance(value, list | tuple) else value


def secrets_in(value: Any) -> Iterator[str]:
    """What `without_secrets` takes out of a value."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from (_texts(part) if is_secret_name(str(name)) else secrets_in(part))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from secrets_in(part)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part)


def without_userinfo(text: str) -> str:
    """A message with `[redacted]@` in the place of the credentials of every address in it."""
    return _USERINFO.sub(f"{REDACTED}@", text)


def address_without_secrets(address: Any) -> str | None:
    """An address without credentials, query and tokens in its path; None stays None."""
    if address is None:
        return None
    try:
        parts = urlsplit(str(address))
    except ValueError:
        return REDACTED
    host = parts.netloc.rpartition("@")[2]
    path = "/".join(REDACTED if is_token(part) else part for part in parts.path.split("/"))
    return urlunsplit((parts.scheme, host, path, "", ""))


def identity_without_secrets(identity: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a judge, as it is kept today: older versions wrote secrets down."""
    clean: dict[str, Any] = without_secrets(identity)
    if "base_url" in clean:
        clean["base_url"] = address_without_secrets(clean["base_url"])
    return clean


class Redaction:
    """Removes known secrets from texts, and what is left of one that was masked or cut."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.known = sorted({secret for secret in secrets if len(secret) >= SHORTEST_SECRET})
        forms = {_lowered(form) for secret in self.known for form in _forms(secret)}
        self._forms = sorted(forms, key=len, reverse=True)  # one may begin with another
        self.longest = max(map(len, forms), default=0)
        """Characters that one takes up."""

    def __call__(self, text: str) -> str:
        """The text with `[redacted]` for any twelve signs of a secret in a row, in any case."""
        if not self.known:
            return text
        low, pieces, at = _lowered(text), [], 0
        for form in self._forms:
            low = low.replace(form, _TAKEN * len(form))
        parts = {run for form in self._forms for run in _runs(low, form)}
        for start, end in sorted(parts | {one.span() for one in re.finditer(f"{_TAKEN}+", low)}):
            if start >= at:
                pieces += [text[at:start], REDACTED]
            at = max(at, end)
        return "".join((*pieces, text[at:]))

    def with_these(self, secrets: Collection[str]) -> "Redaction":
        """One that removes these secrets too."""
        return Redaction([*self.known, *secrets]) if secrets else self


def of_environment(others: Iterable[str] = ()) -> Redaction:
    """Removes the secrets that lie in the environment, known by their names, and these others."""
    keys = {provider.key_env for provider in PROVIDERS.values()}
    known = (name for name in os.environ if is_secret_name(name) or name in keys)
    return Redaction([*(os.environ[name] for name in known), *others])


_TAKEN = "\0"


def _lowered(text: str) -> str:
    """The text with A to Z, whose case a server may change, in small letters; it keeps its length.

    As bytes: `str.lower` lengthens some letters, and `str.translate` takes ten times as long.
    """
    lowered = text.encode("utf-8", "surrogatepass").lower()
    return lowered.decode("utf-8", "surrogatepass").replace(_TAKEN, " ")


def _forms(secret: str) -> Iterator[str]:
    """A secret as it is, in an address and in JSON: mostly the same."""
    yield secret
    yield quote(secret, safe="", errors="replace")
    yield json.dumps(secret)[1:-1]


def _runs(text: str, secret: str) -> Iterator[tuple[int, int]]:
    """Where a text has so many signs of a secret in a row that it is no chance.

    Among twelve signs in a row are six that begin at a multiple of six.
    """
    least = min(RUN, len(secret))
    for place in range(0, len(secret) - RUN // 2 + 1, RUN // 2):
        block = secret[place : place + RUN // 2]
        at = text.find(block) if block.strip() else -1  # a blank line is nobody's secret
        while at >= 0:
            start = at - _alike(text[max(0, at - place) : at][::-1], secret[:place][::-1])
            end = at + _alike(text[at : at + len(secret) - place], secret[place:])
            if found := end - start >= least:
                yield start, end
            at = text.find(block, end if found else at + 1)


def _alike(one: str, other: str) -> int:
    """With how many signs in common two texts begin."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))

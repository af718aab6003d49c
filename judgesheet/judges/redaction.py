"""Secrets stay out of the record, however a server writes them when it quotes them.

Known to be secret are keys, passwords, all values of an address's query, fields of a body and
variables of the environment that are named like secrets, and parts of an address's path that look
like tokens. Whatever else is secret cannot be known to be (docs/judges.md).
"""

import json
import os
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from html import unescape
from html.entities import codepoint2name
from itertools import islice
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from judgesheet.base.limits import LONGEST_SPELLING, MOST_MASKS
from judgesheet.judges.providers import PROVIDERS

SHORTEST_SECRET = 8  # characters; "none" and "EMPTY" protect nothing, and are words of replies
LEAST_SHOWN = 4  # characters of a secret beside a mask


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
    """Removes secrets from texts: those `known`, of which one takes up `longest` characters.

    However they are spelled, in base64 and hexadecimal too, and what a mask shows of them.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # The longest first: one that begins with another is redacted whole.
        known = {secret for secret in secrets if len(secret) >= SHORTEST_SECRET}
        self.known = sorted(known, key=len, reverse=True)
        forms = {form for secret in self.known for form in _forms(secret)}
        self._forms = sorted(forms, key=len, reverse=True)
        self.longest = LONGEST_SPELLING * max(map(len, self._forms), default=0)

    def __call__(self, text: str) -> str:
        """The text with `[redacted]` in the place of every secret."""
        if not self.known:
            return text
        bare = _MARKUP.sub("", _without_escapes(text)).lower()
        for form in self._forms:
            if form in text or _longest_word(form) in bare:
                text = _spellings(form).sub(REDACTED, text)
        return self._without_masked(text)

    def _without_masked(self, text: str) -> str:
        """The text without what masks leave of a secret: `sk-abcd****wxyz`."""
        pieces, at, longest = [], 0, max(map(len, self.known))
        for mask in islice(_MASK.finditer(text), MOST_MASKS):
            start, end = mask.span()
            before, after = text[max(at, start - longest) : start], text[end : end + longest]
            first = max(_first(before, secret) for secret in self.known)
            last = max(_last(after, secret) for secret in self.known)
            if first or last:
                pieces += [text[at : start - first], REDACTED]
                at = end + last
        return "".join((*pieces, text[at:]))

    def with_these(self, secrets: Collection[str]) -> "Redaction":
        """One that removes these secrets too."""
        return Redaction([*self.known, *secrets]) if secrets else self


def of_environment(others: Iterable[str] = ()) -> Redaction:
    """Removes the secrets that lie in the environment, known by their names, and these others."""
    keys = {provider.key_env for provider in PROVIDERS.values()}
    known = (name for name in os.environ if is_secret_name(name) or name in keys)
    return Redaction([*(os.environ[name] for name in known), *others])


def _first(before: str, secret: str) -> int:
    """With how many characters of the secret a text ends, from the secret's first on."""
    before, secret = before[-len(secret) :].lower(), secret.lower()
    lengths = range(min(len(secret), len(before)), LEAST_SHOWN - 1, -1)
    return next((length for length in lengths if before.endswith(secret[:length])), 0)


def _last(after: str, secret: str) -> int:
    """With how many characters of the secret a text begins, up to the secret's last."""
    return _first(after[: len(secret)][::-1], secret[::-1])


def _forms(secret: str) -> Iterator[str]:
    """A secret as it is, in hexadecimal, and in base64 by itself or as a header sends it."""
    yield secret
    yield secret.encode("utf-8", "surrogatepass").hex()
    for text in (secret, f"Bearer {secret}"):
        for encode in (b64encode, urlsafe_b64encode):
            yield encode(text.encode("utf-8", "surrogatepass")).decode().rstrip("=")


_TAG = r"(?:<|\\{1,4}u003c|&lt;)(?:\\{0,4}/)?[^<>&\\]{0,60}(?:>|\\{1,4}u003e|&gt;)"
_UNSEEN = r"\u00ad\u200b-\u200d\u2060\ufeff*`\r\n"
_GAP = rf"(?:{_TAG}|[{_UNSEEN}]|\\{{1,4}}(?:[rn]|u(?i:00ad|200[b-d]|2060|feff))|&shy;)*"
"""What shows nothing, ends a line or changes how letters look: it may stand between those of a
secret."""
_MARKUP = re.compile(rf"<[^<>]{{0,62}}>|[{_UNSEEN}]|\\{{1,4}}[rn]")
_MASK = re.compile(r"\*{2,}|•{2,}|…|\.{3,}|x{4,}|#{3,}", re.IGNORECASE)
_ESCAPED = re.compile(
    r"(?i)\\{1,4}u([0-9a-f]{4})|(?:%(?:25)?|\\{1,4}x)([0-9a-f]{2})|&[#0-9a-z]{1,12};"
)


def _without_escapes(text: str) -> str:
    """The text with every escaped letter and digit as itself; of other signs it says nothing."""
    return _ESCAPED.sub(_meant, text)


def _meant(escaped: re.Match[str]) -> str:
    code = escaped[1] or escaped[2]
    return chr(int(code, 16)) if code else unescape(escaped[0])


@lru_cache(1024)
def _longest_word(secret: str) -> str:
    """The most letters and digits in a row; "" where a sign may be read together with them."""
    words = re.findall("[0-9a-z]+", secret.lower())
    return max(words, key=len, default="") if "%" not in secret else ""


@lru_cache(256)  # a pattern takes as long to make as a thousand replies to search
def _spellings(secret: str) -> re.Pattern[str]:
    """What matches the secret in any case, as JSON, an address or HTML may write it.

    Two spellings of a character share at most a few leading characters, so matching takes linear
    time.
    """
    escaped = _GAP.join(map(_spelling, secret))
    return re.compile(f"{escaped}|{re.escape(secret)}", re.IGNORECASE)


def _spelling(character: str) -> str:
    r"""A pattern of one character: itself, `\/`, `\uXXXX`, `%XX`, `\xXX`, `&#NN;` or a name.

    JSON within a JSON string, as a gateway quotes the error of another, has more backslashes, and
    an address within an address has `%25` for every `%`.
    """
    units = character.encode("utf-16-be", "surrogatepass").hex()
    code = "".join(rf"\\{{1,4}}u(?i:{units[at : at + 4]})" for at in range(0, len(units), 4))
    octets = character.encode("utf-8", "surrogatepass")
    percent = "".join(rf"(?:%(?:25)?|\\{{1,4}}x){byte:02x}" for byte in octets)
    point, name = ord(character), codepoint2name.get(ord(character))
    entity = f"&(?:#0{{0,4}}{point}|#x0{{0,4}}{point:x}{f'|{name}' if name else ''});"
    plain = re.escape(json.dumps(character, ensure_ascii=False)[1:-1])
    if character in '/"':
        plain = rf"\\{{0,4}}{character}"
    return f"(?:{plain}|{code}|(?i:{percent}|{entity}))"

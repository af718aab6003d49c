"""Secrets stay out of the record, however a server writes them when it quotes them."""

import json
import re
from collections.abc import Iterable

SHORTEST_SECRET = 8  # characters; "none" and "EMPTY" protect nothing, and are words of replies
LONGEST_SPELLING = 18  # characters for one of a secret, as JSON within JSON may escape it


class Redaction:
    """Takes secrets out of texts. `longest` is the most characters that one can fill."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # The longest first: one that begins with another is redacted whole.
        known = sorted((s for s in secrets if len(s) >= SHORTEST_SECRET), key=len, reverse=True)
        self._patterns = [_spellings(secret) for secret in known]
        self.longest = LONGEST_SPELLING * max(map(len, known), default=0)

    def __call__(self, text: str) -> str:
        """The text with `[redacted]` in the place of every secret."""
        for pattern in self._patterns:
            text = pattern.sub("[redacted]", text)
        return text


def _spellings(secret: str) -> re.Pattern[str]:
    """What matches the secret as it is, and in every way to write it in JSON.

    No two spellings of a character begin alike for longer than a few characters, so that matching
    takes linear time.
    """
    escaped = "".join(map(_spelling, secret))
    return re.compile(f"{escaped}|{re.escape(secret)}")


def _spelling(character: str) -> str:
    r"""A pattern of one character in JSON: itself, `\/` for a slash, or `\uXXXX` in either case.

    JSON within a JSON string, as a gateway quotes the error of another, has more backslashes.
    """
    units = character.encode("utf-16-be", "surrogatepass").hex()
    code = "".join(rf"\\{{1,4}}u(?i:{units[at : at + 4]})" for at in range(0, len(units), 4))
    plain = re.escape(json.dumps(character, ensure_ascii=False)[1:-1])
    if character in '/"':
        plain = rf"\\{{0,4}}{character}"
    return f"(?:{plain}|{code})"

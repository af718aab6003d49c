"""Foreign text where a machine reads along: characters that it would obey are spelled out."""

import json
import re
from collections.abc import Sequence
from contextlib import suppress

from judgesheet.base.limits import LONGEST_MESSAGE

# Controls, direction marks and other characters that a reader cannot see but a machine obeys.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ufffe\uffff]"
)
_LINE_END = re.compile("[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
# What continuous integration takes for a command: GitHub's at the beginning of a line, those of
# Azure (and GitHub's first form) and TeamCity anywhere in it.
_COMMAND = re.compile(r"^(\s*:)(?=:)|(#)(?=#(?:vso|teamcity)?\[)")


def spelled(text: str) -> str:
    r"""The text with its invisible characters spelled out; line ends and tabs stay.

    `\u202e` becomes `[U+202E]`, NUL `[U+0000]`.
    """
    return _INVISIBLE.sub(lambda match: f"[U+{ord(match[0]):04X}]", text)


def one_line(text: str) -> str:
    """The text as one line of a terminal or of a log, which is shown and never obeyed."""
    return _COMMAND.sub(r"\1\2 ", spelled(_LINE_END.sub(" ", text)))


def listed(names: Sequence[str], most: int) -> str:
    """`a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def distinct_names(names: Sequence[str], sources: Sequence[object]) -> list[str]:
    """The names, with what each was read from where two are the same, numbered where even that is.

    `sources` has one for each name, such as its path.
    """
    return _marked(_marked(names, sources), range(1, len(names) + 1))


def _marked(names: Sequence[str], marks: Sequence[object]) -> list[str]:
    pairs = zip(names, marks, strict=True)
    return [name if names.count(name) == 1 else f"{name} ({mark})" for name, mark in pairs]


def capital(words: str) -> str:
    """The words as a sentence begins."""
    return words[:1].upper() + words[1:]


def complaint(text: str) -> str:
    """A message as one line, without its middle where it quotes too much of what it is about."""
    if len(text) > LONGEST_MESSAGE:
        # The beginning says what is wrong, the end what to do.
        text = f"{text[: LONGEST_MESSAGE * 2 // 3]} … {text[-LONGEST_MESSAGE // 3 :]}"
    return one_line(text)


def tame_json(text: str) -> str:
    """JSON of the same content, in which what is invisible or a command to a log is escaped."""
    return _INVISIBLE.sub(_escaped, text).replace("##", r"#\u0023")


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(rf"\u{units[at : at + 4]}" for at in range(0, len(units), 4))


# -- what a server said ----------------------------------------------------------------------------


def brief(said: str) -> str:
    """What others wrote, on one line of at most 120 characters; controls spelled out."""
    # Cut first: a server may send megabytes.
    line = " ".join(one_line(said[:10_000]).split())
    return line if len(line) <= 120 else f"{line[:119]}…"


def said_by_server(status: str | None, body: str) -> str:
    """Its status (`HTTP 500`) and message; a missing one is left out."""
    return ": ".join(filter(None, (brief(status or ""), server_message(body))))


def server_message(body: str) -> str:
    """The message of an error where the body has one, otherwise the body without its markup."""
    return brief(_error_message(body) or re.sub(r"<[^>]*>", " ", body[:10_000]))


def _error_message(body: str) -> str | None:
    """The message of the usual shapes: {"error": {"message"}}, {"error": ""}, {"message"}.

    Such a body may lie in a list. A router's own message says less than what its host said (`raw`).
    """
    with suppress(ValueError, RecursionError):
        said = json.loads(body)
        said = said[0] if isinstance(said, list) and said else said
        if isinstance(said, dict):
            error = said.get("error", said)
            known = error if isinstance(error, dict) else {"message": error}
            metadata = known.get("metadata")
            raw = metadata.get("raw") if isinstance(metadata, dict) else None
            if isinstance(raw, str) and raw:
                return _error_message(raw) or raw
            message = known.get("message")
            return message if isinstance(message, str) else None
    return None

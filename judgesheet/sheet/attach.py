"""Put a judge's section into a model card, its PDF beside it, and change nothing else."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from judgesheet.base import defaults
from judgesheet.base.errors import RunError
from judgesheet.base.files import write_whole
from judgesheet.base.records import Datasheet
from judgesheet.sheet import Paper, render
from judgesheet.sheet.model_card import BEGIN, END, JUDGE, file_name, judge_line, metadata, section

INDEX_BEGIN = "# judgesheet:begin (model-index)"
INDEX_END = "# judgesheet:end"
_FENCE = "---"


def attach(
    card: Path, sheet: Datasheet, *, with_metadata: bool = False, paper: Paper = defaults.PAPER
) -> list[Path]:
    """Insert or replace the judge's section, write the PDF beside the card; what was written.

    The section goes to the end of a card that has none of this judge. `with_metadata` also puts the
    model-index into the card's front matter. Every other byte stays as it is, line ends included,
    and attaching the same sheet again changes nothing.

    RunError if the card cannot be read or written, or its markers do not pair up.
    """
    try:
        old = card.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"the card {card} cannot be read: {error}") from None
    new = with_section(old, section(sheet), str(card), judge_line(sheet))
    if with_metadata:
        new = with_index(new, metadata(sheet), str(card))
    # Rendered before anything is written: a PDF that fails must leave the card as it was.
    pdf, page = card.with_name(file_name(sheet)), render(sheet, "pdf", paper)
    if new != old:
        write_whole(card, new.encode("utf-8"))
    write_whole(pdf, page)
    return [card, pdf]


def with_section(card: str, text: str, where: str, judge: str = "") -> str:
    """The card's text with the section in place of the earlier one of its judge, else at its end.

    `judge` is the line that names it. RunError if the markers do not pair up.
    """
    end = _line_end(card)
    text = text.rstrip("\r\n").replace("\n", end)
    front, body = _split(card)
    # An earlier version did not say whose a section is.
    mine = [part for part in _enclosed(body, BEGIN, END, where)
            if judge in body[part] or JUDGE not in body[part]]  # fmt: skip
    if mine:
        return front + _put(body, _only(mine, where, BEGIN), text)
    # One empty line before the section, however the card ends.
    gap = "" if not card or card.endswith(end * 2) else end if card.endswith("\n") else end * 2
    return f"{card}{gap}{text}{end}"


def with_index(card: str, index: str, where: str) -> str:
    """The card's text with the model-index in its front matter, which is made if there is none.

    RunError if that holds a model-index of somebody else, or the markers do not pair up.
    """
    end = _line_end(card)
    block = f"{INDEX_BEGIN}\n{index}\n{INDEX_END}".replace("\n", end)
    front, body = _split(card)
    if known := list(_enclosed(front, INDEX_BEGIN, INDEX_END, where)):
        return _put(front, _only(known, where, INDEX_BEGIN), block) + body
    mark, card = ("\ufeff", card[1:]) if card.startswith("\ufeff") else ("", card)
    lines = card.split("\n")  # not splitlines: other separators are part of the text
    if lines[0].rstrip() != _FENCE:
        return f"{mark}{_FENCE}{end}{block}{end}{_FENCE}{end}{end}{card}"
    close = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if close is None:
        raise RunError(f"{where}: the front matter does not end; close it with a line ---")
    if any(line.startswith("model-index:") for line in lines[:close]):
        raise RunError(
            f"{where} has a model-index of its own; add the entries of `render --to model-card` "
            "to it by hand, or attach without --metadata"
        )
    return mark + "\n".join([*lines[:close], f"{block}{end}"[:-1], *lines[close:]])


def _enclosed(card: str, begin: str, end: str, where: str) -> Iterator[slice]:
    """The parts of a card that markers enclose, these included.

    A marker is a whole line: the same words in a sentence or a key are words. RunError if they do
    not take turns.
    """
    starts, stops = _lines(begin, card), _lines(end, card)
    turns = sorted((*starts, *stops))
    if len(starts) != len(stops) or turns[::2] != starts:
        raise RunError(
            f"{where}: each marker {begin} needs an {end} after it; correct or remove them"
        )
    yield from (slice(start, stop + len(end)) for start, stop in zip(starts, stops, strict=True))


def _only(parts: Sequence[slice], where: str, begin: str) -> slice:
    """RunError if there are several."""
    if len(parts) > 1:
        raise RunError(f"{where}: two parts that begin with {begin} are of one judge; remove one")
    return parts[0]


def _put(card: str, place: slice, text: str) -> str:
    return card[: place.start] + text + card[place.stop :]


def _lines(marker: str, text: str) -> list[int]:
    """Where the lines begin that are this marker and nothing else."""
    found = re.finditer(rf"^\ufeff?({re.escape(marker)})[ \t]*\r?$", text, re.MULTILINE)
    return [match.start(1) for match in found]


def _split(card: str) -> tuple[str, str]:
    """The front matter with its fences, "" where there is none or it does not end; and the rest."""
    front = re.match(r"\ufeff?---[ \t]*\r?\n(?:.*\n)*?---[ \t]*\r?(?:\n|\Z)", card)
    at = front.end() if front else 0
    return card[:at], card[at:]


def _line_end(text: str) -> str:
    """The line end that most lines of a text have."""
    return "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"

"""Put a judge's section into a model card, its PDF beside it, and change nothing else."""

from pathlib import Path

from judgesheet.errors import RunError
from judgesheet.files import write_whole
from judgesheet.records import Datasheet
from judgesheet.spine.render import Paper, render
from judgesheet.spine.render.model_card import BEGIN, END, file_name, metadata, section

INDEX_BEGIN = "# judgesheet:begin (model-index)"
INDEX_END = "# judgesheet:end"
_FENCE = "---"


def attach(
    card: Path, sheet: Datasheet, *, with_metadata: bool = False, paper: Paper = "a4"
) -> list[Path]:
    """Insert or replace the section, write the PDF beside the card, and say what was written.

    The section goes to the end of a card that has none. `with_metadata` also puts the model-index
    into the card's front matter. Every other byte stays as it is, line ends included, and attaching
    the same sheet again changes nothing.

    Raises
    ------
    RunError
        if the card cannot be read or written, or its markers do not pair up.
    """
    try:
        old = card.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"the card {card} cannot be read: {error}") from None
    new = with_section(old, section(sheet), str(card))
    if with_metadata:
        new = with_index(new, metadata(sheet), str(card))
    pdf = card.with_name(file_name(sheet))
    write_whole(pdf, render(sheet, "pdf", paper))
    if new != old:
        write_whole(card, new.encode("utf-8"))
    return [card, pdf]


def with_section(card: str, text: str, where: str) -> str:
    """The card's text with the section in the place of the earlier one, else at its end.

    Raises
    ------
    RunError
        if the markers do not pair up.
    """
    text = _with_ends(text, _line_end(card)).rstrip("\r\n")
    place = _between(card, BEGIN, END, where)
    if place is not None:
        return card[: place.start] + text + card[place.stop :]
    end = _line_end(card)
    gap = "" if not card or card.endswith(end * 2) else end if card.endswith("\n") else end * 2
    return f"{card}{gap}{text}{end}"


def with_index(card: str, index: str, where: str) -> str:
    """The card's text with the model-index in its front matter, which is made if there is none.

    Raises
    ------
    RunError
        if the front matter holds a model-index of somebody else, or the markers do not pair up.
    """
    end = _line_end(card)
    block = _with_ends(f"{INDEX_BEGIN}\n{index}\n{INDEX_END}", end)
    place = _between(card, INDEX_BEGIN, INDEX_END, where)
    if place is not None:
        return card[: place.start] + block + card[place.stop :]
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


def _between(card: str, begin: str, end: str, where: str) -> slice | None:
    """From the first character of one marker to behind the other; None where neither stands."""
    counts = (card.count(begin), card.count(end))
    if counts == (0, 0):
        return None
    start, stop = card.find(begin), card.find(end)
    if counts != (1, 1) or stop < start:
        raise RunError(
            f"{where}: the markers {begin} and {end} must stand there once each, in this order; "
            "mend or remove them"
        )
    return slice(start, stop + len(end))


def _line_end(text: str) -> str:
    """The line end that most lines of a text have."""
    return "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"


def _with_ends(text: str, end: str) -> str:
    return text.replace("\n", end) if end != "\n" else text

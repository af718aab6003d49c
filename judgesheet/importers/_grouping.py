"""Pieces of the same prompt, wherever they are in the files, as one prompt with its responses."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgesheet.axis.shaping import Prompt, Rated, Response
from judgesheet.base.errors import StimuliError
from judgesheet.importers._piece import ABOUT_PROMPT, Piece, Rubrics, Skip, name_of

MODEL = ""
"""The criterion name of another model's scores."""
CROWD = 20
"""More raters than this are a crowd, whose members have no fixed place in the lists."""


def named(criterion: str) -> str:
    """The criterion for a reader."""
    return criterion or "scores of another model"


def _ratings(pieces: Sequence[Piece]) -> Iterator[tuple[Piece, str, Sequence[float | None]]]:
    for piece in pieces:
        for criterion, given in {**piece.human, MODEL: piece.model}.items():
            if given:
                yield piece, criterion, given


def refuse_mixed_scales(pieces: Sequence[Piece], scale: Sequence[float] | None) -> None:
    """Refuse ratings off the scale; without one, shares of 1 beside whole numbers above it."""
    given: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
    for piece, criterion, ratings in _ratings(pieces):
        given[criterion] += [(one, piece.where) for one in ratings if one is not None]
    for criterion, places in given.items():
        if scale is None:
            _refuse_two_scales(criterion, places)
            continue
        low, high = scale[:2]
        for value, where in places:
            if not low <= value <= high:
                least, most = min(places)[0], max(places)[0]
                raise StimuliError(
                    f"{where}: {named(criterion)} is {value:g}, outside the scale {low:g} to "
                    f"{high:g}; correct it, or say --scale {min(low, least):g}:{max(high, most):g}"
                )


def _refuse_two_scales(criterion: str, places: Sequence[tuple[float, str]]) -> None:
    part = next((where for value, where in places if 0 < value < 1), None)
    whole = next((where for value, where in places if value > 1), None)
    if part and whole and all(value == round(value) for value, _ in places if value > 1):
        raise StimuliError(
            f"{named(criterion)} seems to have two scales: a number below 1 at {part}, whole "
            f"numbers above 1 at {whole}; bring them to one scale, or say --scale LOW:HIGH if "
            "they are on one"
        )


def panel(pieces: Sequence[Piece]) -> list[str] | None:
    """The raters with lines of their own, in order of appearance; None if they are a crowd."""
    raters = dict.fromkeys(one.rater for one in pieces if one.seated and one.rater is not None)
    return [*raters] if len(raters) <= CROWD else None


def prompts(
    pieces: Sequence[Piece], rubrics: Rubrics, raters: Sequence[str]
) -> Iterator[Prompt | Skip]:
    """Every prompt with its responses in the order of first mention, or the reason to skip it.

    `rubrics` count where a prompt has none of its own; `raters` have a place each in every list.
    StimuliError where two lines contradict each other, or one id names two prompts.
    """
    by_key: defaultdict[str, list[Piece]] = defaultdict(list)
    for piece in pieces:
        by_key[piece.key].append(piece)
    widths: Counter[tuple[str, str | None, str]] = Counter()
    for piece, criterion, ratings in _ratings(pieces):
        widths[piece.key, piece.item, criterion] += len(ratings)
    widest: dict[str, int] = {}
    for (_, _, criterion), width in widths.items():
        widest[criterion] = max(width, widest.get(criterion, 0))
    places, seen = _Places(raters, widest), dict[str, str]()
    for mine in by_key.values():
        name, where = name_of(mine[0].id or mine[0].key), mine[0].where
        if name in seen:
            raise StimuliError(
                f"{where}: the id {name!r} names another prompt at {seen[name]}; ids must be unique"
            )
        seen[name] = where
        yield _prompt(name, mine, rubrics, places)


def _prompt(
    name: str, pieces: Sequence[Piece], rubrics: Rubrics, places: "_Places"
) -> Prompt | Skip:
    where, head = pieces[0].where, _head(pieces)
    by_item: defaultdict[str, list[Piece]] = defaultdict(list)
    for piece in pieces:
        if piece.item is not None:
            by_item[piece.item].append(piece)
    responses = [_response(item, same, name, places) for item, same in by_item.items()]
    usable = [response for response in responses if response.text]
    if not responses:
        return Skip(where, "a prompt without responses")
    if "prompt" not in head:
        return Skip(where, "responses to a prompt that is not in the files")
    if not usable:
        return Skip(where, "no response with a text")
    return Prompt(
        id=name,
        where=where,
        text=head["prompt"],
        domain=head.get("domain", ""),
        source=head.get("source", ""),
        reference=head.get("reference"),
        rubrics=head.get("rubrics") or rubrics,
        responses=usable,
        group=head.get("group", ""),
    )


def _head(pieces: Sequence[Piece]) -> dict[str, Any]:
    """What the lines say about their prompt; a field missing on one may be on another."""
    shared: dict[str, Any] = {}
    for piece in pieces:
        for name in ABOUT_PROMPT:
            value = getattr(piece, name)
            if value is not None and shared.setdefault(name, value) != value:
                raise StimuliError(
                    f"{piece.where}: {piece.key[:60]!r} has another {name} than at "
                    f"{pieces[0].where}; one prompt needs one name, and another prompt another"
                )
    return shared


def _response(item: str, pieces: Sequence[Piece], prompt: str, places: "_Places") -> Response:
    """What all lines say about one response; several lines are several raters' own."""
    first, raters = pieces[0], {pieces[0].rater}
    for piece in pieces[1:]:
        if piece.rater is None or piece.rater in raters:
            raise StimuliError(
                f"{piece.where}: {item!r} of {prompt!r} stands already at "
                f"{first.where}; give every response its own name (or a column with the rater)"
            )
        if piece.text != first.text:
            raise StimuliError(
                f"{piece.where}: the text of {item!r} of {prompt!r} is not that at {first.where}"
            )
        raters.add(piece.rater)
    human = places.joined(pieces)
    model = human.pop(MODEL, None)
    return Response(name_of(item), first.text, first.gold, human, model)


@dataclass(frozen=True, slots=True)
class _Places:
    """Where a rating stands in the lists: `raters` have a place each, `widths` are the lengths."""

    raters: Sequence[str]
    widths: Mapping[str, int]

    def joined(self, pieces: Sequence[Piece]) -> dict[str, Rated | None]:
        """All ratings of a response by criterion: a number where no response has more than one."""
        lists: defaultdict[str, list[float | None]] = defaultdict(list)
        for piece, criterion, given in _ratings(pieces):
            mine = lists[criterion]
            if piece.rater in self.raters and criterion != MODEL:
                mine += [None] * (len(self.raters) - len(mine))
                mine[self.raters.index(piece.rater)] = given[0]
            else:
                mine += given
        return {criterion: self._padded(mine, criterion) for criterion, mine in lists.items()}

    def _padded(self, ratings: list[float | None], criterion: str) -> Rated | None:
        if all(rating is None for rating in ratings):
            return None
        width = max(self.widths[criterion], len(ratings))
        return ratings[0] if width == 1 else [*ratings, *[None] * (width - len(ratings))]

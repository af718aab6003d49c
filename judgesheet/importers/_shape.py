"""A prompt with its responses as the stimulus of an axis."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgesheet.errors import StimuliError, UsageError
from judgesheet.importers._piece import CRITERION, Choice, Head, Piece, chosen, name_of
from judgesheet.importers._store import Group
from judgesheet.records import digest

Ratings = dict[str, list[float | None]]
Rubrics = Mapping[str, Sequence[str]]


@dataclass(slots=True)
class Response:
    """A response with everything that was said about it, whatever number of lines it took."""

    where: str
    item: str
    text: str
    gold: bool | None
    human: Ratings = field(default_factory=dict)
    model: list[float | None] = field(default_factory=list)
    raters: list[str | None] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt and its responses, in the order of the source."""

    id: str
    where: str
    head: Head
    responses: list[Response]


def prompt_of(group: Group, panel: Sequence[str]) -> Prompt:
    """The lines of a prompt joined by response; `panel` gives each rater a place, if not empty.

    Raises
    ------
    StimuliError
        if two lines are one response and neither is one rater's, or their texts differ.
    """
    found: dict[str, Response] = {}
    for piece in group.pieces:
        item = piece.item or ""
        if item not in found:
            found[item] = Response(piece.where, item, piece.text, piece.gold)
        else:
            _refuse_again(piece, found[item], group.id)
        _rate(found[item], piece, panel)
    return Prompt(group.id, group.where, group.head, list(found.values()))


def _refuse_again(piece: Piece, known: Response, prompt: str) -> None:
    if piece.rater is None or piece.rater in known.raters:
        raise StimuliError(
            f"{piece.where}: {piece.item!r} of {prompt!r} stands already at {known.where}; "
            "give every response its own name (or a column with the rater)"
        )
    if piece.text != known.text:
        raise StimuliError(
            f"{piece.where}: the text of {piece.item!r} of {prompt!r} is not that at {known.where}"
        )


def _rate(response: Response, piece: Piece, panel: Sequence[str]) -> None:
    for criterion, ratings in piece.human.items():
        mine = response.human.setdefault(criterion, [])
        if panel and piece.rater is not None:
            mine.extend([None] * (len(panel) - len(mine)))
            mine[panel.index(piece.rater)] = ratings[0]
        else:
            mine.extend(ratings)
    response.model.extend(piece.model)
    response.raters.append(piece.rater)


# -- one stimulus ----------------------------------------------------------------------------------


class NotAStimulusError(Exception):
    """A prompt that cannot serve an axis; the text is the reason, counted in the report."""


def compose(
    axis: str, prompt: Prompt, choice: Choice, rubrics: Rubrics, widths: Mapping[str, int]
) -> dict[str, Any]:
    """The stimulus as its axis's schema has it; `widths` are the ratings to pad each list to.

    Raises
    ------
    NotAStimulusError
        if the prompt lacks what the axis needs.
    UsageError
        if the choice does not say what the axis needs.
    """
    if prompt.head.prompt is None:
        raise NotAStimulusError("responses to a prompt that is not in the files")
    usable = [response for response in prompt.responses if response.text]
    if not usable:
        raise NotAStimulusError("no response with a text")
    return _SHAPES[axis](Prompt(prompt.id, prompt.where, prompt.head, usable), choice, rubrics,
                         widths)  # fmt: skip


def _score_order(
    prompt: Prompt, choice: Choice, rubrics: Rubrics, widths: Mapping[str, int]
) -> dict[str, Any]:
    criterion, levels = prompt.head.rubric or _one_rubric(choice, rubrics)
    return {
        **_heading(prompt),
        "rubric": {"criterion": criterion, "levels": list(levels)},
        "candidates": [
            {
                **_candidate(response),
                **_known("human", _padded(_ratings_for(response, criterion), widths, criterion)),
                **_known("model", _padded(response.model, widths, "")),
            }
            for response in prompt.responses
        ],
    }


def _one_rubric(choice: Choice, rubrics: Rubrics) -> tuple[str, Sequence[str]]:
    if not rubrics:
        raise UsageError(
            "score_order needs described scores; give them with --rubric FILE "
            '({"criterion name": ["worst", …, "best"]})'
        )
    names = chosen(choice, list(rubrics))
    if len(names) > 1:
        raise UsageError(
            f"score_order grades one criterion; choose it with --criterion: {', '.join(names)}"
        )
    return names[0], rubrics[names[0]]


def _ratings_for(response: Response, criterion: str) -> list[float | None]:
    """The ratings of a criterion; a source without names has one criterion, whatever it is."""
    return response.human.get(criterion) or response.human.get(CRITERION) or []


def _criterion_order(
    prompt: Prompt, choice: Choice, rubrics: Rubrics, widths: Mapping[str, int]
) -> dict[str, Any]:
    names = chosen(choice, list(rubrics))
    if len(names) < 2:
        raise UsageError(
            "criterion_order needs two criteria or more; give them with --rubric FILE "
            '({"criterion name": ["worst", …, "best"], …}), and no --criterion'
        )
    return {
        **_heading(prompt),
        "criteria": [{"name": name, "levels": list(rubrics[name])} for name in names],
        "candidates": [
            {**_candidate(response), **_known("human", _by_criterion(response, names, widths))}
            for response in prompt.responses
        ],
    }


def _by_criterion(
    response: Response, names: Sequence[str], widths: Mapping[str, int]
) -> dict[str, Any]:
    found = {name: _padded(response.human.get(name, []), widths, name) for name in names}
    return {name: ratings for name, ratings in found.items() if ratings is not None}


def _candidate_order(
    prompt: Prompt, choice: Choice, rubrics: Rubrics, widths: Mapping[str, int]
) -> dict[str, Any]:
    """One pair a prompt: several would share a prompt, and pairs are taken as independent."""
    del choice, rubrics, widths
    u, v = _pair(prompt)
    if u.text == v.text:
        raise NotAStimulusError("the two responses are the same text")
    better = None if u.gold == v.gold else "u" if u.gold else "v"
    return {
        "id": prompt.id,
        "request": prompt.head.prompt,
        "u": u.text,
        "v": v.text,
        "better": better,
        **_known("source", prompt.head.source),
    }


def _pair(prompt: Prompt) -> tuple[Response, Response]:
    """The pair as the source names it, else a best and another one, on sides drawn by content."""
    named = {response.item: response for response in prompt.responses}
    if named.keys() == {"u", "v"}:
        return named["u"], named["v"]
    drawn = _shuffled(prompt)
    best = [response for response in drawn if response.gold]
    rest = [response for response in drawn if not response.gold]
    both = [*best[:1], *rest[:1]] if best and rest else drawn[:2]
    if len(both) < 2:
        raise NotAStimulusError("fewer than two responses")
    first, second = sorted(both, key=drawn.index)
    return first, second


def _listwise(
    prompt: Prompt, choice: Choice, rubrics: Rubrics, widths: Mapping[str, int]
) -> dict[str, Any]:
    del choice, rubrics, widths
    drawn = _shuffled(prompt)
    if len({response.text for response in drawn}) < len(drawn):
        raise NotAStimulusError("two responses are the same text")
    if len(drawn) < 2:
        raise NotAStimulusError("fewer than two responses")
    gold = [name_of(response.item) for response in drawn if response.gold]
    return {
        **_heading(prompt),
        **_known("source", prompt.head.source),
        "gold": gold[0] if len(gold) == 1 else gold or None,
        "candidates": [_candidate(response) for response in drawn],
    }


_SHAPES: Mapping[str, Callable[[Prompt, Choice, Rubrics, Mapping[str, int]], dict[str, Any]]] = {
    "score_order": _score_order,
    "criterion_order": _criterion_order,
    "candidate_order": _candidate_order,
    "listwise_consensus": _listwise,
}
AXES = tuple(_SHAPES)


def _shuffled(prompt: Prompt) -> list[Response]:
    """The responses in an order that says nothing about them, the same for the same content."""
    return sorted(prompt.responses, key=lambda response: digest(f"{prompt.id}\n{response.text}"))


def _heading(prompt: Prompt) -> dict[str, Any]:
    heading = {
        "id": prompt.id,
        "domain": prompt.head.domain,
        "prompt": prompt.head.prompt,
    }
    return {**heading, **_known("reference", prompt.head.reference)}


def _candidate(response: Response) -> dict[str, Any]:
    return {"id": name_of(response.item), "text": response.text}


def _known(name: str, found: Any) -> dict[str, Any]:
    return {name: found} if found not in (None, "", [], {}) else {}


def _padded(
    ratings: Sequence[float | None], widths: Mapping[str, int], criterion: str
) -> float | list[float | None] | None:
    """The ratings, one place a rater; a single one as a number, none at all as None."""
    if all(rating is None for rating in ratings):
        return None
    if len(ratings) == 1 and widths.get(criterion, 1) == 1:
        return ratings[0]
    return [*ratings, *[None] * (widths.get(criterion, 0) - len(ratings))]

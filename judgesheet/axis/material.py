"""What every axis does with stimuli: pick some, check lengths, duplicates, leaks."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from judgesheet.axis import Problem
from judgesheet.axis.copies import bare, groups
from judgesheet.axis.streams import drawn_for
from judgesheet.base.digits import percent, two_digits
from judgesheet.base.errors import StimuliError
from judgesheet.base.limits import HIGHEST_SCORE, LONGEST_RUBRIC, LONGEST_SCALE, MOST_LISTED
from judgesheet.base.records import Stimulus
from judgesheet.base.sanitize import listed
from judgesheet.base.scale import Scale

if TYPE_CHECKING:
    import numpy as np

LENGTH_LIMIT = 0.15
"""Largest share by which a response may differ from its prompt's mean word count."""


class Strict(BaseModel):
    """A part of a stimulus: a field that it does not declare is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _distinct(levels: list[str]) -> list[str]:
    if len(levels) > LONGEST_RUBRIC:
        raise ValueError(
            f"there are {len(levels)} levels, and at most {LONGEST_RUBRIC} are possible: leave "
            "some in between out"
        )
    if len(set(levels)) != len(levels):
        raise ValueError("two levels have the same description; a judge cannot tell them apart")
    return levels


Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,79}$")]
Text = Annotated[str, StringConstraints(min_length=1)]
Levels = Annotated[list[Text], Field(min_length=2), AfterValidator(_distinct)]
"""The described scores of a criterion, worst first."""


def _ends(ends: list[float]) -> list[float]:
    if len(ends) not in (2, 3):
        raise ValueError("a range is [low, high] or [low, high, step]")
    scale = Scale.between(*ends)
    if scale.count > LONGEST_SCALE:
        raise ValueError(f"a range has at most {LONGEST_SCALE} scores; this has {scale.count:,}")
    if scale.high >= HIGHEST_SCORE or any(round(one, 2) != one for one in scale.numbers):
        raise ValueError(f"scores are below {HIGHEST_SCORE:,}, with two decimals at most")
    return ends


_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Range = Annotated[list[_Number], AfterValidator(_ends)]
"""The numbers that scores are given in: `[low, high]`, or `[low, high, step]`."""


def scale_of(levels: Sequence[str] | None, ends: Sequence[float] | None) -> Scale:
    """The scale of described scores, of a range, or of both; ValueError where they disagree."""
    scale = Scale(len(levels or ())) if ends is None else Scale.between(*ends)
    if levels and len(levels) != scale.count:
        raise ValueError(f"{len(levels)} levels do not describe a range of {scale.count} scores")
    return scale


def require_one_scale(
    stimuli: Sequence[Stimulus], scale_of: Callable[[Stimulus], Scale], *, of_one_length: bool
) -> None:
    """StimuliError where stimuli have different scales: their figures do not compare."""
    first = scale_of(stimuli[0])
    for stimulus in stimuli:
        other = scale_of(stimulus)
        if other.own != first.own or (of_one_length and other.count != first.count):
            raise StimuliError(
                f"{stimulus.source}: the scores are {words(other)}, and {words(first)} at "
                f"{stimuli[0].source}: figures of different scales do not compare, so make a file "
                "of each"
            )


def words(scale: Scale) -> str:
    """`0 to 10`, or `0 to 1 in steps of 0.25`."""
    steps = "" if scale.step == 1 else f" in steps of {scale.step:g}"
    return f"{scale.low:g} to {scale.high:g}{steps}"


def in_points(rated: Any, scale: Scale) -> Any:
    """A `Rated` field in points of the scale, which a sheet calculates with."""
    if isinstance(rated, list):
        return [None if one is None else scale.place(one) for one in rated]
    return scale.place(rated)


_WORD = re.compile(r"\w+")
_TELLING = re.compile(
    r"\b(score|scores|scored|rating|rated|rubric|grade|graded|intended level)\b|\b\d+\s*/\s*10\b",
    re.IGNORECASE,
)


class Asked(NamedTuple):
    """A stimulus that is asked about, with random numbers of its own.

    They depend on the seed and its id: another stimulus in the pool moves nothing here.
    """

    stimulus: Stimulus
    rng: "np.random.Generator"


def in_turn(
    stimuli: Iterable[Stimulus], rng: "np.random.Generator", count: int | None = None
) -> list[Asked]:
    """`count` of the stimuli (all of them for None) in the order in which they are asked.

    Both are drawn, with the stimuli of each field spread evenly: neither the time of asking nor the
    part of the pool that is asked goes with a field. The longest stimulus of each is always asked.
    """
    seed = int(rng.integers(2**32))
    asked = [Asked(stimulus, drawn_for(seed, stimulus.id)) for stimulus in stimuli]
    draws = {one.stimulus.id: float(one.rng.random()) for one in asked}
    if count is not None and count < len(asked):
        by_length = sorted(asked, key=lambda one: sum(map(len, _shown(one.stimulus.fields))))
        longest = {one.stimulus.fields.get("field"): one.stimulus.id for one in by_length}
        asked = _spread_over_fields(asked, draws | dict.fromkeys(longest.values(), 0.0))[:count]
        # Anew: those that were drawn to be asked have small draws, and the longest would wait.
        draws = {one.stimulus.id: _turn(seed, one) for one in asked}
    return _spread_over_fields(asked, draws)


def _turn(seed: int, one: Asked) -> float:
    return float(drawn_for(seed, "turn", one.stimulus.id).random())


def _spread_over_fields(asked: Iterable[Asked], draws: Mapping[str, float]) -> list[Asked]:
    """The stimuli in the order of their draws, those of each field evenly over the whole."""
    by_field: dict[object, list[Asked]] = {}
    for one in sorted(asked, key=lambda one: draws[one.stimulus.id]):
        by_field.setdefault(one.stimulus.fields.get("field"), []).append(one)
    placed = [
        # Half a step apart at least: both halves of a run have each field.
        ((place + 0.25 + draws[one.stimulus.id] / 2) / len(field), one)
        for field in by_field.values()
        for place, one in enumerate(field)
    ]
    return [one for _, one in sorted(placed, key=itemgetter(0))]


def part(streams: Iterable["np.random.Generator"], count: int | None) -> set[int]:
    """The places of `count` of the stimuli with these random numbers, of all of them for None.

    It is drawn: the first of them would be asked before the others.
    """
    drawn = sorted((float(one.random()), place) for place, one in enumerate(streams))
    return {place for _, place in drawn[:count]}


def field_and_words(stimulus: Stimulus, *texts: str) -> dict[str, Any]:
    """What the cell of a call says of its stimulus and the texts that are judged.

    The stimulus's field, if it has one, and the number of words of all texts.
    """
    field = stimulus.fields.get("field")
    return {**({} if field is None else {"field": field}), "words": sum(map(word_count, texts))}


def word_count(text: str) -> int:
    """Number of words."""
    return len(_WORD.findall(text))


def length_spread(stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """Texts that compete should be about equally long, or length may give the answer away.

    One warning for all: responses as they come are seldom so.
    """
    spreads = [(_spread(stimulus.fields["candidates"]), stimulus.id) for stimulus in stimuli]
    wide = [one for one in spreads if one[0] > LENGTH_LIMIT]
    if wide:
        worst, where = max(wide)
        yield Problem(
            "pool",
            f"in {len(wide)} of {len(spreads)} stimuli the responses differ in length by more than "
            f"{percent(LENGTH_LIMIT)} of their mean, most in {where} ({percent(worst)}): a judge "
            "that prefers long texts may then seem to follow quality",
            grave=False,
        )


def _spread(candidates: Sequence[Mapping[str, Any]]) -> float:
    """The largest difference from the mean word count, as a share of it."""
    counts = [word_count(candidate["text"]) for candidate in candidates]
    mean = sum(counts) / len(counts)
    return max(abs(count - mean) / mean for count in counts) if mean else 0.0


def length_against_level(pairs: Sequence[tuple[float, int]], limit: float) -> Iterator[Problem]:
    """Over the whole pool, length must not grow or shrink with the intended level.

    `pairs` are (level, words); `limit` bounds the absolute Pearson correlation.
    """
    import numpy as np

    levels, words = np.array(pairs, dtype=float).T if pairs else (np.array([]), np.array([]))
    # Two points always lie on a line.
    if len(levels) < 3 or not levels.std() or not words.std():
        return
    r = float(np.corrcoef(levels, words)[0, 1])
    if abs(r) > limit:
        what = f"length follows the intended level (r = {two_digits(r)}, limit {limit})"
        yield Problem("pool", what)


def near_copies(what: str, texts: Sequence[tuple[str, str]]) -> Iterator[Problem]:
    """One warning per group of texts that share a template; `texts` are (where, text) pairs.

    `what` they are, in the plural. Ordinary data holds them. Several groups in the same stimuli are
    one warning: those of a copy have as many as it has texts.
    """
    found: dict[tuple[str, ...], list[str]] = {}
    for group in groups([text for _, text in texts]):
        places = [texts[place][0] for place in group]
        homes = dict.fromkeys(place.split("/", maxsplit=1)[0] for place in places)
        # Of one stimulus the parts are named, of several the stimuli.
        found.setdefault(tuple(homes if len(homes) > 1 else places), []).extend(places)
    for named, places in found.items():
        problem = f"{len(places)} {what} share a template: {listed(named, MOST_LISTED)}"
        yield Problem("pool", problem, grave=False, code="template")


def counted_as_one(stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """One warning per group of stimuli that every figure takes for one (`clusters`)."""
    together: dict[str, list[str]] = {}
    for copy, first in clusters(stimuli).items():
        together.setdefault(first, [first]).append(copy)
    for group in together.values():
        problem = (
            f"{len(group)} stimuli are near copies or of the same group, and count as one "
            f"stimulus: {listed(group, MOST_LISTED)}"
        )
        yield Problem("pool", problem, grave=False)


def identical(stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """Stimuli that repeat another."""
    first: dict[tuple[str, ...], str] = {}
    for stimulus in stimuli:
        twin = first.setdefault(tuple(_shown(stimulus.fields)), stimulus.id)
        if twin != stimulus.id:
            what = (
                f"is the same as {twin}, but for case, blanks and invisible characters, and both "
                "count as one: remove one"
            )
            yield Problem(stimulus.id, what)


def clusters(stimuli: Sequence[Stimulus]) -> dict[str, str]:
    """Which of these stimuli are near copies of an earlier one -> the first of its copies.

    So are those of a `group` that stimuli name: one customer, document or template.
    """
    # Not by how they are graded, which all of them may have in common.
    asked = [
        {name: part for name, part in stimulus.fields.items() if name not in _GRADING}
        for stimulus in stimuli
    ]
    named = [stimulus.fields.get("group") for stimulus in stimuli]
    alike = groups([" ".join(_shown(fields)) for fields in asked], named)
    return {stimuli[place].id: stimuli[first].id for first, *others in alike for place in others}


_GRADING = frozenset({"rubric", "criteria"})
_NAMES = frozenset({"id", "group", "gold", "domain", "field", "source"})
"""Fields that name things and are no part of what a judge reads."""


def _shown(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from () if name in _NAMES else _shown(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _shown(part)
    else:
        yield bare(str(value))


def leaks(where: str, text: str) -> Iterator[Problem]:
    """Words that talk about grading and so may give an intended level away."""
    telling = sorted({match.group(0).lower() for match in _TELLING.finditer(text)})
    if telling:
        yield Problem(where, f"talks about grading: {', '.join(telling)}", grave=False)

"""What every axis does with stimuli: pick some, check lengths, duplicates, leaks."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from judgesheet.axis import Problem
from judgesheet.base.digits import percent, two_digits
from judgesheet.base.records import Stimulus

T = TypeVar("T")


LONGEST_RUBRIC = 9


class Strict(BaseModel):
    """A part of a stimulus: a field that it does not declare is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _distinct(levels: list[str]) -> list[str]:
    if len(levels) > LONGEST_RUBRIC:
        raise ValueError(
            f"there are {len(levels)} levels, and a rubric has {LONGEST_RUBRIC} at most here, as "
            "an order is named by one digit a score: leave levels in between out"
        )
    if len(set(levels)) != len(levels):
        raise ValueError("two levels have the same description; a judge cannot tell them apart")
    return levels


Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,79}$")]
Text = Annotated[str, StringConstraints(min_length=1)]
Levels = Annotated[list[Text], Field(min_length=2), AfterValidator(_distinct)]
"""The described scores of a criterion, worst first."""

# Two texts of 14 words of which one differs share so many of their runs of three words.
_ALIKE = 0.6
_WORD = re.compile(r"\w+")
_TELLING = re.compile(
    r"\b(score|scores|scored|rating|rated|rubric|grade|graded|intended level)\b|\b\d+\s*/\s*10\b",
    re.IGNORECASE,
)


def spread(items: Sequence[T], count: int | None) -> list[T]:
    """`count` of the items spread evenly over them, all of them for None."""
    total = len(items)
    if count is None or count >= total:
        return list(items)
    return [items[index * total // count] for index in range(count)]


def word_count(text: str) -> int:
    """Number of words."""
    return len(_WORD.findall(text))


def responses(stimuli: Sequence[Stimulus]) -> Iterator[tuple[str, list[str]]]:
    """(stimulus, texts of its candidates)."""
    for stimulus in stimuli:
        yield stimulus.id, [candidate["text"] for candidate in stimulus.fields["candidates"]]


def length_spread(groups: Iterable[tuple[str, Sequence[str]]], limit: float) -> Iterator[Problem]:
    """Texts that compete should be about equally long, or length may give the answer away.

    `groups` are (where, texts); `limit` is the largest share by which a text may differ from the
    mean word count of its group. One warning for all: responses as they come are seldom so.
    """
    spreads = [(_spread([word_count(text) for text in texts]), where) for where, texts in groups]
    wide = [one for one in spreads if one[0] > limit]
    if wide:
        worst, where = max(wide)
        yield Problem(
            "pool",
            f"in {len(wide)} of {len(spreads)} stimuli the responses differ in length by more than "
            f"{percent(limit)} of their mean, most in {where} ({percent(worst)}): a judge that "
            "prefers long texts may then seem to follow quality",
            grave=False,
        )


def _spread(counts: Sequence[int]) -> float:
    """The largest difference from the mean, as a share of it."""
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


def duplicates(texts: Sequence[tuple[str, str]]) -> Iterator[Problem]:
    """Texts that share most of their words; `texts` are (where, text) pairs.

    Overlap is the Jaccard index of three-word shingles: the same sentence with one word changed
    counts as a duplicate, the same topic does not. Duplicates in two stimuli are grave, since
    stimuli count as independent; responses of one stimulus ("stimulus/candidate") may be similar.
    Texts that a reader cannot tell apart (`bare`) are told first, each with its twin; a text of
    a word or two may be the answer to many questions.
    """
    shingles: dict[str, frozenset[tuple[str, ...]]] = {}
    by_shingle: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    first: dict[str, str] = {}
    for where, text in texts:
        seen = bare(text)
        words = _WORD.findall(seen)
        if (twin := first.setdefault(seen, where)) != where:
            what = f"is the same text as {twin}, but for case, blanks and invisible characters"
            yield Problem(where, what, grave=len(words) > 2 and _apart(where, twin))
            continue
        shingles[where] = frozenset(zip(words, words[1:], words[2:], strict=False))
        for shingle in shingles[where]:
            by_shingle[shingle].add(where)
    candidates = {pair for group in by_shingle.values() for pair in combinations(sorted(group), 2)}
    for one, other in sorted(candidates):
        union = len(shingles[one] | shingles[other])
        share = len(shingles[one] & shingles[other]) / union if union else 0.0
        if share >= _ALIKE:
            what = f"shares {percent(share)} of its three-word runs with {other}"
            yield Problem(one, what, grave=_apart(one, other))


def _apart(one: str, other: str) -> bool:
    """Whether two places are in two stimuli."""
    return one.split("/", maxsplit=1)[0] != other.split("/", maxsplit=1)[0]


def bare(text: str) -> str:
    """The text without what a reader does not see: letter case, blanks, invisible characters.

    Texts that are bare alike are one text to a reader, whatever their characters.
    """
    seen = unicodedata.normalize("NFKC", text).translate(_SEEN)
    return " ".join(seen.casefold().split())


class _Seen(dict[int, str | None]):
    """What a reader sees of a character, None for nothing; found out once for each."""

    def __missing__(self, code: int) -> str | None:
        sign = chr(code)
        is_seen = sign.isspace() or unicodedata.category(sign)[0] != "C"
        return self.setdefault(code, sign if is_seen else None)


_SEEN = _Seen()


def leaks(where: str, text: str) -> Iterator[Problem]:
    """Words that talk about grading and so may give an intended level away."""
    telling = sorted({match.group(0).lower() for match in _TELLING.finditer(text)})
    if telling:
        yield Problem(where, f"talks about grading: {', '.join(telling)}", grave=False)

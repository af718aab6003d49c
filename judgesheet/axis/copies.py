"""Texts that are nearly the same: templates and macro replies in which a name or a number differs.

Overlap is the Jaccard index of runs of three words: the same sentence with one word changed is
nearly the same, the same topic is not.
"""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence

# Two texts of 14 words of which one differs share so many of their runs of three words.
ALIKE = 0.6
_WORD = re.compile(r"\w+")
_Run = tuple[str, ...]


def groups(texts: Sequence[str], names: Sequence[str | None] = ()) -> list[list[int]]:
    """The places of texts that are nearly the same, group by group, each in order.

    A text is in a group if it is nearly the same as any other of it (single linkage). Texts that a
    reader cannot tell apart are the same; one without three words is like none but its copies, and
    one without any is like none.
    Those with the same of `names`, one per text or None, are a group whatever they say.
    """
    seen = [bare(text) for text in texts]
    runs = [_runs(text) for text in seen]
    found = _Groups(len(texts))
    first: dict[str, int] = {}
    for place, text in enumerate(seen):
        found.join(first.setdefault(text, place) if text else place, place)
    named: dict[str, int] = {}
    for place, name in enumerate(names):
        if name is not None:
            found.join(named.setdefault(name, place), place)
    how_often = Counter(run for mine in runs for run in mine)
    by_run: defaultdict[_Run, list[int]] = defaultdict(list)
    for place in first.values():
        mine = runs[place]
        # Two sets that overlap so much share one of these few rarest of each: what all texts have
        # in common, a greeting for instance, need not be looked at.
        rarest = sorted(mine, key=lambda run: (how_often[run], run))
        for run in rarest[: len(mine) - math.ceil(ALIKE * len(mine)) + 1]:
            for other in by_run[run]:
                if found.root(other) != found.root(place) and _overlap(mine, runs[other]) >= ALIKE:
                    found.join(other, place)
            by_run[run].append(place)
    return found.several()


class _Groups:
    """Disjoint groups of places; joining two makes them one."""

    def __init__(self, size: int) -> None:
        self._parent = [*range(size)]

    def root(self, place: int) -> int:
        while self._parent[place] != place:
            self._parent[place] = place = self._parent[self._parent[place]]
        return place

    def join(self, one: int, other: int) -> None:
        low, high = sorted((self.root(one), self.root(other)))
        self._parent[high] = low

    def several(self) -> list[list[int]]:
        """Groups of two or more."""
        members: defaultdict[int, list[int]] = defaultdict(list)
        for place in range(len(self._parent)):
            members[self.root(place)].append(place)
        return [group for group in members.values() if len(group) > 1]


def _runs(text: str) -> frozenset[_Run]:
    words = _WORD.findall(text)
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def _overlap(one: frozenset[_Run], other: frozenset[_Run]) -> float:
    return len(one & other) / len(one | other)


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

"""Reading a reply: one verdict, or none."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgesheet.axis.afterwords import explains, is_denied, sentences
from judgesheet.axis.documents import answers, within
from judgesheet.axis.reply import Reading, one_reading, recorded
from judgesheet.base.records import ReplyFormat
from judgesheet.stats.pairwise import FIRST, INVALID, SECOND, TIE

CODES: Mapping[str, int] = {
    "1": FIRST,
    "2": SECOND,
    "tie": TIE,
    "abstain": TIE,
    "invalid": INVALID,
}
"""What a verdict may be; an abstention is no preference, `invalid` exists only in recordings."""

_SPELLED = re.compile(
    r"""(?:winner:\s|it['’]s\s)? (?:the\s|a\s)? (?:(?:response|answer|candidate)[\s_-]?)? \#?
    (?: (?P<first>1(?:\.0|st)?|one|first) | (?P<second>2(?:\.0|nd)?|two|second)
      | (?P<tie>tie|draw|equal) | (?P<abstain>abstain) )
    (?:\s(?:response|answer|one))? (?:\s(?:is|wins)\b(?:\s(?:the\s)?(?:better|winner))?)?
    (?:\s*\((?P<remark>[^()]*)\))?""",
    re.VERBOSE,
)
_VERDICTS = {"first": "1", "second": "2", "tie": "tie", "abstain": "abstain"}
_MARKS = " \t\n*_`\"'.,;:#[]{}<>"

# How the two are named, in the commonest words of some languages.
_SIDES = re.compile(
    r"""(?P<first>(?<![\d.,])1(?!\d|[.,]\d|(?:st|er)\b\s(?!response|answer|one))|\b(?:first|former|(?:response|answer|candidate|option)\s(?:one|a)|erste[rns]?|premi[eè]re?|primer[ao]?|prim[ao]|primeir[ao]|eerste|pierwsz\w+|перв\w+|birinci)\b|第一|最初の|첫\s?번째|الأول\w*|पहल\w+)
    | (?P<second>(?<![\d.,])2(?!\d|[.,]\d|nd\b\s(?!response|answer|one))|\b(?:second|latter|(?:response|answer|candidate|option)\s(?:two|b)|zweite[rns]?|deuxi[eè]me|seconde?|segund[ao]|second[ao]|tweede|drug\w+|втор\w+|ikinci)\b|第二|二番目|두\s?번째|الثاني\w*|दूसर\w+)
    | (?P<other>\b(?:other|opposite|alternative|andere[rns]?|autre|otr[ao]|altr[ao]|outr[ao])\b|另一|もう一方|다른)""",
    re.IGNORECASE | re.VERBOSE,
)
# What says that the thing named before it is the better or the worse one.
_BETTER = (
    r"\b(?:better|best|superior|stronger|prefer\w*|preferable|wins?|winner|clearer|outperform\w*|more\s\w+|besser\w*|bevorzug\w*|überlegen|gewinnt"
    r"|meilleure?s?|préf\w+|supérieure?|gagne|mejor|superior|gana|preferible|migliore|vince|melhor|vence|beter|wint|lepsz\w+|wygrywa|лучше|побежда\w+|предпочт\w+|daha\siyi)\b"
    r"|更[好优佳完全详准清]|优于|胜|优れ|良い|勝|優|낫|나은|더\s?좋|우수|أفضل|बेहतर"
)
_WORSE = (
    r"\b(?:worse|worst|inferior|weaker|loses?|less\s\w+|schlechter\w*|verliert|pire|moins|peor|pierde|peggiore|perde|pior|slechter|gorsz\w+|хуже|daha\skötü)\b"
    r"|更差|不如|劣|못하|더\s?나쁘"
)
_NOT = r"(?:\b(?:not|no|never|neither|nor|nicht|kein\w*|pas|ni|non|não|niet|nie|не)\b|n['’]t\b|不)\W*(?:\w+\W+){0,2}?"
_PREFERENCE = re.compile(
    rf"(?P<not>{_NOT})?(?:(?P<better>{_BETTER})|(?P<worse>{_WORSE}))", re.IGNORECASE
)
# What stands before or behind the thing that another is compared with.
_THAN = re.compile(r"(?:\b(?:than|als|que|di|do|dan|niż|чем|over|to|against|unlike|compared\s\w+|of)|比)\W*(?:\w+\W+){0,3}?$", re.I)
_THAN_BEHIND = re.compile(r"\W{0,3}(?:より|보다|에\s비해)")
_TIE = re.compile(
    r"\b(?:tie[ds]?|draw|equal(?:ly)?|same|both|neither|either|gleich(?:wertig)?|beide|égales?|deux|igual(?:es)?|ambas|empate|uguali|pareggio|ничья|одинаков\w+)\b"
    r"|一样|相同|平手|平局|同等|引き分け|동등|같",
    re.IGNORECASE,
)
_LACKS = re.compile(
    r"""\W*(?:\w+\W+){0,2}?(?:omits?|lacks?|misses|missing|fails?|leaves?|ignores?|overlooks?|only|merely|invents?|repeats?|contradicts?
    |forgets?|skips?|does(?:n['’]t|\snot)|has\sno|gives\sno|names\sno|is\s(?:vague|wrong|incomplete|incorrect|inaccurate|unclear|too|misleading|missing|less|shorter|weaker|worse|not)
    |contains\s(?:a|an|two|several|factual)?\s?(?:errors?|mistakes?|false))\b""",
    re.IGNORECASE | re.VERBOSE,
)


def reading(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Reading | None:  # noqa: ARG001
    """`1`, `2`, `tie` or `abstain`; None if the reply does not say exactly one of them.

    A recorded verdict may also be `invalid`: an answer outside the allowed ones.
    """
    if reply == "recorded":
        verdict = _recorded(recorded(text))
        return Reading(verdict) if verdict in CODES else None
    found = answers(text, "winner")
    if found is None:
        return None
    verdict = one_reading([within(winner, _verdict) for winner in found.values])
    if verdict is None or is_denied(found.before) or not _supports(found.rest, verdict):
        return None
    contradicted = any(_prefers_another(reason, verdict) for reason in found.reasons())
    return None if contradicted else Reading(verdict, found.alone)


def parse(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> str | None:
    """What `reading` finds, without where it stands."""
    found = reading(text, reply, cell)
    return found.value if found else None


def chosen(verdict: str, order: Sequence[str]) -> str | None:
    """Which of the two responses a verdict favours; None for a tie."""
    return {"1": order[0], "2": order[1]}.get(verdict)


def gives(verdict: str, order: Sequence[str]) -> list[float]:  # noqa: ARG001
    """What a verdict gives to each of the responses, in displayed order."""
    return [float(verdict == "1"), float(verdict == "2")]


def _supports(words: str, verdict: str) -> bool:
    """Whether words behind a verdict are reasons for it, or closings."""
    if not explains(words):
        return False
    return not any(_is_against(sentence, verdict) for sentence in sentences(words))


def _is_against(sentence: str, verdict: str) -> bool:
    """Whether a sentence is for another verdict, or speaks first of what was not chosen."""
    sides = [one.lastgroup for one in _SIDES.finditer(sentence)]
    if verdict not in _OTHER_SIDE:  # a tie
        return bool(_PREFERENCE.search(sentence)) or len({*sides} - {"other"}) == 1
    if _prefers_another(sentence, verdict) or (not sides and _TIE.search(sentence)):
        return True
    first = _SIDES.search(sentence)
    is_own = first is None or first.lastgroup == _OWN_SIDE[verdict]
    return not is_own and _LACKS.match(sentence, first.end() if first else 0) is None


_OWN_SIDE = {"1": "first", "2": "second"}
_OTHER_SIDE = {"1": ("second", "other"), "2": ("first", "other")}


def _prefers_another(words: str, verdict: str) -> bool:
    """Whether words end up with another verdict than this one: their last preference counts."""
    preferred = [*_preferred(words)]
    return bool(preferred) and preferred[-1] != _OWN_SIDE.get(verdict)


def _preferred(words: str) -> Iterator[str]:
    """The sides that words prefer, in order; `first` and `second`.

    A word of preference is about the side that is named last before it, unless that is the one
    that another is compared with. What is not better is not preferred.
    """
    sides = [
        (one.start(), one.lastgroup or "")
        for one in _SIDES.finditer(words)
        if not _THAN.search(words, max(0, one.start() - 40), one.start())
        and not _THAN_BEHIND.match(words, one.end())
    ]
    for one in _PREFERENCE.finditer(words):
        before = [side for at, side in sides if at < one.start()]
        if not before or one["not"]:
            continue
        side = before[-1]
        if one["worse"]:
            side = {"first": "second", "second": "first"}.get(side, "")
        if side in ("first", "second"):
            yield side


def _verdict(value: object) -> str | None:
    """A verdict as replies spell it: 1, "1", "Response 1", "first"."""
    # `true` is 1 to Python, and says nothing about a slot.
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    spelled = _SPELLED.fullmatch(str(value).casefold().strip(_MARKS))
    if spelled is None:
        return None
    verdict = next(verdict for name, verdict in _VERDICTS.items() if spelled[name])
    return verdict if _supports(spelled["remark"] or "", verdict) else None


def _recorded(value: object) -> str | None:
    """A recorded verdict as text: 1 and "1" are the same, capitals and blanks do not matter."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value)
    return value.strip().lower() if isinstance(value, str) else None

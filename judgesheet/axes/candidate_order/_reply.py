"""The replies of candidate_order: read, taken for lost ones, and given by a simulated judge.

The extremes show how far a lost call can move a figure. If the pair was read in the other order,
the call may have chosen the same slot (a preference for the place), the same response (no
preference for it), or whatever makes the pair count as half decided.

A simulated judge that compares two responses leans towards slot 1 (`axis.comparison`) by

    x = slot + sensitivity * (better in slot 1: delta, in slot 2: -delta) + surface * e_pair
        + filler * (padded copy in slot 1: 1, in slot 2: -1)
        + cue * (1 if the prompt lists 1 before 2 else -1) / 2

with a tie threshold of `tie` (+ `strict` under the strict prompt). `e_pair` is normal, fixed for a
pair of responses, and changes sign when they are swapped. It takes delta and the better response
from the cell of the call, which a real judge never sees.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import starmap
from typing import TYPE_CHECKING, Any

from judgesheet.axis import Imputation, Readings
from judgesheet.axis.afterwords import compiled, explains, is_denied, sentences, takes_back_beside
from judgesheet.axis.comparison import Imputer, chances, imputations, lapses, simulated
from judgesheet.axis.documents import answers, within
from judgesheet.axis.items import codes
from judgesheet.axis.losses import Row
from judgesheet.axis.reply import Reading, one_reading, recorded
from judgesheet.axis.simulation import Known, Parameters
from judgesheet.base.records import Call, ReplyFormat
from judgesheet.stats.pairwise import FIRST, INVALID, SECOND, TIE

from ._design import STRICT, SWAPPED

if TYPE_CHECKING:
    import pandas as pd

# -- which of two responses words prefer: whether a reason agrees with its verdict -----------------


# How the two are named.
_NOUN = r"""(?:«
      response answer candidate option number no antwort réponse respuesta risposta resposta
      ответ antwoord yanıt odpowiedź»|回答|応答|답변|\#)"""
# A number before any other noun counts things.
_ALONE = r"""(?!\d|[.,]\d|\s(?!«
      is was has wins? does gives better over and or because since as than while but for on in
      leaves omits lacks misses covers names explains» )[a-z]{3,})"""
_FIRST = rf"""{_NOUN}\s?1(?!\d|[.,]\d) | (?<![\d.,])1{_ALONE}
    | (?-i:\bA\b)(?=\s(?:is|was|has|\w+s)\b) | \b«
      first former (?:response|answer|candidate|option)_(?:one|a) erste[rns]? premi[eè]re?
      primer[ao]? prim[ao] primeir[ao] eerste pierwsz\w+ перв\w+ birinci»
    | ‹第一 最初の [1一]つ目 첫_?번째 الأول पहल›"""
_SECOND = rf"""{_NOUN}\s?2(?!\d|[.,]\d) | (?<![\d.,])2{_ALONE}
    | (?-i:\bB\b)(?=\s(?:is|was|has|\w+s)\b) | \b«
      second latter (?:response|answer|candidate|option)_(?:two|b) zweite[rns]? deuxi[eè]me
      seconde? segund[ao] second[ao] tweede drug\w+ втор\w+ ikinci»
    | ‹第二 [2二]番目 [2二]つ目 두_?번째 الثاني दूसर›"""
_OTHER = r"""\b«
      other opposite alternative andere[rns]? autre otr[ao] altr[ao] outr[ao]»
    | 另一|もう一方|다른"""
_SIDES = compiled(rf"(?P<first>{_FIRST}) | (?P<second>{_SECOND}) | (?P<other>{_OTHER})")

# What says of the thing that is named before it that it is the better one, or the worse, or equal.
_BETTER = r"""\b«
      better best superior stronger prefer\w* wins? (?<!["'])winner clearer outperform\w*
      more_\w+ besser\w* bevorzug\w* überlegen gewinnt meilleure?s? préf\w+ supérieure? gagne
      mejor gana migliore vince melhor vence beter wint lepsz\w+ wygrywa лучше побежда\w+
      предпочт\w+ daha_iyi»
    | ‹
      更[好优佳完全详准清] 优于 胜 优れ 良い 勝 優 낫 나은 더_?좋 우수 أفضل बेहतर›"""
_WORSE = r"""\b«
      not_(?:quite_|nearly_|at_all_)?(?:as|so)_\w+ worse worst inferior weaker poorer loses?
      less_\w+ schlechter\w* verliert pire moins peor pierde peggiore perde pior slechter
      gorsz\w+ хуже daha_kötü»
    | ‹更差 不如 劣 못하 더_?나쁘›"""
_EQUAL = r"""\b«
      tie[ds]? draw equally equivalent gleichwertig empate pareggio ничья»
    | 平手|平局|引き分け|동점"""
_NOT = r"""(?:\b«
      not no never neither nor nicht kein\w* pas ni non não niet nie не»
    | n['’]t\b | 不)\W*(?:\w+\W+){0,2}?"""
_PREFERENCE = compiled(
    rf"(?P<not>{_NOT})? (?: (?P<better>{_BETTER}) | (?P<worse>{_WORSE}) | (?P<tie>{_EQUAL}) )"
)
# What stands before or behind the thing that another is compared with.
_THAN = compiled(
    r"""(?:\b«
      than als dan niż чем over beats? surpass(?:es)? exceeds? unlike compared_\w+ superior_to
      inferior_to prefer\w*_to»
    | \b«
      más mejor peor plus meilleure?s? pire moins mais melhor pior più migliore peggiore meno»
      .{0,25}\b«que di della» | 比)
    \W*(?:\w+\W+){0,3}?(?:回答|答案|回复|第)?$"""
)
_THAN_BEHIND = compiled(r"\W{0,3}(?:より|보다|에\s비해)")
# Words that say without a preference that neither was chosen.
_ALIKE = compiled(
    r"""\b«
      equal same identical alike indistinguishable interchangeable both neither either gleich
      beide égales? (?:les|toutes)_deux$ igual(?:es)? ambas uguali одинаков\w+»
    | 一样|相同|同等|동등|같"""
)
# What is said of a response that was not chosen.
_LACKING = r"""«
      omits? lacks? misses missing fails? leaves? ignores? overlooks? only merely invents?
      repeats? contradicts? forgets? skips? never confuses? mixes
      does(?:n['’]t|_not) (?:has|gives|names|offers)_no
      is_(?:vague|wrong|incomplete|incorrect|inaccurate|unclear|too|misleading|missing|less|shorter|weaker|not)
      (?:contains|has|makes)_(?:\w+_){0,3}(?:errors?|mistakes?|slips?|gaps?|flaws?)
      fehl\w+ vergisst lässt nennt_(?:kein\w*|nicht) oublie omet manque omite olvida falta
      dimentica omette manca esquece vergeet mist trascura néglige pomija упускает забывает
      begnügt beschränkt s[ei]_limit[ae] ограничивается nur seulement solamente apenas soltanto
      только»
    | ‹没有 缺 未 漏 欠 抜け›"""
_LACKS = compiled(rf"\W*(?:\w+\W+){{0,2}}?{_LACKING}")
_LACKED_BY = compiled(r".{0,40}?«missing_from absent_from lacking_in omitted_from»\s(?:the\s)?$")
_BUT_LACKS = compiled(rf"[,;]\s«but yet however it»\W+(?:\w+\W+){{0,2}}?{_LACKING}")
_FAULT = compiled(
    rf"""{_LACKING} | (?<!\w)(?:«
      but not no never nothing none without only merely lacks? miss\w* omit\w* fails? ignores?
      overlooks? wrong errors? incomplete vague unclear weak poor short generic nicht kein\w*
      fehlt pas sans manque no sin falta non senza manca não sem не без нет»
    | n['’]t\b | ‹不 没 缺 ない 欠 않 없›)"""
)
# What lets a sentence begin with the one that was not chosen, for the sake of the other.
_CONCEDES = compiled("«even_though although though while whereas unlike compared despite»")
_CHOSEN = {"1": "first", "2": "second", "tie": "tie", "abstain": "tie"}
_OPPOSITE = {"first": "second", "second": "first"}


WORDS_OF_A_NAME = 2
"""Words of a text that names a response and says nothing about it."""


def supports(words: str, verdict: str) -> bool:
    """Whether words behind a verdict are reasons for it, or closings."""
    against = (_is_against(sentence, verdict) for sentence in sentences(words))
    return explains(words) and not any(against)


def prefers_another(words: str, verdict: str) -> bool:
    """Whether words end up with another verdict than this one: their last preference counts."""
    conceded, _, said = words.partition(",")
    preferred = [*_preferred(said if said and _CONCEDES.match(conceded) else words)]
    return bool(preferred) and preferred[-1] != _CHOSEN[verdict]


def praises_another(words: str, verdict: str) -> bool:
    """Whether words find no fault with what was not chosen, and nothing else in what was."""
    chosen, is_said = _CHOSEN[verdict], len(words.split()) > WORDS_OF_A_NAME
    sides = [*_sides(words)]
    if not sides or not is_said or chosen == "tie" or [*_preferred(words)]:
        return False
    mine = [one for one in sides if one.lastgroup == chosen]
    if not all(_LACKS.match(words, one.end()) for one in mine):
        return False
    ends = [*(one.start() for one in sides[1:]), len(words)]
    others = [
        words[one.end() : end]
        for one, end in zip(sides, ends, strict=True)
        if one.lastgroup != chosen
    ]
    about_it = others if mine else [words]
    return bool(about_it) and not any(map(_FAULT.search, about_it))


def _is_against(sentence: str, verdict: str) -> bool:
    """Whether a sentence is for another verdict, or speaks first of what was not chosen."""
    if prefers_another(sentence, verdict):
        return not _owns_up(sentence, verdict)
    first, chosen = _SIDES.search(sentence), _CHOSEN[verdict]
    if first is not None and chosen != "tie" and chosen in _preferred(sentence):
        return False
    if chosen == "tie":
        named = {one.lastgroup for one in _SIDES.finditer(sentence)}
        return len(named - {"other"}) == 1
    if first is None:
        return _ALIKE.search(sentence) is not None
    if _LACKED_BY.match(sentence[: first.start()]):
        return first.lastgroup == chosen
    if (
        first.lastgroup == chosen
        or _BUT_LACKS.search(sentence)
        or _LACKS.match(sentence, first.end())
    ):
        return False
    named = {one.lastgroup for one in _SIDES.finditer(sentence)}
    return not (_CONCEDES.match(sentence) and chosen in named)


def _owns_up(sentence: str, verdict: str) -> bool:
    """Whether a sentence praises what was not chosen, but for what it lacks."""
    named = {one.lastgroup for one in _SIDES.finditer(sentence)}
    return named == {_OPPOSITE.get(_CHOSEN[verdict])} and _BUT_LACKS.search(sentence) is not None


def _preferred(words: str) -> Iterator[str]:
    """The sides that words prefer, in order: `first`, `second`, `other` or `tie`.

    A word of preference is about the side that is named last before it, unless that is the one
    that another is compared with. What is not better is worse.
    """
    sides = [*_sides(words)]
    for preference in _PREFERENCE.finditer(words):
        if preference["tie"] and not preference["not"]:
            yield "tie"
        before = [side.lastgroup or "" for side in sides if side.start() < preference.start()]
        if preference["tie"] or not before:
            continue
        is_other = bool(preference["worse"]) != bool(preference["not"])
        yield _OPPOSITE.get(before[-1], before[-1]) if is_other else before[-1]


def _sides(words: str) -> Iterator[re.Match[str]]:
    """Where which side is named, in order, but for those that another is compared with."""
    for sides in _SIDES.finditer(words):
        before = words[max(0, sides.start() - 40) : sides.start()]
        if not _THAN.search(before) and not _THAN_BEHIND.match(words, sides.end()):
            yield sides


# -- reading: one verdict, or none -----------------------------------------------------------------


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
    if verdict is None or is_denied(found.before) or not supports(found.rest, verdict):
        return None
    for reason in found.reasons:
        if prefers_another(reason, verdict) or praises_another(reason, verdict):
            return None
    if any(starmap(takes_back_beside, found.behind)):
        return None
    return Reading(verdict, found.alone)


def chosen(verdict: str, order: Sequence[str]) -> str | None:
    """Which of the two responses a verdict favours; None for a tie."""
    return {"1": order[0], "2": order[1]}.get(verdict)


def points_by_place(verdict: str, order: Sequence[str]) -> list[float]:  # noqa: ARG001
    """What a verdict gives to each of the responses, in displayed order."""
    return [float(verdict == "1"), float(verdict == "2")]


def _verdict(value: object) -> str | None:
    """A verdict as replies spell it: 1, "1", "Response 1", "first"."""
    # `true` is 1 to Python, and says nothing about a slot.
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    spelled = _SPELLED.fullmatch(str(value).casefold().strip(_MARKS))
    if spelled is None:
        return None
    verdict = next(verdict for name, verdict in _VERDICTS.items() if spelled[name])
    return verdict if supports(spelled["remark"] or "", verdict) else None


def _recorded(value: object) -> str | None:
    """A recorded verdict as text: 1 and "1" are the same, capitals and blanks do not matter."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value)
    return value.strip().lower() if isinstance(value, str) else None


# -- lost calls: for a slot, a response, a tie, the better response --------------------------------


_TIED = "tie"
_SLOTS = ("1", "2")
_OPPONENT: Mapping[Any, str] = {"u": "v", "v": "u"}
_PAIR = ("stimulus", "pair", "condition", "prompt", "listing")
_DESIGN = ("condition", "prompt", "listing")
ABSENT = "absent"
"""The outcome of a call that a log does not hold."""


def _slot(first: str, second: str) -> Imputer:
    """One slot, the other one where the prompt lists the answers in another order."""
    return lambda call, _other: first if call.get("listing") != SWAPPED else second


def _same_slot(_call: Row, other: str | None) -> str:
    """The slot of the other order; where that was a tie, a decision."""
    return other if other in _SLOTS else "1"


def _same_response(call: Row, other: str | None) -> str:
    """The response of the other order, or a tie like it; u where neither order was read."""
    if other in _SLOTS:
        return "2" if other == "1" else "1"
    return _TIED if other else _of("u", call)


def _half(call: Row, other: str | None) -> str:
    """A decision beside a tie, a tie beside a decision."""
    if other is None:
        return "1" if call["order"][0] == "u" else _TIED
    return _TIED if other in _SLOTS else "1"


def _better(call: Row, other: str | None) -> str:
    """The better response where one is; the padded one; else half a decision."""
    if call["condition"] == "filler":
        return _of("v", call)
    return _of(call["better"], call) if call.get("better") in _OPPONENT else _half(call, other)


def _worse(call: Row, other: str | None) -> str:
    """The worse response where one is; the one without padding; else the same response."""
    if call["condition"] == "filler":
        return _of("u", call)
    worse = _OPPONENT.get(call.get("better"))
    return _of(worse, call) if worse else _same_response(call, other)


def _ties(*, strict: bool) -> Imputer:
    """A tie under the strict prompt and none under the usual one, or the reverse."""
    return lambda call, other: (
        _TIED if strict == (call.get("prompt") == STRICT) else _same_slot(call, other)
    )


def _of(response: str, call: Row) -> str:
    return _SLOTS[list(call["order"]).index(response)]


ANSWERS: tuple[Imputer, ...] = (
    *(_slot("1", "2"), _slot("2", "1"), _slot(_TIED, _TIED), _same_slot, _same_response, _half),
    *(_better, _worse, _ties(strict=True), _ties(strict=False)),
)


def impute(readings: Readings) -> Iterator[Imputation]:
    """Every extreme of `ANSWERS`."""
    return imputations(readings, ANSWERS, lambda call: tuple(str(call.get(of)) for of in _PAIR))


def complete(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The table with a lost call for the other order of each pair that a log has in one only.

    Only where the log has other pairs of the same kind in both: which pairs lack an order may
    depend on the verdicts. A log of single orders throughout lacks nothing of its own design, and
    calls that a run has not made yet are in its plan.
    """
    import pandas as pd

    if not (frame["reply"] == "recorded").all():
        return frame
    first = frame["order"].str[0]
    pair, kind = (
        codes(frame[[name for name in names if name in frame]])
        for names in ((*_PAIR, "repeat"), _DESIGN)
    )
    # By the first response shown: 2 where a pair was logged in both orders.
    twice = first.groupby(pair).transform("nunique") > 1
    alone = ~twice & twice.groupby(kind).transform("any")
    other = frame[alone].assign(outcome=ABSENT, order=frame.loc[alone, "order"].str[::-1])
    other["value"] = pd.Series(None, index=other.index, dtype=object)
    return pd.concat([frame, other], ignore_index=True) if len(other) else frame


# -- a simulated judge -----------------------------------------------------------------------------


def verdict_probabilities(
    parameters: Parameters, cell: Mapping[str, Any], stimulus: str
) -> dict[str, float]:
    """The planted truth of `policy=model`: the probability of `1`, `2` and `tie` in a cell.

    The stimulus and the cell's pair decide the reaction to surface.
    """
    if cell["condition"] == "vacuum":
        return lapses(parameters)
    leaning, limit = _leaning(parameters, cell, stimulus), parameters.tie
    if cell.get("prompt") == "strict":
        limit += parameters.strict
    return chances(leaning, limit)


def _leaning(parameters: Parameters, cell: Mapping[str, Any], stimulus: str) -> float:
    """Logits towards slot 1."""
    shown_first = cell["order"][0]
    surface = parameters.normal(parameters.surface, stimulus, cell["pair"])
    left = parameters.keyed if cell.get("keyed") else 1.0
    leaning = left * parameters.slot + (surface if shown_first == "u" else -surface)
    if cell.get("better"):
        delta = 1.0 if cell.get("delta") is None else float(cell["delta"])
        side = 1 if cell["better"] == shown_first else -1
        leaning += parameters.sensitivity * delta * side
    if cell["condition"] == "filler":  # v is the padded copy
        leaning += parameters.filler * (1 if shown_first == "v" else -1)
    listed_first = str(cell.get("listing") or "1").startswith("1")
    return leaning + parameters.cue * (0.5 if listed_first else -0.5)


def simulate(parameters: Parameters, call: Call, known: Known, rng: random.Random) -> str:
    """The reply of a simulated judge."""
    del known  # what a comparison may know stands in its cell
    if call.cell.get("keyed") == "solve":
        return f"My own answer to {call.stimulus}, as planted."
    return simulated(parameters, call, rng, verdict_probabilities)

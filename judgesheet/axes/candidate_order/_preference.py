"""Which of two responses words prefer: whether a reason agrees with its verdict."""

from collections.abc import Iterator

from judgesheet.axis.afterwords import compiled, explains, sentences

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
      beide égales? deux igual(?:es)? ambas uguali одинаков\w+» | 一样|相同|同等|동등|같"""
)
# What is said of a response that was not chosen.
_LACKS = compiled(
    r"""\W*(?:\w+\W+){0,2}?«
      omits? lacks? misses missing fails? leaves? ignores? overlooks? only merely invents?
      repeats? contradicts? forgets? skips? does(?:n['’]t|_not) (?:has|gives|names|offers)_no
      is_(?:vague|wrong|incomplete|incorrect|inaccurate|unclear|too|misleading|missing|less|shorter|weaker|not)
      (?:contains|has|makes)_(?:\w+_){0,3}(?:errors?|mistakes?|slips?|gaps?|flaws?)»"""
)

_FAULT = compiled(
    r"""(?<!\w)(?:«
      but not no never nothing none without only merely lacks? miss\w* omit\w* fails? ignores?
      overlooks? wrong errors? incomplete vague unclear weak poor short generic nicht kein\w*
      fehlt pas sans manque no sin falta non senza manca não sem не без нет»
    | n['’]t\b | ‹不 没 缺 ない 欠 않 없›)"""
)
# What lets a sentence begin with the one that was not chosen, for the sake of the other.
_CONCEDES = compiled("«even_though although though while whereas unlike compared despite»")
_CHOSEN = {"1": "first", "2": "second", "tie": "tie", "abstain": "tie"}
_OPPOSITE = {"first": "second", "second": "first"}


MOST_OF_A_NAME = 2
"""Words of a text that names a response and says nothing about it."""


def supports(words: str, verdict: str) -> bool:
    """Whether words behind a verdict are reasons for it, or closings."""
    against = (_is_against(sentence, verdict) for sentence in sentences(words))
    return explains(words) and not any(against)


def prefers_another(words: str, verdict: str) -> bool:
    """Whether words end up with another verdict than this one: their last preference counts."""
    preferred = [*_preferred(words)]
    return bool(preferred) and preferred[-1] != _CHOSEN[verdict]


def praises_another(words: str, verdict: str) -> bool:
    """Whether words are about what was not chosen alone, and find no fault with it."""
    sides, chosen = [*_sides(words)], _CHOSEN[verdict]
    is_said = len(words.split()) > MOST_OF_A_NAME and chosen != "tie"
    if not sides or not is_said or chosen in {side for _, side in sides} or [*_preferred(words)]:
        return False
    return _FAULT.search(words) is None


def _is_against(sentence: str, verdict: str) -> bool:
    """Whether a sentence is for another verdict, or speaks first of what was not chosen."""
    if prefers_another(sentence, verdict):
        return True
    first, chosen = _SIDES.search(sentence), _CHOSEN[verdict]
    if chosen == "tie":
        named = {one.lastgroup for one in _SIDES.finditer(sentence)}
        return len(named - {"other"}) == 1
    if first is None:
        return _ALIKE.search(sentence) is not None
    if first.lastgroup == chosen or _LACKS.match(sentence, first.end()):
        return False
    named = {one.lastgroup for one in _SIDES.finditer(sentence)}
    return not (_CONCEDES.match(sentence) and chosen in named)


def _preferred(words: str) -> Iterator[str]:
    """The sides that words prefer, in order: `first`, `second`, `other` or `tie`.

    A word of preference is about the side that is named last before it, unless that is the one
    that another is compared with. What is not better is worse.
    """
    sides = [*_sides(words)]
    for one in _PREFERENCE.finditer(words):
        if one["tie"] and not one["not"]:
            yield "tie"
        before = [side for at, side in sides if at < one.start()]
        if one["tie"] or not before:
            continue
        is_other = bool(one["worse"]) != bool(one["not"])
        yield _OPPOSITE.get(before[-1], before[-1]) if is_other else before[-1]


def _sides(words: str) -> Iterator[tuple[int, str]]:
    """Where which side is named, in order, but for those that another is compared with."""
    for one in _SIDES.finditer(words):
        before = words[max(0, one.start() - 40) : one.start()]
        if not _THAN.search(before) and not _THAN_BEHIND.match(words, one.end()):
            yield one.start(), one.lastgroup or ""

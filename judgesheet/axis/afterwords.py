"""What may follow a verdict: marks, a closing, or a reason. Anything else may take it back.

What takes a verdict back cannot be listed: there are too many ways and languages. So the rule is
the other way round, and words are known by what they are. They are read sentence by sentence. Each
must begin as a reason or a closing does, or say how what was judged is and name nothing at hand:
not the score, the scale, the judge, or what a judge does. A sentence in an unknown language, an
instruction, a joke or a turn that nobody thought of does neither, and the reply is unreadable: lost
replies are counted and imputed, misread ones are not.
"""

import re
from collections.abc import Iterator, Mapping

from judgesheet.axis import vocabulary
from judgesheet.base.limits import LONGEST_AFTERWORDS

_FLAGS = re.IGNORECASE | re.VERBOSE | re.DOTALL


def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of `vocabulary`, compiled."""
    return re.compile(re.sub("«([^»]*)»|‹([^›]*)›", _alternatives, pattern), _FLAGS)


def _alternatives(words: re.Match[str]) -> str:
    """A pattern of any of these words."""
    any_of = "|".join((words[1] or words[2]).split()).replace("_", r"\s")
    return rf"(?:{any_of})" + (r"\b" if words[1] else "")


def _anywhere(words_of: Mapping[str, str]) -> str:
    """A pattern of whole words of any language."""
    return " | ".join(
        words if language in vocabulary.WITHOUT_SPACES else rf"(?<!\w)(?:{words})"
        for language, words in words_of.items()
    )


_REASON_OR_CLOSING = compiled(
    rf"""(?:{vocabulary.REASON_LABEL}\W{{1,9}})?(?:{vocabulary.CONNECTIVE}\W{{1,3}}){{0,2}}
    (?:(?P<closing>{vocabulary.CLOSING}) | {" | ".join(vocabulary.REASONS.values())})"""
)
_RETRACTION = compiled(rf"(?<![a-z])(?:{vocabulary.RETRACTION})")
_ABOUT_VERDICT = compiled(
    rf"(?<![a-z])(?:{vocabulary.RETRACTION} | {vocabulary.ABOUT_THE_VERDICT})"
)
_STATEMENT = compiled(
    " | ".join(rf"(?P<{name}>{begins})" for name, begins in vocabulary.STATEMENT_BEGINNINGS.items())
)
_LABELLED = compiled(rf"(?:{vocabulary.REASON_LABEL})[*_\s]{{0,4}}:")
_STATEMENT_WORD = compiled(_anywhere(vocabulary.STATEMENT_BEGINNINGS))
_DESCRIPTION = compiled(_anywhere(vocabulary.DESCRIPTIONS))
_ACT_OF_JUDGING = compiled(_anywhere(vocabulary.ACTS_OF_JUDGING))
_REASON_KEY = compiled(vocabulary.REASON_KEY)
_WORDS_OF_A_VALUE = 2
"""Words of a text that is a name or a quality rather than a sentence."""
_SHORTEST_STATEMENT = 5
"""Words; fewer are an exclamation, or what is left out of them is the verdict."""
_LONG_STATEMENT = 7
"""Words of a statement that need not begin with a small one."""
# A judge that speaks of itself seldom does so for the response's sake.
_JUDGE_ITSELF = re.compile(
    r"(?<![\w’'])(?:I|[Mm]y|[Mm]e|[Ww]e|[Oo]ur|[Ii]ch|[Mm]ein\w*|[Jj]e|[Mm]on|[Yy]o|[Mm]i|[Ee]u|[Ii]o|[Яя])"
    r"(?!\w)|我|私|나는|저는"
)
LIST_ITEM = re.compile(r"^[^\S\n]{0,9}\d{1,2}[.)]\s(?=\S)", re.MULTILINE)
"""The number of an item, which is none of the text's."""
_SENTENCE_END = re.compile(r"(?<=[!?;。！？；])|(?<=[.])(?=\s)|\n+")
_LEADING_MARKS = re.compile(r"[\W_]*(?:\d{1,2}[.)]\s[\W_]*)?")


def sentences(words: str) -> Iterator[str]:
    """The sentences in which anything is said, without the marks around them; ? stays."""
    for part in _SENTENCE_END.split(LIST_ITEM.sub("", words)):
        begin = _LEADING_MARKS.match(part)
        said = part[begin.end() if begin else 0 :].rstrip()
        while said and not (said[-1].isalnum() or said[-1] == "?"):
            said = said[:-1]
        if said:
            yield said


def explains(words: str) -> bool:
    """Whether words behind a verdict are reasons for it, closings, or none at all."""
    return len(words) <= LONGEST_AFTERWORDS and all(
        _begins_as_a_reason(sentence) or _is_about_something_else(sentence)
        for sentence in sentences(words)
    )


def takes_back(words: str) -> bool:
    """Whether words between verdicts say that one no longer holds."""
    return _RETRACTION.search(words) is not None


def takes_back_beside(key: str, words: str) -> bool:
    """Whether a text beside a verdict, behind it in its object, may take it back.

    Under a key that asks for reasons, reasons may begin as they like.
    """
    if takes_back(words):
        return True
    is_reason = _REASON_KEY.search(key) is not None
    return not is_reason and len(words.split()) > _WORDS_OF_A_VALUE and not explains(words)


def _is_about_something_else(sentence: str) -> bool:
    """Whether it states something, and names nothing that is at hand when somebody judges."""
    speaks = (
        _ABOUT_VERDICT.search(sentence)
        or _ACT_OF_JUDGING.search(sentence)
        or _JUDGE_ITSELF.search(sentence)
    )
    return speaks is None and not sentence.endswith("?") and _states_something(sentence)


def _states_something(sentence: str) -> bool:
    """Whether it says how what was judged is, or is a statement by its label, words and length."""
    words = len(sentence.split())
    # A heading of one word says nothing; where words are not set apart it may be a sentence.
    if _DESCRIPTION.search(sentence) and (words > 1 or not sentence.isascii()):
        return True
    if _LABELLED.match(sentence) or (words >= _LONG_STATEMENT and _STATEMENT_WORD.search(sentence)):
        return True
    begins = _STATEMENT.match(sentence)
    is_long = begins and (
        begins.lastgroup in vocabulary.WITHOUT_SPACES or words >= _SHORTEST_STATEMENT
    )
    return bool(is_long)


def _begins_as_a_reason(sentence: str) -> bool:
    begins = _REASON_OR_CLOSING.match(sentence)
    if begins is None or _ABOUT_VERDICT.search(sentence):
        return False
    if begins["closing"] is not None:
        return True
    asks = sentence.endswith("?") and not sentence.casefold().startswith("why")
    return not asks and _JUDGE_ITSELF.search(sentence, begins.end()) is None


# -- before a verdict ------------------------------------------------------------------------------

# Right before a verdict, in the same clause: it is named, and not given.
_DENIED = compiled(
    r"""(?:\b«not never cannot no nor neither without unless if wrong instead_of rather_than
    anything_but far_from refus\w+ reject\w* avoid\w* against nicht kein\w* statt pas jamais sauf
    nunca jamás non mai não niet geen nie не нет değil» | n['’]t\b | 不|别|没|ない|않)
    [^.,:;!?()\n。，：]{0,30}$
    | (?:^|\n)\W*(?:«if unless wenn falls sofern se si если»|如果|もし|만약)[^.!?\n]*$"""
)


def is_denied(before: str) -> bool:
    """Whether the words before a verdict say that it is not one: "not", "instead of", "if"."""
    return _DENIED.search(before) is not None

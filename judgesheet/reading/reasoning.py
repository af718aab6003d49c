"""The judge's answer in a reply: what is left without thought, tokens of a template and odd widths.

Every sign keeps its place, so that a position in the answer is one in the reply.
"""

import re
import unicodedata

from judgesheet.base.limits import (
    LONGEST_ANSWER,
    LONGEST_THOUGHT,
    MOST_BRACKETS,
    MOST_LINES_OF_AN_ANSWER,
)

_THOUGHT = r"(?:\w+:)?(?:think(?:ing)?|thoughts?|reasoning|analysis|reflection|scratchpad)"
# Where a thought begins or ends.
_EDGE = re.compile(
    rf"""(?=[<◁\[][/|\w]) (?<![`'"“]) (?: (?P<begin>
    (?:<\|?|◁) (?:(?:begin|start)_(?:of_)?)? {_THOUGHT} (?:\|?>|▷)
    | \[THINK\] | <unused94> | <\|channel\|?> \s* (?:analysis|commentary|thought) )
    | (?P<end>
    (?:<\|?|◁) (?:/|end_(?:of_)?) {_THOUGHT} (?:\|?>|▷)
    | \[/THINK\] | <unused95> | <channel\|>
    | <\|channel\|> \s* final [^<]{{0,40}} (?:<\|constrain\|>\w{{0,40}})? <\|message\|> )
    )""",
    re.IGNORECASE | re.VERBOSE,
)
# What ends a turn: behind it a judge that was not stopped plays the next one.
_END_OF_TURN = re.compile(
    r"(?<=\w)\W{0,20}?(?:<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|end_of_turn|end_of_sentence|eot"
    r"|end_of_turn_token|eos|return)\|>|<eos>|<end_of_turn>|<\|end▁of▁sentence\|>)",
    re.IGNORECASE,
)
# What templates and markup languages put around words: `<|im_end|>`, `</s>`, `<b>`, `[/INST]`.
_TOKEN = re.compile(
    r"<\|(?:start_header_id|im_start|start)\|>\s*(?:assistant|user|system)?"
    r"|<\|[^<>|\n]{1,40}\|>|</?[a-zA-Z][^<>\n]{0,60}>|\[/[a-zA-Z]{1,30}\]|\[(?:INST|TOOL_CALLS)\]"
)


class _Plain(dict[int, str]):
    """The plain sign for each sign, found once."""

    def __missing__(self, code: int) -> str:
        self[code] = plain = _plain_sign(chr(code))
        return plain


def _plain_sign(sign: str) -> str:
    """Digits and signs of other scripts and widths in ASCII; a blank for what is not printed."""
    code, kind = ord(sign), unicodedata.category(sign)
    if kind == "Nd":
        return str(unicodedata.decimal(sign))
    if "\uff01" <= sign <= "\uff5e":  # full-width ASCII
        return chr(code - 0xFEE0)
    if "\u2460" <= sign <= "\u2468":  # circled digits
        return str(code - 0x245F)
    if sign in "【〔":
        return "["
    if sign in "】〕":
        return "]"
    if sign in "\n\r\u2028\u2029":
        return "\n"
    # The last two make an emoji of the sign before them, a digit say.
    return " " if kind in ("Cc", "Cf", "Zs") or sign in "\ufe0f\u20e3" else sign


_PLAIN = _Plain()


def without_reasoning(text: str) -> str:
    """The reply with blanks for what stands before the last end of thought.

    All of it is blank where a thought begins and does not end, or where it is too long for one.
    """
    # Patterns run over all of it, and what follows so much is no answer to a question.
    if len(text) > LONGEST_THOUGHT:
        return ""
    edge = None
    for edge in _EDGE.finditer(text):  # noqa: B007 - the last one counts
        pass
    if edge is None:
        return text
    return "" if edge["begin"] else " " * edge.end() + text[edge.end() :]


def _is_noise(words: str) -> bool:
    is_long = len(words.lstrip()) > LONGEST_ANSWER or words.count("\n") > MOST_LINES_OF_AN_ANSWER
    return is_long or words.count("[") > MOST_BRACKETS


def answer(text: str) -> str:
    """What of a reply is the judge's answer, in plain signs; "" for none, or for noise."""
    words = without_reasoning(text).translate(_PLAIN)
    if _is_noise(words):
        return ""
    end = _END_OF_TURN.search(words)
    if end:
        words = words[: end.end()].ljust(len(words))
    return _TOKEN.sub(lambda token: " " * len(token.group()), words)

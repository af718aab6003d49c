"""The keyed pass: the judge answers a request itself, then compares against its own answer.

Used where the verdict on a pair changes with the order (004, section 3.5): three calls, of which
the last two show the answer given in the first, with the responses in either order.
"""

import re
from collections.abc import Mapping
from typing import Any

from judgesheet.axis import Options
from judgesheet.axis.prompt import boundary, built_in, compile_prompt
from judgesheet.base.records import Call, ReplyFormat, Stimulus

SOLUTION, COMPARISON = "keyed_solution.jinja", "keyed_comparison.jinja"
TEMPLATES = (SOLUTION, COMPARISON)
SOLVE, COMPARE = "solve", "compare"
BUDGET = 1024
"""Tokens in which a judge may work out its own answer."""


def solve(stimulus: Stimulus, direct: Call, options: Options) -> Call:
    """The call in which the judge answers the request of `direct` itself, in free text."""
    budget = {"temperature": options.temperature, "max_tokens": options.max_tokens or BUDGET}
    return _call(direct, SOLVE, _render(SOLUTION, stimulus), budget, "text")


def compare(stimulus: Stimulus, call: Call, solution: str) -> Call:
    """The comparison of `call` again, in its order, with the judge's own `solution` shown."""
    fields = stimulus.fields
    first, second = (fields[side] for side in call.cell["order"])
    text = _render(
        COMPARISON,
        stimulus,
        solution=solution.strip(),
        first=first,
        second=second,
        answers=call.cell["listing"].split("|"),
        reply=call.reply,
        tag=f"response_{boundary([fields['request']], [first, second, solution])}",
    )
    return _call(call, COMPARE, text, call.params, call.reply)


def _render(template: str, stimulus: Stimulus, **more: object) -> str:
    render = compile_prompt(built_in(template), f"the prompt {template}")
    fields = stimulus.fields
    return render(request=fields["request"], requirements=fields["requirements"], **more)


def _call(call: Call, step: str, text: str, params: Mapping[str, Any], reply: ReplyFormat) -> Call:
    return Call(
        axis=call.axis,
        stimulus=call.stimulus,
        # Another cell, so that its id differs from that of the comparison itself.
        cell={**call.cell, "keyed": step},
        repeat=0,
        messages=({"role": "user", "content": text},),
        params=params,
        reply=reply,
    )


# -- estimates -----------------------------------------------------------------------------------

_ROUGH = r"(?:rough|quick|approximate|order[- ]of[- ]magnitude|ballpark|fermi)"
_ROUGHLY = r"(?:roughly|approximately)"
_AMOUNT = r"(?:many|much|long|far|large|big|old|often|heavy|tall)"
_ESTIMATION = re.compile(
    rf"""
      \b ball[- ]?park \b | \b back[- ]of[- ](?:the|an)[- ]envelope \b
    | \b fermi [- ] (?:problem|question|estimat\w+) \b
    # told to estimate: at the beginning of a sentence, or after words that ask for it
    | (?: \A | [.?!:;\n] \s{{0,9}} | \b (?:please|then|and|you|us|(?:you|me|us) [ ] to) [ ] )
      (?: (?:{_ROUGHLY}|quickly) [ ] )? (?:estimate|guesstimate|approximate) [ ] \w
    # told to come up with an estimate
    | \b (?:give|make|provide|obtain|find|get|produce|derive|calculate|compute|determine)
      (?: [ ] (?:me|us) )? (?: [ ] (?:a|an|your|the) )? (?: [ ] (?:{_ROUGH}|best|good|reasonable) )?
      [ ] (?:estimates?|guesstimates?|approximations?|approximate [ ] \w+) \b
    # asked for a rough amount
    | \b (?:{_ROUGHLY}|about) ,? [ ] how [ ] {_AMOUNT} \b
    | \b how [ ] {_AMOUNT} \b [^.?!\n]{{0,120}} \b {_ROUGHLY} \?
    | \b what [ ] (?:is|are|was|were|would [ ] be) [ ] (?:{_ROUGHLY} | the [ ] approximate) [ ]
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Where the options of a multiple-choice question begin; they are answers, not the question.
_OPTIONS = re.compile(r"\n\s*\(?A[).:]\s")


def is_estimation(request: str) -> bool:
    """Whether a request asks for an estimate, judged by its wording.

    The keyed pass is then skipped: a judge that has committed itself to a rough number measures the
    responses against that number (004, section 3.5 and table 5). Only words that ask for an
    estimate count; mere mentions ("the estimated cost is", "take your best guess") do not.
    """
    return _ESTIMATION.search(_OPTIONS.split(request, maxsplit=1)[0]) is not None

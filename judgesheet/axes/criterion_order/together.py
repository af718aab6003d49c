"""Does the place in the list matter, taking all criteria together?

What single criteria show too weakly for tests of their own, all of them can show together.
"""

from judgesheet.axis.figure import UnkeyedEstimate, absent
from judgesheet.axis.unequal import TOO_FEW, Stimuli
from judgesheet.stats.interval import without_interval

from ._scores import figure


@figure("p", better="", headline=26, passes_blind=True)
def order_dependence_p(stimuli: Stimuli) -> UnkeyedEstimate:
    """p-value of "no place is favoured", over all criteria, responses and prompts together.

    The orders of a response's calls are exchanged, and what each place gets over all of them is
    compared. A preference for a place that all criteria share is found with fewer prompts than by
    `friedman_p_holm`; one that only some have, or that cancels between them, is not.
    """
    label = "p: no place in the list is favoured by all criteria together"
    if not stimuli.names:
        return absent(label, TOO_FEW)
    p, method = stimuli.compared.together_p, "orders exchanged within responses, Monte Carlo"
    estimate = without_interval(p, clusters=len(stimuli.names), method=method)
    return UnkeyedEstimate(label, estimate, n=int(stimuli.calls.sum()))

"""Why a judge stopped, in the endpoint's word: which words say that its reply is whole."""

import re
from collections.abc import Mapping

WHOLE_BY_API: Mapping[str, frozenset[str]] = {
    "OpenAI chat completions": frozenset({"stop"}),
    "OpenAI responses": frozenset({"completed"}),
    "Anthropic messages, Bedrock Converse": frozenset({"end_turn", "stop_sequence"}),
    "Gemini": frozenset({"STOP", "FINISH_REASON_STOP"}),
    "Cohere": frozenset({"COMPLETE", "STOP_SEQUENCE"}),
    "Bedrock Titan": frozenset({"FINISH", "FINISHED", "STOP_CRITERIA_MET"}),
    "Text Generation Inference, watsonx": frozenset({"eos_token", "stop_sequence"}),
    "Together": frozenset({"eos", "stop"}),
    "AI21": frozenset({"endoftext", "stop"}),
    "Aleph Alpha": frozenset({"end_of_text", "stop_sequence_reached"}),
}
"""Per API, the reasons that say that the model ended by itself. Gateways pass them on as they are,
so that a chat completion may carry the reason of any API."""
TOKEN_LIMITS = frozenset(
    {
        *("length", "max_tokens", "max_output_tokens", "maximum_tokens", "token_limit"),
        *("model_length", "model_context_window_exceeded"),
    }
)
"""Reasons of replies that ended where the tokens did: what helps is known, a larger limit."""
FILTERS = frozenset(
    {
        *("content_filter", "content_filtered", "guardrail_intervened", "refusal", "sensitive"),
        *("safety", "prohibited_content", "blocklist", "spii", "recitation", "error_toxic"),
    }
)
"""Reasons of replies that a filter of the endpoint's withheld, as their APIs document them."""

_WHOLE = frozenset(reason.casefold() for names in WHOLE_BY_API.values() for reason in names)


def is_whole(reason: object) -> bool:
    """Whether a reply with this reason is all that the judge had to say.

    A reason that nobody knows may mean anything, so the reply is not whole. One that is missing is
    no reason to doubt: many servers, batch files and Python judges give none, and would lose every
    verdict.
    """
    # A table reads what is missing as a number that is none.
    return not isinstance(reason, str) or not reason or reason.casefold() in _WHOLE


def is_token_limit(reason: object) -> bool:
    """Whether a reply ended where the tokens did."""
    return isinstance(reason, str) and reason.casefold() in TOKEN_LIMITS


def is_filtered(reason: object) -> bool:
    """Whether a filter withheld the reply: `SAFETY`, or `content_filter: PROHIBITED_CONTENT`."""
    return isinstance(reason, str) and not FILTERS.isdisjoint(re.split(r"\W+", reason.casefold()))

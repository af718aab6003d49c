"""Headers as providers send them, and as nobody should."""

import pytest

from judgesheet.base.records import Allowance
from judgesheet.judges.allowances import read_allowances, reset_s, seconds_until

DATE = "Thu, 21 Aug 2025 12:40:00 GMT"

SENT = {
    "openai": (
        {
            "x-ratelimit-limit-requests": "5000",
            "x-ratelimit-remaining-requests": "4999",
            "x-ratelimit-reset-requests": "12ms",
            "x-ratelimit-limit-tokens": "160000",
            "x-ratelimit-remaining-tokens": "0",
            "x-ratelimit-reset-tokens": "6m0.5s",
        },
        [Allowance("requests", 5000, 4999, 0.012), Allowance("tokens", 160000, 0, 360.5)],
    ),
    "groq": (
        {
            "x-ratelimit-limit-requests": "14400",
            "x-ratelimit-remaining-requests": "14370",
            "x-ratelimit-reset-requests": "2m59.56s",
        },
        [Allowance("requests", 14400, 14370, 179.56)],
    ),
    "azure": (
        {"x-ratelimit-remaining-requests": "79", "x-ratelimit-reset-requests": "7"},
        [Allowance("requests", None, 79, 7.0)],
    ),
    "azure, not known": (
        {"x-ratelimit-limit-tokens": "-1", "x-ratelimit-remaining-tokens": "-1"},
        [],
    ),
    "mistral": (
        {
            "x-ratelimit-limit-req-minute": "720",
            "x-ratelimit-remaining-req-minute": "717",
            "x-ratelimit-limit-tokens-minute": "5000000",
            "x-ratelimit-remaining-tokens-minute": "4999911",
        },
        [Allowance("requests", 720, 717, None), Allowance("tokens", 5_000_000, 4_999_911, None)],
    ),
    "anthropic": (  # by its own clock, whatever ours says
        {
            "date": DATE,
            "anthropic-ratelimit-input-tokens-limit": "80000",
            "anthropic-ratelimit-input-tokens-remaining": "79000",
            "anthropic-ratelimit-input-tokens-reset": "2025-08-21T12:40:09Z",
            "anthropic-ratelimit-output-tokens-limit": "16000",
            "anthropic-ratelimit-output-tokens-remaining": "0",
            "anthropic-ratelimit-output-tokens-reset": "2025-08-21T12:39:59Z",
        },
        [Allowance("tokens_in", 80000, 79000, 9.0), Allowance("tokens_out", 16000, 0, 0.0)],
    ),
    "nobody": ({"content-type": "application/json"}, []),
}


@pytest.mark.parametrize("provider", SENT)
def test_what_providers_send_is_read(provider: str) -> None:
    headers, told = SENT[provider]
    assert [*read_allowances(headers)] == told


@pytest.mark.parametrize("told", ["", "soon", "-5s", "1e9", "5x", "5s5", "nan", "s" * 10**6, "٣s"])
def test_what_is_no_time_is_none(told: str) -> None:
    assert seconds_until(told, {}) is None


def test_a_refusal_waits_for_what_is_used_up() -> None:
    told = [Allowance("requests", 9, 3, 100.0), Allowance("tokens", 9, 0, 7.0)]
    assert reset_s(told) == 7
    assert reset_s(told[:1]) is None

"""Sums over the attempts of a ledger: calls, tokens, latencies, and how many of each kind."""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

from judgesheet.base.records import NEVER_ASKED, UNBILLED, Outcome

PAUSE_S = 300.0
"""A reply that came this much later than its latency tells had nobody asking before it."""

_SUMS = """
-- Where no call was given up, reopened or left out, those with a settling outcome are counted at
-- once. The plus signs keep SQLite from looking up each of many rows in an index.
WITH ok AS (SELECT latency_s, tokens_in FROM attempt WHERE +outcome = 'ok'),
  -- What was answered elsewhere has no latency, and no call takes no time.
  ranked AS (SELECT latency_s, row_number() OVER (ORDER BY latency_s) AS place FROM ok
    WHERE latency_s > 0)
SELECT (SELECT count(*) FROM asked) AS planned,
  CASE WHEN EXISTS (SELECT 1 FROM meta WHERE key IN ('given_up', 'reopened', 'left_out'))
    THEN (SELECT count(*) FROM asked) - (SELECT count(*) FROM pending)
    ELSE (SELECT count(DISTINCT call_id) FROM attempt
      WHERE +outcome IN ('ok', 'refused', 'too_long')) END AS settled,
  count(*) AS attempts,
  -- A count beyond a thousand million is none, and its sum would overflow.
  sum(iif(tokens_in BETWEEN 0 AND 1000000000, tokens_in, NULL)) AS tokens_in,
  sum(iif(tokens_out BETWEEN 0 AND 1000000000, tokens_out, NULL)) AS tokens_out,
  count(*) FILTER (WHERE tokens_in IS NULL AND tokens_out IS NULL
    AND outcome NOT IN (SELECT value FROM json_each(:unbilled))
    AND coalesce(finish_reason, '') NOT IN (SELECT value FROM json_each(:never_asked))
    ) AS unmetered,
  min(at) AS first_at, max(at) AS last_at,
  -- Between sessions nobody asks: of a longer pause than any wait only the reply's own time counts.
  (SELECT total(iif(at - before <= latency_s + :pause, at - before, latency_s)) FROM
    (SELECT at, latency_s, lag(at, 1, :begun) OVER (ORDER BY at) AS before FROM attempt
      WHERE at >= coalesce(:begun, at)) WHERE before IS NOT NULL) AS asking_s,
  (SELECT max(tokens_in) FROM ok WHERE tokens_in BETWEEN 0 AND 1000000000) AS longest_prompt,
  -- The smallest latency that half, or 99 %, of the answered attempts do not exceed.
  (SELECT latency_s FROM ranked WHERE 100 * place >= 50 * (SELECT count(*) FROM ranked)
   ORDER BY place LIMIT 1) AS latency_p50_s,
  (SELECT latency_s FROM ranked WHERE 100 * place >= 99 * (SELECT count(*) FROM ranked)
   ORDER BY place LIMIT 1) AS latency_p99_s
FROM attempt
"""

REASONING = """
WITH stated AS (
    SELECT iif(instr(raw, '"reasoning_tokens"') AND json_valid(raw)
            AND json_type(raw, :path) = 'integer', json_extract(raw, :path), NULL) AS tokens
    FROM attempt)
SELECT sum(tokens) FROM stated WHERE tokens BETWEEN 0 AND 1000000000
"""
"""Most bodies do not speak of reasoning, and are searched for the word alone."""

SPENT = """
WITH one AS (SELECT outcome, length(messages) AS characters_in, length(text) AS characters_out,
    min(coalesce(tokens_in, 0), 1000000000) AS tokens_in,
    min(coalesce(tokens_out, 0), 1000000000) AS tokens_out,
    tokens_in IS NULL AND tokens_out IS NULL AND outcome NOT IN ('ok', 'unreadable')
      AND outcome NOT IN (SELECT value FROM json_each(:unbilled))
      AND coalesce(finish_reason, '') NOT IN (SELECT value FROM json_each(:never_asked)) AS unknown
  FROM attempt JOIN call ON id = call_id JOIN prompt ON prompt.digest = call.prompt
  WHERE at >= :since)
SELECT count(*), total(unknown), total(iif(outcome IN ('ok', 'unreadable')
    AND (tokens_in = 0 OR tokens_in * :most < characters_in),
    characters_in / :each, tokens_in)),
  total(iif(outcome IN ('ok', 'unreadable')
    AND (tokens_out = 0 OR tokens_out * :most < characters_out),
    characters_out / :each, tokens_out))
FROM one
"""
"""Attempts since a run began, those of unknown cost, and the tokens of the others, as `tokens_of`
counts them."""

HOSTS = """
WITH stated AS (SELECT call_id, iif((instr(raw, '"provider"') OR instr(raw, '"system_fingerprint"'))
      AND json_valid(raw), raw, '{}') AS body FROM answer WHERE outcome = 'ok' AND EXISTS (
      SELECT 1 FROM attempt WHERE instr(raw, '"provider"') OR instr(raw, '"system_fingerprint"'))),
  named AS (SELECT call_id, CASE 'text'
      WHEN json_type(body, '$.provider') THEN json_extract(body, '$.provider')
      WHEN json_type(body, '$.system_fingerprint') THEN json_extract(body, '$.system_fingerprint')
    END AS host FROM stated)
SELECT call_id, host FROM named WHERE host != ''
"""
"""Which host of a router answered, or which build of a server. Most bodies name none."""

PROMPT_SIZES = """
SELECT id, attempt, answer.prompt, length(messages), tokens_in
FROM answer JOIN prompt ON prompt.digest = answer.prompt
WHERE outcome = 'ok' AND tokens_in > 0 AND EXISTS (SELECT 1 FROM attempt WHERE tokens_in > 0)
ORDER BY seq
"""

UNEQUAL_TOKENS = """
SELECT axis, count(*), sum(fewest < most) FROM (
    SELECT axis, min(tokens_in) AS fewest, max(tokens_in) AS most
    FROM call JOIN attempt ON call_id = id
    WHERE outcome = 'ok' AND tokens_in > 0
    GROUP BY axis, prompt, params, reply, served_model HAVING count(*) > 1)
GROUP BY axis
"""
"""Per axis the questions that were answered more than once, and those of them that were counted
with different numbers of tokens. By one model each has one number, so that an answer with another
may belong to another question."""


class Spent(NamedTuple):
    """What attempts used: how many there were, those of unknown cost, tokens of the others."""

    attempts: int
    unknown: int
    tokens_in: int
    tokens_out: int


def free_of_charge() -> dict[str, str]:
    """Parameters of a query: outcomes and reasons of what nobody is paid for."""
    free = {"unbilled": UNBILLED, "never_asked": NEVER_ASKED}
    return {name: json.dumps([*words]) for name, words in free.items()}


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all attempts. Latencies are those of `ok` attempts, in seconds.

    `tokens_in`, `tokens_out` are None where the endpoint never said; `first_at`, `last_at` are
    seconds since the epoch, None before the first attempt. `asking_s` are the seconds while
    calls were asked, without the pauses between sessions. `longest_prompt` is in tokens, of the
    prompts that were answered. `unmetered` counts attempts that may have cost what nobody says
    (`Reply.is_unmetered`).
    """

    planned: int
    settled: int
    attempts: int
    outcomes: Mapping[Outcome, int]
    tokens_in: int | None
    tokens_out: int | None
    first_at: float | None
    last_at: float | None
    asking_s: float
    latency_p50_s: float | None
    latency_p99_s: float | None
    served_models: Mapping[str, int]
    longest_prompt: int | None
    unmetered: int

    @classmethod
    def of(cls, db: sqlite3.Connection, begun: float | None = None) -> Self:
        """Those of an open ledger; `begun` is when it began to ask, None for its first reply."""
        sums = db.execute(_SUMS, {**free_of_charge(), "pause": PAUSE_S, "begun": begun})
        outcomes = db.execute("SELECT outcome, count(*) FROM attempt GROUP BY 1 ORDER BY 1")
        served = db.execute(
            "SELECT served_model, count(*) FROM attempt WHERE served_model IS NOT NULL"
            " GROUP BY 1 ORDER BY 2 DESC, 1"
        )
        names = [column[0] for column in sums.description]
        known = dict(zip(names, sums.fetchone(), strict=True))
        return cls(**known, outcomes=dict(outcomes), served_models=dict(served))

-- What this ledger belongs to; every value is JSON. Always there: schema_version, judgesheet (the
-- version that created it), plan (its digest), seed, provenance, judge (its identity), created_at
-- (seconds since the epoch). parsers: those that read the replies, if any (until they are replaced,
-- those of provenance); parsers_replaced: those that did before. Where somebody said so: given_up
-- (ids of calls settled as they stand), reopened ([id, attempt] of attempts that settle no more: too
-- long, or to a prompt that the server cut),
-- earlier_base_urls (where the judge was asked before). Where the endpoint refused a parameter:
-- refused_parameters (by its name, that under which it is sent, or null: it is not). Where requests
-- were limited: limits (held_s, the seconds for which requests were held back). Where results of a
-- batch were ingested: batches (file, SHA-256 digest of each). Where a run stops as soon as a policy
-- is decided: looks (how far it is), left_out (ids of the calls that no limit reads, or that no look
-- has taken yet). Where replies of earlier runs were taken over:
-- taken_over (of each such run its plan, created_at, and how many replies); their `at` is before this
-- ledger's created_at.
CREATE TABLE meta (
    key    TEXT PRIMARY KEY,
    value  TEXT NOT NULL
) WITHOUT ROWID;

-- The messages of a call as JSON, once per content.
CREATE TABLE prompt (
    digest    TEXT PRIMARY KEY,     -- first 24 hexadecimal digits of the SHA-256 of `messages`
    messages  TEXT NOT NULL
);

-- The parameters of a request as JSON, once per content.
CREATE TABLE params (
    digest  TEXT PRIMARY KEY,       -- likewise, of `params`
    params  TEXT NOT NULL
);

-- One planned question per row; never changed. Questions that follow from replies are added at the
-- end (`judgesheet consensus`); the plan's digest in `meta` is that of the first ones.
CREATE TABLE call (
    seq       INTEGER PRIMARY KEY,  -- place in the plan, from 0
    id        TEXT NOT NULL,        -- hash of the call's content
    axis      TEXT NOT NULL,
    stimulus  TEXT NOT NULL,
    cell      TEXT NOT NULL,        -- the experimental condition, JSON
    repeat    INTEGER NOT NULL,
    reply     TEXT NOT NULL,        -- the reply format that is asked for
    params    TEXT NOT NULL REFERENCES params (digest),
    prompt    TEXT NOT NULL REFERENCES prompt (digest)
);
-- Indices stand apart from their tables: those of a log are made when all of it is in them.
CREATE UNIQUE INDEX call_id ON call (id);

-- What is known about an item and never shown to the judge.
CREATE TABLE label (
    axis       TEXT NOT NULL,
    item       TEXT NOT NULL,
    criterion  TEXT NOT NULL,       -- '' where the axis has none
    kind       TEXT NOT NULL,
    score      REAL NOT NULL,
    ratings    TEXT NOT NULL        -- JSON: one rating per rater, null where none; [] if unknown
);

-- One request per row. The last attempt at a call is its reply; the call is settled once any attempt
-- has an outcome that another attempt would not change.
CREATE TABLE attempt (
    call_id        TEXT NOT NULL REFERENCES call (id),
    attempt        INTEGER NOT NULL, -- from 1, counted over all sessions
    outcome        TEXT NOT NULL,
    latency_s      REAL NOT NULL,
    tokens_in      INTEGER,          -- NULL where the endpoint does not say
    tokens_out     INTEGER,
    served_model   TEXT,
    at             REAL NOT NULL,    -- seconds since the epoch
    retry_after_s  REAL,             -- what the server asked for
    text           TEXT NOT NULL,    -- the judge's words
    raw            TEXT NOT NULL,    -- the body as received
    finish_reason  TEXT              -- why the judge stopped, in the endpoint's word; or HTTP and the status
);
CREATE UNIQUE INDEX attempt_of_call ON attempt (call_id, attempt);
CREATE INDEX attempt_outcome ON attempt (outcome, call_id);

-- The calls that are to be made: all but those that a run left out which stops once it is decided.
CREATE VIEW asked AS
    SELECT * FROM call
    WHERE id NOT IN (SELECT value FROM json_each((SELECT value FROM meta WHERE key = 'left_out')));

-- A call with its messages, as it is sent.
CREATE VIEW question AS
    SELECT call.*, messages
    FROM call LEFT JOIN prompt ON prompt.digest = call.prompt;

-- A call without a settling outcome, and how often it was tried. What was refused for another reason
-- than the call itself (a key, the credit, a parameter) is asked again.
CREATE VIEW pending AS
    SELECT question.*,
           (SELECT coalesce(max(attempt), 0) FROM attempt WHERE call_id = id) AS attempts,
           (SELECT count(*) FROM attempt WHERE call_id = id AND outcome = 'unreadable') AS unreadable
    FROM question
    WHERE NOT EXISTS (
        SELECT 1 FROM attempt
        WHERE call_id = id AND outcome IN ('ok', 'refused', 'too_long')
            AND (call_id, attempt) NOT IN (
                SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]')
                FROM json_each((SELECT value FROM meta WHERE key = 'reopened')))
    )
    AND id NOT IN (SELECT value FROM json_each((SELECT value FROM meta WHERE key = 'left_out')))
    AND id NOT IN (SELECT value FROM json_each((SELECT value FROM meta WHERE key = 'given_up')));

-- Every call to be made with its last attempt; NULLs where it was never asked. That a parameter was refused says
-- nothing of the call. A reply that is to be asked for again is an answer until another one comes.
CREATE VIEW answer AS
    SELECT asked.*, call_id, attempt, iif(outcome = 'unreadable', 'ok', outcome) AS outcome,
           latency_s, tokens_in, tokens_out, served_model, at, retry_after_s, text, raw, finish_reason
    FROM asked LEFT JOIN attempt
    ON call_id = id AND attempt = (
        SELECT max(attempt) FROM attempt WHERE call_id = id AND outcome != 'unsupported');

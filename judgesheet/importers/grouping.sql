-- The lines of foreign files, grouped by prompt. Only one import uses this database, and nothing of
-- it outlives that: no journal, no waiting for the disk.
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -16000;  -- KiB

-- One piece a row; head and ratings are JSON objects, by field and by criterion.
CREATE TABLE piece (
    line INTEGER PRIMARY KEY, place TEXT, key TEXT, id TEXT, head TEXT,
    item TEXT, text TEXT, gold INTEGER, rater TEXT, seated INTEGER, ratings TEXT
);

-- One prompt a row, by the line that mentions it first; `size` is in characters.
CREATE TABLE prompt (line INTEGER PRIMARY KEY, key TEXT, id TEXT, place TEXT, size INTEGER);

-- SQLite takes id and place from the line that has the minimum.
CREATE VIEW mentioned AS
    SELECT min(line), key, id, place, sum(length(place) + length(text) + length(ratings))
    FROM piece GROUP BY key;

-- A list of ratings, and a rating of it.
CREATE VIEW rated AS
    SELECT line, place, piece.key AS key, item, list.key AS criterion, list.value AS ratings
    FROM piece, json_each(piece.ratings) AS list;
CREATE VIEW rating AS
    SELECT line, place, criterion, given.value AS value
    FROM rated, json_each(rated.ratings) AS given;

-- Prompts with the id of an earlier one.
CREATE VIEW same_id AS
    SELECT later.place, later.id, known.place
    FROM prompt AS later JOIN prompt AS known USING (id)
    WHERE known.line < later.line ORDER BY later.line;

-- Criteria with a share of 1 in one place and a whole number above 1 in another.
CREATE VIEW two_scales AS
    SELECT criterion, (SELECT place FROM piece WHERE line = part),
        (SELECT place FROM piece WHERE line = whole)
    FROM (
        SELECT criterion, min(line) FILTER (WHERE value > 0 AND value < 1) AS part,
            min(line) FILTER (WHERE value > 1) AS whole,
            max(value > 1 AND value <> round(value)) AS fine
        FROM rating GROUP BY criterion
    )
    WHERE part AND whole AND NOT fine;

-- Raters with lines of their own, in order of appearance.
CREATE VIEW panel AS
    SELECT rater FROM piece WHERE seated AND rater IS NOT NULL
    GROUP BY rater ORDER BY min(line);

-- How many ratings a response has at most, by criterion.
CREATE VIEW widest AS
    SELECT criterion, max(width)
    FROM (
        SELECT criterion, sum(json_array_length(ratings)) AS width
        FROM rated GROUP BY key, item, criterion
    )
    GROUP BY criterion;

-- All pieces, those of a prompt together, in the order of first mention.
CREATE VIEW grouped AS
    SELECT prompt.line AS first, prompt.id AS prompt, piece.*
    FROM prompt CROSS JOIN piece ON piece.key = prompt.key ORDER BY prompt.line, piece.line;

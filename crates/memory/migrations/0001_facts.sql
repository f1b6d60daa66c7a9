-- Facts, and the log of what happened to them.
--
-- Moments are microseconds since 1970-01-01T00:00:00Z.

CREATE TABLE fact (
    -- The position in the change log at which the fact was recorded.
    seq           INTEGER PRIMARY KEY,
    id            TEXT    NOT NULL UNIQUE CHECK (length(id) = 36),
    domain        TEXT    NOT NULL CHECK (domain <> ''),
    topic         TEXT    NOT NULL CHECK (topic <> ''),
    content       TEXT    NOT NULL CHECK (content <> ''),
    -- A hash of the normalised content, to find the same statement again.
    statement_key INTEGER NOT NULL,
    veracity      TEXT    NOT NULL CHECK (veracity IN ('stated', 'unknown', 'inferred', 'imported', 'tool')),
    author        TEXT,
    source        TEXT,
    recorded_at   INTEGER NOT NULL,
    valid_from    INTEGER,
    valid_until   INTEGER,
    -- When the fact begins to hold for a question about a moment: valid_from where it is known.
    holds_from    INTEGER NOT NULL,
    -- These four are the only columns that change, each time with a line in the log.
    confidence    REAL    NOT NULL CHECK (confidence BETWEEN 0.0 AND 1.0),
    mentions      INTEGER NOT NULL DEFAULT 1 CHECK (mentions >= 1),
    superseded_by TEXT    REFERENCES fact (id),
    superseded_at INTEGER,
    CHECK (valid_until > valid_from),
    CHECK (superseded_by <> id),
    CHECK ((superseded_by IS NULL) = (superseded_at IS NULL)),
    CHECK (superseded_at >= recorded_at)
) STRICT;

-- To find a statement again, and for questions about a whole domain.
CREATE INDEX fact_by_statement ON fact (domain, topic, statement_key);
-- For questions: rows of one topic and domain come out in the order of recording.
CREATE INDEX fact_by_topic ON fact (topic, domain);
CREATE INDEX fact_by_successor ON fact (superseded_by) WHERE superseded_by IS NOT NULL;

-- Append only. Positions grow and are never given twice; whoever keeps an index follows them.
CREATE TABLE change (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    fact       TEXT    NOT NULL REFERENCES fact (id),
    kind       TEXT    NOT NULL CHECK (kind IN ('recorded', 'mentioned', 'superseded')),
    at         INTEGER NOT NULL,
    -- As they are after the change, so that a past state can be read back.
    confidence REAL    NOT NULL CHECK (confidence BETWEEN 0.0 AND 1.0),
    mentions   INTEGER NOT NULL CHECK (mentions >= 1)
) STRICT;

CREATE INDEX change_by_fact ON change (fact, seq);

CREATE TRIGGER fact_is_not_edited
BEFORE UPDATE OF seq, id, domain, topic, content, statement_key, veracity, author, source,
                 recorded_at, valid_from, valid_until, holds_from ON fact
BEGIN
    SELECT RAISE(ABORT, 'a fact is never edited in place: supersede it');
END;

CREATE TRIGGER fact_is_superseded_once
BEFORE UPDATE OF superseded_by, superseded_at ON fact
WHEN OLD.superseded_by IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'the fact is superseded already');
END;

CREATE TRIGGER change_is_not_edited
BEFORE UPDATE ON change
BEGIN
    SELECT RAISE(ABORT, 'the change log is append only');
END;

CREATE TRIGGER change_is_not_deleted
BEFORE DELETE ON change
BEGIN
    SELECT RAISE(ABORT, 'the change log is append only');
END;

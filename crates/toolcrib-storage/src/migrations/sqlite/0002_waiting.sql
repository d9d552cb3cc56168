-- Runs that wait for people, and what content demands. A stricter restriction of outgoing data is a larger number.

ALTER TABLE conversations ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 0 CHECK (untrusted IN (0, 1));
ALTER TABLE conversations ADD COLUMN outbound INTEGER NOT NULL DEFAULT 0;

ALTER TABLE runs ADD COLUMN locale TEXT NOT NULL DEFAULT 'und';
ALTER TABLE runs ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 0 CHECK (untrusted IN (0, 1));
ALTER TABLE runs ADD COLUMN outbound INTEGER NOT NULL DEFAULT 0;

ALTER TABLE traces ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 0 CHECK (untrusted IN (0, 1));
ALTER TABLE traces ADD COLUMN cost INTEGER NOT NULL DEFAULT 0;

-- What a run needs to go on: from its pause until the end of the round that was interrupted by it.
CREATE TABLE saved_runs (
    run_id    TEXT    NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    state     TEXT    NOT NULL,
    saved_at  INTEGER NOT NULL
) STRICT;

-- Whose an approval is, and in which conversation, stands in its run as well: here it is for lists.
CREATE TABLE approvals (
    id               TEXT    NOT NULL PRIMARY KEY,
    run_id           TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    conversation_id  TEXT,
    workspace_id     TEXT    NOT NULL,
    user_id          TEXT    NOT NULL,
    round            INTEGER NOT NULL,
    call_order       INTEGER NOT NULL,
    call_id          TEXT    NOT NULL,
    tool_id          TEXT    NOT NULL,
    display_name     TEXT    NOT NULL,
    icon             TEXT    NOT NULL,
    reason           TEXT    NOT NULL,
    format           INTEGER NOT NULL,
    arguments        TEXT    NOT NULL,
    created_at       INTEGER NOT NULL,
    expires_at       INTEGER NOT NULL,
    state            TEXT    NOT NULL,
    answer           TEXT,
    answered_at      INTEGER,
    -- An answer that came too late has found it expired, and whoever looks for that has not been told yet.
    unreported       INTEGER NOT NULL DEFAULT 0 CHECK (unreported IN (0, 1))
) STRICT;

CREATE INDEX approvals_by_run ON approvals (run_id, call_order);
CREATE INDEX approvals_by_owner ON approvals (workspace_id, user_id, created_at, id);
CREATE INDEX approvals_by_owner_waiting ON approvals (workspace_id, user_id, created_at, id) WHERE state = 'waiting';
CREATE INDEX approvals_by_conversation ON approvals (conversation_id, created_at, id)
    WHERE conversation_id IS NOT NULL;
CREATE INDEX approvals_waiting ON approvals (expires_at) WHERE state = 'waiting';
CREATE INDEX approvals_unreported ON approvals (run_id) WHERE unreported = 1;

CREATE TABLE approved_tools (
    conversation_id  TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    tool_id          TEXT    NOT NULL,
    approved_at      INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, tool_id)
) STRICT, WITHOUT ROWID;

-- By what protected text is recognized. It outlives the conversation that the text is from.
CREATE TABLE protected_texts (
    workspace_id         TEXT    NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    fingerprint          INTEGER NOT NULL,
    required_confidence  INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, fingerprint)
) STRICT, WITHOUT ROWID;

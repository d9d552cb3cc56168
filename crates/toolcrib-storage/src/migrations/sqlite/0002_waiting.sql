-- Labels, runs that wait for people, and the fingerprints of protected text.
-- `outbound` is a rank: 0 unrestricted, 1 links from the chat, 2 configured services only.

ALTER TABLE conversations ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 0 CHECK (untrusted IN (0, 1));
ALTER TABLE conversations ADD COLUMN outbound  INTEGER NOT NULL DEFAULT 0;

ALTER TABLE runs ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 0 CHECK (untrusted IN (0, 1));
ALTER TABLE runs ADD COLUMN outbound  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN locale    TEXT    NOT NULL DEFAULT 'en';

ALTER TABLE traces ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 0 CHECK (untrusted IN (0, 1));
-- In millionths of a credit.
ALTER TABLE traces ADD COLUMN cost      INTEGER NOT NULL DEFAULT 0;

CREATE INDEX runs_waiting ON runs (id) WHERE state = 'waiting';

-- What a run that waits needs to go on; kept until it ends.
CREATE TABLE run_states (
    run_id  TEXT NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    state   TEXT NOT NULL
) STRICT;

CREATE TABLE approvals (
    id               TEXT    NOT NULL PRIMARY KEY,
    run_id           TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    conversation_id  TEXT,
    workspace_id     TEXT    NOT NULL,
    user_id          TEXT    NOT NULL,
    call_order       INTEGER NOT NULL,
    call_id          TEXT    NOT NULL,
    tool_id          TEXT    NOT NULL,
    display_name     TEXT    NOT NULL,
    icon             TEXT    NOT NULL,
    arguments        TEXT    NOT NULL,
    reason           TEXT    NOT NULL,
    created_at       INTEGER NOT NULL,
    expires_at       INTEGER NOT NULL,
    state            TEXT    NOT NULL,
    answer           TEXT,
    answered_at      INTEGER
) STRICT;

CREATE INDEX approvals_by_owner ON approvals (workspace_id, user_id, created_at, id);
CREATE INDEX approvals_by_run ON approvals (run_id);
CREATE INDEX approvals_waiting ON approvals (expires_at) WHERE state = 'waiting';

-- Tools that a user has agreed to for a whole conversation.
CREATE TABLE approved_tools (
    conversation_id  TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    tool_id          TEXT NOT NULL,
    PRIMARY KEY (conversation_id, tool_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE protected_texts (
    workspace_id         TEXT    NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    fingerprint          INTEGER NOT NULL,
    required_confidence  INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, fingerprint)
) STRICT, WITHOUT ROWID;

-- Times are microseconds since 1970.

CREATE TABLE installation (
    singleton   INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
    id          TEXT    NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE workspaces (
    id          TEXT    NOT NULL PRIMARY KEY,
    name        TEXT    NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE users (
    id          TEXT    NOT NULL PRIMARY KEY,
    name        TEXT    NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE members (
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    user_id       TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role          TEXT NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX members_by_user ON members (user_id);

CREATE TABLE api_keys (
    id            TEXT    NOT NULL PRIMARY KEY,
    workspace_id  TEXT    NOT NULL,
    user_id       TEXT    NOT NULL,
    name          TEXT    NOT NULL,
    hash          BLOB    NOT NULL UNIQUE,
    prefix        TEXT    NOT NULL,
    scopes        TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    last_used_at  INTEGER,
    expires_at    INTEGER,
    revoked_at    INTEGER,
    FOREIGN KEY (workspace_id, user_id) REFERENCES members (workspace_id, user_id) ON DELETE CASCADE
) STRICT;

CREATE INDEX api_keys_by_owner ON api_keys (workspace_id, user_id);

CREATE TABLE conversations (
    id                   TEXT    NOT NULL PRIMARY KEY,
    workspace_id         TEXT    NOT NULL,
    user_id              TEXT    NOT NULL,
    title                TEXT    NOT NULL,
    temporary            INTEGER NOT NULL CHECK (temporary IN (0, 1)),
    required_confidence  INTEGER NOT NULL,
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL,
    FOREIGN KEY (workspace_id, user_id) REFERENCES members (workspace_id, user_id) ON DELETE CASCADE
) STRICT;

CREATE INDEX conversations_by_owner ON conversations (workspace_id, user_id, updated_at, id);

CREATE TABLE runs (
    id                   TEXT    NOT NULL PRIMARY KEY,
    conversation_id      TEXT    REFERENCES conversations (id) ON DELETE CASCADE,
    workspace_id         TEXT    NOT NULL,
    user_id              TEXT    NOT NULL,
    component            TEXT    NOT NULL,
    provider_id          TEXT    NOT NULL,
    model                TEXT    NOT NULL,
    state                TEXT    NOT NULL,
    reason               TEXT,
    sources              TEXT    NOT NULL DEFAULT '[]',
    input_tokens         INTEGER NOT NULL DEFAULT 0,
    output_tokens        INTEGER NOT NULL DEFAULT 0,
    cached_input_tokens  INTEGER NOT NULL DEFAULT 0,
    reasoning_tokens     INTEGER NOT NULL DEFAULT 0,
    rounds               INTEGER NOT NULL DEFAULT 0,
    required_confidence  INTEGER NOT NULL DEFAULT 0,
    started_at           INTEGER NOT NULL,
    ended_at             INTEGER,
    FOREIGN KEY (workspace_id, user_id) REFERENCES members (workspace_id, user_id) ON DELETE CASCADE
) STRICT;

CREATE INDEX runs_by_owner ON runs (workspace_id, user_id, started_at, id);
CREATE INDEX runs_by_owner_and_state ON runs (workspace_id, user_id, state, started_at, id);
CREATE INDEX runs_by_conversation ON runs (conversation_id, started_at, id) WHERE conversation_id IS NOT NULL;
-- Few runs are going on at any time: what a crash left is found without reading the rest.
CREATE INDEX runs_going_on ON runs (id) WHERE state = 'running';

CREATE TABLE messages (
    conversation_id  TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    position         INTEGER NOT NULL,
    run_id           TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    kind             TEXT    NOT NULL,
    format           INTEGER NOT NULL,
    content          TEXT    NOT NULL,
    UNIQUE (conversation_id, position)
) STRICT;

CREATE INDEX messages_by_run ON messages (run_id);

CREATE TABLE traces (
    run_id               TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    call_order           INTEGER NOT NULL,
    round                INTEGER NOT NULL,
    tool_id              TEXT    NOT NULL,
    display_name         TEXT    NOT NULL,
    icon                 TEXT    NOT NULL,
    call_id              TEXT    NOT NULL,
    status               TEXT    NOT NULL,
    status_message       TEXT,
    executed             INTEGER NOT NULL CHECK (executed IN (0, 1)),
    required_confidence  INTEGER NOT NULL,
    started_at           INTEGER NOT NULL,
    duration_ms          INTEGER NOT NULL,
    format               INTEGER NOT NULL,
    body                 TEXT    NOT NULL,
    UNIQUE (run_id, call_order)
) STRICT;

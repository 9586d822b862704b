/** Webhook events that were received and verified, and how far their forwarding has come. */
export const inbox = `
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  identity TEXT NOT NULL UNIQUE,
  received_at INTEGER NOT NULL,
  body BLOB NOT NULL,
  signature TEXT NOT NULL,
  request_id TEXT,
  status TEXT,
  event TEXT,
  oddity TEXT,
  repeats INTEGER NOT NULL DEFAULT 0,
  forward TEXT NOT NULL CHECK (forward IN ('none', 'waiting', 'done')),
  due_at INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  last_answer TEXT,
  forwarded_at INTEGER
) STRICT;

CREATE INDEX events_by_request ON events (request_id, id) WHERE request_id IS NOT NULL;
CREATE INDEX events_by_time ON events (received_at);
CREATE INDEX events_waiting ON events (request_id, id) WHERE forward = 'waiting';
`

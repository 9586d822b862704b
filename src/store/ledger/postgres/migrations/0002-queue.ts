/** Since when a batch is left for a worker. */
export const queue = `
ALTER TABLE batches ADD COLUMN queued_at bigint;
CREATE INDEX batches_queued ON batches (queued_at) WHERE queued_at IS NOT NULL;
`

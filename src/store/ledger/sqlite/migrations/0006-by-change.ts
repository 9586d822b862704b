/**
 * How many rows of a batch stand in each state, and when the newest of them came there, without a look at the rows.
 * What makes a row the only order for its person no longer names the state, which changes twice an order: each
 * change wrote that index again. A duplicate is a row that matches another; an invalid one has no fingerprint.
 */
export const byChange = `
DROP INDEX submissions_by_state;
CREATE INDEX submissions_by_state ON submissions (batch_id, state, changed_at);

DROP INDEX submissions_once_a_batch;
CREATE UNIQUE INDEX submissions_once_a_batch ON submissions (batch_id, fingerprint)
  WHERE fingerprint IS NOT NULL AND matches_batch IS NULL;
`

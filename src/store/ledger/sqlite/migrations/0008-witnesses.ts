/**
 * What results files say of a row's person, as JSON; and ids of requests in one case: stores of 0.1.0 have them as they
 * came.
 */
export const witnesses = `
ALTER TABLE submissions ADD COLUMN witnesses TEXT;

UPDATE submissions SET request_id = lower(request_id) WHERE request_id <> lower(request_id);
UPDATE submissions SET offered_id = lower(offered_id) WHERE offered_id <> lower(offered_id);
UPDATE events SET request_id = lower(request_id) WHERE request_id <> lower(request_id);
`

/** How each key stands in its quota windows; the key itself is not here. */
export const quota = `
CREATE TABLE quota (
  account TEXT PRIMARY KEY,
  state TEXT NOT NULL
) STRICT;
`

/** How many checks of an order have which status, as last read: JSON of domain/request/check-counts. */
export const checks = `
ALTER TABLE submissions ADD COLUMN checks TEXT;
`

/** Orders of one person are asked for by e-mail, in any case. */
export const byEmail = `
CREATE INDEX submissions_by_email ON submissions (email COLLATE NOCASE) WHERE email IS NOT NULL;
`

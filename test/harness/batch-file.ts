import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes a file with one person for each e-mail. Returns its name. */
export function writePeopleFile(folder: string, people: readonly string[], name = 'people.csv'): string {
  const rows = people.map((email, at) => `Ana,Row${at + 1},${email},${createPhone(email, at + 1)}`)
  writeFileSync(join(folder, name), `first_name,last_name,email,phone\n${rows.join('\n')}\n`)
  return name
}

/** Rows with the same phone may be the same person, so each e-mail or row gets a different phone. */
function createPhone(email: string, row: number): string {
  if (/^a\d+(\+[a-z-]+)?@/.test(email)) return `+6140000${String(row).padStart(4, '0')}`
  return `+6149${Array.from(Buffer.from(email)).reduce((sum, byte) => (sum * 31 + byte) % 10_000_000, 7)}`
}

/** Returns `a1@example.com`, `a2@example.com` and so on; `tag` follows the number. */
export function createEmails(count: number, tag = ''): string[] {
  return Array.from({ length: count }, (_, at) => `a${at + 1}${tag}@example.com`)
}

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes `people.csv` with a person for each e-mail; its name. */
export function peopleFile(folder: string, people: readonly string[], name = 'people.csv'): string {
  const rows = people.map(
    (email, at) => `Ana,Row${at + 1},${email},+6140000${String(at + 1).padStart(4, '0')}`,
  )
  writeFileSync(join(folder, name), `first_name,last_name,email,phone\n${rows.join('\n')}\n`)
  return name
}

/** `a1@example.com` … */
export function emails(count: number, tag = ''): string[] {
  return Array.from({ length: count }, (_, at) => `a${at + 1}${tag}@example.com`)
}

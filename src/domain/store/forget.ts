import { IncompleteError, UsageError } from '../../errors/kinds.ts'
import type { Forgotten, Named, Purged } from './told.ts'

/** Whom a purge is about; a UsageError where nobody is named. */
export function forgotten(given: {
  email: string | undefined
  requestId: string | undefined
  endedBefore: number | undefined
}): Forgotten {
  const { email, requestId, endedBefore } = given
  if (email !== undefined) return { email: email.trim() }
  if (requestId !== undefined) return { requestId }
  if (endedBefore !== undefined) return { endedBefore }
  throw new UsageError('--email, --request-id or --older-than is required, as no retention is set', {
    hint: 'For example: refcheck store purge --older-than 365d --dry-run\nOr say for how long personal data is kept: refcheck config set retention 24mo',
  })
}

const shortestName = 3

/** Whether a text, such as a file's name, names a person in its words. */
export function namesPerson(text: string, { firstName, lastName, email }: Named): boolean {
  const found = new Set(wordsOf(text))
  const [mailbox] = email?.split('@') ?? []
  const all = (name = ''): boolean => {
    const words = wordsOf(name).filter((word) => word.length >= shortestName)
    return words.length > 0 && words.every((word) => found.has(word))
  }
  return all(firstName) || all(lastName) || all(mailbox)
}

/** Its letters and digits, without case and accents. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
}

/** What a purge that could not be finished fails with. */
export function notScrubbed(location: string, { isLeftTo }: Pick<Purged, 'isLeftTo'>): IncompleteError {
  const isOwners = isLeftTo === 'the owner'
  return new IncompleteError(
    `what was removed may still be read in the files of the store "${location}": ${isOwners ? 'only the owner of its tables may clean them' : 'another process uses it'}`,
    isOwners
      ? {
          hint: 'The server cleans them later by itself (autovacuum).',
          again: 'To clean them now, run VACUUM as the owner, or as the owner run',
        }
      : { again: 'Once the other process has ended, run' },
  )
}

import { UsageError } from '../../errors/kinds.ts'
import type { Batch } from './batch.ts'

/** What was learned of whose key this is, before a batch that was begun before goes on. */
export type OrganisationEvidence =
  /** Whether the key can read one of the batch's accepted requests. */
  | { by: 'request'; readable: boolean }
  /** No request was accepted yet: the users of the key's organisation. */
  | { by: 'users'; emails: readonly string[] }

/**
 * "A batch goes on under another key or user only when that key can read one of the batch's accepted requests, or,
 * where there is none, when the user who began it is among the key's users; with neither a person confirms"
 * (src/docs/ordering.md, section 3). True: a person has to confirm. Throws a UsageError where it is another organisation's batch.
 */
export function requiresConfirmation(
  { id, userEmail }: Pick<Batch, 'id' | 'userEmail'>,
  known: OrganisationEvidence,
): boolean {
  if (known.by === 'users') {
    return !known.emails.some((each) => each.toLowerCase() === userEmail.toLowerCase())
  }
  if (known.readable) return false
  throw new UsageError(
    `this API key cannot read what batch ${id} has ordered, so it is another organisation’s`,
    {
      hint: `Nothing was sent. Choose the profile that the batch was begun with (as ${userEmail}): --profile NAME`,
    },
  )
}

/** What a person is asked about a batch whose starter is no user of the key's organisation. */
export function starterLeft(id: string, startedAs: string, now: string): string {
  return `Batch ${id} was begun as ${startedAs}, who is no user of this API key’s organisation. Have they left it, and are its rows to be ordered as ${now}?`
}

/** There is no terminal to confirm on, or the answer was no. */
export function notConfirmed({ id, userEmail }: Pick<Batch, 'id' | 'userEmail'>): UsageError {
  return new UsageError(
    `batch ${id} was begun as ${userEmail}, who is no user of this API key’s organisation`,
    {
      hint: `Nothing was sent. If that user has left the organisation, confirm it on a terminal: refcheck batch resume ${id}. Else choose the profile it was begun with: --profile NAME`,
    },
  )
}

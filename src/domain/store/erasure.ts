import { IncompleteError, UsageError } from '../../errors/kinds.ts'
import { type SubmissionState, unsettledStates, waitingStates } from '../submission/states.ts'
import type { ErasureTarget, Named, Purged } from './types.ts'

/** The person of a purge; a UsageError where none is named. */
export function erasureTarget(given: {
  email: string | undefined
  requestId: string | undefined
  baseUrl?: string | undefined
  endedBefore: number | undefined
}): ErasureTarget {
  const { email, requestId, baseUrl, endedBefore } = given
  if (email !== undefined) return { email: email.trim() }
  if (requestId !== undefined) return { requestId, baseUrl }
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

/**
 * What becomes of a column when a person is removed (src/docs/ordering.md, section 8). What is kept identifies
 * no person: a fingerprint is keyed, and without it an old file would order the person again.
 */
type ErasureRule = 'kept' | 'emptied' | 'emptied with the last person' | 'emptied with --completely'

/** By table, every column that a store keeps of an order; the names are the same in each store. */
export const erasurePolicy = {
  submissions: {
    batch_id: 'kept',
    row_number: 'kept',
    state: 'kept',
    attempt_id: 'kept',
    changed_at: 'kept',
    package_id: 'kept',
    first_name: 'emptied',
    last_name: 'emptied',
    email: 'emptied',
    phone: 'emptied',
    body: 'emptied',
    body_sha256: 'kept',
    fingerprint: 'emptied with --completely',
    request_id: 'kept',
    request_status: 'kept',
    request_status_at: 'kept',
    acknowledged_at: 'kept',
    offered_id: 'emptied',
    // A reason, and the field it is about, may quote what was sent.
    reason: 'emptied',
    field: 'emptied',
    matches_batch: 'kept',
    matches_row: 'kept',
    person_print: 'emptied with --completely',
    email_print: 'emptied with --completely',
    phone_print: 'emptied with --completely',
    // It finds people to mention, and keeps no old file from ordering them.
    name_print: 'emptied',
    held_for: 'kept',
    shares: 'kept',
    external_results: 'emptied',
    checks: 'kept',
  },
  attempts: {
    id: 'kept',
    batch_id: 'kept',
    row_number: 'kept',
    user_email: 'kept',
    body_sha256: 'kept',
    began_at: 'kept',
    began_monotonic: 'kept',
    ended_at: 'kept',
    became: 'kept',
    answer_status: 'kept',
    reason: 'emptied',
    account: 'kept',
    number: 'kept',
    log_id: 'kept',
  },
  decisions: {
    id: 'kept',
    batch_id: 'kept',
    row_number: 'kept',
    attempt_id: 'kept',
    became: 'kept',
    made_at: 'kept',
    made_by: 'kept',
    why: 'emptied',
  },
  unmatched_requests: {
    service: 'kept',
    request_id: 'kept',
    reader: 'kept',
    read_at: 'kept',
    created_at: 'kept',
    package_id: 'kept',
    status: 'kept',
    person_print: 'emptied with --completely',
    email_print: 'emptied with --completely',
    phone_print: 'emptied with --completely',
    acknowledged_at: 'kept',
    acknowledged_by: 'kept',
  },
  /** Of a file that contains no person any more, or whose name names the person. */
  batches: {
    id: 'kept',
    kind: 'kept',
    base_url: 'kept',
    user_email: 'kept',
    added_at: 'kept',
    name: 'emptied',
    identity: 'kept',
    sha256: 'kept',
    package_id: 'kept',
    path: 'emptied',
    results_file: 'emptied',
    // How the file is read, as long as a row of it contains a person.
    reading: 'emptied with the last person',
    allow_duplicate: 'kept',
    halted_at: 'kept',
    halt_code: 'kept',
    halt_message: 'emptied',
    halt_hint: 'emptied',
    account: 'kept',
    allow_similar: 'kept',
    // An e-mail or a phone that many share may be the person's own.
    queued_at: 'kept',
    shared: 'emptied',
  },
} as const satisfies Record<string, Record<string, ErasureRule>>

/** The columns of a table to which an erasure policy applies. */
export function columnsWith(table: keyof typeof erasurePolicy, rule: ErasureRule): string[] {
  return Object.entries<ErasureRule>(erasurePolicy[table]).flatMap(([column, its]) =>
    its === rule ? [column] : [],
  )
}

/**
 * States of rows that are left as they are: an order may still be sent, or its outcome be learned. Where a person is
 * named, what only waits is cancelled instead: "rows of the person that wait are cancelled".
 */
export function statesLeft(who: ErasureTarget): readonly SubmissionState[] {
  return 'endedBefore' in who
    ? unsettledStates
    : unsettledStates.filter((state) => !waitingStates.includes(state))
}

import { IncompleteError, UsageError } from '../../errors/kinds.ts'
import { type SubmissionState, openStates, waitingStates } from '../submission/states.ts'
import { formatCount } from '../wording/text.ts'
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
export function notScrubbedError(location: string, { isLeftTo }: Pick<Purged, 'isLeftTo'>): IncompleteError {
  const isOwners = isLeftTo === 'the owner'
  return new IncompleteError(
    `what was removed may still be read in the files of the store "${location}": ${isOwners ? 'only the owner of its tables may clean them' : 'another process uses it'}`,
    isOwners
      ? {
          hint: 'The server cleans them later by itself (autovacuum).',
          rerunLabel: 'To clean them now, run VACUUM as the owner, or as the owner run',
        }
      : { rerunLabel: 'Once the other process has ended, run' },
  )
}

/** What a purge fails with that had to leave files which it would delete. */
export function notDeletedError(count: number): IncompleteError {
  return new IncompleteError(
    `${formatCount(count, 'file')} ${count === 1 ? 'was' : 'were'} not deleted: a link is in the way, or other users of this machine may put one there`,
    {
      rerunLabel:
        'Move the folder itself to where the link is, and make its parent private (chmod go-w), then run',
    },
  )
}

/**
 * What becomes of a column when a person is removed (src/docs/ordering.md, section 8). What is kept identifies
 * no person: a fingerprint is keyed, and without it an old file would order the person again.
 */
type ErasureRule = 'kept' | 'emptied' | 'emptied with the last person' | 'emptied with --completely'

/** By table and rule, every column that a store keeps of an order; the names are the same in each store. */
export const erasurePolicy = {
  submissions: {
    kept: [
      'batch_id',
      'row_number',
      'state',
      'attempt_id',
      'changed_at',
      'package_id',
      'body_sha256',
      'request_id',
      'request_status',
      'request_status_at',
      'acknowledged_at',
      'matches_batch',
      'matches_row',
      'held_for',
      'shares',
      'checks',
    ],
    // A reason, and the field it is about, may quote what was sent. `name_print` finds people to mention, and keeps no old
    // file from ordering them.
    emptied: [
      'first_name',
      'last_name',
      'email',
      'phone',
      'body',
      'offered_id',
      'reason',
      'field',
      'name_print',
      'external_results',
    ],
    'emptied with --completely': ['fingerprint', 'person_print', 'email_print', 'phone_print'],
  },
  attempts: {
    kept: [
      'id',
      'batch_id',
      'row_number',
      'user_email',
      'body_sha256',
      'began_at',
      'began_monotonic',
      'ended_at',
      'became',
      'answer_status',
      'account',
      'number',
      'log_id',
    ],
    emptied: ['reason'],
  },
  decisions: {
    kept: ['id', 'batch_id', 'row_number', 'attempt_id', 'became', 'made_at', 'made_by'],
    emptied: ['why'],
  },
  unmatched_requests: {
    kept: [
      'service',
      'request_id',
      'reader',
      'read_at',
      'created_at',
      'package_id',
      'status',
      'acknowledged_at',
      'acknowledged_by',
    ],
    'emptied with --completely': ['person_print', 'email_print', 'phone_print'],
  },
  batches: {
    kept: [
      'id',
      'kind',
      'base_url',
      'user_email',
      'added_at',
      'identity',
      'sha256',
      'package_id',
      'allow_duplicate',
      'halted_at',
      'halt_code',
      'account',
      'allow_similar',
      'queued_at',
    ],
    // Of a file that contains no person any more, or whose name names the person. An e-mail or a phone that many share may
    // be the person's own.
    emptied: ['name', 'path', 'results_file', 'halt_message', 'halt_hint', 'shared'],
    // How the file is read, as long as a row of it contains a person.
    'emptied with the last person': ['reading'],
  },
} as const satisfies Record<string, Partial<Record<ErasureRule, readonly string[]>>>

/** The columns of a table to which an erasure rule applies. */
export function columnsWith(table: keyof typeof erasurePolicy, rule: ErasureRule): string[] {
  const rules: Partial<Record<ErasureRule, readonly string[]>> = erasurePolicy[table]
  return [...(rules[rule] ?? [])]
}

/**
 * States of rows that are left as they are: an order may still be sent, or its outcome be learned. Where a person is
 * named, what only waits is cancelled instead: "rows of the person that wait are cancelled".
 */
export function statesLeft(who: ErasureTarget): readonly SubmissionState[] {
  return 'endedBefore' in who ? openStates : openStates.filter((state) => !waitingStates.includes(state))
}

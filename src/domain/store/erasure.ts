import { IncompleteError, UsageError } from '../../errors/kinds.ts'
import { type SubmissionState, openStates, waitingStates } from '../submission/states.ts'
import { formatCount } from '../wording/text.ts'
import type { ErasureTarget, PersonNames, PurgeResult } from './types.ts'

/** Returns the target of a purge. Throws a UsageError if no option names one. */
export function erasureTarget(options: {
  email: string | undefined
  requestId: string | undefined
  baseUrl?: string | undefined
  endedBefore: number | undefined
}): ErasureTarget {
  const { email, requestId, baseUrl, endedBefore } = options
  if (email !== undefined) return { email: email.trim() }
  if (requestId !== undefined) return { requestId, baseUrl }
  if (endedBefore !== undefined) return { endedBefore }
  throw new UsageError('--email, --request-id or --older-than is required, as no retention is set', {
    hint: 'For example: refcheck store purge --older-than 365d --dry-run\nOr say for how long personal data is kept: refcheck config set retention 24mo',
  })
}

const minNameLength = 3

/** Returns whether the words of a text, such as a file name, contain the name of a person. */
export function containsPersonName(text: string, { firstName, lastName, email }: PersonNames): boolean {
  const textWords = new Set(wordsOf(text))
  const [mailbox] = email?.split('@') ?? []
  const containsAllWords = (name = ''): boolean => {
    const words = wordsOf(name).filter((word) => word.length >= minNameLength)
    return words.length > 0 && words.every((word) => textWords.has(word))
  }
  return containsAllWords(firstName) || containsAllWords(lastName) || containsAllWords(mailbox)
}

/** Returns the words of a text: runs of letters and digits, without case and accents. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
}

/** Makes the error for a purge that could not be finished. */
export function uncleanStoreFilesError(
  location: string,
  { isLeftTo }: Pick<PurgeResult, 'isLeftTo'>,
): IncompleteError {
  const onlyOwnerCanClean = isLeftTo === 'the owner'
  return new IncompleteError(
    `what was removed may still be read in the files of the store "${location}": ${onlyOwnerCanClean ? 'only the owner of its tables may clean them' : 'another process uses it'}`,
    onlyOwnerCanClean
      ? {
          hint: 'The server cleans them later by itself (autovacuum).',
          rerunLabel: 'To clean them now, run VACUUM as the owner, or as the owner run',
        }
      : { rerunLabel: 'Once the other process has ended, run' },
  )
}

/** Makes the error for a purge that could not delete some files. */
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
 * The rule for a column when a person is removed (src/docs/ordering.md, section 8). Data that is kept identifies no
 * person: a fingerprint is keyed, and without it an old file would order the person again.
 */
type ErasureRule = 'kept' | 'emptied' | 'emptied with the last person' | 'emptied with --completely'

/** Every column of an order's data, by table and rule; the names are the same in each store. */
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
    // A reason and its field may quote what was sent. `name_print` only finds people to mention, and does not prevent
    // an old file from ordering them.
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
    ],
    // The results keep the orders that they name, without the name of their file.
    'emptied with --completely': [
      'fingerprint',
      'person_print',
      'email_print',
      'phone_print',
      'external_results',
    ],
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
    // Emptied for a file that contains no person any more, or whose name names the person. An e-mail or phone that
    // many share may be the person's own.
    emptied: ['name', 'path', 'results_file', 'halt_message', 'halt_hint', 'shared'],
    // How the file is read; needed as long as a row of it contains a person.
    'emptied with the last person': ['reading'],
  },
} as const satisfies Record<string, Partial<Record<ErasureRule, readonly string[]>>>

/** Returns the columns of a table to which an erasure rule applies. */
export function columnsWithRule(table: keyof typeof erasurePolicy, rule: ErasureRule): string[] {
  const rules: Partial<Record<ErasureRule, readonly string[]>> = erasurePolicy[table]
  return [...(rules[rule] ?? [])]
}

/**
 * Returns the states of rows that are not erased, because the order may still be sent, or its outcome is not known
 * yet. If the target is a person, rows that only wait are cancelled instead: "rows of the person that wait are
 * cancelled". Rows that are held because the store had lost attempts are not erased either.
 */
export function statesNotErased(who: ErasureTarget): readonly SubmissionState[] {
  return 'endedBefore' in who ? openStates : openStates.filter((state) => !waitingStates.includes(state))
}

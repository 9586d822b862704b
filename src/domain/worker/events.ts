import { isoTime } from '../wording/time.ts'
import type { BatchCounts } from '../batch/batch.ts'
import type { SubmissionState } from '../submission/states.ts'
import type { ErrorCode } from '../../errors/kinds.ts'

/** An event of a worker for its log. It has ids and codes, but no names, e-mails or other data that was sent. */
export type WorkerEvent =
  | { name: 'started'; profiles: readonly string[] }
  | { name: 'health'; url: string }
  | { name: 'profile-unusable'; profile: string; code: ErrorCode }
  | { name: 'batch-started'; profile: string; batchId: string; pending: number }
  | { name: 'row'; profile: string; batchId: string; row: number; state: SubmissionState }
  /** `seconds`: the time until the next order is sent. */
  | { name: 'waiting'; profile: string; batchId: string; cause: string; seconds: number }
  | { name: 'notice'; profile: string; batchId: string; notice: string }
  | {
      name: 'batch-ended'
      profile: string
      batchId: string
      code: ErrorCode | undefined
      counts: BatchCounts
    }
  /** A step of a batch before or after its rows has failed. */
  | { name: 'batch-failed'; profile: string; batchId: string; code: ErrorCode }
  | { name: 'batch-without-profile'; batchId: string; reason: string }
  | { name: 'refreshed'; profile: string; code: ErrorCode | undefined }
  /** Another run downloads into the same folder; the worker waits until it has ended. */
  | { name: 'folder-in-use'; profile: string; reason: string }
  | { name: 'filed'; profile: string; reports: number; code: ErrorCode | undefined }
  /** The numbers of deleted entries that were older than the retention. */
  | { name: 'purged'; rows: number; events: number; drafts: number; code: ErrorCode | undefined }
  | { name: 'store-waits'; code: ErrorCode }
  | { name: 'stopping' }
  | { name: 'stopped' }

/** The names of events that are warnings even without an error code. */
const warningEvents = new Set<WorkerEvent['name']>([
  'profile-unusable',
  'batch-failed',
  'batch-without-profile',
  'folder-in-use',
  'store-waits',
])

/**
 * The reasons of warnings by error code. The message of the error is not logged, because it may quote the service or a
 * file name, and thereby a person.
 */
const reasons: Readonly<Record<ErrorCode, string>> = {
  internal: 'internal error of refcheck',
  io: 'the disk or the store could not be used: see refcheck doctor',
  usage: 'a setting is wrong or missing, or the profile does not exist: see refcheck auth list',
  invalid_input: 'the service refused what was sent, or the package has changed: see refcheck batch rows',
  duplicate: 'ordered before: see refcheck batch rows',
  unauthenticated: 'no API key, or the service refused it: see refcheck auth status',
  forbidden: 'the service refused this user: membership, role, credits, trial or subscription',
  not_found: 'the service does not know what was asked for',
  throttled: 'the quota is used up',
  unavailable: 'the service is unreachable or answers with errors',
  outcome_unknown: 'an order may or may not have been accepted: see refcheck batch reconcile',
  bad_signature: 'the signature of a webhook does not match',
  incomplete:
    'not everything could be done: rows are not accepted, or reports are unavailable: see refcheck status',
  timed_out: 'a time limit was reached',
  interrupted: 'it was interrupted, and continues with the next start',
}

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Returns the JSON of a line of the log. */
export function logEntry({ name, ...more }: WorkerEvent, now: number): Record<string, unknown> {
  const code = 'code' in more ? more.code : undefined
  const isWarning = warningEvents.has(name) || code !== undefined
  const fields = Object.entries(more).filter(([, value]) => value !== undefined)
  return {
    time: isoTime(now),
    level: isWarning ? 'warn' : 'info',
    event: name,
    ...Object.fromEntries(fields.map(([key, value]) => [snakeCase(key), value])),
    ...(code !== undefined && { reason: reasons[code] }),
  }
}

import type { BatchCounts } from '../batch/batch.ts'
import type { SubmissionState } from '../submission/states.ts'

/** What a worker does, as its log tells it: by ids and codes, never by names, e-mails or what was sent. */
export type WorkerEvent =
  | { name: 'started'; profiles: readonly string[] }
  | { name: 'health'; url: string }
  | { name: 'profile-unusable'; profile: string; code: string }
  | { name: 'batch-started'; profile: string; batchId: string; pending: number }
  | { name: 'row'; profile: string; batchId: string; row: number; state: SubmissionState }
  /** `seconds`: until something is sent again. */
  | { name: 'waiting'; profile: string; batchId: string; cause: string; seconds: number }
  | { name: 'notice'; profile: string; batchId: string; notice: string }
  | { name: 'batch-ended'; profile: string; batchId: string; code: string | undefined; counts: BatchCounts }
  /** Something of a batch failed before or after its rows. */
  | { name: 'batch-failed'; profile: string; batchId: string; code: string }
  | { name: 'batch-without-profile'; batchId: string; reason: string }
  | { name: 'refreshed'; profile: string; code: string | undefined }
  | { name: 'filed'; profile: string; reports: number; code: string | undefined }
  /** What was older than the retention. */
  | { name: 'purged'; rows: number; events: number; drafts: number; code: string | undefined }
  | { name: 'store-waits'; code: string }
  | { name: 'stopping' }
  | { name: 'stopped' }

/** Events that somebody should look at. */
const grave = new Set<WorkerEvent['name']>([
  'profile-unusable',
  'batch-failed',
  'batch-without-profile',
  'store-waits',
])

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** One line of the log, as JSON. */
export function logEntry({ name, ...more }: WorkerEvent, now: number): Record<string, unknown> {
  const isSevere = grave.has(name) || ('code' in more && more.code !== undefined)
  const fields = Object.entries(more).filter(([, value]) => value !== undefined)
  return {
    time: new Date(now).toISOString(),
    level: isSevere ? 'warn' : 'info',
    event: name,
    ...Object.fromEntries(fields.map(([key, value]) => [snake(key), value])),
  }
}

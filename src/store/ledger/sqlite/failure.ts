import { storeMoved } from '../../../domain/store/moving.ts'
import { InternalError, IoError, StoreBusyError } from '../../../errors/kinds.ts'
import { RefcheckError } from '../../../errors/base.ts'

/** Primary result codes of SQLite (sqlite.org/rescode.html). */
const busy = 5
const constraint = 19
/** What a trigger of our own refuses: the store was moved, to where it says. */
const refusedByTrigger = 1811

/** What SQLite said, in words a person can act on: [what is wrong, what to do]. */
const reasons: Readonly<Record<number, readonly [string, string]>> = {
  3: ['permission denied', 'Check who owns the file and its folder, or choose another store.'],
  5: ['another process has locked it', 'Wait until the other command has ended, then run it again.'],
  6: ['another process has locked it', 'Wait until the other command has ended, then run it again.'],
  8: ['it is not writable', 'Check who owns the file and its folder, or choose another store.'],
  10: ['the disk reported an error', 'Check the disk before you run it again.'],
  11: ['it is damaged', 'Keep the damaged file, since it may still hold orders, and restore a backup.'],
  13: ['no space is left on the disk', 'Free some space, then run it again.'],
  14: ['it cannot be opened', 'Check the path, and who owns the file and its folder.'],
  26: [
    'it is not a refcheck store, or is damaged',
    'Choose another file with REFCHECK_STORE, or restore a backup.',
  ],
}

/** The primary part of an SQLite error's code; undefined for any other error. */
export function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined
}

/** Whatever went wrong inside SQLite as an IoError that names the store; our own errors pass. */
export function storeFailure(location: string, error: unknown): Error {
  if (error instanceof RefcheckError) return error
  const code = resultCode(error)
  if (code === undefined) return error instanceof Error ? error : new InternalError('unexpected store error')
  if (error instanceof Error && 'errcode' in error && error.errcode === refusedByTrigger) {
    return storeMoved(location, { to: error.message, isDone: true })
  }
  if (code === constraint) {
    return new InternalError('an internal rule of the store was violated', { cause: error })
  }
  const [why, hint] = reasons[code] ?? [
    `SQLite reported error ${code}`,
    'Check the disk before you run it again.',
  ]
  const Failure = code === busy ? StoreBusyError : IoError
  return new Failure(`cannot use the store "${location}": ${why}`, { hint, cause: error })
}

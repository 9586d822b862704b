import { IoError, UsageError } from '../../errors/kinds.ts'
import { parseStoreAddress } from './address.ts'
import { shellWord } from '../wording/pasted-command.ts'

/** The record of a move in the store that is being moved or was moved. */
export interface Move {
  /** The id of the move, which both stores record. */
  id: string
  /** The new location: a path, or an address as the user typed it. */
  to: string
  /** Whether the new location has all data. Until then the same command continues the move. */
  isDone: boolean
}

/** The digest of a table's content when it was moved. */
export interface TableDigest {
  table: string
  rows: number
  /** SHA-256 of all values in the order of the rows, as 64 hex characters. */
  sha256: string
}

/** The record of a move in the store at the new location. */
export interface Arrival {
  /** The id of the move. */
  id: string
  from: string
  tables: TableDigest[]
}

/** Makes the error for a process that still uses the old location. */
export function storeMovedError(location: string, { to, isDone }: Pick<Move, 'to' | 'isDone'>): IoError {
  const use = `REFCHECK_STORE, or with: refcheck config set store ${shellWord(to)}`
  return isDone
    ? new IoError(`the store "${location}" was moved to "${to}"`, { hint: `Use it there, with ${use}` })
    : new IoError(`the store "${location}" is being moved to "${to}"`, {
        hint: `If nobody moves it any more, finish that with: refcheck store move ${shellWord(location)} ${shellWord(to)}`,
      })
}

/**
 * Throws an IoError if the store is in use and cannot be moved. `holder`: the process that runs a batch with the
 * store.
 */
export function requireUnused(
  location: string,
  { inFlight, holder, isForwarding }: { inFlight: number; holder: string | undefined; isForwarding: boolean },
): void {
  const refusal = (why: string, hint: string): IoError =>
    new IoError(`cannot move the store "${location}": ${why}`, { hint })
  const stopHint = 'Stop everything that uses the store, then run it again.'
  if (holder !== undefined) throw refusal(`a batch is run by ${holder}`, stopHint)
  if (isForwarding) throw refusal('a receiver forwards its events', stopHint)
  if (inFlight > 0) throw refusal('an order is in flight', 'Wait until it has ended, then run it again.')
}

/** Throws an IoError unless the target is empty. `filledTables`: the names of its tables that have rows. */
export function requireEmpty(location: string, filledTables: readonly string[]): void {
  if (filledTables.length === 0) return
  throw new IoError(`cannot move to "${location}": it is a store already (${filledTables.join(', ')})`, {
    hint: 'Give a new file, or an empty database.',
  })
}

/** Throws an IoError if another command completed or cancelled the move. */
export function requireMoveInProgress(location: string, current: Move | undefined, move: Move): void {
  if (current?.id === move.id && !current.isDone) return
  throw new IoError(`cannot move the store "${location}": another command moves it too`, {
    hint: 'See where it is with: refcheck store check',
  })
}

/** Throws an IoError if the store is being moved to another location than `to`, or was moved already. */
export function requireSameTarget(location: string, move: Move | undefined, to: string): void {
  if (move === undefined || (!move.isDone && move.to === to)) return
  throw storeMovedError(location, move)
}

/** Throws a UsageError if an address contains a password: other users of the machine can read command lines. */
export function requireNoPassword(argument: string, address: string): void {
  const parsed = parseStoreAddress(address)
  if (parsed.kind !== 'postgres' || parsed.server.password === undefined) return
  throw new UsageError(`${argument}: a password is refused on the command line`, {
    hint: 'Keep it in ~/.pgpass or PGPASSWORD, and leave it out of the address.',
  })
}

export function requireOtherAddress(from: string, to: string): void {
  if (from !== to) return
  throw new UsageError('FROM and TO are the same store', { hint: 'Give two different places.' })
}

/** Throws an IoError that names the tables whose content differs between the two stores. */
export function requireEqual(one: readonly TableDigest[], other: readonly TableDigest[]): void {
  const different = one.filter(
    ({ table, rows, sha256 }, index) =>
      other[index]?.table !== table || other[index].rows !== rows || other[index].sha256 !== sha256,
  )
  if (different.length === 0) return
  throw new IoError(`the copy differs from the store in: ${different.map(({ table }) => table).join(', ')}`, {
    hint: 'Nothing was moved. Check both places with: refcheck store check',
  })
}

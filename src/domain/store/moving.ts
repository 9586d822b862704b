import { IoError, UsageError } from '../../errors/kinds.ts'
import { storeAddress } from './address.ts'
import { shellWord } from '../wording/pasted-command.ts'

/** What a store that is being moved, or was moved, records of the move. */
export interface Move {
  /** Of this move alone; both places know it. */
  id: string
  /** Where it goes: a path, or an address as it was typed. */
  to: string
  /** Whether all of it is there. Before, the same command goes on. */
  isDone: boolean
}

/** What a table held when it was moved. */
export interface TableDigest {
  table: string
  rows: number
  /** SHA-256 of all its values in the order of its rows, 64 hex characters. */
  sha256: string
}

/** What the new place keeps of the move. */
export interface Arrival {
  /** Of the move. */
  id: string
  from: string
  tables: TableDigest[]
}

/** The message for processes that still use the old path. */
export function storeMoved(location: string, { to, isDone }: Pick<Move, 'to' | 'isDone'>): IoError {
  const use = `REFCHECK_STORE, or with: refcheck config set store ${shellWord(to)}`
  return isDone
    ? new IoError(`the store "${location}" was moved to "${to}"`, { hint: `Use it there, with ${use}` })
    : new IoError(`the store "${location}" is being moved to "${to}"`, {
        hint: `If nobody moves it any more, finish that with: refcheck store move ${shellWord(location)} ${shellWord(to)}`,
      })
}

/** What prevents leaving a path. `holder`: the process that runs a batch with it. */
export function requireQuiet(
  location: string,
  { inFlight, holder, isForwarding }: { inFlight: number; holder: string | undefined; isForwarding: boolean },
): void {
  const refused = (why: string, hint: string): IoError =>
    new IoError(`cannot move the store "${location}": ${why}`, { hint })
  const stop = 'Stop everything that uses the store, then run it again.'
  if (holder !== undefined) throw refused(`a batch is run by ${holder}`, stop)
  if (isForwarding) throw refused('a receiver forwards its events', stop)
  if (inFlight > 0) throw refused('an order is in flight', 'Wait until it has ended, then run it again.')
}

/** A place that can take a whole store: it holds nothing. */
export function requireEmpty(location: string, filled: readonly string[]): void {
  if (filled.length === 0) return
  throw new IoError(`cannot move to "${location}": it is a store already (${filled.join(', ')})`, {
    hint: 'Give a new file, or an empty database.',
  })
}

/** Another command has ended the move, or taken it back. */
export function requireStillLeaving(location: string, now: Move | undefined, move: Move): void {
  if (now?.id === move.id && !now.isDone) return
  throw new IoError(`cannot move the store "${location}": another command moves it too`, {
    hint: 'See where it is with: refcheck store check',
  })
}

/** Whether a store that is being moved has the same target as this call. */
export function requireSameWay(location: string, move: Move | undefined, to: string): void {
  if (move === undefined || (!move.isDone && move.to === to)) return
  throw storeMoved(location, move)
}

/** Other users of a machine can read the command lines of all. */
export function requireNoPassword(argument: string, address: string): void {
  const read = storeAddress(address)
  if (read.kind !== 'postgres' || read.server.password === undefined) return
  throw new UsageError(`${argument}: a password is refused on the command line`, {
    hint: 'Keep it in ~/.pgpass or PGPASSWORD, and leave it out of the address.',
  })
}

export function requireOtherAddress(from: string, to: string): void {
  if (from !== to) return
  throw new UsageError('FROM and TO are the same store', { hint: 'Give two different places.' })
}

/** Tables whose content differs between the two places. */
export function requireEqual(one: readonly TableDigest[], other: readonly TableDigest[]): void {
  const different = one.filter(
    ({ table, rows, sha256 }, at) =>
      other[at]?.table !== table || other[at].rows !== rows || other[at].sha256 !== sha256,
  )
  if (different.length === 0) return
  throw new IoError(`the copy differs from the store in: ${different.map(({ table }) => table).join(', ')}`, {
    hint: 'Nothing was moved. Check both places with: refcheck store check',
  })
}

import { countInWords } from '../wording/count-in-words.ts'
import type { ListedAttempt } from './attempt-list.ts'
import { IoError } from '../../errors/kinds.ts'
import { type Move, storeMoved } from './moving.ts'

/** Why a store takes no orders until a person has accepted it (ordering protocol, "Age"). */
export type ClosedBy =
  /** It was moved to another place, or is being moved. */
  | 'moved'
  /** Its list says that it is in another place now, and it does not: it is a copy from before. */
  | 'outdated'
  /** Its list names attempts that it does not know: it was put back, or lost a part of itself. */
  | 'older'
  | 'backup'
  /** It has attempts, and there is no list of them. */
  | 'unlisted'
  /** The list is shorter than it was, or has damaged lines. */
  | 'list'
  /** A list names the store that stood in its place, which had another key. */
  | 'replaced'
  /** Its fingerprints are made with another key than its list's. */
  | 'key'
  /** By the count that 0.1.0 kept of its runs. */
  | 'runs'
  /** Its server knows less than it did. */
  | 'behind'
  /** It is on another server than it was, which may not have all that the other had. */
  | 'server'

/** A list as it was found: what of it the store does not know. */
export interface ComparedList {
  /** Whether it is this store's, rather than of one that stood in the same place. */
  own: boolean
  /** Whether its fingerprints are made with this store's key. */
  sameKey: boolean
  /** It was longer once, or lines of it are damaged. */
  harmed: boolean
  /** The store that it is of is in another place now. */
  moved: boolean
  lacking: readonly ListedAttempt[]
}

export interface AgeFacts {
  isBackup: boolean
  hasAttempts: boolean
  /** A person has allowed it to go without a list. */
  mayBeUnlisted: boolean
  /** Runs that 0.1.0 counted and the store does not know. */
  missingRuns: number
  /** Its server knows less than was seen of it. */
  isBehind?: boolean | undefined
  lists: readonly ComparedList[]
}

export interface Judgement {
  /** Nothing where the store is as it was left. */
  by: ClosedBy[]
  /** Attempts to be put back as unknown, oldest first and each once. */
  lacking: ListedAttempt[]
  /** No list tells all that is missing. */
  untold: boolean
}

/** How many runs a store does not know of: `known` counted in it, `begun` beside it. 0 for one that is as it was left. */
export function runsMissing(known: number, begun: number): number {
  return Math.max(0, begun - known)
}

/** What the lists say against what the store knows. */
export function judgeAge(facts: AgeFacts): Judgement {
  const { isBackup, hasAttempts, mayBeUnlisted, missingRuns, isBehind = false, lists } = facts
  const own = lists.filter((list) => list.own)
  const lacking = new Map<string, ListedAttempt>()
  for (const list of lists.filter((each) => each.sameKey)) {
    for (const attempt of list.lacking) lacking.set(attempt.attemptId, attempt)
  }
  const isReplaced = lists.some((list) => !list.own && !list.sameKey && list.lacking.length > 0)
  const isHarmed = own.some((list) => list.harmed)
  const hasOtherKey = own.some((list) => !list.sameKey)
  const isUnlisted = own.length === 0 && hasAttempts && !mayBeUnlisted
  const isOutdated = own.some((list) => list.moved)
  const reasons: [ClosedBy, boolean][] = [
    ['outdated', isOutdated],
    ['older', lacking.size > 0],
    ['backup', isBackup],
    ['unlisted', isUnlisted],
    ['list', isHarmed],
    ['replaced', isReplaced],
    ['key', hasOtherKey],
    ['runs', missingRuns > 0],
    ['behind', isBehind],
  ]
  const by = reasons.filter(([, holds]) => holds).map(([reason]) => reason)
  return {
    by,
    lacking: [...lacking.values()].sort((one, other) => one.at - other.at),
    untold:
      isOutdated ||
      isUnlisted ||
      isHarmed ||
      isReplaced ||
      hasOtherKey ||
      missingRuns > 0 ||
      isBehind ||
      (isBackup && own.length === 0),
  }
}

/** What is kept in a store that is closed. */
export interface Closed {
  /** Wall time. */
  at: number
  by: ClosedBy[]
  /** Ids of attempts that were put back. */
  attempts: string[]
  untold: boolean
  /** Where it is now, or is going. */
  move?: Move | undefined
}

const sentences: Readonly<Record<ClosedBy, string>> = {
  moved: 'it was moved to another place',
  outdated: 'it is an older copy of a store that was moved to another place',
  older: 'it does not know all attempts that were made with it',
  backup: 'it is a backup of another store',
  unlisted: 'the list of its attempts is missing',
  list: 'the list of its attempts is damaged',
  replaced: 'another store stood in its place, with attempts that it does not know',
  key: 'the key of its fingerprints is not the one that its list was made with',
  runs: 'it does not know all runs that were made with it',
  behind: 'its database is older than it was',
  server: 'its database is on another server than before',
}

/** Each reason as a clause, the gravest first. */
export function closedBecause({ by, attempts, move }: Closed): string[] {
  if (move !== undefined) return [`it ${move.isDone ? 'was' : 'is being'} moved to "${move.to}"`]
  return by.map((reason) =>
    reason === 'older' && attempts.length > 0
      ? `it did not know ${countInWords(attempts.length, 'attempt')} that ${attempts.length === 1 ? 'was' : 'were'} made with it`
      : sentences[reason],
  )
}

/** What whoever wants to order with a closed store is told. */
export function storeClosed(location: string, closed: Closed): IoError {
  if (closed.move !== undefined) return storeMoved(location, closed.move)
  return new IoError(`the store "${location}" is closed: ${closedBecause(closed)[0]}`, {
    hint: 'Nothing was sent, since people could be ordered twice. Was a backup put back, or a file of the store removed? See what is missing: refcheck store check',
  })
}

/** The database is on another server, which may lack what these machines sent. */
export function serverChanged(location: string, machines: readonly string[]): IoError {
  return new IoError(`the store "${location}" is closed: ${sentences.server}`, {
    hint: [
      `Nothing was sent. Each machine that orders with it compares what it sent, with: refcheck store check (missing: ${machines.join(', ')})`,
      'If one of them will not come back, go on without what only it knows: refcheck store check --accept-older',
    ].join('\n'),
  })
}

/** Where no list can be kept, an older copy put back would go unnoticed. */
export function noListPossible(location: string, folders: readonly string[]): IoError {
  const places = folders.map((folder) => `"${folder}"`).join(' nor ')
  return new IoError(
    `cannot list the attempts of the store "${location}": neither ${places} can be written`,
    {
      hint: 'Nothing was sent. Make one of these folders writable, or order without the list, at your own risk: refcheck store check --without-list',
    },
  )
}

/** A store that is in another place now is not used in this one, whatever a person accepts. */
export function requireHere(location: string, { move }: Closed): void {
  if (move !== undefined) throw storeMoved(location, move)
}

import type { LostIds } from './store-database.ts'

/**
 * How often each event of the store and its machines occurred. 'restored': restores that show themselves without an
 * attempt log, by a new table or by `store check --restored`. 'first sent in a lost window': machines whose attempts
 * were all lost when the store was restored. 'read and in no log': closed stores that lack attempts which a process
 * read and which no attempt log has. 'recorded for held rows': requests that a user named for a held row. 'undetectable': people ordered twice in a way that the program cannot detect.
 */
export type EventCounts = Record<
  | 'restored between rounds'
  | 'restored during a run'
  | 'failovers'
  | 'old primaries back'
  | 'restored'
  | 'settings copied'
  | 'first sent in a lost window'
  | 'machines lost'
  | 'clocks set'
  | 'ordered elsewhere'
  | 'read and in no log'
  | 'recorded for held rows'
  | 'undetectable',
  number
>

export const createEventCounts = (): EventCounts => ({
  'restored between rounds': 0,
  'restored during a run': 0,
  failovers: 0,
  'old primaries back': 0,
  restored: 0,
  'settings copied': 0,
  'first sent in a lost window': 0,
  'machines lost': 0,
  'clocks set': 0,
  'ordered elsewhere': 0,
  'read and in no log': 0,
  'recorded for held rows': 0,
  undetectable: 0,
})

export function addCounts(total: EventCounts, counts: EventCounts): void {
  for (const name of Object.keys(counts) as (keyof EventCounts)[]) total[name] += counts[name]
}

/** An older state of the store that was restored. */
export interface Loss {
  lostIds: LostIds
  /**
   * Only the attempt logs show the loss: the server is the same, and no user ran `store check --restored`.
   */
  isVisibleOnlyInLogs: boolean
}

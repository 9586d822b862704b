import type { Lost } from './store-database.ts'

/** What befell the store and its machines, by how often. */
export type Happened = Record<
  | 'put back at rest'
  | 'put back during a run'
  | 'failovers'
  | 'old primaries back'
  | 'restored'
  | 'settings copied'
  | 'first sent in a lost window'
  | 'machines lost'
  | 'clocks set'
  | 'ordered elsewhere'
  | 'read and brought back by no log'
  | 'not noticeable',
  number
>

export const nothingHappened = (): Happened => ({
  'put back at rest': 0,
  'put back during a run': 0,
  failovers: 0,
  'old primaries back': 0,
  restored: 0,
  'settings copied': 0,
  'first sent in a lost window': 0,
  'machines lost': 0,
  'clocks set': 0,
  'ordered elsewhere': 0,
  'read and brought back by no log': 0,
  'not noticeable': 0,
})

export function addUp(total: Happened, more: Happened): void {
  for (const name of Object.keys(more) as (keyof Happened)[]) total[name] += more[name]
}

/** An older state of the store that was restored. */
export interface Loss {
  lost: Lost
  /** Only the logs of machines show it: the server is the same, and no user ran `store check --restored`. */
  isSilent: boolean
}

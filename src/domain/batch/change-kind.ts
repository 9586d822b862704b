import type { RowChange } from './row-reading.ts'

/** Why a value is changed before it is sent. */
export type ChangeKind = 'space' | 'apostrophe' | 'phone' | 'country' | 'number'

export function changeKind({ from, to }: Pick<RowChange, 'from' | 'to'>): ChangeKind {
  if (from.trim() === to) return 'space'
  if (from.startsWith("'")) return 'apostrophe'
  if (!to.startsWith('+')) return 'number'
  return from.trim().startsWith('+') ? 'phone' : 'country'
}

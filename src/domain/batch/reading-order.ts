import type { Target } from './targets.ts'

/** A column that says something, and where it stands. */
export interface Column {
  at: number
  target: Target
}

/** Columns as they stand, but those of one list by their numbers. */
export function readingOrder(targets: readonly Target[]): Column[] {
  const place = (target: Target, at: number): [first: number, number: number] =>
    target.kind === 'field' && /^\d+$/.test(target.path[0] ?? '')
      ? [targets.findIndex(({ column }) => column === target.column), Number(target.path[0])]
      : [at, 0]
  const ordered = [...targets.entries()].map(([at, target]) => ({ at, target, place: place(target, at) }))
  ordered.sort((a, b) => a.place[0] - b.place[0] || a.place[1] - b.place[1] || a.at - b.at)
  return ordered.flatMap(({ at, target }) =>
    target.kind === 'recipient' || target.kind === 'field' ? [{ at, target }] : [],
  )
}

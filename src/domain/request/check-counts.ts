import type { Check } from '../../contract/request.ts'

/** How many checks of each type have which status; one without any is left out. */
export type ChecksByType = Record<string, Record<string, number>>

export interface CheckCounts {
  /** Whose checks these are: requests that were read since their status changed last. */
  requests: number
  by_type: ChecksByType
}

/** The checks of one request as a store keeps them: the same text whatever order they came in. */
export function checksText(checks: readonly Pick<Check, 'type' | 'status'>[]): string {
  const counts: ChecksByType = Object.create(null)
  const groupKey = ({ type, status }: Pick<Check, 'type' | 'status'>): string =>
    JSON.stringify([type, status])
  for (const { type, status } of checks.toSorted((one, other) => (groupKey(one) < groupKey(other) ? -1 : 1)))
    add(counts, type, status, 1)
  return JSON.stringify(counts)
}

/** The checks of all whose checks are known. */
export function countedChecks(orders: readonly { checks: string | undefined }[]): CheckCounts {
  // Of very many requests few differ.
  const texts = new Map<string, number>()
  for (const { checks } of orders) if (checks !== undefined) texts.set(checks, (texts.get(checks) ?? 0) + 1)
  const counts: ChecksByType = Object.create(null)
  let requests = 0
  for (const [text, times] of texts) {
    requests += times
    for (const [type, statuses] of Object.entries(JSON.parse(text) as ChecksByType))
      for (const [status, count] of Object.entries(statuses)) add(counts, type, status, count * times)
  }
  return { requests, by_type: counts }
}

function add(counts: ChecksByType, type: string, status: string, count: number): void {
  const statuses = (counts[type] ??= Object.create(null) as Record<string, number>)
  statuses[status] = (statuses[status] ?? 0) + count
}

import type { Step } from '../records.ts'

export const minute = 60_000

/** Without a scenario everything is over before this; the promise is an hour. */
export const longest = 54 * minute

/** Stable, so that what happens at one moment happens in the order told. */
export function inOrder(steps: readonly Step[]): Step[] {
  return [...steps].sort((left, right) => left.at - right.at)
}

import { IoError } from '../../errors/kinds.ts'
import { countInWords } from '../wording/count-in-words.ts'

/** How many runs a store does not know of: `known` counted in it, `begun` beside it. 0 for one that is as it was left. */
export function missingRuns(known: number, begun: number): number {
  return Math.max(0, begun - known)
}

/** What using a store that misses runs fails with; undefined where none is missing. */
export function olderThanItsOrders(location: string, missing: number): IoError | undefined {
  if (missing === 0) return undefined
  return new IoError(
    `the store "${location}" is older than the orders made with it: ${countInWords(missing, 'run is', 'runs are')} missing`,
    {
      hint: 'Nothing was sent, since people could be ordered twice (was a backup put back, or the file removed?). "refcheck store check" tells what to do.',
    },
  )
}

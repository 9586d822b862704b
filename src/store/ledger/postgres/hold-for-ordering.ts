import type { PostgresAge } from './age.ts'
import type { Hold } from '../ledger.ts'

/** A hold by somebody who may order: refused on a store that is closed, or is to be. */
export async function holdForOrdering(
  take: () => Promise<Hold | undefined>,
  age: PostgresAge,
): Promise<Hold | undefined> {
  const hold = await take()
  if (hold === undefined) return undefined
  try {
    await age.begin()
    return hold
  } catch (error) {
    await hold.release()
    throw error
  }
}

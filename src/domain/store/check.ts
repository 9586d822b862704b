import { type Closed, closedBecause } from './age.ts'
import { storeMoved } from './moving.ts'
import { IoError } from '../../errors/kinds.ts'

/** What is wrong with a store, in sentences. `putBack`: attempts that it did not know, in words. */
export function findingsOf(
  damage: readonly string[],
  closed: Closed | undefined,
  putBack: readonly string[],
): string[] {
  return [...(closed === undefined ? [] : closedBecause(closed)), ...putBack, ...damage]
}

/** What a check with findings fails with. */
export function unsound(
  location: string,
  damage: readonly string[],
  closed: Closed | undefined,
): IoError | undefined {
  if (damage.length > 0) {
    return new IoError(`the store "${location}" is damaged: ${damage[0]}`, {
      hint: 'Order nothing with it. Keep the file, restore a backup, and settle what was ordered since.',
    })
  }
  if (closed === undefined) return undefined
  if (closed.move !== undefined) return storeMoved(location, closed.move)
  const next = closed.untold
    ? 'Nobody knows who was ordered since, so all waiting rows are held when you continue'
    : 'Orders made since are recorded as unknown and are not sent again when you continue'
  return new IoError(`the store "${location}" is closed: ${closedBecause(closed)[0]}`, {
    hint: `If there is a newer copy of the store, put it in its place. ${next}: refcheck store check --accept-older`,
  })
}

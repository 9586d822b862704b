import { IoError } from '../../errors/kinds.ts'
import { countInWords } from '../wording/count-in-words.ts'

/** What is wrong with a store, in sentences; `missing`: runs that it does not know of. */
export function findingsOf(damage: readonly string[], missing: number): string[] {
  if (missing === 0) return [...damage]
  return [
    `it is older than the orders made with it: ${countInWords(missing, 'run is', 'runs are')} missing`,
    ...damage,
  ]
}

/** What a check with findings fails with. */
export function unsound(
  location: string,
  damage: readonly string[],
  findings: readonly string[],
): IoError | undefined {
  if (findings.length === 0) return undefined
  if (damage.length === 0) {
    return new IoError(`with the store "${location}" people could be ordered twice: ${findings[0]}`, {
      hint: 'Was a backup put back, or the file removed? Put the newer one in its place. Where that is lost, take out of your files whom the service has a request for already, then: refcheck store check --accept-older',
    })
  }
  return new IoError(`the store "${location}" is damaged: ${damage[0]}`, {
    hint: 'Order nothing with it. Keep the file, put back a backup, and settle what was ordered since.',
  })
}

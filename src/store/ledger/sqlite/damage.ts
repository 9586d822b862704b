import { IoError } from '../../../errors/kinds.ts'

/** A row that is not what was written: nothing is ordered with it. */
export function damagedStore(location: string, { batchId, row }: { batchId: string; row: number }): IoError {
  return new IoError(`the store "${location}" is damaged: row ${row} of batch ${batchId}`, {
    hint: 'Nothing was sent. Restore a backup of the store, or choose another one with REFCHECK_STORE. See what is damaged with: refcheck store check',
  })
}

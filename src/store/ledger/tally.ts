import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { diskFailure, errorNumber } from '../../disk/failure.ts'

/** A number kept beside the store, which stays when an older copy of the store is put in its place. */
export interface Tally {
  read(): number
  write(runs: number): void
}

/** In the folder of the store's locks, which is there whenever something is ordered. */
export function fileTally(location: string): Tally {
  const path = join(`${location}.locks`, 'runs')
  return {
    read() {
      try {
        return numberIn(readFileSync(path, 'utf8'))
      } catch (error) {
        if (errorNumber(error) === 'ENOENT') return 0
        throw diskFailure('read', path, error)
      }
    },
    write(runs) {
      try {
        writeFileSync(path, `${runs}\n`, { mode: 0o600 })
      } catch (error) {
        throw diskFailure('write', path, error)
      }
    },
  }
}

/** For a store that ends with its process. */
export const noTally: Tally = { read: () => 0, write: () => undefined }

/** Half-written digits count for nothing. */
export function numberIn(text: string): number {
  return /^\d{1,15}\n?$/.test(text) ? Number(text) : 0
}

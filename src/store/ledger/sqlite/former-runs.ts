import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Database } from './connection.ts'
import { diskFailure, errorNumber } from '../../../disk/failure.ts'
import { runsMissing } from '../../../domain/store/age.ts'
import { metaText, setMeta } from './meta.ts'

const runsName = 'runs'

/** How many runs 0.1.0 counted beside the store, in the folder of its locks, that the store does not know of. */
export function formerRunsMissing(database: Database): number {
  return runsMissing(numberIn(metaText(database, runsName)), runsBeside(database.location))
}

export function acceptRuns(database: Database): void {
  setMeta(database, runsName, String(runsBeside(database.location)))
}

function runsBeside(location: string): number {
  const path = join(`${location}.locks`, 'runs')
  try {
    return numberIn(readFileSync(path, 'utf8'))
  } catch (error) {
    if (errorNumber(error) === 'ENOENT') return 0
    throw diskFailure('read', path, error)
  }
}

/** Half-written digits count for nothing. */
function numberIn(text: string | undefined): number {
  return text !== undefined && /^\d{1,15}\n?$/.test(text) ? Number(text) : 0
}

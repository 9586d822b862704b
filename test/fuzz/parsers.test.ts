import { expect, test } from 'vitest'

import { faultRow } from '../harness/faults/fault-row.ts'
import { parsers } from './parsers.ts'
import { firstFault } from './tried.ts'

const fault = faultRow('parsers', 'neither read nor refused in order')
/** `npm run fuzz` tries 100,000 of each, from any seed. */
const cases = 60
const seed = 20_261_122

test('every parser reads or refuses what is nearly right', async () => {
  const faults: string[] = []
  let tried = 0
  for (const parser of parsers) {
    const own = Math.ceil(cases / (parser.share ?? 1))
    tried += own
    faults.push(...[await firstFault(parser, own, seed)].filter((each) => each !== undefined))
  }
  fault.cases(tried, tried - faults.length)
  fault.says(`${parsers.length} parsers, seed ${seed}`)
  expect(faults).toEqual([])
})

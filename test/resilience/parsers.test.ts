import fc from 'fast-check'
import { expect, test } from 'vitest'

import { RefcheckError } from '../../src/errors/kinds.ts'
import { variable } from '../../src/host/process.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { almostValid } from './parser-inputs.ts'
import { type Parser, parsers } from './parsers.ts'

const faultRow = recordForFaultTable('parsers', {
  mustNotHappen: 'neither read nor refused with a RefcheckError',
})
/** For more or other cases: REFCHECK_CASES=100000 REFCHECK_SEED=7 npm test -- resilience/parsers */
const cases = Number(variable(process.env, 'REFCHECK_CASES') ?? 60)
const seed = Number(variable(process.env, 'REFCHECK_SEED') ?? 20_261_122)

/** A parser that takes longer for such a short input is a fault. */
const maxMs = 5000

/** Returns the first input for which a parser neither succeeded nor threw a RefcheckError, with the error; or undefined. */
async function findFault(parser: Parser, numRuns: number): Promise<string | undefined> {
  const property = fc.asyncProperty(almostValid(parser.examples), async (text) => {
    const startedAt = performance.now()
    try {
      await parser.read(text)
    } catch (error) {
      if (!(error instanceof RefcheckError)) throw error
      if (error.code === 'internal') throw error
    }
    if (performance.now() - startedAt > maxMs) throw new Error('too slow')
  })
  const result = await fc.check(property, { numRuns, seed })
  if (!result.failed) return undefined
  const [input] = result.counterexample ?? []
  const { errorInstance } = result
  const trace = errorInstance instanceof Error ? (errorInstance.stack ?? errorInstance.message) : 'failed'
  return `${parser.name}, seed ${seed}: ${JSON.stringify(input)?.slice(0, 300)}: ${trace.split('\n').slice(0, 4).join(' | ')}`
}

test(
  'every parser reads or refuses almost valid inputs',
  async () => {
    const faults: string[] = []
    let triedCount = 0
    for (const parser of parsers) {
      const caseCount = Math.ceil(cases / (parser.oneInputIn ?? 1))
      triedCount += caseCount
      faults.push(...[await findFault(parser, caseCount)].filter((each) => each !== undefined))
    }
    faultRow.countCases(triedCount, triedCount - faults.length)
    faultRow.addNote(`${parsers.length} parsers, seed ${seed}`)
    expect(faults).toEqual([])
  },
  60_000 * Math.ceil(cases / 60),
)

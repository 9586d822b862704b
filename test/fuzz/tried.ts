import fc from 'fast-check'

import { RefcheckError } from '../../src/errors/base.ts'
import { nearly } from './inputs.ts'
import type { Parser } from './parsers.ts'

/** No reader of so little takes so long. */
const longestMs = 5000

/** What was wrong with the first input that a parser neither read nor refused by an error of ours; undefined for none. */
export async function firstFault(parser: Parser, cases: number, seed: number): Promise<string | undefined> {
  const property = fc.asyncProperty(nearly(parser.examples), async (text) => {
    const since = performance.now()
    try {
      await parser.read(text)
    } catch (error) {
      if (!(error instanceof RefcheckError)) throw error
      if (error.code === 'internal') throw error
    }
    if (performance.now() - since > longestMs) throw new Error('too slow')
  })
  const result = await fc.check(property, { numRuns: cases, seed })
  if (!result.failed) return undefined
  const [input] = result.counterexample ?? []
  const { errorInstance } = result
  const said = errorInstance instanceof Error ? (errorInstance.stack ?? errorInstance.message) : 'failed'
  return `${parser.name}, seed ${seed}: ${JSON.stringify(input)?.slice(0, 300)}: ${said.split('\n').slice(0, 4).join(' | ')}`
}

import { parseAst } from 'rolldown/parseAst'
import { expect, test } from 'vitest'

import { faultRow } from '../harness/faults/fault-row.ts'
import { processorMs } from '../harness/processor-time.ts'
import { shareOf } from '../harness/share.ts'
import { sources } from '../house/sources.ts'

const fault = faultRow('redos', 'expressions that take longer')

const bytes = 100_000
const maxMs = 50

interface Expression {
  where: string
  pattern: string
  flags: string
}

/** Only ever used on what is short by then, and why. */
const short: Record<string, string> = {
  'src/domain/sheet/number-format.ts': 'a number has at most 309 digits',
}

/** Every regular expression that is written in src; what builds the program reads its own sources. */
function expressions(): Expression[] {
  const read = sources('src/**/*.ts').filter(({ path }) => !path.startsWith('src/build/') && !(path in short))
  return read.flatMap(({ path, text }) => {
    const found: Expression[] = []
    const visit = (node: unknown): void => {
      if (node === null || typeof node !== 'object') return
      if (Array.isArray(node)) return node.forEach(visit)
      const { regex } = node as { regex?: { pattern: string; flags: string } }
      if (regex !== undefined) found.push({ where: path, ...regex })
      Object.values(node).forEach(visit)
    }
    visit(parseAst(text, { lang: 'ts' }))
    return found
  })
}

/** Texts that make an expression that backtracks go back far: its own characters, repeated, and no match at the end. */
function hostile({ pattern }: Expression): string[] {
  const own = [...new Set(pattern.replaceAll(/\\[a-z]|[[\](){}*+?|^$]/gi, ''))].slice(0, 6)
  const units = [' ', '\t', '\n', 'a', 'A', '0', '\u00E9', 'a ', '0.', 'a,', ' \n', '"', ...own, own.join('')]
  return units.filter((unit) => unit !== '').map((unit) => `${unit.repeat(bytes / unit.length)}\u0000!`)
}

/** Milliseconds of processor time. A text grows, so that what is slow is given up early. */
function slowest({ pattern, flags }: Expression, text: string): number {
  let took = 0
  for (const part of [16, 4, 1]) {
    const cut = text.slice(0, text.length / part) + text.slice(-2)
    took = processorMs(() => cut.replace(new RegExp(pattern, flags), ''))
    if (took > maxMs) return took * part
  }
  return took
}

test('no expression takes long over a text of 100 KB', () => {
  const all = expressions()
  expect(all.length).toBeGreaterThan(200)
  const tried = shareOf(all, 60)
  const slow = tried.flatMap((expression) => {
    // Once more where it took long: it may have been collected or compiled meanwhile.
    const text = hostile(expression).find(
      (each) => slowest(expression, each) > maxMs && slowest(expression, each) > maxMs,
    )
    const { where, pattern, flags } = expression
    return text === undefined
      ? []
      : [`${where}: /${pattern}/${flags} over ${JSON.stringify(text.slice(0, 4))}…`]
  })
  fault.cases(tried.length, tried.length - slow.length)
  expect(slow).toEqual([])
}, 1_200_000)

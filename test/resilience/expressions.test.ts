import { parseAst } from 'rolldown/parseAst'
import { expect, test } from 'vitest'

import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { processorMs } from '../harness/processor-time.ts'
import { sampleOf } from '../harness/share.ts'
import { sources } from '../house/sources.ts'

const faultRow = recordForFaultTable('redos', { mustNotHappen: 'expressions that take longer' })

const textLength = 100_000
const maxMs = 50

interface Expression {
  where: string
  pattern: string
  flags: string
}

/** Files whose expressions are only applied to short texts, each with the reason why these are short. */
const filesWithShortTexts: Record<string, string> = {
  'src/domain/sheet/number-format.ts': 'a number has at most 309 digits',
}

/** Returns every regular expression in src, except those of src/build, which are applied only to this project's sources. */
function findExpressions(): Expression[] {
  const files = sources('src/**/*.ts').filter(
    ({ path }) => !path.startsWith('src/build/') && !(path in filesWithShortTexts),
  )
  return files.flatMap(({ path, text }) => {
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

/** Returns texts on which a backtracking expression is slow: its own characters, repeated, with an end that does not match. */
function createSlowTexts({ pattern }: Expression): string[] {
  const characters = [...new Set(pattern.replaceAll(/\\[a-z]|[[\](){}*+?|^$]/gi, ''))].slice(0, 6)
  const units = [
    ' ',
    '\t',
    '\n',
    'a',
    'A',
    '0',
    '\u00E9',
    'a ',
    '0.',
    'a,',
    ' \n',
    '"',
    ...characters,
    characters.join(''),
  ]
  return units.filter((unit) => unit !== '').map((unit) => `${unit.repeat(textLength / unit.length)}\u0000!`)
}

/**
 * Returns the processor time of a replacement, in ms. Tries 1/16 and 1/4 of the text first, and stops at the first part
 * that is too slow.
 */
function replaceMs({ pattern, flags }: Expression, text: string): number {
  let ms = 0
  for (const divisor of [16, 4, 1]) {
    const shortenedText = text.slice(0, text.length / divisor) + text.slice(-2)
    ms = processorMs(() => shortenedText.replace(new RegExp(pattern, flags), ''))
    if (ms > maxMs) return ms * divisor
  }
  return ms
}

test('no expression takes long over a text of 100 KB', () => {
  const all = findExpressions()
  expect(all.length).toBeGreaterThan(200)
  const sample = sampleOf(all, 60)
  const slow = sample.flatMap((expression) => {
    // A slow run is repeated once, because garbage collection or compilation may have taken the time.
    const text = createSlowTexts(expression).find(
      (each) => replaceMs(expression, each) > maxMs && replaceMs(expression, each) > maxMs,
    )
    const { where, pattern, flags } = expression
    return text === undefined
      ? []
      : [`${where}: /${pattern}/${flags} over ${JSON.stringify(text.slice(0, 4))}…`]
  })
  faultRow.countCases(sample.length, sample.length - slow.length)
  expect(slow).toEqual([])
}, 1_200_000)

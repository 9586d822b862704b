import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { suite } from '../../src/conformance/suite.ts'
import { captions, rules } from './rules.ts'

const caseIds = new Set(suite.map(({ id }) => id))

test('every rule of the document has a case, or a reason why none can see it', () => {
  const bare = rules.filter(({ by, because }) => by.length === 0 && (because ?? '').length < 20)
  expect(bare.map(({ section, text }) => `${section}: ${text}`)).toEqual([])
  expect(rules.filter(({ by, because }) => by.length > 0 && because !== undefined)).toEqual([])
})

test('the cases that rules name are in the suite', () => {
  const unknown = rules.flatMap(({ by }) => by).filter((id) => !caseIds.has(id))
  expect(unknown).toEqual([])
})

test('every case quotes a rule of the section it names, which counts on it', () => {
  const stray = suite.filter(({ id, section, rule }) => {
    const quoted = rules.filter((each) => each.section === section && overlap(each.text, rule))
    return !quoted.some(({ by }) => by.includes(id))
  })
  expect(stray.map(({ id, section, rule }) => ({ id, section, rule }))).toEqual([])
})

test('case ids are unique', () => {
  expect(caseIds.size).toBe(suite.length)
})

/** A case may quote a whole paragraph of which the list keeps the sentences apart, or the other way round. */
function overlap(one: string, other: string): boolean {
  return one.includes(other) || other.includes(one)
}

test('the rules are the words of the document, all of them and under their headings', () => {
  const document = new URL('../vectors/service-api-v1.txt', import.meta.url)
  expect(differences(readFileSync(document, 'utf8'))).toEqual([])
})

test('a sentence that is not in the document, and one that the list lacks, are noticed', () => {
  expect(differences('## Limits\n\nCalls are free.\n')).toContain('Limits has besides: Calls are free.')
  expect(differences('## Limits\n')).toContain('Limits lacks: API key length | 32 characters |')
})

/** What the list has and the document does not, and the other way round. */
function differences(document: string): string[] {
  const sections = linesBySection(document)
  const lacking: string[] = []
  for (const { section, text } of rules) {
    const lines = sections.get(section) ?? []
    const at = lines.findIndex((line) => line.includes(text))
    if (at === -1) lacking.push(`${section} lacks: ${text}`)
    else lines[at] = (lines[at] ?? '').replace(text, '')
  }
  const besides = [...sections].flatMap(([section, lines]) =>
    lines
      .map((line) => line.trim())
      .filter((line) => line !== '' && !captions.includes(line))
      .map((line) => `${section} has besides: ${line}`),
  )
  return [...lacking, ...besides]
}

/** The document without its markup: table rows without their outer bars, items without their marks, no table heads. */
function linesBySection(document: string): Map<string, string[]> {
  const sections = new Map<string, string[]>()
  const lines = document.split('\n').map((line) => line.trim())
  const isRule = (line: string | undefined): boolean => /^\|[-|]+\|$/.test(line ?? '')
  let section: string[] = []
  for (const [at, line] of lines.entries()) {
    const heading = /^#+ (.*)$/.exec(line)?.[1]
    if (heading !== undefined) {
      section = []
      sections.set(heading, section)
    } else if (line !== '' && !isRule(line) && !isRule(lines[at + 1])) {
      section.push(
        line
          .replace(/^\| /, '')
          .replace(/ \|$/, '')
          .replace(/^(- |\d+\. )/, ''),
      )
    }
  }
  return sections
}

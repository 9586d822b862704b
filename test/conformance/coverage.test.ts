import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { suite } from '../../src/conformance/suite.ts'
import { captions, rules } from './rules.ts'

const suiteIds = new Set(suite.map(({ id }) => id))

test('every rule of the document has a case, or a reason why no case can test it', () => {
  const uncovered = rules.filter(({ caseIds, reason }) => caseIds.length === 0 && (reason ?? '').length < 20)
  expect(uncovered.map(({ section, text }) => `${section}: ${text}`)).toEqual([])
  expect(rules.filter(({ caseIds, reason }) => caseIds.length > 0 && reason !== undefined)).toEqual([])
})

test('the cases that rules name are in the suite', () => {
  const unknown = rules.flatMap(({ caseIds }) => caseIds).filter((id) => !suiteIds.has(id))
  expect(unknown).toEqual([])
})

test('every case quotes a rule of its section, and the rule names the case', () => {
  const uncitedCases = suite.filter(({ id, section, rule }) => {
    const quoted = rules.filter((each) => each.section === section && containsOther(each.text, rule))
    return !quoted.some(({ caseIds }) => caseIds.includes(id))
  })
  expect(uncitedCases.map(({ id, section, rule }) => ({ id, section, rule }))).toEqual([])
})

test('case ids are unique', () => {
  expect(suiteIds.size).toBe(suite.length)
})

/** A case may quote a whole paragraph whose sentences are separate rules, or one sentence of a rule. */
function containsOther(one: string, other: string): boolean {
  return one.includes(other) || other.includes(one)
}

test('the rules have the texts of the document, all of them and under their headings', () => {
  const document = new URL('../vectors/service-api-v1.txt', import.meta.url)
  expect(findDifferences(readFileSync(document, 'utf8'))).toEqual([])
})

test('a text that only the document or only the list has is found', () => {
  expect(findDifferences('## Limits\n\nCalls are free.\n')).toContain('Limits has besides: Calls are free.')
  expect(findDifferences('## Limits\n')).toContain('Limits lacks: API key length | 32 characters |')
})

/** Returns the texts that only the document or only the list of rules has. */
function findDifferences(document: string): string[] {
  const sections = readLinesBySection(document)
  const missingTexts: string[] = []
  for (const { section, text } of rules) {
    const lines = sections.get(section) ?? []
    const index = lines.findIndex((line) => line.includes(text))
    if (index === -1) missingTexts.push(`${section} lacks: ${text}`)
    else lines[index] = (lines[index] ?? '').replace(text, '')
  }
  const extraTexts = [...sections].flatMap(([section, lines]) =>
    lines
      .map((line) => line.trim())
      .filter((line) => line !== '' && !captions.includes(line))
      .map((line) => `${section} has besides: ${line}`),
  )
  return [...missingTexts, ...extraTexts]
}

/** Returns the lines of each section without markup: no outer bars of tables, no marks of lists, no table heads. */
function readLinesBySection(document: string): Map<string, string[]> {
  const sections = new Map<string, string[]>()
  const lines = document.split('\n').map((line) => line.trim())
  const isRule = (line: string | undefined): boolean => /^\|[-|]+\|$/.test(line ?? '')
  let section: string[] = []
  for (const [index, line] of lines.entries()) {
    const heading = /^#+ (.*)$/.exec(line)?.[1]
    if (heading !== undefined) {
      section = []
      sections.set(heading, section)
    } else if (line !== '' && !isRule(line) && !isRule(lines[index + 1])) {
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

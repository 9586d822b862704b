import { expect, test } from 'vitest'

import { sources } from './sources.ts'

/** Words that readers had to read twice, each with the word to use instead. */
const replacedWords: [word: RegExp, replacement: string][] = [
  [/\bmend(?:s|ed|ing)?\b/i, 'fix'],
  [/people of the service/i, 'the provider, the provider’s support'],
  [/\bunfit\b|fit to be ordered|\bnot fit to\b/i, 'valid, invalid'],
  [/nothing listens|nobody listens/i, 'connection refused'],
  [/\boddly\b|\boddity\b/i, 'unexpected'],
  [/goes before (?:the profile|the current|the one|both)/i, 'overrides'],
  [/\btold (?:on|of)\b/i, 'reported'],
  [/exclude each other/i, 'cannot be combined'],
  [/exists already/i, 'already exists'],
  [/fault of this program/i, 'internal error'],
  [/\bon (?:its|their) way\b/i, 'in flight'],
  [/\bhanded on\b/i, 'forwarded'],
  [/\b(?:came|comes|come) again\b/i, 'redelivered, duplicate delivery'],
  [/\banew\b/i, 'again, re-serialised'],
  [/\babsent\b/i, 'missing, unavailable, not found'],
  [/time is up/i, 'timed out'],
  [/written down/i, 'recorded'],
  [/(?:order|request) was taken/i, 'accepted'],
  [/sent otherwise/i, 'changed before sending'],
  [/orders? nobody twice/i, 'no person twice'],
  [/order without a question/i, 'Skip the confirmation'],
  [/what a column says/i, 'Map a column to a field'],
  [/until nobody runs it/i, 'until the run ends'],
  [/take every fault back/i, 'Clear all faults'],
  [/best a member/i, 'preferably a member'],
  [/\bother luck\b/i, 'random seed'],
  [/post them here/i, 'Deliver to this URL'],
  [/put a receiver through/i, 'Test a receiver against everything the service may send'],
  [/ask a deployment/i, 'Check a deployment against every rule'],
  [/answers in no time/i, '--within must be above 0'],
  [/what is not meant/i, 'Unset it if that is unintended'],
  [/nothing proves/i, 'no evidence found'],
  [/holds nobody/i, 'contains no rows'],
  [/stopped at a question/i, 'cancelled; nothing was ordered'],
]

interface Sentence {
  path: string
  text: string
}

const sql = /\b(?:SELECT|INSERT INTO|UPDATE|CREATE TABLE)\b/

/** Returns the string literals of the program with a blank, without inserted values. A single word may be a key. */
function readProgramTexts(): Sentence[] {
  return sources('src/**/*.ts').flatMap(({ path, text }) =>
    [...text.matchAll(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g)]
      .map(([sentence]) => ({ path, text: sentence.replaceAll(/\$\{[^}]*\}/g, '…') }))
      .filter((sentence) => sentence.text.includes(' ') && !sql.test(sentence.text)),
  )
}

/** Returns the lines of the documents that are delivered with the program. */
function readDocumentLines(): Sentence[] {
  return ['README.md', 'src/README.md', 'test/bench/README.md', 'oclif.manifest.json', 'package.json']
    .flatMap((pattern) => sources(pattern))
    .flatMap(({ path, text }) => text.split('\n').map((line) => ({ path, text: line })))
    .filter(({ text }) => text.includes(' '))
}

function readTestTitles(): Sentence[] {
  return sources('test/**/*.test.ts').flatMap(({ path, text }) =>
    [...text.matchAll(/^ *(?:test|describe|\]\))(?:\.[\w.]+)?\((['`].*)$/gm)].map(([, name = '']) => ({
      path,
      text: name,
    })),
  )
}

test.each([
  ['of the program', readProgramTexts],
  ['of README and manifest', readDocumentLines],
  ['that names a test', readTestTitles],
])('no sentence %s has a word that was replaced', (_which, sentences) => {
  const allSentences = sentences()
  expect(allSentences.length).toBeGreaterThan(100)
  const found = allSentences.flatMap(({ path, text }) =>
    replacedWords
      .filter(([word]) => word.test(text))
      .map(([, replacement]) => `${path}: say "${replacement}" in ${text.slice(0, 120)}`),
  )
  expect(found).toEqual([])
})

test('a hint ends with its command, so that it can be pasted', () => {
  const textAfterCommand = /: refcheck [^"`'\n)]*(?:[a-z}]|\b[A-Z]{2,})[.;] (?:[A-Z]|then\b)/
  expect(
    readProgramTexts()
      .filter(({ path, text }) => !path.startsWith('src/cli/pages/') && textAfterCommand.test(text))
      .map(({ path, text }) => `${path}: ${text}`),
  ).toEqual([])
})

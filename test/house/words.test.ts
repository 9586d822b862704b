import { expect, test } from 'vitest'

import { sources } from './sources.ts'

/** Words that a person had to read twice, each beside the one we use. */
const gone: [word: RegExp, better: string][] = [
  [/\bmend (?:it|them|the|that)\b/i, 'fix'],
  [/people of the service/i, 'the provider'],
  [/fit to be ordered/i, 'valid, invalid'],
  [/nothing listens there/i, 'connection refused'],
  [/failed oddly/i, 'unexpected store error'],
  [/goes before the profile/i, 'overrides'],
  [/told on stderr/i, 'reported on stderr'],
  [/exclude each other/i, 'cannot be combined'],
  [/exists already/i, 'already exists'],
  [/a fault of this program/i, 'internal error'],
]

test('no sentence has a word that is gone', () => {
  const found = sources('src/**/*.ts').flatMap(({ path, text }) =>
    [...text.matchAll(/'[^'\n]*'|`[^`]*`/g)].flatMap(([sentence]) =>
      gone
        .filter(([word]) => word.test(sentence))
        .map(([, better]) => `${path}: say "${better}" in ${sentence.slice(0, 80)}`),
    ),
  )
  expect(found).toEqual([])
})

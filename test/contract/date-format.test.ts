import { expect, test } from 'vitest'

import { dateRule } from '../../src/contract/date-format.ts'

test.each([
  ['Date of birth (YYYY-MM-DD)', 'iso'],
  ['yyyy-mm-dd', 'iso'],
  ['Date of birth as an ISO date, for example 1990-04-30.', 'iso'],
  ['ISO 8601 date of issue', 'iso'],
  ['ISO-8601 date', 'iso'],
  ['Issue date, in ISO 8601', 'iso'],
  ['Date of birth', 'mentioned'],
  ['Employment dates, YYYY-MM-DD to YYYY-MM-DD', 'mentioned'],
  ['Start, as YYYY-MM-DD or YYYY', 'mentioned'],
  ['Date of birth, DD/MM/YYYY', undefined],
  ['Date as MM/DD/YYYY', undefined],
  ['ISO 8601 date-time of arrival', undefined],
  ['ISO 8601 timestamp', undefined],
  ['YYYY-MM-DDThh:mm', undefined],
  ['Whether the candidate has a mandate', undefined],
  ['An update of the address', undefined],
  ['', undefined],
])('%j asks for: %s', (description, rule) => {
  expect(dateRule(description)).toBe(rule)
})

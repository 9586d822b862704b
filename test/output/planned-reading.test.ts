import { expect, test } from 'vitest'

import { plannedReadingText } from '../../src/output/views/batch-check.ts'

test('30 columns left out are one line, with those that are named as fields of a person, and whose e-mail is used comes last', () => {
  const notes = Array.from({ length: 30 }, (_, at) => `note${at}`)
  const text = plannedReadingText({
    map: ['home_email=email', 'Department=reference.department'],
    ignore: [...notes, 'E-mail', 'email', 'First name'],
    packageId: undefined,
    sheet: undefined,
    mapping: undefined,
    saveMapping: undefined,
    defaultCountry: undefined,
    headerRow: undefined,
    encoding: undefined,
    hidden: undefined,
    acceptLines: undefined,
  })
  expect(text.split('\n')).toEqual([
    'The agent chose to read the file so:',
    '  E-mail, email, First name, note0, note1 and 28 more → left out',
    '  Department → reference.department',
    '  home_email → email',
  ])
})

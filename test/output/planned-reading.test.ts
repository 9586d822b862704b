import { expect, test } from 'vitest'

import { columnChoicesText } from '../../src/output/views/batch-check.ts'

test('30 columns that are left out are one line, which begins with those named like a field of a person', () => {
  const notes = Array.from({ length: 30 }, (_, index) => `note${index}`)
  const text = columnChoicesText({
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

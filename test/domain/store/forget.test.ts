import { expect, test } from 'vitest'

import { containsPersonName, uncleanStoreFilesError } from '../../../src/domain/store/erasure.ts'

const priya = { firstName: 'Priya', lastName: 'Nåir Singh', email: 'p.nair@example.com' }

test.each([
  ['/home/hr/priya.csv', true],
  ['PRIYA nair.csv', true],
  ['Nair-Singh_2026.csv', true],
  ['singh.csv', false],
  ['people.csv', false],
  ['priyanka.csv', false],
  ['nurses of march.csv', false],
])('%s contains the name of Priya: %s', (name, isNamed) => {
  expect(containsPersonName(name, priya)).toBe(isNamed)
})

test('names of two letters and empty names are never found in a file name', () => {
  expect(containsPersonName('al.csv', { firstName: 'Al', lastName: undefined, email: undefined })).toBe(false)
  expect(containsPersonName('', { firstName: '', lastName: undefined, email: '' })).toBe(false)
})

test('the error of an incomplete purge says what may remain and who can remove it', () => {
  expect(uncleanStoreFilesError('/d/s', { isLeftTo: 'another process' })).toMatchObject({
    code: 'incomplete',
    message: expect.stringContaining('another process uses it') as string,
    rerunLabel: 'Once the other process has ended, run',
  })
  expect(uncleanStoreFilesError('/d/s', { isLeftTo: 'the owner' })).toMatchObject({
    message: expect.stringContaining('only the owner of its tables') as string,
    rerunLabel: expect.stringContaining('VACUUM') as string,
  })
})

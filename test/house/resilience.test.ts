import { expect, test } from 'vitest'

import { badLines, commandIds, parametersWithoutKind } from '../resilience/bad-input.ts'
import { faults } from '../resilience/rows.ts'
import { listRecordingFiles, listUnusedTitleFilters } from '../resilience/recording.ts'

const recording = listRecordingFiles()

test.each(Object.keys(faults))('the fault "%s" has a test that records its figure', (id) => {
  expect(recording.filter(({ rows }) => rows.includes(id))).not.toEqual([])
})

test('every filter that selects tests for the fault table by their titles matches a title', () => {
  expect(listUnusedTitleFilters()).toEqual([])
})

test('every argument and flag has a kind of value, so that invalid values can be tried', () => {
  expect(parametersWithoutKind).toEqual([])
})

test.each(commandIds)('%s is tried with bad input', (id) => {
  const tried = new Set(badLines(id).map(({ what }) => what))
  expect([...tried]).toEqual(
    expect.arrayContaining(['NUL', '100 KB', 'half a surrogate pair', 'no value', 'twice']),
  )
})

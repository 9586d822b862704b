import { expect, test } from 'vitest'

import {
  manifestTable,
  parseJournalLine,
  parseManifest,
  reportKey,
  type ReportRecord,
} from '../../../src/domain/report/record.ts'
import { IoError } from '../../../src/errors/kinds.ts'

const record: ReportRecord = {
  service: 'https://api.example.com',
  request_id: 'r-1',
  check_id: 'c-1',
  referee_id: null,
  first_name: 'Ann',
  last_name: 'Lee',
  check_name: 'Police',
  file: 'Lee/Ann.pdf',
  bytes: 3,
  sha256: 'a'.repeat(64),
  stored_at: '2026-11-20T12:00:00.000Z',
  request_reports: 1,
  request_without: null,
  email: null,
  package_id: null,
}

test('a manifest and a journal line are read back unchanged', () => {
  expect(parseManifest(JSON.stringify([record]), 'manifest.json')).toEqual([record])
  expect(parseJournalLine(JSON.stringify(record))).toEqual(record)
})

test('a path may have 4096 characters', () => {
  const file = 'x'.repeat(4096)
  expect(parseJournalLine(JSON.stringify({ ...record, file }))?.file).toBe(file)
})

test.each([
  '../x.pdf',
  '/x.pdf',
  'a//b.pdf',
  'a/../b.pdf',
  './a.pdf',
  'a\\b.pdf',
  'a\0.pdf',
  '',
  'x'.repeat(4097),
])('a record with an unsafe path is refused: %j', (file) => {
  expect(() => parseManifest(JSON.stringify([{ ...record, file }]), 'm')).toThrow(IoError)
  expect(parseJournalLine(JSON.stringify({ ...record, file }))).toBeUndefined()
})

test.each([
  { bytes: -1 },
  { bytes: 1.5 },
  { sha256: 'A'.repeat(64) },
  { sha256: 'a'.repeat(63) },
  { stored_at: 'now' },
])('a record with %j is refused', (changes) => {
  expect(parseJournalLine(JSON.stringify({ ...record, ...changes }))).toBeUndefined()
})

test('a file that is not a manifest is refused with its path, and an incomplete journal line is ignored', () => {
  for (const text of ['', '{}', '{"name":"a web page"}', '[1]']) {
    expect(() => parseManifest(text, '/reports/manifest.json')).toThrow(/manifest\.json/)
  }
  expect(parseJournalLine(JSON.stringify(record).slice(0, 50))).toBeUndefined()
})

test('a record of an earlier version has no e-mail and package', () => {
  const { email: _, package_id: __, ...earlier } = record
  expect(parseJournalLine(JSON.stringify(earlier))).toEqual(record)
})

test('the table has a column for each property of a record', () => {
  expect(manifestTable([record])).toEqual([Object.keys(record), Object.values(record)])
  expect(manifestTable([])).toHaveLength(1)
})

test('different reports have different keys, whatever characters their ids contain', () => {
  const ids = { service: 'https://a.example', request_id: 'r', check_id: 'c', referee_id: null }
  const keys = [
    ids,
    { ...ids, service: 'https://b.example' },
    { ...ids, request_id: null },
    { ...ids, request_id: 'r","c' },
    { ...ids, check_id: 'r' },
    { ...ids, check_id: 'c","d' },
    { ...ids, referee_id: 'd' },
  ].map(reportKey)
  expect(new Set(keys).size).toBe(7)
})

import { createHash } from 'node:crypto'

import fc from 'fast-check'
import { expect, test } from 'vitest'

import {
  eraseFingerprints,
  formatRecord,
  isErasedFingerprint,
  isAtOrigin,
  type LogEntry,
  type LogHeader,
  type LogRecord,
  parseLog,
} from '../../../src/domain/store/attempt-log.ts'
import { submissionStates } from '../../../src/domain/submission/states.ts'

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
const format = (record: LogRecord): string => formatRecord(record, digest)
const parse = (text: string) => parseLog(Buffer.from(text), digest)

const createEntry = (number: number): LogEntry => ({
  kind: 'entry',
  generation: 'g1',
  account: 'acme',
  number,
  attemptId: `a${number}`,
  batchId: 'b',
  row: 7,
  baseUrl: 'http://127.0.0.1:4010',
  userEmail: 'zoë@example.com',
  packageId: 102,
  relatedIds: [101],
  at: 1_700_000_000_000,
  person: 'a'.repeat(64),
  email: 'b'.repeat(64),
  phone: '',
})

const header: LogHeader = {
  kind: 'header',
  id: 'l1',
  // `file` is the inode number.
  origin: { host: 'hr-1', machine: 'm', path: '/home/hr/.config/refcheck/attempts/l1.log', file: '77' },
  storeId: 's1',
  store: '/home/hr/ledger.sqlite',
  key: 'c'.repeat(64),
  generation: 'g1',
  register: [{ id: 'l2', host: 'hr-2', machine: 'n', path: '/x/l2.log', lastAttemptAt: 5 }],
  bytes: 0,
  heads: [{ account: 'acme', number: 0, attemptId: 'a0' }],
}

const records: LogRecord[] = [
  header,
  createEntry(1),
  { kind: 'outcome', attemptId: 'a1', state: 'accepted', requestId: 'r1' },
  { kind: 'outcome', attemptId: 'a2', state: 'pending', requestId: undefined },
  // A note records the attempt with the highest number of an account, as the store had it when it was read.
  { kind: 'note', generation: 'g1', account: '', number: 9, attemptId: 'a9' },
]

const texts = fc.string({ unit: 'binary' })
const headProperties = { generation: texts, account: texts, number: fc.nat(), attemptId: texts }
const anyRecord: fc.Arbitrary<LogRecord> = fc.oneof(
  fc.record({
    kind: fc.constant('entry' as const),
    ...headProperties,
    batchId: texts,
    row: fc.nat(),
    baseUrl: texts,
    userEmail: texts,
    packageId: fc.nat(),
    relatedIds: fc.array(fc.nat()),
    at: fc.nat(),
    person: texts,
    email: texts,
    phone: texts,
  }),
  fc.record({
    kind: fc.constant('outcome' as const),
    attemptId: texts,
    state: fc.constantFrom(...submissionStates),
    requestId: fc.option(texts, { nil: undefined }),
  }),
  fc.record({ kind: fc.constant('note' as const), ...headProperties }),
)

test('formatted records are parsed unchanged, whatever texts they contain', () => {
  const text = records.map(format).join('')
  expect(parse(text)).toEqual({ records, damagedLineCount: 0, parsedBytes: Buffer.byteLength(text) })
  expect(parse('')).toEqual({ records: [], damagedLineCount: 0, parsedBytes: 0 })
  fc.assert(
    fc.property(fc.array(anyRecord), (someRecords) => {
      expect(parse(someRecords.map(format).join('')).records).toEqual(someRecords)
    }),
  )
})

test('an incomplete last line is skipped, wherever it ends, and read when it is complete', () => {
  const before = `${format(header)}${format(createEntry(1))}`
  const last = format(createEntry(2))
  for (let length = 0; length < last.length; length += 1) {
    const { records: found, damagedLineCount, parsedBytes } = parse(`${before}${last.slice(0, length)}`)
    expect(found).toEqual([header, createEntry(1)])
    expect(damagedLineCount).toBe(0)
    const rest = Buffer.from(`${before}${last}`).subarray(parsedBytes).toString()
    expect(parse(rest).records).toEqual([createEntry(2)])
  }
})

test('a line after an incomplete one is read: another process appended it', () => {
  for (const length of [1, 20, 100]) {
    const tornText = `${format(createEntry(1))}${format(createEntry(2)).slice(0, length)}${format(createEntry(3))}`
    expect(parse(tornText)).toMatchObject({ records: [createEntry(1), createEntry(3)], damagedLineCount: 0 })
  }
})

test('zeros that a power cut left instead of a line are skipped', () => {
  const zeros = `\n${'\0'.repeat(40)}\t`
  expect(parse(`${format(createEntry(1))}${zeros}${format(createEntry(2))}`)).toMatchObject({
    damagedLineCount: 0,
  })
})

test('a complete line with any one character changed is damaged', () => {
  const line = format(createEntry(2))
  fc.assert(
    fc.property(fc.integer({ min: 1, max: line.length - 2 }), (index) => {
      const otherCharacter = line[index] === 'x' ? 'y' : 'x'
      const changed = `${line.slice(0, index)}${otherCharacter}${line.slice(index + 1)}`
      expect(parse(`${format(createEntry(1))}${changed}${format(createEntry(3))}`)).toMatchObject({
        records: [createEntry(1), createEntry(3)],
        damagedLineCount: 1,
      })
    }),
  )
})

test('a log is the original only if host, machine, path and inode are those of its header', () => {
  const { origin } = header
  expect(isAtOrigin(header, { ...origin })).toBe(true)
  for (const part of ['host', 'machine', 'path', 'file'] as const)
    expect(isAtOrigin(header, { ...origin, [part]: 'other' })).toBe(false)
})

test('erasing fingerprints keeps the length of the lines and the fingerprints of other attempts', () => {
  const text = [createEntry(1), createEntry(2), records[2]].map((each) => format(each as LogRecord)).join('')
  const [change, ...others] = eraseFingerprints(text, new Set(['a2', 'a3']), digest)
  expect(others).toEqual([])
  if (change === undefined) throw new Error('nothing is erased')
  expect(change.after).toHaveLength(change.before.length)
  const [first, second] = parse(text.replace(change.before, change.after)).records as [LogEntry, LogEntry]
  expect(first).toEqual(createEntry(1))
  expect([second.person, second.email, second.phone].map(isErasedFingerprint)).toEqual([true, true, true])
  const blank = { person: '', email: '', phone: '' }
  expect({ ...second, ...blank }).toEqual({ ...createEntry(2), ...blank })
  expect(isErasedFingerprint(first.person)).toBe(false)
})

test('an erasure that was interrupted within a line is completed by the next one', () => {
  const text = format(createEntry(1))
  const [line] = eraseFingerprints(text, new Set(['a1']), digest)
  if (line === undefined) throw new Error('nothing is erased')
  for (let written = 0; written < line.after.length; written += 1) {
    const tornText = `\n${line.after.slice(0, written)}${line.before.slice(written)}`
    const [completed] = eraseFingerprints(tornText, new Set(['a1']), digest)
    expect(`\n${completed?.after ?? tornText.slice(1)}`).toBe(`\n${line.after}`)
  }
  expect(eraseFingerprints(`\n${line.after}`, new Set(['a1']), digest)).toEqual([])
})

test('nothing is erased in a damaged line, because its attempt is unknown', () => {
  const damaged = format(createEntry(1)).replace('["entry"', '{"entry"')
  expect(eraseFingerprints(damaged, new Set(['a1']), digest)).toEqual([])
})

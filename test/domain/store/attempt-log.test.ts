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

const entry = (number: number): LogEntry => ({
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
  entry(1),
  { kind: 'outcome', attemptId: 'a1', state: 'accepted', requestId: 'r1' },
  { kind: 'outcome', attemptId: 'a2', state: 'pending', requestId: undefined },
  { kind: 'note', generation: 'g1', account: '', number: 9, attemptId: 'a9' },
]

const texts = fc.string({ unit: 'binary' })
const numbered = { generation: texts, account: texts, number: fc.nat(), attemptId: texts }
const anyRecord: fc.Arbitrary<LogRecord> = fc.oneof(
  fc.record({
    kind: fc.constant('entry' as const),
    ...numbered,
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
  fc.record({ kind: fc.constant('note' as const), ...numbered }),
)

test('formatted records are parsed unchanged, whatever texts they contain', () => {
  const text = records.map(format).join('')
  expect(parse(text)).toEqual({ records, damaged: 0, bytes: Buffer.byteLength(text) })
  expect(parse('')).toEqual({ records: [], damaged: 0, bytes: 0 })
  fc.assert(
    fc.property(fc.array(anyRecord), (some) => {
      expect(parse(some.map(format).join('')).records).toEqual(some)
    }),
  )
})

test('an incomplete last line is skipped, wherever it ends, and read when it is complete', () => {
  const before = `${format(header)}${format(entry(1))}`
  const last = format(entry(2))
  for (let length = 0; length < last.length; length += 1) {
    const { records: found, damaged, bytes } = parse(`${before}${last.slice(0, length)}`)
    expect(found).toEqual([header, entry(1)])
    expect(damaged).toBe(0)
    const rest = Buffer.from(`${before}${last}`).subarray(bytes).toString()
    expect(parse(rest).records).toEqual([entry(2)])
  }
})

test('a line after an incomplete one is read: another process appended it', () => {
  for (const length of [1, 20, 100]) {
    const torn = `${format(entry(1))}${format(entry(2)).slice(0, length)}${format(entry(3))}`
    expect(parse(torn)).toMatchObject({ records: [entry(1), entry(3)], damaged: 0 })
  }
})

test('zeros that a power cut left instead of a line are skipped', () => {
  const zeros = `\n${'\0'.repeat(40)}\t`
  expect(parse(`${format(entry(1))}${zeros}${format(entry(2))}`)).toMatchObject({ damaged: 0 })
})

test('a complete line with any one character changed is damaged', () => {
  const line = format(entry(2))
  fc.assert(
    fc.property(fc.integer({ min: 1, max: line.length - 2 }), (at) => {
      const other = line[at] === 'x' ? 'y' : 'x'
      const changed = `${line.slice(0, at)}${other}${line.slice(at + 1)}`
      expect(parse(`${format(entry(1))}${changed}${format(entry(3))}`)).toMatchObject({
        records: [entry(1), entry(3)],
        damaged: 1,
      })
    }),
  )
})

test('a log is the original only if host, machine, path and file are those of its header', () => {
  const { origin } = header
  expect(isAtOrigin(header, { ...origin })).toBe(true)
  for (const part of ['host', 'machine', 'path', 'file'] as const)
    expect(isAtOrigin(header, { ...origin, [part]: 'other' })).toBe(false)
})

test('erasing fingerprints keeps the length of the lines and the fingerprints of other attempts', () => {
  const text = [entry(1), entry(2), records[2]].map((each) => format(each as LogRecord)).join('')
  const [only, ...others] = eraseFingerprints(text, new Set(['a2', 'a3']), digest)
  expect(others).toEqual([])
  if (only === undefined) throw new Error('nothing is erased')
  expect(only.after).toHaveLength(only.before.length)
  const [first, second] = parse(text.replace(only.before, only.after)).records as [LogEntry, LogEntry]
  expect(first).toEqual(entry(1))
  expect([second.person, second.email, second.phone].map(isErasedFingerprint)).toEqual([true, true, true])
  const blank = { person: '', email: '', phone: '' }
  expect({ ...second, ...blank }).toEqual({ ...entry(2), ...blank })
  expect(isErasedFingerprint(first.person)).toBe(false)
})

test('an erasure that was interrupted within a line is completed by the next one', () => {
  const text = format(entry(1))
  const [line] = eraseFingerprints(text, new Set(['a1']), digest)
  if (line === undefined) throw new Error('nothing is erased')
  for (let written = 0; written < line.after.length; written += 1) {
    const torn = `\n${line.after.slice(0, written)}${line.before.slice(written)}`
    const [again] = eraseFingerprints(torn, new Set(['a1']), digest)
    expect(`\n${again?.after ?? torn.slice(1)}`).toBe(`\n${line.after}`)
  }
  expect(eraseFingerprints(`\n${line.after}`, new Set(['a1']), digest)).toEqual([])
})

test('nothing is erased in a damaged line, because its attempt is unknown', () => {
  const damaged = format(entry(1)).replace('["entry"', '{"entry"')
  expect(eraseFingerprints(damaged, new Set(['a1']), digest)).toEqual([])
})

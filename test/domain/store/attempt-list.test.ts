import { createHash } from 'node:crypto'

import { expect, test } from 'vitest'

import { type ListedAttempt, listLine, readList } from '../../../src/domain/store/attempt-list.ts'

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

const attempt = (row: number): ListedAttempt => ({
  attemptId: `a${row}`,
  batchId: 'b',
  row,
  packageId: 102,
  person: 'f'.repeat(64),
  email: '',
  phone: '',
  at: 1_700_000_000_000,
  baseUrl: 'http://127.0.0.1:4010',
  userEmail: 'zoë@example.com',
})
const lines = [1, 2, 3].map((row) => listLine(attempt(row), digest))

test('what was written is read', () => {
  expect(readList(lines.join(''), digest)).toEqual({ attempts: [1, 2, 3].map(attempt), damaged: 0 })
  expect(readList('', digest)).toEqual({ attempts: [], damaged: 0 })
})

test('a last line that is torn anywhere is an attempt whose POST has not begun', () => {
  const last = lines[2] ?? ''
  for (let length = 0; length < last.length; length += 1) {
    const torn = `${lines[0]}${lines[1]}${last.slice(0, length)}`
    expect(readList(torn, digest)).toEqual({ attempts: [attempt(1), attempt(2)], damaged: 0 })
  }
})

test('a line after a torn one is read: another runner wrote it', () => {
  for (const length of [1, 20, 100]) {
    const torn = `${lines[0]}${(lines[1] ?? '').slice(0, length)}${lines[2]}`
    expect(readList(torn, digest)).toEqual({ attempts: [attempt(1), attempt(3)], damaged: 0 })
  }
})

test('zeros where a power cut left no text are passed over', () => {
  const zeros = `\n${'\0'.repeat(40)}\t`
  expect(readList(`${lines[0]}${zeros}${lines[1]}`, digest)).toMatchObject({ damaged: 0 })
})

test('a whole line with one character changed is damaged', () => {
  const changed = (lines[1] ?? '').replace('"b"', '"c"')
  expect(readList(`${lines[0]}${changed}${lines[2]}`, digest)).toEqual({
    attempts: [attempt(1), attempt(3)],
    damaged: 1,
  })
})

test('a line is what stores out there have written: its checksum, its fields, a tab at its end', () => {
  expect(listLine({ ...attempt(1), person: 'f', userEmail: 'o@x.example' }, digest)).toBe(
    '\n' +
      `${digest('["a1","b",1,102,"f","","",1700000000000,"http://127.0.0.1:4010","o@x.example"]').slice(0, 16)} ` +
      '["a1","b",1,102,"f","","",1700000000000,"http://127.0.0.1:4010","o@x.example"]\t',
  )
})

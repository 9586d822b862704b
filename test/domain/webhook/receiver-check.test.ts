import { expect, test } from 'vitest'

import {
  caseReport,
  isSlower,
  parseStoredLines,
  parseStoredList,
  receiverReport,
  skipCase,
} from '../../../src/domain/webhook/receiver-check.ts'

const question = { id: 'good', title: 'a good event', rule: 'must return a 2xx' }
const createOutcome = (...levels: ('must' | 'advice')[]) => ({
  findings: levels.map((level) => ({ level, text: 'x' })),
  answers: Array.from({ length: 12 }, () => ({ status: 204, milliseconds: 1.26, failure: null })),
  milliseconds: 1.6,
})

test('the verdict depends on the findings; with --strict an advice fails the case too', () => {
  const findVerdict = (strict: boolean, ...levels: ('must' | 'advice')[]) =>
    caseReport(question, createOutcome(...levels), strict).verdict
  expect([findVerdict(false), findVerdict(false, 'advice'), findVerdict(false, 'advice', 'must')]).toEqual([
    'passed',
    'advised',
    'failed',
  ])
  expect([findVerdict(true), findVerdict(true, 'advice')]).toEqual(['passed', 'failed'])
})

test('a report contains the first ten answers with rounded times', () => {
  const { answers, milliseconds } = caseReport(question, createOutcome(), false)
  expect([answers.length, answers[0]?.milliseconds, milliseconds]).toEqual([10, 1.3, 2])
})

test('cases are counted by verdict, and only a failed case fails the receiver check', () => {
  const createCase = (...levels: ('must' | 'advice')[]) =>
    caseReport(question, createOutcome(...levels), false)
  const cases = [createCase(), createCase('advice'), skipCase(question, 'no secret')]
  expect(receiverReport('u', cases, { deliveries: 5, acceptedMs: [1.4, 9.6] })).toMatchObject({
    passed: true,
    counts: { cases: 3, passed: 1, advised: 1, failed: 0, not_judged: 1 },
    deliveries: 5,
    slowest_ms: 10,
  })
  const failed = receiverReport('u', [...cases, createCase('must')], { deliveries: 0, acceptedMs: [] })
  expect(failed).toMatchObject({ passed: false, slowest_ms: null })
})

test('a case without findings is not judged if the answers cannot show the rule; a finding is judged', () => {
  const unjudgedReason = 'cannot be seen'
  expect(caseReport(question, { ...createOutcome(), unjudgedReason }, false)).toMatchObject({
    verdict: 'not_judged',
    reason: unjudgedReason,
  })
  expect(caseReport(question, { ...createOutcome('must'), unjudgedReason }, false)).toMatchObject({
    verdict: 'failed',
    reason: null,
  })
})

const event = { request_id: 'a', status: 'PARTIAL' }

test('a stored list keeps its order, and more fields are ignored', () => {
  const bytes = Buffer.from(JSON.stringify([{ ...event, id: 7 }, event]))
  expect(parseStoredList(bytes)).toEqual([event, event])
  expect(parseStoredLines(Buffer.from(`${JSON.stringify(event)}\r\n\n${JSON.stringify(event)}`))).toEqual([
    event,
    event,
  ])
})

test('an incomplete last line is ignored; any other invalid line is refused', () => {
  const line = `${JSON.stringify(event)}\n`
  expect(parseStoredLines(Buffer.from(`${line}{"request_id": "b`))).toEqual([event])
  expect(() => parseStoredLines(Buffer.from(`${line}{"request_id": "b\n`))).toThrow(
    '--stored-file: line 2 is not a JSON object with a text "request_id" and "status"',
  )
  expect(() => parseStoredList(Buffer.from('[null]'))).toThrow(
    '--stored-url: the answer has no text "request_id" and "status" in item 1',
  )
})

const createPairs = (slower: number, faster: number, equal = 0): [number, number][] => [
  ...Array.from({ length: slower }, (): [number, number] => [2, 1]),
  ...Array.from({ length: faster }, (): [number, number] => [1, 2]),
  ...Array.from({ length: equal }, (): [number, number] => [1, 1]),
]

test('the sign test reports a slower answer by chance in fewer than 1 of 1,000,000 checks', () => {
  // Of 60 tosses of a fair coin 49 or more are heads in 4.4 of 10,000,000 series, 48 or more in 1.6 of 1,000,000.
  expect([
    isSlower(createPairs(49, 11)),
    isSlower(createPairs(48, 12)),
    isSlower(createPairs(0, 60)),
  ]).toEqual([true, false, false])
  expect([isSlower([]), isSlower(createPairs(19, 0, 41)), isSlower(createPairs(20, 0, 40))]).toEqual([
    false,
    false,
    true,
  ])
})

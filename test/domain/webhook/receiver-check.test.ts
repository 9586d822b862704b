import { expect, test } from 'vitest'

import { caseReport, receiverReport, skipCase } from '../../../src/domain/webhook/receiver-check.ts'

const question = { id: 'good', title: 'a good event', rule: 'must return a 2xx' }
const judged = (...levels: ('must' | 'advice')[]) => ({
  findings: levels.map((level) => ({ level, text: 'x' })),
  answers: Array.from({ length: 12 }, () => ({ status: 204, milliseconds: 1.26, failure: null })),
  milliseconds: 1.6,
})

test('the verdict follows from the findings; with strict, advice counts like the rest', () => {
  const verdict = (strict: boolean, ...levels: ('must' | 'advice')[]) =>
    caseReport(question, judged(...levels), strict).verdict
  expect([verdict(false), verdict(false, 'advice'), verdict(false, 'advice', 'must')]).toEqual([
    'passed',
    'advised',
    'failed',
  ])
  expect([verdict(true), verdict(true, 'advice')]).toEqual(['passed', 'failed'])
})

test('the first ten answers are kept, with times as one reads them', () => {
  const { answers, milliseconds } = caseReport(question, judged(), false)
  expect([answers.length, answers[0]?.milliseconds, milliseconds]).toEqual([10, 1.3, 2])
})

test('cases are counted by verdict; only a failed one fails the exam', () => {
  const of = (...levels: ('must' | 'advice')[]) => caseReport(question, judged(...levels), false)
  const cases = [of(), of('advice'), skipCase(question, 'no secret')]
  expect(receiverReport('u', cases, { deliveries: 5, accepted: [1.4, 9.6] })).toMatchObject({
    passed: true,
    counts: { cases: 3, passed: 1, advised: 1, failed: 0, not_judged: 1 },
    deliveries: 5,
    slowest_ms: 10,
  })
  const failed = receiverReport('u', [...cases, of('must')], { deliveries: 0, accepted: [] })
  expect(failed).toMatchObject({ passed: false, slowest_ms: null })
})

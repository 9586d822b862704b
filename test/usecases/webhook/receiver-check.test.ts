import { expect, onTestFinished, test } from 'vitest'

import type { CaseReport, Verdict } from '../../../src/domain/webhook/receiver-check.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { HttpClient } from '../../../src/http/client.ts'
import { rewriting } from '../../../src/usecases/webhook/receiver-cases.ts'
import { checkReceiver, type ReceiverCheckOptions } from '../../../src/usecases/webhook/receiver-check.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { handler } from './receivers/handler.ts'
import { rightHandlers } from './receivers/right.ts'
import { bytesOf, secret, serve } from './receivers/served.ts'
import { plantedFaults } from './receivers/wrong.ts'

async function exam(url: string, options: Partial<ReceiverCheckOptions> = {}) {
  const http = new HttpClient({ clock: options.clock ?? systemClock, env: {}, userAgent: 'test' })
  onTestFinished(() => http.close())
  return checkReceiver({ http, clock: systemClock, random: systemRandom, url, secret, ...options })
}

/** A machine that is busy does not make a receiver late. */
const unhurried = { withinMs: 60_000 }

test.each(rightHandlers)('no false alarm on a right handler: %s', async (_framework, start) => {
  const { report, failure } = await exam(await start(), unhurried)
  const told = report.cases.filter(({ verdict }) => verdict !== 'passed')
  expect(told.map(({ id, findings, reason }) => ({ id, findings, reason }))).toEqual([])
  expect(failure).toBeUndefined()
  expect(report.passed).toBe(true)
})

const ids = (cases: readonly CaseReport[], verdict: Verdict): string[] =>
  cases.filter((each) => each.verdict === verdict).map(({ id }) => id)

test.each(plantedFaults)('a planted fault is told: $fault', async ({ start, failed, advised = [] }) => {
  const { report, failure } = await exam(await start(), unhurried)
  expect({ failed: ids(report.cases, 'failed'), advised: ids(report.cases, 'advised') }).toEqual({
    failed,
    advised,
  })
  expect(failure?.code).toBe(failed.length === 0 ? undefined : 'incomplete')
})

test('who verifies what json.dumps of Python makes of an event is told so, not that its secret is wrong', async () => {
  const planted = plantedFaults.find(({ fault }) => fault.includes('json.dumps'))
  const { report, failure } = await exam((await planted?.start()) ?? '')
  expect(report.cases[0]?.findings.map(({ text }) => text)).toContain(rewriting)
  expect(failure?.hint).toMatch(/^It does not verify the received bytes\./)
})

const lateAnswer = 'store the event, answer, and process it afterwards'

test('an answer after 10 s is told, by the clock that the exam was given', async () => {
  const clock = new ManualClock()
  const start = handler({
    async take() {
      await clock.advance(10_500)
      return 204
    },
  })
  const { report } = await exam(await start(), { clock, only: ['good-event', 'in-time'] })
  expect(report.cases).toMatchObject([
    { id: 'good-event', verdict: 'passed', answers: [{ status: 204, milliseconds: 10_500 }] },
    {
      id: 'in-time',
      verdict: 'failed',
      findings: [{ text: `1 of 1 answers took longer than 10 s, the slowest 10.5 s: ${lateAnswer}` }],
    },
  ])
  const patient = await exam(await start(), { clock, withinMs: 11_000, only: ['in-time'] })
  expect(patient.report.cases).toMatchObject([{ id: 'in-time', verdict: 'passed' }])
})

test('after three answers that never came the rest is not judged', async () => {
  const start = handler({
    take: (body) => (body.includes('ERROR') ? 0 : 204),
    answer: (response, status) => void (status === 0 ? undefined : response.writeHead(status).end()),
  })
  const { report, failure } = await exam(await start(), { withinMs: 100 })
  expect(ids(report.cases, 'failed')).toEqual([
    'error-with-reason',
    'error-without-reason',
    'error-reason-odd',
  ])
  expect(report.cases[2]).toMatchObject({
    findings: [{ text: 'no answer: timed out after 0.2 s without a complete answer; expected a 2xx' }],
  })
  expect(report.cases[4]?.findings).toHaveLength(1)
  expect(report.cases.at(-2)).toMatchObject({
    verdict: 'not_judged',
    reason: 'the receiver stopped answering',
  })
  expect(failure?.message).toBe('the receiver failed 3 of 35 cases')
})

test('a receiver that dies of what is no event', async () => {
  const start = handler({
    take(body) {
      if (body.toString() === 'null') dead = true
      return 204
    },
    answer: (response, status) => void (dead ? response.destroy() : response.writeHead(status).end()),
  })
  let dead = false
  const { report } = await exam(await start())
  expect(ids(report.cases, 'failed')).toEqual(['signed-oddities'])
  expect(ids(report.cases, 'not_judged')).toEqual(['still-good'])
})

test('a receiver with another secret: nothing else can be said about it', async () => {
  const { report, failure } = await exam(await handler({})(), { secret: 'another' })
  expect(report.counts).toMatchObject({ failed: 1, passed: 0 })
  // The second tells a wrong secret from wrong bytes.
  expect(report.deliveries).toBe(2)
  expect(report.cases[1]).toMatchObject({
    verdict: 'not_judged',
    reason: 'it does not accept a valid event, without which nothing else can be judged',
  })
  expect(failure?.hint).toBe(
    'It refuses a valid event. Check that it has the same secret, and that this is the path it listens on.',
  )
})

test('advice fails it only where it is asked to be strict', async () => {
  const start = handler({ take: (body) => (body.includes('ON_HOLD') ? 400 : 204) })
  expect((await exam(await start(), { only: ['unknown'] })).failure).toBeUndefined()
  const strict = await exam(await start(), { only: ['unknown'], strict: true })
  expect(strict.failure?.message).toBe('the receiver failed 1 of 2 cases')
})

test('connection refused: nothing is judged', async () => {
  await expect(exam('http://127.0.0.1:1/hook')).rejects.toMatchObject({
    code: 'unavailable',
    message: '127.0.0.1:1: connection refused',
    hint: 'Check the URL, and that the receiver is running.',
  })
})

test('a receiver that says the secret back is not repeated', async () => {
  const url = await serve((request, response) => {
    void bytesOf(request).then(() => response.writeHead(500).end(`my secret is ${secret}`))
  })
  const { report } = await exam(url)
  expect(JSON.stringify(report)).toContain('my secret is ***')
  expect(JSON.stringify(report)).not.toContain(secret)
})

test('an interrupted exam ends', async () => {
  const stop = new AbortController()
  const start = handler({
    take() {
      stop.abort(new Error('stopped'))
      return 204
    },
  })
  await expect(exam(await start(), { signal: stop.signal })).rejects.toThrow('stopped')
})

test('who verifies nothing is told so, and not that the bytes are the wrong ones', async () => {
  const { failure } = await exam(await handler({ isGood: () => true })(), { only: ['signature'] })
  expect(failure?.hint).toBe(
    'It accepts events without a signature. Verify each before you use it, as in: refcheck help webhooks',
  )
})

test('who verifies JSON that was written again is told what to take instead', async () => {
  const planted = plantedFaults.find(({ fault }) => fault.startsWith('express: express.json()'))
  const { failure } = await exam((await planted?.start()) ?? '', { only: ['bytes'] })
  expect(failure?.hint).toMatch(/^It does not verify the received bytes\. Take the raw body/)
})

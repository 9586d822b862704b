import { expect, onTestFinished, test } from 'vitest'

import type { CaseReport, Verdict } from '../../../src/domain/webhook/receiver-check.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { HttpClient } from '../../../src/http/client.ts'
import { UnavailableError } from '../../../src/errors/kinds.ts'
import { expectsBase64Finding, rewritesJsonFinding } from '../../../src/usecases/webhook/receiver-cases.ts'
import { checkReceiver, type ReceiverCheckOptions } from '../../../src/usecases/webhook/receiver-check.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { handlerWithComparison, handler, type Steps } from './receivers/handler.ts'
import { rightHandlers } from './receivers/right.ts'
import { readBytes, hmac, createEventStore, secret, serve } from './receivers/served.ts'
import { plantedFaults } from './receivers/wrong.ts'

async function runCheck(url: string, options: Partial<ReceiverCheckOptions> = {}) {
  const http = new HttpClient({ clock: options.clock ?? systemClock, env: {}, userAgent: 'test' })
  onTestFinished(() => http.close())
  return checkReceiver({ http, clock: systemClock, random: systemRandom, url, secret, ...options })
}

/** A time limit that a receiver on a busy machine does not exceed. */
const longTimeLimit = { withinMs: 60_000 }

/** Cases that the answers of a correct receiver cannot show. */
const unobservableCases = [
  'constant-time',
  'stored-first',
  'stored-once',
  'stored-each-status',
  'stored-in-order',
  'stored-burst',
  'stored-forged',
  'stored-all',
  'stored-restart',
]

test.each(rightHandlers)('a correct handler passes all cases: %s', async (_framework, start) => {
  const { report, failure } = await runCheck(await start(), longTimeLimit)
  const others = report.cases.filter(({ verdict }) => verdict !== 'passed' && verdict !== 'not_judged')
  expect(others.map(({ id, findings, reason }) => ({ id, findings, reason }))).toEqual([])
  expect(listIds(report.cases, 'not_judged')).toEqual(unobservableCases)
  expect(failure).toBeUndefined()
  expect(report.passed).toBe(true)
})

const listIds = (cases: readonly CaseReport[], verdict: Verdict): string[] =>
  cases.filter((each) => each.verdict === verdict).map(({ id }) => id)

test.each(plantedFaults)(
  'a planted fault is found: $fault',
  async ({ start, failedCases, advisedCases = [] }) => {
    const { report, failure } = await runCheck(await start(), longTimeLimit)
    expect({ failed: listIds(report.cases, 'failed'), advised: listIds(report.cases, 'advised') }).toEqual({
      failed: failedCases,
      advised: advisedCases,
    })
    expect(failure?.code).toBe(failedCases.length === 0 ? undefined : 'incomplete')
  },
)

test('a receiver that verifies the output of Python’s json.dumps gets the finding that it rewrites the JSON, and not that its secret is wrong', async () => {
  const planted = plantedFaults.find(({ fault }) => fault.includes('json.dumps'))
  const { report, failure } = await runCheck((await planted?.start()) ?? '')
  expect(report.cases[0]?.findings.map(({ text }) => text)).toContain(rewritesJsonFinding)
  expect(failure?.hint).toMatch(/^It does not verify the received bytes\./)
})

const lateAnswer = 'store the event, answer, and process it afterwards'

test('an answer after 10 s fails, by the given clock', async () => {
  const clock = new ManualClock()
  const start = handler({
    async statusFor() {
      await clock.advance(10_500)
      return 204
    },
  })
  const { report } = await runCheck(await start(), { clock, only: ['good-event', 'in-time'] })
  expect(report.cases).toMatchObject([
    { id: 'good-event', verdict: 'passed', answers: [{ status: 204, milliseconds: 10_500 }] },
    {
      id: 'in-time',
      verdict: 'failed',
      findings: [{ text: `1 of 1 answers took longer than 10 s, the slowest 10.5 s: ${lateAnswer}` }],
    },
  ])
  const patient = await runCheck(await start(), { clock, withinMs: 11_000, only: ['in-time'] })
  expect(patient.report.cases).toMatchObject([{ id: 'in-time', verdict: 'passed' }])
})

test('after three missing answers the remaining cases are not judged', async () => {
  const start = handler({
    statusFor: (body) => (body.includes('ERROR') ? 0 : 204),
    answer: (response, status) => void (status === 0 ? undefined : response.writeHead(status).end()),
  })
  const { report, failure } = await runCheck(await start(), { withinMs: 100 })
  expect(listIds(report.cases, 'failed')).toEqual([
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
  expect(failure?.message).toBe('the receiver failed 3 of 46 cases')
})

test('a receiver that crashes at a signed body that is not an event fails this case', async () => {
  const start = handler({
    statusFor(body) {
      if (body.toString() === 'null') isDead = true
      return 204
    },
    answer: (response, status) => void (isDead ? response.destroy() : response.writeHead(status).end()),
  })
  let isDead = false
  const { report } = await runCheck(await start())
  expect(listIds(report.cases, 'failed')).toEqual(['signed-oddities'])
  expect(listIds(report.cases, 'not_judged')).toEqual([
    'constant-time',
    'still-good',
    ...unobservableCases.filter((id) => id.startsWith('stored-')),
  ])
})

test('for a receiver with another secret no other case is judged', async () => {
  const { report, failure } = await runCheck(await handler({})(), { secret: 'another' })
  expect(report.counts).toMatchObject({ failed: 1, passed: 0 })
  // The other deliveries distinguish a wrong secret from wrong bytes and from another encoding.
  expect(report.deliveries).toBe(3)
  expect(report.cases[1]).toMatchObject({
    verdict: 'not_judged',
    reason: 'it does not accept a valid event, without which nothing else can be judged',
  })
  expect(failure?.hint).toBe(
    'It refuses a valid event. Check that it has the same secret, and that this is the path it listens on.',
  )
})

test('advice fails the check only with `strict`', async () => {
  const start = handler({ statusFor: (body) => (body.includes('ON_HOLD') ? 400 : 204) })
  expect((await runCheck(await start(), { only: ['unknown'] })).failure).toBeUndefined()
  const strict = await runCheck(await start(), { only: ['unknown'], strict: true })
  expect(strict.failure?.message).toBe('the receiver failed 1 of 2 cases')
})

test('if the connection is refused, nothing is judged', async () => {
  await expect(runCheck('http://127.0.0.1:1/hook')).rejects.toMatchObject({
    code: 'unavailable',
    message: '127.0.0.1:1: connection refused',
    hint: 'Check the URL, and that the receiver is running.',
  })
})

test('a secret in an answer is masked in the report', async () => {
  const url = await serve((request, response) => {
    void readBytes(request).then(() => response.writeHead(500).end(`my secret is ${secret}`))
  })
  const { report } = await runCheck(url)
  expect(JSON.stringify(report)).toContain('my secret is ***')
  expect(JSON.stringify(report)).not.toContain(secret)
})

test('an interrupted receiver check ends', async () => {
  const stop = new AbortController()
  const start = handler({
    statusFor() {
      stop.abort(new Error('stopped'))
      return 204
    },
  })
  await expect(runCheck(await start(), { signal: stop.signal })).rejects.toThrow('stopped')
})

test('a receiver that verifies nothing gets the hint to verify events, and not that it verifies the wrong bytes', async () => {
  const { failure } = await runCheck(await handler({ isSignatureValid: () => true })(), {
    only: ['signature'],
  })
  expect(failure?.hint).toBe(
    'It accepts events without a signature. Verify each before you use it, as in: refcheck help webhooks',
  )
})

test('a receiver that verifies reformatted JSON gets the hint to use the raw body', async () => {
  const planted = plantedFaults.find(({ fault }) => fault.startsWith('express: express.json()'))
  const { failure } = await runCheck((await planted?.start()) ?? '', { only: ['bytes'] })
  expect(failure?.hint).toMatch(/^It does not verify the received bytes\. Take the raw body/)
})

test('a receiver that expects base64 gets the hint about base64, and not that its secret is wrong', async () => {
  const start = handler({
    isSignatureValid: (body, signature) => signature === Buffer.from(hmac(body), 'hex').toString('base64'),
  })
  const { report, failure } = await runCheck(await start())
  expect(report.cases[0]?.findings.map(({ text }) => text)).toContain(expectsBase64Finding)
  expect(failure?.hint).toMatch(/^It expects the signature in base64\./)
})

test('a comparison whose time grows with each correct character is reported as advice; one with === cannot be detected', async () => {
  const only = { ...longTimeLimit, only: ['constant-time'] }
  const slow = handler({
    isSignatureValid(body, signature) {
      const expected = hmac(body)
      const received = String(signature)
      let equalCount = 0
      while (equalCount < 64 && received[equalCount] === expected[equalCount]) equalCount += 1
      // Makes the comparison much slower for each correct character.
      for (let count = 0; count < equalCount * 50; count += 1) hmac(body)
      return equalCount === 64 && received.length === 64
    },
  })
  const { report } = await runCheck(await slow(), only)
  expect(report.cases[0]).toMatchObject({ id: 'constant-time', verdict: 'advised' })
  expect(report.cases[0]?.findings[0]?.text).toMatch(
    /in \d\d of 60 pairs, by chance in fewer than 1 of 1,000,000 checks: compare in constant time/,
  )
  const plain = await runCheck(
    await handlerWithComparison((expected, received) => expected === received)(),
    only,
  )
  expect(plain.report.cases[0]?.reason).toMatch(/^whether it compares in constant time cannot be seen: /)
})

/** An event in the list of stored events that a receiver returns. */
interface Stored {
  request_id: string
  status: string
}

const pairOf = ({ request_id, status }: Stored): string => `${request_id} ${status}`

/** Checks a receiver that stores events with `store`, and returns the cases that failed. */
async function checkStorage(store: (event: Stored, stored: Stored[]) => void, steps: Partial<Steps> = {}) {
  const stored: Stored[] = []
  const start = handler({
    statusFor(body) {
      const status = createEventStore().statusFor(body)
      const event = status === 400 ? undefined : (JSON.parse(body.toString()) as Partial<Stored>)
      if (typeof event?.request_id !== 'string' || typeof event.status !== 'string') return 400
      store(event as Stored, stored)
      return status
    },
    ...steps,
  })
  const { report } = await runCheck(await start(), {
    ...longTimeLimit,
    strict: true,
    only: ['stored'],
    readStored: () => Promise.resolve(stored),
  })
  return report.cases.filter(({ verdict }) => verdict === 'failed')
}

const storeOnce = (event: Stored, stored: Stored[]): void => {
  if (!stored.some((each) => pairOf(each) === pairOf(event))) stored.push(event)
}

test('stored: a correct receiver fails no case, and losses at a restart cannot be detected', async () => {
  expect(await checkStorage(storeOnce)).toEqual([])
  const { report } = await runCheck(await handler({})(), {
    ...longTimeLimit,
    only: ['stored-restart'],
    readStored: () => Promise.resolve([]),
  })
  expect(report.cases[0]?.reason).toBe(
    'whether acknowledged events outlive a crash cannot be seen: add --restart COMMAND with --stored-url or --stored-file',
  )
})

test('stored: repeated events, and statuses lost by deduplication on the request id alone, are found', async () => {
  expect((await checkStorage((event, stored) => stored.push(event))).map(({ id }) => id)).toEqual([
    'stored-once',
    'stored-all',
  ])
  const [each] = await checkStorage((event, stored) => {
    if (!stored.some(({ request_id }) => request_id === event.request_id)) stored.push(event)
  })
  expect(each).toMatchObject({
    id: 'stored-each-status',
    findings: [
      {
        text: 'PARTIAL and COMPLETED of one request are not stored: it deduplicates on request_id alone; the pair (request_id, status) identifies an event',
      },
    ],
  })
})

test('stored: a list with the newest first, and a list with one status per request, are found', async () => {
  const [order] = await checkStorage((event, stored) => {
    if (!stored.some((each) => pairOf(each) === pairOf(event))) stored.unshift(event)
  })
  expect(order).toMatchObject({
    id: 'stored-in-order',
    findings: [{ level: 'advice', text: expect.stringMatching(/^the last event stands first: /) as string }],
  })
  const [last] = await checkStorage((event, stored) => {
    const at = stored.findIndex(({ request_id }) => request_id === event.request_id)
    if (at !== -1) stored.splice(at, 1)
    stored.push(event)
  })
  expect(last?.findings[0]?.text).toBe(
    'IN_PROGRESS and PARTIAL of one request are not stored: it keeps one status of each request, and loses the others',
  )
})

test('stored: a list that can no longer be read fails the case that needs it', async () => {
  let readings = 0
  const { report } = await runCheck(await handler({})(), {
    ...longTimeLimit,
    only: ['stored-first'],
    readStored: () =>
      (readings += 1) === 1
        ? Promise.resolve([])
        : Promise.reject(new UnavailableError('--stored-url: 127.0.0.1:1: connection refused')),
  })
  expect(report.cases[0]).toMatchObject({
    verdict: 'failed',
    findings: [{ level: 'must', text: '--stored-url: 127.0.0.1:1: connection refused' }],
  })
})

test('stored-restart: a command that leaves the receiver running judges nothing', async () => {
  const stored: Stored[] = []
  const start = handler({
    statusFor(body) {
      storeOnce(JSON.parse(body.toString()) as Stored, stored)
      return 204
    },
  })
  const { report } = await runCheck(await start(), {
    ...longTimeLimit,
    only: ['stored-restart'],
    readStored: () => Promise.resolve(stored),
    startReceiver: () => ({ ended: Promise.resolve({ code: 0, failure: undefined }), kill: () => undefined }),
  })
  expect(report.cases[0]?.reason).toMatch(/^no delivery failed while --restart ran: /)
})

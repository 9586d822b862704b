import { type Answer, field } from '../answer.ts'
import { type Case, unless } from '../case.ts'
import { unknownId, packageList, unknownEmail, userList } from '../discoveries.ts'
import { isObject } from '../shape.ts'
import { shown } from '../shown.ts'
import type { Visit } from '../visit.ts'

/*
 * Rules that hold for every answer. They come after everything else and judge all that was
 * answered; the few calls of `everyAnswer` make sure that there is something of each kind.
 */

const section = 'Errors'

async function everyAnswer(visit: Visit): Promise<Answer[]> {
  const { probe, target } = visit
  await visit.once('one answer of each kind', async () => {
    await probe.get('/v1/ping', { as: {} })
    await packageList(visit)
    await userList(visit)
    await probe.get('/v1/users', { as: {}, note: 'without headers' })
    await probe.get('/v1/packages?status=paused')
    const as = { apiKey: target.apiKey, userEmail: unknownEmail }
    await probe.get('/v1/packages', { as, note: 'as an unknown user' })
    await probe.get(`/v1/requests/${unknownId}`)
    await probe.get('/v1/no/such/place', { note: '(no endpoint)' })
  })
  return probe.answers.filter(({ versioned }) => versioned)
}

const isPdf = (answer: Answer): boolean =>
  answer.status === 200 && answer.bytes.subarray(0, 5).toString() === '%PDF-'

/** A finding for each answer that the test fails on. */
async function each(visit: Visit, wrong: (answer: Answer) => string | undefined): Promise<string[]> {
  return (await everyAnswer(visit)).flatMap((answer) => {
    const finding = wrong(answer)
    return finding === undefined ? [] : [`${answer.label} (${answer.status}): ${finding}`]
  })
}

/** The same for the answers in the envelope. */
const eachJson = (visit: Visit, wrong: (answer: Answer) => string | undefined): Promise<string[]> =>
  each(visit, (answer) => (isPdf(answer) ? undefined : wrong(answer)))

const cacheHeaders = { 'cache-control': 'no-store', pragma: 'no-cache', expires: '0' }

export const answerCases: readonly Case[] = [
  {
    id: 'answers.envelope',
    section: 'Resources and their fields',
    rule: 'All JSON responses are wrapped as `{data, status_message, message}`.',
    kind: 'read',
    run: (visit) =>
      eachJson(visit, ({ json }) => {
        if (!isObject(json)) return 'the body is not a JSON object'
        const lacks = ['data', 'status_message', 'message'].filter((name) => !Object.hasOwn(json, name))
        return lacks.length === 0 ? undefined : `the envelope lacks ${lacks.join(', ')}`
      }),
  },
  {
    id: 'answers.data',
    section,
    rule: 'data | object, array or null | Payload; null on errors.',
    kind: 'read',
    run: (visit) =>
      eachJson(visit, ({ status, data }) => {
        if (status >= 400) return data === null ? undefined : `expected data null, got ${shown(data)}`
        return typeof data === 'object' && data !== null ? undefined : `data is ${shown(data)}`
      }),
  },
  {
    id: 'answers.status-message',
    section,
    rule: 'status_message | string | informational, ok, redirect, client_error or server_error. Consistent with the HTTP status (for example 404 always client_error).',
    kind: 'read',
    run: (visit) =>
      eachJson(visit, ({ status, json }) => {
        const [got, expected] = [field(json, 'status_message'), statusMessage(status)]
        return got === expected ? undefined : `expected the status_message ${expected}, got ${shown(got)}`
      }),
  },
  {
    id: 'answers.message',
    section,
    rule: 'message | string | Empty on success; human-readable detail on errors.',
    kind: 'read',
    run: (visit) =>
      eachJson(visit, ({ status, json }) => {
        const message = field(json, 'message')
        if (typeof message !== 'string') return `expected a string as message, got ${shown(message)}`
        if (status < 400)
          return message === '' ? undefined : `expected an empty message, got ${shown(message)}`
        return message.trim() === '' ? 'the message is empty' : undefined
      }),
  },
  {
    id: 'answers.cache-headers',
    section: 'What the service does',
    rule: 'Cache headers | Cache-Control: no-store, Pragma: no-cache, Expires: 0 on every response',
    kind: 'read',
    async run(visit) {
      const findings: string[] = []
      for (const [name, value] of Object.entries(cacheHeaders)) {
        findings.push(
          ...(await each(visit, (answer) => {
            const got = answer.header(name)?.trim().toLowerCase()
            return got === value ? undefined : `expected ${name}: ${value}, got ${got ?? 'none'}`
          })),
        )
      }
      return findings
    },
  },
  {
    id: 'answers.content-type',
    section: 'What the service does',
    rule: 'Content type | application/json (except PDF downloads)',
    kind: 'read',
    run: (visit) =>
      eachJson(visit, (answer) =>
        answer.type === 'application/json'
          ? undefined
          : `expected Content-Type application/json, got ${answer.header('content-type') ?? 'none'}`,
      ),
  },
  {
    id: 'answers.never-202',
    section,
    rule: '202 | ok | Reserved; not emitted |',
    kind: 'read',
    run: (visit) => each(visit, ({ status }) => (status === 202 ? 'this status is reserved' : undefined)),
  },
  {
    id: 'answers.never-422',
    section,
    rule: '422 | client_error | Reserved; v1 uses 400 for all validation failures |',
    kind: 'read',
    run: (visit) => each(visit, ({ status }) => (status === 422 ? 'this status is reserved' : undefined)),
  },
  {
    id: 'answers.known-statuses',
    section,
    rule: "404 | client_error | Package or request not found or not visible to the caller's organisation or tier | Do not retry",
    kind: 'read',
    run: (visit) =>
      each(visit, ({ status }) =>
        status >= 500 || [200, 201, 202, 400, 401, 403, 404, 422, 429].includes(status)
          ? undefined
          : 'this status is not in the matrix',
      ),
  },
  {
    id: 'answers.retry-after',
    section: 'POST /v1/requests',
    rule: '429 | Throttled; Retry-After header present.',
    kind: 'read',
    async run(visit) {
      const throttled = (await everyAnswer(visit)).filter(({ status }) => status === 429)
      unless(throttled.length > 0, 'no call was throttled')
      return throttled
        .filter((answer) => !/^[1-9]\d*$/.test(answer.header('retry-after') ?? ''))
        .map(
          (answer) =>
            `${answer.label}: expected a Retry-After in seconds, got ${answer.header('retry-after') ?? 'none'}`,
        )
    },
  },
]

function statusMessage(status: number): string {
  if (status < 200) return 'informational'
  if (status < 300) return 'ok'
  if (status < 400) return 'redirect'
  return status < 500 ? 'client_error' : 'server_error'
}

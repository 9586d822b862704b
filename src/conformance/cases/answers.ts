import { advise, type Case, unless } from '../case.ts'
import { type Answer, field, shown } from '../answer.ts'
import { packageList, unknownEmail, unknownId, userList } from '../order.ts'
import { isObject } from '../shape.ts'
import { type Run, under } from '../table.ts'
import type { Visit } from '../visit.ts'

/*
 * Rules about every response. These cases run after all others and test all responses so far; the calls of
 * `everyAnswer` ensure that there are some of each kind.
 */

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

type Wrong = (answer: Answer) => string | undefined

/** Returns a finding per faulty response. */
const findingsOf = (answers: readonly Answer[], wrong: Wrong): string[] =>
  answers.flatMap((answer) => {
    const finding = wrong(answer)
    return finding === undefined ? [] : [`${answer.label} (${answer.status}): ${finding}`]
  })

const ofEach =
  (wrong: Wrong): Run =>
  async (visit) =>
    findingsOf(await everyAnswer(visit), wrong)

/** As `ofEach`, but without PDF responses, which have no envelope. */
const ofEachJson = (wrong: Wrong): Run => ofEach((answer) => (isPdf(answer) ? undefined : wrong(answer)))

const reserved = (status: number): Run =>
  ofEach((answer) => (answer.status === status ? 'this status is reserved' : undefined))

const known = new Set([200, 201, 202, 400, 401, 403, 404, 422, 429])
/** Splits a header into its directives. */
const listOf = (value = ''): string[] => value.split(',').map((each) => each.trim())

const cacheHeaders = { 'cache-control': 'no-store', pragma: 'no-cache', expires: '0' }

function statusMessage(status: number): string {
  if (status < 200) return 'informational'
  if (status < 300) return 'ok'
  if (status < 400) return 'redirect'
  return status < 500 ? 'client_error' : 'server_error'
}

export const answerCases: readonly Case[] = [
  ...under('Resources and their fields', 'read', {
    'answers.envelope': [
      'All JSON responses are wrapped as `{data, status_message, message}`.',
      ofEachJson(({ json }) => {
        if (!isObject(json)) return 'the body is not a JSON object'
        const lacks = ['data', 'status_message', 'message'].filter((name) => !Object.hasOwn(json, name))
        return lacks.length === 0 ? undefined : `the envelope lacks ${lacks.join(', ')}`
      }),
    ],
  }),
  ...under('Errors', 'read', {
    'answers.data': [
      'data | object, array or null | Payload; null on errors.',
      ofEachJson(({ status, data }) => {
        if (status >= 400) return data === null ? undefined : `expected data null, got ${shown(data)}`
        return typeof data === 'object' && data !== null ? undefined : `data is ${shown(data)}`
      }),
    ],
    'answers.status-message': [
      'status_message | string | informational, ok, redirect, client_error or server_error. Consistent with the HTTP status (for example 404 always client_error).',
      ofEachJson(({ status, json }) => {
        const [got, expected] = [field(json, 'status_message'), statusMessage(status)]
        return got === expected ? undefined : `expected the status_message ${expected}, got ${shown(got)}`
      }),
    ],
    'answers.message': [
      'message | string | Empty on success; human-readable detail on errors.',
      ofEachJson(({ status, json }) => {
        const message = field(json, 'message')
        if (typeof message !== 'string') return `expected a string as message, got ${shown(message)}`
        if (status >= 400) return message.trim() === '' ? 'the message is empty' : undefined
        return message === '' ? undefined : `expected an empty message, got ${shown(message)}`
      }),
    ],
  }),
  ...under('What the service does', 'read', {
    'answers.cache-headers': [
      'Cache headers | Cache-Control: no-store, Pragma: no-cache, Expires: 0 on every response',
      async (visit) => {
        const answers = await everyAnswer(visit)
        return Object.entries(cacheHeaders).flatMap(([name, value]) => {
          const gotOf = (answer: Answer) => answer.header(name)?.trim().toLowerCase()
          const findings = findingsOf(answers, (answer) => {
            const got = gotOf(answer)
            return listOf(got).includes(value)
              ? undefined
              : `expected ${name}: ${value}, got ${got ?? 'none'}`
          })
          const longer = answers.map(gotOf).filter((got) => got !== value && listOf(got).includes(value))
          return findings.concat(longer.map((got) => advise(`${name} says more than ${value}: ${got}`)))
        })
      },
    ],
    'answers.content-type': [
      'Content type | application/json (except PDF downloads)',
      ofEachJson((answer) => {
        const got = answer.header('content-type') ?? 'none'
        const isJson = answer.type === 'application/json'
        return isJson ? undefined : `expected Content-Type application/json, got ${got}`
      }),
    ],
  }),
  ...under('Errors', 'read', {
    'answers.never-202': ['202 | ok | Reserved; not emitted |', reserved(202)],
    'answers.never-422': [
      '422 | client_error | Reserved; v1 uses 400 for all validation failures |',
      reserved(422),
    ],
    'answers.known-statuses': [
      "404 | client_error | Package or request not found or not visible to the caller's organisation or tier | Do not retry",
      ofEach(({ status }) =>
        status >= 500 || known.has(status) ? undefined : 'this status is not in the matrix',
      ),
    ],
  }),
  ...under('POST /v1/requests', 'read', {
    'answers.retry-after': [
      '429 | Throttled; Retry-After header present.',
      async (visit) => {
        const throttled = (await everyAnswer(visit)).filter(({ status }) => status === 429)
        unless(throttled.length > 0, 'no call was throttled: add --use-up-quota')
        return throttled
          .map((answer) => [answer.label, answer.header('retry-after') ?? 'none'] as const)
          .filter(([, seconds]) => !/^[1-9]\d*$/.test(seconds))
          .map(([label, got]) => `${label}: expected a Retry-After in seconds, got ${got}`)
      },
    ],
  }),
]

import { advise, type Case, requireItems } from '../case.ts'
import { isJsonObject } from '../../contract/parse-json.ts'
import { type Answer, readValue, formatValue } from '../answer.ts'
import { listPackages, unknownEmail, unknownId, listUsers } from '../order.ts'
import { type Run, createReadCases, testEach } from '../table.ts'
import type { CaseContext } from '../case-context.ts'

/*
 * Rules about every response. These cases run after all others and test all responses so far; the calls of
 * `collectAnswers` ensure that there are some of each kind.
 */

async function collectAnswers(context: CaseContext): Promise<Answer[]> {
  const { probe, target } = context
  await context.once('one answer of each kind', async () => {
    await probe.get('/v1/ping', { identity: {} })
    await listPackages(context)
    await listUsers(context)
    await probe.get('/v1/users', { identity: {}, note: 'without headers' })
    await probe.get('/v1/packages?status=paused')
    const identity = { apiKey: target.apiKey, userEmail: unknownEmail }
    await probe.get('/v1/packages', { identity, note: 'as an unknown user' })
    await probe.get(`/v1/requests/${unknownId}`)
    await probe.get('/v1/no/such/place', { note: '(no endpoint)' })
  })
  return probe.answers.filter(({ hasVersionPrefix }) => hasVersionPrefix)
}

const isPdf = (answer: Answer): boolean =>
  answer.status === 200 && answer.bytes.subarray(0, 5).toString() === '%PDF-'

const labelOf = ({ label, status }: Answer): string => `${label} (${status}): `
const testEachAnswer = testEach(collectAnswers, labelOf)

/** Returns a test of all responses but PDF responses, which have no envelope. */
const testEachJsonAnswer = (findFault: (answer: Answer) => string | false | undefined): Run =>
  testEachAnswer((answer) => [!isPdf(answer) && findFault(answer)])

const expectUnused = (status: number): Run =>
  testEachAnswer((answer) => [answer.status === status && 'this status is reserved'])

const knownStatuses = new Set([200, 201, 202, 400, 401, 403, 404, 422, 429])
const cacheHeaders = { 'cache-control': 'no-store', pragma: 'no-cache', expires: '0' }

function findStatusMessage(status: number): string {
  if (status < 200) return 'informational'
  if (status < 300) return 'ok'
  if (status < 400) return 'redirect'
  return status < 500 ? 'client_error' : 'server_error'
}

export const answerCases: readonly Case[] = [
  ...createReadCases('Resources and their fields', {
    'answers.envelope': [
      'All JSON responses are wrapped as `{data, status_message, message}`.',
      testEachJsonAnswer(({ json }) => {
        if (!isJsonObject(json)) return 'the body is not a JSON object'
        const missingNames = ['data', 'status_message', 'message'].filter(
          (name) => !Object.hasOwn(json, name),
        )
        return missingNames.length > 0 && `the envelope lacks ${missingNames.join(', ')}`
      }),
    ],
  }),
  ...createReadCases('Errors', {
    'answers.data': [
      'data | object, array or null | Payload; null on errors.',
      testEachJsonAnswer(({ status, data }) => {
        if (status >= 400) return data !== null && `expected data null, got ${formatValue(data)}`
        return (typeof data !== 'object' || data === null) && `data is ${formatValue(data)}`
      }),
    ],
    'answers.status-message': [
      'status_message | string | informational, ok, redirect, client_error or server_error. Consistent with the HTTP status (for example 404 always client_error).',
      testEachJsonAnswer(({ status, json }) => {
        const [actual, expected] = [readValue(json, 'status_message'), findStatusMessage(status)]
        return actual !== expected && `expected the status_message ${expected}, got ${formatValue(actual)}`
      }),
    ],
    'answers.message': [
      'message | string | Empty on success; human-readable detail on errors.',
      testEachJsonAnswer(({ status, json }) => {
        const message = readValue(json, 'message')
        if (typeof message !== 'string') return `expected a string as message, got ${formatValue(message)}`
        if (status >= 400) return message.trim() === '' && 'the message is empty'
        return message !== '' && `expected an empty message, got ${formatValue(message)}`
      }),
    ],
  }),
  ...createReadCases('What the service does', {
    'answers.cache-headers': [
      'Cache headers | Cache-Control: no-store, Pragma: no-cache, Expires: 0 on every response',
      async (context) => {
        const answers = await collectAnswers(context)
        return Object.entries(cacheHeaders).flatMap(([name, value]) =>
          answers.map((answer) => {
            const actual = answer.header(name)?.trim().toLowerCase()
            const directives = (actual ?? '').split(',').map((each) => each.trim())
            if (!directives.includes(value))
              return `${labelOf(answer)}expected ${name}: ${value}, got ${actual ?? 'none'}`
            return actual !== value && advise(`${name} says more than ${value}: ${actual}`)
          }),
        )
      },
    ],
    'answers.content-type': [
      'Content type | application/json (except PDF downloads)',
      testEachJsonAnswer((answer) => {
        const actual = answer.header('content-type') ?? 'none'
        return (
          answer.mediaType !== 'application/json' && `expected Content-Type application/json, got ${actual}`
        )
      }),
    ],
  }),
  ...createReadCases('Errors', {
    'answers.never-202': ['202 | ok | Reserved; not emitted |', expectUnused(202)],
    'answers.never-422': [
      '422 | client_error | Reserved; v1 uses 400 for all validation failures |',
      expectUnused(422),
    ],
    'answers.known-statuses': [
      "404 | client_error | Package or request not found or not visible to the caller's organisation or tier | Do not retry",
      testEachAnswer(({ status }) => [
        status < 500 && !knownStatuses.has(status) && 'this status is not in the matrix',
      ]),
    ],
  }),
  ...createReadCases('POST /v1/requests', {
    'answers.retry-after': [
      '429 | Throttled; Retry-After header present.',
      async (context) => {
        const throttledAnswers = (await collectAnswers(context)).filter(({ status }) => status === 429)
        return requireItems(throttledAnswers, 'no call was throttled: add --use-up-quota')
          .map((answer) => ({ label: answer.label, actual: answer.header('retry-after') ?? 'none' }))
          .filter(({ actual }) => !/^[1-9]\d*$/.test(actual))
          .map(({ label, actual }) => `${label}: expected a Retry-After in seconds, got ${actual}`)
      },
    ],
  }),
]

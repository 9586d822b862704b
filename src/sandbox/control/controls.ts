import { z } from 'zod'

import { formatIssues } from '../../contract/issue-words.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import type { Injection } from '../service/faults.ts'
import { nextEntry } from '../service/log.ts'
import { scenarioTable } from '../service/scenarios.ts'
import { switchNames } from '../service/rules.ts'
import * as answers from './control-answers.ts'
import type { Sandbox } from './sandbox.ts'
import { checkedSnapshot } from './snapshot.ts'

const when = z.enum(['before', 'after'])
const injectedStatus = z.int().min(200).max(599)
const times = { times: z.int().positive().optional(), after: z.int().nonnegative().optional() }

const fault = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('status'),
    status: injectedStatus,
    when,
    body: z.enum(['envelope', 'html', 'empty']).optional(),
    message: z.string().optional(),
    retryAfter: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal('cut'), when }),
  z.strictObject({ kind: z.literal('hang'), when }),
  z.strictObject({ kind: z.literal('latency'), ms: z.int().min(1).max(600_000), when }),
  z.strictObject({ kind: z.literal('no-id') }),
  z.strictObject({ kind: z.literal('content-type'), value: z.string() }),
  z.strictObject({ kind: z.literal('truncated'), keep: z.number().min(0).max(1), announced: z.boolean() }),
  z.strictObject({
    kind: z.literal('body'),
    body: z.string(),
    status: injectedStatus.optional(),
    contentType: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal('switch'), switch: z.enum(switchNames) }),
])

/** All of them, those of a path, or those of a method and a path. */
const call = /^\s*(?:\*|\/\S*|(?:GET|HEAD|POST|PUT|PATCH|DELETE)\s+[/*]\S*)\s*$/i

const scenarioInjection = z.strictObject({ scenario: z.string(), ...times })
const faultInjection = z.strictObject({
  on: z.string().regex(call, 'give a method and a path, such as POST /v1/requests, or *'),
  ...times,
  fault,
})

const injection = z.union([scenarioInjection, faultInjection])

const kinds = fault.options.map(({ shape }) => shape.kind.value)

/** Reads what may be injected from outside; InvalidInputError, with the field, for anything else. */
export function checkedInjection(value: unknown): Injection {
  const isScenario = typeof value === 'object' && value !== null && 'scenario' in value
  const parsed = isScenario
    ? scenarioInjection.safeParse(value, formatIssues)
    : faultInjection.safeParse(value, formatIssues)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const path = issue?.path.join('.') ?? ''
  throw new InvalidInputError(`${path === '' ? 'the fault' : path}: ${issue?.message ?? ''}`, {
    hint: `A fault is JSON with a kind: ${kinds.join(', ')}; see examples with: refcheck sandbox inject --help`,
  })
}

/** One operation on a running sandbox. */
export interface Control {
  name: string
  summary: string
  answer: z.ZodType
}

/** GET; `query` holds what stands behind the question mark. */
interface ReadControl extends Control {
  query?: Readonly<Record<string, string>>
  read: (sandbox: Sandbox, query: (name: string) => number, signal: AbortSignal) => unknown
}

/** POST; `given` is the body's shape. */
interface OrderControl extends Control {
  given: z.ZodType
  /** Says itself what is wrong with a body, in better words than its shape could. */
  checksItself?: boolean
  run: (sandbox: Sandbox, given: unknown) => unknown
}

export const readControls: readonly ReadControl[] = [
  {
    name: 'state',
    summary: 'What is going on, in numbers',
    answer: answers.state,
    read: (sandbox) => sandbox.overview(),
  },
  {
    name: 'rules',
    summary: 'What the API document leaves open, and the choices in force',
    answer: answers.rules,
    read: (sandbox) => sandbox.rules(),
  },
  {
    name: 'scenarios',
    summary: 'The scenarios that a recipient’s e-mail can ask for',
    answer: answers.scenarios,
    read: () => scenarioTable,
  },
  {
    name: 'requests',
    summary: 'Every request, oldest first, as a client would read it now',
    answer: answers.requests,
    read: (sandbox) => sandbox.requests(),
  },
  {
    name: 'deliveries',
    summary: 'Events that wait to be delivered, and the last thousand that are over',
    answer: answers.deliveries,
    read: (sandbox) => sandbox.deliveries(),
  },
  {
    name: 'snapshot',
    summary: 'The whole state, for restore; it contains the sandbox’s own keys',
    answer: answers.anything,
    read: (sandbox) => sandbox.snapshot(),
  },
  {
    name: 'log',
    summary: 'Calls, changes of status and deliveries, the last thousand, oldest first',
    query: {
      from: 'Number of the first entry',
      wait: 'Seconds to wait where there is none yet, at most 30',
      bodies: '1: with headers and bodies, keys and secrets masked',
    },
    answer: answers.log,
    async read({ log }, query, signal) {
      const from = query('from')
      const wait = Math.min(30, query('wait'))
      if (wait > 0 && log.entries(from).length === 0) {
        await nextEntry(log, ({ n }) => n >= from, wait * 1000, signal)
      }
      const entries = log.entries(from)
      return query('bodies') === 0
        ? entries
        : entries.map((entry) => Object.assign({}, entry, log.redactedExchange(entry.n)))
    },
  },
]

/** A control whose body is of the shape that its work is given. */
function order<T>(
  name: string,
  summary: string,
  given: z.ZodType<T>,
  answer: z.ZodType,
  run: (sandbox: Sandbox, given: T) => unknown,
  checksItself = false,
): OrderControl {
  return { name, summary, given, answer, checksItself, run: (sandbox, value) => run(sandbox, value as T) }
}

const nothing = z.object({})
const credits = z.int().nonnegative().nullable()

export const orderControls: readonly OrderControl[] = [
  order(
    'advance',
    'Move a manual clock, and everything with it',
    z.object({ ms: z.number().nonnegative() }),
    answers.state,
    async (sandbox, { ms }) => {
      await sandbox.advance(ms)
      return sandbox.overview()
    },
  ),
  order(
    'inject',
    'Make the next requests or calls go wrong',
    injection,
    answers.done,
    (sandbox, given) => void sandbox.inject(checkedInjection(given)),
    true,
  ),
  order('clear-faults', 'Clear all faults', nothing, answers.done, (sandbox) => sandbox.clearFaults()),
  order(
    'rules',
    'Switch rules that the API document leaves open',
    z.record(z.string(), z.string()),
    answers.rules,
    (sandbox, chosen) => {
      for (const [name, choice] of Object.entries(chosen)) sandbox.setRule(name, choice)
      return sandbox.rules()
    },
  ),
  order(
    'switch',
    'Change something permanently',
    z.object({ switch: z.enum(switchNames) }),
    answers.done,
    (sandbox, given) => sandbox.flipSwitch(given.switch),
  ),
  order('renew-key', 'Generate a new API key and revoke the old one', nothing, answers.key, (sandbox) => ({
    api_key: sandbox.renewKey(),
  })),
  order(
    'user',
    'Activate or deactivate a user',
    z.object({ email: z.string(), active: z.boolean() }),
    answers.done,
    (sandbox, { email, active }) => sandbox.setUserActive(email, active),
  ),
  order(
    'credits',
    'Set the credits; null: unlimited',
    z.object({ credits }),
    answers.done,
    (sandbox, given) => sandbox.setCredits(given.credits),
  ),
  order(
    'plan',
    'Set the trial and the subscription',
    z.object({
      trial: z.enum(['none', 'running', 'expired']).optional(),
      subscription: z.enum(['active', 'inactive']).optional(),
    }),
    answers.done,
    (sandbox, { trial, subscription }) => {
      if (trial !== undefined) sandbox.changePlan({ trial })
      if (subscription !== undefined) sandbox.changePlan({ subscription })
    },
  ),
  order(
    'webhook',
    'Set the webhook URL of the organisation; null: none',
    z.object({ url: z.string().nullable() }),
    answers.done,
    (sandbox, { url }) => sandbox.setWebhook(url),
  ),
  order(
    'replace-package',
    'Make a package INACTIVE in favour of a new version with one more required field',
    z.object({ id: z.int(), new_field: z.boolean().optional() }),
    answers.packageId,
    (sandbox, { id, new_field }) => ({ id: sandbox.replacePackage(id, { newField: new_field }) }),
  ),
  order(
    'hasten',
    'Make the next turn of a request, or of one of its checks, happen now',
    z.object({ request_id: z.string(), check_id: z.string().optional() }),
    answers.done,
    (sandbox, given) => sandbox.advanceRequest(given.request_id, given.check_id),
  ),
  order(
    'redeliver',
    'Deliver an event once more: by the id of a delivery, or the latest event of a request',
    z.object({ delivery_id: z.string() }),
    answers.redelivered,
    (sandbox, { delivery_id }) => redeliver(sandbox, delivery_id),
  ),
  order(
    'trigger',
    'Play a story: create a request, drive it through its statuses and post its events to a receiver',
    z.object({ story: z.string(), to: z.string().optional() }),
    answers.story,
    (sandbox, { story, to }) => sandbox.trigger(story, to),
  ),
  order('reset', 'Back to the initial state', nothing, answers.state, (sandbox) => {
    sandbox.reset()
    return sandbox.overview()
  }),
  order(
    'restore',
    'Back to a snapshot',
    answers.anything,
    answers.state,
    (sandbox, given) => {
      sandbox.restore(checkedSnapshot(given))
      return sandbox.overview()
    },
    true,
  ),
]

/** "The receiver must return a 2xx within 10 seconds", and a moment more. */
const attemptMs = 11_000

/** Tells how the attempt ended; `outcome` is null where it is still under way. */
async function redeliver(sandbox: Sandbox, id: string) {
  if (sandbox.overview().webhook_url === null) {
    throw new InvalidInputError('there is no webhook URL to deliver to', {
      hint: 'Set one with: refcheck sandbox set webhook-url URL',
    })
  }
  const { id: delivery_id, request_id, status } = sandbox.redeliver(id)
  const attempt = await nextEntry(
    sandbox.log,
    (entry) => entry.kind === 'delivery' && entry.delivery_id === delivery_id,
    attemptMs,
  )
  const outcome = attempt?.kind === 'delivery' ? attempt.outcome : null
  return { delivery_id, request_id, status, outcome }
}

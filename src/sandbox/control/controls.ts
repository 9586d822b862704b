import { z } from 'zod'

import { requestResource } from '../../contract/request.ts'
import { requestStatuses } from '../../contract/statuses.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import { nextEntry } from '../service/log.ts'
import { switchNames } from '../service/rules.ts'
import { scenarioTable } from '../service/scenarios.ts'
import {
  checkedInjection,
  checkedSnapshot,
  delivery,
  injection,
  overview,
  storyResult,
  subscription,
  trial,
} from '../service/schemas.ts'
import type { Sandbox } from './sandbox.ts'

/*
 * What the control of a sandbox takes and answers, for those who write programs around it. Times are milliseconds since
 * the epoch.
 */

const text = z.string()
const count = z.int().nonnegative()
const status = z.enum(requestStatuses)
const credits = count.nullable()

const done = z.object({})
const anything = z.record(text, z.unknown())

const rules = z.array(
  z.object({
    name: text,
    section: text,
    sentence: text,
    open: text,
    choices: z.array(text),
    current: text,
  }),
)

const entry = { n: count, at: z.number() }
const message = z.object({ headers: z.record(text, text), body: text.nullable() })
/** Asked for with `bodies`. */
const exchange = { request: message.optional(), response: message.nullable().optional() }
const log = z.array(
  z.discriminatedUnion('kind', [
    z.object({
      ...entry,
      kind: z.literal('call'),
      method: text,
      path: text,
      status: z.int().nullable(),
      fault: text.nullable(),
      ...exchange,
    }),
    z.object({ ...entry, kind: z.literal('status'), request_id: text, status: text }),
    z.object({
      ...entry,
      kind: z.literal('delivery'),
      delivery_id: text,
      request_id: text,
      status: text,
      attempt: count,
      outcome: text,
      ...exchange,
    }),
    z.object({ ...entry, kind: z.literal('failure'), message: text }),
  ]),
)

/** One operation on a running sandbox. */
export interface Control {
  name: string
  summary: string
  answer: z.ZodType
}

/** GET; `query` holds what follows the question mark. */
interface ReadControl extends Control {
  query?: Readonly<Record<string, string>>
  read: (sandbox: Sandbox, query: (name: string) => number, signal: AbortSignal) => unknown
}

/** POST; `given` is the body's shape. */
interface OrderControl extends Control {
  given: z.ZodType
  /** `run` checks the body itself, with more precise messages than its shape could give. */
  checksItself: boolean
  run: (sandbox: Sandbox, given: unknown) => unknown
}

export const readControls: readonly ReadControl[] = [
  {
    name: 'state',
    summary: 'What is going on, in numbers',
    answer: overview,
    read: (sandbox) => sandbox.overview(),
  },
  {
    name: 'rules',
    summary: 'What the API document leaves open, and the choices in force',
    answer: rules,
    read: (sandbox) => sandbox.rules(),
  },
  {
    name: 'scenarios',
    summary: 'The scenarios that a recipient’s e-mail can ask for',
    answer: z.array(z.object({ tag: text, changes: text, what: text })),
    read: () => scenarioTable,
  },
  {
    name: 'requests',
    summary: 'Every request, oldest first, as a client would read it now',
    answer: z.array(requestResource),
    read: (sandbox) => sandbox.requests(),
  },
  {
    name: 'deliveries',
    summary: 'Events that wait to be delivered, and the last thousand that are over',
    answer: z.array(delivery),
    read: (sandbox) => sandbox.deliveries(),
  },
  {
    name: 'snapshot',
    summary: 'The whole state, for restore; it contains the sandbox’s own keys',
    answer: anything,
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
    answer: log,
    async read(sandbox, query, signal) {
      const from = query('from')
      const wait = Math.min(30, query('wait'))
      if (wait > 0 && sandbox.log.entries(from).length === 0) {
        await nextEntry(sandbox.log, ({ n }) => n >= from, wait * 1000, signal)
      }
      const entries = sandbox.log.entries(from)
      return query('bodies') === 0
        ? entries
        : entries.map((each) => Object.assign({}, each, sandbox.log.redactedExchange(each.n)))
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
  return { name, summary, given, answer, checksItself, run: (sandbox, body) => run(sandbox, body as T) }
}

const nothing = z.object({})

export const orderControls: readonly OrderControl[] = [
  order(
    'advance',
    'Move a manual clock, and everything with it',
    z.object({ ms: z.number().nonnegative() }),
    overview,
    async (sandbox, { ms }) => {
      await sandbox.advance(ms)
      return sandbox.overview()
    },
  ),
  order(
    'inject',
    'Make the next requests or calls go wrong',
    injection,
    done,
    (sandbox, given) => void sandbox.inject(checkedInjection(given)),
    true,
  ),
  order('clear-faults', 'Clear all faults', nothing, done, (sandbox) => sandbox.clearFaults()),
  order(
    'rules',
    'Switch rules that the API document leaves open',
    z.record(text, text),
    rules,
    (sandbox, chosen) => {
      for (const [name, choice] of Object.entries(chosen)) sandbox.setRule(name, choice)
      return sandbox.rules()
    },
  ),
  order(
    'switch',
    'Change something permanently',
    z.object({ switch: z.enum(switchNames) }),
    done,
    (sandbox, given) => sandbox.flipSwitch(given.switch),
  ),
  order(
    'renew-key',
    'Generate a new API key and revoke the old one',
    nothing,
    z.object({ api_key: text }),
    (sandbox) => ({ api_key: sandbox.renewKey() }),
  ),
  order(
    'user',
    'Activate or deactivate a user',
    z.object({ email: text, active: z.boolean() }),
    done,
    (sandbox, { email, active }) => sandbox.setUserActive(email, active),
  ),
  order('credits', 'Set the credits; null: unlimited', z.object({ credits }), done, (sandbox, given) =>
    sandbox.setCredits(given.credits),
  ),
  order(
    'plan',
    'Set the trial and the subscription',
    z.object({ trial: trial.optional(), subscription: subscription.optional() }),
    done,
    (sandbox, plan) => {
      if (plan.trial !== undefined) sandbox.changePlan({ trial: plan.trial })
      if (plan.subscription !== undefined) sandbox.changePlan({ subscription: plan.subscription })
    },
  ),
  order(
    'webhook',
    'Set the webhook URL of the organisation; null: none',
    z.object({ url: text.nullable() }),
    done,
    (sandbox, { url }) => sandbox.setWebhook(url),
  ),
  order(
    'replace-package',
    'Make a package INACTIVE in favour of a new version with one more required field',
    z.object({ id: z.int(), new_field: z.boolean().optional() }),
    z.object({ id: z.int() }),
    (sandbox, { id, new_field }) => ({ id: sandbox.replacePackage(id, { newField: new_field }) }),
  ),
  order(
    'hasten',
    'Make the next turn of a request, or of one of its checks, happen now',
    z.object({ request_id: text, check_id: text.optional() }),
    done,
    (sandbox, given) => sandbox.advanceRequest(given.request_id, given.check_id),
  ),
  order(
    'redeliver',
    'Deliver an event once more: by the id of a delivery, or the latest event of a request',
    z.object({ delivery_id: text }),
    z.object({
      delivery_id: text,
      request_id: text,
      status,
      /** The HTTP status, or why there was none; null: still under way. */
      outcome: text.nullable(),
    }),
    (sandbox, { delivery_id }) => redeliver(sandbox, delivery_id),
  ),
  order(
    'trigger',
    'Play a story: create a request, drive it through its statuses and post its events to a receiver',
    z.object({ story: text, to: text.optional() }),
    storyResult,
    (sandbox, { story, to }) => sandbox.trigger(story, to),
  ),
  order('reset', 'Back to the initial state', nothing, overview, (sandbox) => {
    sandbox.reset()
    return sandbox.overview()
  }),
  order(
    'restore',
    'Back to a snapshot',
    anything,
    overview,
    (sandbox, given) => {
      sandbox.restore(checkedSnapshot(given))
      return sandbox.overview()
    },
    true,
  ),
]

/** "The receiver must return a 2xx within 10 seconds", and a moment more. */
const attemptMs = 11_000

/** Returns how the attempt ended; `outcome` is null where it is still under way. */
async function redeliver(sandbox: Sandbox, id: string) {
  if (sandbox.overview().webhook_url === null) {
    throw new InvalidInputError('there is no webhook URL to deliver to', {
      hint: 'Set one with: refcheck sandbox set webhook-url URL',
    })
  }
  const { id: delivery_id, request_id, status: overall } = sandbox.redeliver(id)
  const attempt = await nextEntry(
    sandbox.log,
    (each) => each.kind === 'delivery' && each.delivery_id === delivery_id,
    attemptMs,
  )
  const outcome = attempt?.kind === 'delivery' ? attempt.outcome : null
  return { delivery_id, request_id, status: overall, outcome }
}

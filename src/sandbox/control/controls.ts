import { z } from 'zod'

import { requestResource } from '../../contract/request.ts'
import { requestStatuses } from '../../contract/statuses.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import { permanentChangeNames } from '../service/rules.ts'
import { scenarioTable } from '../service/scenarios.ts'
import {
  parseInjection,
  parseSnapshot,
  delivery,
  injection,
  overview,
  storyResult,
  subscription,
  trial,
} from '../service/schemas.ts'
import type { Sandbox } from './sandbox.ts'

/*
 * Operations of a sandbox's control API with the shapes of their bodies and responses. Times are milliseconds since
 * the Unix epoch.
 */

const text = z.string()
const count = z.int().nonnegative()
const requestStatus = z.enum(requestStatuses)
const credits = count.nullable()

const emptyResponse = z.object({})
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

const entryFields = { n: count, at: z.number() }
const message = z.object({ headers: z.record(text, text), body: text.nullable() })
/** Present if the query has `bodies`. */
const exchange = { request: message.optional(), response: message.nullable().optional() }
const log = z.array(
  z.discriminatedUnion('kind', [
    z.object({
      ...entryFields,
      kind: z.literal('call'),
      method: text,
      path: text,
      status: z.int().nullable(),
      fault: text.nullable(),
      ...exchange,
    }),
    z.object({ ...entryFields, kind: z.literal('status'), request_id: text, status: text }),
    z.object({
      ...entryFields,
      kind: z.literal('delivery'),
      delivery_id: text,
      request_id: text,
      status: text,
      attempt: count,
      outcome: text,
      ...exchange,
    }),
    z.object({ ...entryFields, kind: z.literal('failure'), message: text }),
  ]),
)

/** An operation on a running sandbox. */
export interface Control {
  name: string
  summary: string
  responseSchema: z.ZodType
}

/** An operation by GET; `query` describes its query parameters. */
interface GetControl extends Control {
  query?: Readonly<Record<string, string>>
  read: (sandbox: Sandbox, queryNumber: (name: string) => number, signal: AbortSignal) => unknown
}

/** An operation by POST; `bodySchema` is the shape of its body. */
interface PostControl extends Control {
  bodySchema: z.ZodType
  /** Whether `run` checks the body itself, with more precise messages than the schema gives. */
  isCheckedByRun: boolean
  run: (sandbox: Sandbox, body: unknown) => unknown
}

export const getControls: readonly GetControl[] = [
  {
    name: 'state',
    summary: 'What is going on, in numbers',
    responseSchema: overview,
    read: (sandbox) => sandbox.overview(),
  },
  {
    name: 'rules',
    summary: 'What the API document leaves open, and the choices in force',
    responseSchema: rules,
    read: (sandbox) => sandbox.rules(),
  },
  {
    name: 'scenarios',
    summary: 'The scenarios that a recipient’s e-mail can ask for',
    responseSchema: z.array(z.object({ tag: text, changes: text, what: text })),
    read: () => scenarioTable,
  },
  {
    name: 'requests',
    summary: 'Every request, oldest first, as a client would read it now',
    responseSchema: z.array(requestResource),
    read: (sandbox) => sandbox.requests(),
  },
  {
    name: 'deliveries',
    summary: 'Events that wait to be delivered, and the last thousand that are over',
    responseSchema: z.array(delivery),
    read: (sandbox) => sandbox.deliveries(),
  },
  {
    name: 'snapshot',
    summary: 'The whole state, for restore; it contains the sandbox’s own keys',
    responseSchema: anything,
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
    responseSchema: log,
    async read(sandbox, query, signal) {
      const from = query('from')
      const wait = Math.min(30, query('wait'))
      if (wait > 0 && sandbox.log.entries(from).length === 0) {
        await sandbox.log.waitForEntry(({ n }) => n >= from, wait * 1000, signal)
      }
      const entries = sandbox.log.entries(from)
      return query('bodies') === 0
        ? entries
        : entries.map((entry) => Object.assign({}, entry, sandbox.log.redactedExchange(entry.n)))
    },
  },
]

/** Makes a control whose `run` gets a body of the given shape. */
function createPostControl<T>(
  name: string,
  summary: string,
  bodySchema: z.ZodType<T>,
  responseSchema: z.ZodType,
  run: (sandbox: Sandbox, body: T) => unknown,
  isCheckedByRun = false,
): PostControl {
  return {
    name,
    summary,
    bodySchema,
    responseSchema,
    isCheckedByRun,
    run: (sandbox, body) => run(sandbox, body as T),
  }
}

const emptyBody = z.object({})

export const postControls: readonly PostControl[] = [
  createPostControl(
    'advance',
    'Move a manual clock, and everything with it',
    z.object({ ms: z.number().nonnegative() }),
    overview,
    async (sandbox, { ms }) => {
      await sandbox.advance(ms)
      return sandbox.overview()
    },
  ),
  createPostControl(
    'inject',
    'Make the next requests or calls go wrong',
    injection,
    emptyResponse,
    (sandbox, body) => void sandbox.inject(parseInjection(body)),
    true,
  ),
  createPostControl('clear-faults', 'Clear all faults', emptyBody, emptyResponse, (sandbox) =>
    sandbox.clearFaults(),
  ),
  createPostControl(
    'rules',
    'Switch rules that the API document leaves open',
    z.record(text, text),
    rules,
    (sandbox, choices) => {
      for (const [name, choice] of Object.entries(choices)) sandbox.setRule(name, choice)
      return sandbox.rules()
    },
  ),
  createPostControl(
    'switch',
    'Change something permanently',
    z.object({ switch: z.enum(permanentChangeNames) }),
    emptyResponse,
    (sandbox, body) => sandbox.makePermanentChange(body.switch),
  ),
  createPostControl(
    'renew-key',
    'Generate a new API key and revoke the old one',
    emptyBody,
    z.object({ api_key: text }),
    (sandbox) => ({ api_key: sandbox.renewKey() }),
  ),
  createPostControl(
    'user',
    'Activate or deactivate a user',
    z.object({ email: text, active: z.boolean() }),
    emptyResponse,
    (sandbox, { email, active }) => sandbox.setUserActive(email, active),
  ),
  createPostControl(
    'credits',
    'Set the credits; null: unlimited',
    z.object({ credits }),
    emptyResponse,
    (sandbox, body) => sandbox.setCredits(body.credits),
  ),
  createPostControl(
    'plan',
    'Set the trial and the subscription',
    z.object({ trial: trial.exactOptional(), subscription: subscription.exactOptional() }),
    emptyResponse,
    (sandbox, plan) => sandbox.changePlan(plan),
  ),
  createPostControl(
    'webhook',
    'Set the webhook URL of the organisation; null: none',
    z.object({ url: text.nullable() }),
    emptyResponse,
    (sandbox, { url }) => sandbox.setWebhook(url),
  ),
  createPostControl(
    'replace-package',
    'Make a package INACTIVE in favour of a new version with one more required field',
    z.object({ id: z.int(), new_field: z.boolean().optional() }),
    z.object({ id: z.int() }),
    (sandbox, { id, new_field }) => ({ id: sandbox.replacePackage(id, { newField: new_field }) }),
  ),
  createPostControl(
    'hasten',
    'Make the next turn of a request, or of one of its checks, happen now',
    z.object({ request_id: text, check_id: text.optional() }),
    emptyResponse,
    (sandbox, body) => sandbox.advanceRequest(body.request_id, body.check_id),
  ),
  createPostControl(
    'redeliver',
    'Deliver an event once more: by the id of a delivery, or the latest event of a request',
    z.object({ delivery_id: text }),
    z.object({
      delivery_id: text,
      request_id: text,
      status: requestStatus,
      /** HTTP status, or why there was no response; null if the attempt is still in progress. */
      outcome: text.nullable(),
    }),
    (sandbox, { delivery_id }) => redeliverAndWait(sandbox, delivery_id),
  ),
  createPostControl(
    'trigger',
    'Play a story: create a request, drive it through its statuses and post its events to a receiver',
    z.object({ story: text, to: text.optional() }),
    storyResult,
    (sandbox, { story, to }) => sandbox.trigger(story, to),
  ),
  createPostControl('reset', 'Back to the initial state', emptyBody, overview, (sandbox) => {
    sandbox.reset()
    return sandbox.overview()
  }),
  createPostControl(
    'restore',
    'Back to a snapshot',
    anything,
    overview,
    (sandbox, body) => {
      sandbox.restore(parseSnapshot(body))
      return sandbox.overview()
    },
    true,
  ),
]

/** Longest wait for the outcome: "The receiver must return a 2xx within 10 seconds", plus a margin. */
const maxAttemptMs = 11_000

/** Sends an event again and waits for the outcome, which is null if the attempt is still in progress. */
async function redeliverAndWait(sandbox: Sandbox, id: string) {
  if (sandbox.overview().webhook_url === null) {
    throw new InvalidInputError('there is no webhook URL to deliver to', {
      hint: 'Set one with: refcheck sandbox set webhook-url URL',
    })
  }
  const { id: delivery_id, request_id, status } = sandbox.redeliver(id)
  const attempt = await sandbox.log.waitForEntry(
    (entry) => entry.kind === 'delivery' && entry.delivery_id === delivery_id,
    maxAttemptMs,
  )
  const outcome = attempt?.kind === 'delivery' ? attempt.outcome : null
  return { delivery_id, request_id, status, outcome }
}

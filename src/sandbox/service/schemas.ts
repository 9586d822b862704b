/*
 * Schemas of the sandbox's state and responses as plain JSON, and checks of snapshots and injections from outside.
 * Names are those of the API. Times are milliseconds since the Unix epoch. Modules that are loaded at the start
 * import only types from here, so that zod is loaded when it is first needed.
 */
import { z } from 'zod'

import { formatIssues } from '../../contract/issue-words.ts'
import { packageStatuses } from '../../contract/package.ts'
import type { FieldValue } from '../../contract/request.ts'
import { checkStatuses, refereeStatuses, requestStatuses } from '../../contract/statuses.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import { type Choices, ruleTable, permanentChangeNames } from './rules.ts'

const text = z.string()
const nullableText = text.nullable()
const time = z.number()
const count = z.int().nonnegative()

export const role = z.enum(['owner', 'admin', 'support', 'member'])
/** "Permission products". */
export const product = z.enum(['bgc', 'exit', 'integration', 'pulse', 'reference'])
export const trial = z.enum(['none', 'running', 'expired'])
export const subscription = z.enum(['active', 'inactive'])
const requestStatus = z.enum(requestStatuses)
const checkStatus = z.enum(checkStatuses)
const refereeStatus = z.enum(refereeStatuses)

const organisation = z.object({
  id: text,
  name: text,
  /** Credits, of which each request uses one; null: unlimited. */
  credits: z.int().nullable(),
  trial,
  subscription,
  /** "Each organisation has at most one outbound webhook configuration". */
  webhook_url: nullableText,
  webhook_secret: text.min(1),
})
export type Organisation = z.infer<typeof organisation>

const apiKey = z.object({ key: text, organisation_id: text, revoked: z.boolean() })
export type ApiKey = z.infer<typeof apiKey>

const team = z.object({ id: text, organisation_id: text, name: text, active: z.boolean() })
export type Team = z.infer<typeof team>

const user = z.object({
  id: text,
  organisation_id: text,
  first_name: text,
  last_name: text,
  email: text,
  role,
  /** Numeric levels as in "Permission levels"; clients see them for members only. */
  permissions: z.record(text, z.int()),
  team_ids: z.array(text),
  job_title: text,
  active: z.boolean(),
})
export type UserRecord = z.infer<typeof user>

const informationSchema = z.object({
  display_name: text,
  code: text,
  fields: z.record(text, z.object({ type: text, required: z.boolean(), description: text })),
})

const packageSchema = z.object({
  id: z.int(),
  organisation_id: text,
  name: text,
  status: z.enum(packageStatuses),
  /** Roles that may use the package ("availability depends on the user's role"); null: all. */
  roles: z.array(role).nullable(),
  reference_survey: z.object({ id: z.int(), name: nullableText, min_referees: z.int() }).nullable(),
  background_checks: z.array(z.object({ check_name: nullableText, partner_name: nullableText })),
  additional_information: z.array(informationSchema),
})
export type PackageRecord = z.infer<typeof packageSchema>

const referee = z.object({
  referee_id: text,
  referee_name: nullableText,
  referee_email: nullableText,
  status: refereeStatus,
  /** Time at which the referee's report became available. */
  report_at: time.nullable(),
})
export type RefereeRecord = z.infer<typeof referee>

const check = z.object({
  /** The id is drawn when the request is created, but clients read null until the check has been created. */
  id: text,
  created: z.boolean(),
  type: z.enum(['reference', 'background']),
  status: checkStatus,
  check_name: nullableText,
  partner_name: nullableText,
  report_at: time.nullable(),
  referees: z.array(referee),
})
export type CheckRecord = z.infer<typeof check>

const at = time
/**
 * A change of a request, `at` milliseconds of progress after its creation. `does` is the kind of the change. `check` is
 * the index of the check, and a number as `referee` the index of its referee.
 */
const step = z.discriminatedUnion('does', [
  z.object({
    at,
    does: z.literal('check'),
    check: count,
    status: checkStatus,
    /** The check is IN_PROGRESS but not created yet, so that it has no id to show. */
    uncreated: z.literal(true).optional(),
  }),
  z.object({ at, does: z.literal('nominate'), check: count, referee }),
  z.object({ at, does: z.literal('referee'), check: count, referee: count, status: refereeStatus }),
  z.object({ at, does: z.literal('report'), check: count, referee: count.nullable() }),
  /** The request ends with ERROR. `checks`: whether its checks stay or are removed. */
  z.object({ at, does: z.literal('fail'), reason: text, checks: z.enum(['kept', 'dropped']) }),
])
export type Step = z.infer<typeof step>

const request = z.object({
  /** Number of the request from 1; its random values are derived from it. */
  number: z.int().positive(),
  request_id: text,
  organisation_id: text,
  package_id: z.int(),
  created_at: time,
  requester_email: text,
  recipient: z.object({ first_name: text, last_name: text, email: text, phone: text }),
  additional_information: z.array(
    z.object({ code: text, fields: z.record(text, z.unknown() as z.ZodType<FieldValue>) }),
  ),
  /** Scenarios from the recipient's e-mail and from injections. */
  scenarios: z.array(text),
  status: requestStatus,
  error_reason: nullableText,
  checks: z.array(check),
  /** Steps of its progress in order; the first `applied` ones have been performed. */
  steps: z.array(step),
  applied: count,
})
export type RequestRecord = z.infer<typeof request>

/** An event for the organisation's webhook, and the state of its delivery. */
export const delivery = z.object({
  id: text,
  organisation_id: text,
  request_id: text,
  status: requestStatus,
  body: text,
  state: z.enum(['waiting', 'delivered', 'given_up']),
  /** Number of attempts so far. */
  attempts: count,
  /** Number of first attempts with a wrong signature. */
  forged: count,
  /** Time at which the next attempt is due, or the last one was made. */
  at: time,
  /** Outcome of the last attempt: an HTTP status, or why there was none. */
  outcome: nullableText,
})
export type DeliveryRecord = z.infer<typeof delivery>

/** Use of one quota window of one key. */
const windowUse = z.object({ started_at: time, used: count })
export type WindowUse = z.infer<typeof windowUse>

const rules = z.object(
  // A snapshot of an earlier version may lack rules.
  Object.fromEntries(
    Object.entries(ruleTable).map(([name, { choices }]) => [name, z.enum(choices).default(choices[0])]),
  ),
) as unknown as z.ZodType<Choices>

const snapshot = z.object({
  version: z.literal(1),
  settings: z.object({
    seed: text,
    rules,
    /** Time of a manual clock; null for the real clock. */
    clock: time.nullable(),
  }),
  organisations: z.array(organisation).min(1),
  keys: z.array(apiKey),
  teams: z.array(team),
  users: z.array(user),
  packages: z.array(packageSchema),
  requests: z.array(request),
  deliveries: z.array(delivery),
  quota: z.record(text, z.array(windowUse)),
})
/** The whole state of a sandbox. */
export type Snapshot = z.infer<typeof snapshot>
export type Settings = Snapshot['settings']

/** Checks a snapshot. Throws an InvalidInputError with the path of the fault, but without its value. */
export function parseSnapshot(value: unknown): Snapshot {
  const result = snapshot.safeParse(value)
  if (result.success) return result.data
  const path = result.error.issues[0]?.path.join('.') ?? ''
  throw new InvalidInputError(
    path === ''
      ? 'this is not a snapshot of a sandbox'
      : `this is not a snapshot of a sandbox: ${path} is wrong`,
    { hint: 'Nothing was changed. Make a snapshot with: refcheck sandbox snapshot > FILE' },
  )
}

/** The state of the sandbox in numbers. */
export const overview = z.object({
  now: time,
  clock: z.enum(['real', 'manual']),
  speed: time,
  seed: text,
  webhook_url: nullableText,
  credits: count.nullable(),
  trial,
  subscription,
  requests: z.object({
    RECEIVED: count,
    IN_PROGRESS: count,
    PARTIAL: count,
    COMPLETED: count,
    ERROR: count,
    CANCELLED: count,
  }),
  deliveries: z.object({ waiting: count, delivered: count, given_up: count }),
  /** Quota windows of the first organisation's key: their use, and when they end (null: no call counted). */
  quota: z.array(z.object({ calls: count, seconds: time, used: count, ends_at: time.nullable() })),
})
export type Overview = z.infer<typeof overview>

/** The outcome of a story's events. */
export const storyResult = z.object({
  story: text,
  request_id: text,
  deliveries: z.array(
    z.object({
      status: requestStatus,
      /** `bad`: made with another secret; the receiver must refuse it. */
      signature: z.enum(['good', 'bad']),
      /** HTTP status of the response; null if there was none. */
      http_status: z.int().nullable(),
      /** Why there was no response. */
      failure: nullableText,
      /** Real milliseconds until the response or the timeout. */
      ms: count,
    }),
  ),
})
export type StoryResult = z.infer<typeof storyResult>

/** Whether the fault applies before or after the call has its effect. */
const when = z.enum(['before', 'after'])
const injectedStatus = z.int().min(200).max(599)

/** A fault of one call. */
const fault = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('status'),
    status: injectedStatus,
    when,
    /** Form of the body; default `envelope`. */
    body: z.enum(['envelope', 'html', 'empty']).optional(),
    message: text.optional(),
    /** Value of Retry-After; without it the header is missing, even on a 429. */
    retryAfter: text.optional(),
  }),
  /** The connection is closed without a response. */
  z.strictObject({ kind: z.literal('cut'), when }),
  /** There is never a response. */
  z.strictObject({ kind: z.literal('hang'), when }),
  /** The response takes `ms` milliseconds longer, before or after the call has its effect. */
  z.strictObject({ kind: z.literal('latency'), ms: z.int().min(1).max(600_000), when }),
  /** The response is a 201 without a request_id. */
  z.strictObject({ kind: z.literal('no-id') }),
  z.strictObject({ kind: z.literal('content-type'), value: text }),
  /**
   * Only the share `keep` (0 to 1) of the body is sent. If `announced`, Content-Length states the full length and the
   * connection is closed.
   */
  z.strictObject({ kind: z.literal('truncated'), keep: z.number().min(0).max(1), announced: z.boolean() }),
  /** The response is replaced after the call has had its effect. */
  z.strictObject({
    kind: z.literal('body'),
    body: text,
    status: injectedStatus.optional(),
    contentType: text.optional(),
  }),
  /** A permanent change is made before the call. */
  z.strictObject({ kind: z.literal('switch'), switch: z.enum(permanentChangeNames) }),
])
export type Fault = z.infer<typeof fault>

const repetition = {
  /** Number of calls or requests that it applies to; default 1. */
  times: z.int().positive().optional(),
  /** Number of calls or requests that are skipped first; default 0. */
  after: count.optional(),
}

/**
 * An injection that makes the next requests follow the scenario with this tag, whatever the e-mail of their
 * recipient.
 */
const scenarioInjection = z.strictObject({ scenario: text, ...repetition })

/** Matches `*` for all calls, a path, or a method and a path. */
const callPattern = /^\s*(?:\*|\/\S*|(?:GET|HEAD|POST|PUT|PATCH|DELETE)\s+[/*]\S*)\s*$/i

const faultInjection = z.strictObject({
  /** Method and route, for example `POST /v1/requests`, `GET /v1/requests/:id`, `GET *`, `*`. */
  on: text.regex(callPattern, 'give a method and a path, such as POST /v1/requests, or *'),
  ...repetition,
  fault,
})
export type FaultInjection = z.infer<typeof faultInjection>

export const injection = z.union([scenarioInjection, faultInjection])
export type Injection = z.infer<typeof injection>

const faultKinds = fault.options.map(({ shape }) => shape.kind.value)

/** Checks an injection from outside. Throws an InvalidInputError with the field for an invalid one. */
export function parseInjection(value: unknown): Injection {
  const isScenario = typeof value === 'object' && value !== null && 'scenario' in value
  const parsed = (isScenario ? scenarioInjection : faultInjection).safeParse(value, formatIssues)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new InvalidInputError(`${issue?.path.join('.') || 'the fault'}: ${issue?.message ?? ''}`, {
    hint: `A fault is JSON with a kind: ${faultKinds.join(', ')}; see examples with: refcheck sandbox inject --help`,
  })
}

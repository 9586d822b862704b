/*
 * What the sandbox stores and answers, as plain data that goes to JSON and back unchanged: the types of every room, and
 * what checks a snapshot or an injection that came from outside. Names are the API's own. Times are milliseconds since
 * the epoch. Only types are imported from here where a sandbox starts, so that zod is loaded when it is first needed.
 */
import { z } from 'zod'

import { formatIssues } from '../../contract/issue-words.ts'
import { packageStatuses } from '../../contract/package.ts'
import type { FieldValue } from '../../contract/request.ts'
import { checkStatuses, refereeStatuses, requestStatuses } from '../../contract/statuses.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import { type Choices, ruleTable, switchNames } from './rules.ts'

const text = z.string()
const orNull = text.nullable()
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
  /** One is used by each request; null: never runs out. */
  credits: z.int().nullable(),
  trial,
  subscription,
  /** "Each organisation has at most one outbound webhook configuration". */
  webhook_url: orNull,
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
  /** Numeric levels, as in "Permission levels"; shown to clients of members only. */
  permissions: z.record(text, z.int()),
  team_ids: z.array(text),
  job_title: text,
  active: z.boolean(),
})
export type UserRecord = z.infer<typeof user>

const information = z.object({
  display_name: text,
  code: text,
  fields: z.record(text, z.object({ type: text, required: z.boolean(), description: text })),
})

const pack = z.object({
  id: z.int(),
  organisation_id: text,
  name: text,
  status: z.enum(packageStatuses),
  /** "availability depends on the user's role"; null: for every role. */
  roles: z.array(role).nullable(),
  reference_survey: z.object({ id: z.int(), name: orNull, min_referees: z.int() }).nullable(),
  background_checks: z.array(z.object({ check_name: orNull, partner_name: orNull })),
  additional_information: z.array(information),
})
export type PackageRecord = z.infer<typeof pack>

const referee = z.object({
  referee_id: text,
  referee_name: orNull,
  referee_email: orNull,
  status: refereeStatus,
  /** When its report became available. */
  report_at: time.nullable(),
})
export type RefereeRecord = z.infer<typeof referee>

const check = z.object({
  /** Decided from the start, shown once the check has been created. */
  id: text,
  created: z.boolean(),
  type: z.enum(['reference', 'background']),
  status: checkStatus,
  check_name: orNull,
  partner_name: orNull,
  report_at: time.nullable(),
  referees: z.array(referee),
})
export type CheckRecord = z.infer<typeof check>

const at = time
/** One thing that happens to a request, `at` milliseconds of progress after its creation. */
const step = z.discriminatedUnion('does', [
  z.object({
    at,
    does: z.literal('check'),
    check: count,
    status: checkStatus,
    /** Under way without having been created yet: it has no id that could be shown. */
    uncreated: z.literal(true).optional(),
  }),
  z.object({ at, does: z.literal('nominate'), check: count, referee }),
  z.object({ at, does: z.literal('referee'), check: count, referee: count, status: refereeStatus }),
  z.object({ at, does: z.literal('report'), check: count, referee: count.nullable() }),
  z.object({ at, does: z.literal('fail'), reason: text, checks: z.enum(['kept', 'dropped']) }),
])
export type Step = z.infer<typeof step>

const request = z.object({
  /** Counts from 1; what this request's random draws are named by. */
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
  /** What its recipient's e-mail, or an injection, asked for. */
  scenarios: z.array(text),
  status: requestStatus,
  error_reason: orNull,
  checks: z.array(check),
  /** What happens to it, in order; those before `applied` have happened. */
  steps: z.array(step),
  applied: count,
})
export type RequestRecord = z.infer<typeof request>

/** One event to be delivered to the organisation's webhook. */
export const delivery = z.object({
  id: text,
  organisation_id: text,
  request_id: text,
  status: requestStatus,
  body: text,
  state: z.enum(['waiting', 'delivered', 'given_up']),
  /** Attempts made. */
  attempts: count,
  /** How many of the first attempts carry a signature that does not match. */
  forged: count,
  /** When the next attempt is due, or the last one was made. */
  at: time,
  /** What the last attempt met: an HTTP status, or why there was none. */
  outcome: orNull,
})
export type DeliveryRecord = z.infer<typeof delivery>

/** How far one window of one key is filled. */
const windowUse = z.object({ started_at: time, used: count })
export type WindowUse = z.infer<typeof windowUse>

const rules = z.object(
  // A snapshot of an earlier version knows fewer rules.
  Object.fromEntries(
    Object.entries(ruleTable).map(([name, { choices }]) => [name, z.enum(choices).default(choices[0])]),
  ),
) as unknown as z.ZodType<Choices>

const snapshot = z.object({
  version: z.literal(1),
  settings: z.object({
    seed: text,
    rules,
    /** The moment of a clock that is moved by hand; null under the real one. */
    clock: time.nullable(),
  }),
  organisations: z.array(organisation).min(1),
  keys: z.array(apiKey),
  teams: z.array(team),
  users: z.array(user),
  packages: z.array(pack),
  requests: z.array(request),
  deliveries: z.array(delivery),
  quota: z.record(text, z.array(windowUse)),
})
/** The whole state. */
export type Snapshot = z.infer<typeof snapshot>
export type Settings = Snapshot['settings']

/** Throws InvalidInputError, with the path, where the value is no snapshot of a sandbox; nothing of it is shown. */
export function checkedSnapshot(value: unknown): Snapshot {
  const parsed = snapshot.safeParse(value)
  if (parsed.success) return parsed.data
  const path = parsed.error.issues[0]?.path.join('.') ?? ''
  throw new InvalidInputError(
    path === ''
      ? 'this is not a snapshot of a sandbox'
      : `this is not a snapshot of a sandbox: ${path} is wrong`,
    { hint: 'Nothing was changed. Make a snapshot with: refcheck sandbox snapshot > FILE' },
  )
}

/** What is going on, in numbers. */
export const overview = z.object({
  now: time,
  clock: z.enum(['real', 'manual']),
  speed: time,
  seed: text,
  webhook_url: orNull,
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
  /** The windows of the first organisation's key: how full, and when they end (null: nothing counted). */
  quota: z.array(z.object({ calls: count, seconds: time, used: count, ends_at: time.nullable() })),
})
export type Overview = z.infer<typeof overview>

/** What became of the events of a story. */
export const storyResult = z.object({
  story: text,
  request_id: text,
  deliveries: z.array(
    z.object({
      status: requestStatus,
      /** `bad`: of another secret; the receiver has to refuse it. */
      signature: z.enum(['good', 'bad']),
      /** Null where there was no answer. */
      http_status: z.int().nullable(),
      /** Why there was no answer. */
      failure: orNull,
      /** Real milliseconds until the answer, or until it was not waited for any more. */
      ms: count,
    }),
  ),
})
export type StoryResult = z.infer<typeof storyResult>

/** Whether the fault applies before or after the work of the call. */
const when = z.enum(['before', 'after'])
const injectedStatus = z.int().min(200).max(599)

/** Something that goes wrong with one call. */
const fault = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('status'),
    status: injectedStatus,
    when,
    /** Default envelope. */
    body: z.enum(['envelope', 'html', 'empty']).optional(),
    message: text.optional(),
    /** Sent as it is; without it there is no such header, not even on a 429. */
    retryAfter: text.optional(),
  }),
  /** The connection breaks without an answer. */
  z.strictObject({ kind: z.literal('cut'), when }),
  /** No answer ever comes. */
  z.strictObject({ kind: z.literal('hang'), when }),
  /** The answer takes `ms` milliseconds longer: before the call is looked at, or after its work is done. */
  z.strictObject({ kind: z.literal('latency'), ms: z.int().min(1).max(600_000), when }),
  /** A 201 whose data has no request_id. */
  z.strictObject({ kind: z.literal('no-id') }),
  z.strictObject({ kind: z.literal('content-type'), value: text }),
  /** Only the first `keep` of the body (0 to 1) arrives; `announced`: under the full Content-Length, then the connection breaks. */
  z.strictObject({ kind: z.literal('truncated'), keep: z.number().min(0).max(1), announced: z.boolean() }),
  /** The answer, head and body, replaced after the work. */
  z.strictObject({
    kind: z.literal('body'),
    body: text,
    status: injectedStatus.optional(),
    contentType: text.optional(),
  }),
  /** Before the call is looked at, something changes for good. */
  z.strictObject({ kind: z.literal('switch'), switch: z.enum(switchNames) }),
])
export type Fault = z.infer<typeof fault>

const times = {
  /** To how many it applies; default 1. */
  times: z.int().positive().optional(),
  /** How many pass before it begins; default 0. */
  after: count.optional(),
}

/** The next requests created go by a scenario, a tag of the scenario table, whatever their recipient's e-mail. */
const scenarioInjection = z.strictObject({ scenario: text, ...times })

/** All of them, those of a path, or those of a method and a path. */
const call = /^\s*(?:\*|\/\S*|(?:GET|HEAD|POST|PUT|PATCH|DELETE)\s+[/*]\S*)\s*$/i

const faultInjection = z.strictObject({
  /** Method and route, for example `POST /v1/requests`, `GET /v1/requests/:id`, `GET *`, `*`. */
  on: text.regex(call, 'give a method and a path, such as POST /v1/requests, or *'),
  ...times,
  fault,
})
export type FaultInjection = z.infer<typeof faultInjection>

export const injection = z.union([scenarioInjection, faultInjection])
export type Injection = z.infer<typeof injection>

const faultKinds = fault.options.map(({ shape }) => shape.kind.value)

/** Reads what may be injected from outside; InvalidInputError, with the field, for anything else. */
export function checkedInjection(value: unknown): Injection {
  const isScenario = typeof value === 'object' && value !== null && 'scenario' in value
  const parsed = (isScenario ? scenarioInjection : faultInjection).safeParse(value, formatIssues)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new InvalidInputError(`${issue?.path.join('.') || 'the fault'}: ${issue?.message ?? ''}`, {
    hint: `A fault is JSON with a kind: ${faultKinds.join(', ')}; see examples with: refcheck sandbox inject --help`,
  })
}

import { z } from 'zod'

import { InvalidInputError } from '../../errors/kinds.ts'
import { ruleTable } from '../service/rules.ts'
import type { Snapshot } from '../service/state.ts'

const text = z.string()
const orNull = text.nullable()
const time = z.number()
const role = z.enum(['owner', 'admin', 'support', 'member'])
const requestStatus = z.enum(['RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'COMPLETED', 'ERROR', 'CANCELLED'])
const checkStatus = z.enum(['RECEIVED', 'IN_PROGRESS', 'COMPLETED', 'CANCELLED', 'ERROR'])
const refereeStatus = z.enum(['IN_PROGRESS', 'COMPLETED', 'CANCELLED'])

const rules = z.object(
  // A snapshot of an earlier version knows fewer rules.
  Object.fromEntries(
    Object.entries(ruleTable).map(([name, { choices }]) => [name, z.enum(choices).default(choices[0])]),
  ),
)

const organisation = z.object({
  id: text,
  name: text,
  credits: z.int().nullable(),
  trial: z.enum(['none', 'running', 'expired']),
  subscription: z.enum(['active', 'inactive']),
  webhook_url: orNull,
  webhook_secret: text.min(1),
})

const user = z.object({
  id: text,
  organisation_id: text,
  first_name: text,
  last_name: text,
  email: text,
  role,
  permissions: z.record(text, z.int()),
  team_ids: z.array(text),
  job_title: text,
  active: z.boolean(),
})

const information = z.object({
  display_name: text,
  code: text,
  fields: z.record(text, z.object({ type: text, required: z.boolean(), description: text })),
})

const pack = z.object({
  id: z.int(),
  organisation_id: text,
  name: text,
  status: z.enum(['ACTIVE', 'INACTIVE', 'DISABLED']),
  roles: z.array(role).nullable(),
  reference_survey: z.object({ id: z.int(), name: orNull, min_referees: z.int() }).nullable(),
  background_checks: z.array(z.object({ check_name: orNull, partner_name: orNull })),
  additional_information: z.array(information),
})

const referee = z.object({
  referee_id: text,
  referee_name: orNull,
  referee_email: orNull,
  status: refereeStatus,
  report_at: time.nullable(),
})

const check = z.object({
  id: text,
  created: z.boolean(),
  type: z.enum(['reference', 'background']),
  status: checkStatus,
  check_name: orNull,
  partner_name: orNull,
  report_at: time.nullable(),
  referees: z.array(referee),
})

const nonNegative = z.int().nonnegative()
const at = time
const step = z.discriminatedUnion('does', [
  z.object({
    at,
    does: z.literal('check'),
    check: nonNegative,
    status: checkStatus,
    uncreated: z.literal(true).optional(),
  }),
  z.object({ at, does: z.literal('nominate'), check: nonNegative, referee }),
  z.object({
    at,
    does: z.literal('referee'),
    check: nonNegative,
    referee: nonNegative,
    status: refereeStatus,
  }),
  z.object({ at, does: z.literal('report'), check: nonNegative, referee: nonNegative.nullable() }),
  z.object({ at, does: z.literal('fail'), reason: text, checks: z.enum(['kept', 'dropped']) }),
])

const request = z.object({
  number: z.int().positive(),
  request_id: text,
  organisation_id: text,
  package_id: z.int(),
  created_at: time,
  requester_email: text,
  recipient: z.object({ first_name: text, last_name: text, email: text, phone: text }),
  additional_information: z.array(z.object({ code: text, fields: z.record(text, z.unknown()) })),
  scenarios: z.array(text),
  status: requestStatus,
  error_reason: orNull,
  checks: z.array(check),
  steps: z.array(step),
  applied: nonNegative,
})

const delivery = z.object({
  id: text,
  organisation_id: text,
  request_id: text,
  status: requestStatus,
  body: text,
  state: z.enum(['waiting', 'delivered', 'given_up']),
  attempts: nonNegative,
  forged: nonNegative,
  at: time,
  outcome: orNull,
})

const snapshot = z.object({
  version: z.literal(1),
  settings: z.object({ seed: text, rules, clock: time.nullable() }),
  organisations: z.array(organisation).min(1),
  keys: z.array(z.object({ key: text, organisation_id: text, revoked: z.boolean() })),
  teams: z.array(z.object({ id: text, organisation_id: text, name: text, active: z.boolean() })),
  users: z.array(user),
  packages: z.array(pack),
  requests: z.array(request),
  deliveries: z.array(delivery),
  quota: z.record(text, z.array(z.object({ started_at: time, used: nonNegative }))),
})

/** Throws InvalidInputError, with the path, where the value is no snapshot of a sandbox; nothing of it is shown. */
export function checkedSnapshot(value: unknown): Snapshot {
  const parsed = snapshot.safeParse(value)
  if (parsed.success) return parsed.data as Snapshot
  const path = parsed.error.issues[0]?.path.join('.') ?? ''
  throw new InvalidInputError(
    path === ''
      ? 'this is not a snapshot of a sandbox'
      : `this is not a snapshot of a sandbox: ${path} is wrong`,
    { hint: 'Nothing was changed. Make a snapshot with: refcheck sandbox snapshot > FILE' },
  )
}

import { createHash } from 'node:crypto'
import { z } from 'zod'

import { InvalidInputError, UsageError } from '../../errors/kinds.ts'
import { shellWord } from '../wording/pasted-command.ts'
import { isoTime, localTime } from '../wording/time.ts'
import { parseJsonOrUndefined, propertyOf } from '../../contract/parse-json.ts'
import { redactArgument } from '../wording/redact-argument.ts'

/** A plan expires if it is not approved within this time. */
export const planLifetimeMs = 24 * 60 * 60 * 1000

/** A program that makes more plans than this is probably in a loop. */
export const maxWaitingPlans = 50

/** An order that a program prepared, and that a person has to approve. */
const orderPlan = z.strictObject({
  refcheck_order_plan: z.literal(1),
  code: z.string(),
  made_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  /** The service, user and account of the order. */
  base_url: z.string(),
  user_email: z.string(),
  /** Null if only environment variables named the service and user. */
  profile: z.string().nullable(),
  account: z.string(),
  what: z.discriminatedUnion('kind', [
    /** `body` is the JSON of one request, in the form that is sent. */
    z.strictObject({ kind: z.literal('order'), body: z.string() }),
    /**
     * `plan` is JSON in the form of `batch plan`. `rows` is the content of the planned file if no file exists, or else
     * null.
     */
    z.strictObject({ kind: z.literal('batch'), plan: z.string(), rows: z.string().nullable() }),
  ]),
  /** The title in the list of plans to approve. */
  title: z.string(),
})
export type OrderPlan = z.infer<typeof orderPlan>
/** The order or the batch of a plan. */
export type PlanContent = OrderPlan['what']

/** The result of an approved plan. */
const usedPlan = z.strictObject({
  refcheck_used_plan: z.literal(1),
  code: z.string(),
  used_at: z.iso.datetime(),
  request_id: z.string().nullable(),
  batch_id: z.string().nullable(),
})
export type UsedPlan = z.infer<typeof usedPlan>

/** The service, user, profile and account that a plan is made for. */
export interface PlanOwner {
  baseUrl: string
  userEmail: string
  profile: string | undefined
  account: string
}

/** Creates a plan of an order. `now` is wall time in milliseconds. */
export function newOrderPlan(
  { baseUrl, userEmail, profile, account }: PlanOwner,
  { code, now, what: content, title }: { code: string; now: number; what: PlanContent; title: string },
): OrderPlan {
  return {
    refcheck_order_plan: 1,
    code,
    made_at: isoTime(now),
    expires_at: isoTime(now + planLifetimeMs),
    base_url: baseUrl,
    user_email: userEmail,
    profile: profile ?? null,
    account,
    what: content,
    title,
  }
}

/** Returns the text of a stored plan: the plan with its digest. */
export function planFileText(plan: OrderPlan): string {
  return JSON.stringify({ sha256: digestOf(plan), plan })
}

/** Parses a stored plan. Throws InvalidInputError if it is not the plan with this code or was changed. */
export function parseOrderPlan(text: string, code: string): OrderPlan {
  const stored = parseJsonOrUndefined(text)
  const parsed = orderPlan.safeParse(propertyOf(stored, 'plan'))
  if (parsed.success && parsed.data.code === code && digestOf(parsed.data) === propertyOf(stored, 'sha256'))
    return parsed.data
  throw new InvalidInputError(`plan ${code} has changed since it was made`, {
    hint: 'Nothing was sent. Have it planned again.',
  })
}

export function parseUsedPlan(text: string): UsedPlan | undefined {
  return usedPlan.safeParse(parseJsonOrUndefined(text)).data
}

/**
 * Whether a plan can no longer be approved. A plan made more than 10 minutes in the future is expired too, because the
 * clock was set back.
 */
export function isExpired({ made_at, expires_at }: Pick<OrderPlan, 'made_at' | 'expires_at'>, now: number) {
  const clockDifferenceMs = 10 * 60 * 1000
  return now >= Date.parse(expires_at) || now < Date.parse(made_at) - clockDifferenceMs
}

/** Throws InvalidInputError for an expired plan, and UsageError for a plan of another user or profile. */
export function requireApprovable(plan: OrderPlan, owner: PlanOwner, now: number): void {
  const { code } = plan
  if (isExpired(plan, now)) {
    throw new InvalidInputError(`plan ${code} expired on ${localTime(plan.expires_at)}`, {
      hint: 'Nothing was sent. Have it planned again: a plan can be approved for 24 hours.',
    })
  }
  const differs = describeDifference(plan, owner)
  if (differs === undefined) return
  const profile = plan.profile === null ? '' : ` --profile ${shellWord(plan.profile)}`
  throw new UsageError(`plan ${code} was made for ${differs}`, {
    hint:
      profile === ''
        ? 'Nothing was sent. Approve it with the same REFCHECK_BASE_URL, REFCHECK_USER_EMAIL and REFCHECK_ACCOUNT that it was made with.'
        : `Nothing was sent. Approve it as that profile with: refcheck approve ${code}${profile}`,
  })
}

/** The error for a plan that was approved before. */
export function alreadyUsedError({ code, used_at, request_id, batch_id }: UsedPlan): InvalidInputError {
  const result =
    request_id === null
      ? batch_id === null
        ? 'refcheck request list'
        : `refcheck batch status ${batch_id}`
      : `refcheck request get ${request_id}`
  return new InvalidInputError(`plan ${code} was already approved on ${localTime(used_at)}`, {
    hint: `Nothing was sent. A plan is used once. Show what came of it with: ${result}`,
  })
}

/** The error for an approval that was started by the program that runs the agent. */
export function startedByAgentError(code: string): UsageError {
  return new UsageError('approve was started by the program that runs the agent', {
    hint: `A person approves, in a terminal opened outside of that program, with: refcheck approve ${code}`.trim(),
  })
}

function describeDifference(
  plan: OrderPlan,
  { baseUrl, userEmail, profile, account }: PlanOwner,
): string | undefined {
  if (plan.base_url !== baseUrl) return `${plan.base_url}, not ${baseUrl}`
  if (plan.user_email.toLowerCase() !== userEmail.toLowerCase()) return `${plan.user_email}, not ${userEmail}`
  if (plan.account !== account) return `the account "${plan.account}", not "${account}"`
  if (plan.profile === (profile ?? null)) return undefined
  return plan.profile === null
    ? `the environment's own key, not profile "${profile ?? ''}"`
    : `profile "${plan.profile}", not ${profile === undefined ? 'the environment’s own key' : `"${profile}"`}`
}

function digestOf(plan: OrderPlan): string {
  return createHash('sha256').update(JSON.stringify(plan)).digest('hex')
}

/** Letters that look unlike other letters and digits. Without vowels they form no words. */
const codeLetters = 'BCDFGHJKMPQRTVWX'
const codeLength = 8

/** The number of random bytes that a code needs. */
export const planCodeBytes = codeLength

/** Returns a code such as `KXRT-WMPH`, made of 8 random bytes. */
export function planCode(bytes: Uint8Array): string {
  const code = Array.from(
    bytes.subarray(0, codeLength),
    (byte) => codeLetters[byte % codeLetters.length],
  ).join('')
  return formatPlanCode(code)
}

/** Returns the code that a user typed. Throws UsageError if the text is not a code. */
export function parsePlanCode(text: string): string {
  const code = text.replaceAll(/[\s-]/g, '').toUpperCase()
  if (code.length === codeLength && Array.from(code).every((letter) => codeLetters.includes(letter)))
    return formatPlanCode(code)
  throw new UsageError(`CODE: "${redactArgument(text)}" is not the code of a plan`, {
    hint: 'A code looks like KXRT-WMPH. Choose among the plans that wait with: refcheck approve',
  })
}

const formatPlanCode = (code: string): string =>
  `${code.slice(0, codeLength / 2)}-${code.slice(codeLength / 2)}`

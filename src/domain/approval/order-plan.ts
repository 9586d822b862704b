import { createHash } from 'node:crypto'
import { z } from 'zod'

import { InvalidInputError, UsageError } from '../../errors/kinds.ts'
import { shellWord } from '../wording/pasted-command.ts'
import { isoTime, localTime } from '../wording/time.ts'
import { parseJsonOrUndefined, propertyOf } from '../../contract/parse-json.ts'
import { redactArgument } from '../wording/redact-argument.ts'

/** A plan that was not approved by then has expired. */
export const planLifetimeMs = 24 * 60 * 60 * 1000

/** A program that plans more than this is in a loop. */
export const maxWaiting = 50

/** An order that a program prepared and a person has to approve. */
const orderPlan = z.strictObject({
  refcheck_order_plan: z.literal(1),
  code: z.string(),
  made_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  /** Where, as whom and for whose people it is ordered. */
  base_url: z.string(),
  user_email: z.string(),
  /** Null where the environment alone said it. */
  profile: z.string().nullable(),
  account: z.string(),
  what: z.discriminatedUnion('kind', [
    /** `body`: JSON of one request, as it would be sent. */
    z.strictObject({ kind: z.literal('order'), body: z.string() }),
    /** `plan`: JSON as `batch plan` keeps it. `rows`: what it would read as a file, where there is none. */
    z.strictObject({ kind: z.literal('batch'), plan: z.string(), rows: z.string().nullable() }),
  ]),
  /** For the list of what waits. */
  title: z.string(),
})
export type OrderPlan = z.infer<typeof orderPlan>

/** What became of an approved plan. */
const usedPlan = z.strictObject({
  refcheck_used_plan: z.literal(1),
  code: z.string(),
  used_at: z.iso.datetime(),
  request_id: z.string().nullable(),
  batch_id: z.string().nullable(),
})
export type UsedPlan = z.infer<typeof usedPlan>

/** Whose plans they are. */
export interface PlanOwner {
  baseUrl: string
  userEmail: string
  profile: string | undefined
  account: string
}

/** A plan of what is to be ordered. `now`: wall time in milliseconds. */
export function newOrderPlan(
  { baseUrl, userEmail, profile, account }: PlanOwner,
  { code, now, what, title }: { code: string; now: number; what: OrderPlan['what']; title: string },
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
    what,
    title,
  }
}

/** As it is stored: with the digest of every byte of it. */
export function planFileText(plan: OrderPlan): string {
  return JSON.stringify({ sha256: digestOf(plan), plan })
}

/** A stored plan; an InvalidInputError for one that is not what was planned. */
export function parseOrderPlan(text: string, code: string): OrderPlan {
  const stored = parseJsonOrUndefined(text)
  const read = orderPlan.safeParse(propertyOf(stored, 'plan'))
  if (read.success && read.data.code === code && digestOf(read.data) === propertyOf(stored, 'sha256'))
    return read.data
  throw new InvalidInputError(`plan ${code} has changed since it was made`, {
    hint: 'Nothing was sent. Have it planned again.',
  })
}

export function parseUsedPlan(text: string): UsedPlan | undefined {
  return usedPlan.safeParse(parseJsonOrUndefined(text)).data
}

/** Whether it can be approved no more. A clock that was set back makes no plan young. */
export function isExpired({ made_at, expires_at }: Pick<OrderPlan, 'made_at' | 'expires_at'>, now: number) {
  const clockDifferenceMs = 10 * 60 * 1000
  return now >= Date.parse(expires_at) || now < Date.parse(made_at) - clockDifferenceMs
}

/** Throws where a plan is for another user or profile, or has expired. */
export function requireApprovable(plan: OrderPlan, owner: PlanOwner, now: number): void {
  const { code } = plan
  if (isExpired(plan, now)) {
    throw new InvalidInputError(`plan ${code} expired on ${localTime(plan.expires_at)}`, {
      hint: 'Nothing was sent. Have it planned again: a plan can be approved for 24 hours.',
    })
  }
  const differs = difference(plan, owner)
  if (differs === undefined) return
  const profile = plan.profile === null ? '' : ` --profile ${shellWord(plan.profile)}`
  throw new UsageError(`plan ${code} was made for ${differs}`, {
    hint:
      profile === ''
        ? 'Nothing was sent. Approve it with the same REFCHECK_BASE_URL, REFCHECK_USER_EMAIL and REFCHECK_ACCOUNT that it was made with.'
        : `Nothing was sent. Approve it as that profile with: refcheck approve ${code}${profile}`,
  })
}

/** A plan that was approved before. */
export function alreadyUsed({ code, used_at, request_id, batch_id }: UsedPlan): InvalidInputError {
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

/** Throws where approving was started by the program that runs the agent. */
export function startedByAgent(code: string): UsageError {
  return new UsageError('approve was started by the program that runs the agent', {
    hint: `A person approves, in a terminal opened outside of that program, with: refcheck approve ${code}`.trim(),
  })
}

function difference(
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

/** Letters that are not confused with another letter or a digit, and of which no word is made. */
const letters = 'BCDFGHJKMPQRTVWX'
const length = 8

/** Random bytes that a code is made of. */
export const planCodeBytes = length

/** `KXRT-WMPH`, of 8 random bytes. */
export function planCode(bytes: Uint8Array): string {
  const code = Array.from(bytes.subarray(0, length), (byte) => letters[byte % letters.length]).join('')
  return shown(code)
}

/** A code as it was typed; UsageError for what is none. */
export function parsePlanCode(text: string): string {
  const code = text.replaceAll(/[\s-]/g, '').toUpperCase()
  if (code.length === length && Array.from(code).every((letter) => letters.includes(letter)))
    return shown(code)
  throw new UsageError(`CODE: "${redactArgument(text)}" is not the code of a plan`, {
    hint: 'A code looks like KXRT-WMPH. Choose among the plans that wait with: refcheck approve',
  })
}

const shown = (code: string): string => `${code.slice(0, length / 2)}-${code.slice(length / 2)}`

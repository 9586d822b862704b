import { z } from 'zod'

import { issueInWords } from '../../contract/issue-words.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import type { Injection } from '../service/faults.ts'
import { switchNames } from '../service/switch-names.ts'

const when = z.enum(['before', 'after'])
const status = z.int().min(200).max(599)
const times = { times: z.int().positive().optional(), after: z.int().nonnegative().optional() }

const fault = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('status'),
    status,
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
    status: status.optional(),
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

export const injection = z.union([scenarioInjection, faultInjection])

const kinds = fault.options.map(({ shape }) => shape.kind.value)

/** Reads what may be injected from outside; InvalidInputError, with the field, for anything else. */
export function checkedInjection(value: unknown): Injection {
  const isScenario = typeof value === 'object' && value !== null && 'scenario' in value
  const parsed = isScenario ? scenarioInjection.safeParse(value) : faultInjection.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const place = issue?.path.join('.') ?? ''
  throw new InvalidInputError(`${place === '' ? 'the fault' : place}: ${issueInWords(issue)}`, {
    hint: `A fault is JSON with a kind: ${kinds.join(', ')}; see examples with: refcheck sandbox inject --help`,
  })
}

import { z } from 'zod'

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

const scenarioInjection = z.strictObject({ scenario: z.string(), ...times })
const faultInjection = z.strictObject({ on: z.string().min(1), ...times, fault })

const kinds = fault.options.map(({ shape }) => shape.kind.value)

/** Reads what may be injected from outside; InvalidInputError, with the field, for anything else. */
export function checkedInjection(value: unknown): Injection {
  const isScenario = typeof value === 'object' && value !== null && 'scenario' in value
  const parsed = isScenario ? scenarioInjection.safeParse(value) : faultInjection.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const path = issue?.path.join('.') ?? ''
  throw new InvalidInputError(`${path === '' ? 'body' : path}: ${issue?.message ?? 'is not valid'}`, {
    hint: `A fault is JSON with a kind: ${kinds.join(', ')}; see examples with: refcheck sandbox inject --help`,
  })
}

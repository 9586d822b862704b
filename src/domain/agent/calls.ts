import { createHash } from 'node:crypto'

import { InternalError } from '../../errors/kinds.ts'
import type { OrderPlan } from '../approval/order-plan.ts'
import { type OrderedPackage, packageWithName } from '../submission/confirmation.ts'
import { formatCount } from '../wording/text.ts'

/** The command lines that an agent's calls may become; each reads, but for the PDFs in the folder it was given. */
const reading: readonly (readonly string[])[] = [
  ['packages', 'list'],
  ['schema', 'show'],
  ['request', 'get'],
  ['request', 'list'],
  ['batch', 'validate'],
  ['batch', 'plan'],
  ['batch', 'list'],
  ['batch', 'status'],
  ['batch', 'rows'],
  ['batch', 'export'],
  ['webhook', 'events', 'list'],
  ['quota'],
  ['report', 'download'],
]

/** Those that would order are run dry or not at all. */
const dry: readonly (readonly string[])[] = [
  ['request', 'create'],
  ['batch', 'run'],
]

const startsWith = (argv: readonly string[], words: readonly string[]): boolean =>
  words.every((word, at) => argv[at] === word)

/** Throws for a line that could order or change anything. No call makes one; this is the second lock. */
export function requireReading(argv: readonly string[]): void {
  if (reading.some((words) => startsWith(argv, words))) return
  if (dry.some((words) => startsWith(argv, words)) && argv.includes('--dry-run')) return
  throw new InternalError('a call of an agent became a command that it may not run')
}

export type PlannedForAgent = ReturnType<typeof plannedForAgent>

/**
 * A plan as an agent receives it: nothing was ordered, and what a person types. `orders`: how many a yes would send;
 * `review`: what would be sent or what checking came to, as the command prints it.
 */
export function plannedForAgent(
  { code, expires_at, base_url, user_email }: OrderPlan,
  { packageId, orders, review }: { packageId: number | null; orders: number; review: unknown },
) {
  return {
    ordered: false,
    code,
    /** What a person types in a terminal of their own. */
    approve_with: `refcheck approve ${code}`,
    expires_at,
    base_url,
    user_email,
    package_id: packageId,
    orders,
    review,
  }
}

/** The plan that `batch plan` would write for these rows, if they were a file: JSON that is read without a mapping. */
export function planOfRows(rows: string, baseUrl: string, packageId: number): string {
  return JSON.stringify({
    refcheck_plan: 1,
    file: '-',
    sha256: createHash('sha256').update(rows).digest('hex'),
    base_url: baseUrl,
    package_id: packageId,
    reading: { sheet: null, map: {}, ignore: [], default_country: null },
  })
}

/** `3 orders of 102 Financial services check (people.csv)`, for the list of what waits. */
export function planTitle(orders: number, ordered: OrderedPackage | undefined, from?: string): string {
  const what = ordered === undefined ? '' : ` of ${packageWithName(ordered)}`
  return `${formatCount(orders, 'order')}${what}${from === undefined ? '' : ` (${from})`}`
}

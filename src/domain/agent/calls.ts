import { createHash } from 'node:crypto'

import { InternalError } from '../../errors/kinds.ts'
import type { OrderPlan } from '../approval/order-plan.ts'
import { type OrderedPackage, packageWithName } from '../submission/confirmation.ts'
import { formatCount } from '../wording/text.ts'

/**
 * The commands that a call of an agent may run. They only read, except that `report download` writes PDFs into the
 * folder that the call names.
 */
const readingCommands: readonly (readonly string[])[] = [
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

/** These commands order, so a call of an agent may only run them with --dry-run. */
const dryRunCommands: readonly (readonly string[])[] = [
  ['request', 'create'],
  ['batch', 'run'],
]

const startsWith = (argv: readonly string[], words: readonly string[]): boolean =>
  words.every((word, index) => argv[index] === word)

/**
 * Throws InternalError for a command line that could order or change anything. No call produces such a line; this is a
 * second check.
 */
export function requireReadOnly(argv: readonly string[]): void {
  if (readingCommands.some((words) => startsWith(argv, words))) return
  if (dryRunCommands.some((words) => startsWith(argv, words)) && argv.includes('--dry-run')) return
  throw new InternalError('a call of an agent became a command that it may not run')
}

export type PlanForAgent = ReturnType<typeof planForAgent>

/**
 * Returns a plan in the form that an agent receives: nothing was ordered, and the command by which a person approves
 * it. `orders` is the number of orders that an approval sends. `review` is what would be sent or the result of the
 * check, as the command prints it.
 */
export function planForAgent(
  { code, expires_at, base_url, user_email }: OrderPlan,
  { packageId, orders, review }: { packageId: number | null; orders: number; review: unknown },
) {
  return {
    ordered: false,
    code,
    /** The command that a person types in a separate terminal. */
    approve_with: `refcheck approve ${code}`,
    expires_at,
    base_url,
    user_email,
    package_id: packageId,
    orders,
    review,
  }
}

/** Returns the plan that `batch plan` would write if these rows were a file. JSON rows need no mapping of columns. */
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

/** The title of a plan in the list of plans to approve: `3 orders of 102 Financial services check (people.csv)`. */
export function planTitle(orders: number, orderedPackage: OrderedPackage | undefined, file?: string): string {
  const packageText = orderedPackage === undefined ? '' : ` of ${packageWithName(orderedPackage)}`
  return `${formatCount(orders, 'order')}${packageText}${file === undefined ? '' : ` (${file})`}`
}

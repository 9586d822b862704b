import { createHash } from 'node:crypto'

import type { OrderPlan } from '../approval/order-plan.ts'
import { type OrderedPackage, packageWithName } from '../submission/confirmation.ts'
import { formatCount } from '../wording/count-in-words.ts'

/** A plan as an agent receives it: nothing was ordered, and what a person types. */
export interface PlannedForAgent {
  ordered: false
  code: string
  /** What a person types in a terminal of their own. */
  approve_with: string
  expires_at: string
  base_url: string
  user_email: string
  package_id: number | null
  /** How many orders a yes would send. */
  orders: number
  /** What would be sent or what checking came to, as the command prints it. */
  review: unknown
}

export function plannedForAgent(
  { code, expires_at, base_url, user_email }: OrderPlan,
  { packageId, orders, review }: { packageId: number | null; orders: number; review: unknown },
): PlannedForAgent {
  return {
    ordered: false,
    code,
    approve_with: `refcheck approve ${code}`,
    expires_at,
    base_url,
    user_email,
    package_id: packageId,
    orders,
    review,
  }
}

/** How `batch plan` would keep these rows, were they a file: JSON that is read as it stands. */
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

import type { OrderPlan } from '../../domain/approval/order-plan.ts'
import type { WindowStanding } from '../../domain/quota/book.ts'
import { localTime } from '../../domain/wording/local-time.ts'
import { jsonText } from '../json.ts'
import { table } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import type { Column } from '../view.ts'
import { durationInWords } from '../duration.ts'

/** Said before the review of what an agent planned. */
export function plannedText({ code, made_at, expires_at, base_url, user_email, profile }: OrderPlan): string {
  const as = profile === null ? '' : ` (profile "${profile}")`
  return [
    `Plan ${code}, prepared by an agent on ${localTime(made_at)}, valid until ${localTime(expires_at)}.`,
    `It is for ${base_url} as ${user_email}${as}.`,
  ].join('\n')
}

/** What one order takes of the quota. */
export function orderCostText(windows: readonly WindowStanding[]): string {
  const left = windows.map((each) => `${each.left} of ${each.calls} in ${durationInWords(each.seconds)}`)
  return `It uses 1 call of the quota. Left: ${left.join(', ')}`
}

type PlannedPerson = Readonly<Record<string, unknown>>

const recipientOf = (person: PlannedPerson): PlannedPerson => (person['recipient'] ?? person) as PlannedPerson
const textOf = (value: unknown): string => (typeof value === 'string' ? value : jsonText(value ?? null))

const personColumns: Column<PlannedPerson>[] = [
  ...['first_name', 'last_name', 'email', 'phone'].map((name) => ({
    name,
    value: (person: PlannedPerson) => textOf(recipientOf(person)[name]),
  })),
  {
    name: 'additional_information',
    value: ({ additional_information: more }) => (more === undefined ? '-' : jsonText(more)),
  },
]

/** Everybody whom an agent planned without a file, which nobody could look at: JSON of the rows. */
export function plannedPeopleText(rows: string, terminal: Terminal): string {
  return table(JSON.parse(rows) as PlannedPerson[], personColumns, terminal)
}

import type { AdditionalInformation, FieldValue } from '../../contract/request-body.ts'
import { answerInWords } from '../../domain/form/review.ts'
import { shownName } from '../../domain/wording/shown-name.ts'
import { isName } from './order.ts'
import type { OrderPlan } from '../../domain/approval/order-plan.ts'
import type { WindowStanding } from '../../domain/quota/book.ts'
import { localTime } from '../../domain/wording/local-time.ts'
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

interface PlannedField {
  /** Which of the people, counted from 1. */
  person: number
  field: string
  value: FieldValue
}

const fieldColumns: Column<PlannedField>[] = [
  { name: 'person', value: (row) => row.person },
  { name: 'field', value: (row) => row.field },
  {
    name: 'answer',
    uncut: true,
    value: (row) => answerInWords(row.value),
    show: ({ field, value }) => {
      const text = answerInWords(value)
      return isName(field) ? shownName(text) : text
    },
  },
]

/** Everybody whom an agent planned without a file, which nobody could look at, field by field: JSON of the rows. */
export function plannedPeopleText(rows: string, terminal: Terminal): string {
  const people = JSON.parse(rows) as Record<string, FieldValue>[]
  const fields = people.flatMap((person, at) =>
    fieldsOf(person).map(([field, value]) => ({ person: at + 1, field, value })),
  )
  return table(fields, fieldColumns, terminal)
}

type NamedValue = [field: string, value: FieldValue]

function fieldsOf(person: Record<string, FieldValue>): NamedValue[] {
  return Object.entries(person).flatMap(([name, value]): NamedValue[] => {
    if (name === 'recipient') return Object.entries(value ?? {})
    if (name !== 'additional_information' || !Array.isArray(value)) return [[name, value]]
    return (value as unknown as AdditionalInformation[]).flatMap(({ code, fields }) =>
      Object.entries(fields).map(([field, answer]): NamedValue => [`${code}.${field}`, answer]),
    )
  })
}

import type { Pack } from './data.ts'
import { type Course, failsAt, type Knobs } from './knobs.ts'

/** A request that was accepted. */
export interface Order {
  id: string
  organisation: string
  pack: Pack
  createdAt: number
  requester: string
  recipient: Record<string, string>
  checkIds: string[]
  courses: Course[]
  fails: boolean
  /** Statuses that events were sent about. */
  announcedCount: number
}

const minute = 60_000

/** How a request goes, by the local part of its recipient's e-mail. */
export function coursesOf(email: string, count: number): { courses: Course[]; fails: boolean } {
  const fails = email.startsWith('fails')
  const endingOf = (position: number): Course['ending'] => {
    if (email.startsWith('declines')) return 'CANCELLED'
    return email.startsWith('mixed') && position === 0 ? 'CANCELLED' : 'COMPLETED'
  }
  const courses = Array.from({ length: count }, (_, position) => ({
    start: (3 + position) * minute,
    end: (12 + 9 * position) * minute,
    ending: endingOf(position),
  }))
  return { courses, fails }
}

export function checkStatus({ start, end, ending }: Course, age: number): string {
  if (age < start) return 'RECEIVED'
  return age < end ? 'IN_PROGRESS' : ending
}

export function statusAt(order: Order, age: number, knobs: Knobs): string {
  const checks = order.courses.map((course) => checkStatus(course, age))
  if (order.fails && age >= failsAt) return 'ERROR'
  return knobs.status(checks, age, order)
}

/** Ages at which something may change. */
export function turns(order: Order): number[] {
  const all = order.courses.flatMap(({ start, end }) => [start, end])
  return [...new Set([...all, ...(order.fails ? [failsAt] : [])])].sort((a, b) => a - b)
}

type Path = (string | number)[]
export interface Fault {
  path: Path
  reason: string
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What is wrong with a body whatever its package. */
export function formFaults(body: unknown, knobs: Knobs): Fault[] {
  if (!isObject(body)) return [{ path: ['body'], reason: 'is not a JSON object' }]
  const faults = unknown(body, ['package_id', 'recipient', 'additional_information'], [])
  if (!Number.isInteger(body['package_id']))
    faults.push({ path: ['package_id'], reason: 'is not an integer' })
  faults.push(...recipientFaults(body['recipient'], knobs))
  const information = body['additional_information'] ?? []
  if (!Array.isArray(information)) {
    return [...faults, { path: ['additional_information'], reason: 'is not an array' }]
  }
  return [...faults, ...information.flatMap((entry: unknown, at) => entryFaults(entry, at, information))]
}

function recipientFaults(recipient: unknown, knobs: Knobs): Fault[] {
  if (!isObject(recipient)) return [{ path: ['recipient'], reason: 'is not an object' }]
  const names = ['first_name', 'last_name', 'email', 'phone']
  const faults = unknown(recipient, names, ['recipient'])
  for (const name of names) {
    const value = recipient[name]
    const path = ['recipient', name]
    if (value === undefined) faults.push({ path, reason: 'is missing' })
    else if (typeof value !== 'string') faults.push({ path, reason: 'is not a text' })
    else if (name === 'email' && !knobs.emailOk(value)) faults.push({ path, reason: 'is no e-mail address' })
    else if (name === 'phone' && !knobs.phoneOk(value)) faults.push({ path, reason: 'is not E.164' })
  }
  return faults
}

function entryFaults(entry: unknown, at: number, all: unknown[]): Fault[] {
  const path: Path = ['additional_information', at]
  if (!isObject(entry)) return [{ path, reason: 'is not an object' }]
  const faults = unknown(entry, ['code', 'fields'], path)
  const { code, fields } = entry
  if (typeof code !== 'string') faults.push({ path: [...path, 'code'], reason: 'is not a text' })
  if (!isObject(fields)) faults.push({ path: [...path, 'fields'], reason: 'is not an object' })
  const earlier = all.slice(0, at).some((each) => isObject(each) && each['code'] === code)
  if (earlier) faults.push({ path: [...path, 'code'], reason: 'was there before' })
  return faults
}

function unknown(value: Record<string, unknown>, known: string[], path: Path): Fault[] {
  return Object.keys(value)
    .filter((name) => !known.includes(name))
    .map((name) => ({ path: [...path, name], reason: 'is not known' }))
}

/** What is wrong with the information for this package. */
export function informationFaults(body: Record<string, unknown>, pack: Pack, knobs: Knobs): Fault[] {
  const given = (body['additional_information'] ?? []) as {
    code: string
    fields: Record<string, unknown>
  }[]
  const faults: Fault[] = []
  for (const [at, { code }] of given.entries()) {
    if (!pack.information.some((each) => each.code === code)) {
      faults.push({ path: ['additional_information', at, 'code'], reason: `${code} is not asked for` })
    }
  }
  for (const { code, fields } of pack.information) {
    const at = given.findIndex((each) => each.code === code)
    const needed = Object.values(fields).some(knobs.required)
    if (at === -1) {
      if (needed) faults.push({ path: ['additional_information'], reason: `lacks the entry ${code}` })
      continue
    }
    const values = given[at]?.fields ?? {}
    const path: Path = ['additional_information', at, 'fields']
    for (const [name, field] of Object.entries(fields)) {
      const value = values[name]
      if (value === undefined) {
        if (knobs.required(field)) faults.push({ path: [...path, name], reason: 'must be supplied' })
      } else if (!knobs.fits(field.type, value)) {
        faults.push({ path: [...path, name], reason: `must be of type ${field.type}` })
      }
    }
    faults.push(...unknown(values, Object.keys(fields), path))
  }
  return faults
}

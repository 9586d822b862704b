import type { Package } from './data.ts'
import { type CheckCourse, failureAgeMs, type Behaviour } from './behaviour.ts'

/** A request that was accepted. */
export interface Order {
  id: string
  organisation: string
  package: Package
  createdAt: number
  requester: string
  recipient: Record<string, string>
  /** One id and one course for each check, in the same order. */
  checkIds: string[]
  courses: CheckCourse[]
  /** Whether the request gets the status ERROR at the age `failureAgeMs`. */
  isFailing: boolean
  /** The number of statuses for which events were sent. */
  announcedCount: number
}

const minute = 60_000

/** Returns the course of each check of a request. It depends on the local part of the recipient's e-mail. */
export function createCheckCourses(
  email: string,
  count: number,
): { courses: CheckCourse[]; isFailing: boolean } {
  const isFailing = email.startsWith('fails')
  const endingOf = (position: number): CheckCourse['ending'] => {
    if (email.startsWith('declines')) return 'CANCELLED'
    return email.startsWith('mixed') && position === 0 ? 'CANCELLED' : 'COMPLETED'
  }
  const courses = Array.from({ length: count }, (_, position) => ({
    start: (3 + position) * minute,
    end: (12 + 9 * position) * minute,
    ending: endingOf(position),
  }))
  return { courses, isFailing }
}

export function checkStatusAt({ start, end, ending }: CheckCourse, age: number): string {
  if (age < start) return 'RECEIVED'
  return age < end ? 'IN_PROGRESS' : ending
}

export function requestStatusAt(order: Order, age: number, behaviour: Behaviour): string {
  const checks = order.courses.map((course) => checkStatusAt(course, age))
  if (order.isFailing && age >= failureAgeMs) return 'ERROR'
  return behaviour.requestStatus(checks, age, order)
}

/** Returns the ages at which the status of the request or of a check may change. */
export function listChangeAges(order: Order): number[] {
  const changeAges = order.courses.flatMap(({ start, end }) => [start, end])
  return [...new Set([...changeAges, ...(order.isFailing ? [failureAgeMs] : [])])].sort((a, b) => a - b)
}

type Path = (string | number)[]
export interface Fault {
  path: Path
  reason: string
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the faults of a body that do not depend on its package. */
export function findFormFaults(body: unknown, behaviour: Behaviour): Fault[] {
  if (!isObject(body)) return [{ path: ['body'], reason: 'is not a JSON object' }]
  const faults = findUnknownFields(body, ['package_id', 'recipient', 'additional_information'], [])
  if (!Number.isInteger(body['package_id']))
    faults.push({ path: ['package_id'], reason: 'is not an integer' })
  faults.push(...findRecipientFaults(body['recipient'], behaviour))
  const information = body['additional_information'] ?? []
  if (!Array.isArray(information)) {
    return [...faults, { path: ['additional_information'], reason: 'is not an array' }]
  }
  return [
    ...faults,
    ...information.flatMap((entry: unknown, index) => findEntryFaults(entry, index, information)),
  ]
}

function findRecipientFaults(recipient: unknown, behaviour: Behaviour): Fault[] {
  if (!isObject(recipient)) return [{ path: ['recipient'], reason: 'is not an object' }]
  const names = ['first_name', 'last_name', 'email', 'phone']
  const faults = findUnknownFields(recipient, names, ['recipient'])
  for (const name of names) {
    const value = recipient[name]
    const path = ['recipient', name]
    if (value === undefined) faults.push({ path, reason: 'is missing' })
    else if (typeof value !== 'string') faults.push({ path, reason: 'is not a text' })
    else if (name === 'email' && !behaviour.isValidEmail(value))
      faults.push({ path, reason: 'is no e-mail address' })
    else if (name === 'phone' && !behaviour.isValidPhone(value)) faults.push({ path, reason: 'is not E.164' })
  }
  return faults
}

function findEntryFaults(entry: unknown, index: number, all: unknown[]): Fault[] {
  const path: Path = ['additional_information', index]
  if (!isObject(entry)) return [{ path, reason: 'is not an object' }]
  const faults = findUnknownFields(entry, ['code', 'fields'], path)
  const { code, fields } = entry
  if (typeof code !== 'string') faults.push({ path: [...path, 'code'], reason: 'is not a text' })
  if (!isObject(fields)) faults.push({ path: [...path, 'fields'], reason: 'is not an object' })
  const isRepeated = all.slice(0, index).some((each) => isObject(each) && each['code'] === code)
  if (isRepeated) faults.push({ path: [...path, 'code'], reason: 'was there before' })
  return faults
}

function findUnknownFields(value: Record<string, unknown>, knownNames: string[], path: Path): Fault[] {
  return Object.keys(value)
    .filter((name) => !knownNames.includes(name))
    .map((name) => ({ path: [...path, name], reason: 'is not known' }))
}

/** Returns the faults of the additional information for this package. */
export function findInformationFaults(
  body: Record<string, unknown>,
  pack: Package,
  behaviour: Behaviour,
): Fault[] {
  const entries = (body['additional_information'] ?? []) as {
    code: string
    fields: Record<string, unknown>
  }[]
  const faults: Fault[] = []
  for (const [index, { code }] of entries.entries()) {
    if (!pack.information.some((each) => each.code === code)) {
      faults.push({ path: ['additional_information', index, 'code'], reason: `${code} is not asked for` })
    }
  }
  for (const { code, fields } of pack.information) {
    const index = entries.findIndex((each) => each.code === code)
    const isNeeded = Object.values(fields).some(behaviour.isRequired)
    if (index === -1) {
      if (isNeeded) faults.push({ path: ['additional_information'], reason: `lacks the entry ${code}` })
      continue
    }
    const values = entries[index]?.fields ?? {}
    const path: Path = ['additional_information', index, 'fields']
    for (const [name, field] of Object.entries(fields)) {
      const value = values[name]
      if (value === undefined) {
        if (behaviour.isRequired(field)) faults.push({ path: [...path, name], reason: 'must be supplied' })
      } else if (!behaviour.isOfType(field.type, value)) {
        faults.push({ path: [...path, name], reason: `must be of type ${field.type}` })
      }
    }
    faults.push(...findUnknownFields(values, Object.keys(fields), path))
  }
  return faults
}

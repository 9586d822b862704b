import type { Package } from './data.ts'

type Item = Record<string, unknown>

const isObject = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isOfType: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  array: (value) => Array.isArray(value),
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  object: isObject,
}

/**
 * Returns the first fault of an order as `<path>: <reason>`, or undefined. Unknown fields are ignored outside the
 * additional information.
 */
export function findFault(
  body: unknown,
  pack: Package | undefined,
  ignoredFaults?: RegExp,
): string | undefined {
  if (!isObject(body)) return 'body: that is no JSON object'
  const faults = [
    ...findRecipientFaults(body),
    ...findPackageFaults(body, pack),
    ...findInformationFaults(body, pack),
  ]
  return faults.find((fault) => ignoredFaults?.test(fault) !== true)
}

function findPackageFaults({ package_id: id }: Item, pack: Package | undefined): string[] {
  if (!Number.isInteger(id)) return ['body: package_id has to be an integer']
  return pack?.status === 'INACTIVE' ? ['body.package_id: it is not active'] : []
}

function findRecipientFaults({ recipient }: Item): string[] {
  if (!isObject(recipient)) return ['body: recipient has to be an object']
  const faults = ['first_name', 'last_name', 'email', 'phone']
    .filter((name) => {
      const value = recipient[name]
      return typeof value !== 'string' || value.trim() === ''
    })
    .map((name) => `body.recipient.${name}: a text is needed`)
  if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(String(recipient['email']))) {
    faults.push('body.recipient.email: that is no address')
  }
  if (!/^\+[1-9]\d{3,14}$/.test(String(recipient['phone']))) {
    faults.push('body.recipient.phone: a + and at most 15 digits')
  }
  return faults
}

function findInformationFaults(
  { additional_information: list = [] }: Item,
  pack: Package | undefined,
): string[] {
  if (!Array.isArray(list)) return ['body: additional_information has to be a list']
  const needs = pack?.fieldsByCheck ?? {}
  const faults: string[] = []
  const codes = new Set<unknown>()
  for (const [index, entry] of list.entries()) {
    const path = `body.additional_information.${index}`
    if (!isObject(entry)) {
      faults.push(`${path}: that is no object`)
      continue
    }
    const { code, fields } = entry
    const fieldTypes = typeof code === 'string' && Object.hasOwn(needs, code) ? needs[code] : undefined
    if (fieldTypes === undefined) faults.push(`${path}.code: this package has no such check`)
    if (codes.has(code)) faults.push(`${path}.code: it was there before`)
    codes.add(code)
    if (!isObject(fields)) faults.push(`${path}.fields: an object is needed`)
    else if (fieldTypes !== undefined) faults.push(...findFieldFaults(`${path}.fields`, fields, fieldTypes))
  }
  const missing = Object.keys(needs).filter((code) => !codes.has(code))
  return [...faults, ...missing.map((code) => `body.additional_information: it lacks ${code}`)]
}

function findFieldFaults(path: string, fields: Item, fieldTypes: Record<string, string>): string[] {
  const expectedFields = new Map(
    Object.entries(fieldTypes).map(([name, type]) => [name.replace('?', ''), { name, type }]),
  )
  const unknown = Object.keys(fields).filter((name) => !expectedFields.has(name))
  return [
    ...unknown.map((name) => `${path}.${name}: there is no such field`),
    ...[...expectedFields].flatMap(([fieldName, { name, type }]) => {
      if (!Object.hasOwn(fields, fieldName))
        return name.endsWith('?') ? [] : [`${path}.${fieldName}: it is required`]
      return isOfType[type]?.(fields[fieldName]) === true
        ? []
        : [`${path}.${fieldName}: it has to be ${type}`]
    }),
  ]
}

import type { Pack } from './data.ts'

type Item = Record<string, unknown>

const isObject = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const fits: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  array: (value) => Array.isArray(value),
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  object: isObject,
}

/** What is wrong with an order, as `<path>: <reason>`; undefined where nothing is. Unknown fields are ignored outside the information. */
export function faultOf(given: unknown, pack: Pack | undefined, overlooks?: RegExp): string | undefined {
  if (!isObject(given)) return 'body: that is no JSON object'
  const all = [...recipientFaults(given), ...packageFaults(given, pack), ...informationFaults(given, pack)]
  return all.find((fault) => overlooks?.test(fault) !== true)
}

function packageFaults({ package_id: id }: Item, pack: Pack | undefined): string[] {
  if (!Number.isInteger(id)) return ['body: package_id has to be an integer']
  return pack?.status === 'INACTIVE' ? ['body.package_id: it is not active'] : []
}

function recipientFaults({ recipient }: Item): string[] {
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

function informationFaults({ additional_information: list = [] }: Item, pack: Pack | undefined): string[] {
  if (!Array.isArray(list)) return ['body: additional_information has to be a list']
  const needs = pack?.needs ?? {}
  const faults: string[] = []
  const codes = new Set<unknown>()
  for (const [at, entry] of list.entries()) {
    const path = `body.additional_information.${at}`
    if (!isObject(entry)) {
      faults.push(`${path}: that is no object`)
      continue
    }
    const { code, fields } = entry
    const known = typeof code === 'string' && Object.hasOwn(needs, code) ? needs[code] : undefined
    if (known === undefined) faults.push(`${path}.code: this package has no such check`)
    if (codes.has(code)) faults.push(`${path}.code: it was there before`)
    codes.add(code)
    if (!isObject(fields)) faults.push(`${path}.fields: an object is needed`)
    else if (known !== undefined) faults.push(...fieldFaults(`${path}.fields`, fields, known))
  }
  const missing = Object.keys(needs).filter((code) => !codes.has(code))
  return [...faults, ...missing.map((code) => `body.additional_information: it lacks ${code}`)]
}

function fieldFaults(path: string, fields: Item, known: Record<string, string>): string[] {
  const wanted = new Map(Object.entries(known).map(([name, type]) => [name.replace('?', ''), { name, type }]))
  const unknown = Object.keys(fields).filter((name) => !wanted.has(name))
  return [
    ...unknown.map((name) => `${path}.${name}: there is no such field`),
    ...[...wanted].flatMap(([plain, { name, type }]) => {
      if (!Object.hasOwn(fields, plain)) return name.endsWith('?') ? [] : [`${path}.${plain}: it is required`]
      return fits[type]?.(fields[plain]) === true ? [] : [`${path}.${plain}: it has to be ${type}`]
    }),
  ]
}

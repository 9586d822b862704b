import { advise } from './case.ts'
import { isJsonObject } from '../contract/parse-json.ts'
import { formatValue } from './answer.ts'

/*
 * Checks of JSON against the tables in the section "Resources and their fields" of the API document. They do not use
 * src/contract, so that a mistake there is not repeated here.
 */

/** Returns findings about a value. `where` names the value in the findings. */
export type Shape = (value: unknown, where: string) => string[]

/** Returns the finding that a value is not what the document requires. */
const mismatchFindings = (expectation: string, value: unknown, where: string): string[] => [
  `${where}: expected ${expectation}, got ${formatValue(value)}`,
]

const createShape =
  (expectation: string, isMet: (value: unknown) => boolean): Shape =>
  (value, where) =>
    isMet(value) ? [] : mismatchFindings(expectation, value, where)

export const text = createShape('a string', (value) => typeof value === 'string')
export const integer = createShape('an integer', (value) => Number.isInteger(value))
export const boolean = createShape('true or false', (value) => typeof value === 'boolean')

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const uuid = createShape('a UUID', (value) => typeof value === 'string' && uuidPattern.test(value))

const timestampPattern = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?$/
/** Start of a timestamp in the basic format of ISO 8601, which has no separators. */
const basicFormatPattern = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(?=\d\d|Z|[+-]|$)/
export const timestamp = createShape('an ISO 8601 timestamp', (value) => {
  const extendedFormat = String(value)
    .replace(basicFormatPattern, '$1-$2-$3T$4:$5')
    .replace(/(?<=T\d\d:\d\d)(\d\d)/, ':$1')
  const date = typeof value === 'string' ? timestampPattern.exec(extendedFormat)?.[1] : undefined
  if (date === undefined) return false
  const parsableText = extendedFormat.replace(',', '.').replace(/(?<=:.*)([+-]\d\d)$/, '$1:00')
  if (!Number.isFinite(Date.parse(parsableText))) return false
  // Date parses 30 February as 2 March, so the day is compared.
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date)
})

export const oneOf = (...words: string[]): Shape =>
  createShape(`one of ${words.join(', ')}`, (value) => typeof value === 'string' && words.includes(value))

export const nullable =
  (shape: Shape): Shape =>
  (value, where) =>
    value === null ? [] : shape(value, where).map((line) => line.replace(', got', ' or null, got'))

export const arrayOf =
  (shape: Shape): Shape =>
  (value, where) =>
    Array.isArray(value)
      ? value.flatMap((entry, index) => shape(entry, `${where}[${index}]`))
      : mismatchFindings('an array', value, where)

/** Returns a shape of objects with any names. All values must have the shape. */
export const mapOf =
  (shape: Shape): Shape =>
  (value, where) =>
    isJsonObject(value)
      ? Object.entries(value).flatMap(([name, entry]) => shape(entry, `${where}.${name}`))
      : mismatchFindings('an object', value, where)

/**
 * Returns a shape of objects that have all of these fields. Other fields only give advice, because the
 * document does not exclude additions to version 1.
 */
export const object =
  (fields: Record<string, Shape>): Shape =>
  (value, where) => {
    if (!isJsonObject(value)) return mismatchFindings('an object', value, where)
    const prefix = where === '' ? '' : `${where}.`
    const fieldFindings = Object.entries(fields).flatMap(([name, shape]) =>
      Object.hasOwn(value, name) ? shape(value[name], prefix + name) : [`${prefix}${name} is missing`],
    )
    const unknownNames = Object.keys(value).filter((name) => !Object.hasOwn(fields, name))
    return [
      ...fieldFindings,
      ...unknownNames.map((name) => advise(`${prefix}${name} is not a field of the document`)),
    ]
  }

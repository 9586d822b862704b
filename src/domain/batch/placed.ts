import type { FieldValue } from '../../contract/request-body.ts'

/** Puts a value into a list or an object by its dotted name; undefined where it has no place. */
export function placed(
  into: FieldValue | undefined,
  list: boolean,
  [first = '', ...rest]: readonly string[],
  value: FieldValue,
): FieldValue | undefined {
  if (list) {
    // A number tells the order; empty cells leave no hole.
    if (!/^\d{1,4}$/.test(first) || rest.length > 0) return undefined
    const items = into ?? []
    return Array.isArray(items) ? [...items, value] : undefined
  }
  const object = into ?? (Object.create(null) as Record<string, FieldValue>)
  if (typeof object !== 'object' || object === null || Array.isArray(object)) return undefined
  const inner = rest.length === 0 ? value : placed(object[first], false, rest, value)
  if (inner === undefined || (rest.length === 0 && Object.hasOwn(object, first))) return undefined
  object[first] = inner
  return object
}

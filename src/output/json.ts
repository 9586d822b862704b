import { hiddenInJson } from '../host/text.ts'

/** JSON that a terminal does not obey and that hides nothing: what JSON leaves as it is of that is escaped, and nothing is lost. */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent)
  return text.replace(hiddenInJson, (each) =>
    Array.from({ length: each.length }, (_, at) => escapeOf(each.charCodeAt(at))).join(''),
  )
}

const escapeOf = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`

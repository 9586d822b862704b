/** Deeper nesting is refused, so that nothing that walks a value by recursion can run out of stack. */
export const deepestNesting = 100

/** UTF-16 units; what is shorter costs little however it is nested. */
const harmlessLength = 100_000

/**
 * What JSON.parse makes of a text that others wrote. Throws SyntaxError for what is no JSON, and for nesting that
 * would take some hundred bytes of memory for each of its brackets.
 */
export function parseJson(text: string): unknown {
  if (text.length > harmlessLength && isNestedDeep(text)) {
    throw new SyntaxError(`is nested deeper than ${deepestNesting} levels`)
  }
  return JSON.parse(text) as unknown
}

/** The value of bytes that others sent; undefined where they are no JSON in UTF-8. */
export function parseJsonBytes(bytes: Uint8Array): unknown {
  const text = utf8Text(bytes)
  return text === undefined ? undefined : parsedOrUndefined(text)
}

/** The value of a text that others sent; undefined where it is no JSON. */
export function parsedOrUndefined(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** An object of JSON: neither null nor a list. */
export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value's own property; undefined where it has none of that name. */
export const propertyOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

/** An object for names that others chose. Without a prototype, `__proto__` is a name like any other. */
export function bareObject<T>(entries: Iterable<readonly [string, T]> = []): Record<string, T> {
  const object = Object.create(null) as Record<string, T>
  for (const [name, value] of entries) object[name] = value
  return object
}

/** Undefined where the bytes are no UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * Whether a JSON text holds more values than `max`, by its commas and opening brackets: parsing and checking them takes
 * far more memory than the text.
 */
export function hasMoreValues(text: Uint8Array, max: number): boolean {
  let count = 1
  let isWithinText = false
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at] ?? 0
    if (isWithinText) {
      if (byte === backslash) at += 1
      else if (byte === quote) isWithinText = false
    } else if (byte === quote) isWithinText = true
    else if ((byte === comma || (byte & ~kindBit) === opening) && (count += 1) > max) return true
  }
  return false
}

const comma = 0x2c
const quote = 0x22
const backslash = 0x5c
/** What is left of a bracket or brace of either kind without the bits in which they differ. */
const [opening, closing] = [0x5b, 0x5d]
const kindBit = 0x20

/** Quick rather than short: it goes over answers of 16 MiB, letter by letter. */
function isNestedDeep(text: string): boolean {
  let depth = 0
  let isWithinText = false
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    if (isWithinText) {
      if (unit === backslash) at += 1
      else if (unit === quote) isWithinText = false
    } else if (unit === quote) isWithinText = true
    else if ((unit & ~kindBit) === closing) depth -= 1
    else if ((unit & ~kindBit) === opening && (depth += 1) > deepestNesting) return true
  }
  return false
}

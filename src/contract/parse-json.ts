/** Deeper nesting is refused, so that no recursion over a parsed value exhausts the stack. */
export const maxNesting = 100

/** Length in UTF-16 units. Shorter texts need little memory at any nesting, so they are not checked. */
const minCheckedLength = 100_000

/**
 * Parses JSON from outside the program. Throws SyntaxError for invalid JSON, and for a long text that is nested deeper
 * than `maxNesting`, which would need some hundred bytes of memory for each bracket.
 */
export function parseJson(text: string): unknown {
  if (text.length > minCheckedLength && isNestedTooDeep(text)) {
    throw new SyntaxError(`is nested deeper than ${maxNesting} levels`)
  }
  return JSON.parse(text) as unknown
}

/** Parses JSON bytes from outside the program; undefined if they are not JSON in UTF-8. */
export function parseJsonBytes(bytes: Uint8Array): unknown {
  const text = utf8Text(bytes)
  return text === undefined ? undefined : parseJsonOrUndefined(text)
}

/** Parses a JSON text from outside the program; undefined if it is not JSON. */
export function parseJsonOrUndefined(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** Whether the value is a JSON object: neither null nor a list. */
export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns an own property of a value; undefined if the value has no property of that name. */
export const propertyOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

/** Creates an object without a prototype, so that `__proto__` is treated like any other name. */
export function bareObject<T>(entries: Iterable<readonly [string, T]> = []): Record<string, T> {
  const object = Object.create(null) as Record<string, T>
  for (const [name, value] of entries) object[name] = value
  return object
}

/** Returns undefined if the bytes are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * Whether a JSON text contains more than `max` values. It counts commas and opening brackets, because parsing and
 * checking the values takes far more memory than the text.
 */
export function hasMoreValues(text: Uint8Array, max: number): boolean {
  let count = 1
  let isWithinText = false
  for (let index = 0; index < text.length; index += 1) {
    const byte = text[index] ?? 0
    if (isWithinText) {
      if (byte === backslash) index += 1
      else if (byte === quote) isWithinText = false
    } else if (byte === quote) isWithinText = true
    else if ((byte === comma || (byte & ~kindBit) === opening) && (count += 1) > max) return true
  }
  return false
}

const comma = 0x2c
const quote = 0x22
const backslash = 0x5c
/** [ and { differ in one bit, and so do ] and }. These are their codes without that bit. */
const [opening, closing] = [0x5b, 0x5d]
const kindBit = 0x20

/** Optimised for speed: it reads every character of responses of up to 16 MiB. */
function isNestedTooDeep(text: string): boolean {
  let depth = 0
  let isWithinText = false
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (isWithinText) {
      if (unit === backslash) index += 1
      else if (unit === quote) isWithinText = false
    } else if (unit === quote) isWithinText = true
    else if ((unit & ~kindBit) === closing) depth -= 1
    else if ((unit & ~kindBit) === opening && (depth += 1) > maxNesting) return true
  }
  return false
}

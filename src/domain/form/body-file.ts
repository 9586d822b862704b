import { isUtf8 } from 'node:buffer'

import { InvalidInputError } from '../../errors/kinds.ts'
import { positionOf, readJson } from './json-text.ts'

const byteOrderMark = '\uFEFF'

/**
 * The JSON of a body file, as it is: unchecked against any schema. Throws an InvalidInputError that says
 * where (line, column and byte, from 1; a byte offset from 0 where there are no lines to speak of).
 */
export function parseBodyFile(bytes: Uint8Array, name = 'the body'): unknown {
  const text = decode(bytes, name)
  const { value, fault } = readJson(text)
  if (fault === undefined) return value
  if (text.trim() === '') throw unreadable(`${name} is empty`)
  const { line, column } = positionOf(text, fault.offset)
  const where = `line ${String(line)}, column ${String(column)} (byte ${String(byteAt(bytes, text, fault.offset))})`
  throw new InvalidInputError(`${name}, ${where}: ${fault.reason}`, {
    hint: 'Correct the file there. It has to be one JSON object, described by: refcheck schema show ID --json-schema',
  })
}

/** Offset from 0, in the file as it lies on disk, of a character of its text. */
function byteAt(bytes: Uint8Array, text: string, offset: number): number {
  const mark = Buffer.byteLength(text) < bytes.length ? Buffer.byteLength(byteOrderMark) : 0
  return mark + Buffer.byteLength(text.slice(0, offset))
}

function decode(bytes: Uint8Array, name: string): string {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    throw unreadable(`${name} is in UTF-16 (byte 0)`)
  }
  const nul = bytes.indexOf(0)
  if (nul !== -1) throw unreadable(`${name} contains a NUL character (byte ${String(nul)})`)
  const bad = firstBadByte(bytes)
  if (bad !== undefined) throw unreadable(`${name} is not valid UTF-8 (byte ${String(bad)})`)
  return new TextDecoder().decode(bytes)
}

function unreadable(message: string): InvalidInputError {
  return new InvalidInputError(message, { hint: 'Save it as JSON in UTF-8.' })
}

/** Offset of the first byte of the first sequence that is not UTF-8 (RFC 3629); undefined where all is. */
export function firstBadByte(bytes: Uint8Array): number | undefined {
  if (isUtf8(bytes)) return undefined
  // The longest prefix that can still go on well; what breaks it may have begun up to three bytes before.
  let [good, bad] = [0, bytes.length + 1]
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (canGoOn(bytes.subarray(0, middle))) good = middle
    else bad = middle
  }
  while (!isUtf8(bytes.subarray(0, good))) good -= 1
  return good
}

function canGoOn(prefix: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(prefix, { stream: true })
    return true
  } catch {
    return false
  }
}

import { isUtf8 } from 'node:buffer'

import { maxNesting } from '../../contract/parse-json.ts'
import type { FieldValue } from '../../contract/request.ts'
import { InvalidInputError } from '../../errors/kinds.ts'

/** The reason why refcheck does not accept a JSON text, and the position. */
interface JsonFault {
  reason: string
  /** Offset from the start of the text, in UTF-16 units. */
  offset: number
}

type JsonReading = { value: FieldValue; fault?: undefined } | { fault: JsonFault; value?: undefined }

/**
 * Parses JSON (RFC 8259) and refuses three cases that JSON.parse accepts: a name that occurs twice in an object, a
 * number that would be sent differently (digits lost, or infinite), and brackets nested deeper than `maxNesting`, which
 * also limits the recursion here. JSON.parse makes the value, and `findFault` finds the faults in one pass.
 */
export function readJson(text: string): JsonReading {
  const fault = findFault(text)
  return fault === undefined ? { value: JSON.parse(text) as FieldValue } : { fault }
}

/** Returns the line and column of an offset. Both count from 1; columns are in characters. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/)
  return { line: before.length, column: Array.from(before.at(-1) ?? '').length + 1 }
}

/** Matches whole numbers that JavaScript represents exactly. */
const shortInteger = /^-?\d{1,15}$/

/**
 * Whether a number is sent as the same number: it is finite, and a whole number is represented exactly. (2^70 is exact
 * although it is written as 1.18…e+21.)
 */
export function keepsDigits(source: string): boolean {
  if (shortInteger.test(source)) return true
  const value = Number(source)
  if (!Number.isFinite(value)) return false
  if (!/^-?\d+$/.test(source) || String(value) === source) return true
  return BigInt(value) === BigInt(source)
}

class Fault extends Error {
  readonly fault: JsonFault
  constructor(reason: string, offset: number) {
    super(reason)
    this.fault = { reason, offset }
  }
}

function findFault(text: string): JsonFault | undefined {
  try {
    new Scanner(text).run()
    return undefined
  } catch (error) {
    if (error instanceof Fault) return error.fault
    throw error
  }
}

const whiteSpace = /[ \t\n\r]*/y
const literal = /true|false|null/y
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** Moves over a JSON text, with a method for each kind of value. Throws a Fault. */
class Scanner {
  readonly #text: string
  #offset = 0

  constructor(text: string) {
    this.#text = text
  }

  run(): void {
    this.#scanValue(0)
    this.#match(whiteSpace)
    if (this.#offset < this.#text.length) throw this.#unexpected('nothing more')
  }

  /** Moves past white space and returns the next character. */
  #next(): string {
    this.#match(whiteSpace)
    if (this.#offset < this.#text.length) return this.#text.charAt(this.#offset)
    throw new Fault(this.#text.trim() === '' ? 'is empty' : 'ends before it is complete', this.#offset)
  }

  /** `depth`: the number of open brackets. */
  #scanValue(depth: number): void {
    const character = this.#next()
    if (character === '"') return void this.#scanString()
    if (character !== '{' && character !== '[')
      return this.#match(literal) === '' ? this.#scanNumber() : undefined
    if (depth === maxNesting) throw new Fault(`is nested deeper than ${maxNesting} levels`, this.#offset)
    const [end, names] = character === '{' ? ['}', new Map<string, number>()] : [']', undefined]
    this.#offset += 1
    for (let isFirst = true; !isFirst || this.#next() !== end; isFirst = false) {
      if (names !== undefined) this.#scanName(names)
      this.#scanValue(depth + 1)
      const separator = this.#next()
      if (separator === end) break
      if (separator !== ',') throw this.#unexpected(`a comma or ${end}`)
      this.#offset += 1
    }
    this.#offset += 1
  }

  /** Moves past a name and its colon. `names`: the offsets of the names before it. */
  #scanName(names: Map<string, number>): void {
    if (this.#next() !== '"') throw this.#unexpected('a name in double quotes')
    const start = this.#offset
    const name = JSON.parse(this.#scanString()) as string
    const first = names.get(name)
    if (first !== undefined) {
      const { line, column } = lineAndColumn(this.#text, first)
      throw new Fault(`"${name}" is given twice (first at line ${line}, column ${column})`, start)
    }
    names.set(name, start)
    if (this.#next() !== ':') throw this.#unexpected('a colon after the name')
    this.#offset += 1
  }

  /** Moves past a string and returns its source. */
  #scanString(): string {
    const start = this.#offset
    for (let offset = start + 1; offset < this.#text.length; offset += 1) {
      const character = this.#text.charAt(offset)
      if (character === '"') {
        this.#offset = offset + 1
        return this.#text.slice(start, this.#offset)
      }
      if (character < ' ') throw new Fault('has a line break or control character inside a string', offset)
      if (character === '\\') offset += this.#escapeLength(offset + 1)
    }
    throw new Fault('has a string without a closing quote', start)
  }

  /** Returns the length of an escape without its backslash. `offset` is that of the character after the backslash. */
  #escapeLength(offset: number): number {
    if (/^["\\/bfnrt]$/.test(this.#text.charAt(offset))) return 1
    if (/^u[\dA-Fa-f]{4}$/.test(this.#text.slice(offset, offset + 5))) return 5
    throw new Fault('has a backslash that JSON does not allow', offset - 1)
  }

  #scanNumber(): void {
    const start = this.#offset
    const source = this.#match(number)
    if (source === '') throw this.#unexpected('a value')
    if (!keepsDigits(source)) {
      throw new Fault('has a number too large to be sent exactly; give it as a string', start)
    }
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#offset
    const match = pattern.exec(this.#text)?.[0] ?? ''
    this.#offset += match.length
    return match
  }

  #unexpected(expected: string): Fault {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#offset) ?? 0)
    return new Fault(`has ${JSON.stringify(character)} where ${expected} is expected`, this.#offset)
  }
}

const byteOrderMark = '\uFEFF'

/**
 * Parses the JSON of a body file without checking it against a schema. Throws InvalidInputError with the position:
 * line and column from 1, and the byte from 0.
 */
export function parseBodyFile(bytes: Uint8Array, name = 'the body'): unknown {
  const text = decode(bytes, name)
  const { value, fault } = readJson(text)
  if (fault === undefined) return value
  if (text.trim() === '') throw unreadableError(`${name} is empty`)
  const { line, column } = lineAndColumn(text, fault.offset)
  const position = `line ${line}, column ${column} (byte ${byteAt(bytes, text, fault.offset)})`
  throw new InvalidInputError(`${name}, ${position}: ${fault.reason}`, {
    hint: 'Correct the file there. It has to be one JSON object, described by: refcheck schema show ID --json-schema',
  })
}

/** Returns the byte offset in the file, from 0, of a character of its text. */
function byteAt(bytes: Uint8Array, text: string, offset: number): number {
  const mark = Buffer.byteLength(text) < bytes.length ? Buffer.byteLength(byteOrderMark) : 0
  return mark + Buffer.byteLength(text.slice(0, offset))
}

function decode(bytes: Uint8Array, name: string): string {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    throw unreadableError(`${name} is in UTF-16 (byte 0)`)
  }
  const nul = bytes.indexOf(0)
  if (nul !== -1) throw unreadableError(`${name} contains a NUL character (byte ${nul})`)
  const badOffset = findInvalidByte(bytes)
  if (badOffset !== undefined) throw unreadableError(`${name} is not valid UTF-8 (byte ${badOffset})`)
  return new TextDecoder().decode(bytes)
}

function unreadableError(message: string): InvalidInputError {
  return new InvalidInputError(message, { hint: 'Save it as JSON in UTF-8.' })
}

const replacementCharacter = '\uFFFD'
const replacementLength = Buffer.byteLength(replacementCharacter)

/** Returns the offset of the first byte sequence that is not UTF-8 (RFC 3629); undefined if all bytes are valid. */
export function findInvalidByte(bytes: Uint8Array): number | undefined {
  if (isUtf8(bytes)) return undefined
  // The decoder writes a replacement character for each invalid sequence. The bytes may contain the same character.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  let offset = 0
  for (const validText of text.split(replacementCharacter)) {
    offset += Buffer.byteLength(validText)
    if (!isUtf8(bytes.subarray(offset, offset + replacementLength))) break
    offset += replacementLength
  }
  return offset
}

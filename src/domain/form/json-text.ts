import { isUtf8 } from 'node:buffer'

import { maxNesting } from '../../contract/parse-json.ts'
import type { FieldValue } from '../../contract/request.ts'
import { InvalidInputError } from '../../errors/kinds.ts'

/** Where and why a text is not the JSON this program takes. */
interface JsonFault {
  reason: string
  /** In UTF-16 units from the start of the text. */
  offset: number
}

type JsonReading = { value: FieldValue; fault?: undefined } | { fault: JsonFault; value?: undefined }

/**
 * RFC 8259, and stricter where a parser keeps silent: a name twice in one object is refused (JSON.parse
 * takes the last), so is a number that would not be sent as it is written (digits lost, or infinite).
 * JSON.parse makes the value, this finds what it hides and where. One pass, no recursion.
 */
export function readJson(text: string): JsonReading {
  const fault = findFault(text)
  return fault === undefined ? { value: JSON.parse(text) as FieldValue } : { fault }
}

/** Line and column (both from 1, columns in characters) of an offset. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/)
  return { line: before.length, column: Array.from(before.at(-1) ?? '').length + 1 }
}

/** A whole number that nothing can happen to. */
const short = /^-?\d{1,15}$/

/**
 * Whether a number written so goes out again as the same number: finite, and a whole one either written back
 * digit by digit or held exactly. (2^70 in full is held exactly and written as 1.18…e+21; both say the same.)
 */
export function keepsDigits(source: string): boolean {
  if (short.test(source)) return true
  const value = Number(source)
  if (!Number.isFinite(value)) return false
  if (!/^-?\d+$/.test(source) || String(value) === source) return true
  return BigInt(value) === BigInt(source)
}

/** What may stand next. */
type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | 'colon' | 'comma or end'

class Fault extends Error {
  readonly at: JsonFault
  constructor(reason: string, offset: number) {
    super(reason)
    this.at = { reason, offset }
  }
}

function findFault(text: string): JsonFault | undefined {
  try {
    new Walk(text).run()
    return undefined
  } catch (error) {
    if (error instanceof Fault) return error.at
    throw error
  }
}

const white = /[ \t\n\r]*/y
const literal = /true|false|null/y
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

class Walk {
  readonly #text: string
  #at = 0
  #expected: Expected = 'value'
  /** One entry an open bracket: the offset of each name of an object so far, or undefined for an array. */
  readonly #open: (Map<string, number> | undefined)[] = []

  constructor(text: string) {
    this.#text = text
  }

  run(): void {
    for (;;) {
      this.#match(white)
      const character = this.#text[this.#at]
      if (character === undefined) break
      this.#step(character)
    }
    if (this.#expected !== 'comma or end' || this.#open.length > 0) {
      throw new Fault(this.#text.trim() === '' ? 'is empty' : 'ends before it is complete', this.#at)
    }
  }

  #step(character: string): void {
    switch (this.#expected) {
      case 'name':
      case 'name or }':
        if (character === '}' && this.#expected === 'name or }') return this.#close()
        if (character !== '"') throw this.#unexpected('a name in double quotes')
        return this.#name()
      case 'colon':
        if (character !== ':') throw this.#unexpected('a colon after the name')
        this.#at += 1
        this.#expected = 'value'
        return
      case 'comma or end':
        return this.#afterValue(character)
      case 'value or ]':
        if (character === ']') return this.#close()
        return this.#value(character)
      case 'value':
        return this.#value(character)
    }
  }

  #afterValue(character: string): void {
    if (this.#open.length === 0) throw this.#unexpected('nothing more')
    const names = this.#open.at(-1)
    if (character === (names === undefined ? ']' : '}')) return this.#close()
    if (character !== ',') throw this.#unexpected(names === undefined ? 'a comma or ]' : 'a comma or }')
    this.#at += 1
    this.#expected = names === undefined ? 'value' : 'name'
  }

  #value(character: string): void {
    if (character === '{' || character === '[') {
      if (this.#open.length === maxNesting) {
        throw new Fault(`is nested deeper than ${maxNesting} levels`, this.#at)
      }
      this.#open.push(character === '{' ? new Map() : undefined)
      this.#at += 1
      this.#expected = character === '{' ? 'name or }' : 'value or ]'
      return
    }
    if (character === '"') this.#string()
    else if (this.#match(literal) === '') this.#number()
    this.#expected = 'comma or end'
  }

  #close(): void {
    this.#open.pop()
    this.#at += 1
    this.#expected = 'comma or end'
  }

  #name(): void {
    const start = this.#at
    const name = JSON.parse(this.#string()) as string
    const names = this.#open.at(-1)
    const first = names?.get(name)
    if (first !== undefined) {
      const { line, column } = lineAndColumn(this.#text, first)
      throw new Fault(`"${name}" is given twice (first at line ${line}, column ${column})`, start)
    }
    names?.set(name, start)
    this.#expected = 'colon'
  }

  /** Moves past a string and returns its source. */
  #string(): string {
    const start = this.#at
    for (let at = start + 1; at < this.#text.length; at += 1) {
      const character = this.#text.charAt(at)
      if (character === '"') {
        this.#at = at + 1
        return this.#text.slice(start, this.#at)
      }
      if (character < ' ') throw new Fault('has a line break or control character inside a string', at)
      if (character === '\\') at += this.#escape(at + 1)
    }
    throw new Fault('has a string without a closing quote', start)
  }

  /** Length of the escape whose first character after the backslash is at `at`. */
  #escape(at: number): number {
    if ('"\\/bfnrt'.includes(this.#text.charAt(at)) && at < this.#text.length) return 1
    if (/^u[\dA-Fa-f]{4}$/.test(this.#text.slice(at, at + 5))) return 5
    throw new Fault('has a backslash that JSON does not allow', at - 1)
  }

  #number(): void {
    const start = this.#at
    const source = this.#match(number)
    if (source === '') throw this.#unexpected('a value')
    if (!keepsDigits(source)) {
      throw new Fault('has a number too large to be sent exactly; give it as a string', start)
    }
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? ''
    this.#at += found.length
    return found
  }

  #unexpected(expected: string): Fault {
    const found = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0)
    return new Fault(`has ${JSON.stringify(found)} where ${expected} is expected`, this.#at)
  }
}

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
  const { line, column } = lineAndColumn(text, fault.offset)
  const where = `line ${line}, column ${column} (byte ${byteAt(bytes, text, fault.offset)})`
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
  if (nul !== -1) throw unreadable(`${name} contains a NUL character (byte ${nul})`)
  const bad = firstBadByte(bytes)
  if (bad !== undefined) throw unreadable(`${name} is not valid UTF-8 (byte ${bad})`)
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

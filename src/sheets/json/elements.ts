import { limits } from '../limits.ts'
import { refusal } from '../refusal.ts'

/** The text of one JSON object of a file, and the line it begins on. */
export interface Element {
  text: string
  line: number
}

/**
 * The objects of a JSON array, or of JSON Lines (RFC 8259 texts one after the other, a single one printed
 * over several lines among them), without reading what is in them. One pass, bounded by the longest.
 */
export async function* elements(
  chunks: AsyncIterable<Buffer>,
  array: boolean,
  name: string,
): AsyncGenerator<Element> {
  const scan = new Scan(array, name)
  const decoder = new TextDecoder()
  for await (const bytes of chunks) yield* scan.take(decoder.decode(bytes, { stream: true }))
  scan.finish()
}

type Expected = 'open' | 'first' | 'element' | 'comma' | 'nothing'

class Scan {
  readonly #array: boolean
  readonly #name: string
  #expected: Expected
  #line = 1
  /** Of the element under way. */
  #startLine = 1
  #text = ''
  #depth = 0
  #inString = false
  #escaped = false

  constructor(array: boolean, name: string) {
    this.#array = array
    this.#name = name
    this.#expected = array ? 'open' : 'element'
  }

  *take(chunk: string): Generator<Element> {
    let start = this.#depth > 0 ? 0 : -1
    for (let at = 0; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at)
      if (code === 10) this.#line += 1
      if (this.#inString) this.#inText(code)
      else if (this.#depth > 0) {
        this.#nest(code)
        if (this.#depth > 0) continue
        yield { text: this.#text + chunk.slice(start, at + 1), line: this.#startLine }
        this.#text = ''
        start = -1
        this.#expected = this.#array ? 'comma' : 'element'
      } else if (code !== 32 && code !== 9 && code !== 10 && code !== 13) {
        this.#between(chunk.charAt(at))
        if (this.#depth > 0) [start, this.#startLine] = [at, this.#line]
      }
    }
    if (start !== -1) this.#text += chunk.slice(start)
    if (this.#text.length > limits.rowCharacters) {
      throw refusal(
        this.#name,
        `the object that begins on line ${String(this.#startLine)} is longer than a mebibyte`,
        'Is a bracket or quote not closed there?',
      )
    }
  }

  finish(): void {
    if (this.#depth > 0)
      throw this.#wrong(`the object that begins on line ${String(this.#startLine)} has no end`)
    if (this.#array && this.#expected !== 'nothing') throw this.#wrong('the array has no end')
  }

  #inText(code: number): void {
    if (this.#escaped) this.#escaped = false
    else if (code === 92) this.#escaped = true
    else if (code === 34) this.#inString = false
  }

  #nest(code: number): void {
    if (code === 34) this.#inString = true
    else if (code === 123 || code === 91) this.#depth += 1
    else if (code === 125 || code === 93) this.#depth -= 1
  }

  #between(character: string): void {
    const expected = this.#expected
    if (character === '[' && expected === 'open') this.#expected = 'first'
    else if (character === ']' && (expected === 'first' || expected === 'comma')) this.#expected = 'nothing'
    else if (character === ',' && expected === 'comma') this.#expected = 'element'
    else if (character === '{' && (expected === 'element' || expected === 'first')) this.#depth = 1
    else
      throw this.#wrong(
        `line ${String(this.#line)} has ${JSON.stringify(character)} where ${wanted[expected]}`,
      )
  }

  #wrong(what: string) {
    return refusal(this.#name, what, 'Give an array of objects, or one object a line.')
  }
}

const wanted: Record<Expected, string> = {
  open: 'a [ is expected',
  first: 'an object or ] is expected',
  element: 'an object is expected',
  comma: 'a comma or ] is expected',
  nothing: 'nothing more is expected',
}

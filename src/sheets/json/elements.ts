import { limits } from '../limits.ts'
import { refusal } from '../refusal.ts'

/** The text of one JSON object of a file, and the line it begins on. */
export interface Element {
  text: string
  line: number
}

/** One array; an array under the only name of an object, `{"candidates": […]}`; or one object after the other. */
export type JsonLayout = 'array' | 'wrapped' | 'lines'

/**
 * The objects of a JSON array, or of JSON Lines (RFC 8259 texts one after the other, a single one printed
 * over several lines among them), without reading what is in them. One pass, bounded by the longest.
 */
export async function* elements(
  chunks: AsyncIterable<Buffer>,
  layout: JsonLayout,
  name: string,
): AsyncGenerator<Element> {
  const scan = new Scan(layout, name)
  const decoder = new TextDecoder()
  for await (const bytes of chunks) yield* scan.take(decoder.decode(bytes, { stream: true }))
  scan.finish()
}

type Expected = 'wrapper' | 'name' | 'colon' | 'open' | 'first' | 'element' | 'comma' | 'end' | 'nothing'

class Scan {
  readonly #array: boolean
  readonly #wrapped: boolean
  readonly #name: string
  #expected: Expected
  #line = 1
  /** Of the element under way. */
  #startLine = 1
  #text = ''
  #depth = 0
  #inString = false
  #escaped = false

  constructor(layout: JsonLayout, name: string) {
    this.#array = layout !== 'lines'
    this.#wrapped = layout === 'wrapped'
    this.#name = name
    this.#expected = layout === 'wrapped' ? 'wrapper' : layout === 'array' ? 'open' : 'element'
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
        `the object that starts on line ${String(this.#startLine)} is longer than 1 MiB`,
        'Check for a missing closing bracket or quote.',
      )
    }
  }

  finish(): void {
    if (this.#depth > 0)
      throw this.#wrong(`the object that starts on line ${String(this.#startLine)} has no end`)
    if (this.#array && this.#expected !== 'nothing') throw this.#wrong('the array has no end')
  }

  #inText(code: number): void {
    if (this.#escaped) this.#escaped = false
    else if (code === 92) this.#escaped = true
    else if (code === 34) this.#inString = false
    if (!this.#inString && this.#expected === 'name') this.#expected = 'colon'
  }

  #nest(code: number): void {
    if (code === 34) this.#inString = true
    else if (code === 123 || code === 91) this.#depth += 1
    else if (code === 125 || code === 93) this.#depth -= 1
  }

  #between(character: string): void {
    const expected = this.#expected
    if (character === '[' && expected === 'open') this.#expected = 'first'
    else if (character === ']' && (expected === 'first' || expected === 'comma'))
      this.#expected = this.#wrapped ? 'end' : 'nothing'
    else if (character === '{' && expected === 'wrapper') this.#expected = 'name'
    else if (character === '"' && expected === 'name') this.#inString = true
    else if (character === ':' && expected === 'colon') this.#expected = 'open'
    else if (character === '}' && expected === 'end') this.#expected = 'nothing'
    else if (character === ',' && expected === 'comma') this.#expected = 'element'
    else if (character === '{' && (expected === 'element' || expected === 'first')) this.#depth = 1
    else
      throw this.#wrong(
        `line ${String(this.#line)} has ${JSON.stringify(character)} where ${wanted[expected]}`,
      )
  }

  #wrong(what: string) {
    return refusal(this.#name, what, 'Give an array of objects, or one object per line.')
  }
}

const wanted: Record<Expected, string> = {
  wrapper: 'a { is expected',
  name: 'a name is expected',
  colon: 'a : is expected',
  open: 'a [ is expected',
  first: 'an object or ] is expected',
  element: 'an object is expected',
  comma: 'a comma or ] is expected',
  end: 'a } is expected',
  nothing: 'nothing more is expected',
}

import { decodings, type Edit, mayBeEncoded, placeIn } from './decode-text.ts'

/** A shorter value occurs in ordinary text by chance. */
const minLength = 6
/** A value of this length is not an ordinary word or a part of an id. */
const certainLength = 16
/** Words, and what numbers and UUIDs are made of: replacing them would damage names and ids, and show what they are. */
const ordinary = /^(?:[a-z_]+|[\da-f-]+)$/i
/** The walk over an answer is recursive; no documented answer is nested as deep. */
const maxDepth = 200

/** The field that holds a signed URL in answers of the service; the program needs its token. */
const signedUrlKey = 'report_pdf_url'
/** A JSON escape of a character that may also stand as it is, which services use for none or for all of a text. */
const needlessEscape = /\\u00[2-7]/
/** The only form of a signed URL that is called. */
const signedUrl = /^([^?#\s]*\?t=)([^&#\s]*)$/
const signedToken =
  /((?:[?&;]|%3f|%26|\\{1,8}u00(?:3f|26))t(?:=|%3d|\\{1,8}u003d))(?:[^&#\s"'<>\\]|\\(?!["'nrt]))+/gi

/**
 * Values that are neither printed nor stored. Each is found as it is, in hexadecimal and in base64, also where its characters
 * are encoded or have hidden ones between them.
 */
export class Secrets {
  readonly #outer: Secrets | undefined
  /** What stands in the place of each value. */
  readonly #names = new Map<string, string>()
  /** Values that are looked for only in what a program that we start is given. */
  readonly #ordinaryNames = new Map<string, string>()
  #search: Search | undefined

  /** `outer`: more of them; values may still be added there. */
  constructor(outer?: Secrets) {
    this.#outer = outer
  }

  add(name: string, value: string | undefined): void {
    if (value === undefined || value.length < minLength || this.#has(value)) return
    if (value.length < certainLength && ordinary.test(value)) {
      this.#ordinaryNames.set(value, name)
      return
    }
    this.#names.set(value, name)
    this.#search = undefined
  }

  /** The token of a signed URL, as it stands there and decoded. */
  addTokenOf(url: string): void {
    const [, raw] = /[?&;]t=([^&#\s]*)/.exec(url) ?? []
    this.add('token', raw)
    if (raw !== undefined) this.add('token', decoded(raw))
  }

  /** For a command whose answer is this very value. */
  reveal(value: string): void {
    this.#names.delete(value)
    this.#ordinaryNames.delete(value)
    this.#search = undefined
  }

  #has(value: string): boolean {
    return this.#names.has(value) || (this.#outer !== undefined && this.#outer.#has(value))
  }

  /** The same values, and also those that are ordinary words. */
  withOrdinary(): Secrets {
    const all = new Secrets(this.#outer?.withOrdinary())
    for (const [value, name] of [...this.#names, ...this.#ordinaryNames]) all.#names.set(value, name)
    return all
  }

  /** Whether a text holds one of the values. */
  isIn(text: string): boolean {
    return this.#replaced(text) !== text
  }

  /** The text with a name in the place of each value, and without the tokens of signed URLs. */
  redact(text: string): string {
    const rest = this.#replaced(text)
    // Most texts need no slower pattern.
    return /[=%\\]/.test(rest) ? rest.replace(signedToken, '$1***') : rest
  }

  /** Whether an answer of the service, as it came, may hold anything that redactAnswer would change. */
  mayBeIn(answer: string): boolean {
    return answer.includes(signedUrlKey) || needlessEscape.test(answer) || this.redact(answer) !== answer
  }

  /**
   * Redacts every text and every key of a parsed answer of the service, in place. Signed URLs keep their tokens, which
   * are removed from the rest of the answer.
   */
  redactAnswer(answer: unknown): unknown {
    const all = new Secrets(this)
    addTokens(answer, all, 0)
    return this.#walk(answer, '', all, 0)
  }

  #walk(value: unknown, key: string, all: Secrets, depth: number): unknown {
    if (typeof value === 'string') {
      const [, address, token = ''] = (key === signedUrlKey && signedUrl.exec(value)) || []
      return address === undefined ? all.redact(value) : all.#replaced(address) + this.#replaced(token)
    }
    if (typeof value !== 'object' || value === null) return value
    if (depth > maxDepth) return null
    for (const [name, each] of Object.entries(value)) {
      const shown = Array.isArray(value) ? name : all.redact(name)
      const next = this.#walk(each, name, all, depth + 1)
      if (shown === name && next === each) continue
      if (shown !== name) Reflect.deleteProperty(value, name)
      // An assignment to __proto__ would set the prototype.
      Object.defineProperty(value, shown, {
        value: next,
        enumerable: true,
        writable: true,
        configurable: true,
      })
    }
    return value
  }

  #replaced(text: string): string {
    const searches = this.#searches()
    if (searches.length === 0) return text
    const inPlace = searches.reduce((rest, search) => search.replacedIn(rest), text)
    return replacedInDecodings(inPlace, searches)
  }

  #searches(): readonly Search[] {
    const outer = this.#outer === undefined ? [] : this.#outer.#searches()
    if (this.#names.size === 0) return outer
    this.#search ??= new Search(this.#names)
    return [...outer, this.#search]
  }
}

function addTokens(value: unknown, secrets: Secrets, depth: number): void {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return
  for (const [name, each] of Object.entries(value)) {
    if (name === signedUrlKey && typeof each === 'string') secrets.addTokenOf(each)
    else addTokens(each, secrets, depth + 1)
  }
}

interface Found {
  from: number
  to: number
  name: string
}

/** The text with a name in the place of each value that is found only once hidden and encoded characters are decoded. */
function replacedInDecodings(text: string, searches: readonly Search[]): string {
  const isFound = (each: string): boolean => searches.some((search) => search.isIn(each))
  const isIn = mayBeEncoded(text)
    ? decodings(text).some(isFound)
    : text.indexOf('\n') < text.length - 1 && text.includes('\n') && isFound(text.replaceAll('\n', ''))
  if (!isIn) return text
  const passes: Edit[][] = []
  const all: Found[] = []
  for (const each of decodings(text, passes)) {
    for (const { from, to, name } of searches.flatMap((search) => search.allIn(each))) {
      const [start, end] = placeIn(passes, from, to)
      all.push({ from: start, to: end, name })
    }
  }
  let replaced = ''
  let end = 0
  for (const { from, to, name } of all.sort((one, other) => one.from - other.from || other.to - one.to)) {
    if (from >= end) replaced += `${text.slice(end, from)}[${name}]`
    end = Math.max(end, to)
  }
  return replaced + text.slice(end)
}

/** Finds values in texts. */
class Search {
  readonly #known: ReadonlyMap<string, string>
  /** The longest first: one value may be a part of another. */
  readonly #values: string[]
  /** How each form of each value begins where it is letters and digits for longest, in small letters; all of the same length. */
  readonly #starts: readonly string[]
  readonly #startLength: number
  /** A text without a match holds no value. */
  readonly #words: RegExp
  #made: RegExp | undefined

  constructor(known: ReadonlyMap<string, string>) {
    this.#known = known
    this.#values = [...known.keys()].sort((one, other) => other.length - one.length)
    const words = this.#values.flatMap(formsOf).map(longestWord)
    const length = Math.min(...words.map((word) => word.length))
    this.#startLength = length
    this.#starts = [...new Set(words.map((word) => word.slice(0, length)))]
    this.#words = new RegExp(`[A-Za-z\\d]{${length},}`, 'g')
  }

  isIn(text: string): boolean {
    return this.#mayBeIn(text) && text.search(this.#pattern) !== -1
  }

  replacedIn(text: string): string {
    if (!this.#mayBeIn(text)) return text
    return text.replace(this.#pattern, (_found, ...groups: unknown[]) => `[${this.#nameOf(groups)}]`)
  }

  allIn(text: string): Found[] {
    if (!this.#mayBeIn(text)) return []
    return [...text.matchAll(this.#pattern)].map(({ 0: found, index, ...groups }) => ({
      from: index,
      to: index + found.length,
      name: this.#nameOf(Object.values(groups)),
    }))
  }

  #mayBeIn(text: string): boolean {
    if (this.#startLength === 0) return true
    return (text.match(this.#words) ?? []).some((word) => {
      const small = word.toLowerCase()
      return this.#starts.some((start) => small.includes(start))
    })
  }

  /** Ignores case: some services answer ids in small letters. It takes long to make, and few texts need it. */
  get #pattern(): RegExp {
    return (this.#made ??= new RegExp(
      this.#values.map((value) => `(${formsOf(value).map(literalPattern).join('|')})`).join('|'),
      'gi',
    ))
  }

  #nameOf(groups: readonly unknown[]): string {
    const value = this.#values[groups.findIndex((group) => group !== undefined)]
    return this.#known.get(value ?? '') ?? 'secret'
  }
}

/**
 * A value as it is, in hexadecimal and in base64, there also as a part of a longer text: what depends on the characters before and
 * after it is left out.
 */
function formsOf(value: string): string[] {
  const whole = Buffer.from(value).toString('base64')
  const parts = [0, 1, 2].map((before) => {
    const bytes = Buffer.from('\0'.repeat(before) + value)
    return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6))
  })
  return [value, Buffer.from(value).toString('hex'), whole, whole.replaceAll('=', ''), ...parts]
}

function longestWord(text: string): string {
  const words = text.toLowerCase().split(/[^a-z\d]/)
  return words.sort((one, other) => other.length - one.length)[0] ?? ''
}

/** A text as it is, after backslashes, with doubled quotes as in CSV, as in a form, and where it is base64 in the alphabet of URLs. */
function literalPattern(text: string): string {
  return text.replace(/\\+|[^\w\\]/gu, (part) => {
    // One quantifier for several backslashes: of many the time would be exponential. Decoding may have taken them away.
    if (part.startsWith('\\')) return `\\\\{0,${part.length * 8}}`
    if (part === ' ') return '[ +]'
    const itself = part.replace(/[$()*.?[\]^{|}]/, '\\$&')
    return `\\\\{0,8}${{ '+': '[+ -]', '/': '[/_]', '"': '"{1,2}' }[part] ?? itself}`
  })
}

/** Undefined where the percent encoding is not of UTF-8. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

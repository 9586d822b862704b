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
/** Every escape of a letter begins with one of these. */
const escapes = /[\\%&]/
/** A JSON escape of a character that may also stand as it is, which services use for none or for all of a text. */
const needlessEscape = /\\u00[2-7]/
/** Besides line feeds, what is neither of these is not hidden. Most texts hold no more, and need no slower pattern. */
const mayBeHidden = /[^ -~\n]|\\[bfnrtu]/
/**
 * What a reader does not see within a word, as it is or as a JSON escape: terminal sequences, control and format characters, line
 * breaks, and U+FFFD, which stands for them in what is printed.
 */
const hidden = new RegExp(
  [
    String.raw`(?:\u001B|\\{1,8}u001[Bb])(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B\\]*(?:\u0007|\u001B\\)|[()][A-Z\d])`,
    String.raw`\u009B[0-?]*[ -/]*[@-~]`,
    // Cc, Cf and Default_Ignorable_Code_Point as ranges: with \p the pattern takes ten times as long to make at each start.
    String.raw`[\0-\x1F\x7F-\x9F\xAD\u034F\u0600-\u0605\u061C\u06DD\u070F\u0890\u0891\u08E2\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFD\u{110BD}\u{110CD}\u{13430}-\u{1343F}\u{1BCA0}-\u{1BCA3}\u{1D173}-\u{1D17A}\u{E0000}-\u{E0FFF}]+`,
    String.raw`\\{1,8}[bfnrt]`,
    String.raw`\\{1,8}u(?:00(?:[0189][\dA-Fa-f]|7[Ff]|[Aa][Dd])|034[Ff]|06(?:0[0-5]|1[Cc]|[Dd][Dd])|070[Ff]|08(?:9[01]|[Ee]2))`,
    String.raw`\\{1,8}u(?:115[Ff]|1160|17[Bb][45]|180[B-Fb-f]|20(?:0[B-Fb-f]|2[89A-Ea-e]|6[\dA-Fa-f])|3164)`,
    String.raw`\\{1,8}u(?:[Ff][Ee]0[\dA-Fa-f]|[Ff][Ee][Ff][Ff]|[Ff][Ff][Aa]0|[Ff]{3}[\dA-Da-d])`,
    String.raw`\\{1,8}u[Dd](?:[Bb]4[0-3]|8(?:0[4Dd]|2[Ff]|34))\\{1,8}u[Dd][C-Fc-f][\dA-Fa-f]{2}`,
  ].join('|'),
  'gu',
)
/** The only form of a signed URL that is called. */
const signedUrl = /^([^?#\s]*\?t=)([^&#\s]*)$/
const signedToken =
  /((?:[?&;]|%3f|%26|\\{1,8}u00(?:3f|26))t(?:=|%3d|\\{1,8}u003d))(?:[^&#\s"'<>\\]|\\(?!["'nrt]))+/gi

/**
 * Values that are neither printed nor stored. Each is found in the usual encodings of its characters, in hexadecimal and in base64,
 * also with hidden characters in it.
 */
export class Secrets {
  readonly #outer: Secrets | undefined
  /** What stands in the place of each value. */
  readonly #names = new Map<string, string>()
  /** Values that are looked for only in what a program that we start is given. */
  readonly #ordinaryNames = new Map<string, string>()
  #searches: readonly Search[] | undefined

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
    this.#searches = undefined
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
    this.#searches = undefined
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
    return this.#replaced(text).replace(signedToken, '$1***')
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
    const searches = this.#allSearches()
    const inPlace = searches.reduce((rest, search) => search.replacedIn(rest), text)
    const visible = mayBeHidden.test(inPlace) ? inPlace.replace(hidden, '') : inPlace.replaceAll('\n', '')
    if (visible === inPlace || !searches.some((search) => search.replacedIn(visible) !== visible))
      return inPlace
    return searches.reduce((rest, search) => search.replacedAroundHidden(rest), inPlace)
  }

  #allSearches(): readonly Search[] {
    const outer = this.#outer === undefined ? [] : this.#outer.#allSearches()
    if (this.#names.size === 0) return outer
    this.#searches ??= [
      new Search(this.#names, inAnyEncoding, escapes),
      new Search(encodedValues(this.#names), (char) => (/\w/.test(char) ? char : inAnyEncoding(char))),
    ]
    return [...outer, ...this.#searches]
  }
}

function addTokens(value: unknown, secrets: Secrets, depth: number): void {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return
  for (const [name, each] of Object.entries(value)) {
    if (name === signedUrlKey && typeof each === 'string') secrets.addTokenOf(each)
    else addTokens(each, secrets, depth + 1)
  }
}

/** Finds values in texts. The pattern takes long to make, and few texts need it. */
class Search {
  readonly #known: ReadonlyMap<string, string>
  /** The longest first: one value may be a part of another. */
  readonly #values: string[]
  readonly #shortest: number
  /** A part of each value that stands as it is in a text without escapes. */
  readonly #plainParts: string[]
  readonly #charPattern: (char: string) => string
  readonly #escaped: RegExp | undefined
  #made: RegExp | undefined

  /** `escaped`: what a text may hold instead of letters and digits. */
  constructor(known: ReadonlyMap<string, string>, charPattern: (char: string) => string, escaped?: RegExp) {
    this.#known = known
    this.#charPattern = charPattern
    this.#escaped = escaped
    this.#values = [...known.keys()].sort((one, other) => other.length - one.length)
    this.#shortest = this.#values.at(-1)?.length ?? 0
    this.#plainParts = this.#values.map((value) => {
      const parts = value.split(/\W/)
      return parts.sort((one, other) => other.length - one.length)[0] ?? ''
    })
  }

  replacedIn(text: string): string {
    if (!this.#mayBeIn(text)) return text
    return text.replace(this.#pattern, (_found, ...groups: unknown[]) => this.#nameOf(groups))
  }

  /** Also replaces values that have hidden characters between theirs; the rest of the text stays as it is. */
  replacedAroundHidden(text: string): string {
    const visible = text.replace(hidden, '')
    if (!this.#mayBeIn(visible)) return text
    const gaps = [...text.matchAll(hidden)]
    let passed = 0
    let removed = 0
    /** The place in the text of a visible character; called from left to right. */
    const placeOf = (at: number): number => {
      for (let gap = gaps[passed]; gap !== undefined && gap.index - removed <= at; gap = gaps[passed]) {
        removed += gap[0].length
        passed += 1
      }
      return at + removed
    }
    let replaced = ''
    let from = 0
    for (const found of visible.matchAll(this.#pattern)) {
      const start = placeOf(found.index)
      replaced += text.slice(from, start) + this.#nameOf(found.slice(1))
      from = placeOf(found.index + found[0].length - 1) + 1
    }
    return replaced + text.slice(from)
  }

  #mayBeIn(text: string): boolean {
    if (text.length < this.#shortest) return false
    return this.#escaped?.test(text) === true || this.#plainParts.some((part) => text.includes(part))
  }

  get #pattern(): RegExp {
    return (this.#made ??= new RegExp(
      this.#values.map((value) => `(${Array.from(value, this.#charPattern).join('')})`).join('|'),
      'gu',
    ))
  }

  #nameOf(groups: readonly unknown[]): string {
    const value = this.#values[groups.findIndex((group) => group !== undefined)]
    return `[${this.#known.get(value ?? '') ?? 'secret'}]`
  }
}

/** The values in hexadecimal and base64, by which each is also known. */
function encodedValues(known: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...known].flatMap(([value, name]) => encoded(value).map((each) => [each, name] as const)))
}

/** In base64 also as a part of a longer text: what depends on the characters before and after it is left out. */
function encoded(value: string): string[] {
  const hexadecimal = Buffer.from(value).toString('hex')
  const whole = Buffer.from(value).toString('base64')
  const parts = [0, 1, 2].map((before) => {
    const bytes = Buffer.from('\0'.repeat(before) + value)
    return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6))
  })
  const base64 = [whole, whole.replaceAll('=', ''), ...parts]
  const ofUrls = base64.map((each) => each.replaceAll('+', '-').replaceAll('/', '_'))
  return [hexadecimal, hexadecimal.toUpperCase(), ...base64, ...ofUrls]
}

const entities: Readonly<Record<string, string>> = {
  '"': '|quot',
  '&': '|amp',
  "'": '|apos',
  '<': '|lt',
  '>': '|gt',
}

/**
 * A pattern for one character: as it is, escaped as in JSON (several times over, where JSON stands in JSON), in percent
 * encoding or as an HTML entity.
 */
function inAnyEncoding(char: string): string {
  const code = char.codePointAt(0) ?? 0
  const units = Array.from({ length: char.length }, (_, at) => `\\\\{1,8}u${hex(char.charCodeAt(at), 4)}`)
  const bytes = [...Buffer.from(char)].map((byte) => `%(?:25){0,3}${hex(byte, 2)}`)
  const literal = /[\w]/.test(char)
    ? char
    : `\\\\{0,8}${char.replace(/[\^$\\.*+?()[\]{}|/]/, '\\$&')}${char === '"' ? '{1,2}' : ''}`
  const space = char === '+' ? '| ' : char === ' ' ? '|\\+' : ''
  const entity = `&(?:amp;){0,2}(?:#0{0,6}${code}|#[xX]0{0,6}${hex(code, 1)}${entities[char] ?? ''});`
  return `(?:${literal}${space}|${units.join('')}|${bytes.join('')}|${entity})`
}

const hex = (number: number, digits: number): string =>
  number
    .toString(16)
    .padStart(digits, '0')
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)

/** Undefined where the percent encoding is not of UTF-8. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

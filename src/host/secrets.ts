import type { Environment } from './process.ts'

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
/** A JSON escape of a character that may also be written as it is, which services use for none or for all of a text. */
const needlessEscape = /\\u00[2-7]/
/** A signed URL: its address, its token, and parameters after it. */
const signedUrl = /^([^?#\s]*\?t=)([^&#\s]*)(&[^#\s]*)?$/
const signedToken =
  /((?:[?&;]|%3f|%26|\\{1,8}u00(?:3f|26))t(?:=|%3d|\\{1,8}u003d))(?:[^&#\s"'<>\\]|\\(?!["'nrt]))+/gi

/**
 * Values that are neither printed nor stored. Each is found as it is, in hexadecimal and in base64, also where its characters
 * are encoded or have hidden ones between them.
 */
export class Secrets {
  readonly #outer: Secrets | undefined
  /** What each value is replaced by. */
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

  /** The token of a signed URL, as it is written there and decoded. */
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

  /** The text with each value replaced by its name, and without the tokens of signed URLs. */
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
      const [, address, token = '', rest = ''] = (key === signedUrlKey && signedUrl.exec(value)) || []
      return address === undefined
        ? all.redact(value)
        : all.#replaced(address) + this.#replaced(token) + all.redact(rest)
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
    const replaced = searches.reduce((rest, search) => search.replacedIn(rest), text)
    return replacedInDecodings(replaced, searches)
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

/** The text with each value replaced by its name that is found only once hidden and encoded characters are decoded. */
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
      const [start, end] = rangeIn(passes, from, to)
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

/** Variables whose whole value is a secret. */
const secretVariables: readonly [pattern: RegExp, name: string][] = [
  [/^REFCHECK_.*API_KEY/i, 'API key'],
  [/_WEBHOOK_SECRET$/i, 'webhook secret'],
  [/^REFCHECK_.*TOKEN/i, 'control token'],
  [/^PGPASSWORD$/i, 'store password'],
]

interface AddressVariable {
  pattern: RegExp
  name: string
  /** The part before the host: user and password. Of several @ the last one ends the password, which may not be encoded. */
  userinfo: RegExp
  /** What a program that we start is given of these. */
  found: string
}

/**
 * Variables that hold an address, which may hold a password. Blanks and quotes may precede it. The address of a proxy may have no
 * scheme, and its user may be a token.
 */
const addressVariables: readonly AddressVariable[] = [
  {
    pattern: /^REFCHECK_STORE$/i,
    name: 'store password',
    userinfo: /^([^a-z]*postgres(?:ql)?:\/\/)([^:/?#@]*):(.*)@/is,
    found: '$1$2@',
  },
  {
    pattern: /^(?:.*_)?proxy$/i,
    name: 'proxy password',
    userinfo: /^((?:[^a-z\d]*[a-z][a-z\d+.-]*:\/\/)?)([^:]*)(?::(.*))?@/is,
    found: '$1',
  },
]
/** A token instead of a user; what is shorter, or an e-mail address, may be a name, which occurs elsewhere. */
const tokenAsUser = /^(?!.*(?:@|%40)).{16,}$/s
const passwordParameter = /([?&]password=)([^&#]*)/gi

const secretNamed = (variable: string): string | undefined =>
  secretVariables.find(([pattern]) => pattern.test(variable))?.[1]

const addressNamed = (variable: string): AddressVariable | undefined =>
  addressVariables.find(({ pattern }) => pattern.test(variable))

/** What the environment holds in confidence, besides what is known already. */
export function secretsOf(env: Environment, secrets: Secrets = new Secrets()): Secrets {
  for (const [variable, value = ''] of Object.entries(env)) {
    const name = secretNamed(variable)
    if (name !== undefined) secrets.add(name, value)
    const address = addressNamed(variable)
    if (address !== undefined) addPasswords(secrets, address, value)
  }
  return secrets
}

function addPasswords(secrets: Secrets, { name, userinfo }: AddressVariable, address: string): void {
  const [, , user = '', ofUser] = userinfo.exec(address) ?? []
  const passwords = [ofUser, ...[...address.matchAll(passwordParameter)].map(([, , value]) => value)]
  const token = !ofUser && tokenAsUser.test(user) ? user : undefined
  for (const raw of [...passwords, token]) {
    if (raw === undefined) continue
    const plain = decoded(raw) ?? raw
    secrets.add(name, raw)
    secrets.add(name, plain)
    // As a proxy is sent it (RFC 7617).
    secrets.add(name, Buffer.from(`${decoded(user) ?? user}:${plain}`).toString('base64'))
  }
}

/** Variables by which a program finds its files and the same store and profile; a word in them is no secret. */
const needed = /^(?:PATH|HOME|PWD|USER|LOGNAME|SHELL|TMPDIR|LANG|TERM|XDG_\w+|REFCHECK_(?!STORE)\w+)$/i

/**
 * The environment for a program that we start: without keys, webhook secrets and tokens, and without any variable that
 * holds one of `secrets`, also where that is an ordinary word. The address of the store loses its password, those of proxies lose
 * user and password, and both any other secret; the program uses the same ones.
 */
export function childEnvironment(env: Environment, secrets: Secrets): Record<string, string | undefined> {
  const all = secrets.withOrdinary()
  const found = Object.entries(env).flatMap(([variable, value = '']): [string, string][] => {
    if (secretNamed(variable) !== undefined || secrets.isIn(variable)) return []
    const address = addressNamed(variable)
    if (address !== undefined) {
      const rest = value.replace(address.userinfo, address.found).replace(passwordParameter, '$1')
      // Without the variable a program would use another store or no proxy; with a name instead of the secret it fails.
      return [[variable, secrets.isIn(rest) ? secrets.redact(rest) : rest]]
    }
    return (needed.test(variable) ? secrets : all).isIn(value) ? [] : [[variable, value]]
  })
  return Object.fromEntries(found)
}

/** A part of a text that a pass changed: `at` and `length` in its result, `from` and `to` in what it read. */
interface Edit {
  at: number
  length: number
  from: number
  to: number
}

/**
 * What a reader does not see within a word: terminal sequences, control and format characters, line breaks, and U+FFFD, which is
 * printed instead of them.
 */
const hidden = new RegExp(
  [
    String.raw`\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B\\]*(?:\u0007|\u001B\\)|[()][A-Z\d])`,
    String.raw`\u009B[0-?]*[ -/]*[@-~]`,
    // Cc, Cf and Default_Ignorable_Code_Point as ranges: with \p the pattern takes ten times as long to make at each start.
    String.raw`[\0-\x1F\x7F-\x9F\xAD\u034F\u0600-\u0605\u061C\u06DD\u070F\u0890\u0891\u08E2\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFD\u{110BD}\u{110CD}\u{13430}-\u{1343F}\u{1BCA0}-\u{1BCA3}\u{1D173}-\u{1D17A}\u{E0000}-\u{E0FFF}]+`,
  ].join('|'),
  'gu',
)

/** Forms of ASCII characters that NFKC replaces: superscript, circled, mathematical and fullwidth ones, and spaces. */
const compatible = String.raw`[\xA0\xAA\xB2\xB3\xB9\xBA\u02B0-\u02B8\u2000-\u200A\u202F\u205F\u2070-\u209C\u2100-\u214F\u2460-\u24FF\u3000\uFE50-\uFE6B\uFF01-\uFF5E\u{1D400}-\u{1D7FF}\u{1F100}-\u{1F149}\u{1FBF0}-\u{1FBF9}]`
/** One character in percent encoding (the bytes of UTF-8), in an escape of JSON, JavaScript, C or Python, or as an HTML entity. */
const encodedCharacter = new RegExp(
  [
    String.raw`%(?:[C-Fc-f][\dA-Fa-f](?:%[89ABab][\dA-Fa-f]){1,3}|[\dA-Fa-f]{2}|u[\dA-Fa-f]{4})`,
    String.raw`\\{1,8}(?:u[\dA-Fa-f]{4}|u\{0{0,8}[\dA-Fa-f]{1,6}\}|U[\dA-Fa-f]{8}|x[C-Fc-f][\dA-Fa-f](?:\\{1,8}x[89ABab][\dA-Fa-f]){1,3}|x[\dA-Fa-f]{2}|3[0-7]{2}(?:\\{1,8}2[0-7]{2}){1,3}|[0-3][0-7]{2}|[0abefnrtv]|(?=\w))`,
    // Browsers read numbers without a semicolon too.
    String.raw`&(?:#(?:0{0,8}\d{1,7}|[xX]0{0,8}[\dA-Fa-f]{1,6});?|[A-Za-z]\w{1,30};)`,
    compatible,
  ].join('|'),
  'gu',
)
/** A text without any of these holds no encoded and, but for line feeds, no hidden character. Letters of most languages are none. */
const odd =
  /[^ -~\n\xA1-\xA9\xAB\xAC\xAE-\xB1\xB4-\xB8\xBB-\u02AF\u0370-\u058F\u2010-\u2027\u20A0-\u20BF\u2190-\u23FF\u2500-\u27BF\u3041-\u30FF\u4E00-\u9FFF\uAC00-\uD7A3]|\\\\?\w|%[\dA-Fa-fu]|&[#A-Za-z]/

const mayChange = /[^ -~]|[\\%&]/

/** By name, the entities of HTML 5 that are ASCII characters, and the space. Ligatures stand for their letters. */
const entities: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '\t': 'Tab',
    '\n': 'NewLine',
    ' ': 'nbsp NonBreakingSpace',
    '!': 'excl',
    '"': 'quot QUOT',
    '#': 'num',
    $: 'dollar',
    '%': 'percnt',
    '&': 'amp AMP',
    "'": 'apos',
    '(': 'lpar',
    ')': 'rpar',
    '*': 'ast midast',
    '+': 'plus',
    ',': 'comma',
    '.': 'period',
    '/': 'sol',
    ':': 'colon',
    ';': 'semi',
    '<': 'lt LT',
    '=': 'equals',
    '>': 'gt GT',
    '?': 'quest',
    '@': 'commat',
    '[': 'lsqb lbrack',
    '\\': 'bsol',
    ']': 'rsqb rbrack',
    '^': 'Hat',
    _: 'lowbar UnderBar',
    '`': 'grave DiacriticalGrave',
    '{': 'lcub lbrace',
    '|': 'verbar vert VerticalLine',
    '}': 'rcub rbrace',
    ff: 'fflig',
    fi: 'filig',
    fj: 'fjlig',
    fl: 'fllig',
    ffi: 'ffilig',
    ffl: 'ffllig',
  }).flatMap(([char, names]) => names.split(' ').map((name): [string, string] => [name, char])),
)

/** More than an answer can hold of one encoding within another and still be read by a person. */
const maxPasses = 24

/** Whether `decodings` may yield more than the text without its line feeds. */
function mayBeEncoded(text: string): boolean {
  return odd.test(text)
}

/**
 * A text after each pass that took hidden characters out or decoded encoded ones, until nothing is left of either. What the passes
 * changed is added to `passes`, for `placeIn`; for a long text that takes many times its memory.
 */
function* decodings(source: string, passes?: Edit[][]): Generator<string> {
  let text = source
  for (let pass = 0; pass < maxPasses; pass += 1) {
    const isStripping = pass % 2 === 0
    const edits: Edit[] | undefined = passes && []
    const next = isStripping
      ? replacePattern(text, hidden, () => '', edits)
      : replacePattern(text, encodedCharacter, decodedCharacter, edits)
    if (next === text && !isStripping) return
    if (next === text) continue
    if (edits !== undefined) passes?.push(edits)
    text = next
    yield text
  }
}

/** Where the part of a text after `passes` from `start` to before `end` was in the source. */
function rangeIn(passes: readonly Edit[][], start: number, end: number): [from: number, to: number] {
  return passes.reduceRight<[number, number]>(
    ([from, to], edits) => [rangeBefore(edits, from).from, rangeBefore(edits, to - 1).to],
    [start, end],
  )
}

function replacePattern(
  text: string,
  pattern: RegExp,
  change: (found: string) => string,
  edits?: Edit[],
): string {
  // Most texts need no slower pattern.
  if (!mayChange.test(text)) return text
  let shift = 0
  return text.replace(pattern, (found, ...rest: unknown[]) => {
    const changed = change(found)
    if (edits === undefined) return changed
    const from = rest.find((each) => typeof each === 'number') ?? 0
    edits.push({ at: from + shift, length: changed.length, from, to: from + found.length })
    shift += changed.length - found.length
    return changed
  })
}

/** Where a character of a pass's result was before the pass. */
function rangeBefore(edits: readonly Edit[], at: number): { from: number; to: number } {
  let low = 0
  let high = edits.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((edits[middle]?.at ?? 0) <= at) low = middle + 1
    else high = middle
  }
  const last = edits[low - 1]
  if (last === undefined) return { from: at, to: at + 1 }
  const beyond = at - last.at - last.length
  return beyond < 0 ? last : { from: last.to + beyond, to: last.to + beyond + 1 }
}

function decodedCharacter(found: string): string {
  if (found.startsWith('&')) return entity(found.slice(1).replace(/;$/, ''))
  if (/^%[^u]/.test(found)) return Buffer.from(found.replaceAll('%', ''), 'hex').toString()
  if (!/^[%\\]/.test(found)) return found.normalize('NFKC')
  const numbers = found.match(/[\dA-Fa-f]{2,}/g) ?? []
  if (/x/.test(found)) return bytesOf(numbers.map((each) => Number.parseInt(each, 16)))
  if (/u/i.test(found)) return characterOf(Number.parseInt(/[\dA-Fa-f]+/.exec(found)?.[0] ?? '', 16))
  if (/\d\d/.test(found)) return bytesOf(numbers.map((each) => Number.parseInt(each, 8)))
  if (found.endsWith('\\')) return ''
  return found.endsWith('e') ? '\u001B' : '\0'
}

/** Bytes of UTF-8, or else the characters of those numbers. */
function bytesOf(numbers: readonly number[]): string {
  const bytes = Buffer.from(numbers)
  const text = bytes.toString()
  return text.includes('\uFFFD') ? bytes.toString('latin1') : text
}

/** What is not known is taken for something that is not seen. */
function entity(name: string): string {
  if (!name.startsWith('#')) return entities.get(name) ?? '\0'
  return characterOf(
    /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10),
  )
}

/** One half of a pair stays one: its other half comes next. */
const characterOf = (code: number): string => (code <= 0x10_ff_ff ? String.fromCodePoint(code) : '\0')

import type { Environment } from './process.ts'

/** Shorter values occur in ordinary text by chance. */
const minLength = 6
/** A value of at least this length is not an ordinary word or a part of an id. */
const unambiguousLength = 16
/**
 * Words, and characters of numbers and UUIDs. Replacing these would damage names and ids, and would disclose the value.
 */
const ordinaryValue = /^(?:[a-z_]+|[\da-f-]+)$/i
/** Limit of the recursion over a response. No response of the API document is nested this deep. */
const maxDepth = 200

/** The field of responses that holds a signed URL. The program needs the token of that URL. */
const signedUrlKey = 'report_pdf_url'
/** A JSON escape of a character that needs none. A service uses such escapes everywhere in a text or nowhere. */
const needlessEscape = /\\u00[2-7]/
/** A signed URL in three parts: the address, the token, and later parameters. */
const signedUrl = /^([^?#\s]*\?t=)([^&#\s]*)(&[^#\s]*)?$/
const signedToken =
  /((?:[?&;]|%3f|%26|\\{1,8}u00(?:3f|26))t(?:=|%3d|\\{1,8}u003d))(?:[^&#\s"'<>\\]|\\(?!["'nrt]))+/gi

/**
 * Values that are neither printed nor stored. Each is found literally, in hexadecimal and in base64, also if its
 * characters are encoded or have hidden characters between them.
 */
export class Secrets {
  readonly #outer: Secrets | undefined
  /** The replacement of each value. */
  readonly #nameByValue = new Map<string, string>()
  /** Values that are searched only in the environment of programs that refcheck starts. */
  readonly #nameByOrdinaryValue = new Map<string, string>()
  #search: Search | undefined

  /** `outer` holds more values, and values may still be added to it. */
  constructor(outer?: Secrets) {
    this.#outer = outer
  }

  add(name: string, value: string | undefined): void {
    if (value === undefined || value.length < minLength || this.#has(value)) return
    if (value.length < unambiguousLength && ordinaryValue.test(value)) {
      this.#nameByOrdinaryValue.set(value, name)
      return
    }
    this.#nameByValue.set(value, name)
    this.#search = undefined
  }

  /** Adds the token of a signed URL, both encoded and decoded. */
  addTokenOf(url: string): void {
    const [, encodedToken] = /[?&;]t=([^&#\s]*)/.exec(url) ?? []
    this.add('token', encodedToken)
    if (encodedToken !== undefined) this.add('token', decodeUriOrUndefined(encodedToken))
  }

  /** Removes a value, for a command that prints it. */
  reveal(value: string): void {
    this.#nameByValue.delete(value)
    this.#nameByOrdinaryValue.delete(value)
    this.#search = undefined
  }

  #has(value: string): boolean {
    return this.#nameByValue.has(value) || (this.#outer !== undefined && this.#outer.#has(value))
  }

  /** Returns a copy that also searches for values that are ordinary words. */
  includingOrdinaryWords(): Secrets {
    const copy = new Secrets(this.#outer?.includingOrdinaryWords())
    for (const [value, name] of [...this.#nameByValue, ...this.#nameByOrdinaryValue])
      copy.#nameByValue.set(value, name)
    return copy
  }

  /** Whether a text contains one of the values. */
  isIn(text: string): boolean {
    return this.#replaceIn(text) !== text
  }

  /** Replaces each value by its name, and the tokens of signed URLs by ***. */
  redact(text: string): string {
    const withoutValues = this.#replaceIn(text)
    // Most texts do not contain these characters, and the pattern is slow.
    return /[=%\\]/.test(withoutValues) ? withoutValues.replace(signedToken, '$1***') : withoutValues
  }

  /** Whether `redactAnswer` may change a response. The argument is its text before parsing. */
  mayBeIn(answer: string): boolean {
    return answer.includes(signedUrlKey) || needlessEscape.test(answer) || this.redact(answer) !== answer
  }

  /**
   * Redacts every text and every key of a parsed response, in place. Signed URLs keep their tokens; elsewhere in the
   * response the tokens are removed.
   */
  redactAnswer(answer: unknown): unknown {
    const secretsAndTokens = new Secrets(this)
    addTokens(answer, secretsAndTokens, 0)
    return this.#redactValues(answer, '', secretsAndTokens, 0)
  }

  #redactValues(value: unknown, key: string, secrets: Secrets, depth: number): unknown {
    if (typeof value === 'string') {
      const [, address, token = '', laterParameters = ''] =
        (key === signedUrlKey && signedUrl.exec(value)) || []
      return address === undefined
        ? secrets.redact(value)
        : secrets.#replaceIn(address) + this.#replaceIn(token) + secrets.redact(laterParameters)
    }
    if (typeof value !== 'object' || value === null) return value
    if (depth > maxDepth) return null
    for (const [name, each] of Object.entries(value)) {
      const redactedName = Array.isArray(value) ? name : secrets.redact(name)
      const redactedValue = this.#redactValues(each, name, secrets, depth + 1)
      if (redactedName === name && redactedValue === each) continue
      if (redactedName !== name) Reflect.deleteProperty(value, name)
      // An assignment to `__proto__` would set the prototype.
      Object.defineProperty(value, redactedName, {
        value: redactedValue,
        enumerable: true,
        writable: true,
        configurable: true,
      })
    }
    return value
  }

  #replaceIn(text: string): string {
    const searches = this.#searches()
    if (searches.length === 0) return text
    const replaced = searches.reduce((rest, search) => search.replaceIn(rest), text)
    return replaceInDecodings(replaced, searches)
  }

  #searches(): readonly Search[] {
    const outer = this.#outer === undefined ? [] : this.#outer.#searches()
    if (this.#nameByValue.size === 0) return outer
    this.#search ??= new Search(this.#nameByValue)
    return [...outer, this.#search]
  }
}

/** Adds the tokens of all signed URLs in a parsed response to `secrets`. */
function addTokens(value: unknown, secrets: Secrets, depth: number): void {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return
  for (const [name, each] of Object.entries(value)) {
    if (name === signedUrlKey && typeof each === 'string') secrets.addTokenOf(each)
    else addTokens(each, secrets, depth + 1)
  }
}

/** A value in a text, from the index `from` to `to` (exclusive). `name` replaces it. */
interface Match {
  from: number
  to: number
  name: string
}

/** Replaces the values that are found only after hidden characters are removed and encoded characters are decoded. */
function replaceInDecodings(text: string, searches: readonly Search[]): string {
  const isFound = (each: string): boolean => searches.some((search) => search.isIn(each))
  // In a text without encoded characters, only line feeds before its end can stand between the characters of a value.
  const containsValue = mayBeEncoded(text)
    ? decodings(text).some(isFound)
    : text.indexOf('\n') < text.length - 1 && text.includes('\n') && isFound(text.replaceAll('\n', ''))
  if (!containsValue) return text
  const editsByPass: Edit[][] = []
  const matches: Match[] = []
  for (const each of decodings(text, editsByPass)) {
    for (const { from, to, name } of searches.flatMap((search) => search.findAllIn(each))) {
      const [start, end] = rangeIn(editsByPass, from, to)
      matches.push({ from: start, to: end, name })
    }
  }
  let replaced = ''
  let end = 0
  for (const { from, to, name } of matches.sort((one, other) => one.from - other.from || other.to - one.to)) {
    if (from >= end) replaced += `${text.slice(end, from)}[${name}]`
    end = Math.max(end, to)
  }
  return replaced + text.slice(end)
}

/** Finds a set of values in texts. */
class Search {
  readonly #nameByValue: ReadonlyMap<string, string>
  /** The longest value comes first, because one value may be a part of another. */
  readonly #values: string[]
  /**
   * The start of the longest run of letters and digits in each form of each value, in lowercase. All have the same
   * length.
   */
  readonly #wordStarts: readonly string[]
  readonly #startLength: number
  /** A text in which no word contains one of `#wordStarts` contains no value. */
  readonly #wordPattern: RegExp
  #compiledPattern: RegExp | undefined

  constructor(nameByValue: ReadonlyMap<string, string>) {
    this.#nameByValue = nameByValue
    this.#values = [...nameByValue.keys()].sort((one, other) => other.length - one.length)
    const words = this.#values.flatMap(encodedForms).map(longestWord)
    const length = Math.min(...words.map((word) => word.length))
    this.#startLength = length
    this.#wordStarts = [...new Set(words.map((word) => word.slice(0, length)))]
    this.#wordPattern = new RegExp(`[A-Za-z\\d]{${length},}`, 'g')
  }

  isIn(text: string): boolean {
    return this.#mayBeIn(text) && text.search(this.#pattern) !== -1
  }

  replaceIn(text: string): string {
    if (!this.#mayBeIn(text)) return text
    return text.replace(this.#pattern, (_found, ...groups: unknown[]) => `[${this.#nameOf(groups)}]`)
  }

  findAllIn(text: string): Match[] {
    if (!this.#mayBeIn(text)) return []
    return [...text.matchAll(this.#pattern)].map(({ 0: found, index, ...groups }) => ({
      from: index,
      to: index + found.length,
      name: this.#nameOf(Object.values(groups)),
    }))
  }

  #mayBeIn(text: string): boolean {
    if (this.#startLength === 0) return true
    return (text.match(this.#wordPattern) ?? []).some((word) => {
      const lowercaseWord = word.toLowerCase()
      return this.#wordStarts.some((start) => lowercaseWord.includes(start))
    })
  }

  /** Ignores case, because some services return ids in lowercase. Compiling it is slow, and few texts need it. */
  get #pattern(): RegExp {
    return (this.#compiledPattern ??= new RegExp(
      this.#values.map((value) => `(${encodedForms(value).map(literalPattern).join('|')})`).join('|'),
      'gi',
    ))
  }

  #nameOf(groups: readonly unknown[]): string {
    const value = this.#values[groups.findIndex((group) => group !== undefined)]
    return this.#nameByValue.get(value ?? '') ?? 'secret'
  }
}

/**
 * Returns a value literally, in hexadecimal and in base64. The base64 forms within a longer text omit the characters
 * that depend on the text before and after the value.
 */
function encodedForms(value: string): string[] {
  const base64 = Buffer.from(value).toString('base64')
  const parts = [0, 1, 2].map((before) => {
    const bytes = Buffer.from('\0'.repeat(before) + value)
    return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6))
  })
  return [value, Buffer.from(value).toString('hex'), base64, base64.replaceAll('=', ''), ...parts]
}

function longestWord(text: string): string {
  const words = text.toLowerCase().split(/[^a-z\d]/)
  return words.sort((one, other) => other.length - one.length)[0] ?? ''
}

/**
 * Returns a pattern of a text: literally, with backslashes, with doubled quotes as in CSV, with + for a space as in a
 * form, and in the base64 alphabet of URLs.
 */
function literalPattern(text: string): string {
  return text.replace(/\\+|[^\w\\]/gu, (part) => {
    // One quantifier covers several backslashes, because several quantifiers take exponential time. It allows none,
    // because decoding may have removed the backslashes.
    if (part.startsWith('\\')) return `\\\\{0,${part.length * 8}}`
    if (part === ' ') return '[ +]'
    const itself = part.replace(/[$()*.?[\]^{|}]/, '\\$&')
    return `\\\\{0,8}${{ '+': '[+ -]', '/': '[/_]', '"': '"{1,2}' }[part] ?? itself}`
  })
}

/** Decodes percent encoding; undefined if the encoded bytes are not UTF-8. */
function decodeUriOrUndefined(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Variables whose whole value is secret. */
const secretVariables: readonly [pattern: RegExp, name: string][] = [
  [/^REFCHECK_.*API_KEY/i, 'API key'],
  [/_WEBHOOK_SECRET$/i, 'webhook secret'],
  [/^REFCHECK_.*TOKEN/i, 'control token'],
  [/^PGPASSWORD$/i, 'store password'],
]

interface AddressVariable {
  pattern: RegExp
  name: string
  /**
   * The part before the host: user and password. The last @ ends the password, because an @ in it may not be encoded.
   */
  userinfo: RegExp
  /** The replacement of `userinfo` in the environment of programs that refcheck starts. */
  childReplacement: string
}

/**
 * Variables that hold an address with an optional password. Blanks and quotes may precede the address. The address of a
 * proxy may have no scheme, and its user may be a token.
 */
const addressVariables: readonly AddressVariable[] = [
  {
    pattern: /^REFCHECK_STORE$/i,
    name: 'store password',
    userinfo: /^([^a-z]*postgres(?:ql)?:\/\/)([^:/?#@]*):(.*)@/is,
    childReplacement: '$1$2@',
  },
  {
    pattern: /^(?:.*_)?proxy$/i,
    name: 'proxy password',
    userinfo: /^((?:[^a-z\d]*[a-z][a-z\d+.-]*:\/\/)?)([^:]*)(?::(.*))?@/is,
    childReplacement: '$1',
  },
]
/**
 * A token in the position of the user. Shorter values and e-mail addresses may be names, which also occur elsewhere.
 */
const tokenAsUser = /^(?!.*(?:@|%40)).{16,}$/s
const passwordParameter = /([?&]password=)([^&#]*)/gi

const secretNameOf = (variable: string): string | undefined =>
  secretVariables.find(([pattern]) => pattern.test(variable))?.[1]

const addressVariableOf = (variable: string): AddressVariable | undefined =>
  addressVariables.find(({ pattern }) => pattern.test(variable))

/** Adds the secrets of the environment to `secrets`, and returns `secrets`. */
export function secretsOf(env: Environment, secrets: Secrets = new Secrets()): Secrets {
  for (const [variable, value = ''] of Object.entries(env)) {
    const name = secretNameOf(variable)
    if (name !== undefined) secrets.add(name, value)
    const address = addressVariableOf(variable)
    if (address !== undefined) addPasswords(secrets, address, value)
  }
  return secrets
}

function addPasswords(secrets: Secrets, { name, userinfo }: AddressVariable, address: string): void {
  const [, , user = '', userPassword] = userinfo.exec(address) ?? []
  const passwords = [userPassword, ...[...address.matchAll(passwordParameter)].map(([, , value]) => value)]
  const token = !userPassword && tokenAsUser.test(user) ? user : undefined
  for (const encoded of [...passwords, token]) {
    if (encoded === undefined) continue
    const decoded = decodeUriOrUndefined(encoded) ?? encoded
    secrets.add(name, encoded)
    secrets.add(name, decoded)
    // The form in which the password is sent to a proxy (RFC 7617).
    secrets.add(name, Buffer.from(`${decodeUriOrUndefined(user) ?? user}:${decoded}`).toString('base64'))
  }
}

/**
 * Variables by which a program finds its files, the store and the profile. An ordinary word in their values is not a
 * secret.
 */
const neededVariables =
  /^(?:PATH|HOME|PWD|USER|LOGNAME|SHELL|TMPDIR|LANG|TERM|XDG_\w+|REFCHECK_(?!STORE)\w+)$/i

/**
 * Returns the environment for a program that refcheck starts. It has no keys, webhook secrets and tokens, and no
 * variable that contains one of `secrets`, including those that are ordinary words. The address of the store has no
 * password, addresses of proxies have no user and password, and both contain no other secret.
 */
export function childEnvironment(env: Environment, secrets: Secrets): Record<string, string | undefined> {
  const allSecrets = secrets.includingOrdinaryWords()
  const childVariables = Object.entries(env).flatMap(([variable, value = '']): [string, string][] => {
    if (secretNameOf(variable) !== undefined || secrets.isIn(variable)) return []
    const address = addressVariableOf(variable)
    if (address !== undefined) {
      const rest = value.replace(address.userinfo, address.childReplacement).replace(passwordParameter, '$1')
      // Without the variable the program would silently use another store or no proxy. With a redacted value it fails.
      return [[variable, secrets.isIn(rest) ? secrets.redact(rest) : rest]]
    }
    return (neededVariables.test(variable) ? secrets : allSecrets).isIn(value) ? [] : [[variable, value]]
  })
  return Object.fromEntries(childVariables)
}

/**
 * A part of a text that a pass changed. `resultIndex` and `length` are its range in the result, `from` and `to` its
 * range in the input.
 */
interface Edit {
  resultIndex: number
  length: number
  from: number
  to: number
}

/**
 * Characters that are not visible within a word: terminal sequences, control and format characters, line breaks, and
 * U+FFFD, which the program prints in their stead.
 */
const hiddenCharacter = new RegExp(
  [
    String.raw`\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B\\]*(?:\u0007|\u001B\\)|[()][A-Z\d])`,
    String.raw`\u009B[0-?]*[ -/]*[@-~]`,
    // Cc, Cf and Default_Ignorable_Code_Point are written as ranges: with \p the pattern takes ten times as long to
    // compile at each start.
    String.raw`[\0-\x1F\x7F-\x9F\xAD\u034F\u0600-\u0605\u061C\u06DD\u070F\u0890\u0891\u08E2\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFD\u{110BD}\u{110CD}\u{13430}-\u{1343F}\u{1BCA0}-\u{1BCA3}\u{1D173}-\u{1D17A}\u{E0000}-\u{E0FFF}]+`,
  ].join('|'),
  'gu',
)

/**
 * Variants of ASCII characters that NFKC replaces: superscript, circled, mathematical and fullwidth ones, and spaces.
 */
const compatibleForms = String.raw`[\xA0\xAA\xB2\xB3\xB9\xBA\u02B0-\u02B8\u2000-\u200A\u202F\u205F\u2070-\u209C\u2100-\u214F\u2460-\u24FF\u3000\uFE50-\uFE6B\uFF01-\uFF5E\u{1D400}-\u{1D7FF}\u{1F100}-\u{1F149}\u{1FBF0}-\u{1FBF9}]`
/** An encoded character: percent encoding of UTF-8, an escape of JSON, JavaScript, C or Python, or an HTML entity. */
const encodedCharacter = new RegExp(
  [
    String.raw`%(?:[C-Fc-f][\dA-Fa-f](?:%[89ABab][\dA-Fa-f]){1,3}|[\dA-Fa-f]{2}|u[\dA-Fa-f]{4})`,
    String.raw`\\{1,8}(?:u[\dA-Fa-f]{4}|u\{0{0,8}[\dA-Fa-f]{1,6}\}|U[\dA-Fa-f]{8}|x[C-Fc-f][\dA-Fa-f](?:\\{1,8}x[89ABab][\dA-Fa-f]){1,3}|x[\dA-Fa-f]{2}|3[0-7]{2}(?:\\{1,8}2[0-7]{2}){1,3}|[0-3][0-7]{2}|[0abefnrtv]|(?=\w))`,
    // Browsers also accept numeric entities without a semicolon.
    String.raw`&(?:#(?:0{0,8}\d{1,7}|[xX]0{0,8}[\dA-Fa-f]{1,6});?|[A-Za-z]\w{1,30};)`,
    compatibleForms,
  ].join('|'),
  'gu',
)
/**
 * A text that does not match contains no encoded character, and no hidden character except line feeds. The letters of
 * most languages do not match.
 */
const mayHideText =
  /[^ -~\n\xA1-\xA9\xAB\xAC\xAE-\xB1\xB4-\xB8\xBB-\u02AF\u0370-\u058F\u2010-\u2027\u20A0-\u20BF\u2190-\u23FF\u2500-\u27BF\u3041-\u30FF\u4E00-\u9FFF\uAC00-\uD7A3]|\\\\?\w|%[\dA-Fa-fu]|&[#A-Za-z]/

/** A text that does not match contains no character that `hiddenCharacter` or `encodedCharacter` matches. */
const mayChange = /[^ -~]|[\\%&]/

/**
 * The character of each HTML 5 entity that is an ASCII character, a space or a ligature. A ligature becomes its
 * letters.
 */
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

/** The greatest number of nested encodings that are decoded. A text with more of them is not readable for a person. */
const maxPasses = 24

/** Whether `decodings` may yield a text other than the source without its line feeds. */
function mayBeEncoded(text: string): boolean {
  return mayHideText.test(text)
}

/**
 * Yields the text after each pass. A pass removes hidden characters or decodes encoded ones; the passes end when
 * nothing changes. `editsByPass` receives the edits of each pass, for `rangeIn`; for a long text they need many
 * times its memory.
 */
function* decodings(source: string, editsByPass?: Edit[][]): Generator<string> {
  let text = source
  for (let pass = 0; pass < maxPasses; pass += 1) {
    const isStripping = pass % 2 === 0
    const edits: Edit[] | undefined = editsByPass && []
    const next = isStripping
      ? replacePattern(text, hiddenCharacter, () => '', edits)
      : replacePattern(text, encodedCharacter, decodeCharacter, edits)
    if (next === text && !isStripping) return
    if (next === text) continue
    if (edits !== undefined) editsByPass?.push(edits)
    text = next
    yield text
  }
}

/** Returns the range in the source of the range from `start` to `end` (exclusive) in the text after `editsByPass`. */
function rangeIn(editsByPass: readonly Edit[][], start: number, end: number): [from: number, to: number] {
  return editsByPass.reduceRight<[number, number]>(
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
  // Most texts do not contain these characters, and the patterns are slow.
  if (!mayChange.test(text)) return text
  let shift = 0
  return text.replace(pattern, (found, ...rest: unknown[]) => {
    const changed = change(found)
    if (edits === undefined) return changed
    const from = rest.find((each) => typeof each === 'number') ?? 0
    edits.push({ resultIndex: from + shift, length: changed.length, from, to: from + found.length })
    shift += changed.length - found.length
    return changed
  })
}

/** Returns the range, in the input of a pass, of the character that is at `index` in the result of the pass. */
function rangeBefore(edits: readonly Edit[], index: number): { from: number; to: number } {
  let low = 0
  let high = edits.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((edits[middle]?.resultIndex ?? 0) <= index) low = middle + 1
    else high = middle
  }
  const last = edits[low - 1]
  if (last === undefined) return { from: index, to: index + 1 }
  const distance = index - last.resultIndex - last.length
  return distance < 0 ? last : { from: last.to + distance, to: last.to + distance + 1 }
}

function decodeCharacter(found: string): string {
  if (found.startsWith('&')) return decodeEntity(found.slice(1).replace(/;$/, ''))
  if (/^%[^u]/.test(found)) return Buffer.from(found.replaceAll('%', ''), 'hex').toString()
  if (!/^[%\\]/.test(found)) return found.normalize('NFKC')
  const numbers = found.match(/[\dA-Fa-f]{2,}/g) ?? []
  if (/x/.test(found)) return textOfBytes(numbers.map((each) => Number.parseInt(each, 16)))
  if (/u/i.test(found)) return characterOf(Number.parseInt(/[\dA-Fa-f]+/.exec(found)?.[0] ?? '', 16))
  if (/\d\d/.test(found)) return textOfBytes(numbers.map((each) => Number.parseInt(each, 8)))
  if (found.endsWith('\\')) return ''
  return found.endsWith('e') ? '\u001B' : '\0'
}

/** Decodes bytes as UTF-8, or as Latin-1 if they are not UTF-8. */
function textOfBytes(numbers: readonly number[]): string {
  const bytes = Buffer.from(numbers)
  const text = bytes.toString()
  return text.includes('\uFFFD') ? bytes.toString('latin1') : text
}

/** An unknown entity becomes a hidden character, so that the next pass removes it. */
function decodeEntity(name: string): string {
  if (!name.startsWith('#')) return entities.get(name) ?? '\0'
  return characterOf(
    /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10),
  )
}

/** A surrogate is returned alone: the next escape contains the other half of the pair. */
const characterOf = (code: number): string => (code <= 0x10_ff_ff ? String.fromCodePoint(code) : '\0')

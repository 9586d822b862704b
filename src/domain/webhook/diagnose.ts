import { parseJsonOrUndefined } from '../../contract/parse-json.ts'
import { sign, signingKey } from '../../contract/signature.ts'
import { type CapturedDelivery, latin1 } from './capture.ts'

/** What probably happened to a delivery that is not valid. It stays invalid. */
export interface Diagnosis {
  /** For scripts: `trailing_newline_added`, `signature_upper_case`, `other_secret` … */
  cause: string
  message: string
}

/** A secret that is not the one in use, by words that complete "it would match with". */
export interface OtherSecret {
  name: string
  secret: string | Uint8Array
}

/** What a signature may have been, and what was done to it since. */
interface SignatureVariant {
  hex: string
  cause: string | undefined
  text: string | undefined
}

/** A signature of which this much agrees is a damaged one of ours, not a foreign one. */
const leastCut = 16

/**
 * Tries what commonly happens to a body, a signature or a secret in transit, and names the first
 * that would match; undefined where none does.
 */
export function diagnose(
  delivery: CapturedDelivery,
  secret: string,
  others: readonly OtherSecret[] = [],
): Diagnosis | undefined {
  const signatures = delivery.signatures.map(signatureVariant)
  if (signatures.length === 0) return undefined
  const several = delivery.signatures.length > 1
  const plain: BodyVariant = { cause: '', text: '', bytes: delivery.body }
  const own = { name: '', secret }
  for (const candidate of [own, ...others, ...readings(secret)]) {
    if (candidate.secret.length === 0) continue
    const key = signingKey(candidate.secret)
    for (const body of withVariants(plain, candidate === own)) {
      const expected = sign(body.bytes, key)
      const found = signatures.find(({ hex }) => matches(expected, hex))
      if (found !== undefined) return finding(body, candidate, found, { several, expected })
    }
  }
  return undefined
}

function* withVariants(plain: BodyVariant, all: boolean): Generator<BodyVariant> {
  yield plain
  for (const variant of bodyVariants(plain.bytes)) {
    if (all || /newline|byte_order/.test(variant.cause)) yield variant
  }
}

function matches(expected: string, hex: string): boolean {
  return hex === expected || (hex.length >= leastCut && hex.length < 64 && expected.startsWith(hex))
}

function finding(
  body: BodyVariant,
  { name }: OtherSecret,
  signature: SignatureVariant,
  { several, expected }: { several: boolean; expected: string },
): Diagnosis {
  const isCut = signature.hex.length < expected.length
  const parts = [
    name === '' ? '' : `with ${name}`,
    body.text,
    signature.text === undefined ? '' : `with its signature ${signature.text}`,
    isCut ? 'with the rest of its signature, which was cut' : '',
    several ? 'with that one signature alone; the service sends one' : '',
  ].filter((part) => part !== '')
  const causes = [
    name === '' ? '' : 'other_secret',
    body.cause,
    signature.cause ?? '',
    isCut ? 'signature_cut' : '',
    several ? 'signature_repeated' : '',
  ]
  return {
    cause: causes.find((cause) => cause !== '') ?? 'unknown',
    message: `It would match ${parts.join(', and ')}.`,
  }
}

/** A signature without what is often put around it. */
function signatureVariant(text: string): SignatureVariant {
  const changes: [cause: string, text: string, change: (text: string) => string][] = [
    [
      'signature_prefixed',
      'without its prefix',
      (each) => each.replace(/^\s*(?:t=\d+,)?(?:hmac-?)?(?:sha-?256|v\d|hex)[=:]/i, ''),
    ],
    ['signature_repeated', 'once instead of twice', once],
    ['signature_white_space', 'without white space', (each) => each.replace(/\s+/g, '')],
    ['signature_quoted', 'without quotes', (each) => each.replace(/^["'`]|["'`]$/g, '')],
    ['signature_base64', 'in hexadecimal instead of base64', asHex],
    ['signature_upper_case', 'in lower case', (each) => each.toLowerCase()],
  ]
  let hex = text.slice(0, 1024)
  let cause: string | undefined
  const texts: string[] = []
  for (const [changeCause, words, change] of changes) {
    const changed = change(hex)
    if (changed === hex) continue
    hex = changed
    cause ??= changeCause
    texts.push(words)
  }
  return { hex, cause, text: texts.length === 0 ? undefined : texts.join(' and ') }
}

function once(text: string): string {
  const [first = '', ...more] = text.split(/(?<!\s)\s*[,;]\s*/)
  if (more.length > 0) return first
  const half = text.slice(0, text.length / 2)
  return text.length === 128 && half === text.slice(64) ? half : text
}

function asHex(text: string): string {
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64').toString('hex') : text
}

/** The secret in use, read another way than as the text it is. */
function readings(secret: string): OtherSecret[] {
  const bare = secret.replace(/^whsec_/, '')
  const found: OtherSecret[] = [
    { name: 'a newline after the secret', secret: `${secret}\n` },
    { name: 'the secret without the white space around it', secret: secret.trim() },
    { name: 'the secret without the quotes around it', secret: secret.replace(/^(["'`])(.*)\1$/s, '$2') },
    { name: 'the secret in double quotes', secret: `"${secret}"` },
    { name: 'the secret in single quotes', secret: `'${secret}'` },
    { name: 'the secret without "whsec_"', secret: bare },
  ]
  if (/^(?:[0-9a-f]{2}){8,}$/i.test(bare)) {
    found.push({ name: 'the secret decoded from hexadecimal', secret: Buffer.from(bare, 'hex') })
  }
  if (/^[A-Za-z0-9+/_-]{12,}={0,2}$/.test(bare)) {
    found.push({ name: 'the secret decoded from base64', secret: Buffer.from(bare, 'base64') })
  }
  return found
}

/** What a body may have been before it was captured, copied or saved. */
interface BodyVariant {
  cause: string
  /** Completes "it would match …". */
  text: string
  bytes: Uint8Array
}

const variant = (cause: string, text: string, body: string | Uint8Array): BodyVariant => ({
  cause,
  text,
  bytes: Buffer.from(body),
})

/** Above this only the cheap changes are tried. */
const largestReformatted = 256 * 1024

/** Writing JSON again recurses. */
const deepest = 1000

/** The bytes that could have been signed, likely ones first; none of them is the body itself. */
export function* bodyVariants(body: Uint8Array): Generator<BodyVariant> {
  yield* inflated(body)
  yield* lineEnds(body)
  yield* marks(body)
  yield* encodings(body)
  if (body.byteLength > largestReformatted) return
  const text = Buffer.from(body).toString('utf8')
  yield* escapes(text)
  if (depthAtMost(text) <= deepest) yield* rewritten(text)
  yield* truncations(text)
}

/** No delivery is larger. */
const largestInflated = 1024 * 1024

function* inflated(body: Uint8Array): Generator<BodyVariant> {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return
  try {
    const { gunzipSync } = process.getBuiltinModule('node:zlib')
    const bytes = gunzipSync(body, { maxOutputLength: largestInflated })
    yield variant('body_compressed', 'decompressed: it was captured as gzip', bytes)
  } catch {
    // Cut, or larger than any delivery.
  }
}

function* lineEnds(body: Uint8Array): Generator<BodyVariant> {
  const text = latin1(body)
  const changed = (cause: string, words: string, bytes: string): BodyVariant =>
    variant(cause, words, Buffer.from(bytes, 'latin1'))
  const last = /\r?\n$/.exec(text)?.[0]
  if (last !== undefined) {
    const words = 'without the newline at its end: an editor, echo or a here-document added it'
    yield changed('trailing_newline_added', words, text.slice(0, -last.length))
  }
  for (const end of ['\n', '\r\n']) {
    yield changed('trailing_newline_removed', 'with a newline at its end: something removed it', text + end)
  }
  if (text.trim() !== text) {
    yield changed('white_space_added', 'without the white space around it', text.trim())
  }
  if (text.includes('\r\n')) {
    const lf = text.replaceAll('\r\n', '\n')
    yield changed('line_ends_changed', 'with LF line ends: something turned them into CRLF', lf)
    yield changed('line_ends_changed', 'with LF line ends and none at its end', lf.replace(/\n$/, ''))
  }
  if (/(?<!\r)\n/.test(text)) {
    const crlf = text.replace(/\r?\n/g, '\r\n')
    yield changed('line_ends_changed', 'with CRLF line ends: something turned them into LF', crlf)
  }
}

function* marks(body: Uint8Array): Generator<BodyVariant> {
  const mark = Buffer.from([0xef, 0xbb, 0xbf])
  const bytes = Buffer.from(body)
  if (!bytes.subarray(0, 3).equals(mark)) {
    const text = 'with a byte order mark at its start: something removed it'
    yield variant('byte_order_mark_removed', text, Buffer.concat([mark, bytes]))
    return
  }
  const bare = bytes.subarray(3)
  yield variant('byte_order_mark_added', 'without the byte order mark at its start: an editor added it', bare)
  const end = /\r?\n$/.exec(latin1(bare))?.[0].length ?? 0
  if (end > 0) {
    const both = 'without the byte order mark at its start and the newline at its end'
    yield variant('byte_order_mark_added', both, bare.subarray(0, -end))
  }
}

function* encodings(body: Uint8Array): Generator<BodyVariant> {
  const bytes = Buffer.from(body)
  for (const label of ['utf-16le', 'utf-16be'] as const) {
    if (!bytes.subarray(0, 64).includes(0)) break
    const text = new TextDecoder(label).decode(bytes)
    for (const each of new Set([text, withoutLineEnd(text)])) {
      yield variant('encoding_changed', 'as UTF-8: it was saved as UTF-16', each)
    }
  }
  const text = bytes.toString('utf8')
  if (/[\u0080-\u00ff]/.test(text) && !/[\u0100-\u{10ffff}]/u.test(text)) {
    yield variant(
      'encoding_changed',
      'as UTF-8 encoded once: it was encoded twice',
      Buffer.from(text, 'latin1'),
    )
  }
  if (text.includes('\uFFFD')) {
    const words = 'as UTF-8: it was saved as Windows-1252 or Latin-1'
    yield variant('encoding_changed', words, new TextDecoder('windows-1252').decode(bytes))
  }
  const compact = text.replace(/\s+/g, '')
  if (/^[A-Za-z0-9+/_-]{8,}={0,2}$/.test(compact)) {
    yield variant('base64_encoded', 'decoded from base64', Buffer.from(compact, 'base64'))
  }
}

const withoutLineEnd = (text: string): string => text.replace(/\r?\n$/, '')

const entities: Readonly<Record<string, string>> = {
  '&quot;': '"',
  '&#34;': '"',
  '&#x22;': '"',
  '&#39;': "'",
  '&#x27;': "'",
  '&apos;': "'",
  '&lt;': '<',
  '&gt;': '>',
  '&#x2F;': '/',
  '&amp;': '&',
}

/** Texts that a page, a form or a log escaped. */
function* escapes(text: string): Generator<BodyVariant> {
  const changed: [cause: string, words: string, bodies: (string | undefined)[]][] = [
    [
      'html_escaped',
      'without HTML escapes such as &quot;: it was copied from the source of a page',
      [text.replace(/&(?:quot|apos|lt|gt|amp|#34|#39|#x22|#x27|#x2F);/gi, (each) => entities[each] ?? each)],
    ],
    [
      'url_escaped',
      'without URL escapes such as %22: it was sent or logged as a form',
      [unescaped(text), unescaped(text.replaceAll('+', ' ')), unescaped(formValue(text))],
    ],
    [
      'json_escaped',
      'without the backslashes before its quotes: it was logged inside a JSON string',
      [jsonString(text.trim()), jsonString(`"${text.trim()}"`), text.replace(/\\(["\\/])/g, '$1')],
    ],
    ['quotes_changed', 'with straight quotes: a word processor or a chat curled them', [straight(text)]],
  ]
  for (const [cause, words, bodies] of changed) {
    for (const body of bodies) {
      if (body === undefined || body === text) continue
      for (const each of new Set([body, withoutLineEnd(body)])) yield variant(cause, words, each)
    }
  }
}

function unescaped(text: string | undefined): string | undefined {
  if (text === undefined || !/%[0-9a-f]{2}/i.test(text)) return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** The value of the one field of a form. */
function formValue(text: string): string | undefined {
  return /^[\w-]+=([^&]*)$/.exec(text.trim())?.[1]?.replaceAll('+', ' ')
}

function jsonString(text: string): string | undefined {
  const value = parseJsonOrUndefined(text)
  return typeof value === 'string' ? value : undefined
}

function straight(text: string): string {
  return text.replace(/[\u201C\u201D\u201E]/g, '"').replace(/[\u2018\u2019]/g, "'")
}

const separators = [
  ['compact', undefined],
  ['with a space after : and ,', undefined],
  ['indented by 2', 2],
  ['indented by 4', 4],
  ['indented by tabs', '\t'],
] as const

/** The same JSON as other programs write it. */
function* rewritten(text: string): Generator<BodyVariant> {
  const value = parseJsonOrUndefined(text.trim().replace(/^\uFEFF/, ''))
  if (typeof value !== 'object' || value === null) return
  for (const [order, ordered] of orders(value)) {
    for (const [style, indent] of separators) {
      const plain = style.startsWith('with') ? spaced(ordered) : JSON.stringify(ordered, null, indent)
      for (const [escaped, written] of escapings(plain)) {
        for (const end of ['', '\n']) {
          const body = written + end
          if (body === text) continue
          const words = `written as ${style} JSON${order}${escaped}${end === '' ? '' : ' and a newline'}: something parsed and re-serialised it`
          yield variant('json_reformatted', words, body)
        }
      }
    }
  }
}

function* orders(value: object): Generator<[string, unknown]> {
  yield ['', value]
  if (Array.isArray(value)) return
  const entries = Object.entries(value)
  const document = ['event', 'request_id', 'status', 'error_reason']
  const rank = (key: string): number => (document.indexOf(key) + document.length + 1) % (document.length + 1)
  const inOrder = entries.toSorted(([one], [other]) => rank(one) - rank(other))
  yield [' with its fields in the order of the document', Object.fromEntries(inOrder)]
  const sorted = entries.toSorted(([one], [other]) => (one < other ? -1 : 1))
  yield [' with its fields sorted', Object.fromEntries(sorted)]
}

function* escapings(plain: string): Generator<[string, string]> {
  yield ['', plain]
  const ascii = plain.replace(
    /[\u0080-\uffff]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  if (ascii !== plain) yield [', \\u escapes for what is not ASCII', ascii]
  if (plain.includes('/')) {
    yield [', / escaped as \\/', plain.replaceAll('/', '\\/')]
    if (ascii !== plain) yield [', \\u escapes and \\/', ascii.replaceAll('/', '\\/')]
  }
}

/** As Python's json.dumps writes it. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each: unknown) => spaced(each)).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${spaced(each)}`)
  return `{${fields.join(', ')}}`
}

/** A few characters lost at the end of an object, or something that follows it. */
function* truncations(text: string): Generator<BodyVariant> {
  if (parseJsonOrUndefined(text) !== undefined) return
  for (const end of ['}', '"}', '\n}', '}\n', '"}\n']) {
    const words = `with ${JSON.stringify(end)} at its end: something cut it`
    yield variant('truncated', words, text.trimEnd() + end)
  }
  const brace = text.lastIndexOf('}')
  if (brace === -1) return
  const words = 'without what follows the last }: something was added'
  yield variant('text_added', words, text.slice(0, brace + 1))
}

function depthAtMost(text: string): number {
  return text.split(/[[{]/).length - 1
}

import { parseJsonOrUndefined } from '../../contract/parse-json.ts'
import { sign, signingKey } from '../../contract/signature.ts'
import { decodeUriOrUndefined } from '../../contract/url.ts'
import { type CapturedDelivery, decodeLatin1 } from './capture.ts'

/** The probable reason why a delivery is not valid. The diagnosis does not make it valid. */
export interface Diagnosis {
  /** An identifier for scripts: `trailing_newline_added`, `signature_upper_case`, `other_secret` … */
  cause: string
  message: string
}

/** A secret other than the one in use. `name` completes the sentence "It would match with …". */
export interface OtherSecret {
  name: string
  secret: string | Uint8Array
}

/** A signature with its probable changes undone. */
interface SignatureVariant {
  hex: string
  /** The identifier of the first change; '' if nothing was changed. */
  cause: string
  /** Describes the changes: completes "with its signature …". */
  words: string
}

/** A shorter start of the expected signature may match by chance, and is not regarded as a cut signature. */
const minCutLength = 16

/**
 * Tries the usual changes of a body, a signature and a secret, and returns the first with which the signature matches.
 * Returns undefined if none matches.
 */
export function diagnose(
  delivery: CapturedDelivery,
  secret: string,
  otherSecrets: readonly OtherSecret[] = [],
): Diagnosis | undefined {
  const signatures = delivery.signatures.map(signatureVariant)
  if (signatures.length === 0) return undefined
  const unchanged: BodyVariant = { cause: '', words: '', bytes: delivery.body }
  const secretInUse = { name: '', secret }
  for (const candidate of [secretInUse, ...otherSecrets, ...secretVariants(secret)]) {
    if (candidate.secret.length === 0) continue
    const key = signingKey(candidate.secret)
    for (const body of withVariants(unchanged, candidate === secretInUse)) {
      const expected = sign(body.bytes, key)
      const match = signatures.find(({ hex }) => isMatch(expected, hex))
      if (match !== undefined) return createDiagnosis(body, candidate, match, signatures.length > 1)
    }
  }
  return undefined
}

/** Yields the body and its variants; unless `includesAll`, only those with another newline or byte order mark. */
function* withVariants(unchanged: BodyVariant, includesAll: boolean): Generator<BodyVariant> {
  yield unchanged
  for (const variant of bodyVariants(unchanged.bytes)) {
    if (includesAll || /newline|byte_order/.test(variant.cause)) yield variant
  }
}

function isMatch(expected: string, hex: string): boolean {
  return hex === expected || (hex.length >= minCutLength && hex.length < 64 && expected.startsWith(hex))
}

function createDiagnosis(
  body: BodyVariant,
  { name }: OtherSecret,
  signature: SignatureVariant,
  hasSeveralSignatures: boolean,
): Diagnosis {
  const changes: [cause: string, words: string, isMade: boolean][] = [
    ['other_secret', `with ${name}`, name !== ''],
    [body.cause, body.words, body.cause !== ''],
    [signature.cause, `with its signature ${signature.words}`, signature.cause !== ''],
    ['signature_cut', 'with the rest of its signature, which was cut', signature.hex.length < 64],
    ['signature_repeated', 'with that one signature alone; the service sends one', hasSeveralSignatures],
  ]
  const madeChanges = changes.filter(([, , isMade]) => isMade)
  return {
    cause: madeChanges[0]?.[0] ?? 'unknown',
    message: `It would match ${madeChanges.map(([, words]) => words).join(', and ')}.`,
  }
}

/** Undoes the usual changes of a signature: prefixes, repetition, white space, quotes, base64 and upper case. */
function signatureVariant(text: string): SignatureVariant {
  const changes: [cause: string, words: string, change: (text: string) => string][] = [
    [
      'signature_prefixed',
      'without its prefix',
      (each) => each.replace(/^\s*(?:t=\d+,)?(?:hmac-?)?(?:sha-?256|v\d|hex)[=:]/i, ''),
    ],
    ['signature_repeated', 'once instead of twice', removeRepetition],
    ['signature_white_space', 'without white space', (each) => each.replace(/\s+/g, '')],
    ['signature_quoted', 'without quotes', (each) => each.replace(/^["'`]|["'`]$/g, '')],
    ['signature_base64', 'in hexadecimal instead of base64', base64ToHex],
    ['signature_upper_case', 'in lower case', (each) => each.toLowerCase()],
  ]
  let hex = text.slice(0, 1024)
  let cause = ''
  const words: string[] = []
  for (const [changeCause, changeWords, change] of changes) {
    const changed = change(hex)
    if (changed === hex) continue
    hex = changed
    cause ||= changeCause
    words.push(changeWords)
  }
  return { hex, cause, words: words.join(' and ') }
}

function removeRepetition(text: string): string {
  const [first = '', ...more] = text.split(/(?<!\s)\s*[,;]\s*/)
  if (more.length > 0) return first
  const half = text.slice(0, text.length / 2)
  return text.length === 128 && half === text.slice(64) ? half : text
}

function base64ToHex(text: string): string {
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64').toString('hex') : text
}

/** Returns the secret in use with the usual mistakes: white space, quotes, a prefix, or an encoding. */
function secretVariants(secret: string): OtherSecret[] {
  const withoutPrefix = secret.replace(/^whsec_/, '')
  const variants: OtherSecret[] = [
    { name: 'a newline after the secret', secret: `${secret}\n` },
    { name: 'the secret without the white space around it', secret: secret.trim() },
    { name: 'the secret without the quotes around it', secret: secret.replace(/^(["'`])(.*)\1$/s, '$2') },
    { name: 'the secret in double quotes', secret: `"${secret}"` },
    { name: 'the secret in single quotes', secret: `'${secret}'` },
    { name: 'the secret without "whsec_"', secret: withoutPrefix },
  ]
  if (/^(?:[0-9a-f]{2}){8,}$/i.test(withoutPrefix)) {
    variants.push({ name: 'the secret decoded from hexadecimal', secret: Buffer.from(withoutPrefix, 'hex') })
  }
  if (/^[A-Za-z0-9+/_-]{12,}={0,2}$/.test(withoutPrefix)) {
    variants.push({ name: 'the secret decoded from base64', secret: Buffer.from(withoutPrefix, 'base64') })
  }
  return variants
}

/** A body as it may have been before it was captured, copied or saved. */
interface BodyVariant {
  /** The identifier of the change; '' for the body itself. */
  cause: string
  /** Describes the change: completes the sentence "It would match …". */
  words: string
  bytes: Uint8Array
}

const createVariant = (cause: string, words: string, body: string | Uint8Array): BodyVariant => ({
  cause,
  words,
  bytes: Buffer.from(body),
})

/** For larger bodies only the variants that cost little time are tried. */
const maxReformattedBytes = 256 * 1024

/** The limit of nesting up to which JSON is written again, because `formatSpaced` is recursive. */
const maxDepth = 1000

/** Yields the bytes that may have been signed instead of the body, the most likely ones first. */
export function* bodyVariants(body: Uint8Array): Generator<BodyVariant> {
  yield* decompressedVariants(body)
  yield* endVariants(body)
  yield* encodingVariants(body)
  if (body.byteLength > maxReformattedBytes) return
  const text = Buffer.from(body).toString('utf8')
  yield* unescapedVariants(text)
  if (maxPossibleDepth(text) <= maxDepth) yield* reformattedVariants(text)
  yield* truncationVariants(text)
}

/** The maximum size of a delivery. */
const maxDeliveryBytes = 1024 * 1024

function* decompressedVariants(body: Uint8Array): Generator<BodyVariant> {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return
  try {
    const { gunzipSync } = process.getBuiltinModule('node:zlib')
    const bytes = gunzipSync(body, { maxOutputLength: maxDeliveryBytes })
    yield createVariant('body_compressed', 'decompressed: it was captured as gzip', bytes)
  } catch {
    // The gzip data is cut, or is larger than any delivery.
  }
}

/** The bytes of a byte order mark, decoded as Latin-1. */
const byteOrderMark = '\u00EF\u00BB\u00BF'

/** Changes of the ends of a text and of its lines; the text is the body decoded as Latin-1. */
const endChanges: readonly (readonly [cause: string, words: string, undo: (text: string) => string])[] = [
  [
    'trailing_newline_added',
    'without the newline at its end: an editor, echo or a here-document added it',
    withoutLineEnd,
  ],
  ['trailing_newline_removed', 'with a newline at its end: something removed it', (text) => `${text}\n`],
  ['trailing_newline_removed', 'with a newline at its end: something removed it', (text) => `${text}\r\n`],
  ['white_space_added', 'without the white space around it', (text) => text.trim()],
  ['line_ends_changed', 'with LF line ends: something turned them into CRLF', withLf],
  ['line_ends_changed', 'with LF line ends and none at its end', (text) => withoutLineEnd(withLf(text))],
  [
    'line_ends_changed',
    'with CRLF line ends: something turned them into LF',
    (text) => text.replace(/\r?\n/g, '\r\n'),
  ],
  [
    'byte_order_mark_removed',
    'with a byte order mark at its start: something removed it',
    (text) => (text.startsWith(byteOrderMark) ? text : byteOrderMark + text),
  ],
  ['byte_order_mark_added', 'without the byte order mark at its start: an editor added it', withoutMark],
  [
    'byte_order_mark_added',
    'without the byte order mark at its start and the newline at its end',
    (text) => (text.startsWith(byteOrderMark) ? withoutLineEnd(withoutMark(text)) : text),
  ],
]

function* endVariants(body: Uint8Array): Generator<BodyVariant> {
  const text = decodeLatin1(body)
  for (const [cause, words, undo] of endChanges) {
    const unchanged = undo(text)
    if (unchanged !== text) yield createVariant(cause, words, Buffer.from(unchanged, 'latin1'))
  }
}

function withLf(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

function withoutMark(text: string): string {
  return text.startsWith(byteOrderMark) ? text.slice(byteOrderMark.length) : text
}

function* encodingVariants(body: Uint8Array): Generator<BodyVariant> {
  const bytes = Buffer.from(body)
  for (const label of ['utf-16le', 'utf-16be'] as const) {
    if (!bytes.subarray(0, 64).includes(0)) break
    const text = new TextDecoder(label).decode(bytes)
    for (const each of new Set([text, withoutLineEnd(text)])) {
      yield createVariant('encoding_changed', 'as UTF-8: it was saved as UTF-16', each)
    }
  }
  const text = bytes.toString('utf8')
  if (/[\u0080-\u00ff]/.test(text) && !/[\u0100-\u{10ffff}]/u.test(text)) {
    yield createVariant(
      'encoding_changed',
      'as UTF-8 encoded once: it was encoded twice',
      Buffer.from(text, 'latin1'),
    )
  }
  if (text.includes('\uFFFD')) {
    const words = 'as UTF-8: it was saved as Windows-1252 or Latin-1'
    yield createVariant('encoding_changed', words, new TextDecoder('windows-1252').decode(bytes))
  }
  const compact = text.replace(/\s+/g, '')
  if (/^[A-Za-z0-9+/_-]{8,}={0,2}$/.test(compact)) {
    yield createVariant('base64_encoded', 'decoded from base64', Buffer.from(compact, 'base64'))
  }
}

function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '')
}

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

/** Yields the text without the escapes that an HTML page, a form or a log added. */
function* unescapedVariants(text: string): Generator<BodyVariant> {
  const variants: [cause: string, words: string, bodies: (string | undefined)[]][] = [
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
      [parseJsonString(text.trim()), parseJsonString(`"${text.trim()}"`), text.replace(/\\(["\\/])/g, '$1')],
    ],
    [
      'quotes_changed',
      'with straight quotes: a word processor or a chat curled them',
      [straightenQuotes(text)],
    ],
  ]
  for (const [cause, words, bodies] of variants) {
    for (const body of bodies) {
      if (body === undefined || body === text) continue
      for (const each of new Set([body, withoutLineEnd(body)])) yield createVariant(cause, words, each)
    }
  }
}

function unescaped(text: string | undefined): string | undefined {
  return text !== undefined && /%[0-9a-f]{2}/i.test(text) ? decodeUriOrUndefined(text) : undefined
}

/** Returns the value of a form with a single field. */
function formValue(text: string): string | undefined {
  return /^[\w-]+=([^&]*)$/.exec(text.trim())?.[1]?.replaceAll('+', ' ')
}

function parseJsonString(text: string): string | undefined {
  const value = parseJsonOrUndefined(text)
  return typeof value === 'string' ? value : undefined
}

function straightenQuotes(text: string): string {
  return text.replace(/[\u201C\u201D\u201E]/g, '"').replace(/[\u2018\u2019]/g, "'")
}

const jsonStyles = [
  ['compact', undefined],
  ['with a space after : and ,', undefined],
  ['indented by 2', 2],
  ['indented by 4', 4],
  ['indented by tabs', '\t'],
] as const

/** Yields the JSON of the body in the styles of other programs. */
function* reformattedVariants(text: string): Generator<BodyVariant> {
  const value = parseJsonOrUndefined(text.trim().replace(/^\uFEFF/, ''))
  if (typeof value !== 'object' || value === null) return
  for (const [orderText, reordered] of reorderFields(value)) {
    for (const [style, indent] of jsonStyles) {
      const plain = style.startsWith('with')
        ? formatSpaced(reordered)
        : JSON.stringify(reordered, null, indent)
      for (const [escapingText, escaped] of escapeVariants(plain)) {
        for (const end of ['', '\n']) {
          const body = escaped + end
          if (body === text) continue
          const words = `written as ${style} JSON${orderText}${escapingText}${end === '' ? '' : ' and a newline'}: something parsed and re-serialised it`
          yield createVariant('json_reformatted', words, body)
        }
      }
    }
  }
}

/** Yields the value, and copies with other orders of its keys, each after words that describe the order. */
function* reorderFields(value: object): Generator<[string, unknown]> {
  yield ['', value]
  if (Array.isArray(value)) return
  const entries = Object.entries(value)
  const keys = ['event', 'request_id', 'status', 'error_reason']
  // A key that the document does not have comes last.
  const rank = (key: string): number => (keys.indexOf(key) + keys.length + 1) % (keys.length + 1)
  const inDocumentOrder = entries.toSorted(([one], [other]) => rank(one) - rank(other))
  yield [' with its fields in the order of the document', Object.fromEntries(inDocumentOrder)]
  const sorted = entries.toSorted(([one], [other]) => (one < other ? -1 : 1))
  yield [' with its fields sorted', Object.fromEntries(sorted)]
}

/** Yields the JSON text, and copies with optional escapes, each after words that describe them. */
function* escapeVariants(plain: string): Generator<[string, string]> {
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

/** Returns JSON in the style of Python's json.dumps, with a space after each colon and comma. */
function formatSpaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each: unknown) => formatSpaced(each)).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${formatSpaced(each)}`)
  return `{${fields.join(', ')}}`
}

/** Yields the text with a missing end of a JSON object added, and without text that follows the object. */
function* truncationVariants(text: string): Generator<BodyVariant> {
  if (parseJsonOrUndefined(text) !== undefined) return
  for (const end of ['}', '"}', '\n}', '}\n', '"}\n']) {
    const words = `with ${JSON.stringify(end)} at its end: something cut it`
    yield createVariant('truncated', words, text.trimEnd() + end)
  }
  const brace = text.lastIndexOf('}')
  if (brace === -1) return
  const words = 'without what follows the last }: something was added'
  yield createVariant('text_added', words, text.slice(0, brace + 1))
}

/** Returns an upper bound of the nesting of a JSON text: the number of its opening brackets. */
function maxPossibleDepth(text: string): number {
  return text.split(/[[{]/).length - 1
}

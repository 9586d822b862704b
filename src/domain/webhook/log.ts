import { signatureHeader } from '../../contract/headers.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import type { CapturedDelivery } from './capture.ts'
import { parseJson } from '../../contract/parse-json.ts'

/** One delivery out of many, by where it stands: `line 3`, `entry 12`. */
export interface LoggedDelivery {
  place: string
  /** Undefined where the log does not hold what verifying needs. */
  delivery: CapturedDelivery | undefined
  /** Why there is nothing to verify. */
  fault?: string | undefined
  /** Wall time, where the log says it in `received_at`. */
  receivedAt?: number | undefined
}

/** Bytes; a log of lines may be far larger. */
const largestDocument = 16 * 1024 * 1024

const name = signatureHeader.toLowerCase()
const bodyNames = ['body', 'raw_body', 'rawBody', 'payload', 'content'] as const
const base64Names = ['body_base64', 'bodyBase64'] as const
const encodingNames = ['encoding', 'body_encoding', 'bodyEncoding'] as const

/**
 * A log of deliveries, one JSON object a line (or one JSON array of them, or an object with such an array as `data`, as
 * webhook.site's API answers). The body is `body`, `raw_body`, `rawBody`, `payload` or `content` as text, base64 where `encoding` says so or `isBase64Encoded` is
 * true (as a function behind API Gateway gets it), or `body_base64`. The signature is `signature`, or
 * stands in `headers`: an object of names in any case, or a list of `{name, value}` or `[name, value]`. Both may stand
 * in `req` or `request`, as pino and its kin log them.
 */
export function* readLog(bytes: Uint8Array): Generator<LoggedDelivery> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (firstCharacter(text) === '[') {
    const whole = parsed(text.toString('utf8'))
    if (!Array.isArray(whole)) throw noLog('it starts like a JSON array but does not end like one')
    yield* loggedAll(whole)
    return
  }
  const data = isSmallDocument(text) ? field(parsed(text.toString('utf8')), 'data') : undefined
  if (Array.isArray(data)) {
    yield* loggedAll(data)
    return
  }
  let line = 0
  for (let at = 0; at < text.byteLength;) {
    const feed = text.indexOf(0x0a, at)
    const end = feed === -1 ? text.byteLength : feed
    line += 1
    const source = text.toString('utf8', at, end).replace(/^\uFEFF/, '')
    if (source.trim() !== '') yield logged(`line ${line}`, parsed(source))
    at = end + 1
  }
}

function* loggedAll(list: readonly unknown[]): Generator<LoggedDelivery> {
  for (const [at, entry] of list.entries()) yield logged(`entry ${at + 1}`, entry)
}

/** What could be one document over many lines, or one line. */
function isSmallDocument(text: Buffer): boolean {
  return text.byteLength <= largestDocument && /^[\s\uFEFF]*\{\s*"/.test(text.toString('utf8', 0, 1024))
}

/** The POSTs of an HTTP archive (HAR 1.2), whose body is `request.postData.text`. */
export function* readHar(bytes: Uint8Array): Generator<LoggedDelivery> {
  const text = new TextDecoder('utf-8').decode(bytes)
  const entries = field(field(parsed(text), 'log'), 'entries')
  if (!Array.isArray(entries)) throw noLog('it has no log.entries, as an HTTP archive (HAR 1.2) has')
  for (const [at, entry] of entries.entries()) {
    const request = field(entry, 'request')
    if (String(field(request, 'method')).toUpperCase() !== 'POST') continue
    const data = field(request, 'postData')
    const encoding = field(data, 'encoding') ?? field(data, '_encoding')
    yield logged(`entry ${at + 1}`, {
      body: field(data, 'text'),
      encoding: encoding ?? (field(data, 'comment') === 'base64' ? 'base64' : undefined),
      headers: field(request, 'headers'),
    })
  }
}

function logged(place: string, line: unknown): LoggedDelivery {
  if (typeof line !== 'object' || line === null || Array.isArray(line)) {
    return { place, delivery: undefined, fault: 'it is not a JSON object' }
  }
  const entry = { ...innerOf(line), ...line }
  const body = bodyOf(entry)
  if (typeof body === 'string') return { place, delivery: undefined, fault: body }
  return { place, delivery: { body, signatures: signaturesOf(entry) }, receivedAt: momentOf(entry) }
}

/** The request within a line of a program's own log. */
function innerOf(line: object): object {
  const inner = field(line, 'req') ?? field(line, 'request')
  return typeof inner === 'object' && inner !== null ? inner : {}
}

function momentOf(entry: object): number | undefined {
  const said = field(entry, 'received_at')
  const at =
    typeof said === 'string' && /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:?\d\d)$/.test(said) ? Date.parse(said) : NaN
  return Number.isNaN(at) || at < 0 ? undefined : at
}

/** The body's bytes, or why there are none. */
function bodyOf(entry: object): Uint8Array | string {
  const encoded = first(entry, base64Names)
  const plain = first(entry, bodyNames)
  const isEncoded =
    /^base64$/i.test(String(first(entry, encodingNames))) || field(entry, 'isBase64Encoded') === true
  const base64 = encoded ?? (isEncoded ? plain : undefined)
  if (typeof base64 === 'string') {
    const compact = base64.replace(/\s+/g, '')
    if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(compact)) return 'its body is marked as base64 but is not'
    return Buffer.from(compact, 'base64')
  }
  if (typeof plain === 'string') return Buffer.from(plain, 'utf8')
  if (typeof plain === 'object' && plain !== null)
    return 'its body was logged as parsed JSON: the signed bytes are lost'
  return 'it has no body'
}

function signaturesOf(entry: object): string[] {
  const own = field(entry, 'signature') ?? field(entry, name)
  if (own !== undefined && own !== null) return texts(own)
  const headers = field(entry, 'headers') ?? field(entry, 'multiValueHeaders')
  const pairs: [unknown, unknown][] = Array.isArray(headers)
    ? headers.map((each: unknown) =>
        Array.isArray(each) ? [each[0], each[1]] : [field(each, 'name'), field(each, 'value')],
      )
    : Object.entries(headers ?? {})
  return pairs.filter(([key]) => String(key).toLowerCase() === name).flatMap(([, value]) => texts(value))
}

function texts(value: unknown): string[] {
  return (Array.isArray(value) ? (value as unknown[]) : [value]).map((each) =>
    typeof each === 'string' ? each : '',
  )
}

function first(entry: object, names: readonly string[]): unknown {
  return names.map((each) => field(entry, each)).find((value) => value !== undefined && value !== null)
}

function field(from: unknown, key: string): unknown {
  return typeof from === 'object' && from !== null && Object.hasOwn(from, key)
    ? (from as Record<string, unknown>)[key]
    : undefined
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

function firstCharacter(text: Buffer): string | undefined {
  return /[^\s\uFEFF]/.exec(text.toString('utf8', 0, 1024))?.[0]
}

function noLog(why: string): InvalidInputError {
  return new InvalidInputError(`the file cannot be read as a capture of many: ${why}`, {
    hint: 'See the supported formats with: refcheck webhook verify --help',
  })
}

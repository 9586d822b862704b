import { signatureHeader } from '../../contract/headers.ts'
import { hasMoreValues, isJsonObject, parseJsonOrUndefined, propertyOf } from '../../contract/parse-json.ts'
import { InvalidInputError } from '../../errors/kinds.ts'

/** A delivery as it was captured: its exact body and every value its signature header had. */
export interface CapturedDelivery {
  body: Uint8Array
  signatures: string[]
}

/** A head with its line ends; names in lower case. */
interface Head {
  headers: Map<string, string[]>
  /** Where the body begins. */
  end: number
  /** The prefix of each line, as `curl -v` writes it; empty in a raw capture. */
  prefix: string
}

const largestHead = 64 * 1024
const requestLine = /^(?:> ?)?[A-Z]{3,10} \S+(?: HTTP\/\d(?:\.\d)?)?$/
const headersTitle = /^(?:request )?headers?:?$/i
const bodyTitle = /^(?:request |raw )?(?:body|content|payload)(?: \(raw\))?:?$/i

/**
 * A captured HTTP request with its headers: raw as `nc` or a proxy writes it down, with `> ` before
 * each line as in `curl -v`, or as the text of a request bin (titles "Headers" and "Body"). What a
 * program said before the request is passed over. The body is what follows the first empty line; it
 * is cut at Content-Length where one is given, since editors add a newline at the end, and taken out
 * of its chunks where it is chunked.
 */
export function parseCapturedRequest(bytes: Uint8Array): CapturedDelivery {
  refuseWide(bytes)
  const { headers, end, prefix } = readHead(bytes)
  const rest = prefix === '' ? bytes.subarray(end) : unprefixed(bytes.subarray(end))
  return { body: framed(rest, headers, prefix), signatures: headers.get(signatureHeader.toLowerCase()) ?? [] }
}

/** The body among what follows the head (RFC 9112, 6.3). */
function framed(rest: Uint8Array, headers: Head['headers'], prefix: string): Uint8Array {
  if (headers.get('transfer-encoding')?.at(-1)?.toLowerCase().endsWith('chunked') === true) {
    // Some tools write the chunks down, others what was in them.
    return decodeChunked(rest) ?? withoutChunks(rest)
  }
  const length = contentLength(headers.get('content-length'))
  if (length === undefined) return rest
  if (rest.byteLength >= length) return rest.subarray(0, length)
  const hint =
    prefix !== '' && rest.byteLength === 0
      ? 'The output of curl -v has no body. Give the body as FILE, and the value of X-Service-Signature with --signature.'
      : 'Capture the complete request again. An editor that turns CRLF into LF also shortens a body.'
  throw new InvalidInputError(
    `the captured body is incomplete: Content-Length is ${length} bytes, but there are ${rest.byteLength}`,
    { hint },
  )
}

function withoutChunks(rest: Uint8Array): Uint8Array {
  if (rest[0] === 0x7b || rest[0] === 0x5b) return rest
  throw new InvalidInputError('the chunks of the captured body are damaged', {
    hint: 'Capture the request again as raw bytes. An editor may have changed its line ends.',
  })
}

function readHead(bytes: Uint8Array): Head {
  const headers = new Map<string, string[]>()
  let prefix = ''
  let started = false
  let titled = false
  let at = hasMark(bytes) ? 3 : 0
  while (at < Math.min(bytes.byteLength, largestHead)) {
    const { text, next, ended } = lineAt(bytes, at)
    at = next
    if (!started && requestLine.test(text)) {
      prefix = text.startsWith('>') ? '>' : ''
      headers.clear()
      started = true
      // A bin's text has empty lines of its own, and its request line has no version.
      titled = !text.includes(' HTTP/') && hasTitles(latin1(bytes.subarray(at, largestHead)))
      continue
    }
    if (prefix !== '' && !text.startsWith(prefix)) continue
    const line = prefix === '' ? text : text.slice(prefix.length).replace(/^ /, '')
    titled ||= headersTitle.test(line)
    const isEnd = titled ? bodyTitle.test(line) : line === '' && ended && (started || headers.size > 0)
    if (isEnd) return { headers, end: at, prefix }
    addHeader(headers, line)
  }
  throw new InvalidInputError('the captured request has no empty line between headers and body', {
    hint: 'Save the request as it was received: request line, headers, an empty line, then the body.',
  })
}

function hasTitles(text: string): boolean {
  const lines = text.split(/\r?\n/)
  const first = lines.findIndex((line) => headersTitle.test(line))
  return first !== -1 && lines.slice(first).some((line) => bodyTitle.test(line))
}

/** `Name: value`, or the columns of a copied table: a tab, or two spaces and more. */
function addHeader(headers: Head['headers'], line: string): void {
  const found = /^([!#$%&'*+.^`|~\w-]+)(?:[ \t]*:|\t| {2,})(.*)$/.exec(line)
  const name = found?.[1]?.toLowerCase()
  if (name === undefined) return
  const value = withoutBlanks(found?.[2] ?? '')
  headers.set(name, [...(headers.get(name) ?? []), value])
}

/** Without the spaces and tabs around it, in one pass; other white space is part of a value (RFC 9110, 5.5). */
function withoutBlanks(text: string): string {
  const isBlank = (at: number): boolean => text[at] === ' ' || text[at] === '\t'
  let [start, end] = [0, text.length]
  while (start < end && isBlank(start)) start += 1
  while (end > start && isBlank(end - 1)) end -= 1
  return text.slice(start, end)
}

/** A line without its end (CRLF, or LF alone), where the next begins, and whether it was ended at all. */
function lineAt(bytes: Uint8Array, at: number): { text: string; next: number; ended: boolean } {
  const feed = bytes.indexOf(0x0a, at)
  const stop = feed === -1 ? bytes.byteLength : feed
  const end = stop > at && bytes[stop - 1] === 0x0d ? stop - 1 : stop
  return { text: latin1(bytes.subarray(at, end)), next: stop + 1, ended: feed !== -1 }
}

/** Lines that all have the prefix lose it; otherwise the body ends where curl itself speaks again. */
function unprefixed(rest: Uint8Array): Uint8Array {
  const text = latin1(rest)
  const spoken = /^(?:[*<] |[*<]\r?$|[{}] \[\d+ bytes data\])/m.exec(text)
  const own = spoken === null ? text : text.slice(0, spoken.index)
  const lines = own.split('\n')
  const quoted = lines.every((line) => line.startsWith('>') || line === '' || line === '\r')
  return Buffer.from(
    quoted && own.startsWith('>') ? lines.map((line) => line.replace(/^> ?/, '')).join('\n') : own,
    'latin1',
  )
}

function contentLength(values: string[] | undefined): number | undefined {
  const [first, ...more] = values ?? []
  if (more.some((value) => value !== first)) {
    throw new InvalidInputError('the captured request has several lengths', {
      hint: 'Several Content-Length headers disagree; capture one request alone.',
    })
  }
  return first !== undefined && /^\d{1,9}$/.test(first) ? Number(first) : undefined
}

function refuseWide(bytes: Uint8Array): void {
  const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  if (!wide) return
  throw new InvalidInputError('the capture is UTF-16 text, not the bytes that were received', {
    hint: 'PowerShell writes UTF-16 with ">". Save it with Out-File -Encoding utf8NoBOM, or capture to a file directly.',
  })
}

function hasMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

/** The same bytes, not a copy of them. */
export const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

/** Byte by byte, so that it can be turned back. */
export function latin1(bytes: Uint8Array): string {
  return bufferOf(bytes).toString('latin1')
}

/** A delivery of a MiB, the largest there is, in pieces of ten bytes. */
const maxChunks = 100_000

/**
 * A chunked body put together (RFC 9112, 7.1); undefined where it does not decode. Line ends may be LF
 * alone, as captures have them; extensions and trailers are passed over.
 */
export function decodeChunked(bytes: Uint8Array): Uint8Array | undefined {
  const all = bufferOf(bytes)
  const body = Buffer.alloc(all.byteLength)
  let filled = 0
  let at = 0
  for (let chunks = 0; chunks <= maxChunks; chunks += 1) {
    const feed = all.indexOf(0x0a, at)
    if (feed === -1 || feed - at > 1024) return undefined
    const head = all.toString('latin1', at, feed)
    const digits = /^([0-9a-fA-F]{1,7})[ \t]*(?:;.*)?\r?$/.exec(head)?.[1]
    if (digits === undefined) return undefined
    const size = Number.parseInt(digits, 16)
    if (size === 0) return body.subarray(0, filled)
    const end = feed + 1 + size
    const lineEnd = head.endsWith('\r') ? '\r\n' : '\n'
    if (all.toString('latin1', end, end + lineEnd.length) !== lineEnd) return undefined
    filled += all.copy(body, filled, feed + 1, end)
    at = end + lineEnd.length
  }
  return undefined
}

/** One delivery out of many, with its position: `line 3`, `entry 12`. */
export interface LoggedDelivery {
  position: string
  /** Undefined where the log does not hold what verifying needs. */
  delivery: CapturedDelivery | undefined
  /** Why there is nothing to verify. */
  fault?: string | undefined
  /** Wall time, where the log says it in `received_at`. */
  receivedAt?: number | undefined
}

const mebibyte = 1024 * 1024
/** A log of lines may be far larger. */
const maxDocumentBytes = 32 * mebibyte
/** A body of a MiB, the largest that a receiver takes, with every character escaped, and its headers. */
const maxLineBytes = 8 * mebibyte
/** Of one document or line: values take far more memory than their text. */
const maxValues = 500_000

const name = signatureHeader.toLowerCase()
const bodyNames = ['body', 'raw_body', 'rawBody', 'payload', 'content'] as const
const base64Names = ['body_base64', 'bodyBase64'] as const
const encodingNames = ['encoding', 'body_encoding', 'bodyEncoding'] as const

/**
 * A log of deliveries, one JSON object a line (or one JSON array of them, or an object with such an array as `data`, as
 * webhook.site's API answers). The body is `body`, `raw_body`, `rawBody`, `payload` or `content` as text, base64 where `encoding` says so or `isBase64Encoded` is
 * true (as a function behind API Gateway gets it), or `body_base64`. The signature is `signature`, or
 * stands in `headers`: an object of names in any case, or a list of `{name, value}` or `[name, value]`. Both may stand
 * in `req` or `request`, as pino and similar loggers write them.
 */
export function* readLog(content: Uint8Array): Generator<LoggedDelivery> {
  const text = bufferOf(content)
  if (firstCharacter(text) === '[') {
    const whole = parseJsonOrUndefined(smallDocument(text).toString('utf8'))
    if (!Array.isArray(whole)) throw noLog('it starts like a JSON array but does not end like one')
    yield* loggedAll(whole)
    return
  }
  const data = isSmallDocument(text)
    ? propertyOf(parseJsonOrUndefined(text.toString('utf8')), 'data')
    : undefined
  if (Array.isArray(data)) {
    yield* loggedAll(data)
    return
  }
  let line = 0
  for (let at = 0; at < text.byteLength;) {
    const feed = text.indexOf(0x0a, at)
    const end = feed === -1 ? text.byteLength : feed
    line += 1
    const bytes = text.subarray(at, end)
    if (bytes.byteLength > maxLineBytes || hasMoreValues(bytes, maxValues)) {
      const fault = `it is longer than ${maxLineBytes} bytes or holds more than ${maxValues} values`
      yield { position: `line ${line}`, delivery: undefined, fault }
    } else {
      const source = bytes.toString('utf8').replace(/^\uFEFF/, '')
      if (source.trim() !== '') yield logged(`line ${line}`, parseJsonOrUndefined(source))
    }
    at = end + 1
  }
}

function* loggedAll(list: readonly unknown[]): Generator<LoggedDelivery> {
  for (const [at, entry] of list.entries()) yield logged(`entry ${at + 1}`, entry)
}

/** What could be one document over many lines, or one line. */
function isSmallDocument(text: Buffer): boolean {
  return isSmall(text) && /^[\s\uFEFF]*\{\s*"/.test(text.toString('utf8', 0, 1024))
}

const isSmall = (text: Uint8Array): boolean =>
  text.byteLength <= maxDocumentBytes && !hasMoreValues(text, maxValues)

function smallDocument<T extends Uint8Array>(text: T): T {
  if (isSmall(text)) return text
  throw new InvalidInputError(
    `the file is one JSON document of more than ${maxDocumentBytes} bytes or ${maxValues} values`,
    { hint: 'Split it, or write one JSON object a line: jq -c ".[]" FILE' },
  )
}

/** The POSTs of an HTTP archive (HAR 1.2), whose body is `request.postData.text`. */
export function* readHar(bytes: Uint8Array): Generator<LoggedDelivery> {
  const text = new TextDecoder('utf-8').decode(smallDocument(bytes))
  const entries = propertyOf(propertyOf(parseJsonOrUndefined(text), 'log'), 'entries')
  if (!Array.isArray(entries)) throw noLog('it has no log.entries, as an HTTP archive (HAR 1.2) has')
  for (const [at, entry] of entries.entries()) {
    const request = propertyOf(entry, 'request')
    if (String(propertyOf(request, 'method')).toUpperCase() !== 'POST') continue
    const data = propertyOf(request, 'postData')
    const encoding = propertyOf(data, 'encoding') ?? propertyOf(data, '_encoding')
    yield logged(`entry ${at + 1}`, {
      body: propertyOf(data, 'text'),
      encoding: encoding ?? (propertyOf(data, 'comment') === 'base64' ? 'base64' : undefined),
      headers: propertyOf(request, 'headers'),
    })
  }
}

function logged(position: string, line: unknown): LoggedDelivery {
  if (!isJsonObject(line)) {
    return { position, delivery: undefined, fault: 'it is not a JSON object' }
  }
  const entry = { ...innerOf(line), ...line }
  const body = bodyOf(entry)
  if (typeof body === 'string') return { position, delivery: undefined, fault: body }
  return { position, delivery: { body, signatures: signaturesOf(entry) }, receivedAt: momentOf(entry) }
}

/** The request within a line of a program's own log. */
function innerOf(line: object): object {
  const inner = propertyOf(line, 'req') ?? propertyOf(line, 'request')
  return typeof inner === 'object' && inner !== null ? inner : {}
}

function momentOf(entry: object): number | undefined {
  const receivedAt = propertyOf(entry, 'received_at')
  const at =
    typeof receivedAt === 'string' && /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:?\d\d)$/.test(receivedAt)
      ? Date.parse(receivedAt)
      : NaN
  return Number.isNaN(at) || at < 0 ? undefined : at
}

/** The body's bytes, or why there are none. */
function bodyOf(entry: object): Uint8Array | string {
  const encoded = firstOf(entry, base64Names)
  const plain = firstOf(entry, bodyNames)
  const isEncoded =
    /^base64$/i.test(String(firstOf(entry, encodingNames))) || propertyOf(entry, 'isBase64Encoded') === true
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
  const own = propertyOf(entry, 'signature') ?? propertyOf(entry, name)
  if (own !== undefined && own !== null) return texts(own)
  const headers = propertyOf(entry, 'headers') ?? propertyOf(entry, 'multiValueHeaders')
  const pairs: [unknown, unknown][] = Array.isArray(headers)
    ? headers.map((each: unknown) =>
        Array.isArray(each) ? [each[0], each[1]] : [propertyOf(each, 'name'), propertyOf(each, 'value')],
      )
    : Object.entries(headers ?? {})
  return pairs.filter(([key]) => String(key).toLowerCase() === name).flatMap(([, value]) => texts(value))
}

function texts(value: unknown): string[] {
  return (Array.isArray(value) ? (value as unknown[]) : [value]).map((each) =>
    typeof each === 'string' ? each : '',
  )
}

function firstOf(entry: object, names: readonly string[]): unknown {
  return names.map((each) => propertyOf(entry, each)).find((value) => value !== undefined && value !== null)
}

function firstCharacter(text: Buffer): string | undefined {
  return /[^\s\uFEFF]/.exec(text.toString('utf8', 0, 1024))?.[0]
}

function noLog(why: string): InvalidInputError {
  return new InvalidInputError(`the file cannot be read as a capture of many: ${why}`, {
    hint: 'See the supported formats with: refcheck webhook verify --help',
  })
}

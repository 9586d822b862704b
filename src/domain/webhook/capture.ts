import { signatureHeader } from '../../contract/headers.ts'
import { hasMoreValues, isJsonObject, parseJsonOrUndefined, propertyOf } from '../../contract/parse-json.ts'
import { InvalidInputError } from '../../errors/kinds.ts'

/** A captured delivery: its exact body, and all values of its signature header. */
export interface CapturedDelivery {
  body: Uint8Array
  signatures: string[]
}

/** The head of a captured request. */
interface Head {
  /** Values by name in lower case. */
  headers: Map<string, string[]>
  /** The offset of the body. */
  bodyOffset: number
  /** The prefix that `curl -v` adds to each line; empty in a raw capture. */
  prefix: string
}

const maxHeadBytes = 64 * 1024
const requestLine = /^(?:> ?)?[A-Z]{3,10} \S+(?: HTTP\/\d(?:\.\d)?)?$/
const headersTitle = /^(?:request )?headers?:?$/i
const bodyTitle = /^(?:request |raw )?(?:body|content|payload)(?: \(raw\))?:?$/i

/**
 * Parses a captured HTTP request: raw bytes as `nc` or a proxy writes them, lines that start with `> ` as in `curl
 * -v`, or the text of a request bin (with the titles "Headers" and "Body"). Text before the request line is ignored.
 * The body starts after the first empty line. It is decoded if it is chunked, and otherwise cut at Content-Length,
 * because editors add a newline at the end. Throws InvalidInputError if there is no complete request.
 */
export function parseCapturedRequest(bytes: Uint8Array): CapturedDelivery {
  refuseUtf16(bytes)
  const { headers, bodyOffset, prefix } = readHead(bytes)
  const bytesAfterHead =
    prefix === '' ? bytes.subarray(bodyOffset) : bodyInCurlOutput(bytes.subarray(bodyOffset))
  return {
    body: extractBody(bytesAfterHead, headers, prefix),
    signatures: headers.get(signatureHeader.toLowerCase()) ?? [],
  }
}

/** Returns the body from the bytes after the head (RFC 9112, 6.3). */
function extractBody(bytesAfterHead: Uint8Array, headers: Head['headers'], prefix: string): Uint8Array {
  if (headers.get('transfer-encoding')?.at(-1)?.toLowerCase().endsWith('chunked') === true) {
    // Some tools save the chunks, others the decoded body.
    return decodeChunked(bytesAfterHead) ?? requireDecoded(bytesAfterHead)
  }
  const length = contentLength(headers.get('content-length'))
  if (length === undefined) return bytesAfterHead
  if (bytesAfterHead.byteLength >= length) return bytesAfterHead.subarray(0, length)
  const hint =
    prefix !== '' && bytesAfterHead.byteLength === 0
      ? 'The output of curl -v has no body. Give the body as FILE, and the value of X-Service-Signature with --signature.'
      : 'Capture the complete request again. An editor that turns CRLF into LF also shortens a body.'
  throw new InvalidInputError(
    `the captured body is incomplete: Content-Length is ${length} bytes, but there are ${bytesAfterHead.byteLength}`,
    { hint },
  )
}

/**
 * Returns the body if it starts like JSON: the tool that captured it has then decoded the chunks already. Throws
 * InvalidInputError for damaged chunks.
 */
function requireDecoded(bytesAfterHead: Uint8Array): Uint8Array {
  if (bytesAfterHead[0] === 0x7b || bytesAfterHead[0] === 0x5b) return bytesAfterHead
  throw new InvalidInputError('the chunks of the captured body are damaged', {
    hint: 'Capture the request again as raw bytes. An editor may have changed its line ends.',
  })
}

function readHead(bytes: Uint8Array): Head {
  const headers = new Map<string, string[]>()
  let prefix = ''
  let hasRequestLine = false
  let isRequestBin = false
  let offset = hasByteOrderMark(bytes) ? 3 : 0
  while (offset < Math.min(bytes.byteLength, maxHeadBytes)) {
    const { text, nextOffset, hasLineEnd } = readLine(bytes, offset)
    offset = nextOffset
    if (!hasRequestLine && requestLine.test(text)) {
      prefix = text.startsWith('>') ? '>' : ''
      headers.clear()
      hasRequestLine = true
      // The text of a request bin has empty lines between its parts, and its request line has no version.
      isRequestBin =
        !text.includes(' HTTP/') && hasHeadersAndBodyTitle(decodeLatin1(bytes.subarray(offset, maxHeadBytes)))
      continue
    }
    if (prefix !== '' && !text.startsWith(prefix)) continue
    const line = prefix === '' ? text : text.slice(prefix.length).replace(/^ /, '')
    isRequestBin ||= headersTitle.test(line)
    const isEnd = isRequestBin
      ? bodyTitle.test(line)
      : line === '' && hasLineEnd && (hasRequestLine || headers.size > 0)
    if (isEnd) return { headers, bodyOffset: offset, prefix }
    addHeader(headers, line)
  }
  throw new InvalidInputError('the captured request has no empty line between headers and body', {
    hint: 'Save the request as it was received: request line, headers, an empty line, then the body.',
  })
}

function hasHeadersAndBodyTitle(text: string): boolean {
  const lines = text.split(/\r?\n/)
  const first = lines.findIndex((line) => headersTitle.test(line))
  return first !== -1 && lines.slice(first).some((line) => bodyTitle.test(line))
}

/** Adds the header of a line: `Name: value`, or a row of a copied table with a tab or several spaces between. */
function addHeader(headers: Head['headers'], line: string): void {
  const match = /^([!#$%&'*+.^`|~\w-]+)(?:[ \t]*:|\t| {2,})(.*)$/.exec(line)
  const name = match?.[1]?.toLowerCase()
  if (name === undefined) return
  const value = trimBlanks(match?.[2] ?? '')
  headers.set(name, [...(headers.get(name) ?? []), value])
}

/** Removes spaces and tabs at both ends, in linear time. Other white space is part of a value (RFC 9110, 5.5). */
function trimBlanks(text: string): string {
  const isBlank = (index: number): boolean => text[index] === ' ' || text[index] === '\t'
  let [start, end] = [0, text.length]
  while (start < end && isBlank(start)) start += 1
  while (end > start && isBlank(end - 1)) end -= 1
  return text.slice(start, end)
}

/** Returns a line without its end (CRLF or LF), and the offset of the next line. */
function readLine(
  bytes: Uint8Array,
  offset: number,
): { text: string; nextOffset: number; hasLineEnd: boolean } {
  const lineFeed = bytes.indexOf(0x0a, offset)
  const stop = lineFeed === -1 ? bytes.byteLength : lineFeed
  const end = stop > offset && bytes[stop - 1] === 0x0d ? stop - 1 : stop
  return {
    text: decodeLatin1(bytes.subarray(offset, end)),
    nextOffset: stop + 1,
    hasLineEnd: lineFeed !== -1,
  }
}

/**
 * Returns the body in the output of `curl -v`: up to the next line that curl prints about its own work, and without
 * the prefix `> ` if all lines of the body have it.
 */
function bodyInCurlOutput(bytesAfterHead: Uint8Array): Uint8Array {
  const text = decodeLatin1(bytesAfterHead)
  const curlLine = /^(?:[*<] |[*<]\r?$|[{}] \[\d+ bytes data\])/m.exec(text)
  const body = curlLine === null ? text : text.slice(0, curlLine.index)
  const lines = body.split('\n')
  const isPrefixed = lines.every((line) => line.startsWith('>') || line === '' || line === '\r')
  return Buffer.from(
    isPrefixed && body.startsWith('>') ? lines.map((line) => line.replace(/^> ?/, '')).join('\n') : body,
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

function refuseUtf16(bytes: Uint8Array): void {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  if (!isUtf16) return
  throw new InvalidInputError('the capture is UTF-16 text, not the bytes that were received', {
    hint: 'PowerShell writes UTF-16 with ">". Save it with Out-File -Encoding utf8NoBOM, or capture to a file directly.',
  })
}

function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

/** Returns a Buffer that shares the memory of `bytes`. */
export const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

/** Decodes each byte as one character, so that the text can be encoded again without loss. */
export function decodeLatin1(bytes: Uint8Array): string {
  return bufferOf(bytes).toString('latin1')
}

/** The maximum number of chunks: enough for a delivery of 1 MiB, which is the maximum, in chunks of ten bytes. */
const maxChunks = 100_000

/**
 * Decodes a chunked body (RFC 9112, 7.1). Returns undefined if it is not valid. Line ends may be LF, because captures
 * often have them; extensions and trailers are ignored.
 */
export function decodeChunked(bytes: Uint8Array): Uint8Array | undefined {
  const buffer = bufferOf(bytes)
  const body = Buffer.alloc(buffer.byteLength)
  let bodyLength = 0
  let offset = 0
  for (let chunks = 0; chunks <= maxChunks; chunks += 1) {
    const lineFeed = buffer.indexOf(0x0a, offset)
    if (lineFeed === -1 || lineFeed - offset > 1024) return undefined
    const head = buffer.toString('latin1', offset, lineFeed)
    const digits = /^([0-9a-fA-F]{1,7})[ \t]*(?:;.*)?\r?$/.exec(head)?.[1]
    if (digits === undefined) return undefined
    const size = Number.parseInt(digits, 16)
    if (size === 0) return body.subarray(0, bodyLength)
    const end = lineFeed + 1 + size
    const lineEnd = head.endsWith('\r') ? '\r\n' : '\n'
    if (buffer.toString('latin1', end, end + lineEnd.length) !== lineEnd) return undefined
    bodyLength += buffer.copy(body, bodyLength, lineFeed + 1, end)
    offset = end + lineEnd.length
  }
  return undefined
}

/** A delivery of a log. */
export interface LoggedDelivery {
  /** The position in the log: `line 3`, `entry 12`. */
  position: string
  /** Undefined if the log does not contain the data that verification needs. */
  delivery: CapturedDelivery | undefined
  /** The reason why `delivery` is undefined. */
  fault?: string | undefined
  /** The wall time in ms from `received_at`; undefined if the log does not have it. */
  receivedAt?: number | undefined
}

const mebibyte = 1024 * 1024
/** The maximum size of a log that is one JSON document. A log of JSON lines may be larger. */
const maxDocumentBytes = 32 * mebibyte
/** The maximum size of a line: enough for headers and a body of 1 MiB, the maximum, with all characters escaped. */
const maxLineBytes = 8 * mebibyte
/** The maximum number of values in a document or line, because parsed values need much more memory than their text. */
const maxValues = 500_000

const signatureName = signatureHeader.toLowerCase()
const bodyNames = ['body', 'raw_body', 'rawBody', 'payload', 'content'] as const
const base64Names = ['body_base64', 'bodyBase64'] as const
const encodingNames = ['encoding', 'body_encoding', 'bodyEncoding'] as const

/**
 * Reads a log of deliveries: one JSON object per line, a JSON array of objects, or an object with such an array as
 * `data` (as the API of webhook.site returns). An object has the body as text in `body`, `raw_body`, `rawBody`,
 * `payload` or `content`, or as base64 in `body_base64`. The text is base64 if `encoding` is `base64`, or if
 * `isBase64Encoded` is true (as behind API Gateway). The signature is in `signature`, or in `headers`, which is an
 * object with names in any case, or a list of `{name, value}` or `[name, value]`. Body and signature may be in `req`
 * or `request`, as in the logs of pino.
 */
export function* readLog(content: Uint8Array): Generator<LoggedDelivery> {
  const text = bufferOf(content)
  if (firstCharacter(text) === '[') {
    const entries = parseJsonOrUndefined(requireSmall(text).toString('utf8'))
    if (!Array.isArray(entries)) throw unreadableLog('it starts like a JSON array but does not end like one')
    yield* parseEntries(entries)
    return
  }
  const data = isSmallDocument(text)
    ? propertyOf(parseJsonOrUndefined(text.toString('utf8')), 'data')
    : undefined
  if (Array.isArray(data)) {
    yield* parseEntries(data)
    return
  }
  let line = 0
  for (let offset = 0; offset < text.byteLength;) {
    const lineFeed = text.indexOf(0x0a, offset)
    const end = lineFeed === -1 ? text.byteLength : lineFeed
    line += 1
    const bytes = text.subarray(offset, end)
    if (bytes.byteLength > maxLineBytes || hasMoreValues(bytes, maxValues)) {
      const fault = `it is longer than ${maxLineBytes} bytes or holds more than ${maxValues} values`
      yield { position: `line ${line}`, delivery: undefined, fault }
    } else {
      const source = bytes.toString('utf8').replace(/^\uFEFF/, '')
      if (source.trim() !== '') yield parseEntry(`line ${line}`, parseJsonOrUndefined(source))
    }
    offset = end + 1
  }
}

function* parseEntries(entries: readonly unknown[]): Generator<LoggedDelivery> {
  for (const [index, entry] of entries.entries()) yield parseEntry(`entry ${index + 1}`, entry)
}

/** Whether a text starts like a JSON object, and is small enough to be parsed as one document. */
function isSmallDocument(text: Buffer): boolean {
  return isSmall(text) && /^[\s\uFEFF]*\{\s*"/.test(text.toString('utf8', 0, 1024))
}

const isSmall = (text: Uint8Array): boolean =>
  text.byteLength <= maxDocumentBytes && !hasMoreValues(text, maxValues)

/** Returns the text. Throws InvalidInputError if it is too large to be parsed as one document. */
function requireSmall<T extends Uint8Array>(text: T): T {
  if (isSmall(text)) return text
  throw new InvalidInputError(
    `the file is one JSON document of more than ${maxDocumentBytes} bytes or ${maxValues} values`,
    { hint: 'Split it, or write one JSON object a line: jq -c ".[]" FILE' },
  )
}

/** Reads the POST requests of an HTTP archive (HAR 1.2), whose bodies are in `request.postData.text`. */
export function* readHar(bytes: Uint8Array): Generator<LoggedDelivery> {
  const text = new TextDecoder('utf-8').decode(requireSmall(bytes))
  const entries = propertyOf(propertyOf(parseJsonOrUndefined(text), 'log'), 'entries')
  if (!Array.isArray(entries)) throw unreadableLog('it has no log.entries, as an HTTP archive (HAR 1.2) has')
  for (const [index, entry] of entries.entries()) {
    const request = propertyOf(entry, 'request')
    if (String(propertyOf(request, 'method')).toUpperCase() !== 'POST') continue
    const data = propertyOf(request, 'postData')
    const encoding = propertyOf(data, 'encoding') ?? propertyOf(data, '_encoding')
    yield parseEntry(`entry ${index + 1}`, {
      body: propertyOf(data, 'text'),
      encoding: encoding ?? (propertyOf(data, 'comment') === 'base64' ? 'base64' : undefined),
      headers: propertyOf(request, 'headers'),
    })
  }
}

function parseEntry(position: string, value: unknown): LoggedDelivery {
  if (!isJsonObject(value)) {
    return { position, delivery: undefined, fault: 'it is not a JSON object' }
  }
  const request = propertyOf(value, 'req') ?? propertyOf(value, 'request')
  // In the log of a server, the request may be in one of these properties.
  const entry = { ...(isJsonObject(request) && request), ...value }
  const body = bodyOf(entry)
  if (typeof body === 'string') return { position, delivery: undefined, fault: body }
  return { position, delivery: { body, signatures: signaturesOf(entry) }, receivedAt: receivedAtOf(entry) }
}

function receivedAtOf(entry: object): number | undefined {
  const receivedAt = propertyOf(entry, 'received_at')
  const time =
    typeof receivedAt === 'string' && /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:?\d\d)$/.test(receivedAt)
      ? Date.parse(receivedAt)
      : NaN
  return Number.isNaN(time) || time < 0 ? undefined : time
}

/** Returns the bytes of the body, or the reason why there are none. */
function bodyOf(entry: object): Uint8Array | string {
  const encoded = firstOf(entry, base64Names)
  const text = firstOf(entry, bodyNames)
  const isEncoded =
    /^base64$/i.test(String(firstOf(entry, encodingNames))) || propertyOf(entry, 'isBase64Encoded') === true
  const base64 = encoded ?? (isEncoded ? text : undefined)
  if (typeof base64 === 'string') {
    const compact = base64.replace(/\s+/g, '')
    if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(compact)) return 'its body is marked as base64 but is not'
    return Buffer.from(compact, 'base64')
  }
  if (typeof text === 'string') return Buffer.from(text, 'utf8')
  if (typeof text === 'object' && text !== null)
    return 'its body was logged as parsed JSON: the signed bytes are lost'
  return 'it has no body'
}

function signaturesOf(entry: object): string[] {
  const signature = propertyOf(entry, 'signature') ?? propertyOf(entry, signatureName)
  if (signature !== undefined && signature !== null) return toTexts(signature)
  const headers = propertyOf(entry, 'headers') ?? propertyOf(entry, 'multiValueHeaders')
  const pairs: [unknown, unknown][] = Array.isArray(headers)
    ? headers.map((each: unknown) =>
        Array.isArray(each) ? [each[0], each[1]] : [propertyOf(each, 'name'), propertyOf(each, 'value')],
      )
    : Object.entries(headers ?? {})
  return pairs
    .filter(([key]) => String(key).toLowerCase() === signatureName)
    .flatMap(([, value]) => toTexts(value))
}

/** Returns a value, or the members of a list, as texts; '' for each that is not a text. */
function toTexts(value: unknown): string[] {
  return (Array.isArray(value) ? (value as unknown[]) : [value]).map((each) =>
    typeof each === 'string' ? each : '',
  )
}

/** Returns the first property of an entry, among these names, that has a value. */
function firstOf(entry: object, names: readonly string[]): unknown {
  return names.map((each) => propertyOf(entry, each)).find((value) => value !== undefined && value !== null)
}

function firstCharacter(text: Buffer): string | undefined {
  return /[^\s\uFEFF]/.exec(text.toString('utf8', 0, 1024))?.[0]
}

function unreadableLog(why: string): InvalidInputError {
  return new InvalidInputError(`the file cannot be read as a capture of many: ${why}`, {
    hint: 'See the supported formats with: refcheck webhook verify --help',
  })
}

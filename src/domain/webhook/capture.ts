import { signatureHeader } from '../../contract/headers.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import { decodeChunked } from './chunked.ts'

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
  /** What stood before each line, as `curl -v` writes it; empty in a raw capture. */
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
      // A bin's text has empty lines of its own, and its request line tells no version.
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

/** Byte by byte, so that it can be turned back. */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

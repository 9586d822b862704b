import { signatureHeader } from '../../contract/headers.ts'
import { InvalidInputError } from '../../errors/invalid-input.ts'

/** A delivery as it was captured: its exact body and every value its signature header had. */
export interface CapturedDelivery {
  body: Uint8Array
  signatures: string[]
}

const largestHead = 64 * 1024

/**
 * A raw HTTP request with its headers, as `nc` or a proxy writes it down. The body is what follows the
 * first empty line, cut at Content-Length where one is given, since editors add a newline at the end.
 */
export function parseCapturedRequest(bytes: Uint8Array): CapturedDelivery {
  const end = headEnd(bytes)
  if (end === undefined) {
    throw new InvalidInputError('the captured request has no empty line between headers and body', {
      hint: 'Save the request as it came: request line, headers, an empty line, then the body.',
    })
  }
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, end.headers))
  const headers = headerValues(head)
  const length = contentLength(headers.get('content-length'))
  const body = bytes.subarray(end.body)
  if (length !== undefined && body.byteLength < length) {
    throw new InvalidInputError(
      `the captured body is cut: Content-Length says ${length} bytes, ${body.byteLength} are there`,
      { hint: 'Capture the request again, whole.' },
    )
  }
  return {
    body: length === undefined ? body : body.subarray(0, length),
    signatures: headers.get(signatureHeader.toLowerCase()) ?? [],
  }
}

/** Where the headers end and the body begins; line ends are CRLF, or LF alone. */
function headEnd(bytes: Uint8Array): { headers: number; body: number } | undefined {
  const limit = Math.min(bytes.byteLength, largestHead)
  for (let at = 0; at < limit; at += 1) {
    if (bytes[at] !== 0x0a) continue
    if (bytes[at + 1] === 0x0a) return { headers: at, body: at + 2 }
    if (bytes[at + 1] === 0x0d && bytes[at + 2] === 0x0a) return { headers: at, body: at + 3 }
  }
  return undefined
}

function headerValues(head: string): Map<string, string[]> {
  const values = new Map<string, string[]>()
  for (const line of head.split(/\r?\n|\r$/)) {
    const colon = line.indexOf(':')
    if (colon <= 0) continue
    const name = line.slice(0, colon).trim().toLowerCase()
    const value = line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '')
    values.set(name, [...(values.get(name) ?? []), value])
  }
  return values
}

function contentLength(values: string[] | undefined): number | undefined {
  const [only] = values ?? []
  return only !== undefined && /^\d{1,9}$/.test(only) ? Number(only) : undefined
}

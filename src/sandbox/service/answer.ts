import type { Envelope } from '../../contract/envelope.ts'
import { cacheHeaders } from '../../contract/headers.ts'

/** The texts of answers, by which they are logged without reading them again. */
const texts = new WeakMap<Response, string>()

function textAnswer(text: string, init: ResponseInit): Response {
  const response = new Response(text, init)
  texts.set(response, text)
  return response
}

/** The body of an answer that was made here; null of any other, such as a PDF. */
export const textOf = (response: Response): string | null => texts.get(response) ?? null

const jsonHeaders = { 'Content-Type': 'application/json', ...cacheHeaders }

/** A success in the envelope: `message` is "Empty on success". */
export function ok(data: unknown, status: 200 | 201 = 200): Response {
  return okWith(okText(data), status)
}

export function okText(data: unknown): string {
  return JSON.stringify({ data, status_message: 'ok', message: '' })
}

/** The same with a text made before. */
export function okWith(text: string, status: 200 | 201 = 200): Response {
  return textAnswer(text, { status, headers: jsonHeaders })
}

/** A failure in the envelope: data null, `status_message` consistent with the status. */
export function failure(
  status: number,
  message: string,
  headers?: Readonly<Record<string, string>>,
): Response {
  const envelope: Envelope = { data: null, status_message: statusMessage(status), message }
  return textAnswer(JSON.stringify(envelope), { status, headers: { ...jsonHeaders, ...headers } })
}

/** "informational, ok, redirect, client_error or server_error. Consistent with the HTTP status". */
function statusMessage(status: number): string {
  if (status < 200) return 'informational'
  if (status < 300) return 'ok'
  if (status < 400) return 'redirect'
  return status < 500 ? 'client_error' : 'server_error'
}

/** Thrown where a call is refused; becomes `failure` where the call is answered. */
export class Refusal extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>> | undefined

  constructor(status: number, message: string, headers?: Readonly<Record<string, string>>) {
    super(message)
    this.name = 'Refusal'
    this.status = status
    this.headers = headers
  }
}

/** The matrix's texts ("Message texts on error bodies …"). */
export const refusals = {
  missingHeaders: () => new Refusal(401, 'missing authentication headers'),
  invalidKey: () => new Refusal(401, 'invalid API key'),
  invalidToken: () => new Refusal(401, 'invalid or expired report token'),
  notMember: () => new Refusal(403, 'user is not an active member of the organisation'),
  role: () => new Refusal(403, 'the role of the user does not permit this action'),
  noCredits: () => new Refusal(403, 'organisation has no credits remaining'),
  trialExpired: () => new Refusal(403, 'organisation trial has expired'),
  subscription: () => new Refusal(403, 'organisation subscription is not active'),
  notFound: () => new Refusal(404, 'resource not found'),
  throttled: (seconds: number) => new Refusal(429, 'rate limit exceeded', { 'Retry-After': String(seconds) }),
  /** "The message names the offending field (shape: `<field path>: <reason>`)". */
  invalid: (path: string, reason: string) => new Refusal(400, `${path}: ${reason}`),
} as const

/** The answer to what never became a request, or broke on the way. */
export function malformedOrBroken(error: unknown): Response {
  return error instanceof Error && error.name === 'RequestError'
    ? failure(400, 'the request is malformed')
    : failure(500, 'internal server error')
}

const limits = { '1 MiB': 1_048_576, '64 KiB': 65_536, none: Number.POSITIVE_INFINITY }

/** The text of a body; 400 for one that is too large or no UTF-8. */
export async function readBody(request: Request, limit: keyof typeof limits): Promise<string> {
  const maxSize = limits[limit]
  const tooLarge = (): Refusal => new Refusal(400, `body: must not be larger than ${limit}`)
  const announced = request.headers.get('Content-Length')
  if (announced !== null && Number(announced) > maxSize) throw tooLarge()
  const bytes = announced === null ? await collect(request, maxSize, tooLarge) : await request.arrayBuffer()
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Refusal(400, 'body: must be UTF-8')
  }
}

/** A body of unknown length, given up as soon as it is too long. */
async function collect(request: Request, maxSize: number, tooLarge: () => Refusal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > maxSize) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

import type { Envelope } from '../../contract/envelope.ts'
import { cacheHeaders } from '../../contract/headers.ts'

/** Texts of the bodies of responses, so that the log can have them without reading the bodies. */
const textsByResponse = new WeakMap<Response, string>()

/** Returns the text of a response that this module made; null for any other, such as a PDF. */
export const findText = (response: Response): string | null => textsByResponse.get(response) ?? null

const jsonHeaders = { 'Content-Type': 'application/json', ...cacheHeaders }

/** Returns the response with a text in JSON, such as one that `formatSuccess` returned. */
export function createJsonResponse(
  text: string,
  status: number,
  headers?: Readonly<Record<string, string>>,
): Response {
  const response = new Response(text, { status, headers: { ...jsonHeaders, ...headers } })
  textsByResponse.set(response, text)
  return response
}

/** Returns a successful response in the envelope. Its `message` is "Empty on success". */
export function createSuccessResponse(data: unknown, status: 200 | 201 = 200): Response {
  return createJsonResponse(formatSuccess(data), status)
}

export function formatSuccess(data: unknown): string {
  return JSON.stringify({ data, status_message: 'ok', message: '' })
}

/** Returns a failed response in the envelope: `data` is null and `status_message` matches the status. */
export function createFailureResponse(
  status: number,
  message: string,
  headers?: Readonly<Record<string, string>>,
): Response {
  const envelope: Envelope = { data: null, status_message: findStatusMessage(status), message }
  return createJsonResponse(JSON.stringify(envelope), status, headers)
}

/**
 * Returns `status_message`: "informational, ok, redirect, client_error or server_error. Consistent with the HTTP
 * status".
 */
function findStatusMessage(status: number): string {
  if (status < 200) return 'informational'
  if (status < 300) return 'ok'
  if (status < 400) return 'redirect'
  return status < 500 ? 'client_error' : 'server_error'
}

/** Thrown to refuse a call. The gateway responds with a `createFailureResponse`. */
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

/** Creates refusals with the message texts of the document's matrix ("Message texts on error bodies …"). */
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

/** Returns the response for a malformed request or a failed handler. */
export function toFailureResponse(error: unknown): Response {
  return error instanceof Error && error.name === 'RequestError'
    ? createFailureResponse(400, 'the request is malformed')
    : createFailureResponse(500, 'internal server error')
}

const bodyLimits = { '1 MiB': 1_048_576, '64 KiB': 65_536, none: Number.POSITIVE_INFINITY }

/** Reads a body as text; throws a Refusal with status 400 if it is too large or not UTF-8. */
export async function readBody(request: Request, limit: keyof typeof bodyLimits): Promise<string> {
  const maxSize = bodyLimits[limit]
  const createTooLargeError = (): Refusal => new Refusal(400, `body: must not be larger than ${limit}`)
  const contentLength = request.headers.get('Content-Length')
  if (contentLength !== null && Number(contentLength) > maxSize) throw createTooLargeError()
  const bytes =
    contentLength === null
      ? await readBytes(request, maxSize, createTooLargeError)
      : await request.arrayBuffer()
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Refusal(400, 'body: must be UTF-8')
  }
}

/** Reads a body of unknown length; stops as soon as it is too large. */
async function readBytes(
  request: Request,
  maxSize: number,
  createTooLargeError: () => Refusal,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > maxSize) throw createTooLargeError()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

import { type RequestResource, requestResource } from '../../contract/request.ts'
import { RefcheckError } from '../../errors/base.ts'
import { InternalError } from '../../errors/kinds.ts'
import { TransportError } from '../../http/failure.ts'
import type { HttpResponse } from '../../http/types.ts'
import { header, requireAbout } from '../answer.ts'
import type { ApiClient } from '../client.ts'
import type { CreateAnswer } from '../../domain/submission/create-answer.ts'
import { apiPath } from '../path.ts'

/** GET /v1/requests/{request_id}; the id comes out in lowercase, as every id here is compared. */
export async function getRequest(
  client: ApiClient,
  requestId: string,
  signal: AbortSignal | undefined,
): Promise<RequestResource> {
  const request = await client.get(apiPath`/v1/requests/${requestId}`, requestResource, {
    hints: { subject: `request ${requestId}` },
    signal,
  })
  requireAbout('request', requestId, request.request_id)
  return { ...request, request_id: request.request_id.toLowerCase() }
}

const createHints = {
  404: 'List the packages that can be ordered with: refcheck packages list --status active',
}

/** POST /v1/requests, sent once; never throws for what the wire did. */
export async function createRequest(
  client: ApiClient,
  body: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<CreateAnswer> {
  let response: HttpResponse
  try {
    response = await client.postOnce('/v1/requests', body, signal)
  } catch (error) {
    return unanswered(error)
  }
  const envelope = client.envelopeOf(response)
  const success = response.status >= 200 && response.status < 300
  return {
    kind: 'answered',
    status: response.status,
    envelope,
    retryAfter: header(response.headers, 'retry-after'),
    error: success ? undefined : client.failed(response, envelope, createHints),
  }
}

/** http says exactly what was sent; our own errors come before that, and anything else counts as sent. */
function unanswered(error: unknown): CreateAnswer {
  if (error instanceof TransportError) return { kind: error.sent ? 'lost' : 'unsent', error }
  if (error instanceof RefcheckError) return { kind: 'unsent', error }
  return { kind: 'lost', error: new InternalError('the connection broke during the order', { cause: error }) }
}

import { type RequestResource, requestResource } from '../../contract/request.ts'
import { UnavailableError } from '../../errors/unavailable.ts'
import { TransportError } from '../../http/failure.ts'
import { type ApiClient, header, parseEnvelope } from '../client.ts'
import type { CreateAnswer } from '../create-answer.ts'

/** GET /v1/requests/{request_id}. */
export async function getRequest(
  client: ApiClient,
  requestId: string,
  signal: AbortSignal | undefined,
): Promise<RequestResource> {
  return client.get(`/v1/requests/${encodeURIComponent(requestId)}`, requestResource, { signal })
}

/** POST /v1/requests, sent once; never throws for what the wire did. */
export async function createRequest(
  client: ApiClient,
  body: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<CreateAnswer> {
  try {
    const response = await client.postOnce('/v1/requests', body, signal)
    const envelope = parseEnvelope(response)
    const success = response.status >= 200 && response.status < 300
    return {
      kind: 'answered',
      status: response.status,
      envelope,
      retryAfter: header(response.headers, 'retry-after'),
      error: success ? undefined : client.failed(response, envelope),
    }
  } catch (error) {
    if (error instanceof TransportError) return { kind: error.sent ? 'lost' : 'unsent', error }
    // http throws the signal's own reason only where no byte had left.
    const kind = signal?.aborted ? 'unsent' : 'lost'
    return { kind, error: new UnavailableError('the create was given up before an answer', { cause: error }) }
  }
}

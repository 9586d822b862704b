import { responseError } from '../../../src/api/answer.ts'
import type { Envelope } from '../../../src/contract/envelope.ts'
import type { RequestBody, RequestResource } from '../../../src/contract/request.ts'
import type { CreateAnswer } from '../../../src/domain/submission/outcome.ts'
import { UnavailableError } from '../../../src/errors/kinds.ts'

type Answered = Extract<CreateAnswer, { kind: 'answered' }>

export const requestId = '3f0c6f0e-9d1b-4e0a-8a34-2f6b0f6c1d55'

export const order: RequestBody = {
  package_id: 12,
  recipient: {
    first_name: 'Ana',
    last_name: 'Silva',
    email: 'ana.silva@example.com',
    phone: '+61400000001',
  },
}

/** Returns a phone that is different for each e-mail, because people with one phone may be similar. */
const createPhone = (email: string): string =>
  `+61${Array.from(Buffer.from(email)).reduce((sum, byte) => (sum * 31 + byte) % 1_000_000_000, 7)}`

/** Returns an order for another person for each e-mail. */
export function orderFor(email: string): RequestBody {
  return { ...order, recipient: { ...order.recipient, email, phone: createPhone(email) } }
}

export const lostAnswer: CreateAnswer = {
  kind: 'lost',
  error: new UnavailableError('the connection was cut'),
}
export const connectionRefused: CreateAnswer = {
  kind: 'unsent',
  error: new UnavailableError('connection refused'),
}

/** An answer with the typed error that the API's own table makes of it. */
export function createAnswer(status: number, envelope: Envelope | undefined, retryAfter?: string): Answered {
  const error = status >= 200 && status < 300 ? undefined : responseError({ status, envelope })
  return { kind: 'answered', status, envelope, retryAfter, error }
}

export function clientError(status: number, message: string, retryAfter?: string): Answered {
  return createAnswer(status, { data: null, status_message: 'client_error', message }, retryAfter)
}

export function serverError(
  status: number,
  data: unknown = null,
  message = 'internal server error',
): Answered {
  return createAnswer(status, { data, status_message: 'server_error', message })
}

/** Returns the answer 201, by which the service accepts an order. */
export function answer201(id = requestId): Answered {
  const data = { request_id: id, status: 'RECEIVED' }
  return createAnswer(201, { data, status_message: 'ok', message: '' })
}

/** Returns the request resource of an order. */
export function requestOf(body: RequestBody, status = 'RECEIVED', id = requestId): RequestResource {
  return {
    request_id: id,
    package_id: body.package_id,
    status,
    created_at: '2026-11-21T09:30:00.000Z',
    requester: { email: 'owner@example.com' },
    recipient: { ...body.recipient },
    checks: [],
  }
}

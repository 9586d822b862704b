import type { Field } from './data.ts'
import type { Order } from './orders.ts'

/** An answer that is not sent yet. A defect changes its properties. */
export interface Reply {
  status: number
  headers: Record<string, string>
  /** The envelope; a Buffer for a PDF. */
  body: { data: unknown; status_message: string; message: string; [more: string]: unknown } | Buffer
}

/** A call that the service received. */
export interface Call {
  method: string
  path: string
  query: URLSearchParams
  headers: Record<string, string | undefined>
  body: string
}

/** When a check starts and ends, in milliseconds after the creation of its request, and its last status. */
export interface CheckCourse {
  start: number
  end: number
  ending: 'COMPLETED' | 'CANCELLED' | 'ERROR'
}

/** Every decision of the service that can vary. The defaults follow the document, and a defect replaces some of them. */
export interface Behaviour {
  /** How the path of a field is written in the message of a refused order: "<field path>: <reason>". */
  writePath: (path: (string | number)[]) => string
  /** Which of several faults in a body is reported. */
  reportedFault: 'first' | 'last'
  /** Whether answers have fields that the document does not have. */
  hasExtraFields: boolean
  /** Whether a value has a type of the package schema. */
  isOfType: (type: string, value: unknown) => boolean
  isValidEmail: (email: string) => boolean
  isValidPhone: (phone: string) => boolean
  /** Faults that are ignored, as a pattern of their path and reason. */
  ignoredFaults: RegExp | undefined
  /** Whether an order without this field of the package schema is refused. */
  isRequired: (field: Field) => boolean
  /** The status of the answer to an order by a user whose role may not create requests; with 201 the order is accepted. */
  refusedCreateStatus: number
  /** Seconds before each repeated delivery of an event. */
  retrySeconds: readonly number[]
  /** The time within which a receiver has to acknowledge an event. */
  acknowledgementMs: number
  /** Whether a receiver acknowledges an event by this status. */
  isAcknowledgement: (status: number) => boolean
  /** Whether a delivery follows a redirect of the receiver. */
  followsRedirects: boolean
  /** Milliseconds an event waits before it is sent. */
  eventDelayMs: number
  /** Whether every event is sent twice. */
  hasDuplicates: boolean
  /** Returns the event to send in place of the given one; undefined if none is sent. */
  changeEvent: (event: Record<string, unknown>) => Record<string, unknown> | undefined
  /** Returns the value of the signature header from the HMAC in hexadecimal. */
  formatSignature: (hex: string, body: string) => string
  /** The Content-Type of events. */
  eventContentType: string
  /** Where the window of the quota lies: at fixed times of the clock, from its first call on, or always just before now. */
  windowKind: 'clock' | 'first-call' | 'sliding'
  /** Returns the name of the quota that a call counts against. Each API key has its own. */
  scopeOf: (call: Call) => string
  /** Whether a call counts against the quota. */
  isCounted: (call: Call) => boolean
  /** The number of calls that are allowed above the quota. */
  extraCalls: number
  /** Returns the value of Retry-After for a wait in milliseconds. */
  retryAfter: (ms: number) => string | undefined
  /** Milliseconds for which the token in the URL of a report is valid. */
  tokenLifetimeMs: number
  /** Whether a token that was issued for the path `issuedFor` is valid for `path`. */
  isTokenValidFor: (path: string, issuedFor: string) => boolean
  /** Returns the text of a token for this path and time of expiry. */
  formatToken: (path: string, expires: number) => string
  /** Returns the status of a request from the statuses of its checks. `age`: milliseconds since it was created. */
  requestStatus: (checks: string[], age: number, order: Order) => string
  /** Whether a check has its id before it starts. */
  hasIdBeforeStart: boolean
  /** Changes a call before the service reads it; undefined changes nothing. */
  beforeCall: ((call: Call) => void) | undefined
  /** Changes an answer before it is sent. */
  changeReply: ((reply: Reply, call: Call) => void) | undefined
}

/** The age at which a request that "could not be processed" gets the status ERROR, in milliseconds. */
export const failureAgeMs = 300_000

export function statusFromChecks(checks: string[]): string {
  const running = checks.some((each) => each === 'RECEIVED' || each === 'IN_PROGRESS')
  if (checks.includes('COMPLETED')) return running ? 'PARTIAL' : 'COMPLETED'
  if (!running) return 'CANCELLED'
  return checks.every((each) => each === 'RECEIVED') ? 'RECEIVED' : 'IN_PROGRESS'
}

export const documentedBehaviour: Behaviour = {
  writePath: (path) => path.map((part) => `/${part}`).join(''),
  reportedFault: 'last',
  hasExtraFields: true,
  isOfType(type, value) {
    switch (type) {
      case 'integer':
        return Number.isInteger(value)
      case 'array':
        return Array.isArray(value)
      case 'object':
        return typeof value === 'object' && value !== null && !Array.isArray(value)
      default:
        return typeof value === type
    }
  },
  isValidEmail: (email) => /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(email),
  isValidPhone: (phone) => /^\+[1-9]\d{1,14}$/.test(phone),
  ignoredFaults: undefined,
  isRequired: ({ required }) => required,
  refusedCreateStatus: 403,
  retrySeconds: [30, 90, 240],
  acknowledgementMs: 10_000,
  isAcknowledgement: (status) => status >= 200 && status < 300,
  followsRedirects: false,
  eventDelayMs: 0,
  hasDuplicates: false,
  changeEvent: (event) => event,
  formatSignature: (hex) => hex,
  eventContentType: 'application/json; charset=utf-8',
  windowKind: 'clock',
  scopeOf: ({ headers }) => headers['x-service-api-key'] ?? '',
  isCounted: ({ path, query }) => path !== '/v1/ping' && !(path.startsWith('/v1/reports/') && query.has('t')),
  extraCalls: 0,
  retryAfter: (ms) => String(Math.max(1, Math.ceil(ms / 1000))),
  tokenLifetimeMs: 3_600_000,
  isTokenValidFor: (path, issuedFor) => path === issuedFor,
  formatToken: (path, expires) => `${Buffer.from(path).toString('hex')}.${Math.floor(expires / 1000)}`,
  requestStatus: statusFromChecks,
  hasIdBeforeStart: true,
  beforeCall: undefined,
  changeReply: undefined,
}

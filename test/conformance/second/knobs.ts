import type { Field } from './data.ts'
import type { Order } from './orders.ts'

/** An answer about to be sent, to be changed in place. */
export interface Reply {
  status: number
  headers: Record<string, string>
  /** The envelope; a Buffer for a PDF. */
  body: { data: unknown; status_message: string; message: string; [more: string]: unknown } | Buffer
}

/** A call as the service sees it. */
export interface Asked {
  method: string
  path: string
  query: URLSearchParams
  headers: Record<string, string | undefined>
  body: string
}

/** What a check goes through, in milliseconds after creation. */
export interface Course {
  start: number
  end: number
  ending: 'COMPLETED' | 'CANCELLED' | 'ERROR'
}

/** Every place where the service decides: the defaults keep to the document, a defect turns one. */
export interface Knobs {
  /** How a path is written in "<field path>: <reason>". */
  writePath: (path: (string | number)[]) => string
  /** Which of several faults is reported. */
  reportedFault: 'first' | 'last'
  /** Whether answers have fields besides those of the document. */
  extras: boolean
  fits: (type: string, value: unknown) => boolean
  emailOk: (email: string) => boolean
  phoneOk: (phone: string) => boolean
  /** Faults that are let through, by their reason. */
  forgive: RegExp | undefined
  required: (field: Field) => boolean
  /** What a role that may not create is answered with. */
  noCreate: number
  /** Seconds until each further attempt. */
  retries: readonly number[]
  acknowledgementMs: number
  acknowledges: (status: number) => boolean
  followsRedirects: boolean
  /** Milliseconds an event waits before it is sent. */
  lateMs: number
  /** Whether every acknowledged event comes a second time. */
  duplicates: boolean
  event: (event: Record<string, unknown>) => Record<string, unknown> | undefined
  signature: (hex: string, body: string) => string
  eventType: string
  window: 'clock' | 'first-call' | 'sliding'
  scope: (asked: Asked) => string
  counts: (asked: Asked) => boolean
  slack: number
  retryAfter: (ms: number) => string | undefined
  tokenMs: number
  /** Whether a token opens this path, given the one it was issued for. */
  opens: (path: string, issuedFor: string) => boolean
  /** How the text of a token is made of what is in it. */
  tokenOf: (path: string, expires: number) => string
  /** The status of a request by its checks. */
  status: (checks: string[], age: number, order: Order) => string
  idFromStart: boolean
  /** Before anything is decided. */
  before: ((asked: Asked) => void) | undefined
  /** After everything. */
  answer: ((reply: Reply, asked: Asked) => void) | undefined
}

/** "The request could not be processed" from this age on. */
export const failsAt = 300_000

export function meaning(checks: string[]): string {
  const running = checks.some((each) => each === 'RECEIVED' || each === 'IN_PROGRESS')
  if (checks.includes('COMPLETED')) return running ? 'PARTIAL' : 'COMPLETED'
  if (!running) return 'CANCELLED'
  return checks.every((each) => each === 'RECEIVED') ? 'RECEIVED' : 'IN_PROGRESS'
}

export const lawful: Knobs = {
  writePath: (path) => path.map((part) => `/${part}`).join(''),
  reportedFault: 'last',
  extras: true,
  fits(type, value) {
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
  emailOk: (email) => /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(email),
  phoneOk: (phone) => /^\+[1-9]\d{1,14}$/.test(phone),
  forgive: undefined,
  required: ({ required }) => required,
  noCreate: 403,
  retries: [30, 90, 240],
  acknowledgementMs: 10_000,
  acknowledges: (status) => status >= 200 && status < 300,
  followsRedirects: false,
  lateMs: 0,
  duplicates: false,
  event: (event) => event,
  signature: (hex) => hex,
  eventType: 'application/json; charset=utf-8',
  window: 'clock',
  scope: ({ headers }) => headers['x-service-api-key'] ?? '',
  counts: ({ path, query }) => path !== '/v1/ping' && !(path.startsWith('/v1/reports/') && query.has('t')),
  slack: 0,
  retryAfter: (ms) => String(Math.max(1, Math.ceil(ms / 1000))),
  tokenMs: 3_600_000,
  opens: (path, issuedFor) => path === issuedFor,
  tokenOf: (path, expires) => `${Buffer.from(path).toString('hex')}.${Math.floor(expires / 1000)}`,
  status: meaning,
  idFromStart: true,
  before: undefined,
  answer: undefined,
}

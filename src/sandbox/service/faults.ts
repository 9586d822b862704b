import { failure } from './answer.ts'
import { cacheHeaders } from '../../contract/headers.ts'
import type { Switch } from './rules.ts'

/** Whether the call has done its work when the fault strikes. */
export type Moment = 'before' | 'after'

/** Something that goes wrong with one call. */
export type Fault =
  | {
      kind: 'status'
      status: number
      when: Moment
      /** Default envelope. */
      body?: 'envelope' | 'html' | 'empty' | undefined
      message?: string | undefined
      /** Sent as it stands; without it there is no such header, not even on a 429. */
      retryAfter?: string | undefined
    }
  /** The connection breaks without an answer. */
  | { kind: 'cut'; when: Moment }
  /** No answer ever comes. */
  | { kind: 'hang'; when: Moment }
  /** The answer takes `ms` milliseconds longer: before the call is looked at, or after its work is done. */
  | { kind: 'latency'; ms: number; when: Moment }
  /** A 201 whose data has no request_id. */
  | { kind: 'no-id' }
  | { kind: 'content-type'; value: string }
  /** Only the first `keep` of the body (0 to 1) arrives; `announced`: under the full Content-Length, then the connection breaks. */
  | { kind: 'truncated'; keep: number; announced: boolean }
  /** The answer, head and body, replaced after the work. */
  | { kind: 'body'; body: string; status?: number | undefined; contentType?: string | undefined }

  /** Before the call is looked at, something changes for good. */
  | { kind: 'switch'; switch: Switch }

export type Injection = FaultInjection | ScenarioInjection

/** The next requests created go by a scenario, whatever their recipient's e-mail. */
export interface ScenarioInjection {
  /** A tag of the scenario table. */
  scenario: string
  /** How many requests; default 1. */
  times?: number | undefined
  /** How many are created before it begins; default 0. */
  after?: number | undefined
}

export interface FaultInjection {
  /** Method and route, for example `POST /v1/requests`, `GET /v1/requests/:id`, `GET *`, `*`. */
  on: string
  /** How many calls it strikes; default 1. */
  times?: number | undefined
  /** How many matching calls pass before it begins; default 0. */
  after?: number | undefined
  fault: Fault
}

interface Armed {
  matches: (method: string, path: string) => boolean
  pass: number
  left: number
  fault: Fault
}

/** The faults asked for, waiting for their calls. */
export class Faults {
  readonly #armed = new Set<Armed>()

  /** Returns what takes the fault back. */
  add({ on, times = 1, after = 0, fault }: FaultInjection): () => void {
    const armed: Armed = { matches: pattern(on), pass: after, left: times, fault }
    this.#armed.add(armed)
    return () => void this.#armed.delete(armed)
  }

  clear(): void {
    this.#armed.clear()
  }

  /** The fault that strikes this call, if one does; the first asked for comes first. */
  take(method: string, path: string): Fault | undefined {
    if (this.#armed.size === 0) return undefined
    for (const armed of this.#armed) {
      if (!armed.matches(method, path)) continue
      if (armed.pass > 0) {
        armed.pass -= 1
        continue
      }
      armed.left -= 1
      if (armed.left <= 0) this.#armed.delete(armed)
      return armed.fault
    }
    return undefined
  }
}

/** `:name` stands for one part of the path, `*` for the rest. */
function pattern(on: string): Armed['matches'] {
  const [first = '*', second] = on.trim().split(/\s+/, 2)
  const route = second ?? (first.startsWith('/') ? first : '*')
  const method = second === undefined ? '*' : first.toUpperCase()
  const source = route
    .split('/')
    .map((part) =>
      part.startsWith(':') ? '[^/]+' : part.replaceAll(/[^\w*-]/g, String.raw`\$&`).replaceAll('*', '.*'),
    )
    .join('/')
  const path = new RegExp(`^${source}$`)
  return (calledMethod, calledPath) => (method === '*' || method === calledMethod) && path.test(calledPath)
}

const html = (status: number): string =>
  `<html>\r\n<head><title>${status}</title></head>\r\n<body><center><h1>${status}</h1></center><hr><center>gateway</center></body>\r\n</html>\r\n`

/** The answer a `status` fault gives. */
export function statusAnswer(fault: Fault & { kind: 'status' }): Response {
  const { status, body = 'envelope', retryAfter } = fault
  const more = retryAfter === undefined ? {} : { 'Retry-After': retryAfter }
  if (body === 'envelope') return failure(status, fault.message ?? usualMessage(status), more)
  if (body === 'empty') return new Response(null, { status, headers: { ...cacheHeaders, ...more } })
  return new Response(html(status), { status, headers: { 'Content-Type': 'text/html', ...more } })
}

const messages = new Map([
  [401, 'invalid API key'],
  [403, 'user is not an active member of the organisation'],
  [404, 'resource not found'],
  [429, 'rate limit exceeded'],
])

function usualMessage(status: number): string {
  return messages.get(status) ?? (status < 500 ? 'request refused' : 'internal server error')
}

import { cacheHeaders } from '../../contract/headers.ts'
import type { Connection } from '../../server/listen.ts'
import { createFailureResponse } from './answer.ts'
import type { Fault, FaultInjection, Injection } from './schemas.ts'

/** Items that apply to the next calls or requests. Each item first skips `after` of them, then applies to `times`. */
export class Injections<T> {
  readonly #pending = new Set<{ item: T; skipCount: number; timesLeft: number }>()

  /** Adds an item; returns a function that removes it. */
  add(item: T, { times = 1, after = 0 }: Pick<Injection, 'times' | 'after'>): () => void {
    const entry = { item, skipCount: after, timesLeft: times }
    this.#pending.add(entry)
    return () => void this.#pending.delete(entry)
  }

  clear(): void {
    this.#pending.clear()
  }

  /**
   * Yields the items that apply now in the order in which they were added. Each item that is yielded uses up one of
   * its times.
   */
  *takeApplicable(matches: (item: T) => boolean = () => true): Generator<T> {
    for (const entry of this.#pending) {
      if (!matches(entry.item)) continue
      if (entry.skipCount > 0) {
        entry.skipCount -= 1
        continue
      }
      entry.timesLeft -= 1
      if (entry.timesLeft <= 0) this.#pending.delete(entry)
      yield entry.item
    }
  }
}

/** The injected faults. */
export class Faults {
  readonly #injections = new Injections<{
    matches: (method: string, path: string) => boolean
    fault: Fault
  }>()

  /** Adds a fault; returns a function that removes it. */
  add({ on, fault, ...injection }: FaultInjection): () => void {
    return this.#injections.add({ matches: compilePattern(on), fault }, injection)
  }

  clear(): void {
    this.#injections.clear()
  }

  /**
   * Returns the fault of this call, or undefined. If several faults match, the one that was injected first is
   * returned.
   */
  findFault(method: string, path: string): Fault | undefined {
    const applied = this.#injections.takeApplicable(({ matches }) => matches(method, path))
    return applied.next().value?.fault
  }
}

/** Returns a predicate for a method and route; `:name` matches one part of the path, `*` the rest. */
function compilePattern(on: string): (method: string, path: string) => boolean {
  const [firstWord = '*', secondWord] = on.trim().split(/\s+/, 2)
  const route = secondWord ?? (firstWord.startsWith('/') ? firstWord : '*')
  const method = secondWord === undefined ? '*' : firstWord.toUpperCase()
  const source = route
    .split('/')
    .map((part) =>
      part.startsWith(':') ? '[^/]+' : part.replaceAll(/[^\w*-]/g, String.raw`\$&`).replaceAll('*', '.*'),
    )
    .join('/')
  const path = new RegExp(`^${source}$`)
  return (calledMethod, calledPath) => (method === '*' || method === calledMethod) && path.test(calledPath)
}

const createErrorPage = (status: number): string =>
  `<html>\r\n<head><title>${status}</title></head>\r\n<body><center><h1>${status}</h1></center><hr><center>gateway</center></body>\r\n</html>\r\n`

/** Returns the response of a `status` fault. */
function createStatusResponse(fault: Fault & { kind: 'status' }): Response {
  const { status, body = 'envelope', retryAfter } = fault
  const retryHeaders = retryAfter === undefined ? {} : { 'Retry-After': retryAfter }
  if (body === 'envelope')
    return createFailureResponse(status, fault.message ?? findDefaultMessage(status), retryHeaders)
  if (body === 'empty') return new Response(null, { status, headers: { ...cacheHeaders, ...retryHeaders } })
  return new Response(createErrorPage(status), {
    status,
    headers: { 'Content-Type': 'text/html', ...retryHeaders },
  })
}

const messages = new Map([
  [401, 'invalid API key'],
  [403, 'user is not an active member of the organisation'],
  [404, 'resource not found'],
  [429, 'rate limit exceeded'],
])

function findDefaultMessage(status: number): string {
  return messages.get(status) ?? (status < 500 ? 'request refused' : 'internal server error')
}

/** Returns true if a fault replaces the call, so that the call has no effect. */
export function appliesBeforeService(fault: Fault): boolean {
  return 'when' in fault && fault.when === 'before'
}

/**
 * Returns the response with a fault applied. `answer` is the service's response; undefined if the fault applies
 * before the call has its effect.
 */
export function applyFault(
  fault: Fault,
  answer: Response | undefined,
  connection: Connection,
): Response | Promise<Response> {
  switch (fault.kind) {
    case 'status':
      return createStatusResponse(fault)
    case 'cut':
      connection.cut()
      return neverRespond()
    case 'hang':
      return neverRespond()
    case 'no-id':
      return removeRequestId(answer)
    case 'content-type':
      return replaceContentType(answer, fault.value)
    case 'truncated':
      return truncateResponse(fault, answer, connection)
    case 'latency':
    case 'switch':
      return answer ?? neverRespond()
    case 'body':
      return new Response(fault.body, {
        status: fault.status ?? answer?.status ?? 200,
        headers: { 'Content-Type': fault.contentType ?? 'application/json', ...cacheHeaders },
      })
  }
}

function neverRespond(): Promise<Response> {
  return new Promise(() => {})
}

async function removeRequestId(answer: Response | undefined): Promise<Response> {
  const envelope = (await answer?.json()) as { data: Record<string, unknown> | null } | undefined
  delete envelope?.data?.['request_id']
  return new Response(JSON.stringify(envelope), {
    status: answer?.status ?? 201,
    headers: { 'Content-Type': 'application/json', ...cacheHeaders },
  })
}

async function replaceContentType(answer: Response | undefined, contentType: string): Promise<Response> {
  return new Response((await answer?.arrayBuffer()) ?? null, {
    status: answer?.status ?? 200,
    headers: { ...cacheHeaders, 'Content-Type': contentType },
  })
}

async function truncateResponse(
  { keep, announced }: Fault & { kind: 'truncated' },
  answer: Response | undefined,
  connection: Connection,
): Promise<Response> {
  const body = new Uint8Array((await answer?.arrayBuffer()) ?? [])
  const sentBytes = body.subarray(0, Math.floor(body.byteLength * keep))
  const headers = {
    ...cacheHeaders,
    'Content-Type': answer?.headers.get('Content-Type') ?? 'application/octet-stream',
  }
  const status = answer?.status ?? 200
  if (!announced) return new Response(sentBytes, { status, headers })
  connection.sendPartAndClose(status, { ...headers, 'Content-Length': String(body.byteLength) }, sentBytes)
  return neverRespond()
}

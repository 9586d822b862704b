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

/** Returns the injected fault of this call, or undefined. If several match, the one that was injected first is returned. */
export function takeFault(
  injections: Injections<FaultInjection>,
  method: string,
  path: string,
): Fault | undefined {
  return injections.takeApplicable(({ on }) => matchesCall(on, method, path)).next().value?.fault
}

/** Whether a pattern of a method and route matches a call; `:name` matches one part of the path, `*` the rest. */
function matchesCall(on: string, calledMethod: string, calledPath: string): boolean {
  const [firstWord = '*', secondWord] = on.trim().split(/\s+/, 2)
  const route = secondWord ?? (firstWord.startsWith('/') ? firstWord : '*')
  const method = secondWord === undefined ? '*' : firstWord.toUpperCase()
  const source = route
    .split('/')
    .map((part) =>
      part.startsWith(':') ? '[^/]+' : part.replaceAll(/[^\w*-]/g, String.raw`\$&`).replaceAll('*', '.*'),
    )
    .join('/')
  return (method === '*' || method === calledMethod) && new RegExp(`^${source}$`).test(calledPath)
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
 * Returns the response with a fault applied. `answer` is the service's response. Of the faults that apply before the
 * call has its effect, none uses it.
 */
export function applyFault(
  fault: Fault,
  answer: Response = new Response(),
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
      return answer.arrayBuffer().then((body) => createFaultyResponse(body, answer.status, fault.value))
    case 'truncated':
      return truncateResponse(fault, answer, connection)
    case 'latency':
    case 'switch':
      return answer
    case 'body':
      return createFaultyResponse(
        fault.body,
        fault.status ?? answer.status,
        fault.contentType ?? 'application/json',
      )
  }
}

const createFaultyResponse = (
  body: string | ArrayBuffer | Uint8Array<ArrayBuffer>,
  status: number,
  contentType: string,
): Response => new Response(body, { status, headers: { 'Content-Type': contentType, ...cacheHeaders } })

function neverRespond(): Promise<Response> {
  return new Promise(() => {})
}

async function removeRequestId(answer: Response): Promise<Response> {
  const envelope = (await answer.json()) as { data: Record<string, unknown> | null }
  delete envelope.data?.['request_id']
  return createFaultyResponse(JSON.stringify(envelope), answer.status, 'application/json')
}

async function truncateResponse(
  { keep, announced }: Fault & { kind: 'truncated' },
  answer: Response,
  connection: Connection,
): Promise<Response> {
  const body = new Uint8Array(await answer.arrayBuffer())
  const sentBytes = body.subarray(0, Math.floor(body.byteLength * keep))
  const { status } = answer
  const contentType = answer.headers.get('Content-Type') ?? 'application/octet-stream'
  if (!announced) return createFaultyResponse(sentBytes, status, contentType)
  const headers = {
    ...cacheHeaders,
    'Content-Type': contentType,
    'Content-Length': String(body.byteLength),
  }
  connection.sendPartAndClose(status, headers, sentBytes)
  return neverRespond()
}

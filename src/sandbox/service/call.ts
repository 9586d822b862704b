import { apiKeyHeader, cacheHeaders, userEmailHeader } from '../../contract/headers.ts'
import type { Connection } from '../../server/listen.ts'
import { Refusal, refusals } from './answer.ts'
import { type Fault, statusAnswer } from './faults.ts'
import type { Caller, PackageRecord, UserRecord } from './state.ts'
import type { Service } from './service.ts'

/** What travels with one call through the routes. */
export interface Call {
  service: Service
  /** The moment of the call; everything in it happens at this one. */
  now: number
  /** The base URL for callers, where that is not the one they called. */
  publicUrl?: string | undefined
  /** The text of the call's body, once it was read; null where it could not be. */
  body?: string | null | undefined
  /** Set by a route whose recipient asked for trouble. */
  fault?: Fault | undefined
}

/** hono's name for what a handler is given besides the request. */
export interface CallEnv {
  Bindings: Call
}

/**
 * Both headers, the key, the quota of the key, then the user ("Authentication", rules 1 to 3). The
 * quota stands before the user because it is counted per key.
 */
export function authenticate(headers: Headers, { service, now }: Call): Caller {
  const { state } = service
  const key = headers.get(apiKeyHeader)
  const email = headers.get(userEmailHeader)
  if (!key || !email) throw refusals.missingHeaders()
  const known = state.keys.get(key)
  if (known === undefined || known.revoked) throw refusals.invalidKey()
  service.countCall(key, now)
  const organisation = state.organisations.get(known.organisation_id)
  const user = state.users.get(known.organisation_id)?.get(email.toLowerCase())
  if (organisation === undefined || user?.active !== true) throw refusals.notMember()
  return { organisation, user }
}

/** Whether the role of the user is among those a package is for. */
export function isVisible(pack: PackageRecord, user: UserRecord): boolean {
  return pack.roles === null || pack.roles.includes(user.role)
}

/** The package of that id if the caller may see it; 404 otherwise. */
export function visiblePackage(id: number, caller: Caller, service: Service): PackageRecord {
  const pack = service.state.packages.get(caller.organisation.id)?.get(id)
  if (pack === undefined || !isVisible(pack, caller.user)) throw refusals.notFound()
  return pack
}

/** Whether an error is a refusal, wherever it was thrown. */
export const isRefusal = (error: unknown): error is Refusal => error instanceof Refusal

/** Whether a fault keeps the work from being done. */
export function appliesBeforeService(fault: Fault): boolean {
  return 'when' in fault && fault.when === 'before'
}

/** What becomes of an answer under a fault; with no answer yet, the fault is one that strikes first. */
export function applyFault(
  fault: Fault,
  answer: Response | undefined,
  connection: Connection,
): Response | Promise<Response> {
  switch (fault.kind) {
    case 'status':
      return statusAnswer(fault)
    case 'cut':
      connection.cut()
      return never()
    case 'hang':
      return never()
    case 'no-id':
      return withoutId(answer)
    case 'content-type':
      return relabelled(answer, fault.value)
    case 'truncated':
      return truncated(fault, answer, connection)
    case 'latency':
    case 'switch':
      return answer ?? never()
    case 'body':
      return new Response(fault.body, {
        status: fault.status ?? answer?.status ?? 200,
        headers: { 'Content-Type': fault.contentType ?? 'application/json', ...cacheHeaders },
      })
  }
}

function never(): Promise<Response> {
  return new Promise(() => {})
}

async function withoutId(answer: Response | undefined): Promise<Response> {
  const envelope = (await answer?.json()) as { data: Record<string, unknown> | null } | undefined
  delete envelope?.data?.['request_id']
  return new Response(JSON.stringify(envelope), {
    status: answer?.status ?? 201,
    headers: { 'Content-Type': 'application/json', ...cacheHeaders },
  })
}

async function relabelled(answer: Response | undefined, contentType: string): Promise<Response> {
  return new Response((await answer?.arrayBuffer()) ?? null, {
    status: answer?.status ?? 200,
    headers: { ...cacheHeaders, 'Content-Type': contentType },
  })
}

async function truncated(
  { keep, announced }: Fault & { kind: 'truncated' },
  answer: Response | undefined,
  connection: Connection,
): Promise<Response> {
  const whole = new Uint8Array((await answer?.arrayBuffer()) ?? [])
  const part = whole.subarray(0, Math.floor(whole.byteLength * keep))
  const headers = {
    ...cacheHeaders,
    'Content-Type': answer?.headers.get('Content-Type') ?? 'application/octet-stream',
  }
  const status = answer?.status ?? 200
  if (!announced) return new Response(part, { status, headers })
  connection.cutShort(status, { ...headers, 'Content-Length': String(whole.byteLength) }, part)
  return never()
}

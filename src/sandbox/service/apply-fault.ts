import { cacheHeaders } from '../../contract/headers.ts'
import { type Fault, statusAnswer } from './faults.ts'
import type { Connection } from '../../server/listen.ts'

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

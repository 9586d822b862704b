import { isUnread, type RequestResult } from '../../domain/request/result.ts'
import { errorReasonOf } from '../../domain/webhook/events.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'

type Events = Pick<Inbox, 'list'>

/** Why a request ended in ERROR: the API says it in its event alone. Undefined where no event told. */
export async function errorReason(
  inbox: Events,
  baseUrl: string,
  requestId: string,
): Promise<string | undefined> {
  let reason: string | undefined
  for await (const { body } of inbox.list({ baseUrl, requestId, status: 'ERROR' }))
    reason = errorReasonOf(body) ?? reason
  return reason
}

/** Requests that were read at a service, those in ERROR with the reason that the inbox has. It is opened for them alone. */
export async function withReasons(
  results: readonly RequestResult[],
  baseUrl: string,
  inbox: () => Promise<Events>,
): Promise<RequestResult[]> {
  const all: RequestResult[] = []
  for (const result of results) {
    const isOpen =
      !isUnread(result) && result.request.status === 'ERROR' && result.request['error_reason'] === undefined
    const reason = isOpen ? await errorReason(await inbox(), baseUrl, result.requestId) : undefined
    if (isUnread(result) || reason === undefined) all.push(result)
    else all.push({ ...result, request: { ...result.request, error_reason: reason } })
  }
  return all
}

/** Rows of a list whose request is in ERROR, with the reason that the inbox has; null for every other. */
export async function withListedReasons<Row extends { request_id: string | null; status: string | null }>(
  rows: readonly Row[],
  inbox: Events,
  baseUrlOf: (row: Row) => string,
): Promise<(Row & { error_reason: string | null })[]> {
  const all: (Row & { error_reason: string | null })[] = []
  for (const row of rows) {
    const isError = row.status === 'ERROR' && row.request_id !== null
    all.push({
      ...row,
      error_reason: isError
        ? ((await errorReason(inbox, baseUrlOf(row), row.request_id ?? '')) ?? null)
        : null,
    })
  }
  return all
}

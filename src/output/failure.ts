import type { RefcheckError } from '../errors/base.ts'
import { sanitize } from '../host/text.ts'
import { styled, type Terminal } from './terminal.ts'

/** The `error` object of cli-contract "Streams"; keys that do not apply are left out. */
export function failureJson(error: RefcheckError): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries({
      code: error.code,
      message: error.message,
      hint: error.hint,
      status: error.status,
      field: error.field,
      retry_after: error.retryAfter,
      request_id: error.match?.requestId,
      batch_id: error.match?.batchId,
      row: error.match?.row,
      match: error.match?.match,
    }).filter(([, value]) => value !== undefined),
  )
}

/** One line that says what went wrong, and one that says what to do. */
export function failureText(error: RefcheckError, terminal: Terminal): string {
  const first = `${styled(terminal, 'red', 'Error:')} ${sanitize(error.message)}\n`
  return error.hint === undefined ? first : `${first}${styled(terminal, 'dim', sanitize(error.hint))}\n`
}

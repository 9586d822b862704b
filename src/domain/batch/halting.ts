import type { RefcheckError } from '../../errors/base.ts'
import { IncompleteError, OutcomeUnknownError, ThrottledError } from '../../errors/kinds.ts'

/** "404 (package gone), and a 400 that says so of the package, halts" (ordering protocol): any other row would fare the same. */
export function isAboutPackage({ status, field, message }: RefcheckError): boolean {
  if (status === 404 || field === 'package_id') return true
  return status === 400 && field === undefined && /\bpackage\b/i.test(message)
}

/** Why a batch stops of itself, where no single answer of the service says it. */

export function refusedAlike(error: RefcheckError, times: number): IncompleteError {
  return new IncompleteError(
    `the service rejected ${times} rows in succession for the same reason: ${error.message}`,
    {
      status: error.status,
      field: error.field,
      hint: 'Fix the cause. The rows that were not sent are kept.',
      cause: error,
    },
  )
}

export function manyUnknown(reason: string, times: number): OutcomeUnknownError {
  return new OutcomeUnknownError(
    `${times} rows in succession have an unknown outcome although the service answers a ping: ${reason}`,
    { hint: 'Ask the provider’s support about these orders before you continue.' },
  )
}

export function usedUp(waitMs: number): ThrottledError {
  const seconds = Math.ceil(waitMs / 1000)
  return new ThrottledError(`the quota is used up for the next ${seconds} s`, {
    retryAfter: seconds,
    hint: 'Wait, or leave out --timeout.',
  })
}

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
    `the service refused ${times} rows in a row for the same reason: ${error.message}`,
    {
      status: error.status,
      field: error.field,
      hint: 'Mend the cause; the rows that were not sent are kept.',
      cause: error,
    },
  )
}

export function manyUnknown(reason: string, times: number): OutcomeUnknownError {
  return new OutcomeUnknownError(
    `${times} rows in a row may or may not have been ordered though the service answers a ping: ${reason}`,
    { hint: 'Something is wrong with its orders: ask the people of the service before you go on.' },
  )
}

export function usedUp(waitMs: number): ThrottledError {
  const seconds = Math.ceil(waitMs / 1000)
  return new ThrottledError(`the quota is used up for the next ${seconds} s`, {
    retryAfter: seconds,
    hint: 'Wait, or leave --timeout out.',
  })
}

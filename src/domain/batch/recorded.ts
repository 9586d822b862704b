import { personName } from '../wording/shown-name.ts'
import type { Recipient } from '../../contract/request-body.ts'
import type { RequestResource } from '../../contract/request.ts'
import { DuplicateError, InvalidInputError } from '../../errors/kinds.ts'
import type { Submission } from '../submission/submission.ts'
import { type Difference, differences, differencesText, type SentOrder, type Whom } from './fit.ts'
import { localTime } from '../wording/local-time.ts'

/**
 * What a read of the id that the provider named shows of a row ("they have it"): nothing, where it fits in all, or what
 * a person has to confirm, which is another spelling, requester or time. Throws an InvalidInputError where it is another
 * person or package, and a DuplicateError where another order has that request. `byFingerprints`: of a row whose name is
 * gone.
 */
export function toConfirm(
  row: SentOrder & Pick<Submission, 'batchId' | 'row'>,
  request: RequestResource,
  holders: readonly Pick<Submission, 'batchId' | 'row'>[],
  clockDifferenceMs: number | undefined,
  byFingerprints?: Whom,
): Difference[] {
  const other = holders.find((each) => each.batchId !== row.batchId || each.row !== row.row)
  if (other !== undefined) {
    throw new DuplicateError(
      `request ${request.request_id} is the order of row ${other.row} of batch ${other.batchId} already`,
      { hint: 'Nothing was recorded. One request is one order: check the id with the provider.' },
    )
  }
  const found = differences(row, request, clockDifferenceMs, byFingerprints)
  if (found === undefined) throw notThis(request, row.row, 'for somebody else')
  if (found.includes('package')) throw notThis(request, row.row, `of package ${request.package_id}`)
  return found
}

function notThis({ request_id }: RequestResource, row: number, what: string): InvalidInputError {
  return new InvalidInputError(`request ${request_id} is ${what}, so it is not the order of row ${row}`, {
    hint: `Nothing was recorded. Check the id with the provider; "refcheck request get ${request_id}" shows that request.`,
  })
}

/** What a person is asked where something differs: both sides, and in what. */
export function confirmation(
  { row, recipient, userEmail, attemptedAt }: SentOrder & Pick<Submission, 'row'>,
  request: RequestResource,
  differs: readonly Difference[],
): string {
  const sentAt = attemptedAt === undefined ? 'at an unknown time' : localTime(attemptedAt)
  return (
    `Request ${request.request_id} is ${personText(request.recipient)}, created ${localTime(request.created_at)} by ${request.requester.email}. ` +
    `Row ${row} is ${recipient === undefined ? 'a person whose name is not known here' : personText(recipient)}, sent ${sentAt} by ${userEmail}. ` +
    `Different: ${differencesText(differs)}. Record this request for row ${row}?`
  )
}

function personText(person: Recipient): string {
  return `${personName(person)} (${person.email}, ${person.phone})`
}

import { isUnfinished } from '../../contract/statuses.ts'
import type { Recipient, RequestResource } from '../../contract/request.ts'
import { RefcheckError, IncompleteError, NotFoundError, UnavailableError } from '../../errors/kinds.ts'
import type { ReportRecord, ReportSubject } from './record.ts'
import type { ReportTarget } from './source.ts'

/** A report that could not be downloaded, and the error. Without a check, the error is about the whole request. */
export interface MissingReport {
  requestId: string
  checkId: string | null
  refereeId: string | null
  /** The name of the person; undefined if it is not known. */
  person: string | undefined
  error: RefcheckError
}

export interface FilingResult {
  /** All reports, in the order of the plan. */
  reports: (StoredReport | MissingReport)[]
  stored: StoredReport[]
  missing: MissingReport[]
  /** The number of requests with reports that are not ready yet, if this is not a failure. */
  unfinishedCount: number
  /** The number of these requests that have ended and whose report is not ready. */
  notReadyCount: number
  /** The people of these requests. */
  notReadyPeople?: readonly Recipient[]
  /** The completed requests for which neither the service nor the folder has a report, if no request was named. */
  withoutReport?: readonly RequestResource[]
  /** Why reports are missing: the error that ended the command early, or IncompleteError. */
  failure: RefcheckError | undefined
}

export const isMissing = (report: StoredReport | MissingReport): report is MissingReport => 'error' in report

/** Creates the result of filing reports. */
export function filingResult(
  reports: readonly (StoredReport | MissingReport)[],
  otherFields: Pick<
    FilingResult,
    'unfinishedCount' | 'notReadyCount' | 'notReadyPeople' | 'withoutReport' | 'failure'
  >,
): FilingResult {
  return {
    reports: [...reports],
    stored: reports.filter((each) => 'path' in each),
    missing: reports.filter(isMissing),
    ...otherFields,
  }
}

/** Returns the entry for a request of which no report could be downloaded. */
export function requestWithoutReports(requestId: string, error: RefcheckError): MissingReport {
  return { requestId, checkId: null, refereeId: null, person: undefined, error }
}

/** The state of one entry of the plan. A target is a report that is still being filed. */
export type FilingOutcome = StoredReport | MissingReport | ReportTarget | { untriedRequestId: string }

/**
 * Returns the reports of a plan. Entries that were not reached get `endError` as their error, and are left out without
 * it.
 */
export function reportsWithEnding(
  outcomes: readonly FilingOutcome[],
  endError: RefcheckError | undefined,
): (StoredReport | MissingReport)[] {
  return outcomes.flatMap((each): (StoredReport | MissingReport)[] => {
    if ('error' in each || 'path' in each) return [each]
    if (endError === undefined) return []
    return [
      'untriedRequestId' in each
        ? requestWithoutReports(each.untriedRequestId, endError)
        : missingReport(each, endError),
    ]
  })
}

/** An event while reports are saved as files. */
export type FilingEvent =
  /** The number of requests that will be read, one after the other. */
  | { name: 'requestsFound'; requests: number }
  /** One of these requests was read. */
  | { name: 'requestRead' }
  /** The number of further files that will be checked or downloaded. */
  | { name: 'filesFound'; files: number }
  /** The number of received bytes. It is negative for bytes that have to be received again. */
  | { name: 'received'; bytes: number }
  /** `skipped`: the file already existed. */
  | { name: 'fileFinished'; skipped: boolean }

export type StoredReport = ReturnType<typeof storedReport>

/**
 * Returns the entry of a stored report (src/docs/cli.md, "JSON of batches and reports", `report download --json`).
 * `path` is absolute. `skipped` is set if the file already existed and was not changed.
 */
export function storedReport(record: ReportRecord, path: string, skipped: boolean) {
  const { check_id, referee_id, bytes, sha256 } = record
  return { check_id, referee_id, path, bytes, sha256, skipped }
}

/** Returns the manifest's data about a report. The counts are those of a request with a terminal status. */
export function subjectOf(
  target: ReportTarget,
  counts?: { reports: number; without: number },
): ReportSubject {
  return {
    service: target.service,
    request_id: target.requestId,
    check_id: target.checkId,
    referee_id: target.refereeId ?? null,
    first_name: target.person.firstName,
    last_name: target.person.lastName,
    check_name: target.title,
    request_reports: counts?.reports ?? null,
    request_without: counts?.without ?? null,
    email: target.person.email,
    package_id: target.packageId,
  }
}

export function missingReport(target: ReportTarget, error: RefcheckError): MissingReport {
  return {
    requestId: target.requestId,
    checkId: target.checkId,
    refereeId: target.refereeId ?? null,
    person: `${target.person.firstName} ${target.person.lastName}`,
    error: withRequestId(error, target.requestId),
  }
}

/** Adds the id of the request to a hint: a download by ids of the report alone does not know it. */
function withRequestId(error: RefcheckError, requestId: string): RefcheckError {
  const { message, status, hint = '' } = error
  const ErrorClass = error.constructor as typeof NotFoundError
  const hintWithId = hint.replace(
    /with "refcheck request get" and the id of its request\.$/,
    `with: refcheck request get ${requestId}`,
  )
  return hintWithId === hint ? error : new ErrorClass(message, { status, hint: hintWithId, cause: error })
}

/** The hint for a report that will never exist. */
export const noReportFollows = 'No report will follow.'

export function missingReportError(title: string, status: string): NotFoundError {
  return status === 'CANCELLED' || status === 'ERROR'
    ? new NotFoundError(`${title}: no report; the check ended ${status}`, { hint: noReportFollows })
    : new NotFoundError(
        status === 'COMPLETED'
          ? `${title}: the check is COMPLETED, but its report is not available yet`
          : `${title}: the report is not ready; the check is ${status}`,
      )
}

export function fileChangedError(file: string): IncompleteError {
  return new IncompleteError(`"${file}" has changed since it was stored`, {
    hint: 'It was left as it is. To replace it, move it away and run the same command again.',
  })
}

/** The manifest lists the report as that of another person. Only a person can decide which is right. */
export function otherPersonsReportError({ file, first_name, last_name }: ReportRecord): IncompleteError {
  return new IncompleteError(`"${file}" is listed as a report of ${first_name} ${last_name}`, {
    hint: 'It was left as it is. Ask the provider whose report it is, or use another folder with --output.',
  })
}

/** Two requests contain the same check, so its report would be filed under two people. */
export function otherRequestsCheckError(
  { checkId, requestId }: ReportTarget,
  owner: string,
): UnavailableError {
  return new UnavailableError(
    `check ${checkId} belongs to request ${owner}, and request ${requestId} shows it too`,
    {
      hint: `Nothing was filed for the second one. Compare them with: refcheck request get ${owner}, refcheck request get ${requestId}. Ask the provider’s support which person was checked.`,
    },
  )
}

export function fileExistsError(why: string, file: string): IncompleteError {
  return new IncompleteError(`"${file}" was not written: ${why}`, {
    hint: 'Move it away, choose other names with --name-template, or replace it with --overwrite.',
  })
}

export const isFinal = (request: RequestResource): boolean => !isUnfinished(request.status)

/** Whether a failure concerns one report only, so that the others can continue. */
export function isAboutOneReport(error: RefcheckError): boolean {
  const codes = ['not_found', 'forbidden', 'unavailable', 'unauthenticated', 'invalid_input', 'incomplete']
  return codes.includes(error.code)
}

export function requestWithoutChecks(request: RequestResource): MissingReport {
  const { request_id: requestId, recipient, status } = request
  const error = isFinal(request)
    ? new IncompleteError(`request ${requestId} has no reports; it ended ${status}`, {
        hint: noReportFollows,
      })
    : new IncompleteError(`request ${requestId} has no checks yet; it is ${status}`)
  const person = `${recipient.first_name} ${recipient.last_name}`
  return { requestId, checkId: null, refereeId: null, person, error }
}

/** Whether an error without a hint says that a report is not ready yet. */
const isWaitCode = (code: RefcheckError['code']): boolean => code === 'not_found' || code === 'incomplete'

export function incompleteError(missing: readonly MissingReport[]): RefcheckError | undefined {
  const [first] = missing
  if (first === undefined) return undefined
  // The first error with a next step gives the hint.
  const withNextStep = missing.find(({ error }) => error.hint !== noReportFollows)?.error
  // Only time is missing, and each report is shown with its reason already.
  const isUserChoice = missing.every(({ error: { hint, code } }) => hint === undefined && isWaitCode(code))
  return new IncompleteError(
    missing.length === 1
      ? '1 report is unavailable'
      : `${missing.length} reports are unavailable; the first: ${first.error.message}`,
    withNextStep === undefined
      ? { hint: noReportFollows }
      : withNextStep.hint === undefined
        ? { hint: 'What is on disk is skipped.', rerunLabel: 'Run again later', isUserChoice }
        : { hint: withNextStep.hint },
  )
}

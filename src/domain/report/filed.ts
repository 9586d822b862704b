import type { RequestResource } from '../../contract/request.ts'
import { terminalStatuses } from '../../contract/statuses.ts'
import { RefcheckError, IncompleteError, NotFoundError, UnavailableError } from '../../errors/kinds.ts'
import type { ReportRecord, ReportSubject } from './record.ts'
import type { ReportTarget } from './source.ts'

/** A report that could not be had, and why. Without a check it is about the request as a whole. */
export interface MissingReport {
  requestId: string
  checkId: string | null
  refereeId: string | null
  /** Whose; undefined where that is not known. */
  person: string | undefined
  error: RefcheckError
}

export interface FilingResult {
  /** In the order of what was asked for. */
  reports: (StoredReport | MissingReport)[]
  stored: StoredReport[]
  missing: MissingReport[]
  /** Requests of which something is not ready yet, where that is no failure. */
  unfinished: number
  /** Of them, those that ended, and whose report is still to come. */
  notReady: number
  /** Why it is not all there: what ended it early, or IncompleteError. */
  failure: RefcheckError | undefined
}

export const isMissing = (report: StoredReport | MissingReport): report is MissingReport => 'error' in report

/** What filing came to, by its reports. */
export function filingResult(
  reports: readonly (StoredReport | MissingReport)[],
  rest: Pick<FilingResult, 'unfinished' | 'notReady' | 'failure'>,
): FilingResult {
  return {
    reports: [...reports],
    stored: reports.filter((each) => 'path' in each),
    missing: reports.filter(isMissing),
    ...rest,
  }
}

/** A request as a whole that no report could be had of. */
export function missingRequest(requestId: string, error: RefcheckError): MissingReport {
  return { requestId, checkId: null, refereeId: null, person: undefined, error }
}

/** What has become of one place in the plan: a report that is being filed is still a target. */
export type FilingOutcome = StoredReport | MissingReport | ReportTarget | { untried: string }

/** The reports of a plan; what was not come to has what ended it all, and is left out where nothing did. */
export function reportsOf(
  outcomes: readonly FilingOutcome[],
  ending: RefcheckError | undefined,
): (StoredReport | MissingReport)[] {
  return outcomes.flatMap((each): (StoredReport | MissingReport)[] => {
    if ('error' in each || 'path' in each) return [each]
    if (ending === undefined) return []
    return ['untried' in each ? missingRequest(each.untried, ending) : missingReport(each, ending)]
  })
}

/** What happens on the way. */
export type FilingEvent =
  /** So many requests are looked at, one after the other. */
  | { name: 'wanted'; requests: number }
  /** One of them was. */
  | { name: 'looked' }
  /** So many more files are to be looked after. */
  | { name: 'planned'; files: number }
  /** Negative for what came and has to come again. */
  | { name: 'received'; bytes: number }
  /** `skipped`: it was there already. */
  | { name: 'filed'; skipped: boolean }

export type StoredReport = ReturnType<typeof storedReport>

/**
 * A report on disk; src/docs/cli.md, "JSON of batches and reports", `report download --json`. `path` is absolute; `skipped`:
 * the file was there already and was left.
 */
export function storedReport(record: ReportRecord, path: string, skipped: boolean) {
  const { check_id, referee_id, bytes, sha256 } = record
  return { check_id, referee_id, path, bytes, sha256, skipped }
}

/** What the manifest says of a report, with the counts of its request once that has a terminal status. */
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
    error: ofRequest(error, target.requestId),
  }
}

/** Who asked for the report alone did not know its request. */
function ofRequest(error: RefcheckError, requestId: string): RefcheckError {
  const { message, status, hint = '' } = error
  const Same = error.constructor as typeof NotFoundError
  const known = hint.replace(
    /with "refcheck request get" and the id of its request\.$/,
    `with: refcheck request get ${requestId}`,
  )
  return known === hint ? error : new Same(message, { status, hint: known, cause: error })
}

/** What to do where no report will ever come: nothing. */
export const noReportFollows = 'No report will follow.'

export function reportMissing(title: string, status: string): NotFoundError {
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

/** The manifest has the report as another person's: which of the two it is, only a person can tell. */
export function otherPersonsReportError({ file, first_name, last_name }: ReportRecord): IncompleteError {
  return new IncompleteError(`"${file}" is listed as a report of ${first_name} ${last_name}`, {
    hint: 'It was left as it is. Ask the provider whose report it is, or use another folder with --output.',
  })
}

/** One check that two requests show: a report of it would be filed under two people. */
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

export function fileInTheWay(why: string, file: string): IncompleteError {
  return new IncompleteError(`"${file}" was not written: ${why}`, {
    hint: 'Move it away, choose other names with --name-template, or replace it with --overwrite.',
  })
}

export const isFinal = (request: RequestResource): boolean => terminalStatuses.includes(request.status)

/** Failures that leave the other reports as they are. */
export function isAboutOne(error: RefcheckError): boolean {
  const codes = ['not_found', 'forbidden', 'unavailable', 'unauthenticated', 'invalid_input', 'incomplete']
  return codes.includes(error.code)
}

export function missingChecks(request: RequestResource): MissingReport {
  const { request_id: requestId, recipient, status } = request
  const error = isFinal(request)
    ? new IncompleteError(`request ${requestId} has no reports; it ended ${status}`, {
        hint: noReportFollows,
      })
    : new IncompleteError(`request ${requestId} has no checks yet; it is ${status}`)
  const person = `${recipient.first_name} ${recipient.last_name}`
  return { requestId, checkId: null, refereeId: null, person, error }
}

export function incompleteError(missing: readonly MissingReport[]): RefcheckError | undefined {
  const [first] = missing
  if (first === undefined) return undefined
  const why = first.error.message
  // What can still be done comes first.
  const doable = missing.find(({ error }) => error.hint !== noReportFollows)?.error
  return new IncompleteError(
    missing.length === 1 ? why : `${missing.length} reports are unavailable; the first: ${why}`,
    doable === undefined
      ? { hint: noReportFollows }
      : doable.hint === undefined
        ? { hint: 'What is on disk is skipped.', rerunLabel: 'Run again later' }
        : { hint: doable.hint },
  )
}

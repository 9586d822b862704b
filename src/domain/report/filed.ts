import type { RefcheckError } from '../../errors/base.ts'
import type { ReportSubject } from '../../store/reports/folder.ts'
import type { ReportRecord } from './record.ts'
import type { ReportTarget } from './targets.ts'

/** A report on disk; cli-contract, `report download --json`. */
export interface StoredReport {
  check_id: string | null
  referee_id: string | null
  /** Absolute. */
  path: string
  bytes: number
  sha256: string
  /** True where the file was there already and was left. */
  skipped: boolean
}

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
  stored: StoredReport[]
  missing: MissingReport[]
  /** Requests of which something is not ready yet, where that is no failure. */
  unfinished: number
  /** Why it is not all there: what ended it early, or IncompleteError. */
  failure: RefcheckError | undefined
}

/** What happens on the way. */
export type FilingEvent =
  /** So many more files are to be looked after. */
  | { name: 'planned'; files: number }
  /** Negative for what came and has to come again. */
  | { name: 'received'; bytes: number }
  | { name: 'filed' }

/** A record as scripts read it. */
export function storedReport(record: ReportRecord, path: string, skipped: boolean): StoredReport {
  const { check_id, referee_id, bytes, sha256 } = record
  return { check_id, referee_id, path, bytes, sha256, skipped }
}

/** What the manifest says of a report, with the counts of its request once that has a terminal status. */
export function subjectOf(
  target: ReportTarget,
  counts?: { reports: number; without: number },
): ReportSubject {
  return {
    request_id: target.requestId,
    check_id: target.checkId,
    referee_id: target.refereeId ?? null,
    first_name: target.person.firstName,
    last_name: target.person.lastName,
    check_name: target.title,
    request_reports: counts?.reports ?? null,
    request_without: counts?.without ?? null,
  }
}

export function missingReport(target: ReportTarget, error: RefcheckError): MissingReport {
  return {
    requestId: target.requestId,
    checkId: target.checkId,
    refereeId: target.refereeId ?? null,
    person: `${target.person.firstName} ${target.person.lastName}`,
    error,
  }
}

import type { RequestResource } from '../../contract/request.ts'
import { decodeUriOrUndefined } from '../../contract/url.ts'
import { UnavailableError, UsageError } from '../../errors/kinds.ts'
import { reportKey, type ReportRecord } from './record.ts'

/** Whether the source is a single report. */
export function isSingleSource(source: ReportSource): source is SingleSource {
  return source.kind === 'ids' || source.kind === 'url'
}

/** A single report, given by the ids of a check or referee, or by a signed URL. */
export type SingleSource =
  | { kind: 'ids'; checkId: string; refereeId: string | undefined }
  | { kind: 'url'; url: string }

/** Returns the ids of the check and referee; the path of a signed URL may lack them. */
export function sourceIds(source: SingleSource): {
  checkId: string | undefined
  refereeId: string | undefined
} {
  return source.kind === 'ids' ? source : idsInUrl(source.url)
}

/** Whether a recorded report has the ids of a source. */
export function isReportOf(
  { check_id, referee_id }: Pick<ReportRecord, 'check_id' | 'referee_id'>,
  source: SingleSource,
): boolean {
  const { checkId, refereeId } = sourceIds(source)
  return check_id?.toLowerCase() === checkId?.toLowerCase() && referee_id === (refereeId ?? null)
}

/** Returns the ids of the check and referee in the path of a report URL. The start of the path may be anything. */
function idsInUrl(url: string): { checkId: string | undefined; refereeId: string | undefined } {
  const [path = ''] = url.split(/[?#]/)
  const [, checkId, referee] = /\/v1\/reports\/([^/]+)(?:\/referees\/([^/]+))?$/.exec(path) ?? []
  return { checkId: checkId?.toLowerCase(), refereeId: referee && (decodeUriOrUndefined(referee) ?? referee) }
}

/**
 * "A report is filed under a check only when the signed URL's path names that check (and referee)"
 * (src/docs/ordering.md). Throws UnavailableError for the URL of another report. UUIDs are compared without case.
 */
export function requireUrlOf({ checkId, refereeId, title }: ReportTarget, url: string): void {
  const idsOfUrl = idsInUrl(url)
  if (idsOfUrl.checkId === checkId.toLowerCase() && idsOfUrl.refereeId === refereeId) return
  const report = refereeId === undefined ? checkId : `${checkId}, referee ${refereeId}`
  throw new UnavailableError(`${title}: its report URL is for another check or referee than ${report}`, {
    hint: 'Nothing was filed. Run it again later; if it stays so, ask the provider’s support.',
  })
}

/** The reports that a command downloads: a single report, or the reports of requests. */
export type ReportSource =
  | SingleSource
  | { kind: 'requests'; requestIds: readonly string[] }
  | { kind: 'batch'; batchId: string }
  /** All requests of the store that are COMPLETED. */
  | { kind: 'completed'; since: number | undefined }
  /** All available reports of the store, for requests in any status. `isOfProfile` limits them to one profile. */
  | { kind: 'all'; isOfProfile?: ((request: { baseUrl: string; userEmail: string }) => boolean) | undefined }

/** A report that a request has or will have. */
export interface ReportTarget {
  /** The service that has the report. */
  service: string
  requestId: string
  packageId: number
  /** The time in the form of the service (ISO 8601). */
  createdAt: string
  checkId: string
  refereeId: string | undefined
  refereeName: string | undefined
  /**
   * The part of the file name after the person: the name of the check, or `reference-` and the name of the referee.
   */
  title: string
  person: { firstName: string; lastName: string; email: string }
  /** The signed URL; undefined until the report is available. */
  url: string | undefined
  /** Status of the check or referee. */
  status: string
}

/**
 * Returns all reports that a request can have: one for each background check and one for each referee. Checks without
 * an id have not been created yet, so they have none.
 */
export function reportTargets(request: RequestResource, service: string): ReportTarget[] {
  const { first_name: firstName, last_name: lastName, email } = request.recipient
  const createTarget = (
    checkId: string,
    report: Pick<ReportTarget, 'refereeId' | 'refereeName' | 'title' | 'url' | 'status'>,
  ): ReportTarget => ({
    service,
    requestId: request.request_id,
    packageId: request.package_id,
    createdAt: request.created_at,
    checkId,
    person: { firstName, lastName, email },
    ...report,
  })
  return request.checks.flatMap(({ id, type, check_name, references, report_pdf_url, status }) => {
    if (id === null) return []
    if (type === 'reference') {
      return (references ?? []).map((referee) =>
        createTarget(id, {
          refereeId: String(referee.referee_id),
          refereeName: referee.referee_name ?? undefined,
          title: `reference-${referee.referee_name ?? 'referee'}`,
          url: referee.report_pdf_url ?? undefined,
          status: referee.status,
        }),
      )
    }
    const title = check_name ?? 'background-check'
    const url = report_pdf_url ?? undefined
    return [createTarget(id, { refereeId: undefined, refereeName: undefined, title, url, status })]
  })
}

/** Whether the check or referee ended without a report, so that none will follow (API document, "Check status"). */
export function hasEndedWithoutReport(target: ReportTarget): boolean {
  return target.url === undefined && (target.status === 'CANCELLED' || target.status === 'ERROR')
}

/** Returns the key by which the report is recorded in a folder. */
export function targetKey({ service, requestId, checkId, refereeId }: ReportTarget): string {
  return reportKey({
    service,
    request_id: requestId,
    check_id: checkId,
    referee_id: refereeId ?? null,
  })
}

export const pdfStart = '%PDF-'

export const pdfEnd = '%%EOF'

/**
 * The end mark of a PDF is searched in this number of last bytes (ISO 32000-1; implementation note 18 of the PDF 1.7
 * reference).
 */
export const pdfTailBytes = 1024

export function headerValue(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0]
}

export function notPdfError(why: string): UnavailableError {
  return new UnavailableError(`the report is not a complete PDF: ${why}`, {
    hint: 'Nothing was stored. Try again in a moment.',
  })
}

/** The kind of entry that exists at a path. */
type ExistingEntry = 'nothing' | 'folder' | 'file'

/** The target of a download: a file, or a folder in which files are named by the template. */
type Destination = { kind: 'file'; path: string } | { kind: 'folder'; path: string }

/**
 * Reads `--output DIR|FILE`. What exists at the path decides. If nothing exists, it is a file if it ends in `.pdf`,
 * and otherwise a folder. Throws UsageError for a file if there may be several reports. `path` is absolute.
 */
export function parseDestination(
  typed: string,
  path: string,
  existing: ExistingEntry,
  isSingleReport: boolean,
): Destination {
  const looksLikeFile = /\.pdf$/i.test(typed)
  const isFolder =
    existing === 'folder' || (existing === 'nothing' && (/[/\\]$/.test(typed) || !looksLikeFile))
  if (isFolder) return { kind: 'folder', path }
  if (!isSingleReport) {
    throw new UsageError(`--output: ${typed} is a file, but there may be several reports`, {
      hint: 'Give a folder.',
    })
  }
  return { kind: 'file', path }
}

import type { RequestResource } from '../../contract/request.ts'
import { UnavailableError, UsageError } from '../../errors/kinds.ts'
import { reportKey, type ReportRecord } from './record.ts'

/** Whether it is one report and no more. */
export function isSingle(source: ReportSource): source is SingleSource {
  return source.kind === 'ids' || source.kind === 'url'
}

/** One report: a check's or referee's by its ids, or a signed URL. */
export type SingleSource =
  | { kind: 'ids'; checkId: string; refereeId: string | undefined }
  | { kind: 'url'; url: string }

export function idsOf(source: SingleSource): { checkId: string | undefined; refereeId: string | undefined } {
  return source.kind === 'ids' ? source : namedBy(source.url)
}

/** Whether a report that is on record has the ids of a source. */
export function isReportOf(
  { check_id, referee_id }: Pick<ReportRecord, 'check_id' | 'referee_id'>,
  source: SingleSource,
): boolean {
  const { checkId, refereeId } = idsOf(source)
  return check_id?.toLowerCase() === checkId?.toLowerCase() && referee_id === (refereeId ?? null)
}

/** The check and referee in the path of a report's URL, whatever precedes them. */
function namedBy(url: string): { checkId: string | undefined; refereeId: string | undefined } {
  const [path = ''] = url.split(/[?#]/)
  const [, checkId, referee] = /\/v1\/reports\/([^/]+)(?:\/referees\/([^/]+))?$/.exec(path) ?? []
  return { checkId: checkId?.toLowerCase(), refereeId: decoded(referee) }
}

/**
 * "A report is filed under a check only when the signed URL's path names that check (and referee)"
 * (src/docs/ordering.md): throws an UnavailableError for a URL of another report. UUIDs are compared without case.
 */
export function requireUrlOf({ checkId, refereeId, title }: ReportTarget, url: string): void {
  const named = namedBy(url)
  if (named.checkId === checkId.toLowerCase() && named.refereeId === refereeId) return
  const report = refereeId === undefined ? checkId : `${checkId}, referee ${refereeId}`
  throw new UnavailableError(`${title}: its report URL is for another check or referee than ${report}`, {
    hint: 'Nothing was filed. Run it again later; if it stays so, ask the provider’s support.',
  })
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text)
  } catch {
    return text
  }
}

/** What to download: one report, or those of some requests. */
export type ReportSource =
  | SingleSource
  | { kind: 'requests'; requestIds: readonly string[] }
  | { kind: 'batch'; batchId: string }
  /** Every request of the store that is COMPLETED. */
  | { kind: 'completed'; since: number | undefined }
  /** Every report of the store that is ready, whatever its request's status; `isOurs`: of these requests alone. */
  | { kind: 'all'; isOurs?: ((request: { baseUrl: string; userEmail: string }) => boolean) | undefined }

/** One report that a request has, or will have. */
export interface ReportTarget {
  /** The service that has it. */
  service: string
  requestId: string
  packageId: number
  /** As the service writes it (ISO 8601). */
  createdAt: string
  checkId: string
  refereeId: string | undefined
  refereeName: string | undefined
  /** What the file is called after the person: the check's name, or `reference-` and the referee's. */
  title: string
  person: { firstName: string; lastName: string; email: string }
  /** Signed; undefined until the report is available. */
  url: string | undefined
  /** Status of the check or referee. */
  status: string
}

/** Every report a request can have: one a background check, one a referee. Checks not yet created have none. */
export function reportTargets(request: RequestResource, service: string): ReportTarget[] {
  const { first_name: firstName, last_name: lastName, email } = request.recipient
  const target = (
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
        target(id, {
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
    return [target(id, { refereeId: undefined, refereeName: undefined, title, url, status })]
  })
}

/** Whether no report will ever come of it ("Check status": both are ends without one). */
export function endedWithout(target: ReportTarget): boolean {
  return target.url === undefined && (target.status === 'CANCELLED' || target.status === 'ERROR')
}

export function targetKey({ service, requestId, checkId, refereeId }: ReportTarget): string {
  return reportKey({
    service,
    request_id: requestId,
    check_id: checkId,
    referee_id: refereeId ?? null,
  })
}

export const headMark = '%PDF-'

export const endMark = '%%EOF'

/** Where readers look for the end mark (ISO 32000-1, implementation note 18 of its PDF 1.7 predecessor). */
export const tailBytes = 1024

export function headerValue(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0]
}

export function notPdf(why: string): UnavailableError {
  return new UnavailableError(`the report is not a complete PDF: ${why}`, {
    hint: 'Nothing was stored. Try again in a moment.',
  })
}

/** What exists at a path. */
type ExistingEntry = 'nothing' | 'folder' | 'file'

/** Where downloads go: one file, or a folder that takes them by name. */
type Destination = { kind: 'file'; path: string } | { kind: 'folder'; path: string }

/**
 * Reads `--output DIR|FILE`: an existing folder, a path that ends in a slash, or one without `.pdf` is
 * a folder; the rest is a file, which only one report can go to. `path` is absolute.
 */
export function destination(
  typed: string,
  path: string,
  existing: ExistingEntry,
  single: boolean,
): Destination {
  const looksLikeFile = /\.pdf$/i.test(typed)
  const isFolder =
    existing === 'folder' || (existing === 'nothing' && (/[/\\]$/.test(typed) || !looksLikeFile))
  if (isFolder) return { kind: 'folder', path }
  if (!single) {
    throw new UsageError(`--output: ${typed} is a file, but there may be several reports`, {
      hint: 'Give a folder.',
    })
  }
  return { kind: 'file', path }
}

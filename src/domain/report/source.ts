import type { RequestResource } from '../../contract/request.ts'
import { UnavailableError } from '../../errors/kinds.ts'
import { reportKey } from './record.ts'

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

/** The check and referee in the path of a report's URL, whatever stands before it. */
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
  throw new UnavailableError(
    `${title}: its report URL is for another check or referee than ${reportName()}`,
    {
      hint: 'Nothing was filed. Run it again later; if it stays so, ask the provider’s support.',
    },
  )

  function reportName(): string {
    return refereeId === undefined ? checkId : `${checkId}, referee ${refereeId}`
  }
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
  const targets: ReportTarget[] = []
  for (const check of request.checks) {
    if (check.id === null) continue
    const base = {
      service,
      requestId: request.request_id,
      packageId: request.package_id,
      createdAt: request.created_at,
      checkId: check.id,
      person: { firstName, lastName, email },
    }
    if (check.type !== 'reference') {
      targets.push({
        ...base,
        refereeId: undefined,
        refereeName: undefined,
        title: check.check_name ?? 'background-check',
        url: check.report_pdf_url ?? undefined,
        status: check.status,
      })
      continue
    }
    for (const referee of check.references ?? []) {
      targets.push({
        ...base,
        refereeId: String(referee.referee_id),
        refereeName: referee.referee_name ?? undefined,
        title: `reference-${referee.referee_name ?? 'referee'}`,
        url: referee.report_pdf_url ?? undefined,
        status: referee.status,
      })
    }
  }
  return targets
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

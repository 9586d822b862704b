import type { RequestResource } from '../../contract/request.ts'
import { reportKey } from './record.ts'

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

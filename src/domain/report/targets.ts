import type { RequestResource } from '../../contract/request.ts'

/** One report that a request has, or will have. */
export interface ReportTarget {
  requestId: string
  checkId: string
  refereeId: string | undefined
  /** What the file is called after the person: the check's or the referee's name. */
  title: string
  person: { firstName: string; lastName: string }
  /** Signed; undefined until the report is available. */
  url: string | undefined
  /** Status of the check or referee. */
  status: string
}

/** Every report a request can have: one a background check, one a referee. Checks not yet created have none. */
export function reportTargets(request: RequestResource): ReportTarget[] {
  const person = { firstName: request.recipient.first_name, lastName: request.recipient.last_name }
  const targets: ReportTarget[] = []
  for (const check of request.checks) {
    if (check.id === null) continue
    const base = { requestId: request.request_id, checkId: check.id, person }
    if (check.type !== 'reference') {
      targets.push({
        ...base,
        refereeId: undefined,
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
        title: `reference-${referee.referee_name ?? 'referee'}`,
        url: referee.report_pdf_url ?? undefined,
        status: referee.status,
      })
    }
  }
  return targets
}

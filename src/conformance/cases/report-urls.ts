import { entries, field } from '../answer.ts'
import { checksOf } from '../journey.ts'

/** A report that a read of a request leads to. */
export interface ReportUrl {
  kind: 'background' | 'referee'
  url: string
  /** The path the document gives it. */
  path: string
}

/** The signed URLs of a request's data. */
export function reportUrls(data: unknown): ReportUrl[] {
  return checksOf(data).flatMap((check) => {
    const id = String(field(check, 'id'))
    const own = field(check, 'report_pdf_url')
    const found: ReportUrl[] =
      typeof own === 'string' ? [{ kind: 'background', url: own, path: `/v1/reports/${id}` }] : []
    for (const referee of entries(field(check, 'references'))) {
      const url = field(referee, 'report_pdf_url')
      const path = `/v1/reports/${id}/referees/${String(field(referee, 'referee_id'))}`
      if (typeof url === 'string') found.push({ kind: 'referee', url, path })
    }
    return found
  })
}

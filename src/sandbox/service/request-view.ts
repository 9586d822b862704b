import type { Check, Referee, RequestResource } from '../../contract/request.ts'
import { okText } from './answer.ts'
import type { CheckRecord, RequestRecord } from './records.ts'
import type { Choice } from './rules.ts'
import type { Service } from './service.ts'
import { backgroundReport, refereeReport } from './token.ts'

/** The resource as clients read it; report URLs lead to `origin` and are signed afresh. */
export function requestView(
  request: RequestRecord,
  service: Service,
  now: number,
  origin: string,
): RequestResource {
  return view(
    request,
    service.rule('created-at-form'),
    (report) => `${origin}/v1/reports/${report}?t=${service.tokens.issue(report, now)}`,
  )
}

/** What a read of a request says but for the tokens, which stand between the pieces. */
interface Rendering {
  /** While these are the same, so is the text. */
  of: readonly [steps: number, applied: number, form: string, origin: string]
  pieces: string[]
  reports: string[]
}

/** A character that JSON carries as it is and that nobody's name holds. */
const gap = '\u007F'
const mostRenderings = 1000

/**
 * The texts of requests that are read again and again, as pollers do. Only tokens differ from read
 * to read, so the rest is made once for each change of the request.
 */
export class Renderings {
  readonly #known = new Map<RequestRecord, Rendering>()

  /** The whole answer to a read. */
  text(request: RequestRecord, service: Service, now: number, origin: string): string {
    const form = service.rule('created-at-form')
    const of = [request.steps.length, request.applied, form, origin] as const
    const known = this.#known.get(request)
    const rendering =
      known !== undefined && of.every((part, index) => part === known.of[index])
        ? known
        : this.#render(request, of)
    const { pieces, reports } = rendering
    if (pieces.length !== reports.length + 1) return okText(requestView(request, service, now, origin))
    let text = pieces[0] ?? ''
    for (let index = 0; index < reports.length; index += 1) {
      text += service.tokens.issue(reports[index] ?? '', now) + (pieces[index + 1] ?? '')
    }
    return text
  }

  #render(request: RequestRecord, of: Rendering['of']): Rendering {
    const [, , form, origin] = of
    const reports: string[] = []
    const resource = view(request, form as Choice<'created-at-form'>, (report) => {
      reports.push(report)
      return `${origin}/v1/reports/${report}?t=${gap}`
    })
    const rendering: Rendering = { of, pieces: okText(resource).split(gap), reports }
    if (this.#known.size >= mostRenderings) this.#known.clear()
    this.#known.set(request, rendering)
    return rendering
  }
}

function view(
  request: RequestRecord,
  form: Choice<'created-at-form'>,
  signed: (report: string) => string,
): RequestResource {
  return {
    request_id: request.request_id,
    package_id: request.package_id,
    status: request.status,
    created_at: timestamp(request.created_at, form),
    requester: { email: request.requester_email },
    recipient: { ...request.recipient },
    checks: request.checks.map((check) => checkView(check, signed)),
  }
}

function checkView(check: CheckRecord, signed: (report: string) => string): Check {
  const id = check.created ? check.id : null
  if (check.type === 'reference') {
    const references = check.referees.map(({ report_at, ...referee }): Referee => ({
      ...referee,
      report_pdf_url: report_at === null ? null : signed(refereeReport(check.id, referee.referee_id)),
    }))
    return { id, type: check.type, status: check.status, references }
  }
  return {
    id,
    type: check.type,
    status: check.status,
    partner_name: check.partner_name,
    check_name: check.check_name,
    report_pdf_url: check.report_at === null ? null : signed(backgroundReport(check.id)),
  }
}

function timestamp(time: number, form: 'milliseconds' | 'seconds' | 'offset'): string {
  const text = new Date(time).toISOString()
  switch (form) {
    case 'milliseconds':
      return text
    case 'seconds':
      return text.replace(/\.\d{3}Z$/, 'Z')
    case 'offset':
      return text.replace(/Z$/, '+00:00')
  }
}

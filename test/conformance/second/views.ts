import type { Package, User } from './data.ts'
import { failureAgeMs, type Behaviour } from './behaviour.ts'
import { checkStatusAt, type Order, requestStatusAt } from './orders.ts'

export function userData(user: User, { hasExtraFields }: Behaviour) {
  const { organisation: _organisation, active: _active, teams, ...shown } = user
  const activeTeams = teams.filter(({ active }) => active).map(({ id, name }) => ({ name, id }))
  return { ...shown, teams: activeTeams, ...(hasExtraFields && { avatar: null }) }
}

export function packageData(pack: Package, { hasExtraFields }: Behaviour) {
  const { id, name, status, survey, checks } = pack
  return {
    details: { background_checks: checks, reference_survey: survey },
    status,
    name,
    id,
    ...(hasExtraFields && { price: 12.5 }),
  }
}

export function schemaData({ id, information }: Package) {
  const field = { required: true, type: 'string' }
  return {
    id,
    fields: {
      additional_information: information,
      recipient: { phone: field, email: field, last_name: field, first_name: field },
    },
  }
}

interface ViewedService {
  baseUrl: string
  behaviour: Behaviour
  age: (order: Order) => number
  now: () => number
  sign: (text: string) => string
}

export interface CheckData {
  id: string | null
  type: string
  status: string
  partner_name?: string | null
  check_name?: string | null
  report_pdf_url?: string | null
  references?: readonly Referee[] | undefined
}

interface Referee {
  referee_id: string
  referee_name: string | null
  referee_email: string | null
  status: string
  report_pdf_url: string | null
}

export function requestData(order: Order, service: ViewedService) {
  const age = service.age(order)
  const hasFailed = order.isFailing && age >= failureAgeMs
  const { id, package: pack, recipient, requester, createdAt } = order
  const checks = hasFailed ? [] : listChecks(order, age, service)
  return {
    request_id: id,
    package_id: pack.id,
    status: requestStatusAt(order, age, service.behaviour),
    created_at: new Date(createdAt).toISOString().replace(/\.\d+Z$/, '+00:00'),
    requester: { email: requester },
    recipient,
    checks: Math.floor(age / 60_000) % 2 === 0 ? checks : checks.reverse(),
    ...(service.behaviour.hasExtraFields && { tags: [] }),
  }
}

function listChecks(order: Order, age: number, service: ViewedService): CheckData[] {
  const survey = order.package.survey === null ? [] : [null]
  return [...survey, ...order.package.checks].map((background, index) => {
    const course = order.courses[index]
    const status = course === undefined ? 'RECEIVED' : checkStatusAt(course, age)
    const id = order.checkIds[index] ?? ''
    const hasId = !order.isFailing && (service.behaviour.hasIdBeforeStart || status !== 'RECEIVED')
    const url = status === 'COMPLETED' ? signUrl(`/v1/reports/${id}`, service) : null
    const check: CheckData = {
      id: hasId ? id : null,
      status,
      type: background === null ? 'reference' : 'background',
    }
    if (background === null) check.references = listReferees(id, status, service)
    else Object.assign(check, background, { report_pdf_url: url })
    return check
  })
}

function listReferees(check: string, status: string, service: ViewedService): Referee[] {
  if (status === 'RECEIVED') return []
  return ['a-1', 'b-2'].map((referee_id, index) => ({
    referee_id,
    referee_name: index === 0 ? 'Rita' : null,
    referee_email: null,
    status,
    report_pdf_url:
      status === 'COMPLETED' ? signUrl(`/v1/reports/${check}/referees/${referee_id}`, service) : null,
  }))
}

function signUrl(path: string, service: ViewedService): string {
  const { behaviour, baseUrl } = service
  const text = behaviour.formatToken(path, service.now() + behaviour.tokenLifetimeMs)
  return `${baseUrl}${path}?t=${text}~${service.sign(text)}&as=pdf`
}

/** A PDF of one empty page. */
export function createPdf(path: string): Buffer {
  return Buffer.from(
    `%PDF-1.4\n% ${path}\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 0/Kids[]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n`,
  )
}

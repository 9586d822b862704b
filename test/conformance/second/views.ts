import type { Pack, User } from './data.ts'
import { failsAt, type Knobs } from './knobs.ts'
import { checkStatus, type Order, statusAt } from './orders.ts'

export function userData(user: User, { extras }: Knobs) {
  const { organisation: _organisation, active: _active, teams, ...shown } = user
  const own = teams.filter(({ active }) => active).map(({ id, name }) => ({ name, id }))
  return { ...shown, teams: own, ...(extras && { avatar: null }) }
}

export function packageData(pack: Pack, { extras }: Knobs) {
  const { id, name, status, survey, checks } = pack
  return {
    details: { background_checks: checks, reference_survey: survey },
    status,
    name,
    id,
    ...(extras && { price: 12.5 }),
  }
}

export function schemaData({ id, information }: Pack) {
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
  base: string
  knobs: Knobs
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
  const failed = order.fails && age >= failsAt
  const { id, pack, recipient, requester, createdAt } = order
  const checks = failed ? [] : checksOf(order, age, service)
  return {
    request_id: id,
    package_id: pack.id,
    status: statusAt(order, age, service.knobs),
    created_at: new Date(createdAt).toISOString().replace(/\.\d+Z$/, '+00:00'),
    requester: { email: requester },
    recipient,
    checks: Math.floor(age / 60_000) % 2 === 0 ? checks : checks.reverse(),
    ...(service.knobs.extras && { tags: [] }),
  }
}

function checksOf(order: Order, age: number, service: ViewedService): CheckData[] {
  const survey = order.pack.survey === null ? [] : [null]
  return [...survey, ...order.pack.checks].map((background, at) => {
    const course = order.courses[at]
    const status = course === undefined ? 'RECEIVED' : checkStatus(course, age)
    const id = order.checkIds[at] ?? ''
    const known = !order.fails && (service.knobs.idFromStart || status !== 'RECEIVED')
    const url = status === 'COMPLETED' ? signed(`/v1/reports/${id}`, service) : null
    const check: CheckData = {
      id: known ? id : null,
      status,
      type: background === null ? 'reference' : 'background',
    }
    if (background === null) check.references = references(id, status, service)
    else Object.assign(check, background, { report_pdf_url: url })
    return check
  })
}

function references(check: string, status: string, service: ViewedService): Referee[] {
  if (status === 'RECEIVED') return []
  return ['a-1', 'b-2'].map((referee_id, at) => ({
    referee_id,
    referee_name: at === 0 ? 'Rita' : null,
    referee_email: null,
    status,
    report_pdf_url:
      status === 'COMPLETED' ? signed(`/v1/reports/${check}/referees/${referee_id}`, service) : null,
  }))
}

function signed(path: string, service: ViewedService): string {
  const { knobs, base } = service
  const text = knobs.tokenOf(path, service.now() + knobs.tokenMs)
  return `${base}${path}?t=${text}~${service.sign(text)}&as=pdf`
}

/** A PDF of one empty page. */
export function pdf(about: string): Buffer {
  return Buffer.from(
    `%PDF-1.4\n% ${about}\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 0/Kids[]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n`,
  )
}

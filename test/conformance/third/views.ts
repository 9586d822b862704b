import { createHash } from 'node:crypto'

import { checkStatuses, failed, type Order, type Pack, statusOf, type User } from './data.ts'

interface Signing {
  base: string
  now: number
  token: (path: string) => string
}

/** An id that follows from what it is for. */
function idOf(what: string): string {
  const hex = createHash('sha256').update(what).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`.toUpperCase()
}

export const pdf = '%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF'

export function userView({ email, role }: User, all: readonly User[]): object {
  return {
    nickname: null,
    job_title: '',
    teams: all.length > 3 ? [{ name: 'Team', id: idOf('team'), size: 3 }] : [],
    ...(role === 'Member' && { permissions: ['bgc.requestor', 'pulse.none', 'reference.administrator'] }),
    role,
    email,
    last_name: '',
    first_name: email.split('@')[0],
    id: idOf(email),
  }
}

export function packageView({ id, status, survey, checks }: Pack): object {
  return {
    price: 12.5,
    details: {
      background_checks: checks.map((check_name) => ({ partner_name: null, check_name, days: 3 })),
      reference_survey: survey ? { min_referees: 1, name: null, id: 4 } : null,
    },
    status,
    name: '',
    id,
  }
}

export function schemaView({ id, needs }: Pack): object {
  const recipient = ['phone', 'email', 'last_name', 'first_name'].map((name) => [
    name,
    { required: true, type: name === 'email' ? 'email' : 'string', label: name },
  ])
  const information = Object.entries(needs).map(([code, fields]) => ({
    fields: Object.fromEntries(
      Object.entries(fields).map(([name, type]) => [
        name.replace('?', ''),
        { description: '', required: !name.endsWith('?'), type, hint: null },
      ]),
    ),
    code,
    display_name: '',
  }))
  return { fields: { additional_information: information, recipient: Object.fromEntries(recipient) }, id }
}

/** Every check has every field, null where it is not its own; a referee is counted, as the path allows. */
export function readView(order: Order, service: Signing): object {
  const { base, now } = service
  const url = (path: string): string => `${base}${path}?t=${service.token(path)}&lang=en`
  const statuses = checkStatuses(order, now)
  const { survey, checks } = order.pack
  const names = [...(survey ? [null] : []), ...checks]
  const views = names.map((check_name, at) => {
    const status = statuses[at] ?? 'RECEIVED'
    const id = idOf(`${order.id} ${at}`)
    const done = status === 'COMPLETED'
    const isReference = survey && at === 0
    return {
      references: isReference
        ? status === 'RECEIVED'
          ? []
          : [referee(done, `/v1/reports/${id}`, url)]
        : null,
      report_pdf_url: done && !isReference ? url(`/v1/reports/${id}`) : null,
      partner_name: null,
      check_name,
      status,
      type: isReference ? 'reference' : 'background',
      id: status === 'RECEIVED' ? null : id,
    }
  })
  return {
    checks: failed(order, now) ? [] : views,
    recipient: { ...order.recipient, locale: 'en' },
    requester: { name: 'Somebody', email: order.by.toUpperCase() },
    created_at: new Date(order.at)
      .toISOString()
      .replaceAll(/[-:]|\.\d+/g, '')
      .replace('Z', '+0000'),
    status: statusOf(order, now),
    package_id: order.pack.id,
    request_id: order.id.toUpperCase(),
  }
}

function referee(done: boolean, path: string, url: (path: string) => string): object {
  return {
    report_pdf_url: done ? url(`${path}/referees/41`) : null,
    status: done ? 'COMPLETED' : 'IN_PROGRESS',
    referee_email: null,
    referee_name: null,
    referee_id: 41,
  }
}

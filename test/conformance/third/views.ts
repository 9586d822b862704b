/*
 * Responses of a service that was written from the API document alone, without the code of the sandbox (data.ts). It uses
 * every freedom that the document leaves: the order of keys, null, empty texts, letter case, and the form of ids and times.
 */
import { createHash } from 'node:crypto'

import { checkStatuses, hasFailed, type Order, type Package, requestStatusAt, type User } from './data.ts'

interface ServiceForViews {
  baseUrl: string
  now: number
  signToken: (path: string) => string
}

/** Returns an id that is always the same for the same subject. */
function idOf(subject: string): string {
  const hex = createHash('sha256').update(subject).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`.toUpperCase()
}

export const pdf = '%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF'

export function userView({ email, role }: User, allUsers: readonly User[]): object {
  return {
    nickname: null,
    job_title: '',
    teams: allUsers.length > 3 ? [{ name: 'Team', id: idOf('team'), size: 3 }] : [],
    ...(role === 'Member' && { permissions: ['bgc.requestor', 'pulse.none', 'reference.administrator'] }),
    role,
    email,
    last_name: '',
    first_name: email.split('@')[0],
    id: idOf(email),
  }
}

export function packageView({ id, status, hasSurvey, checks }: Package): object {
  return {
    price: 12.5,
    details: {
      background_checks: checks.map((check_name) => ({ partner_name: null, check_name, days: 3 })),
      reference_survey: hasSurvey ? { min_referees: 1, name: null, id: 4 } : null,
    },
    status,
    name: '',
    id,
  }
}

export function schemaView({ id, fieldsByCheck }: Package): object {
  const recipient = ['phone', 'email', 'last_name', 'first_name'].map((name) => [
    name,
    { required: true, type: name === 'email' ? 'email' : 'string', label: name },
  ])
  const information = Object.entries(fieldsByCheck).map(([code, fields]) => ({
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

/**
 * Every check has the fields of both types, null if they do not apply. `referee_id` is an integer here, because the
 * document lets the path parameter `{referee_id}` be an integer.
 */
export function requestView(order: Order, service: ServiceForViews): object {
  const { baseUrl, now } = service
  const url = (path: string): string => `${baseUrl}${path}?t=${service.signToken(path)}&lang=en`
  const statuses = checkStatuses(order, now)
  const { hasSurvey, checks } = order.package
  const names = [...(hasSurvey ? [null] : []), ...checks]
  const views = names.map((check_name, index) => {
    const status = statuses[index] ?? 'RECEIVED'
    const id = idOf(`${order.id} ${index}`)
    const isCompleted = status === 'COMPLETED'
    const isReference = hasSurvey && index === 0
    return {
      references: isReference
        ? status === 'RECEIVED'
          ? []
          : [refereeView(isCompleted, `/v1/reports/${id}`, url)]
        : null,
      report_pdf_url: isCompleted && !isReference ? url(`/v1/reports/${id}`) : null,
      partner_name: null,
      check_name,
      status,
      type: isReference ? 'reference' : 'background',
      id: status === 'RECEIVED' ? null : id,
    }
  })
  return {
    checks: hasFailed(order, now) ? [] : views,
    recipient: { ...order.recipient, locale: 'en' },
    requester: { name: 'Somebody', email: order.requester.toUpperCase() },
    created_at: new Date(order.orderedAt)
      .toISOString()
      .replaceAll(/[-:]|\.\d+/g, '')
      .replace('Z', '+0000'),
    status: requestStatusAt(order, now),
    package_id: order.package.id,
    request_id: order.id.toUpperCase(),
  }
}

function refereeView(isCompleted: boolean, path: string, url: (path: string) => string): object {
  return {
    report_pdf_url: isCompleted ? url(`${path}/referees/41`) : null,
    status: isCompleted ? 'COMPLETED' : 'IN_PROGRESS',
    referee_email: null,
    referee_name: null,
    referee_id: 41,
  }
}

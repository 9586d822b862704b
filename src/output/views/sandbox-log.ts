import { localClock } from '../../domain/wording/local-time.ts'
import { sanitize } from '../../host/text.ts'
import { statusStyle } from './status.ts'
import { styled, type Terminal } from '../terminal.ts'
import type { View } from '../view.ts'

/** One thing that happened in a sandbox; `at` is milliseconds since the epoch. */
export type LogRow = { n: number; at: number } & (
  | { kind: 'call'; method: string; path: string; status: number | null; fault: string | null }
  | { kind: 'status'; request_id: string; status: string }
  | {
      kind: 'delivery'
      delivery_id: string
      request_id: string
      status: string
      attempt: number
      outcome: string
    }
  | { kind: 'failure'; message: string }
)

export function logView(rows: readonly LogRow[]): View {
  return {
    json: rows.map(json),
    text: (terminal) =>
      rows.length === 0
        ? 'Nothing has happened yet. Follow it with: refcheck sandbox logs --follow'
        : rows.map((row) => line(row, terminal)).join('\n'),
  }
}

export function logRowView(row: LogRow): View {
  return { json: json(row), text: (terminal) => line(row, terminal) }
}

const json = (row: LogRow): object => ({ ...row, at: new Date(row.at).toISOString() })

function line(row: LogRow, terminal: Terminal): string {
  return `${localClock(row.at)}  ${what(row, terminal)}`
}

function what(row: LogRow, terminal: Terminal): string {
  switch (row.kind) {
    case 'call': {
      const fault = row.fault === null ? '' : ` (fault: ${sanitize(row.fault)})`
      return `${sanitize(row.method)} ${sanitize(row.path)}  ${row.status ?? 'no answer'}${fault}`
    }
    case 'status':
      return `request ${sanitize(row.request_id)}  ${status(row.status, terminal)}`
    case 'delivery': {
      const attempt = row.attempt === 1 ? '' : ` (attempt ${row.attempt})`
      return `event ${sanitize(row.delivery_id)}  ${status(row.status, terminal)}: ${sanitize(row.outcome)}${attempt}`
    }
    case 'failure':
      return `failed: ${sanitize(row.message)}`
  }
}

function status(name: string, terminal: Terminal): string {
  const style = statusStyle(name)
  return style === undefined ? sanitize(name) : styled(terminal, style, sanitize(name))
}

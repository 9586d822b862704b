import { html } from 'hono/html'

import type { ExportedRow } from '../../domain/batch/export.ts'
import type { BatchStatus } from '../../domain/batch/standing.ts'
import { localDay } from '../../domain/wording/local-time.ts'
import { sanitize } from '../../host/text.ts'

const style = `
  :root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
  body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
  table { border-collapse: collapse; width: 100%; }
  caption { text-align: left; font-weight: 600; padding: .5rem 0; }
  th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8886; vertical-align: top; }
  td.id { font-family: ui-monospace, monospace; font-size: .85em; }
  @media print { body { margin: 0; max-width: none; } }
`

/** A batch as one page that needs nothing else: to read, to print, to file. Every value in it is escaped by `html`. */
export async function batchHtml(
  { standing, name, added_at, user_email }: BatchStatus,
  rows: readonly ExportedRow[],
): Promise<string> {
  const { batch_id, counts } = standing
  const totals = Object.entries(counts).filter(([state, count]) => count > 0 && state !== 'total')
  const heads = ['Row', 'Name', 'E-mail', 'State', 'Status', 'Request', 'Remark']
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${sanitize(name)}</title>
        <style>
          ${style}
        </style>
      </head>
      <body>
        <h1>${sanitize(name)}</h1>
        <p>
          Batch ${sanitize(batch_id)}, added ${localDay(added_at)}, ordered as ${sanitize(user_email)}.
          ${counts.total} rows: ${totals.map(([state, count]) => `${count} ${state}`).join(', ')}.
        </p>
        <table>
          <caption>
            Rows
          </caption>
          <thead>
            <tr>
              ${heads.map((head) => html`<th scope="col">${head}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${rows.map(line)}
          </tbody>
        </table>
      </body>
    </html> `
  return String(await page)
}

function line({ listed, status, values }: ExportedRow): ReturnType<typeof html> {
  const person = `${named(values.get('first_name'))} ${named(values.get('last_name'))}`.trim()
  const cells = [String(listed.row), person, listed.email ?? '', listed.state, status ?? '']
  return html`<tr>
    ${cells.map((cell) => html`<td>${sanitize(cell)}</td>`)}
    <td class="id">${sanitize(listed.request_id ?? '')}</td>
    <td>${sanitize(listed.error ?? '')}</td>
  </tr> `
}

function named(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

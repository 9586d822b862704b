import { html } from 'hono/html'

import { pill, quotaBar, statusChart } from '../../../html/charts.ts'
import type { Piece } from '../../../html/document.ts'
import { requestStatuses } from '../../../contract/statuses.ts'
import { sanitize } from '../../../host/text.ts'
import type { RequestResource } from '../../../contract/request.ts'
import type { LogEntry } from '../../service/log.ts'
import type { DeliveryRecord } from '../../service/records.ts'
import { scenarioTable } from '../../service/scenarios.ts'
import type { Overview } from '../overview.ts'
import type { Sandbox } from '../sandbox.ts'
import { logLine, moment, seconds } from './words.ts'

const mostRequests = 200
const mostDeliveries = 50
const mostEntries = 200

/** What is going on in a sandbox, whole without a script; with one it keeps itself up to date. */
export function page(sandbox: Sandbox): Piece {
  const overview = sandbox.overview()
  const entries = sandbox.log.entries()
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>refcheck sandbox</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/_sandbox/page.css" />
        <script type="module" src="/_sandbox/page.js"></script>
      </head>
      <body>
        <a class="skip" href="#requests">Skip to the requests</a>
        <header class="container">
          <p class="kind">refcheck</p>
          <h1>Sandbox</h1>
          <p>No real person is checked here. <a href="/openapi.json">OpenAPI</a></p>
        </header>
        <p id="said" role="status" class="container"></p>
        <main class="container">
          <div id="live">${live(overview)}</div>
          <section aria-labelledby="controls-title">
            <h2 id="controls-title">Controls</h2>
            ${controls(overview)}
          </section>
          <div id="tables">${requestTable(sandbox.requests())} ${deliveryTable(sandbox.deliveries())}</div>
          <section aria-labelledby="log-title">
            <h2 id="log-title">Calls and events</h2>
            <div
              id="log"
              role="log"
              aria-live="polite"
              aria-relevant="additions"
              tabindex="0"
              aria-labelledby="log-title"
              data-next="${String((entries.at(-1)?.n ?? -1) + 1)}"
            >
              ${entries.slice(-mostEntries).map(entryItem)}
            </div>
          </section>
        </main>
      </body>
    </html>`
}

/** A text from a call or a fixture: what hides, turns or breaks a line is a mark. */
const shown = (text: string): string => sanitize(text, { marksLines: true })

function entryItem(entry: LogEntry): Piece {
  return html`<p>${sanitize(logLine(entry), { layout: true, marksLines: true })}</p> `
}

/** How things stand; the script puts it in again, and the tables. */
function live(overview: Overview): Piece {
  const { now, clock, speed, credits, webhook_url: webhook, requests, quota } = overview
  const all = requestStatuses.reduce((sum, status) => sum + requests[status], 0)
  const facts: [string, string][] = [
    ['Clock', `${moment(now)} (${clock})`],
    ['Speed', String(speed)],
    ['Credits', credits === null ? 'unlimited' : String(credits)],
    ['Webhook', shown(webhook ?? 'none')],
  ]
  return html`
    <dl class="facts">
      ${facts.map(
        ([word, value]) =>
          html`<div>
            <dt>${word}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
    <dl class="tiles">
      ${tile('requests', all, '')} ${tile('completed', requests.COMPLETED, 'done')}
      ${tile('in progress', requests.RECEIVED + requests.IN_PROGRESS + requests.PARTIAL, 'active')}
      ${tile('ended in ERROR', requests.ERROR, requests.ERROR === 0 ? 'done' : 'bad')}
    </dl>
    <div class="charts">
      <section aria-labelledby="status-title">
        <h2 id="status-title">Statuses</h2>
        ${statusChart(chartOrder.map((status) => [status, requests[status]]))}
      </section>
      <section aria-labelledby="quota-title">
        <h2 id="quota-title">Quota of the key</h2>
        ${quota.map((window) => gauge(window, now))}
      </section>
    </div>
  `
}

const chartOrder = ['COMPLETED', 'PARTIAL', 'IN_PROGRESS', 'RECEIVED', 'ERROR', 'CANCELLED'] as const

function tile(what: string, count: number, tone: string): Piece {
  return html`<div class="${tone}">
    <dt>${what}</dt>
    <dd>${String(count)}</dd>
  </div>`
}

function gauge(
  { calls, seconds: length, used, ends_at: endsAt }: Overview['quota'][number],
  now: number,
): Piece {
  const left = endsAt === null ? undefined : seconds(Math.max(0, Math.ceil((endsAt - now) / 1000)))
  return quotaBar({
    name: `${calls} in ${seconds(length)}`,
    used: Math.min(used, calls),
    calls,
    rest: left === undefined ? '' : `, free again in ${left}`,
  })
}

function controls({ clock }: Overview): Piece {
  return html`<div class="controls">
    ${
      clock === 'manual'
        ? html`<form data-control="advance">
            <label
              >Advance the clock by
              <input name="minutes" type="number" min="1" max="100000" value="60" required
            /></label>
            minutes <button id="advance">Advance</button>
          </form>`
        : ''
    }
    <form data-control="scenario">
      <label
        >The next request follows
        <select name="scenario">
          ${scenarioTable.map(({ tag, what }) => html`<option value="${tag}">${tag}: ${what}</option>`)}
        </select>
      </label>
      <button id="inject-scenario">Inject</button>
    </form>
    <form data-control="fault">
      <label
        >The next call
        <select name="on">
          <option value="*">of any kind</option>
          <option value="POST /v1/requests">that creates a request</option>
          <option value="GET *">that reads</option>
        </select>
      </label>
      <label
        >gets
        <select name="fault">
          <option value='{"kind":"status","status":500,"when":"before"}'>500, nothing done</option>
          <option value='{"kind":"status","status":500,"when":"after"}'>500, although it was done</option>
          <option value='{"kind":"cut","when":"before"}'>a cut connection, nothing done</option>
          <option value='{"kind":"cut","when":"after"}'>a cut connection, although it was done</option>
          <option value='{"kind":"hang","when":"after"}'>no answer, although it was done</option>
          <option value='{"kind":"status","status":429,"when":"before","retryAfter":"5"}'>
            429 for 5 seconds
          </option>
        </select>
      </label>
      <button id="inject-fault">Inject</button>
    </form>
    <form data-control="clear-faults"><button id="clear-faults">Clear all faults</button></form>
  </div>`
}

function requestTable(all: readonly RequestResource[]): Piece {
  const newest = all.slice(-mostRequests).reverse()
  return html`<section aria-labelledby="requests-title">
    <h2 id="requests-title">Requests</h2>
    <div class="overflow-auto" id="requests" tabindex="0" role="region" aria-label="Table of requests">
      <table>
        <caption>
          ${newest.length === all.length ? `${all.length} in all` : `The newest ${newest.length} of ${all.length}`}
        </caption>
        <thead>
          <tr>
            <th scope="col">Recipient</th>
            <th scope="col">Package</th>
            <th scope="col">Status</th>
            <th scope="col">Checks</th>
            <th scope="col">Request</th>
            <th scope="col">Action</th>
          </tr>
        </thead>
        <tbody>
          ${newest.map(requestRow)}
        </tbody>
      </table>
    </div>
  </section>`
}

const over = new Set(['COMPLETED', 'ERROR', 'CANCELLED'])

function requestRow({
  request_id: id,
  recipient,
  package_id: packageId,
  status,
  checks,
}: RequestResource): Piece {
  const name = shown(`${recipient.first_name} ${recipient.last_name}`)
  return html`<tr>
    <th scope="row">${name}<br /><small>${shown(recipient.email)}</small></th>
    <td>${String(packageId)}</td>
    <td>${pill(status)}</td>
    <td>
      ${checks.map((check) => html`<div>${check.type === 'reference' ? 'References' : shown(check.check_name ?? check.type)} ${pill(check.status)}</div>`)}
    </td>
    <td><code>${id}</code></td>
    <td>
      ${
        over.has(status)
          ? 'final'
          : html`<button
              id="hasten-${id}"
              data-post="hasten"
              data-body="${JSON.stringify({ request_id: id })}"
              aria-label="Advance the request of ${name}"
            >
              Advance
            </button>`
      }
    </td>
  </tr>`
}

function deliveryTable(all: readonly DeliveryRecord[]): Piece {
  const newest = all.slice(-mostDeliveries).reverse()
  return html`<section aria-labelledby="deliveries-title">
    <h2 id="deliveries-title">Webhook deliveries</h2>
    <div class="overflow-auto" tabindex="0" role="region" aria-label="Table of deliveries">
      <table>
        <caption>
          ${all.length === 0 ? 'None yet' : `The newest ${newest.length} of ${all.length}`}
        </caption>
        <thead>
          <tr>
            <th scope="col">Event</th>
            <th scope="col">State</th>
            <th scope="col">Attempts</th>
            <th scope="col">Last answer</th>
            <th scope="col">Action</th>
          </tr>
        </thead>
        <tbody>
          ${newest.map(
            ({ id, request_id, status, state, attempts, outcome }) =>
              html`<tr>
                <th scope="row">${pill(status)}<br /><code>${request_id}</code></th>
                <td>${pill(state, state.replaceAll('_', ' '))}</td>
                <td>${String(attempts)}</td>
                <td>${shown(outcome ?? '-')}</td>
                <td>
                  <button
                    id="redeliver-${id}"
                    data-post="redeliver"
                    data-body="${JSON.stringify({ delivery_id: id })}"
                    aria-label="Redeliver ${status} of ${request_id}"
                  >
                    Redeliver
                  </button>
                </td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`
}

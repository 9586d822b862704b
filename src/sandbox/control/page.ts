import { html } from 'hono/html'

import type { RequestResource } from '../../contract/request.ts'
import { requestStatuses } from '../../contract/statuses.ts'
import { sanitize } from '../../host/text.ts'
import { pill, quotaBar, statusChart } from '../../html/charts.ts'
import { type Piece, stylesheet } from '../../html/document.ts'
import type { LogEntry } from '../service/log.ts'
import type { DeliveryRecord, Overview } from '../service/schemas.ts'
import { scenarioTable } from '../service/scenarios.ts'
import type { Sandbox } from './sandbox.ts'

/** Only scripts of this server run on the page, and no other site can frame it. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const headers = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

/** Returns the response with the page. */
export async function servePage(sandbox: Sandbox): Promise<Response> {
  return new Response(String(await renderPage(sandbox)), {
    headers: { ...headers, 'Content-Type': 'text/html; charset=utf-8' },
  })
}

/** Returns the page's stylesheet or script; undefined for any other path. */
export function serveAsset(path: string): Response | undefined {
  if (path.endsWith('/page.css')) return assetResponse(style, 'text/css')
  return path.endsWith('/page.js') ? assetResponse(script, 'text/javascript') : undefined
}

function assetResponse(text: string, type: string): Response {
  return new Response(text, { headers: { ...headers, 'Content-Type': `${type}; charset=utf-8` } })
}

const maxRequests = 200
const maxDeliveries = 50
const maxEntries = 200

/** Renders the state of a sandbox. The page is complete without its script, which keeps it up to date. */
export function renderPage(sandbox: Sandbox): Piece {
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
          <div id="live">${renderOverview(overview)}</div>
          <section aria-labelledby="controls-title">
            <h2 id="controls-title">Controls</h2>
            ${renderControls(overview)}
          </section>
          <div id="tables">
            ${renderRequests(sandbox.requests())} ${renderDeliveries(sandbox.deliveries())}
          </div>
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
              ${entries.slice(-maxEntries).map(renderEntry)}
            </div>
          </section>
        </main>
      </body>
    </html>`
}

/** Returns a text of a call or fixture without control characters; a line break is shown as a mark. */
const toSafeText = (text: string): string => sanitize(text, { marksLineBreaks: true })

function renderEntry(entry: LogEntry): Piece {
  return html`<p>${sanitize(formatEntry(entry), { keepsLayout: true, marksLineBreaks: true })}</p> `
}

/** Renders the numbers of the sandbox. The script replaces them regularly, and the tables too. */
function renderOverview(overview: Overview): Piece {
  const { now, clock, speed, credits, webhook_url: webhook, requests, quota } = overview
  const requestCount = requestStatuses.reduce((sum, status) => sum + requests[status], 0)
  const facts: [string, string][] = [
    ['Clock', `${formatTime(now)} (${clock})`],
    ['Speed', String(speed)],
    ['Credits', credits === null ? 'unlimited' : String(credits)],
    ['Webhook', toSafeText(webhook ?? 'none')],
  ]
  return html`
    <dl class="facts">
      ${facts.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
    <dl class="tiles">
      ${renderTile('requests', requestCount, '')}
      ${renderTile('in progress', requests.RECEIVED + requests.IN_PROGRESS + requests.PARTIAL, 'active')}
      ${renderTile('completed', requests.COMPLETED, 'done')}
      ${renderTile('ended in an error', requests.ERROR, requests.ERROR === 0 ? 'done' : 'bad')}
      ${renderTile('cancelled', requests.CANCELLED, requests.CANCELLED === 0 ? 'done' : 'bad')}
    </dl>
    <div class="charts">
      <section aria-labelledby="status-title">
        <h2 id="status-title">Statuses</h2>
        ${statusChart(chartOrder.map((status) => [status, requests[status]]))}
      </section>
      <section aria-labelledby="quota-title">
        <h2 id="quota-title">Quota of the key</h2>
        ${quota.map((window) => renderGauge(window, now))}
      </section>
    </div>
  `
}

const chartOrder = ['COMPLETED', 'PARTIAL', 'IN_PROGRESS', 'RECEIVED', 'ERROR', 'CANCELLED'] as const

function renderTile(name: string, count: number, tone: string): Piece {
  return html`<div class="${tone}">
    <dt>${name}</dt>
    <dd>${String(count)}</dd>
  </div>`
}

function renderGauge(
  { calls, seconds: length, used, ends_at: endsAt }: Overview['quota'][number],
  now: number,
): Piece {
  const timeLeft = endsAt === null ? undefined : formatDuration(Math.max(0, Math.ceil((endsAt - now) / 1000)))
  return quotaBar({
    name: `${calls} in ${formatDuration(length)}`,
    used: Math.min(used, calls),
    calls,
    suffix: timeLeft === undefined ? '' : `, free again in ${timeLeft}`,
  })
}

function renderControls({ clock }: Overview): Piece {
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
      <small id="scenario-text" class="narrow">${scenarioTable[0]?.what ?? ''}</small>
      <button id="inject-scenario">Apply to the next request</button>
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
      <button id="inject-fault">Apply to the next call</button>
    </form>
    <form data-control="clear-faults"><button id="clear-faults">Clear all faults</button></form>
  </div>`
}

function renderRequests(requests: readonly RequestResource[]): Piece {
  const newest = requests.slice(-maxRequests).reverse()
  return html`<section aria-labelledby="requests-title">
    <h2 id="requests-title">Requests</h2>
    <div class="overflow-auto" id="requests" tabindex="0" role="region" aria-label="Table of requests">
      <table>
        <caption>
          ${newest.length === requests.length ? `${requests.length} in all` : `The newest ${newest.length} of ${requests.length}`}
        </caption>
        <thead>
          <tr>
            <th scope="col">Recipient</th>
            <th scope="col">Status</th>
            <th scope="col" class="wide">Package</th>
            <th scope="col" class="wide">Checks</th>
            <th scope="col" class="wide">Request</th>
            <th scope="col">Action</th>
          </tr>
        </thead>
        <tbody>
          ${newest.map(renderRequestRow)}
        </tbody>
      </table>
    </div>
  </section>`
}

const endedStatuses = new Set(['COMPLETED', 'ERROR', 'CANCELLED'])

function renderRequestRow({
  request_id: id,
  recipient,
  package_id: packageId,
  status,
  checks,
}: RequestResource): Piece {
  const name = toSafeText(`${recipient.first_name} ${recipient.last_name}`)
  return html`<tr>
    <th scope="row">${name}<br /><small>${toSafeText(recipient.email)}</small></th>
    <td>${pill(status)}</td>
    <td class="wide">${String(packageId)}</td>
    <td class="wide">
      ${checks.map((check) => html`<div>${check.type === 'reference' ? 'References' : toSafeText(check.check_name ?? check.type)} ${pill(check.status)}</div>`)}
    </td>
    <td class="wide"><code>${id}</code></td>
    <td>
      ${
        endedStatuses.has(status)
          ? 'Has ended'
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

function renderDeliveries(deliveries: readonly DeliveryRecord[]): Piece {
  const newest = deliveries.slice(-maxDeliveries).reverse()
  return html`<section aria-labelledby="deliveries-title">
    <h2 id="deliveries-title">Webhook deliveries</h2>
    <div class="overflow-auto" tabindex="0" role="region" aria-label="Table of deliveries">
      <table>
        <caption>
          ${deliveries.length === 0 ? 'None yet' : `The newest ${newest.length} of ${deliveries.length}`}
        </caption>
        <thead>
          <tr>
            <th scope="col">Event</th>
            <th scope="col">State</th>
            <th scope="col" class="wide">Attempts</th>
            <th scope="col" class="wide">Last answer</th>
            <th scope="col">Action</th>
          </tr>
        </thead>
        <tbody>
          ${newest.map(
            ({ id, request_id, status, state, attempts, outcome }) =>
              html`<tr>
                <th scope="row">${pill(status)}<br /><code>${request_id}</code></th>
                <td>${pill(state, state.replaceAll('_', ' '))}</td>
                <td class="wide">${String(attempts)}</td>
                <td class="wide">${toSafeText(outcome ?? '-')}</td>
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

/** Formats a time (milliseconds since the epoch) to the second in UTC. */
function formatTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** Formats seconds as 45 s, 12 min or 1 h. */
function formatDuration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`
  return seconds < 7200 && seconds % 3600 !== 0
    ? `${Math.round(seconds / 60)} min`
    : `${Math.round(seconds / 3600)} h`
}

/** Formats an entry of the log as one line. */
function formatEntry(entry: LogEntry): string {
  const time = new Date(entry.at).toISOString().slice(11, 19)
  switch (entry.kind) {
    case 'call': {
      const fault = entry.fault === null ? '' : ` (fault: ${entry.fault})`
      return `${time}  ${entry.method} ${entry.path}  ${entry.status ?? 'cut'}${fault}`
    }
    case 'status':
      return `${time}  ${entry.request_id} is ${entry.status}`
    case 'delivery':
      return `${time}  ${entry.status} of ${entry.request_id} delivered: ${entry.outcome} (attempt ${entry.attempt})`
    case 'failure':
      return `${time}  ${entry.message}`
  }
}

/** The stylesheet that all pages of refcheck share, and rules for the controls and the log of this page. */
const style = `${stylesheet}
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: .5rem; padding: .25rem .5rem; background: var(--pico-background-color); }
header p { margin-bottom: .75rem; }
#said:not(:empty) { position: sticky; top: 0; z-index: 1; padding: .5rem .9rem; background: var(--new); color: var(--on-new); border-radius: .4rem; }
.controls { display: grid; grid-template-columns: minmax(0, 1fr); gap: .6rem; }
.controls form { display: flex; min-width: 0; flex-wrap: wrap; gap: .5rem .75rem; align-items: end; margin: 0; }
.controls label { margin: 0; font-size: .85rem; flex: 0 1 auto; min-width: 0; max-width: 100%; }
.controls select, .controls input, .controls button, td button { width: auto; max-width: 100%; margin: 0; padding: .3rem .75rem; height: auto; font-size: .9rem; }
.controls select { padding-inline-end: 2rem; text-overflow: ellipsis; }
.controls .narrow { display: none; flex-basis: 100%; }
td button { padding: .1rem .6rem; }
td div { white-space: nowrap; } td div + div { margin-top: .15rem; }
#log { margin: 0; padding: .6rem .9rem; max-height: 24rem; overflow: auto; border: 1px solid var(--edge); border-radius: .4rem; font: .8rem/1.6 ui-monospace, monospace; }
#log p { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
tbody th small { overflow-wrap: anywhere; }
@media (max-width: 575px) {
  .controls .narrow { display: block; }
  th, td { padding-inline: .3rem; } tbody th { overflow-wrap: anywhere; } th code { white-space: normal; }
}
`

/**
 * The script of the page. It requests the page again and replaces the parts that change, so that only the server
 * renders. The focus stays where it is.
 */
const script = `
const refreshIntervalMs = 1000
const maxEntries = 200
const said = document.getElementById('said')
const log = document.getElementById('log')

async function post(control, body, doneText) {
  const answer = await fetch('/_sandbox/' + control, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  const error = answer.ok ? undefined : (await answer.json()).error
  said.textContent = error === undefined ? doneText : error.message + (error.hint === undefined ? '' : ' ' + error.hint)
  await refresh()
}

async function refresh() {
  const freshPage = new DOMParser().parseFromString(await (await fetch('/')).text(), 'text/html')
  const parts = ['live', 'tables'].map((id) => [document.getElementById(id), freshPage.getElementById(id)])
  if (parts.some(([, next]) => next === null)) return
  const focusedId = parts.some(([part]) => part.contains(document.activeElement)) ? document.activeElement.id : ''
  for (const [part, next] of parts) {
    const scrolled = [...part.querySelectorAll('.overflow-auto')].map((each) => each.scrollLeft)
    part.replaceChildren(...next.childNodes)
    part.querySelectorAll('.overflow-auto').forEach((each, at) => { each.scrollLeft = scrolled[at] ?? 0 })
  }
  if (focusedId !== '') (document.getElementById(focusedId) ?? document.getElementById('requests'))?.focus()
  const from = Number(log.dataset.next)
  const freshLog = freshPage.getElementById('log')
  const count = Math.min(Number(freshLog.dataset.next) - from, freshLog.children.length)
  if (count <= 0) return
  const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 8
  log.append(...[...freshLog.children].slice(-count))
  while (log.children.length > maxEntries) log.firstElementChild.remove()
  log.dataset.next = freshLog.dataset.next
  if (atEnd) log.scrollTop = log.scrollHeight
}

document.addEventListener('submit', (event) => {
  event.preventDefault()
  const form = event.target
  const formData = new FormData(form)
  const control = form.dataset.control
  if (control === 'advance') {
    void post('advance', { ms: Number(formData.get('minutes')) * 60000 }, 'The clock was advanced.')
  } else if (control === 'scenario') {
    void post('inject', { scenario: formData.get('scenario') }, 'The next request follows ' + formData.get('scenario') + '.')
  } else if (control === 'fault') {
    void post('inject', { on: formData.get('on'), fault: JSON.parse(formData.get('fault')) }, 'The fault applies to the next matching call.')
  } else {
    void post('clear-faults', {}, 'All faults are cleared.')
  }
})

document.addEventListener('change', ({ target }) => {
  if (target.name !== 'scenario') return
  const [tag, ...text] = target.selectedOptions[0].textContent.split(': ')
  document.getElementById('scenario-text').textContent = text.join(': ')
})

document.addEventListener('click', (event) => {
  const button = event.target.closest('button[data-post]')
  if (button === null) return
  void post(button.dataset.post, JSON.parse(button.dataset.body), button.getAttribute('aria-label') + ': done.')
})

for (;;) {
  await new Promise((resolve) => setTimeout(resolve, refreshIntervalMs))
  if (document.visibilityState === 'visible') await refresh().catch(() => { said.textContent = 'The sandbox does not answer.' })
}
`

import { html } from 'hono/html'

import { sanitize } from '../host/text.ts'
import type { Piece } from './document.ts'

const width = 640
const barHeight = 26

/**
 * Draws the number of requests per status as one bar; the legend has the same numbers as text. `counts` is in drawing
 * order.
 */
export function statusChart(counts: readonly (readonly [status: string, count: number])[]): Piece {
  const nonZeroCounts = counts.filter(([, count]) => count > 0)
  const total = nonZeroCounts.reduce((sum, [, count]) => sum + count, 0)
  const description = nonZeroCounts.map(([status, count]) => `${count} ${status}`).join(', ')
  let countBefore = 0
  const segments = nonZeroCounts.map(([status, count]) => {
    const from = (countBefore / total) * width
    countBefore += count
    return { status, count, from, to: (countBefore / total) * width }
  })
  return html`<figure>
    <svg
      viewBox="0 0 ${String(width)} ${String(barHeight)}"
      role="img"
      aria-label="Statuses: ${description || 'none'}"
    >
      <rect class="rest" width="${String(width)}" height="${String(barHeight)}" rx="4"></rect>
      ${segments.map(
        ({ status, from, to }) =>
          html`<rect
            class="${colourClassOf(status)}"
            x="${from.toFixed(1)}"
            width="${Math.max(1.5, to - from - 2).toFixed(1)}"
            height="${String(barHeight)}"
            rx="2"
          ></rect>`,
      )}
    </svg>
    <ul class="legend">
      ${segments.map(
        ({ status, count }) =>
          html`<li>
            ${swatch(colourClassOf(status))} <b>${String(count)}</b> ${status}
            <span>(${percent(count, total)})</span>
          </li>`,
      )}
    </ul>
  </figure>`
}

const swatch = (tone: string): Piece =>
  html`<svg viewBox="0 0 10 10" aria-hidden="true">
    <rect class="${tone}" width="10" height="10" rx="2"></rect>
  </svg>`

/** Formats a share in percent. Only exactly nothing is 0 %, and only exactly all is 100 %. */
export function percent(count: number, total: number): string {
  if (count === 0 || total === 0) return '0 %'
  if (count === total) return '100 %'
  return `${Math.min(99, Math.max(1, Math.round((count / total) * 100)))} %`
}

/** The numbers of orders and completions in one period. */
interface Period {
  label: string
  orderCount: number
  completionCount: number
}

const plot = { left: 34, right: 4, top: 10, bottom: 24, height: 150 }

/** Draws orders and completions over time. `periodName` is the length of one period, such as "day". */
export function timeline(periods: readonly Period[], periodName: string): Piece {
  const maxCount = Math.max(
    1,
    ...periods.map(({ orderCount, completionCount }) => Math.max(orderCount, completionCount)),
  )
  const baseline = plot.height - plot.bottom
  const y = (count: number): number => baseline - (count / maxCount) * (baseline - plot.top)
  const slotWidth = (width - plot.left - plot.right) / Math.max(1, periods.length)
  const barWidth = Math.min(26, slotWidth * 0.4)
  const sum = (key: 'orderCount' | 'completionCount'): number =>
    periods.reduce((total, each) => total + each[key], 0)
  const description = `${sum('orderCount')} orders and ${sum('completionCount')} completions by ${periodName}, ${periods[0]?.label ?? ''} to ${periods.at(-1)?.label ?? ''}`
  return html`<figure>
    <svg viewBox="0 0 ${String(width)} ${String(plot.height)}" role="img" aria-label="${description}">
      ${[maxCount, ...(maxCount > 1 ? [maxCount / 2] : []), 0].map(
        (count) =>
          html`<line
              class="grid"
              x1="${String(plot.left)}"
              x2="${String(width)}"
              y1="${y(count).toFixed(1)}"
              y2="${y(count).toFixed(1)}"
            ></line>
            <text x="${String(plot.left - 6)}" y="${(y(count) + 4).toFixed(1)}" text-anchor="end"
              >${Number.isInteger(count) ? String(count) : ''}</text
            >`,
      )}
      ${periods.map(({ label, orderCount, completionCount }, index) => {
        const middle = plot.left + slotWidth * (index + 0.5)
        return html`<g>
          <title>${label}: ${String(orderCount)} ordered, ${String(completionCount)} completed</title>
          ${column('active', middle - barWidth - 1, barWidth, y(orderCount), baseline)}
          ${column('done', middle + 1, barWidth, y(completionCount), baseline)}
          ${
            hasLabel(index, periods.length)
              ? html`<text x="${middle.toFixed(1)}" y="${String(plot.height - 6)}" text-anchor="middle"
                  >${label}</text
                >`
              : ''
          }
        </g>`
      })}
    </svg>
    <ul class="legend">
      <li>${swatch('active')} <b>${String(sum('orderCount'))}</b> ordered</li>
      <li>${swatch('done')} <b>${String(sum('completionCount'))}</b> completed, as last read</li>
    </ul>
  </figure>`
}

function column(tone: string, x: number, barWidth: number, top: number, baseline: number): Piece | string {
  if (baseline - top < 0.5) return ''
  return html`<rect
    class="${tone}"
    x="${x.toFixed(1)}"
    y="${top.toFixed(1)}"
    width="${barWidth.toFixed(1)}"
    height="${(baseline - top).toFixed(1)}"
    rx="1.5"
  ></rect>`
}

/** Whether a bar has a label: at most eight labels fit next to one another. */
function hasLabel(index: number, count: number): boolean {
  const step = Math.ceil(count / 8)
  return index % step === 0
}

/** Draws the used share of a quota window. `suffix` is a text after the counts. */
export function quotaBar({
  name,
  used,
  calls,
  suffix,
}: {
  name: string
  used: number
  calls: number
  suffix: string
}): Piece {
  const share = Math.min(1, used / calls)
  const tone = share >= 0.95 ? 'bad' : share >= 0.75 ? 'warn' : 'done'
  return html`<div class="gauge">
    <span>${name}</span>
    <svg viewBox="0 0 200 12" role="img" aria-label="${String(used)} of ${String(calls)} calls used">
      <rect class="rest" width="200" height="12" rx="3"></rect>
      <rect class="${tone}" width="${(share * 200).toFixed(1)}" height="12" rx="3"></rect>
    </svg>
    <span>${String(used)} used, ${String(Math.max(0, calls - used))} left${suffix}</span>
  </div>`
}

/** The statuses of requests, checks, rows and deliveries by their colour class. */
const statusesByColour: Readonly<Record<string, readonly string[]>> = {
  done: ['COMPLETED', 'accepted', 'delivered'],
  active: ['IN_PROGRESS', 'sending'],
  partial: ['PARTIAL'],
  bad: ['ERROR', 'unknown', 'rejected', 'invalid', 'halted', 'error', 'given_up'],
  warn: ['held', 'duplicate', 'stopped', 'waiting'],
  gone: ['CANCELLED', 'cancelled', 'left out', 'dropped'],
}

/** Returns the colour class for a status; `new` for an unknown status. */
function colourClassOf(status: string): string {
  const found = Object.entries(statusesByColour).find(([, statuses]) => statuses.includes(status))
  return found?.[0] ?? 'new'
}

/** Renders a status as a word on its colour. */
export function pill(status: string, word = status): Piece {
  return html`<span class="pill ${colourClassOf(status)}">${sanitize(word)}</span>`
}

import { html } from 'hono/html'

import { sanitize } from '../host/text.ts'
import type { Piece } from './document.ts'

const width = 640
const barHeight = 26

/** How many have which status, as one bar; the legend has the same in words. `counts`: in the order they are drawn. */
export function statusChart(counts: readonly (readonly [status: string, count: number])[]): Piece {
  const shown = counts.filter(([, count]) => count > 0)
  const total = shown.reduce((sum, [, count]) => sum + count, 0)
  const description = shown.map(([status, count]) => `${count} ${status}`).join(', ')
  let before = 0
  const parts = shown.map(([status, count]) => {
    const from = (before / total) * width
    before += count
    return { status, count, from, to: (before / total) * width }
  })
  return html`<figure>
    <svg
      viewBox="0 0 ${String(width)} ${String(barHeight)}"
      role="img"
      aria-label="Statuses: ${description || 'none'}"
    >
      <rect class="rest" width="${String(width)}" height="${String(barHeight)}" rx="4"></rect>
      ${parts.map(
        ({ status, from, to }) =>
          html`<rect
            class="${toneOf(status)}"
            x="${from.toFixed(1)}"
            width="${Math.max(1.5, to - from - 2).toFixed(1)}"
            height="${String(barHeight)}"
            rx="2"
          ></rect>`,
      )}
    </svg>
    <ul class="legend">
      ${parts.map(
        ({ status, count }) =>
          html`<li>
            ${swatch(toneOf(status))} <b>${String(count)}</b> ${status}
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

/** A part of a whole; what is little is never nothing, and what is nearly all not all. */
export function percent(count: number, total: number): string {
  if (count === 0 || total === 0) return '0 %'
  if (count === total) return '100 %'
  return `${Math.min(99, Math.max(1, Math.round((count / total) * 100)))} %`
}

/** What happened in one stretch of time. */
interface Bucket {
  label: string
  ordered: number
  completed: number
}

const plot = { left: 34, right: 4, top: 10, bottom: 24, height: 150 }

/** Orders and completions over time. `what`: the stretch of one bar, such as "day". */
export function timeline(buckets: readonly Bucket[], what: string): Piece {
  const highest = Math.max(1, ...buckets.map(({ ordered, completed }) => Math.max(ordered, completed)))
  const floor = plot.height - plot.bottom
  const y = (count: number): number => floor - (count / highest) * (floor - plot.top)
  const slot = (width - plot.left - plot.right) / Math.max(1, buckets.length)
  const barWidth = Math.min(26, slot * 0.4)
  const sum = (of: 'ordered' | 'completed'): number => buckets.reduce((all, each) => all + each[of], 0)
  const description = `${sum('ordered')} orders and ${sum('completed')} completions by ${what}, ${buckets[0]?.label ?? ''} to ${buckets.at(-1)?.label ?? ''}`
  return html`<figure>
    <svg viewBox="0 0 ${String(width)} ${String(plot.height)}" role="img" aria-label="${description}">
      ${[highest, ...(highest > 1 ? [highest / 2] : []), 0].map(
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
      ${buckets.map(({ label, ordered, completed }, at) => {
        const middle = plot.left + slot * (at + 0.5)
        return html`<g>
          <title>${label}: ${String(ordered)} ordered, ${String(completed)} completed</title>
          ${column('active', middle - barWidth - 1, barWidth, y(ordered), floor)}
          ${column('done', middle + 1, barWidth, y(completed), floor)}
          ${
            isLabelled(at, buckets.length)
              ? html`<text x="${middle.toFixed(1)}" y="${String(plot.height - 6)}" text-anchor="middle"
                  >${label}</text
                >`
              : ''
          }
        </g>`
      })}
    </svg>
    <ul class="legend">
      <li>${swatch('active')} <b>${String(sum('ordered'))}</b> ordered</li>
      <li>${swatch('done')} <b>${String(sum('completed'))}</b> completed, as last read</li>
    </ul>
  </figure>`
}

function column(tone: string, x: number, wide: number, top: number, floor: number): Piece | string {
  if (floor - top < 0.5) return ''
  return html`<rect
    class="${tone}"
    x="${x.toFixed(1)}"
    y="${top.toFixed(1)}"
    width="${wide.toFixed(1)}"
    height="${(floor - top).toFixed(1)}"
    rx="1.5"
  ></rect>`
}

/** As many labels as fit next to one another. */
function isLabelled(at: number, count: number): boolean {
  const every = Math.ceil(count / 8)
  return at % every === 0
}

/** How full a window of the quota is. */
export function quotaBar({
  name,
  used,
  calls,
  rest,
}: {
  name: string
  used: number
  calls: number
  rest: string
}): Piece {
  const part = Math.min(1, used / calls)
  const tone = part >= 0.95 ? 'bad' : part >= 0.75 ? 'warn' : 'done'
  return html`<div class="gauge">
    <span>${name}</span>
    <svg viewBox="0 0 200 12" role="img" aria-label="${String(used)} of ${String(calls)} calls used">
      <rect class="rest" width="200" height="12" rx="3"></rect>
      <rect class="${tone}" width="${(part * 200).toFixed(1)}" height="12" rx="3"></rect>
    </svg>
    <span>${String(used)} used, ${String(Math.max(0, calls - used))} left${rest}</span>
  </div>`
}

/** One colour for each status of a request, a check or a row; plain for one we do not know. */
function toneOf(status: string): string {
  switch (status) {
    case 'COMPLETED':
    case 'accepted':
    case 'delivered':
      return 'done'
    case 'IN_PROGRESS':
    case 'sending':
      return 'active'
    case 'PARTIAL':
      return 'partial'
    case 'ERROR':
    case 'unknown':
    case 'rejected':
    case 'invalid':
    case 'halted':
    case 'error':
    case 'given_up':
      return 'bad'
    case 'held':
    case 'duplicate':
    case 'stopped':
    case 'waiting':
      return 'warn'
    case 'CANCELLED':
    case 'cancelled':
    case 'left out':
    case 'dropped':
      return 'gone'
    default:
      return 'new'
  }
}

/** A status by its word and its colour. */
export function pill(status: string, word = status): Piece {
  return html`<span class="pill ${toneOf(status)}">${sanitize(word)}</span>`
}

import { html } from 'hono/html'

import { sanitize } from '../host/text.ts'
import type { Piece } from './document.ts'

/** One colour for each status of a request, a check or a row; plain for one we do not know. */
export function toneOf(status: string): string {
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

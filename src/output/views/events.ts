import { maskUrl } from '../../contract/url.ts'
import type { RunEvent } from '../../domain/batch/run-policy.ts'

/** The reason why a read waits before its next try, as src/http/retry.ts reports it. */
export type RetryEvent =
  | { kind: 'throttled'; seconds: number; isStated: boolean }
  | { kind: 'retry'; attempt: number; of: number; seconds: number; reason: string }

export function retryText(retry: RetryEvent): string {
  if (retry.kind === 'throttled') return throttledText(retry)
  const { attempt, of, seconds, reason } = retry
  return `${reason}; try ${attempt} of ${of} in ${seconds.toFixed(1)} s`
}

function throttledText({ seconds, isStated }: { seconds: number; isStated: boolean }): string {
  const why = isStated ? '' : ' (the service gave no time; one minute is assumed)'
  return `The quota is used up; continuing in ${seconds} s${why}.`
}

/** Returns the line for an event while a single order is sent; undefined for events of batches only. */
export function createEventText(event: RunEvent): string | undefined {
  switch (event.name) {
    case 'recovered':
      return `An earlier run was stopped in the middle of ${event.submissions.length === 1 ? 'an order' : `${event.submissions.length} orders`}, with an unknown outcome. List with: refcheck request list --status unknown`
    case 'waiting':
      return event.cause === 'throttled'
        ? throttledText(event)
        : `${event.reason}; nothing was sent, retrying in ${event.seconds.toFixed(1)} s`
    case 'paced':
      return throttledText({ seconds: Math.ceil(event.seconds), isStated: true })
    case 'retrying':
      return `Sending now (attempt ${event.attempt}).`
    case 'reconciling':
      return `The failed answer names request ${event.requestId}; reading it to see whether it is this order.`
    case 'row':
    case 'outage':
    case 'well':
      return undefined
  }
}

export interface Exchange {
  method: string
  url: string
  status?: number | undefined
  failure?: string | undefined
  milliseconds: number
}

/**
 * Returns the line of an HTTP exchange for --verbose. The headers, which contain the key, are omitted, and
 * the URL is masked.
 */
export function exchangeText({ method, url, status, failure, milliseconds }: Exchange): string {
  const outcome = [status, failure === undefined ? undefined : `failed: ${failure}`].filter(
    (each) => each !== undefined,
  )
  return `> ${method} ${maskUrl(url)} ${outcome.join(', ')} ${Math.round(milliseconds)} ms`
}

import { sanitize } from '../../host/text.ts'
import { styled } from '../terminal.ts'
import type { View } from '../view.ts'

export interface SandboxAddress {
  base_url: string
  api_key: string
  user_email: string
  webhook_secret: string
  /** Where others can reach it: what whoever controls it has to show. */
  control_token?: string | undefined
  public_url?: string | undefined
}

/** What somebody needs to call a running sandbox; the text can be pasted into another terminal. */
export function sandboxView(address: SandboxAddress, profile: string | undefined): View {
  return {
    json: address,
    text: (terminal) =>
      [
        `The sandbox is running at ${styled(terminal, 'bold', address.base_url)} (Ctrl-C stops it).`,
        '',
        profile === undefined
          ? 'In another terminal:'
          : `Profile "${profile}" is logged in to it, and in use. To call it without a profile:`,
        '',
        `  export REFCHECK_BASE_URL=${address.base_url}`,
        `  export REFCHECK_API_KEY=${address.api_key}`,
        `  export REFCHECK_USER_EMAIL=${address.user_email}`,
        `  export REFCHECK_WEBHOOK_SECRET=${address.webhook_secret}`,
        ...(address.control_token === undefined
          ? []
          : [`  export REFCHECK_SANDBOX_TOKEN=${address.control_token}`]),
        '',
        'Then try: refcheck packages list',
      ].join('\n'),
  }
}

/** The bare key, for a pipe. */
export function renewedKeyView(key: string): View {
  return { json: { api_key: key }, text: () => key }
}

export interface Redelivered {
  delivery_id: string
  request_id: string
  status: string
  /** The HTTP status, or why there was none; null: still under way. */
  outcome: string | null
}

export function redeliveredView(redelivered: Redelivered): View {
  const { request_id, status, outcome } = redelivered
  const answered = /^\d{3}$/.test(outcome ?? '') ? `it was answered ${outcome}` : sanitize(outcome ?? '')
  const end = outcome === null ? 'it is still under way' : answered
  return {
    json: redelivered,
    text: () => `${sanitize(status)} of request ${sanitize(request_id)} was sent once more: ${end}`,
  }
}

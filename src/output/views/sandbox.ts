import { styled } from '../terminal.ts'
import type { View } from '../view.ts'

export interface SandboxAddress {
  base_url: string
  api_key: string
  user_email: string
  webhook_secret: string
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
        '',
        'Then try: refcheck packages list',
      ].join('\n'),
  }
}

/** The bare key, for a pipe. */
export function renewedKeyView(key: string): View {
  return { json: { api_key: key }, text: () => key }
}

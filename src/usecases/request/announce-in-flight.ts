import type { Api } from '../../api/api.ts'

/** The same API, which says what is waited for where a person stops the program in the middle of an order. */
export function announceInFlight(api: Api, signal: AbortSignal, note: (text: string) => void): Api {
  const stopped = (): void =>
    note(
      'An order is in flight; waiting for its answer. Press Ctrl-C again to stop at once; its outcome is then unknown.',
    )
  return {
    ...api,
    async createRequest(body, own) {
      signal.addEventListener('abort', stopped, { once: true })
      try {
        return await api.createRequest(body, own)
      } finally {
        signal.removeEventListener('abort', stopped)
      }
    },
  }
}
